package store_test

import (
	"slices"
	"testing"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
)

func TestEveryColumnIsFilledAndNoneIsMissing(t *testing.T) {
	db := migrated(t)
	for _, e := range store.All() {
		t.Run(e.Table, func(t *testing.T) {
			want := []string{"tenant", "project", "id", "row_version", "deleted", "at"}
			for _, c := range e.Columns {
				want = append(want, c.Name)
			}
			want = append(want, "src_partition", "src_offset", "batch_first", "key_hash", "content_hash", "moved")
			if e.Contributes() {
				for _, when := range []string{"before.", "after."} {
					for _, m := range slices.Concat([]string{"position"}, e.Shape.Keys, e.Shape.Sums) {
						want = append(want, when+m)
					}
				}
			}
			var got []string
			for _, row := range texts(t, db, "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position",
				database.Params{"table": e.Table}, 1) {
				got = append(got, row[0])
			}
			if !slices.Equal(got, want) {
				t.Errorf("the table has the columns\n%q, the entity fills\n%q", got, want)
			}
		})
	}
}

func TestContributionsHaveWhatTheViewsSum(t *testing.T) {
	for _, e := range store.All() {
		if e.Contributes() != (len(e.Views()) > 0) {
			t.Errorf("%s contributes: %v, but has %d views", e.Table, e.Contributes(), len(e.Views()))
		}
		for _, v := range e.Views() {
			for _, k := range v.Keys {
				if !slices.Contains(e.Shape.Keys, k) {
					t.Errorf("%s is keyed by %s, which %s does not contribute", v.Name, k, e.Table)
				}
			}
			for _, s := range v.Sums {
				if !slices.Contains(e.Shape.Sums, s) {
					t.Errorf("%s sums %s, which %s does not contribute", v.Name, s, e.Table)
				}
			}
		}
	}
}
