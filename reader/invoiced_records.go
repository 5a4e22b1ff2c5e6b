package reader

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// InvoicedRecord is a record that counts as invoiced (docs/calculations.md#budget), as one of those that a figure is made of.
type InvoicedRecord struct {
	ID     string
	Number events.Opt[string]
	Date   events.Opt[calendar.Date] // of recognition
	Status string
	Value  int64 // what it puts into the figure, in minor units
}

var invoicedColumns = columns[InvoicedRecord]{
	member("id", plain, func(i *InvoicedRecord) *string { return &i.ID }),
	member("invoice_number", nullable, func(i *InvoicedRecord) *events.Opt[string] { return &i.Number }),
	member("toInt32(recognition_date)", day, func(i *InvoicedRecord) *events.Opt[calendar.Date] { return &i.Date }),
	member("status", plain, func(i *InvoicedRecord) *string { return &i.Status }),
	member("assumeNotNull(value)", plain, func(i *InvoicedRecord) *int64 { return &i.Value }),
}

// invoicedQuery reads records of a project that count in a currency, the newest first: what value is of them, of those for which is holds.
func invoicedQuery(tenant, project, currency, value, is string) Query {
	return Query{
		SQL: "SELECT " + invoicedColumns.String() + `
FROM (
  SELECT *, ` + value + ` AS value
  FROM records FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND source != 'accrual' AND status != 'rejected'
    AND currency = {currency:String} AND net IS NOT NULL` + is + `
)
ORDER BY recognition_date DESC, id
LIMIT {most:UInt32}`,
		Args: map[string]any{"tenant": tenant, "project": project, "currency": currency, "most": maxSources},
	}
}

func contractInvoicesQuery(tenant, project, contract, currency string) Query {
	q := invoicedQuery(tenant, project, currency, "net", " AND contract_id = {contract:String}")
	q.Args["contract"] = contract
	return q
}

// unallocatedQuery reads those of which something is on none of the nodes.
func (q LineRequest) unallocatedQuery(nodes *ext.Table) Query {
	unallocated := invoicedQuery(q.Tenant, q.Project.ID, q.Currency,
		"if(empty(allocation_node), net, arraySum(arrayFilter((v, n) -> n NOT IN line_nodes, allocation_net, allocation_node)))",
		"\n    AND (empty(allocation_node) OR arrayExists(n -> n NOT IN line_nodes, allocation_node))")
	unallocated.Tables = []*ext.Table{nodes}
	return unallocated
}

// ContractInvoices returns the records that a contract's invoiced amount is made of, the newest first: so many that are told one by one,
// at most.
func (r *Reader) ContractInvoices(ctx context.Context, tenant, project, contract, currency string) ([]InvoicedRecord, error) {
	of, err := r.invoiced(ctx, contractInvoicesQuery(tenant, project, contract, currency))
	if err != nil {
		return nil, fmt.Errorf("read the invoices of a contract: %w", err)
	}
	return of, nil
}

// OutsideInvoices returns the records of a currency that are in no line of a project's budget, as ContractInvoices does: of the project's
// own those that name no line that counts, with what they don't put on one; of another currency all.
func (r *Reader) OutsideInvoices(ctx context.Context, q LineRequest, currency string) ([]InvoicedRecord, error) {
	query := invoicedQuery(q.Tenant, q.Project.ID, currency, "net", "")
	if currency == q.Currency {
		structure, err := r.structure(ctx, q.Tenant, q.Project)
		var nodes *ext.Table
		if err == nil {
			nodes, err = nodesTable(structure.AllSeated())
		}
		if err != nil {
			return nil, fmt.Errorf("read the lines of a budget: %w", err)
		}
		query = q.unallocatedQuery(nodes)
	}
	of, err := r.invoiced(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("read what is invoiced on no line: %w", err)
	}
	return of, nil
}

func (r *Reader) invoiced(ctx context.Context, q Query) (of []InvoicedRecord, err error) {
	err = invoicedColumns.read(ctx, r, q, pageSettings, appendTo(&of))
	return of, err
}
