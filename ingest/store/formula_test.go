package store

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// A formula's name ends with the digest of what a golden set of rows contributes. A change of the rules thus has
// another name, by which `migrate` knows that the sums of the table are to be rebuilt.
func TestAFormulaIsNamedByWhatItContributes(t *testing.T) {
	for _, e := range All() {
		if !e.Contributes() {
			continue
		}
		t.Run(e.Table, func(t *testing.T) {
			digest := sha256.New()
			reached := map[string]bool{}
			for _, event := range goldenRows(t, e) {
				want, err := e.Contribution(nil, event.ID, event.Data)
				if err != nil {
					t.Fatalf("%s: %v", event.ID, err)
				}
				// As rebuild computes it, and as ingest does.
				b := e.NewBlock()
				b.Append(&Row{Tenant: event.TenantID, Project: e.Project(event.ID, event.Data), ID: event.ID, Data: event.Data})
				b.Sort()
				got, err := readBack(t, b).Contribution(nil, 0)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s contributes %v, %v when it is read back, %v when it came", event.ID, got, err, want)
				}
				fmt.Fprintln(digest, event.ID)
				for _, line := range written(got, reached) {
					fmt.Fprintln(digest, line)
				}
			}
			if name := fmt.Sprintf("%s-%x", e.Table, digest.Sum(nil)[:4]); e.Formula != name {
				t.Errorf("the formula of %s is named %s; what its golden rows contribute makes it %s", e.Table, e.Formula, name)
			}
			for _, id := range e.Rolls() {
				for _, column := range slices.Concat(id.Roll().Keys, id.Roll().Amounts) {
					if !reached[id.Roll().Name+"."+column] {
						t.Errorf("no golden row has a %s in %s", column, id.Roll().Name)
					}
				}
			}
		})
	}
}

// goldenRows are the messages of testdata/formula, which rows are made of.
func goldenRows(t *testing.T, e *Entity) (all []events.Event) {
	t.Helper()
	file, err := os.Open("testdata/formula/" + e.Table + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		event, err := events.Decode(e.Topic, fmt.Appendf(nil, "t/E%d", n), lines.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", file.Name(), err)
		}
		all = append(all, event)
	}
	if err := lines.Err(); err != nil || len(all) < 10 {
		t.Fatalf("%s has %d rows: %v", file.Name(), len(all), err)
	}
	return all
}

// written is a contribution as the sums take it: equal keys added up, by the names of columns, without what is 0. In
// reached it notes which columns were not empty.
func written(c analytics.Contribution, reached map[string]bool) (lines []string) {
	type key struct {
		roll clickhouse.RollID
		keys [clickhouse.MaxRollKeys]string
	}
	sums := map[key][clickhouse.MaxRollAmounts]int64{}
	for _, s := range c {
		amounts := sums[key{s.Roll, s.Keys}]
		for i, v := range s.Amounts {
			amounts[i] += v
		}
		sums[key{s.Roll, s.Keys}] = amounts
	}
	for k, amounts := range sums {
		roll := k.roll.Roll()
		if amounts == [clickhouse.MaxRollAmounts]int64{} {
			continue
		}
		var line strings.Builder
		line.WriteString(roll.Name)
		for i, column := range roll.Keys {
			if k.keys[i] != "" {
				fmt.Fprintf(&line, " %s %q", column, k.keys[i])
				reached[roll.Name+"."+column] = true
			}
		}
		for i, column := range roll.Amounts {
			if amounts[i] != 0 {
				fmt.Fprintf(&line, " %s %d", column, amounts[i])
				reached[roll.Name+"."+column] = true
			}
		}
		lines = append(lines, line.String())
	}
	slices.Sort(lines)
	return lines
}
