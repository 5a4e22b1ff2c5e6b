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

// The embedded engine runs no statement ON CLUSTER, and has no port through which replicas fetch parts. It has a Keeper in its
// memory: so each statement is run without that clause, and the tables are made. Nothing can be written to them, nor are they
// altered.
func TestReplicatedTablesAreMade(t *testing.T) {
	t.Parallel()
	// Given a server with a Keeper
	one := shards(t, 1)[0]
	one.Database = "default"
	db := open(t, one)
	target := schema.Target{Cluster: "pair", Replicated: true, Durable: true}
	steps, err := schema.Migrations(target)
	if err != nil {
		t.Fatal(err)
	}
	// When the steps are taken, with a path for what only ON CLUSTER gives
	alone := strings.NewReplacer(target.OnCluster(), "", "{uuid}", "{database}/{table}")
	for _, step := range steps {
		for _, statement := range step.Statements {
			if !strings.Contains(statement, "ALTER TABLE") { // which writes to a table
				exec(t, db, alone.Replace(statement))
			}
		}
	}
	// Then the Keeper knows all of them
	var known, made uint64
	for into, count := range map[*uint64]string{
		&known: "SELECT count() FROM system.replicas WHERE database = 'default' AND total_replicas = 1",
		&made:  "SELECT count() FROM system.tables WHERE database = 'default' AND engine LIKE '%MergeTree'",
	} {
		if err := db.Row(t.Context(), database.Query{SQL: count}, into); err != nil {
			t.Fatal(err)
		}
	}
	if known != made || made == 0 {
		t.Errorf("%d tables were made, of which the Keeper knows %d", made, known)
	}
}

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
		"SELECT toInt64(sum(n)) FROM (SELECT month, sum(net) AS n FROM sums WHERE roll = 'payments' AND node != '' AND month > '1900-01' GROUP BY month)",
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
