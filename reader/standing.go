package reader

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/schemas/clickhouse"
)

// What budgets and cash flows of any project are made of: tables whose sums they read, and those whose rows they read.
var (
	figureSums = []string{"records", "budget_rows", "budget_transfers", "contracts", "claims"}
	figureRows = []string{"budget_nodes", "uncommitted_entries", "line_plans"}
)

// Standing names how far all that budgets and cash flows are made of has come, and of which life of its stream it is. It
// is another one after every change that any of them could show. What was read after a standing is never older than it:
// so for as long as the standing is the same, that is still the answer.
type Standing [sha256.Size]byte

// standingQuery reads the position rows that make a standing. They are at the beginning of the key.
func standingQuery() Query {
	views := make([]string, len(figureSums))
	for i, table := range figureSums {
		views[i] = clickhouse.ViewPositionPrefix(table)
	}
	branches := []string{`SELECT 'sums' AS part, project AS of, concat(toString(sum(position)), ' ', toString(sum(squares))) AS state
FROM sums
WHERE tenant = '' AND arrayExists(view -> startsWith(project, view), {views:Array(String)})
GROUP BY project`,
		// The newest row of a topic on each server: its life changes when the database is rebuilt or follows another stream.
		`SELECT 'streams', concat(topic, ' ', server), argMax(life, revision)
FROM streams
GROUP BY topic, server`}
	for _, table := range figureRows {
		branches = append(branches, "SELECT '"+table+"', project, toString(max(row_version))\nFROM "+table+`
WHERE tenant = ''
GROUP BY project`)
	}
	return Query{SQL: strings.Join(branches, "\nUNION ALL\n"), Args: map[string]any{"views": views}}
}

// Standing reads the standing now.
func (r *Reader) Standing(ctx context.Context) (Standing, error) {
	var lines []string
	var part, of, state string
	err := r.each(ctx, standingQuery(), positionSettings, func(scan func(...any) error) error {
		if err := scan(&part, &of, &state); err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%q %q %q\n", part, of, state))
		return nil
	})
	if err != nil {
		return Standing{}, fmt.Errorf("read the positions of tables: %w", err)
	}
	slices.Sort(lines)
	return sha256.Sum256([]byte(strings.Join(lines, ""))), nil
}
