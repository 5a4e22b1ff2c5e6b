package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/schemas/clickhouse"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

// migrated is a connection to a database with all tables and views.
func migrated(t *testing.T, target clickhouse.Target) (conn driver.Conn, name string) {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	conn, err := driver.Open(&driver.Options{Addr: []string{addr}, Auth: driver.Auth{Database: name, Username: "default"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	steps, err := clickhouse.Migrations(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range steps {
		for _, s := range m.Statements {
			if err := conn.Exec(context.Background(), s); err != nil {
				t.Fatalf("migration %s: %s: %v", m.Name, s, err)
			}
		}
	}
	return conn, name
}

// lines are the values of a query's one column.
func lines(t *testing.T, conn driver.Conn, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := conn.Query(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func line(t *testing.T, conn driver.Conn, query string, args ...any) string {
	t.Helper()
	all := lines(t, conn, query, args...)
	if len(all) != 1 {
		t.Fatalf("%s %v: %d lines", query, args, len(all))
	}
	return all[0]
}

// contributing are the state tables that rolls belong to.
func contributing() (tables []string) {
	for _, id := range clickhouse.Rolls() {
		if table := id.Roll().Table; !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
	}
	slices.Sort(tables)
	return tables
}

func TestEveryViewIsOnTheServerAsItIsDescribed(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	const formatted = "SELECT formatQuery(?)"
	for _, table := range contributing() {
		t.Run(table, func(t *testing.T) {
			made := line(t, conn, "SELECT as_select FROM system.tables WHERE database = ? AND name = ?", name, clickhouse.Trigger(table))
			if got, want := line(t, conn, formatted, made), line(t, conn, formatted, clickhouse.ViewSelect(name+"."+table)); got != want {
				t.Errorf("the server has\n%s\nthe description says\n%s", got, want)
			}
			to := line(t, conn, "SELECT create_table_query FROM system.tables WHERE database = ? AND name = ?", name, clickhouse.Trigger(table))
			if !strings.Contains(to, fmt.Sprintf(" TO %s.sums ", name)) {
				t.Errorf("it does not fill the sums: %s", to)
			}
		})
	}
}

// One view for each state table with rolls, so that one insert makes one part of sums.
func TestATableHasOneViewAtMost(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	var want []string
	for _, table := range contributing() {
		want = append(want, clickhouse.Trigger(table))
	}
	got := lines(t, conn, "SELECT name FROM system.tables WHERE database = ? AND engine = 'MaterializedView' ORDER BY name", name)
	if !slices.Equal(got, want) {
		t.Errorf("on the server are %q, described are %q", got, want)
	}
}

func TestSumsAreOnTheServerAsTheyAreDescribed(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	stored := lines(t, conn, "SELECT name FROM system.columns WHERE database = ? AND table = 'sums' AND default_kind = '' ORDER BY position", name)
	if !slices.Equal(stored, clickhouse.SumColumns()) {
		t.Errorf("the columns are %q, the description says %q", stored, clickhouse.SumColumns())
	}
	key := line(t, conn, "SELECT sorting_key FROM system.tables WHERE database = ? AND name = 'sums'", name)
	if want := strings.Join(clickhouse.SumKeys(), ", "); key != want {
		t.Errorf("they are sorted by %s, the description says %s", key, want)
	}
	amounts := strings.Join(clickhouse.SumAmounts(), ", ")
	engine := line(t, conn, "SELECT engine_full FROM system.tables WHERE database = ? AND name = 'sums'", name)
	if !strings.HasPrefix(engine, "SummingMergeTree(("+amounts+"))") {
		t.Errorf("what is added up is not %s: %s", amounts, engine)
	}
	for _, amount := range clickhouse.SumAmounts() {
		if got := line(t, conn, "SELECT type FROM system.columns WHERE database = ? AND table = 'sums' AND name = ?", name, amount); got != "Int128" {
			t.Errorf("%s is an %s", amount, got)
		}
	}
}

// terms are all names that rolls have for columns of sums.
func terms() []string {
	all := []string{"position", "squares"}
	for _, id := range clickhouse.Rolls() {
		all = slices.Concat(all, id.Roll().Keys, id.Roll().Amounts)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Statements read the columns by the terms of their roll.
func TestEachTermOfARollIsAnAliasOfItsColumn(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	var aliases []string
	got := lines(t, conn, "SELECT name FROM system.columns WHERE database = ? AND table = 'sums' AND default_kind = 'ALIAS' ORDER BY name", name)
	if aliases = append(terms(), "roll"); !slices.Equal(got, slices.Sorted(slices.Values(aliases))) {
		t.Fatalf("the aliases are\n%q, the rolls have\n%q", got, aliases)
	}
	for _, id := range clickhouse.Rolls() {
		roll := id.Roll()
		columns, keys := []string{"tenant", "project", "keys"}, slices.Clone(roll.Keys)
		for i := range keys {
			keys[i] += " of " + roll.Name
		}
		values := []string{"'t'", "'P'", "'" + strings.ReplaceAll(string(clickhouse.AppendKeys(nil, roll, keys)), "\x00", `\0`) + "'"}
		for i, amount := range roll.Amounts {
			columns, values = append(columns, clickhouse.AmountColumn(amount)), append(values, fmt.Sprint(i+1))
		}
		row := fmt.Sprintf("INSERT INTO sums (%s) VALUES (%s)", strings.Join(columns, ", "), strings.Join(values, ", "))
		if err := conn.Exec(context.Background(), row); err != nil {
			t.Fatal(err)
		}
		shown := slices.Concat([]string{"roll"}, roll.Keys, roll.Amounts)
		want := slices.Concat([]string{roll.Name}, keys)
		for i := range roll.Amounts {
			want = append(want, fmt.Sprint(i+1))
		}
		for i := range shown {
			shown[i] = "toString(" + shown[i] + ")"
		}
		row = line(t, conn, fmt.Sprintf("SELECT arrayStringConcat([%s], '|') FROM sums WHERE startsWith(keys, '%s\\0')", strings.Join(shown, ", "), roll.Name))
		if row != strings.Join(want, "|") {
			t.Errorf("%s reads %q, written was %q", roll.Name, row, want)
		}
	}
}

// What is asked of a roll, or of one contract of it, is found by the sorting key.
func TestHowKeysBeginUsesTheSortingKey(t *testing.T) {
	conn, _ := migrated(t, clickhouse.Target{})
	statements := []string{
		`INSERT INTO sums (tenant, project, keys, amount2)
			SELECT 't', 'P', concat('lines\0', leftPad(toString(number), 6, '0'), '\0\0\0\0'), 1 FROM numbers(50000)`,
		"OPTIMIZE TABLE sums FINAL",
	}
	for _, s := range statements {
		if err := conn.Exec(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	plan := strings.Join(lines(t, conn, "EXPLAIN indexes = 1 "+
		`SELECT node, sum(net) FROM sums WHERE tenant = 't' AND project = 'P' AND startsWith(keys, concat('lines\0', '000700', '\0')) GROUP BY node`), "\n")
	if !strings.Contains(plan, "Granules: 1/98") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// The table that a newcomer finds beside the columns says what the rolls say.
func TestTheTableOfColumnsIsThatOfTheRolls(t *testing.T) {
	text, err := os.ReadFile("0002_sums.sql")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range strings.Split(string(text), "\n") {
		if cells := strings.Split(strings.TrimPrefix(line, "--"), "|"); len(cells) > 1 {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			got = append(got, strings.Join(cells, "|"))
		}
	}
	heads := []string{"roll"}
	for i := range clickhouse.MaxRollKeys {
		heads = append(heads, fmt.Sprint("key", i+1))
	}
	heads = append(heads, clickhouse.SumAmounts()...)
	row := func(roll string, keys [clickhouse.MaxRollKeys]string, amounts ...string) string {
		cells := slices.Concat([]string{roll}, keys[:], make([]string, clickhouse.MaxRollAmounts))
		for _, amount := range amounts {
			cells[slices.Index(heads, clickhouse.AmountColumn(amount))] = amount
		}
		return strings.Join(cells, "|")
	}
	want := []string{strings.Join(heads, "|")}
	for _, id := range clickhouse.Rolls() {
		_, keys, _ := clickhouse.CutKeys(string(clickhouse.AppendKeys(nil, id.Roll(), id.Roll().Keys)))
		want = append(want, row(id.Roll().Name, keys, id.Roll().Amounts...))
	}
	if want = append(want, row("", [clickhouse.MaxRollKeys]string{}, "position", "squares")); !slices.Equal(got, want) {
		t.Errorf("the file has\n%s\nthe rolls say\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Members are only ever added at the end: rows that are there were written with those before.
func TestTablesWithRollsHaveDeltasOfTheSumsColumns(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	got := lines(t, conn, "SELECT concat(table, ' ', type) FROM system.columns WHERE database = ? AND name = 'delta' ORDER BY table", name)
	var want []string
	for _, table := range contributing() {
		want = append(want, table+" "+clickhouse.DeltaType())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the server has\n%q, described are\n%q", got, want)
	}
}

// A merge holds a granule of each part: with such settings it holds one position row of each of 15 parts, however many
// partitions there are (docs/performance.md#the-path-of-a-change).
func TestMergesOfTablesWithDeltasHoldLittle(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	got := lines(t, conn, "SELECT name FROM system.tables WHERE database = ? AND engine_full LIKE '%max_parts_to_merge_at_once = 15%' "+
		"AND engine_full LIKE '%index_granularity_bytes = 1048576%' ORDER BY name", name)
	if want := contributing(); !slices.Equal(got, want) {
		t.Errorf("they bound their merges: %q, have deltas: %q", got, want)
	}
}

// A position row without deltas would leave the view behind, and its mend would write nothing, for ever; deltas on
// another row would never reach the view.
func TestDeltasStandOnPositionRowsAlone(t *testing.T) {
	conn, _ := migrated(t, clickhouse.Target{})
	for _, table := range contributing() {
		empty := strings.Repeat(", ''", len(clickhouse.SumKeys())-2) + strings.Repeat(", 0", len(clickhouse.SumAmounts()))
		entry := func(project string) string { return "[('', '" + project + "'" + empty + ")]" }
		own := "#" + table + "/7"
		for name, tc := range map[string]struct {
			tenant, project, delta string
			refused                bool
		}{
			"a position row":                {"", "#7", entry(own), false},
			"an entity":                     {"t", "P", "[]", false},
			"a position row without deltas": {"", "#7", "[]", true},
			"one whose first entry is another partition's": {"", "#7", entry("#" + table + "/77"), true},
			"one whose first entry is another table's":     {"", "#7", entry("#tables/7"), true},
			"an entity with deltas":                        {"t", "P", entry(own), true},
		} {
			row := fmt.Sprintf("INSERT INTO %s (tenant, project, row_version, delta) VALUES ('%s', '%s', 10, %s)", table, tc.tenant, tc.project, tc.delta)
			var refusal *driver.Exception
			switch err := conn.Exec(context.Background(), row); {
			case !tc.refused && err != nil:
				t.Errorf("%s: %s: %v", table, name, err)
			case tc.refused && (!errors.As(err, &refusal) || refusal.Code != violatedConstraint):
				t.Errorf("%s: %s is not refused by a constraint: %v", table, name, err)
			}
		}
	}
}

const violatedConstraint = 469 // the server's error code

func TestRollsNameColumnsOfTheSums(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	tables := lines(t, conn, "SELECT name FROM system.tables WHERE database = ?", name)
	names := map[string]bool{}
	for _, id := range clickhouse.Rolls() {
		r := id.Roll()
		if names[r.Name] {
			t.Errorf("there are two rolls %s", r.Name)
		}
		names[r.Name] = true
		if found, ok := clickhouse.RollNamed(r.Name); !ok || found != id {
			t.Errorf("roll %s is number %d, found as %d, %v", r.Name, id, found, ok)
		}
		if !slices.Contains(tables, r.Table) || !slices.Contains(clickhouse.RollsOf(r.Table), id) {
			t.Errorf("%s belongs to table %s, which is none or does not have it", r.Name, r.Table)
		}
		keys, amounts := r.KeyPlaces(), r.AmountPlaces()
		if !inOrder(keys[:], len(r.Keys)) {
			t.Errorf("the keys %q of %s are not each at one place, in their order: %v", r.Keys, r.Name, keys)
		}
		columns := map[string]bool{}
		for i, at := range amounts {
			if at != clickhouse.None {
				columns[r.Amounts[at]] = clickhouse.AmountColumn(r.Amounts[at]) == fmt.Sprint("amount", i+1)
			}
		}
		for _, amount := range r.Amounts {
			if !columns[amount] {
				t.Errorf("%s of %s has no column: %v", amount, r.Name, amounts)
			}
		}
	}
	for _, none := range []string{"", "amount1", "project", "nobody"} {
		if column := clickhouse.AmountColumn(none); column != "" {
			t.Errorf("%q is no amount of a roll, and stands in %s", none, column)
		}
	}
	if _, ok := clickhouse.RollNamed("position"); ok {
		t.Error("a roll that nobody described is known")
	}
	if of := clickhouse.RollsOf("users"); len(of) > 0 {
		t.Errorf("users have rolls %v", of)
	}
}

// inOrder reports whether the places have the numbers up to n once each, rising.
func inOrder(places []int, n int) bool {
	next := 0
	for _, at := range places {
		if at != clickhouse.None {
			if at != next {
				return false
			}
			next++
		}
	}
	return next == n
}

// Given keys of a roll, when they are joined and taken apart, then they are what they were, and sort as they did.
func TestKeysAreTakenApartAsTheyWereJoined(t *testing.T) {
	lines := clickhouse.RollLines.Roll()
	all := [][]string{{"", "", "", "paid"}, {"", "N1", "EUR", ""}, {"C", "N1", "EUR", "paid"}, {"C\x01", "", "", ""}, {"C1", "", "EUR", "paid"}}
	var before string
	for _, keys := range all {
		text := string(clickhouse.AppendKeys(nil, lines, keys))
		roll, parts, ok := clickhouse.CutKeys(text)
		if want := [clickhouse.MaxRollKeys]string{keys[0], keys[1], keys[2], keys[3]}; roll != "lines" || parts != want || !ok {
			t.Errorf("%q: %q %q %v", keys, roll, parts, ok)
		}
		if text <= before {
			t.Errorf("%q sorts before %q", text, before)
		}
		before = text
	}
	for _, other := range []string{"", "lines", "lines\x00C\x00N\x00EUR\x00paid", "lines\x00\x00\x00\x00\x00\x00"} {
		if _, keys, ok := clickhouse.CutKeys(other); ok {
			t.Errorf("%q has the keys %q", other, keys)
		}
	}
}
