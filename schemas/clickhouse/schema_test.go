package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
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
			if got, want := line(t, conn, formatted, made), line(t, conn, formatted, clickhouse.ViewSelect(table, name+"."+table)); got != want {
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
	columns := lines(t, conn, "SELECT name FROM system.columns WHERE database = ? AND table = 'sums' ORDER BY name", name)
	if want := slices.Sorted(slices.Values(slices.Concat(clickhouse.SumKeys(), []string{"position", "squares"}, clickhouse.SumAmounts()))); !slices.Equal(columns, want) {
		t.Errorf("the columns are %q, the description says %q", columns, want)
	}
	key := line(t, conn, "SELECT sorting_key FROM system.tables WHERE database = ? AND name = 'sums'", name)
	if want := strings.Join(clickhouse.SumKeys(), ", "); key != want {
		t.Errorf("they are sorted by %s, the description says %s", key, want)
	}
	amounts := strings.Join(slices.Concat([]string{"position", "squares"}, clickhouse.SumAmounts()), ", ")
	engine := line(t, conn, "SELECT engine_full FROM system.tables WHERE database = ? AND name = 'sums'", name)
	if !strings.HasPrefix(engine, "SummingMergeTree(("+amounts+"))") {
		t.Errorf("what is added up is not %s: %s", amounts, engine)
	}
	for _, amount := range strings.Split(amounts, ", ") {
		if got := line(t, conn, "SELECT type FROM system.columns WHERE database = ? AND table = 'sums' AND name = ?", name, amount); got != "Int128" {
			t.Errorf("%s is an %s", amount, got)
		}
	}
}

// Members are only ever added at the end: rows that are there were written with those before.
func TestTablesWithRollsHaveDeltasOfTheSumsColumns(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	got := lines(t, conn, "SELECT concat(table, ' ', type) FROM system.columns WHERE database = ? AND name = 'delta' ORDER BY table", name)
	var want []string
	for _, table := range contributing() {
		var members []string
		for _, k := range clickhouse.DeltaKeys(table) {
			members = append(members, k+" String")
		}
		for _, a := range clickhouse.DeltaAmounts(table) {
			members = append(members, a+" Int64")
		}
		want = append(want, table+" Array(Tuple("+strings.Join(members, ", ")+"))")
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
		empty := strings.Repeat(", ''", len(clickhouse.DeltaKeys(table))-2) + strings.Repeat(", 0", len(clickhouse.DeltaAmounts(table)))
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
	keys, amounts := clickhouse.SumKeys()[3:], clickhouse.SumAmounts() // behind tenant, project and roll
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
		for _, of := range []struct{ has, among []string }{{r.Keys, keys}, {r.Amounts, amounts}} {
			if slices.ContainsFunc(of.has, func(c string) bool { return !slices.Contains(of.among, c) }) || len(of.has) == 0 || repeats(of.has) {
				t.Errorf("%s has %q, the sums have %q", r.Name, of.has, of.among)
			}
		}
		if len(r.Keys) > clickhouse.MaxRollKeys || len(r.Amounts) > clickhouse.MaxRollAmounts {
			t.Errorf("%s has more keys or amounts than a contribution has room for", r.Name)
		}
	}
	if _, ok := clickhouse.RollNamed("position"); ok {
		t.Error("a roll that nobody described is known")
	}
	if of := clickhouse.RollsOf("users"); len(of) > 0 {
		t.Errorf("users have rolls %v", of)
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
		"0002_sums":                         "d3065f75342f60117381760c2f74fa9c6b4253076fa3706ad0dd5a3fae034977",
		"0003_projects_and_access":          "b1d566536fb4ec5eecf35315317741bd6766d8e8df946e4bd1ebfcf975945a66",
		"0004_records":                      "aa67dd57937e069a3782439485048204b307597d03c311da24634f384dbc2ebe",
		"0005_budget":                       "aea9f08ec91b09e7650f79f3b140b8d5c636a9df6f36a7898fc60bfc94c75190",
		"0006_contracts":                    "e1b8f468bac34d658c6dbccbe2ce1d8b6e8472c7b686f3707e00e3eb4251e883",
		"0007_claims_and_forecasts":         "31c28eccc5c278b74c9defab979ee57defac62d3008e760c01d0688361f85cd4",
		"0008_line_plans_units_and_indices": "b5ce0f82f6f2c62895578f014f8db79c8a32dea2482ae3482f30bd58d757459c",
		"0009_facilities":                   "3d6d46b9a93917b1ba8f28eaf414cefa33a3dd2ca3173286d02c01b53ad2f4ba",
		"0010_leases":                       "78b94d38f0a7a1cdec912cc0cef7497edbf1b51fc6a5c580270c4ac1da8c95d0",
		"0011_readings":                     "6d06e8d5ed4fb0c49d04918de1d624618769a31c4e3267ab60cd13772e1d9b1a",
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
