package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// heldTopic checks that the first argument is a topic whose writers can be held: one that is stored, or the migrations.
func heldTopic(_ *cobra.Command, args []string) error {
	if topic := args[0]; topic != "migrations" && store.Of(events.Topic(topic)) == nil {
		return fmt.Errorf("%q is no topic that this version stores: nobody holds it", topic)
	}
	return nil
}

// forgetful names the topics that lose what a re-ingest needs. Nothing is ingested from dead letters.
func forgetful(found []kafka.Status) error {
	var names []string
	for _, t := range found {
		if t.Forgets && t.Topic != string(events.DeadLetters) {
			names = append(names, t.Topic)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("topics that forget messages: %s; set retention.ms and retention.bytes to -1, or say --allow-retention",
		strings.Join(names, ", "))
}

func topicsCommand(s *shell) *cobra.Command {
	var spec kafka.TopicSpec
	var mayForget bool
	cmd := &cobra.Command{
		Use:     "topics",
		GroupID: groupRun,
		Short:   "Create the Kafka topics, or check them",
		Long: "Creates the topics that are missing and checks the others: kept for ever, not compacted, large enough for the\n" +
			"largest message. What can be lived with is a warning. Another number of partitions than --partitions is a\n" +
			"failure, and so is a topic that forgets messages, unless --allow-retention says that this is meant.",
		Example: "  tallyhouse topics\n" +
			"  tallyhouse topics --partitions 12 --kafka-addr kafka-1:9092,kafka-2:9092",
		Args: cobra.NoArgs,
	}
	to := connectionFlags(cmd.PersistentFlags())
	cmd.AddCommand(resizeCommand(s, to))
	cmd.Flags().IntVar(&spec.Partitions, "partitions", 0,
		fmt.Sprintf("partitions of every topic; 0: as they are, %d where they are made", kafka.DefaultPartitions))
	cmd.Flags().IntVar(&spec.Replicas, "replicas", 0, "replicas of a topic that is made; 0: the cluster's default")
	cmd.Flags().BoolVar(&mayForget, "allow-retention", false, "topics may forget messages: nothing older can be ingested again")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if spec.Partitions < 0 || spec.Replicas < 0 {
			return fmt.Errorf("--partitions and --replicas must not be negative, but are %d and %d", spec.Partitions, spec.Replicas)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		found, err := kafka.Ensure(cmd.Context(), servers.kafka, spec)
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		for _, t := range found {
			state := "ok"
			if t.Created {
				state = "created"
			}
			fmt.Fprintf(table, "%s\t%d partitions\t%s\n", t.Topic, t.Partitions, state)
		}
		table.Flush()
		for _, t := range found {
			for _, w := range t.Warnings {
				fmt.Fprintf(s.err, "warning: %s: %s\n", t.Topic, w)
			}
		}
		if !mayForget {
			err = errors.Join(err, forgetful(found))
		}
		return err
	}
	return cmd
}
