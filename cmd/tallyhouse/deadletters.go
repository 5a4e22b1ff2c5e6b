package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin/deadletters"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

func deadLettersCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "deadletters",
		GroupID: groupCare,
		Short:   "List, show and replay messages that were refused",
		Long: "A message that breaks a rule of its topic is kept in the topic ledger.dead-letters, under the key\n" +
			"topic/partition/offset, and the worker goes on without it. A letter is healed when the tables have something\n" +
			"newer of its entity; where ClickHouse can't be asked, that is unknown.",
		Example: "  tallyhouse deadletters list\n" +
			"  tallyhouse deadletters summary\n" +
			"  tallyhouse deadletters show ledger.records/2/4711 > corrected.json\n" +
			"  tallyhouse deadletters replay ledger.records/2/4711 --file corrected.json",
	}
	to := connectionFlags(cmd.PersistentFlags())
	cmd.AddCommand(listDeadLetters(s, to), summarizeDeadLetters(s, to), showDeadLetter(s, to), replayDeadLetter(s, to))
	return cmd
}

func listDeadLetters(s *shell, to *connection) *cobra.Command {
	const columns = "%-36s  %-20s  %-7s  %10v  %s"
	all := listing[deadletters.Letter]{
		topic: events.DeadLetters, what: "dead letters",
		header: fmt.Sprintf(columns, "KEY", "AT", "STATE", "BYTES", "REASON"),
		row: func(l deadletters.Letter) string {
			return fmt.Sprintf(columns, l.ID(), l.At.Format(time.RFC3339), l.State, l.Size(), untrusted.Line(l.Reason))
		},
		object: func(l deadletters.Letter) any {
			return struct {
				Key    string            `json:"key"`
				Topic  string            `json:"topic"`
				Reason string            `json:"reason"`
				At     time.Time         `json:"at"`
				Size   int64             `json:"size"`
				State  deadletters.State `json:"state"`
			}{l.ID(), l.Topic, l.Reason, l.At, l.Size(), l.State}
		},
	}
	cmd := &cobra.Command{Use: "list", Short: "List what was refused, and why", Args: none}
	all.flag(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		tables, closeTables := s.tables(cmd.Context(), servers)
		defer closeTables()
		return all.print(s, func(each func(deadletters.Letter) error) (int, error) {
			return deadletters.List(cmd.Context(), servers.kafka, tables, each)
		})
	}
	return cmd
}

// tables are the servers that know which letters were healed; none, and a warning, when one of them can't be asked.
func (s *shell) tables(ctx context.Context, from servers) (_ deadletters.Tables, closeTables func()) {
	var all []*database.Server
	var tables deadletters.Tables
	closeTables = func() { closeAll(all) }
	for _, o := range from.shards {
		server, err := database.Open(o, 1)
		if err == nil {
			all, tables = append(all, server), append(tables, server)
			err = migrate.Check(ctx, server)
		}
		if err != nil {
			s.log.Warn("which letters were healed is not known: ClickHouse can't be asked", "addr", o.Addr, "error", err)
			return nil, closeTables
		}
	}
	return tables, closeTables
}

func summarizeDeadLetters(s *shell, to *connection) *cobra.Command {
	const columns = "%8v  %8v  %-20s  %-20s  %-24s  %-30s  %s"
	instant := func(t time.Time) string { return t.Format(time.RFC3339) }
	asked := false
	// healed is nil when that is not known.
	healed := func(b deadletters.Broken) *int {
		if asked {
			return &b.Healed
		}
		return nil
	}
	rules := listing[deadletters.Broken]{
		topic: events.DeadLetters, what: "dead letters",
		header: fmt.Sprintf(columns, "LETTERS", "HEALED", "FIRST", "LAST", "TOPIC", "NEWEST", "RULE"),
		row: func(b deadletters.Broken) string {
			count := any("unknown")
			if asked {
				count = b.Healed
			}
			return fmt.Sprintf(columns, b.Letters, count, instant(b.First), instant(b.Last), b.Topic, b.Example, untrusted.Line(b.Rule))
		},
		object: func(b deadletters.Broken) any {
			return struct {
				Topic   string    `json:"topic"`
				Rule    string    `json:"rule"`
				Letters int       `json:"letters"`
				Healed  *int      `json:"healed"`
				First   time.Time `json:"first"`
				Last    time.Time `json:"last"`
				Newest  string    `json:"newest"`
			}{b.Topic, b.Rule, b.Letters, healed(b), b.First, b.Last, b.Example}
		},
	}
	cmd := &cobra.Command{
		Use:   "summary",
		Short: "Count what was refused by the rule that it broke",
		Long: "Counts the dead letters by topic and rule: their reasons without quoted values, numbers and places in lists. What it\n" +
			"prints as a rule is what replay takes with --rule.",
		Args: none,
	}
	rules.flag(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		tables, closeTables := s.tables(cmd.Context(), servers)
		defer closeTables()
		asked = len(tables) > 0
		return rules.print(s, func(each func(deadletters.Broken) error) (int, error) {
			all, foreign, err := deadletters.Summary(cmd.Context(), servers.kafka, tables)
			for i := 0; err == nil && i < len(all); i++ {
				err = each(all[i])
			}
			return foreign, err
		})
	}
	return cmd
}

