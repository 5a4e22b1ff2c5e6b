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
	got := lines(t, conn, `SELECT concat(c.name, ' ', c.type, ' is ', c.default_expression, ' ', of.type)
FROM system.columns AS c INNER JOIN system.columns AS of ON of.database = c.database AND of.table = c.table AND of.name = c.default_expression
WHERE c.database = ? AND c.table = 'sums' AND c.default_kind = 'ALIAS' ORDER BY c.name`, name)
	var want []string
	for _, term := range terms() {
		kind, column := "String", clickhouse.SumColumn(term)
		if strings.HasPrefix(column, "amount") {
			kind = "Int128"
		}
		want = append(want, fmt.Sprintf("%s %s is %s %[2]s", term, kind, column))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the aliases are\n%q, the rolls say\n%q", got, want)
	}
}

// An alias costs nothing: a condition on it is one on the key.
func TestAConditionOnATermUsesTheSortingKey(t *testing.T) {
	conn, _ := migrated(t, clickhouse.Target{})
	statements := []string{
		"INSERT INTO sums (tenant, project, roll, key1, amount2) SELECT 't', 'P', 'lines', leftPad(toString(number), 6, '0'), 1 FROM numbers(50000)",
		"OPTIMIZE TABLE sums FINAL",
	}
	for _, s := range statements {
		if err := conn.Exec(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	plan := strings.Join(lines(t, conn, "EXPLAIN indexes = 1 "+
		"SELECT node, sum(net) FROM sums WHERE tenant = 't' AND project = 'P' AND roll = 'lines' AND contract = '000700' GROUP BY node"), "\n")
	if !strings.Contains(plan, "Granules: 1/49") {
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
	columns := clickhouse.SumColumns()[2:] // from the roll on
	row := func(roll string, terms ...string) string {
		cells := make([]string, len(columns))
		cells[0] = roll
		for _, term := range terms {
			cells[slices.Index(columns, clickhouse.SumColumn(term))] = term
		}
		return strings.Join(cells, "|")
	}
	want := []string{strings.Join(columns, "|")}
	for _, id := range clickhouse.Rolls() {
		want = append(want, row(id.Roll().Name, slices.Concat(id.Roll().Keys, id.Roll().Amounts)...))
	}
	if want = append(want, row("", "position", "squares")); !slices.Equal(got, want) {
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
		columnsOf := func(kind string, terms []string) (columns []string) {
			for _, term := range terms {
				columns = append(columns, clickhouse.SumColumn(term))
			}
			others := slices.ContainsFunc(columns, func(c string) bool { return !strings.HasPrefix(c, kind) })
			if others || len(columns) == 0 || repeats(columns) {
				t.Errorf("%s has %q, which stand in %q", r.Name, terms, columns)
			}
			return columns
		}
		if keys := columnsOf("key", r.Keys); !slices.IsSorted(keys) {
			t.Errorf("the keys %q of %s are not in the order of the table", r.Keys, r.Name)
		}
		columnsOf("amount", r.Amounts)
		checkPlaces(t, r.Name, "key", r.Keys, r.KeyPlaces())
		checkPlaces(t, r.Name, "amount", r.Amounts, r.AmountPlaces())
	}
	for _, none := range []string{"", "key1", "project", "nobody"} {
		if column := clickhouse.SumColumn(none); column != "" {
			t.Errorf("%q is no term of a roll, and stands in %s", none, column)
		}
	}
	if _, ok := clickhouse.RollNamed("position"); ok {
		t.Error("a roll that nobody described is known")
	}
	if of := clickhouse.RollsOf("users"); len(of) > 0 {
		t.Errorf("users have rolls %v", of)
	}
}

// checkPlaces finds each term once, where its column is.
func checkPlaces[P [clickhouse.MaxRollKeys]int | [clickhouse.MaxRollAmounts]int](t *testing.T, roll, kind string, terms []string, places P) {
	t.Helper()
	found := 0
	for i := range len(places) {
		if at := places[i]; at != clickhouse.None {
			found++
			if want := fmt.Sprint(kind, i+1); clickhouse.SumColumn(terms[at]) != want {
				t.Errorf("%s of %s is said to stand in %s", terms[at], roll, want)
			}
		}
	}
	if found != len(terms) {
		t.Errorf("%d of %q of %s have a place", found, terms, roll)
	}
}

func repeats(all []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(all)))) < len(all)
}

