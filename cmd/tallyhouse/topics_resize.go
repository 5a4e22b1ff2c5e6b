package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/store"
)

// resizeCommand is a subcommand of topics, which has the flags of the connection.
func resizeCommand(s *shell, to *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "resize",
		Short: "Follow topics that got more partitions",
		Long: "After partitions were added with Kafka's own tools, this lets the database follow: it keeps the writers of each such\n" +
			"topic out for a moment and writes the new number down. Messages that lie in a partition that is no longer their key's\n" +
			"are then re-routed by the worker. With several shards both numbers, the old and the new, must be multiples of theirs.",
		Example: "  tallyhouse topics resize",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			servers, err := to.open()
			if err != nil {
				return err
			}
			defer servers.kafka.Close()
			shards, stop, err := s.openShards(ctx, servers, "topics resize")
			if err != nil {
				return err
			}
			defer stop()
			asking, err := kgo.NewClient(servers.kafka.Reading...)
			if err != nil {
				return fmt.Errorf("prepare a connection to Kafka: %w", err)
			}
			defer asking.Close()
			ids, err := identities(ctx, asking)
			if err != nil {
				return err
			}
			resized := 0
			for _, e := range store.All() {
				for _, shard := range shards {
					r, err := admin.Resize(ctx, shard, e, ids[string(e.Topic)], shard.work)
					if err != nil {
						return err
					}
					if r.From != r.To && r.From != 0 {
						resized++
						fmt.Fprintf(s.out, "%s at %s: from %d partitions to %d\n", e.Topic, shard.Addr(), r.From, r.To)
					}
				}
			}
			if resized == 0 {
				fmt.Fprintln(s.err, "every topic has as many partitions as the database knows of")
			}
			return nil
		},
	}
}