func showDeadLetter(s *shell, to *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "show KEY",
		Short: "Print a refused message",
		Long:  "Prints the refused message's own bytes on standard output, and what is known of it on standard error.",
		Args:  one("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			servers, err := to.open()
			if err != nil {
				return err
			}
			defer servers.kafka.Close()
			tables, closeTables := s.tables(cmd.Context(), servers)
			defer closeTables()
			l, err := deadletters.Find(cmd.Context(), servers.kafka, tables, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(s.err, "topic:     %s\npartition: %d\noffset:    %d\nkey:       %q\nreason:    %s\nat:        %s\nstate:     %s\n",
				l.Topic, l.Partition, l.Offset, l.Key, l.Reason, l.At.Format(time.RFC3339Nano), l.State)
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
	var file, topic, rule string
	var force, dry, healed bool
	cmd := &cobra.Command{
		Use:   "replay [KEY]",
		Short: "Send refused messages once more, one corrected or as it was, or all that broke a rule",
		Long: "Sends a refused message to its topic once more: corrected, from --file, or as it was, for a version of\n" +
			"tallyhouse that takes it. It is validated first. One about another entity than the refused one takes --force.\n" +
			"With --topic and --rule it does so with all messages of the topic that broke the rule, as they were, and leaves\n" +
			"out those that would be refused again. What was healed is left out as well, unless --healed is given, which\n" +
			"ClickHouse isn't asked with.",
		Example: "  tallyhouse deadletters replay ledger.records/2/4711 --file corrected.json\n" +
			"  tallyhouse deadletters replay --topic ledger.records --rule 'data.kind is not a member of ledger.records' --dry-run",
		Args: cobra.MaximumNArgs(1),
	}
	cmd.Flags().StringVar(&file, "file", "", "the corrected message, - for standard input")
	cmd.Flags().BoolVar(&force, "force", false, "also when the message is about another entity than the refused one")
	cmd.Flags().StringVar(&topic, "topic", "", "with --rule: topic of the refused messages")
	cmd.Flags().StringVar(&rule, "rule", "", "send all messages that broke this rule, as `tallyhouse deadletters summary` prints it")
	cmd.Flags().BoolVar(&healed, "healed", false, "also what was healed by a later version of its entity")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "with --rule: send nothing, and say what would be sent")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		switch {
		case (rule == "") != (topic == ""):
			return errors.New("--topic and --rule go together: one of them is missing")
		case (rule == "") == (len(args) == 0):
			return errors.New("give either the KEY of one dead letter, or --topic and --rule")
		case dry && rule == "":
			return errors.New("--dry-run goes with --rule")
		case rule != "" && (file != "" || force):
			return errors.New("--file and --force are for the KEY of one dead letter, not for --rule")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		corrected, err := load.Interruptibly(cmd.Context(), func() ([]byte, error) { return readMessage(s, file) })
		if err != nil {
			return err
		}
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		var tables deadletters.Tables
		if !healed {
			var closeTables func()
			tables, closeTables = s.tables(cmd.Context(), servers)
			defer closeTables()
			if len(tables) == 0 {
				return errors.New("what was healed is not replayed, and can't be told: with --healed all of it is")
			}
		}
		stored := load.StoredBy(store.All())
		if rule != "" {
			return replayRule(cmd.Context(), s, servers.kafka, tables, stored, topic, rule, dry)
		}
		return replayOne(cmd.Context(), s, servers.kafka, tables, stored, args[0], corrected, force)
	}
	return cmd
}

// replayOne replays one dead letter, corrected or as it was.
func replayOne(ctx context.Context, s *shell, c kafka.Cluster, tables deadletters.Tables, stored load.Stored, key string, corrected []byte,
	force bool) error {
	l, err := deadletters.Find(ctx, c, tables, key)
	if err != nil {
		return err
	}
	if l.State == deadletters.Healed {
		return fmt.Errorf("%s was healed: the tables have something newer of %q; to send it all the same, say --healed", l.ID(), l.Key)
	}
	partition, offset, err := deadletters.Replay(ctx, c, stored, l.DeadLetter, corrected, force)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "sent to %s, partition %d, offset %d\n"+
		"It counts once the worker has read it, unless the entity has that version or a newer one already; then "+
		"raise \"version\" and replay again.\n"+
		"The dead letter stays in the list.\n", l.Topic, partition, offset)
	return nil
}

// replayRule replays what broke a rule, and fails when some of it would be refused again.
func replayRule(ctx context.Context, s *shell, c kafka.Cluster, tables deadletters.Tables, stored load.Stored, topic, rule string,
	dry bool) error {
	const shown = 10
	told := 0
	done, err := deadletters.ReplayAll(ctx, c, tables, stored, topic, rule, dry, func(reason error) {
		if told++; told <= shown {
			fmt.Fprintln(s.err, untrusted.Line(reason.Error()))
		}
	})
	what := "sent"
	if dry {
		what = "would be sent"
	}
	if told > shown {
		fmt.Fprintf(s.err, "and %d more\n", told-shown)
	}
	fmt.Fprintf(s.err, "%d messages %s, %d not\n", done.Sent, what, done.Refused)
	if done.Healed > 0 {
		fmt.Fprintf(s.err, "%d were healed and are left out\n", done.Healed)
	}
	switch {
	case err != nil:
		return err
	case done == deadletters.Replayed{}:
		return fmt.Errorf("no dead letter of %s broke this rule: `tallyhouse deadletters summary` prints the rules", topic)
	case done.Refused > 0:
		return errors.New("some messages would be refused again: correct each and replay it with --file")
	}
	return nil
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
