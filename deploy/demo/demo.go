// Package demo invents the data of a company that develops real estate: projects with budgets, contracts, leases and
// loans, and five years of invoices in all states. It writes them as the lines that `tallyhouse load` takes, in the order of time. Its
// memory grows with the projects and their budget lines, never with the records.
package demo

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tallyhouse/schemas/events"
)

// Defaults of Options.
const (
	DefaultTenant   = "demo"
	DefaultProjects = 6
	DefaultRecords  = 5_000
)

// Limits of Options; even then all sums are in the ledger's range of amounts.
const (
	maxProjects = 9_999
	maxRecords  = 1_000_000_000
)

// Now is the default of Options.Now.
func Now() time.Time { return time.Date(2026, time.October, 30, 0, 0, 0, 0, time.UTC) }

// Options say what to invent. Equal options give equal bytes on every machine.
type Options struct {
	Tenant   string         // DefaultTenant when empty
	Projects int            // DefaultProjects when 0, at most maxProjects; each takes about 130 kB of memory
	Records  int64          // invoices and accruals in one to five versions each; DefaultRecords when 0, at most maxRecords
	Seed     uint64         // another seed, another company
	Now      time.Time      // the data end with the day before its UTC date and begin five years earlier; Now() when zero
	Topics   []events.Topic // write the changes of these topics alone; empty: of all Topics(). The lines are the same

	// Progress is called with how far Write is, every progressEvery lines and at the end; nil: never.
	Progress func(Progress)
}

// progressEvery is the number of lines, or of records counted for the budgets, between two calls of Options.Progress.
const progressEvery = 10_000

// Progress is how far Write is.
type Progress struct {
	Counted int64 // records drawn for the budgets' sums, before the first line; 0 where no wanted topic needs them
	Records int64 // records begun
	Lines   int64 // lines written
}

// Topics are the topics that Write has changes of.
func Topics() []events.Topic {
	return []events.Topic{
		events.Users, events.Memberships, events.Contractors, events.BudgetNodes, events.Projects, events.BudgetRows,
		events.BudgetTransfers, events.UncommittedEntries, events.Contracts, events.Claims, events.Records,
		events.ForecastSnapshots, events.LinePlans, events.Units, events.Leases, events.IndexValues, events.Facilities,
		events.Fixings, events.FacilityEntries,
	}
}

// Write writes the data to w as lines {"topic":...,"key":...,"value":{...}}; it has none for topics that are not among
// Topics(). The error is an *InvalidOptions when it refuses the options, before anything is written, or that of w.
func Write(w io.Writer, o Options) error {
	o, err := o.complete()
	if err != nil {
		return fmt.Errorf("write demo data: %w", err)
	}
	world := newWorld(o)
	if world.needsSums() {
		world.count()
	}
	world.plan()
	s := newStream(world, w)
	if err := s.run(); err != nil {
		return fmt.Errorf("write demo data, after %d lines: %w", s.lines, err)
	}
	return nil
}

// InvalidOptions is the refusal of options.
type InvalidOptions struct{ reasons error }

// Error says everything that is wrong, and what is allowed.
func (e *InvalidOptions) Error() string { return e.reasons.Error() }

// complete sets the defaults and refuses what can't be written, with all reasons at once.
func (o Options) complete() (Options, error) {
	if o.Tenant == "" {
		o.Tenant = DefaultTenant
	}
	if o.Projects == 0 {
		o.Projects = DefaultProjects
	}
	if o.Records == 0 {
		o.Records = DefaultRecords
	}
	if o.Now.IsZero() {
		o.Now = Now()
	}
	if len(o.Topics) == 0 {
		o.Topics = Topics()
	}
	var errs []error
	if len(o.Tenant) > events.MaxIDLength || strings.Contains(o.Tenant, "/") {
		errs = append(errs, fmt.Errorf("tenant %.40q: give a name of at most %d bytes without a slash", o.Tenant,
			events.MaxIDLength))
	}
	if o.Projects < 0 || o.Projects > maxProjects {
		errs = append(errs, fmt.Errorf("%d projects: give 1 to %d", o.Projects, maxProjects))
	}
	if o.Records < 0 || o.Records > maxRecords {
		errs = append(errs, fmt.Errorf("%d records: give 1 to %d", o.Records, maxRecords))
	}
	if year := o.Now.UTC().Year(); year < 1910 || year > 2290 {
		errs = append(errs, fmt.Errorf("the year %d: give an end in 1910 to 2290", year))
	}
	for _, t := range o.Topics {
		if !t.Valid() {
			errs = append(errs, fmt.Errorf("unknown topic %.60q: give some of %s", string(t), topicList()))
		}
	}
	if errs != nil {
		return o, &InvalidOptions{errors.Join(errs...)}
	}
	return o, nil
}

func topicList() string {
	var names []string
	for _, t := range Topics() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// writes reports whether the changes of a topic are wanted.
func (o *Options) writes(t events.Topic) bool { return slices.Contains(o.Topics, t) }
