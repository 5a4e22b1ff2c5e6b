package migrate_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store/database"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// shards starts engines that know each other as the shards, without replicas, of a cluster named pair.
func shards(t *testing.T, n int) []database.Options {
	t.Helper()
	var addrs []string
	servers := ""
	for range n {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, free.Addr().String())
		servers += fmt.Sprintf("<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>", free.Addr().(*net.TCPAddr).Port)
		if err := free.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var all []database.Options
	for _, addr := range addrs {
		dir := t.TempDir()
		// The engine merges what lies in engine.d into its own engine.xml.
		if err := os.Mkdir(filepath.Join(dir, "engine.d"), 0o700); err != nil {
			t.Fatal(err)
		}
		config := "<clickhouse><remote_servers><pair>" + servers + "</pair></remote_servers></clickhouse>"
		if err := os.WriteFile(filepath.Join(dir, "engine.d", "cluster.xml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		engine, err := clickhouse.Start(t.Context(), clickhouse.Options{DataDir: dir, Addr: addr, MemoryLimit: 1 << 30, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := engine.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		all = append(all, database.Options{Addr: addr, Database: "ledger", User: "default"})
	}
	return all
}

// Replicated engines and statements ON CLUSTER take a Keeper, which the embedded engine has not: of those only the
// text is tested.
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
	queries := []string{"SELECT toInt64(sum(gross)) FROM sums", "SELECT toInt64(count()) FROM records FINAL WHERE tenant != ''"}
	sums := func(where database.Options) (seen [2]int64) {
		db := open(t, where)
		for i, q := range queries {
			if err := db.Row(t.Context(), database.Query{SQL: q}, &seen[i]); err != nil {
				t.Fatal(err)
			}
		}
		return seen
	}
	var together [2]int64
	for i, where := range two {
		l := ingesttest.Open(t, where, events.Records, 2)
		l.Write(ingesttest.NewRecords(uint64(i)).Draw(30, 40)...)
		own := sums(where)
		together[0], together[1] = together[0]+own[0], together[1]+own[1]
	}
	for _, where := range two {
		where.Database = migrate.AllShards(where.Database)
		if seen := sums(where); seen != together || seen[1] == 0 {
			t.Fatalf("the shards hold %v together, through %s one sees %v", together, where.Addr, seen)
		}
	}
}
