package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

func adoptCommand(s *shell) *cobra.Command {
	var acceptGaps bool
	cmd := &cobra.Command{
		Use:     "adopt",
		GroupID: groupCare,
		Short:   "Take over a database that was restored or moved",
		Long: "After a backup was restored, in its place too, or a database was moved to another server, this makes it one that\n" +
			"workers write to: it notes the server and rebuilds all sums from the tables, because positions don't show which\n" +
			"corrections were lost. It refuses when the log doesn't belong to the tables, or no longer has messages that they lack.\n" +
			"It can be interrupted at any point; until it is run again, to its end, nobody writes to the tables. Use the release\n" +
			"that wrote the backup and migrate to a newer one afterwards, or migrate before.",
		Example: "  tallyhouse adopt --clickhouse-addr clickhouse:9000",
		Args:    none,
	}
	to := connectionFlags(cmd.Flags())
	cmd.Flags().BoolVar(&acceptGaps, "accept-gaps", false, "go on behind messages that the log no longer has")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		shards, stop, err := s.openShards(ctx, servers, "adopt")
		if err != nil {
			return err
		}
		defer stop()
		logs, err := topicLogs(ctx, servers.kafka)
		if err != nil {
			return err
		}
		return s.rebuild(shards, func(shard shard) ([]admin.Rebuilt, error) {
			return admin.Adopt(ctx, shard, admin.Adoption{Logs: logs, AcceptGaps: acceptGaps}, shard.work)
		})
	}
	return cmd
}

// topicLogs are the topics of change events as the cluster has them.
func topicLogs(ctx context.Context, cluster kafka.Cluster) (map[events.Topic]admin.Log, error) {
	asking, err := kgo.NewClient(cluster.Reading...)
	if err != nil {
		return nil, fmt.Errorf("prepare a connection to Kafka: %w", err)
	}
	defer asking.Close()
	ids, err := identities(ctx, asking)
	if err != nil {
		return nil, err
	}
	ranges, err := kafkalog.Ranges(ctx, asking, ids)
	if err != nil {
		return nil, err
	}
	logs := map[events.Topic]admin.Log{}
	for topic, id := range ids {
		logs[events.Topic(topic)] = admin.Log{Identity: id, Ranges: ranges[topic]}
	}
	return logs, nil
}

// identities are those of the topics of change events.
func identities(ctx context.Context, asking *kgo.Client) (map[string]kafkalog.Identity, error) {
	var names []string
	for _, topic := range store.Topics() {
		names = append(names, string(topic))
	}
	return kafkalog.Identities(ctx, asking, names...)
}
