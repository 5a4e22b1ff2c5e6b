package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

func releaseCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "release TOPIC",
		GroupID: groupCare,
		Short:   "End a hold whose holder died",
		Long: "While a command works on a topic's tables it holds all writers back. One that was killed leaves its hold behind,\n" +
			"until the database server restarts or this ends it: what the dead command left running is killed first. Make\n" +
			"sure that it is dead. TOPIC is a topic of change events, or migrations.",
		Example: "  tallyhouse release ledger.records",
		Args:    cobra.MatchAll(one("TOPIC"), heldTopic),
	}
	to := connectionFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		shards, err := servers.databases()
		if err != nil {
			return err
		}
		defer closeAll(shards)
		var failed []error
		found := false
		for _, shard := range shards {
			exists, err := shard.Exists(cmd.Context())
			if err == nil && !exists {
				err = fmt.Errorf("%s: there is no database %s: check --clickhouse-database", shard.Addr(), shard.Name())
			}
			if err != nil {
				failed = append(failed, err)
				continue
			}
			broken, err := fence.Break(cmd.Context(), shard, args[0], "release")
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", shard.Addr(), err))
			}
			for _, h := range broken {
				found = true
				fmt.Fprintf(s.out, "%s partition %d was held by %s since %s\n", args[0], h.Partition,
					fence.Holder(h.Owner), h.Since.Format(time.RFC3339))
			}
			if len(broken) > 0 && store.Of(events.Topic(args[0])) != nil {
				if err := s.tellWork(cmd.Context(), shard, args[0]); err != nil {
					failed = append(failed, err)
				}
			}
		}
		if !found && len(failed) == 0 {
			fmt.Fprintf(s.err, "nobody holds %s\n", args[0])
		}
		return errors.Join(failed...)
	}
	return cmd
}

// tellWork says which work a holder left behind: a release doesn't end it.
func (s *shell) tellWork(ctx context.Context, shard *database.Server, topic string) error {
	stream, known, err := position.ReadStream(ctx, shard, topic)
	if err == nil && known && stream.Work != "" {
		fmt.Fprintf(s.err, "%s on %s is not complete: nobody writes to its tables until it is run again\n", stream.Work, topic)
	}
	return err
}
