package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tallyhouse/deploy/demo"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

func sampleCommand(s *shell) *cobra.Command {
	var o demo.Options
	var only []string
	var now string
	cmd := &cobra.Command{
		Use:     "sample",
		GroupID: groupData,
		Short:   "Invent a company's books, as lines for load",
		Long: "Writes change events of an invented company to standard output, as load takes them: projects with budgets and\n" +
			"contracts, and five years of invoices in all states. Equal flags give equal bytes. More records need more time,\n" +
			"not more memory.\n\n" +
			"Its users: ada (admin of the tenant), dora (user of the tenant), ben (user of a workspace, guest of a project),\n" +
			"cleo (user of two projects), gus (guest of two projects), emil (inactive), nora (without access). Keys are made\n" +
			"by `tallyhouse keys create --tenant demo --owner ada --environment test`.",
		Example: "  tallyhouse sample | tallyhouse load --wait -\n" +
			"  tallyhouse sample --projects 20 --records 1000000 --seed 7 > books.ndjson",
		Args: none,
	}
	f := cmd.Flags()
	f.StringVar(&o.Tenant, "tenant", demo.DefaultTenant, "tenant whose data they are")
	f.IntVar(&o.Projects, "projects", demo.DefaultProjects, "number of projects")
	f.Int64Var(&o.Records, "records", demo.DefaultRecords, "number of invoices and accruals, each in one to five versions")
	f.Uint64Var(&o.Seed, "seed", 0, "another seed gives another company")
	f.StringVar(&now, "now", demo.Now().Format(time.RFC3339), "instant in UTC: the books end with the day before and go five years back")
	f.StringSliceVar(&only, "topics", nil, "topics to write (default: those of a sample's that this binary stores)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var err error
		if o.Now, err = time.Parse(time.RFC3339, now); err != nil {
			return usageError{fmt.Errorf("--now must be an instant like 2027-01-01T00:00:00Z, not %q", now)}
		}
		if o.Projects == 0 || o.Records == 0 { // which mean the defaults to the package
			return usageError{errors.New("--projects and --records must be at least 1")}
		}
		o.Topics = store.Topics()
		if len(only) > 0 {
			o.Topics = nil
		}
		for _, name := range only {
			o.Topics = append(o.Topics, events.Topic(name))
		}
		if isTerminal(s.err) {
			shown := load.NewProgress(s.err, true)
			defer shown.End()
			o.Progress = sampleProgress(shown, o.Records)
		}
		err = demo.Write(untilDone{cmd.Context(), s.out}, o)
		if invalid := (*demo.InvalidOptions)(nil); errors.As(err, &invalid) {
			return usageError{err}
		}
		return err
	}
	return cmd
}

// sampleProgress shows how far a sample is: first the records are counted for the budgets, then written.
func sampleProgress(shown load.Progress, records int64) func(demo.Progress) {
	writing := false
	shown.Stage("adding up", records, "records")
	return func(p demo.Progress) {
		if p.Lines > 0 && !writing {
			writing = true
			shown.Stage("writing", records, "records")
		}
		if writing {
			shown.Done(p.Records)
			return
		}
		shown.Done(p.Counted)
	}
}

// untilDone is a writer that fails when the command is asked to end.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}
