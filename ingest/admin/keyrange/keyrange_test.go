package keyrange_test

import (
	"fmt"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

// tables is a database with two tables, a and b, filled by these statements.
func tables(t *testing.T, fill ...string) *database.Server {
	t.Helper()
	db := databasetest.Empty(t, 1)
	for _, s := range append([]string{
		"CREATE TABLE a (tenant LowCardinality(String), project String) ENGINE = MergeTree ORDER BY (tenant, project)",
		"CREATE TABLE b AS a",
	}, fill...) {
		if err := db.Exec(t.Context(), database.Statement{SQL: s}); err != nil {
			t.Fatal(s, err)
		}
	}
	return db
}

func TestEveryRowLiesInExactlyOneRange(t *testing.T) {
	db := tables(t,
		"INSERT INTO a SELECT ['T', 'ü/', 'tab\\t\\'\\\\'][1 + number % 3], concat('p', toString(intDiv(number, 3) % 7)) FROM numbers(210)",
		"INSERT INTO a SELECT 'T', '' FROM numbers(3)",
		"INSERT INTO a SELECT 'T', 'large' FROM numbers(500)",
		"INSERT INTO a SELECT 'T', 'a\\tb\\nc\\'d\\\\e\\0f' FROM numbers(4)",
		"INSERT INTO b SELECT 'only in b', '\U0001F3D7' FROM numbers(5)",
		"INSERT INTO b SELECT 'T', concat('p', toString(number)) FROM numbers(10)",
		"INSERT INTO b SELECT 'not asked for', 'p' FROM numbers(9)",
		"INSERT INTO a SELECT '', concat('#', toString(number)) FROM numbers(6)",
	)
	const rows = 30
	params := database.Params{"but": "not asked for"}
	ranges, err := keyrange.Cut(t.Context(), db, rows, params,
		keyrange.Source{Table: "a"}, keyrange.Source{Table: "b", Condition: "tenant != {but:String}"})
	if err != nil {
		t.Fatal(err)
	}
	count := func(r keyrange.Range) (n uint64) {
		q := fmt.Sprintf("SELECT (SELECT count() FROM a WHERE %s) + (SELECT count() FROM b WHERE %[1]s)", keyrange.Where)
		if err := db.Row(t.Context(), database.Query{SQL: q, Params: r.Params()}, &n); err != nil {
			t.Fatal(r, err)
		}
		return n
	}
	total := uint64(0)
	for _, r := range ranges {
		n := count(r)
		if n != r.Rows || n == 0 {
			t.Errorf("%+v holds %d rows", r, n)
		}
		if r.From != r.To && n > rows {
			t.Errorf("%+v holds %d rows of several projects, more than %d", r, n, rows)
		}
		total += n
	}
	if total != 210+3+500+4+5+10 || len(ranges) < 10 {
		t.Fatalf("%d ranges hold %d rows", len(ranges), total)
	}
}

// Given two tables whose own ranges of the same projects begin and end at different places, then their ranges are not
// chained up to one that is as large as the whole.
func TestRangesOfTwoTablesDoNotGrowTogether(t *testing.T) {
	db := tables(t,
		"INSERT INTO a SELECT 'T', leftPad(toString(number % 100), 3, '0') FROM numbers(1000)",
		"INSERT INTO b SELECT 'T', leftPad(toString(number % 70), 3, '0') FROM numbers(2100)",
	)
	ranges, err := keyrange.Cut(t.Context(), db, 100, nil, keyrange.Source{Table: "a"}, keyrange.Source{Table: "b"})
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, r := range ranges {
		if r.Rows > 100 || r.From <= last {
			t.Errorf("%+v behind %q", r, last)
		}
		last = r.To
	}
	if len(ranges) < 31 || last != "099" {
		t.Fatalf("%d ranges up to %q", len(ranges), last)
	}
}
