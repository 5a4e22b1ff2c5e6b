package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/fence"
	kafkalog "tallyhouse/schemas/kafka"
)

// resizeCommand is a subcommand of topics, which has the flags of the connection.
func resizeCommand(s *shell, to *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "resize",
		Short: "Follow topics that got more partitions",
		Long: "After partitions were added with Kafka's own tools, this lets the database follow: it keeps the writers of each such topic out for a\n" +
			"moment and writes the new number down. Messages that lie in a partition that is no longer their key's are then re-routed by the\n" +
			"worker. With several shards both numbers, the old and the new, must be multiples of theirs.",
		Example: "  tallyhouse topics resize",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			servers, err := to.open()
			if err != nil {
				return err
			}
			defer servers.kafka.Close()
			shards, stop, err := s.currentDatabases(ctx, to)
			if err != nil {
				return err
			}
			defer stop()
			asking, err := kgo.NewClient(servers.kafka.Reading...)
			if err != nil {
				return fmt.Errorf("prepare a connection to Kafka: %w", err)
			}
			defer asking.Close()
			var names []string
			for _, topic := range store.Topics() {
				names = append(names, string(topic))
			}
			ids, err := kafkalog.Identities(ctx, asking, names...)
			if err != nil {
				return err
			}
			o := admin.Options{Holder: fence.NewHolder("tallyhouse topics resize"), Shards: len(shards), Log: s.log}
			resized := 0
			for _, e := range store.All() {
				id := ids[string(e.Topic)]
				for i, shard := range shards {
					o.Shard = i
					r, err := admin.Resize(ctx, shard, e, id, o)
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
