// Package schematest makes the tables of a test's database.
package schematest

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/schemas/clickhouse"
)

// Make runs the statements of all migrations and writes down that they were taken, as `tallyhouse migrate` does with several times
// the statements: it takes holds and reads them again and again.
func Make(t testing.TB, run func(statement string) error) {
	t.Helper()
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	for _, step := range steps {
		for _, statement := range step.Statements {
			if err := run(statement); err != nil {
				t.Fatalf("%s: %s: %v", step.Name, statement, err)
			}
		}
		taken = append(taken, fmt.Sprintf("(%d, '%s', '%s', now64(3))", step.Version, step.Name, step.SHA256))
	}
	if err := run("INSERT INTO migrations (version, name, sha256, applied_at) VALUES " + strings.Join(taken, ", ")); err != nil {
		t.Fatalf("write down the migrations: %v", err)
	}
}
