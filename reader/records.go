package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// Page is a part of a list of records.
type Page struct {
	Records []Record
	More    bool  // whether others may follow
	Total   int64 // of all pages, where it was asked for
}

// Records returns a page. It may hold fewer records than its limit although more follow, when they are very large.
func (r *Reader) Records(ctx context.Context, p RecordPage) (page Page, err error) {
	find := &recordFinder{reader: r, tenant: p.Filter.Tenant, part: p.Read, projects: p.Filter.Projects}
	where, err := find.prepare(ctx, &p.Filter)
	if err != nil {
		return Page{}, err
	}
	tasks := []func() error{func() (err error) {
		page.More, err = find.page(ctx, p, where)
		return err
	}}
	if find.part.needs(otherTables) && find.at == nil {
		tasks = append(tasks, func() error { return find.loadStates(ctx) })
	}
	if p.Count {
		tasks = append(tasks, func() (err error) {
			page.Total, err = r.countRecords(ctx, p.Filter.countQuery(where))
			return err
		})
	}
	if err := Together(tasks...); err != nil {
		return Page{}, fmt.Errorf("read records: %w", err)
	}
	fewer, err := r.fewer(len(find.records), func(limit, bytes int) error {
		find.records = find.records[:limit]
		return find.counterparties(ctx, bytes)
	})
	if err != nil {
		return Page{}, fmt.Errorf("read records: %w", err)
	}
	if err := find.book(ctx); err != nil {
		return Page{}, fmt.Errorf("read records: %w", err)
	}
	page.Records, page.More = find.records, page.More || fewer
	return page, nil
}

func (r *Reader) countRecords(ctx context.Context, q Query) (int64, error) {
	var count uint64
	err := r.each(ctx, q, countSettings, func(scan func(...any) error) error { return scan(&count) })
	if err != nil {
		return 0, fmt.Errorf("count them: %w", err)
	}
	return int64(count), nil
}

// Record returns the record of this id in one of the projects, or ErrNotFound.
func (r *Reader) Record(ctx context.Context, tenant, id string, projects []ProjectRef, read Part[Record]) (Record, error) {
	if len(projects) == 0 {
		return Record{}, ErrNotFound
	}
	find := &recordFinder{reader: r, tenant: tenant, part: read, settings: pageSettings}
	if err := find.read(ctx, recordQuery(tenant, id, projects, read)); err != nil {
		return Record{}, fmt.Errorf("read a record: %w", err)
	}
	if len(find.records) == 0 {
		return Record{}, ErrNotFound
	}
	find.projects = its(projects, find.records[0].ProjectID)
	if read.needs(otherTables) {
		if err := find.loadStates(ctx); err != nil {
			return Record{}, err
		}
	}
	records, err := find.complete(ctx)
	if err != nil {
		return Record{}, err
	}
	return records[0], nil
}

// its is the project with this id, which is among them.
func its(projects []ProjectRef, id string) []ProjectRef {
	at := slices.IndexFunc(projects, func(p ProjectRef) bool { return p.ID == id })
	return projects[at : at+1]
}

// otherTables are the lookups of records that need other tables than theirs.
const otherTables = ownNames | bookedLines | derivedCodes

// recordFinder gathers what records are made of.
type recordFinder struct {
	reader   *Reader
	tenant   string
	part     Part[Record]
	projects []ProjectRef

	at         *states // of the tables beside the records, once read
	structures map[string]*analytics.Structure
	settings   clickhouse.Settings
	rows       int
	records    []Record
}

func (f *recordFinder) loadStates(ctx context.Context) error {
	at, err := f.reader.states(ctx)
	f.at = &at
	return err
}

func (f *recordFinder) loadStructures(ctx context.Context) (err error) {
	if f.structures != nil {
		return nil
	}
	if f.at == nil {
		if err := f.loadStates(ctx); err != nil {
			return err
		}
	}
	f.structures, err = f.reader.structuresAt(ctx, f.at.nodes, f.tenant, f.projects)
	return err
}

// prepare translates the filter, with the structures where it needs them.
func (f *recordFinder) prepare(ctx context.Context, filter *RecordFilter) (*conditions, error) {
	if filter.needsStructure() {
		if err := f.loadStructures(ctx); err != nil {
			return nil, err
		}
	}
	return filter.conditions(f.structures)
}

// reset forgets the records, to read others.
func (f *recordFinder) reset(settings clickhouse.Settings) {
	f.rows, f.records, f.settings = 0, nil, settings
}

// complete fills in what is found elsewhere: contractors' names, budget lines and accounting codes.
func (f *recordFinder) complete(ctx context.Context) ([]Record, error) {
	if err := f.counterparties(ctx, f.reader.maxResult); err != nil {
		return nil, err
	}
	if err := f.book(ctx); err != nil {
		return nil, err
	}
	return f.records, nil
}

