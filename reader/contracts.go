package reader

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// What can be read of a contract, beside its own columns.
var (
	ContractFigures      = lookedUp[Contract](linkedSums)
	ContractReclass      = lookedUp[Contract](linkedSums | miscoded)
	ContractCounterparty = lookedUp[Contract](ownNames)
)

// Contract is a contract with its figures (docs/calculations.md#contracts).
type Contract struct {
	analytics.Contract
	CounterpartyName events.Opt[string]
	Figures          analytics.ContractFigures
	ReclassRecordIDs []string // ascending
	linked           []analytics.RecordSum
	links            []linkedRecord // records that may be coded outside its lines
}

// ContractPage says which contracts are wanted.
type ContractPage struct {
	Tenant   string
	Projects []ProjectRef
	After    string // id
	Limit    int
	Read     Part[Contract]
}

// Contracts returns a page of contracts, ascending by id, and whether others follow.
func (r *Reader) Contracts(ctx context.Context, p ContractPage) (page []Contract, more bool, err error) {
	if len(p.Projects) == 0 {
		return nil, false, nil
	}
	find := contractFinder{reader: r, tenant: p.Tenant, reads: p.Read}
	err = find.beside(ctx, func() (err error) {
		more, err = find.page(ctx, p)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read contracts: %w", err)
	}
	fewer, err := r.fewer(len(find.contracts), func(limit, bytes int) error {
		find.contracts = find.contracts[:limit]
		return find.complete(ctx, p.Read, p.Projects, bytes)
	})
	if err != nil {
		return nil, false, fmt.Errorf("read contracts: %w", err)
	}
	return find.contracts, more || fewer, nil
}

// Contract returns the contract of this id in one of the projects, or ErrNotFound. Part says by the project that it is
// found in what is read of it.
func (r *Reader) Contract(ctx context.Context, tenant, id string, projects []ProjectRef,
	part func(project string) Part[Contract]) (Contract, error) {
	if len(projects) == 0 {
		return Contract{}, ErrNotFound
	}
	find := contractFinder{reader: r, tenant: tenant}
	for _, p := range projects { // it may be in any of them
		find.reads = Parts(find.reads, part(p.ID))
	}
	err := find.beside(ctx, func() error {
		return find.read(ctx, contractQuery(tenant, id, projects), within(contractSettings, r.maxResult))
	})
	if err != nil {
		return Contract{}, fmt.Errorf("read a contract: %w", err)
	}
	if len(find.contracts) == 0 {
		return Contract{}, ErrNotFound
	}
	project := find.contracts[0].ProjectID
	if err := find.complete(ctx, part(project), its(projects, project), r.maxResult); err != nil {
		return Contract{}, fmt.Errorf("read a contract: %w", err)
	}
	return find.contracts[0], nil
}

// contractFinder gathers what contracts are made of.
type contractFinder struct {
	reader *Reader
	tenant string
	reads  Part[Contract]

	at        states // of what is kept, read beside the contracts
	rows      int
	contracts []Contract
}

// beside reads the contracts and, at the same time, how the tables stand whose rows are kept.
func (f *contractFinder) beside(ctx context.Context, contracts func() error) error {
	if !f.reads.needs(miscoded | ownNames) {
		return contracts()
	}
	return Together(contracts, func() (err error) {
		f.at, err = f.reader.states(ctx)
		return err
	})
}

// page reads a page and reports whether more follow.
func (f *contractFinder) page(ctx context.Context, p ContractPage) (more bool, err error) {
	has, more, err := f.reader.page(ctx, contractSettings, p.Limit, func(ask int, settings clickhouse.Settings) (int, error) {
		p.Limit = ask
		err := f.read(ctx, p.query(), settings)
		return f.rows, err
	})
	f.contracts = f.contracts[:min(len(f.contracts), has)]
	return more, err
}

// contractSettings are those of a statement over contracts, which are read in little blocks.
var contractSettings = clickhouse.Settings{"max_threads": 1, "max_block_size": 1024, "optimize_move_to_prewhere": 0,
	"enable_shared_storage_snapshot_in_query": 1}

// read reads contracts.
func (f *contractFinder) read(ctx context.Context, q Query, settings clickhouse.Settings) error {
	f.rows, f.contracts = 0, nil
	return contractColumns.readRows(ctx, f.reader, q, settings, func(c *Contract, _ int) error {
		f.rows++
		if last := len(f.contracts) - 1; last >= 0 && f.contracts[last].ID == c.ID {
			// It went to another project while the projects were read, on several servers.
			return nil
		}
		f.contracts = append(f.contracts, *c)
		return nil
	})
}

// readLinked reads what is linked to the contracts, in results of so many bytes. A statement that knows their projects and lines
// costs far less than a join, and neither rests on the other's moment: records and contracts come from streams of their own.
func (f *contractFinder) readLinked(ctx context.Context, rolls []string, bytes int) error {
	type place struct{ project, id string }
	contracts := make(map[place]*Contract, len(f.contracts))
	for i := range f.contracts {
		c := &f.contracts[i]
		c.linked, c.links = nil, nil
		contracts[place{c.ProjectID, string(c.ID)}] = c
	}
	return f.reader.each(ctx, linkedQuery(f.tenant, f.contracts, rolls), within(budgetSettings, bytes), func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		var row linkedRow
		if err := row.take(&rowBinary{text}); err != nil {
			return err
		}
		// Others have been deleted, or are in another project now.
		if c := contracts[place{row.project, row.contract}]; c != nil {
			return c.link(&row)
		}
		return nil
	})
}

