package reader

import (
	"context"
	"fmt"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// ContractInvoice is a record that counts as invoiced on a contract (docs/calculations.md#contracts).
type ContractInvoice struct {
	ID     string
	Number events.Opt[string]
	Date   events.Opt[calendar.Date] // of recognition
	Status string
	Net    int64 // minor units of the contract's currency
}

var contractInvoiceColumns = columns[ContractInvoice]{
	member("id", plain, func(i *ContractInvoice) *string { return &i.ID }),
	member("invoice_number", nullable, func(i *ContractInvoice) *events.Opt[string] { return &i.Number }),
	member("toInt32(recognition_date)", day, func(i *ContractInvoice) *events.Opt[calendar.Date] { return &i.Date }),
	member("status", plain, func(i *ContractInvoice) *string { return &i.Status }),
	member("assumeNotNull(net)", plain, func(i *ContractInvoice) *int64 { return &i.Net }),
}

func contractInvoicesQuery(tenant, project, contract, currency string) Query {
	return Query{
		SQL: "SELECT " + contractInvoiceColumns.String() + `
FROM records FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND contract_id = {contract:String}
  AND source != 'accrual' AND status != 'rejected' AND currency = {currency:String} AND net IS NOT NULL
ORDER BY recognition_date DESC, id
LIMIT {most:UInt32}`,
		Args: map[string]any{"tenant": tenant, "project": project, "contract": contract, "currency": currency, "most": maxSources},
	}
}

// ContractInvoices returns the records that a contract's invoiced amount is made of, the newest first: so many that are
// told one by one, at most.
func (r *Reader) ContractInvoices(ctx context.Context, tenant, project, contract, currency string) ([]ContractInvoice, error) {
	var of []ContractInvoice
	q := contractInvoicesQuery(tenant, project, contract, currency)
	if err := contractInvoiceColumns.read(ctx, r, q, pageSettings, appendTo(&of)); err != nil {
		return nil, fmt.Errorf("read the invoices of a contract: %w", err)
	}
	return of, nil
}
