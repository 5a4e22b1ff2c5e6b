package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/entity"
	"tallyhouse/ingest/load"
	"tallyhouse/ingest/sample"
	"tallyhouse/schemas/events"
)

func sampleCommand(s *shell) *cobra.Command {
	var o sample.Options
	var only []string
	var end calendarFlag
	cmd := &cobra.Command{
		Use:     "sample",
		GroupID: groupData,
		Short:   "Write an invented company's books as lines for load",
		Long: "Writes change events of an invented company to standard output, as load takes them: projects with their budgets and contracts, and\n" +
			"five years of invoices in all states. Equal flags give equal bytes; any number of records needs the same memory.\n\n" +
			"Users: ada (admin of the tenant), dora (user of the tenant), ben (user of a workspace), cleo (user of two projects), gus (guest of\n" +
			"two projects), emil (inactive), nora (without access). There are no keys: make one with `tallyhouse keys create --owner ada`.",
		Example: "  tallyhouse sample | tallyhouse load --wait -\n" +
			"  tallyhouse sample --projects 20 --records 1000000 --seed 7 > books.ndjson",
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&o.Tenant, "tenant", sample.DefaultTenant, "tenant that the data belong to")
	cmd.Flags().IntVar(&o.Projects, "projects", sample.DefaultProjects, "number of projects")
	cmd.Flags().Int64Var(&o.Records, "records", sample.DefaultRecords, "number of invoices and accruals, each with one to five versions")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 0, "another seed gives another company")
	cmd.Flags().Var(&end, "end", "first day that is no longer in the books, which go five years back (default "+sample.Now().Format(dayForm)+")")
	cmd.Flags().StringSliceVar(&only, "topics", nil, "topics to write, with commas between them (default: all of a sample's that this binary stores)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Now = end.Time
		o.Topics = storedTopics()
		if len(only) > 0 {
			o.Topics = o.Topics[:0]
			for _, name := range only {
				o.Topics = append(o.Topics, events.Topic(name))
			}
		}
		return nil
	}
	return cmd
}
