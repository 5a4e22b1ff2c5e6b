package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin/deadletters"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

func deadLettersCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "deadletters",
		GroupID: groupCare,
		Short:   "List, show and replay messages that were refused",
		Long: "A message that breaks a rule of its topic is kept in the topic ledger.dead-letters, under the key\n" +
			"topic/partition/offset, and the worker goes on without it.",
		Example: "  tallyhouse deadletters list\n" +
			"  tallyhouse deadletters show ledger.records/2/4711 > corrected.json\n" +
			"  tallyhouse deadletters replay ledger.records/2/4711 --file corrected.json",
	}
	to := connectionFlags(cmd.PersistentFlags())
	cmd.AddCommand(listDeadLetters(s, to), showDeadLetter(s, to), replayDeadLetter(s, to))
	return cmd
}

func listDeadLetters(s *shell, to *connection) *cobra.Command {
	const columns = "%-36s  %-20s  %10v  %s"
	all := listing[kafka.DeadLetter]{
		topic: events.DeadLetters, what: "dead letters",
		header: fmt.Sprintf(columns, "KEY", "AT", "BYTES", "REASON"),
		row: func(l kafka.DeadLetter) string {
			return fmt.Sprintf(columns, l.ID(), l.At.Format(time.RFC3339), l.Size(), untrusted.Line(l.Reason))
		},
		object: func(l kafka.DeadLetter) any {
			return struct {
				Key    string    `json:"key"`
				Topic  string    `json:"topic"`
				Reason string    `json:"reason"`
				At     time.Time `json:"at"`
				Size   int64     `json:"size"`
			}{l.ID(), l.Topic, l.Reason, l.At, l.Size()}
		},
	}
	cmd := &cobra.Command{Use: "list", Short: "List what was refused, and why", Args: cobra.NoArgs}
	all.flag(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		return all.print(s, func(each func(kafka.DeadLetter) error) (int, error) {
			return deadletters.List(cmd.Context(), servers.kafka, each)
		})
	}
	return cmd
}

func showDeadLetter(s *shell, to *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "show KEY",
		Short: "Print a refused message",
		Long:  "Prints the refused message's own bytes on standard output, and what is known of it on standard error.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			servers, err := to.open()
			if err != nil {
				return err
			}
			defer servers.kafka.Close()
			l, err := deadletters.Find(cmd.Context(), servers.kafka, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(s.err, "topic:     %s\npartition: %d\noffset:    %d\nkey:       %q\nreason:    %s\nat:        %s\n",
				l.Topic, l.Partition, l.Offset, l.Key, l.Reason, l.At.Format(time.RFC3339Nano))
			switch {
			case l.Value == nil:
				fmt.Fprintln(s.err, "value:     null")
			case !l.Whole():
				fmt.Fprintf(s.err, "length:    %d, of which %d follow\nsha256:    %s\n", l.Length, len(l.Value), l.SHA256)
			}
			_, err = s.out.Write(l.Value)
			return err
		},
	}
}

func replayDeadLetter(s *shell, to *connection) *cobra.Command {
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "replay KEY",
		Short: "Send a refused message once more, corrected or as it was",
		Long: "Sends a refused message to its topic once more: corrected, from --file, or as it was, for a version of\n" +
			"tallyhouse that takes it. It is validated first. The message must be about the same entity as the refused one.",
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&file, "file", "", "the corrected message, - for standard input")
	cmd.Flags().BoolVar(&force, "force", false, "also when the message is about another entity than the refused one")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		corrected, err := readMessage(s, file)
		if err != nil {
			return err
		}
		l, err := deadletters.Find(cmd.Context(), servers.kafka, args[0])
		if err != nil {
			return err
		}
		partition, offset, err := deadletters.Replay(cmd.Context(), servers.kafka, load.StoredBy(store.All()), l, corrected, force)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "sent to %s, partition %d, offset %d\n"+
			"It counts once the worker has read it, unless the entity has that version or a newer one already; then "+
			"raise \"version\" and replay again.\n"+
			"The dead letter stays in the list.\n", l.Topic, partition, offset)
		return nil
	}
	return cmd
}

// readMessage reads a message from a file; nil when none is named.
func readMessage(s *shell, name string) ([]byte, error) {
	from := s.in
	switch name {
	case "":
		return nil, nil
	case "-":
	default:
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the corrected message: %w", err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, events.MaxMessageBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the corrected message: %w", err)
	case len(text) == 0:
		return nil, errors.New("read the corrected message: it is empty")
	}
	return text, nil
}
