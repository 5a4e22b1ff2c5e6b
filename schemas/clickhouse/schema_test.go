package clickhouse_test

import (
	"context"
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

func TestEveryViewIsOnTheServerAsItIsDescribed(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	const formatted = "SELECT formatQuery(?)"
	for _, v := range clickhouse.Views() {
		t.Run(v.Name, func(t *testing.T) {
			made := line(t, conn, "SELECT as_select FROM system.tables WHERE database = ? AND name = ?", name, v.Trigger())
			if got, want := line(t, conn, formatted, made), line(t, conn, formatted, v.Select(name+"."+v.Table)); got != want {
				t.Errorf("the server has\n%s\nthe description says\n%s", got, want)
			}
			to := line(t, conn, "SELECT create_table_query FROM system.tables WHERE database = ? AND name = ?", name, v.Trigger())
			if !strings.Contains(to, fmt.Sprintf(" TO %s.%s ", name, v.Name)) {
				t.Errorf("it does not fill %s: %s", v.Name, to)
			}
			columns := lines(t, conn, "SELECT name FROM system.columns WHERE database = ? AND table = ? ORDER BY position", name, v.Name)
			if !slices.Equal(columns, v.Columns()) {
				t.Errorf("the target has the columns %q, the description says %q", columns, v.Columns())
			}
			key := line(t, conn, "SELECT sorting_key FROM system.tables WHERE database = ? AND name = ?", name, v.Name)
			if key != strings.Join(v.Key(), ", ") {
				t.Errorf("the target is sorted by %s, the description says %q", key, v.Key())
			}
			engine := line(t, conn, "SELECT engine_full FROM system.tables WHERE database = ? AND name = ?", name, v.Name)
			if !strings.HasPrefix(engine, "SummingMergeTree(("+strings.Join(append([]string{"position"}, v.Sums...), ", ")+"))") {
				t.Errorf("the target does not sum position and %q: %s", v.Sums, engine)
			}
		})
	}
}

func TestEveryMaterialisedViewIsDescribed(t *testing.T) {
	conn, name := migrated(t, clickhouse.Target{})
	var want []string
	for _, v := range clickhouse.Views() {
		want = append(want, v.Trigger())
	}
	slices.Sort(want)
	got := lines(t, conn, "SELECT name FROM system.tables WHERE database = ? AND engine = 'MaterializedView' ORDER BY name", name)
	if !slices.Equal(got, want) {
		t.Errorf("on the server are %q, described are %q", got, want)
	}
}

func TestRecordsOfOneContractAreFoundWithoutReadingTheOthers(t *testing.T) {
	conn, _ := migrated(t, clickhouse.Target{})
	ctx := context.Background()
	// Given records of many contracts, each contract's together, as time brings them.
	fill := "INSERT INTO records (tenant, project, id, contract_id) SELECT 't', 'P', leftPad(toString(number), 8, '0'), concat('C', toString(intDiv(number, 100))) FROM numbers(100000)"
	if err := conn.Exec(ctx, fill); err != nil {
		t.Fatal(err)
	}
	// When those of one are asked for, then the index leaves a few granules of a hundred.
	plan := strings.Join(lines(t, conn, "EXPLAIN indexes = 1 SELECT id FROM records WHERE tenant = 't' AND project = 'P' AND contract_id = 'C500'"), "\n")
	_, index, used := strings.Cut(plan, "contract_bloom")
	var granules, all int
	if _, after, ok := strings.Cut(index, "Granules: "); !used || !ok {
		t.Fatalf("the index is not used:\n%s", plan)
	} else if _, err := fmt.Sscanf(after, "%d/%d", &granules, &all); err != nil || all < 90 || granules > 10 {
		t.Errorf("%d of %d granules are read:\n%s", granules, all, plan)
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