// A migration that a database has taken is frozen text: whatever changes gets a file of its own.
func TestMigrationsAreAsTheyWereReleased(t *testing.T) {
	released := map[string]string{
		"0000_migrations":                   "1e7aaf3fc2da6342e0149df24dcd704ac5abfeea660794846e084bf1e6634b00",
		"0001_control":                      "1ebadcb4db179b2f4785d705dd465ce9ac7457ff9e0b14b2cb15ea8b76a01ee8",
		"0002_sums":                         "84935c653131130af3cd5e97257c8eb45de82683fe3aa0f08b1bbdb4c23a2ec6",
		"0003_projects_and_access":          "b1d566536fb4ec5eecf35315317741bd6766d8e8df946e4bd1ebfcf975945a66",
		"0004_records":                      "bd70970b03616250518462744128c13d27eef17e3f0c402dde05a893955ff9d6",
		"0005_budget":                       "3e449d4c374dd78da2b9e03afffe4e33bfd89c5ea88c4f589135d9a93dec364e",
		"0006_contracts":                    "ea87889f290202d411ae5d748ecfefa1413e346e11bb5bc50650f60a0ed0cbdb",
		"0007_claims_and_forecasts":         "b163bad5fa54574f19eaf1c5d478ab1d1bde88afca51acd619f440c15147230e",
		"0008_line_plans_units_and_indices": "b5ce0f82f6f2c62895578f014f8db79c8a32dea2482ae3482f30bd58d757459c",
		"0009_facilities":                   "aa6e138be1b8d746796bcd08328784facd405507a5460bf4a19b6430dc6739e8",
		"0010_leases":                       "171f6357910fed4c1a1ab5446274aa6a70b21477033ad26e1e3097d834062729",
		"0011_readings":                     "6d06e8d5ed4fb0c49d04918de1d624618769a31c4e3267ab60cd13772e1d9b1a",
		"0012_intake_requests":              "008ff658cbc8f1c457d889f7330eeb06dfd7b5bda61cc88149c30ff9ac49cba3",
		"0013_confirmed_suppliers":          "e724cfeb6c46b80beb61095166b94e95037f5d18cb8d04a241687ebfc0c8e317",
		"0014_evidence_of_suppliers":        "976c53903c35fe36316eb382b4c2039b8590eac20afc7ec21e524a35535dde39",
		"0015_keys_of_suppliers":            "0df439203496dcec79b7a4d379478d666414a1b28ea6d4728ce1dddfca79011e",
		"0016_history":                      "bbb8c06c17ee7412b4ac3f1886b93eff6e6e80726d0ff7ff36310a8d651258fa",
	}
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range steps {
		name := fmt.Sprintf("%04d_%s", m.Version, m.Name)
		if released[name] != m.SHA256 {
			t.Errorf("%s has the hash %s, released was %q", name, m.SHA256, released[name])
		}
	}
	if len(released) != len(steps) {
		t.Errorf("%d migrations are there, %d are described", len(steps), len(released))
	}
	if last := steps[len(steps)-1].Version; last != clickhouse.Version {
		t.Errorf("the newest migration is %d, this binary says that it knows %d", last, clickhouse.Version)
	}
}

// A migration that was killed is run again from its first statement.
func TestEveryStatementDoesNothingWhenItIsRunAgain(t *testing.T) {
	conn, _ := migrated(t, clickhouse.Target{})
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range steps {
		for _, s := range m.Statements {
			if err := conn.Exec(context.Background(), s); err != nil {
				t.Errorf("%04d_%s again: %s: %v", m.Version, m.Name, s, err)
			}
		}
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(steps); i++ {
		if steps[i].Version != steps[i-1].Version+1 {
			t.Errorf("behind %d comes %d", steps[i-1].Version, steps[i].Version)
		}
	}
}
