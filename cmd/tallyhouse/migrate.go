package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/schemas/clickhouse"
)

func migrateCommand(s *shell) *cobra.Command {
	target := clickhouse.Target{Durable: true}
	var alone bool
	cmd := &cobra.Command{
		Use:     "migrate",
		GroupID: groupRun,
		Short:   "Create the database, or bring it to this version's schema",
		Long: "Creates the database where it is missing and takes the schema's steps that it lacks, all writers kept out;\n" +
			"prints one line for each. Two at once do no harm. A database that is newer than this version is refused. Where\n" +
			"this version sums something else than the last, the sums of that table are rebuilt, its writers kept out. It can\n" +
			"be interrupted at any point; until it is run again, to its end, nobody writes to the tables concerned.",
		Example: "  tallyhouse migrate --clickhouse-addr clickhouse:9000\n" +
			"  tallyhouse migrate --clickhouse-addr shard-1:9000,shard-2:9000 --cluster main",
		Args: none,
	}
	to := connectionFlags(cmd.Flags())
	cmd.Flags().StringVar(&target.Cluster, "cluster", "",
		"name of the ClickHouse cluster: tables are then replicated, and distributed over its shards")
	cmd.Flags().BoolVar(&alone, "no-replicas", false, "the shards of the cluster have no replicas: tables are only distributed")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if alone && target.Cluster == "" {
			return errors.New("--no-replicas needs --cluster")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		target.Replicated = target.Cluster != "" && !alone
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		s.limitMemory(recomputeMemory)
		taken, err := migrate.Up(cmd.Context(), servers.shards, migrate.Options{Target: target, Log: s.log, Progress: s.progress()})
		for _, step := range taken {
			fmt.Fprintln(s.out, step)
		}
		if err == nil && len(taken) == 0 {
			fmt.Fprintln(s.err, "the database has this version's schema already")
		}
		return err
	}
	return cmd
}
