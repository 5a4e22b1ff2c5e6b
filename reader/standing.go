package reader

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tallyhouse/schemas/clickhouse"
)

// sources are the tables that figures of any project are made of: those whose sums are read, and those whose rows are.
type sources struct{ sums, rows []string }

// What budgets and cash flows are made of, and what estimates at completion are, for which no record counts.
var (
	figureSources = sources{sums: []string{"records", "budget_rows", "budget_transfers", "contracts", "claims"},
		rows: []string{"budget_nodes", "uncommitted_entries", "line_plans"}}
	estimateSources = sources{sums: figureSources.sums[1:], rows: figureSources.rows[:2]}
)

// Standing names how far all that budgets and cash flows are made of has come, and of which life of its stream it is. It
// is another one after every change that any of them could show. What was read after a standing is never older than it:
// so for as long as the standing is the same, that is still the answer. Work that corrects sums moves no position: while
// it goes on there is no standing, and behind it the life is another one.
type Standing struct {
	Digest         [sha256.Size]byte // of all that makes it
	known          bool              // it was read
	nodes          string            // the state of the table of nodes, as positions say it
	plans, entries string            // and those of plans and of entries, with the lives of the streams
}

// standingQuery reads the position rows that make a standing. They are at the beginning of the key.
func standingQuery(of sources) Query {
	views := make([]string, len(of.sums))
	for i, table := range of.sums {
		views[i] = clickhouse.ViewPositionPrefix(table)
	}
	branches := []string{`SELECT 'sums' AS part, project AS of, concat(toString(sum(position)), ' ', toString(sum(squares))) AS state
FROM sums
WHERE tenant = '' AND arrayExists(view -> startsWith(project, view), {views:Array(String)})
GROUP BY project`,
		// The newest row of a topic on each shard: its life changes when the database is rebuilt or follows another stream.
		"SELECT if(argMax(work, revision) = '', '" + partStreams + "', '" + partWork +
			`'), concat(topic, ' ', toString(shard)), argMax(life, revision)
FROM streams
GROUP BY topic, shard`}
	for _, table := range of.rows {
		branches = append(branches, "SELECT '"+table+"', project, toString(max(row_version))\nFROM "+table+`
WHERE tenant = ''
GROUP BY project`)
	}
	return Query{SQL: strings.Join(branches, "\nUNION ALL\n"), Args: map[string]any{"views": views}}
}

// Parts of the statement: of a stream, and of one on whose tables somebody works.
const (
	partStreams = "streams"
	partWork    = "work"
)

// Standing reads the standing of budgets and cash flows now; there is none while somebody works on the tables.
func (r *Reader) Standing(ctx context.Context) (standing Standing, settled bool, err error) {
	return r.standing(ctx, figureSources)
}

func (r *Reader) standing(ctx context.Context, from sources) (standing Standing, settled bool, err error) {
	var lines, plans, entries []string
	var part, of, state string
	settled = true
	nodes := make(positions)
	err = r.each(ctx, standingQuery(from), positionSettings, func(scan func(...any) error) error {
		if err := scan(&part, &of, &state); err != nil {
			return err
		}
		settled = settled && part != partWork
		line := fmt.Sprintf("%q %q %q\n", part, of, state)
		lines = append(lines, line)
		switch part {
		case "budget_nodes":
			next, err := strconv.ParseUint(state, 10, 64)
			nodes[of] = next
			return err
		case "line_plans":
			plans = append(plans, line)
		case "uncommitted_entries":
			entries = append(entries, line)
		case partStreams:
			plans, entries = append(plans, line), append(entries, line)
		}
		return nil
	})
	if err != nil {
		return Standing{}, false, fmt.Errorf("read the positions of tables: %w", err)
	}
	if !settled {
		return Standing{}, false, nil
	}
	stateOf := func(lines []string) string {
		slices.Sort(lines)
		return strings.Join(lines, "")
	}
	return Standing{Digest: sha256.Sum256([]byte(stateOf(lines))), known: true, nodes: nodes.String(),
		plans: stateOf(plans), entries: stateOf(entries)}, true, nil
}
