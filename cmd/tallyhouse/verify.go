package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
)

func verifyCommand(s *shell) *cobra.Command {
	var asJSON bool
	var o verify.Options
	cmd := &cobra.Command{
		Use:     "verify",
		GroupID: groupCare,
		Short:   "Recompute every sum and compare",
		Long: "Compares the positions of tables and their views, and every sum with what the rows of its table contribute.\n" +
			"Nothing may differ, ever: drift is exit code 1, and `tallyhouse rebuild` corrects it. On a system that is\n" +
			"written to all the time it keeps the writers of a topic out while it compares; with --no-hold it never does, and\n" +
			"exits with 3 when something could not be compared. What makes no sense beside the rest (a record whose project\n" +
			"does not exist) is a warning, on standard error, and no drift.\n\n" +
			"With --every it goes on until it is ended, compares again and again, and serves what it found last at /metrics:\n" +
			"neither drift nor a server that is away ends it.",
		Example: "  tallyhouse verify\n" +
			"  tallyhouse verify --json --no-hold\n" +
			"  tallyhouse verify --every 6h --no-hold --metrics-addr 127.0.0.1:9093",
		Args: none,
	}
	var repeated repeatedVerify
	repeated.add(cmd.Flags())
	to := connectionFlags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON, warnings included")
	cmd.Flags().BoolVar(&o.NoHold, "no-hold", false, "never keep writers out")
	cmd.Flags().IntVar(&o.Most, "most", 100, "findings listed of each roll and kind of warning; the others are counted")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		err := repeated.check()
		if o.Most < 0 {
			err = errors.Join(err, fmt.Errorf("--most must not be negative, but is %d", o.Most))
		}
		return err
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		s.limitMemory(recomputeMemory)
		once := func(ctx context.Context) ([]*verify.Report, error) {
			reports, err := s.verify(ctx, servers, o)
			if err != nil {
				return nil, err
			}
			return reports, s.printReports(reports, asJSON)
		}
		if repeated.every > 0 {
			return repeated.run(cmd.Context(), s.log, once)
		}
		reports, err := once(cmd.Context())
		if err != nil {
			return err
		}
		return verdict(reports)
	}
	return cmd
}

// verify looks at the database of every shard.
func (s *shell) verify(ctx context.Context, servers servers, o verify.Options) ([]*verify.Report, error) {
	shards, stop, err := s.openShards(ctx, servers, "verify")
	if err != nil {
		return nil, err
	}
	defer stop()
	reports := []*verify.Report{}
	for _, shard := range shards {
		o.Options = shard.work
		r, err := verify.Run(ctx, shard, o)
		if isKeptOut(err) {
			return nil, inconclusiveError{fmt.Errorf("verify %s at %s: %w", shard.Name(), shard.Addr(), err)}
		}
		if err != nil {
			return nil, fmt.Errorf("verify %s at %s: %w", shard.Name(), shard.Addr(), err)
		}
		reports = append(reports, r)
	}
	if len(shards) == 1 {
		return reports, nil
	}
	together, err := s.verifyTogether(ctx, servers, o)
	if err != nil || together == nil {
		return reports, err
	}
	return append(reports, together), nil
}

// verifyTogether looks at what the shards have together, through the first of them; nil where no tables show that.
func (s *shell) verifyTogether(ctx context.Context, servers servers, o verify.Options) (*verify.Report, error) {
	where := servers.shards[0]
	where.Database = migrate.AllShards(where.Database)
	all, err := database.Open(where, 1)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	switch found, err := all.Exists(ctx); {
	case err != nil:
		return nil, err
	case !found:
		s.log.Warn("what refers to nothing is not looked for: no tables show the rows of all shards; `tallyhouse migrate --cluster` makes them",
			"database", where.Database)
		return nil, nil
	}
	r, err := verify.Together(ctx, all, o)
	if err != nil {
		return nil, fmt.Errorf("verify %s at %s: %w", where.Database, where.Addr, err)
	}
	return r, nil
}

func (s *shell) printReports(reports []*verify.Report, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(reports)
	}
	for _, r := range reports {
		s.printReport(r)
	}
	return nil
}

// verdict is the command's error: drift goes before what could not be compared.
func verdict(reports []*verify.Report) error {
	var drift uint64
	uncompared := 0
	for _, r := range reports {
		drift += r.Drift()
		uncompared += r.Uncompared()
	}
	switch {
	case drift > 0:
		return fmt.Errorf("drift: %d sums or positions are not what they should be; run `tallyhouse rebuild` for the rolls named", drift)
	case uncompared > 0:
		return inconclusiveError{fmt.Errorf("%d slices could not be compared, writers were busy: run it without --no-hold, "+
			"or when less comes in", uncompared)}
	}
	return nil
}

// isKeptOut reports whether somebody else works on the tables.
func isKeptOut(err error) bool {
	var held *fence.Held
	var refusal *position.Refusal
	return errors.As(err, &held) || errors.As(err, &refusal)
}

func (s *shell) printReport(r *verify.Report) {
	for _, t := range r.Topics {
		held := ""
		if t.Held {
			held = ", compared under a hold"
		}
		if t.Uncompared > 0 {
			held += fmt.Sprintf(", %d of %d slices not compared", t.Uncompared, t.Slices)
		}
		fmt.Fprintf(s.out, "%s: %d rows%s\n", t.Topic, t.Rows, held)
		for _, p := range t.Positions {
			fmt.Fprintf(s.out, "  partition %d: the view is at %s, its table at %d%s\n", p.Partition, p.View, p.Table, tornText(p.Torn))
		}
		for _, roll := range t.Rolls {
			state := "no drift"
			if n := roll.Drift.Count; n > 0 {
				state = fmt.Sprintf("%d sums differ", n)
			}
			fmt.Fprintf(s.out, "  %s: %s\n", roll.Roll, state)
			s.printFindings(roll.Drift)
		}
		s.printFindings(t.Stray)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(s.err, "warning: %d %s\n", w.Count, w.What)
		for _, line := range w.First {
			fmt.Fprintf(s.err, "  %s\n", line)
		}
	}
}

func tornText(torn bool) string {
	if torn {
		return " (it missed the last batch: the worker mends it when it next recovers)"
	}
	return ""
}

func (s *shell) printFindings(f verify.Findings) {
	for _, one := range f.First {
		var key []string
		for _, name := range slices.Sorted(maps.Keys(one.Key)) {
			key = append(key, fmt.Sprintf("%s=%q", name, one.Key[name]))
		}
		fmt.Fprintf(s.out, "    %s: is %s, should be %s\n", strings.Join(key, " "), one.Have, one.Want)
	}
	if more := f.Count - uint64(len(f.First)); more > 0 {
		fmt.Fprintf(s.out, "    and %d more\n", more)
	}
}
