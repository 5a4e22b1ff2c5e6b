package reader

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/schemas/events"
)

// askedConn notes the statements that ask for rows.
type askedConn struct {
	Conn
	asked *[]string
}

func (c askedConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	*c.asked = append(*c.asked, query)
	return c.Conn.Query(ctx, query, args...)
}

// What is kept of a tenant's lines and names outlives the changes of others, and never its own.
func TestCachesOfATenantOutliveTheChangesOfOthers(t *testing.T) {
	db := database(t)
	ctx := context.Background()
	keepParts(t, db)
	offset := 0
	change := func(tenant, name string) {
		t.Helper()
		offset++
		for table, columns := range map[string]string{
			"budget_nodes": "structure_id, level, code, name, active, accounting_codes) VALUES ('%s', '%s', '%s', %d, %d, 'S', 'budget', '1', '%s', true, '[]')",
			"contractors":  "name) VALUES ('%s', '%s', '%s', %d, %d, '%s')",
		} {
			row := fmt.Sprintf("INSERT INTO "+table+" (tenant, project, id, row_version, src_offset, "+columns, tenant, "", "x", offset, offset, name)
			position := fmt.Sprintf("INSERT INTO %s (tenant, project, row_version, src_offset) VALUES ('', '#0', %d, %d)", table, offset+1, offset)
			for _, sql := range []string{row, position} {
				if err := db.Exec(ctx, sql); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var asked []string
	r := New(askedConn{db, &asked}, db, 10*time.Second)
	project := ProjectRef{ID: "P1", StructureID: events.Some("S")}
	// seen is what the tenant's line and contractor are called, and how many statements it took to know.
	seen := func() (line, name string, statements int) {
		t.Helper()
		asked = nil
		at, err := r.states(ctx)
		if err != nil {
			t.Fatal(err)
		}
		structures, err := r.structuresAt(ctx, at.nodes, "acme", []ProjectRef{project})
		if err != nil {
			t.Fatal(err)
		}
		names, err := r.contractorNames(ctx, at.contractors, "acme", []string{"x"}, maxPageBytes)
		if err != nil {
			t.Fatal(err)
		}
		node, ok := structures["P1"].Find("x")
		if !ok {
			t.Fatal("the line is not there")
		}
		return node.Name, names["x"], len(asked)
	}
	for _, step := range []struct {
		name       string
		change     func()
		want       string
		statements int // the tables' parts; their positions; and for both tables the tenant's own state and what is missing
	}{
		{"at first", func() { change("acme", "one"); change("other", "theirs") }, "one", 6},
		{"again", func() {}, "one", 1},
		{"after another tenant's change", func() { change("other", "changed") }, "one", 4},
		{"again", func() {}, "one", 1},
		{"after its own change", func() { change("acme", "two") }, "two", 6},
	} {
		// When
		step.change()
		// Then
		if line, name, statements := seen(); line != step.want || name != step.want || statements != step.statements {
			t.Errorf("%s: line %q, name %q by %d statements, want %q by %d", step.name, line, name, statements, step.want, step.statements)
		}
	}
}
