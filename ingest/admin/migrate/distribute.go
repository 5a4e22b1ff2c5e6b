package migrate

import (
	"context"
	"fmt"

	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// AllShards is the name of the database whose tables show the rows of every shard. Only what reads uses it.
func AllShards(name string) string { return name + "_all" }

const shardedTables = `SELECT name FROM system.tables WHERE database = {database:String} AND endsWith(engine, 'MergeTree') ORDER BY name`

// distribute makes, on a shard, a Distributed table for each table of the database, under the same name. Such a table
// holds nothing, so each is made anew: it then has the columns that its table has now.
func distribute(ctx context.Context, db *database.Server, t clickhouse.Target) error {
	all := clickhouse.Quote(AllShards(db.Name()))
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + all + " " + t.OnCluster()}
	err := db.Rows(ctx, database.Query{SQL: shardedTables, Params: database.Params{"database": db.Name()}},
		func(scan func(...any) error) error {
			var name string
			if err := scan(&name); err != nil {
				return err
			}
			own := clickhouse.Quote(db.Name()) + "." + clickhouse.Quote(name)
			statements = append(statements, fmt.Sprintf("CREATE OR REPLACE TABLE %s.%s %s AS %s ENGINE = Distributed(%s, %s, %s)",
				all, clickhouse.Quote(name), t.OnCluster(), own, clickhouse.Quote(t.Cluster), clickhouse.Quote(db.Name()), clickhouse.Quote(name)))
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
