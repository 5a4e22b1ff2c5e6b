package migrate_test

import (
	"strings"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store/database"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// shards starts engines that know each other as the shards, without replicas, of a cluster named pair.
func shards(t *testing.T, n int) (all []database.Options) {
	t.Helper()
	for _, shard := range clickhousetest.StartCluster(t, "pair", n) {
		all = append(all, database.Options{Addr: shard.Addr(), Database: "ledger", User: "default"})
	}
	return all
}

// Replicated engines and statements ON CLUSTER take a Keeper, which the embedded engine has not: of those only the
// text is tested.
func TestAClusterOfOtherShardsIsRefused(t *testing.T) {
	t.Parallel()
	two := shards(t, 2)
	for cluster, says := range map[string]string{
		"pair":    "cluster pair has 2 shards in this server's remote_servers, and addresses of 1 shards are given",
		"unknown": "cluster unknown has 0 shards",
	} {
		o := quiet()
		o.Target = schema.Target{Cluster: cluster}
		if _, err := migrate.Up(t.Context(), two[:1], o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", cluster, err)
		}
	}
}

func TestTheShardsOfAClusterAreReadThroughEither(t *testing.T) {
	t.Parallel()
	two := shards(t, 2)
	o := quiet()
	o.Target = schema.Target{Cluster: "pair"}
	for range 2 { // the second time, the tables over all shards are made anew
		if _, err := migrate.Up(t.Context(), two, o); err != nil {
			t.Fatal(err)
		}
	}
	queries := []string{
		"SELECT toInt64(sum(gross)) FROM sums WHERE roll = 'lines'",
		"SELECT toInt64(count()) FROM records FINAL WHERE tenant != ''",
		"SELECT toInt64(sum(n)) FROM (SELECT month, sum(net) AS n FROM sums WHERE roll = 'cash' AND node != '' AND month > '1900-01' GROUP BY month)",
	}
	sums := func(where database.Options) (seen [3]int64) {
		db := open(t, where)
		for i, q := range queries {
			if err := db.Row(t.Context(), database.Query{SQL: q}, &seen[i]); err != nil {
				t.Fatal(err)
			}
		}
		return seen
	}
	var together [3]int64
	for i, where := range two {
		l := ingesttest.Open(t, where, events.Records, 2)
		l.Write(ingesttest.NewRecords(uint64(i)).Draw(30, 40)...)
		own := sums(where)
		for i := range own {
			together[i] += own[i]
		}
	}
	for _, where := range two {
		where.Database = migrate.AllShards(where.Database)
		if seen := sums(where); seen != together || seen[1] == 0 || seen[2] == 0 {
			t.Fatalf("the shards hold %v together, through %s one sees %v", together, where.Addr, seen)
		}
	}
}