// page reads a page and reports whether more follow.
func (f *recordFinder) page(ctx context.Context, p RecordPage, where *conditions) (more bool, err error) {
	has, more, err := f.reader.page(ctx, pageSettings, p.Limit, func(ask int, settings clickhouse.Settings) (int, error) {
		f.rows, f.records, f.settings = 0, make([]Record, 0, ask), settings
		p.Limit = ask
		if len(p.Filter.Projects) > 1 && len(where.sql) == 0 {
			err := f.readOver(ctx, p)
			return f.rows, err
		}
		err := f.read(ctx, p.query(where))
		return f.rows, err
	})
	f.records = f.records[:min(len(f.records), has)]
	return more, err
}

// windows bounds how often readOver looks for more records: each window is twice as wide as the one before.
const windows = 20

// readOver reads records of several projects in the order of their ids without asking each project for its own: the
// projection by id says how far a page reaches, and of each project only that range is read.
func (f *recordFinder) readOver(ctx context.Context, p RecordPage) error {
	after, window, filled := p.After, p.Limit+p.Limit/4, 0
	for range windows {
		to, err := f.bound(ctx, &p, after, window)
		if err != nil {
			return err
		}
		before := f.rows
		if err := f.read(ctx, p.rangeQuery(after, to, p.Limit-f.rows)); err != nil || f.rows >= p.Limit || !to.Ok {
			return err
		}
		if f.rows > before {
			// All of them together have the page's bytes: less is left for those that follow.
			filled++
			f.settings = within(f.settings, f.reader.maxPage>>filled)
		}
		after, window = to.V, 2*window
	}
	return fmt.Errorf("no page of records within %d windows", windows)
}

// bound is an id behind which a page may end: none where few rows follow. Whether it comes from the projection or from
// the table makes no difference to what a page holds.
func (f *recordFinder) bound(ctx context.Context, p *RecordPage, after string, window int) (to events.Opt[string], err error) {
	read := func(from string) error {
		return f.reader.each(ctx, p.boundQuery(from, after, window), pageSettings, func(scan func(...any) error) error {
			to.Ok = true
			return scan(&to.V)
		})
	}
	if !f.reader.noProjection.Load() {
		err := read(byID("records"))
		if refused := (*clickhouse.Exception)(nil); ctx.Err() != nil || !errors.As(err, &refused) {
			return to, err
		}
	}
	// Tables of several servers show no projections, and not every user may use the function.
	to = events.Opt[string]{}
	if err = read("records"); err == nil {
		f.reader.noProjection.Store(true)
	}
	return to, err
}

func (f *recordFinder) read(ctx context.Context, q Query) error {
	return recordColumns(f.part).read(ctx, f.reader, q, f.settings, func(row *Record) error {
		f.rows++
		if last := len(f.records) - 1; last >= 0 && f.records[last].ID == row.ID {
			// It went to another project while the projects were read, on several servers.
			return nil
		}
		for i := range row.Allocations {
			row.Allocations[i].Net.Ok = row.Net.Ok
		}
		f.records = append(f.records, *row)
		return nil
	})
}

// book finds the budget lines and accounting codes of the records.
func (f *recordFinder) book(ctx context.Context) error {
	if !f.part.needs(bookedLines|derivedCodes) || len(f.records) == 0 {
		return nil
	}
	if err := f.loadStructures(ctx); err != nil {
		return err
	}
	codes := make(map[string]*analytics.Codes, len(f.structures)) // by project
	for id, structure := range f.structures {
		codes[id] = structure.Codes()
	}
	for i := range f.records {
		r := &f.records[i]
		if f.part.needs(bookedLines) {
			allocations := f.structures[r.ProjectID].Allocations(&r.Record)
			r.SoleLine = analytics.SoleNode(allocations)
			for _, a := range allocations {
				r.Bookings = append(r.Bookings, RecordAllocation{a, r.Currency.V})
			}
		}
		if f.part.needs(derivedCodes) {
			r.Codes = codes[r.ProjectID].OfRecord(&r.Record)
		}
	}
	return nil
}

// counterparties puts the contractor's own name, read in a result of so many bytes, before the captured one.
func (f *recordFinder) counterparties(ctx context.Context, bytes int) error {
	if !f.part.needs(ownNames) {
		return nil
	}
	var ids []string
	seen := make(map[string]bool)
	for i := range f.records {
		if id := f.records[i].ContractorID; id.Ok && !seen[id.V] {
			seen[id.V] = true
			ids = append(ids, id.V)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names, err := f.reader.contractorNames(ctx, f.at.contractors, f.tenant, ids, bytes)
	if err != nil {
		return err
	}
	for i := range f.records {
		if name, ok := names[f.records[i].ContractorID.V]; ok {
			f.records[i].CounterpartyName = events.Some(name)
		}
	}
	return nil
}
