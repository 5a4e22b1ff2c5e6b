package store_test

import (
	"slices"
	"testing"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
)

func TestEveryColumnIsFilledAndNoneIsMissing(t *testing.T) {
	t.Parallel()
	db := databasetest.Migrated(t, 2)
	for _, e := range store.All() {
		t.Run(e.Table, func(t *testing.T) {
			want := []string{"tenant", "project", "id", "row_version", "deleted", "at"}
			for _, c := range e.Columns {
				want = append(want, c.Name)
			}
			want = append(want, "src_partition", "src_offset", "batch_first", "key_hash", "content_hash", "moved")
			if e.Contributes() {
				want = append(want, "delta")
			}
			var got []string
			for _, row := range texts(t, db, "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} AND default_kind = '' ORDER BY position",
				database.Params{"table": e.Table}, 1) {
				got = append(got, row[0])
			}
			if !slices.Equal(got, want) {
				t.Errorf("the table has the columns\n%q, the entity fills\n%q", got, want)
			}
		})
	}
}

// A table has rolls if and only if its entities contribute to sums.
func TestEntitiesContributeWhereThereAreRolls(t *testing.T) {
	for _, e := range store.All() {
		if e.Contributes() != (len(e.Rolls()) > 0) || e.Contributes() != (e.Formula != "") {
			t.Errorf("%s contributes: %v, has %d rolls and formula %q", e.Table, e.Contributes(), len(e.Rolls()), e.Formula)
		}
	}
}