// linkedRow is a row of what is linked to a contract, without gross, which no figure of a contract is made of.
type linkedRow struct {
	project string
	budgetRow
	allocations analytics.Int128
}

func (l *linkedRow) take(rows *rowBinary) (err error) {
	if l.project, err = rows.text(); err != nil {
		return err
	}
	if err := l.takeKeys(rows); err != nil {
		return err
	}
	return rows.int128s(&l.value, &l.count, &l.allocations)
}

// link takes up what is linked to the contract, unless nothing is left of it.
func (c *Contract) link(l *linkedRow) error {
	switch {
	case l.roll == rollLinks && !l.count.IsZero():
		c.links = append(c.links, linkedRecord{l.line, l.node, l.currency})
	case l.roll == rollLines && !l.allocations.IsZero():
		sum, err := l.recordSum()
		if err != nil {
			return err
		}
		c.linked = append(c.linked, sum)
	}
	return nil
}

// complete fills in what the part asks for, in results of so many bytes. It may be called again.
func (f *contractFinder) complete(ctx context.Context, part Part[Contract], projects []ProjectRef, bytes int) error {
	var rolls []string
	if part.needs(linkedSums) {
		rolls = append(rolls, rollLines)
	}
	if part.needs(miscoded) {
		rolls = append(rolls, rollLinks)
	}
	if len(rolls) > 0 && len(f.contracts) > 0 {
		if err := f.readLinked(ctx, rolls, bytes); err != nil {
			return fmt.Errorf("read what is linked: %w", err)
		}
	}
	if part.needs(linkedSums) {
		for i := range f.contracts {
			c := &f.contracts[i]
			c.Figures = c.Contract.Figures(c.linked)
		}
	}
	if part.needs(miscoded) {
		if err := f.toRecode(ctx, projects); err != nil {
			return err
		}
	}
	if part.needs(ownNames) {
		return f.counterparties(ctx, f.at.contractors, bytes)
	}
	return nil
}

// toRecode finds the records that are coded outside the lines of their contracts.
func (f *contractFinder) toRecode(ctx context.Context, projects []ProjectRef) error {
	var used []ProjectRef
	for _, p := range projects {
		if slices.ContainsFunc(f.contracts, func(c Contract) bool { return c.ProjectID == p.ID && len(c.links) > 0 }) {
			used = append(used, p)
		}
	}
	if len(used) == 0 {
		return nil
	}
	structures, err := f.reader.structuresAt(ctx, f.at.nodes, f.tenant, used)
	if err != nil {
		return err
	}
	for i := range f.contracts {
		if c := &f.contracts[i]; len(c.links) > 0 {
			c.ReclassRecordIDs = recordsToRecode(structures[c.ProjectID], c)
		}
	}
	return nil
}

// recordsToRecode are the ids of the linked records that are coded outside the contract's lines, ascending.
func recordsToRecode(structure *analytics.Structure, c *Contract) []string {
	type coding struct{ node, currency string }
	outside := make(map[coding]bool)
	for _, sum := range structure.ToRecode(&c.Contract, c.linked) {
		outside[coding{string(sum.NodeID), sum.Currency}] = true
	}
	var ids []string
	for _, l := range c.links {
		if outside[coding{l.node, l.currency}] {
			ids = append(ids, l.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids) // one may be coded on two such lines
}

func (f *contractFinder) counterparties(ctx context.Context, state string, bytes int) error {
	ids := make(map[string]bool)
	for i := range f.contracts {
		if id := f.contracts[i].ContractorID; id.Ok {
			ids[id.V] = true
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names, err := f.reader.contractorNames(ctx, state, f.tenant, keys(ids), bytes)
	if err != nil {
		return err
	}
	for i := range f.contracts {
		c := &f.contracts[i]
		if name, ok := names[c.ContractorID.V]; ok {
			c.CounterpartyName = events.Some(name)
		}
	}
	return nil
}
