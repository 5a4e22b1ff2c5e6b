package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
)

func loadCommand(s *shell) *cobra.Command {
	var check, wait bool
	cmd := &cobra.Command{
		Use:     "load FILE.ndjson ...",
		GroupID: groupData,
		Short:   "Bring files of change events into Kafka",
		Long: "Sends change events from files, one line each: {\"topic\": ..., \"key\": ..., \"value\": {...}}. All lines are\n" +
			"validated before the first is sent; bad ones are listed as file:line: reason, and then nothing is sent. A file\n" +
			"named - is standard input, which is copied to a temporary file first. Loading the same file again is harmless.",
		Example: "  tallyhouse load --check events.ndjson\n" +
			"  tallyhouse load --wait events.ndjson\n" +
			"  tallyhouse sample --records 10000 | tallyhouse load --wait -",
		Args: oneOrMore("FILE"),
	}
	to := connectionFlags(cmd.Flags())
	cmd.Flags().BoolVar(&check, "check", false, "validate only; no server is needed")
	cmd.Flags().BoolVar(&wait, "wait", false, "return once the tables and sums hold what was sent; exit code 3 "+
		"after 60 s without progress")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if check && wait {
			return errors.New("--check sends nothing that --wait could wait for: leave one of them out")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		ctx := cmd.Context()
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		l := &load.Load{Entities: store.All(), Stdin: s.in, Progress: load.NewProgress(s.err, isTerminal(s.err)), Log: s.log}
		defer l.Close()
		found, err := l.Check(ctx, names)
		if err != nil {
			return err
		}
		if check {
			fmt.Fprintf(s.err, "%d messages are good\n", found.Messages)
			return nil
		}
		var shards []*database.Server
		if wait {
			if shards, err = servers.databases(); err != nil {
				return err
			}
			defer closeAll(shards)
			if err := inReach(ctx, shards); err != nil {
				return fmt.Errorf("nothing was sent, for --wait could learn nothing of it: %w", err)
			}
		}
		sent, err := l.Send(ctx, servers.kafka, found)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%d messages sent in %.1f s\n", sent.Messages, sent.Took.Seconds())
		if !wait {
			return nil
		}
		err = l.Wait(ctx, shards, sent, load.DefaultStallTimeout)
		if stalled := (*load.Stalled)(nil); errors.As(err, &stalled) {
			return inconclusiveError{errors.Join(err, stalled.Explain(ctx, servers.kafka))}
		}
		return err
	}
	return cmd
}

// inReach is nil when all the servers answer and have their database.
func inReach(ctx context.Context, shards []*database.Server) error {
	for _, shard := range shards {
		exists, err := shard.Exists(ctx)
		if err != nil {
			return err
		}
		if !exists {
			return fmt.Errorf("ClickHouse at %s has no database %s: check --clickhouse-database", shard.Addr(), shard.Name())
		}
	}
	return nil
}
