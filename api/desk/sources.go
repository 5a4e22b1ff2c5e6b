package desk

import (
	"cmp"
	"context"
	"strings"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// Sources are what figures are made of that the API doesn't list: what people entered of a line of the budget, what each lease puts into
// a rent roll. They are asked only for figures that the API shows to the person.
type Sources interface {
	LineSources(ctx context.Context, q reader.LineRequest) (reader.LineSources, error)
	LineContracts(ctx context.Context, q reader.LineRequest) ([]analytics.ContractID, error)
	RentSources(ctx context.Context, q reader.RentRollRequest) ([]analytics.RentSource, []analytics.Unit, error)
	Lease(ctx context.Context, tenant, project, id string) (reader.LeaseTerms, error)
	ContractInvoices(ctx context.Context, tenant, project, contract, currency string) ([]reader.InvoicedRecord, error)
	OutsideInvoices(ctx context.Context, q reader.LineRequest, currency string) ([]reader.InvoicedRecord, error)
}

// OpenReader reads what the database has of mails and of the sources of figures. Each question may take as long as the timeout; control
// is where those that nobody waits for any more are ended. Each statement waits for its turn, as API.Admit says.
func OpenReader(db, control reader.Conn, timeout time.Duration, turn reader.Turn) *reader.Reader {
	return reader.New(db, control, timeout).Queued(turn)
}

// percent is a number of basis points as percent are written.
func (v *visit) percent(bp events.Decimal) string {
	bp.Scale += 2
	digits := bp.String() // with a point
	return v.lang.Number(strings.TrimSuffix(strings.TrimRight(digits, "0"), "."))
}

// invoicedTable lists records of a currency that a figure is made of, which is nil where it is beyond what an amount can show.
func (v *visit) invoicedTable(p *project, caption, currency string, records []reader.InvoicedRecord, figure *amount) *table {
	t := v.sourceTable("invoices", caption, currency, column{Title: v.text("records.number")},
		column{Title: v.text("records.date")}, column{Title: v.text("contracts.status")})
	c := cells{v.lang}
	sum := &amount{Currency: currency}
	for i := range records {
		r := &records[i]
		date, link, value := cell{kind: plainCell}, p.record(r.ID), minor(r.Value, currency)
		if r.Date.Ok {
			date = c.date(r.Date.V.String())
		}
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(cmp.Or(r.Number.V, r.ID)).to(link), date,
			c.text(v.lang.Name("recordStatus", r.Status)).badge(recordBadge(r.Status)), c.amount(value).to(link)}})
		sum = sumUp(sum, value)
	}
	v.sum(t, sum, figure)
	return t
}

// sourceTable begins a table of what a figure is made of, which is of one currency.
func (v *visit) sourceTable(name, caption, currency string, columns ...column) *table {
	return &table{Name: name, Caption: caption, Note: v.text("table.none"),
		Columns: append(columns, column{Title: v.text("table.amount"), Unit: currency, Number: true})}
}

// sum ends a table of what a figure is made of: what its rows, whose last cells are amounts, lack of the figure is a row of its own. That
// is so where there are more than are told one by one, and where something has changed since the figure was read. Either is nil where it is
// beyond what an amount can show.
func (v *visit) sum(t *table, listed, figure *amount) {
	if len(t.Rows) == 0 && figure != nil && figure.isZero() {
		return
	}
	c := cells{v.lang}
	blank := make([]cell, len(t.Columns)-2)
	if rest := figure.less(listed); rest != nil && !rest.isZero() {
		t.Rows = append(t.Rows, row{Cells: append(append([]cell{c.text(v.text("sources.further"))}, blank...), c.amount(rest))})
	}
	t.Rows = append(t.Rows, row{Total: true, Cells: append(append([]cell{c.text(v.text("budget.total"))}, blank...), c.amount(figure))})
}
