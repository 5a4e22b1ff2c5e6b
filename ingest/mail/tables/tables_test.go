package tables_test

import (
	"slices"
	"strings"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/mail/tables"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

// Given two shards, then each is asked; and when one fails, then it is named and what the other says is no answer.
func TestEveryShardIsAsked(t *testing.T) {
	one, other := databasetest.Migrated(t, 1), databasetest.Migrated(t, 1)
	var said []string
	ask := func(shards tables.Shards) error {
		said = nil
		return shards.Each(t.Context(), "SELECT concat({greeting:String}, ' ', currentDatabase())",
			database.Params{"greeting": "hello"}, func(scan func(...any) error) error {
				var text string
				err := scan(&text)
				said = append(said, text)
				return err
			})
	}
	if err := ask(tables.Shards{one, other}); err != nil || !slices.Equal(said, []string{"hello " + one.Name(), "hello " + other.Name()}) {
		t.Errorf("they say %q, %v", said, err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ask(tables.Shards{one, other}); err == nil || !strings.Contains(err.Error(), "ClickHouse at "+other.Addr()) {
		t.Errorf("of a shard that is away: %v", err)
	}
}
