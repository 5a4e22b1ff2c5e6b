package migrate

import (
	"context"
	"fmt"

	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// AllShards is the name of the database whose tables show the rows of every shard. Only what reads uses it.
func AllShards(name string) string { return name + "_all" }

const (
	shardedTables = `SELECT name FROM system.tables WHERE database = {database:String} AND endsWith(engine, 'MergeTree') ORDER BY name`
	shardsOf      = `SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = {cluster:String}`
)

// shardingKey is the argument by which rows find their shard, of the one table that is written over all of them.
func shardingKey(table string) string {
	if table == "cursor_keys" {
		return ", id"
	}
	return ""
}

// distribute makes, on a shard, a Distributed table for each table of the database, under the same name. Such a table
// holds nothing, so each is made anew: it then has the columns that its table has now. The cluster must have just these
// shards: whoever reads would miss the rows of another one, or meet some twice.
func (s *shard) distribute(ctx context.Context, db *database.Server) error {
	t := s.Target
	var known uint64
	if err := db.Row(ctx, database.Query{SQL: shardsOf, Params: database.Params{"cluster": database.Text(t.Cluster)}}, &known); err != nil {
		return fmt.Errorf("look for the shards of cluster %s: %w", t.Cluster, err)
	}
	if int(known) != s.all {
		return fmt.Errorf("cluster %s has %d shards in this server's remote_servers, and addresses of %d shards are given: "+
			"give one address of each", t.Cluster, known, s.all)
	}
	all := clickhouse.Quote(AllShards(db.Name()))
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + all + " " + t.OnCluster()}
	err := db.Rows(ctx, database.Query{SQL: shardedTables, Params: database.Params{"database": db.Name()}},
		func(scan func(...any) error) error {
			var name string
			if err := scan(&name); err != nil {
				return err
			}
			own := clickhouse.Quote(db.Name()) + "." + clickhouse.Quote(name)
			statements = append(statements, fmt.Sprintf("CREATE OR REPLACE TABLE %s.%s %s AS %s ENGINE = Distributed(%s, %s, %s%s)",
				all, clickhouse.Quote(name), t.OnCluster(), own, clickhouse.Quote(t.Cluster), clickhouse.Quote(db.Name()),
				clickhouse.Quote(name), shardingKey(name)))
			return nil
		})
	if err != nil {
		return fmt.Errorf("list the tables to distribute: %w", err)
	}
	for _, s := range statements {
		if err := db.Exec(ctx, database.Statement{SQL: s, Limit: ddlLimit}); err != nil {
			return fmt.Errorf("distribute the tables over cluster %s: %w", t.Cluster, err)
		}
	}
	return nil
}
