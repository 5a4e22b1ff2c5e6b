// Package schematest makes the tables of a test's database.
package schematest

import (
	"testing"

	"tallyhouse/schemas/clickhouse"
)

// Make runs the statements of all migrations.
func Make(t testing.TB, run func(statement string) error) {
	t.Helper()
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		for _, statement := range step.Statements {
			if err := run(statement); err != nil {
				t.Fatalf("%s: %s: %v", step.Name, statement, err)
			}
		}
	}
}
