package reader

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// keepParts leaves tables of a test in the parts that it inserts.
func keepParts(t *testing.T, db clickhouse.Conn) {
	t.Helper()
	insert := inserting(t, db)
	for _, table := range []string{"sums", "streams", "budget_nodes", "contractors"} {
		insert("SYSTEM STOP MERGES " + table)
	}
}

// How far a table has come is read when its parts have changed, and only then; what is kept of it is what would be read.
func TestHowATableStandsFollowsItsParts(t *testing.T) {
	db := database(t)
	ctx := context.Background()
	do := inserting(t, db)
	keepParts(t, db)
	conn := &counted{Conn: db}
	r := New(conn, db, 10*time.Second)
	position := func(partition, next int) string {
		return fmt.Sprintf("INSERT INTO budget_nodes (tenant, project, row_version) VALUES ('', '#%d', %d)", partition, next)
	}
	made := ""
	if err := db.QueryRow(ctx, "SHOW CREATE TABLE budget_nodes").Scan(&made); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name       string
		do         []string
		want       map[string]string
		statements int
	}{
		{"an empty table", nil, map[string]string{}, 1},
		{"a first part", []string{position(0, 5)}, map[string]string{"#0": "5"}, 2},
		{"nothing has changed", nil, map[string]string{"#0": "5"}, 1},
		{"another table has changed", []string{"INSERT INTO contractors (tenant, project, row_version) VALUES ('', '#0', 9)"},
			map[string]string{"#0": "5"}, 1},
		{"a second part", []string{position(1, 7)}, map[string]string{"#0": "5", "#1": "7"}, 2},
		{"parts are merged", []string{"SYSTEM START MERGES budget_nodes", "OPTIMIZE TABLE budget_nodes FINAL"}, map[string]string{"#0": "5", "#1": "7"}, 2},
		{"nothing has changed since", nil, map[string]string{"#0": "5", "#1": "7"}, 1},
		{"a table that is made anew, whose parts have the same names", []string{"DROP TABLE budget_nodes SYNC", made, position(0, 6)},
			map[string]string{"#0": "6"}, 2},
		{"and once more", []string{"DROP TABLE budget_nodes SYNC", made, position(0, 5)}, map[string]string{"#0": "5"}, 2},
	} {
		// When
		for _, statement := range step.do {
			do(statement)
		}
		conn.count(0)
		found, err := r.progress(ctx, tableNodes)
		if err != nil {
			t.Fatal(err)
		}
		// Then
		got := make(map[string]string)
		for _, s := range found[tableNodes] {
			got[s.of] = s.state
		}
		if !reflect.DeepEqual(got, step.want) || conn.statements != step.statements {
			t.Errorf("%s: got %v by %d statements, want %v by %d", step.name, got, conn.statements, step.want, step.statements)
		}
	}
}

// A change that comes between the list of parts and what is read of them is not missed afterwards.
func TestAChangeWhilePartsAreListedIsSeen(t *testing.T) {
	// Given a table whose positions change right after its parts were listed
	db := database(t)
	do := inserting(t, db)
	keepParts(t, db)
	next := 1
	move := func() {
		next++
		do(fmt.Sprintf("INSERT INTO budget_nodes (tenant, project, row_version) VALUES ('', '#0', %d)", next))
	}
	move()
	conn := &afterListing{Conn: db, do: move}
	r := New(conn, db, 10*time.Second)
	for range 4 {
		// When it is read again and again, then it is as it stands, or as it stood when that was asked for.
		before := next
		at, err := r.positions(t.Context(), tableNodes)
		if err != nil || at[tableNodes]["#0"] < uint64(before) {
			t.Errorf("got %v, %d behind it, %v", at, before, err)
		}
	}
	conn.do = nil
	for range 2 {
		if at, err := r.positions(t.Context(), tableNodes); err != nil || at[tableNodes]["#0"] != uint64(next) {
			t.Errorf("at last %v, want %d: %v", at, next, err)
		}
	}
}

// afterListing is a connection that does something behind each list of parts, or refuses to list them.
type afterListing struct {
	Conn
	do      func()
	refused error
	listed  int
}

func (c *afterListing) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	lists := strings.Contains(query, "system.parts")
	if lists {
		c.listed++
		if c.refused != nil {
			return nil, c.refused
		}
	}
	rows, err := c.Conn.Query(ctx, query, args...)
	if lists && c.do != nil {
		c.do()
	}
	return rows, err
}

// Where parts can't be listed, tables are read each time, and nobody tries to list them again.
func TestTablesAreReadWherePartsCannotBeListed(t *testing.T) {
	db := database(t)
	do := inserting(t, db)
	var name string
	if err := db.QueryRow(t.Context(), "SELECT currentDatabase()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	// Given tables that show what is in others, as those over several servers do
	do("CREATE DATABASE " + name + "_all")
	t.Cleanup(func() {
		if err := db.Exec(context.Background(), "DROP DATABASE "+name+"_all SYNC"); err != nil {
			t.Error(err)
		}
	})
	for _, table := range []string{"budget_nodes", "migrations"} {
		do(fmt.Sprintf("CREATE TABLE %s_all.%s ENGINE = Merge(%[1]s, '^%[2]s$')", name, table))
	}
	several, err := clickhouse.Open(&clickhouse.Options{Addr: []string{clickhousetest.Engine(t).Addr()}, Auth: clickhouse.Auth{Database: name + "_all"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { several.Close() })
	for name, conn := range map[string]*afterListing{
		"several servers": {Conn: several},
		"no right to":     {Conn: db, refused: &clickhouse.Exception{Code: codeAccessDenied}},
	} {
		r := New(conn, db, 10*time.Second)
		for _, next := range []uint64{3, 8, 11} {
			// When the table changes and is asked for
			do(fmt.Sprintf("INSERT INTO budget_nodes (tenant, project, row_version) VALUES ('', '#%d', %d)", len(name), next))
			at, err := r.positions(t.Context(), tableNodes)
			// Then it is read.
			if err != nil || at[tableNodes][fmt.Sprint("#", len(name))] != next {
				t.Errorf("%s: got %v, want %d: %v", name, at, next, err)
			}
		}
		if conn.listed != 1 {
			t.Errorf("%s: parts were listed %d times", name, conn.listed)
		}
	}
	// And any other failure is one.
	away := &afterListing{Conn: db, refused: &clickhouse.Exception{Code: 241}}
	r := New(away, db, 10*time.Second)
	for range 2 {
		if _, err := r.positions(t.Context(), tableNodes); err == nil {
			t.Errorf("parts that the server fails to list: %v", err)
		}
	}
	away.refused = nil
	if _, err := r.positions(t.Context(), tableNodes); err != nil || away.listed != 3 {
		t.Errorf("and when it can: %v, listed %d times", err, away.listed)
	}
}
