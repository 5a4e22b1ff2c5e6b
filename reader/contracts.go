package reader

import (
	"context"
	"fmt"

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
	find := contractFinder{reader: r, tenant: p.Tenant, part: p.Read}
	if more, err = find.page(ctx, p); err != nil {
		return nil, false, fmt.Errorf("read contracts: %w", err)
	}
	fewer, err := r.fewer(len(find.contracts), func(limit, bytes int) error {
		find.contracts = find.contracts[:limit]
		return find.complete(ctx, p.Projects, bytes)
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
	find := contractFinder{reader: r, tenant: tenant, settings: pageSettings}
	if err := find.read(ctx, contractQuery(tenant, id, projects)); err != nil {
		return Contract{}, fmt.Errorf("read a contract: %w", err)
	}
	if len(find.contracts) == 0 {
		return Contract{}, ErrNotFound
	}
	project := find.contracts[0].ProjectID
	find.part = part(project)
	if err := find.complete(ctx, its(projects, project), r.maxResult); err != nil {
		return Contract{}, fmt.Errorf("read a contract: %w", err)
	}
	return find.contracts[0], nil
}

// contractFinder gathers what contracts are made of. Their rows and the sums of their records are each as they stand at
// one moment, the sums a little later.
type contractFinder struct {
	reader *Reader
	tenant string
	part   Part[Contract]

	settings  clickhouse.Settings
	rows      int
	contracts []Contract
}

// page reads a page and reports whether more follow.
func (f *contractFinder) page(ctx context.Context, p ContractPage) (more bool, err error) {
	has, more, err := f.reader.page(ctx, pageSettings, p.Limit, func(ask int, settings clickhouse.Settings) (int, error) {
		f.rows, f.contracts, f.settings = 0, nil, settings
		p.Limit = ask
		err := f.read(ctx, p.query())
		return f.rows, err
	})
	f.contracts = f.contracts[:min(len(f.contracts), has)]
	return more, err
}

func (f *contractFinder) read(ctx context.Context, q Query) error {
	return contractColumns.read(ctx, f.reader, q, f.settings, func(row *Contract) error {
		f.rows++
		if last := len(f.contracts) - 1; last >= 0 && f.contracts[last].ID == row.ID {
			// It went to another project while the projects were read, on several servers.
			return nil
		}
		f.contracts = append(f.contracts, *row)
		return nil
	})
}

// complete fills in what the parts ask for, in results of so many bytes. It may be called again.
func (f *contractFinder) complete(ctx context.Context, projects []ProjectRef, bytes int) error {
	if f.part.lookups == 0 || len(f.contracts) == 0 {
		return nil
	}
	for i := range f.contracts {
		f.contracts[i].linked, f.contracts[i].ReclassRecordIDs = nil, nil
	}
	var at states
	tasks := []func() error{func() (err error) {
		at, err = f.reader.states(ctx)
		return err
	}}
	if f.part.needs(linkedSums) {
		tasks = append(tasks, func() error { return f.linkedRecords(ctx, bytes) })
	}
	if err := together(tasks...); err != nil {
		return err
	}
	if f.part.needs(linkedSums) {
		for i := range f.contracts {
			c := &f.contracts[i]
			c.Figures = c.Contract.Figures(c.linked)
		}
	}
	if f.part.needs(miscoded) {
		if err := f.toRecode(ctx, at.nodes, projects, bytes); err != nil {
			return err
		}
	}
	if f.part.needs(ownNames) {
		return f.counterparties(ctx, at.contractors, bytes)
	}
	return nil
}

// inProject names a contract in a project: sums that a contract left behind in another project are not its own.
type inProject struct{ project, contract string }

func (f *contractFinder) byProject() map[inProject]*Contract {
	all := make(map[inProject]*Contract, len(f.contracts))
	for i := range f.contracts {
		c := &f.contracts[i]
		all[inProject{c.ProjectID, string(c.ID)}] = c
	}
	return all
}

func (f *contractFinder) linkedRecords(ctx context.Context, bytes int) error {
	contracts := f.byProject()
	projects, ids := make(map[string]bool), make([]string, 0, len(contracts))
	for key := range contracts {
		projects[key.project] = true
		ids = append(ids, key.contract)
	}
	var project, contract, node, currency, status, sums string
	err := f.reader.each(ctx, linkedRecordsQuery(f.tenant, keys(projects), ids), within(budgetSettings, bytes), func(scan func(...any) error) error {
		if err := scan(&project, &contract, &node, &currency, &status, &sums); err != nil {
			return err
		}
		c, ok := contracts[inProject{project, contract}]
		if !ok {
			return nil
		}
		sum, err := recordSum(node, contract, currency, status, sums)
		c.linked = append(c.linked, sum)
		return err
	})
	if err != nil {
		return fmt.Errorf("sum up their records: %w", err)
	}
	return nil
}

// toRecode finds the records that are coded outside the lines of their contracts. They are looked up only where the
// sums of a contract show that there are some.
func (f *contractFinder) toRecode(ctx context.Context, state string, projects []ProjectRef, bytes int) error {
	var used []ProjectRef
	for _, p := range projects {
		for i := range f.contracts {
			if f.contracts[i].ProjectID == p.ID && len(f.contracts[i].linked) > 0 {
				used = append(used, p)
				break
			}
		}
	}
	if len(used) == 0 {
		return nil
	}
	structures, err := f.reader.structuresAt(ctx, state, f.tenant, used)
	if err != nil {
		return err
	}
	outside := make(map[outsideSum]bool)
	for i := range f.contracts {
		c := &f.contracts[i]
		if len(c.linked) == 0 {
			continue
		}
		for _, sum := range structures[c.ProjectID].ToRecode(&c.Contract, c.linked) {
			outside[outsideSum{c.ProjectID, string(c.ID), string(sum.NodeID), sum.Currency}] = true
		}
	}
	if len(outside) == 0 {
		return nil
	}
	return f.lookUp(ctx, outside, bytes)
}

func (f *contractFinder) lookUp(ctx context.Context, outside map[outsideSum]bool, bytes int) error {
	contracts := f.byProject()
	var sum outsideSum
	var id string
	query := outsideRecordsQuery(f.tenant, outside)
	err := f.reader.each(ctx, query, within(budgetSettings, bytes), func(scan func(...any) error) error {
		if err := scan(&sum.project, &sum.contract, &sum.node, &sum.currency, &id); err != nil || !outside[sum] {
			return err
		}
		c := contracts[inProject{sum.project, sum.contract}]
		if n := len(c.ReclassRecordIDs); n == 0 || c.ReclassRecordIDs[n-1] != id { // else coded on two such lines
			c.ReclassRecordIDs = append(c.ReclassRecordIDs, id)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look up the records to re-code: %w", err)
	}
	return nil
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
