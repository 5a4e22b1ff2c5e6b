package reader

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/schemas/clickhouse"
)

// sources are the tables that figures of any project are made of: those whose sums are read, and those whose rows are.
type sources struct {
	sums, rows []string
	byPart     bool // their sums are kept by part, so a standing may name the parts instead of positions
}

// sumsOf reports whether the position of a view is that of one of the tables whose sums are read.
func (s sources) sumsOf(view string) bool {
	return slices.ContainsFunc(s.sums, func(table string) bool { return strings.HasPrefix(view, clickhouse.ViewPositionPrefix(table)) })
}

// Tables whose rows they are made of.
const (
	tableNodes   = "budget_nodes"
	tableEntries = "uncommitted_entries"
	tablePlans   = "line_plans"
)

// What budgets and cash flows are made of, and what estimates at completion are, for which no record counts.
var (
	figureSources = sources{sums: []string{"records", "budget_rows", "budget_transfers", "contracts", "claims"},
		rows: []string{tableNodes, tableEntries, tablePlans}, byPart: true}
	estimateSources = sources{sums: figureSources.sums[1:], rows: figureSources.rows[:2]}
)

// Standing names how far all that budgets and cash flows are made of has come, and of which life of its stream it is. It
// is another one after every change that any of them could show. What was read after a standing is never older than it:
// so for as long as the standing is the same, that is still the answer. Where the parts of sums can be listed it names these, so that a
// merge makes another one, too; else positions. Work that corrects sums moves no position: while it goes on there is no standing, and
// behind it the life is another one.
type Standing struct {
	Digest         [sha256.Size]byte // of all that makes it
	known          bool              // it was read
	nodes          string            // the state of the table of nodes, as positions say it
	plans, entries string            // and those of plans and of entries, with the lives of the streams
	sums           tableParts        // what sums consists of; others may hold the same
}

// Is reports whether it is the standing that another one names.
func (s Standing) Is(other Standing) bool { return s.known == other.known && s.Digest == other.Digest }

// Standing reads the standing of budgets and cash flows now; there is none while somebody works on the tables.
func (r *Reader) Standing(ctx context.Context) (standing Standing, settled bool, err error) {
	return r.standing(ctx, figureSources)
}

func (r *Reader) standing(ctx context.Context, from sources) (standing Standing, settled bool, err error) {
	tables := append([]string{tableSums, tableStreams}, from.rows...)
	parts, err := r.parts(ctx, tables)
	if err != nil {
		return Standing{}, false, err
	}
	if from.byPart && parts[tableSums] != "" {
		tables = tables[1:]
	}
	found, err := r.progressAt(ctx, parts, tables)
	if err != nil {
		return Standing{}, false, err
	}
	for _, stream := range found[tableStreams] {
		if stream.state == "" {
			return Standing{}, false, nil
		}
	}
	var all []string
	linesOf := func(table string) (lines []string) {
		for _, s := range found[table] {
			if table != tableSums || from.sumsOf(s.of) {
				lines = append(lines, fmt.Sprintf("%q %q %q\n", table, s.of, s.state))
			}
		}
		all = append(all, lines...)
		return lines
	}
	if linesOf(tableSums); tables[0] != tableSums {
		all = append(all, string(parts[tableSums]))
	}
	lives := linesOf(tableStreams)
	rows := make(map[string]string, len(from.rows))
	for _, table := range from.rows {
		rows[table] = inOrder(linesOf(table), lives)
	}
	nodes, err := positionsOf(found[tableNodes])
	if err != nil {
		return Standing{}, false, fmt.Errorf("read the positions of %s: %w", tableNodes, err)
	}
	return Standing{Digest: sha256.Sum256([]byte(inOrder(all))), known: true, nodes: nodes.String(),
		plans: rows[tablePlans], entries: rows[tableEntries], sums: parts[tableSums]}, true, nil
}

// inOrder are these lines as one text, the same in whichever order they come.
func inOrder(lines ...[]string) string {
	return strings.Join(slices.Sorted(slices.Values(slices.Concat(lines...))), "")
}
