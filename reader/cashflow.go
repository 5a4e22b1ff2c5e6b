package reader

import (
	"context"
	"fmt"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Parts of the cash flow's statement, besides those of a budget's: rolls by month.
const (
	partCash       = "cash"
	partRecognized = "recognized"
)

// CashflowRequest says which cash flow is wanted: the budget's lines and figures, phased.
type CashflowRequest struct {
	BudgetRequest
	From, To events.Opt[calendar.Month] // the first and the last month that are asked for
	Today    calendar.Date              // in Vienna
}

// Cashflow returns a project's cash flow (docs/calculations.md#cash-flow). Without figures it has the lines alone. No
// record is read for it.
func (r *Reader) Cashflow(ctx context.Context, request CashflowRequest) (analytics.ProjectCashflow, error) {
	var rows *budgetRows
	in := analytics.CashflowInput{From: request.From, To: request.To}
	tasks := []func() error{func() (err error) {
		rows, err = r.budgetInput(ctx, request.BudgetRequest, cashflowQuery)
		return err
	}}
	if request.Figures {
		tasks = append(tasks, func() error {
			return planColumns.read(ctx, r, plansQuery(request.Tenant, request.Project.ID), budgetSettings, func(row *storedPlan) error {
				in.Plans = append(in.Plans, row.plan())
				return nil
			})
		})
	}
	if err := together(tasks...); err != nil {
		return analytics.ProjectCashflow{}, fmt.Errorf("read a cash flow: %w", err)
	}
	in.BudgetInput, in.Cash, in.Recognized = rows.input, rows.cash, rows.recognized
	return analytics.Cashflow(in, request.Today), nil
}

// cashflowQuery reads all that a budget is made of and, in the same statement, what was paid on each line in each month,
// and where something is recognized since the first month in which anything is expected regularly. The months of a line
// travel as one text, each part of the table with its own sum of a month: to group by month costs the engine more than
// all that is left to do here.
func cashflowQuery(tenant, project string) Query {
	q := budgetQuery(tenant, project)
	q.SQL += `
UNION ALL
SELECT ` + rowTexts("roll", "node", "''", "''", "currency", "''", "months") + `
FROM (
  SELECT roll, node, currency, arrayStringConcat(groupArray(concat(month, if(roll = '` + partCash + `', ` +
		packed("net") + `, concat(reinterpretAsFixedString(toInt64(count)), ''))))) AS months
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND (` + ofRolls(partCash) + ` OR ` + ofRolls(partRecognized) + ` AND month >= ifNull((
    SELECT minOrNull(toString(recurring_from))
    FROM line_plans FINAL
    WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND recurring_every_months > 0), 'none'))
  GROUP BY roll, node, currency
)`
	return q
}

const (
	monthSize = len("2026-01")
	countSize = 8
)

// monthlySums adds up what a line has in each month.
type monthlySums struct {
	parts []monthlySum
	sums  []analytics.Int128 // by month, from the first
}

type monthlySum struct {
	month calendar.Month
	sum   analytics.Int128
}

// add reads the months of a text, each behind so many bytes of a sum, and calls take for those that come to anything,
// the first one first.
func (m *monthlySums) add(text string, size int, take func(month calendar.Month, sum analytics.Int128) error) error {
	each := monthSize + size
	if len(text)%each != 0 {
		return fmt.Errorf("sums of months of %d bytes", len(text))
	}
	first, last := calendar.MaxMonth, calendar.MinMonth
	for m.parts = m.parts[:0]; text != ""; text = text[each:] {
		month, err := calendar.ParseMonth(text[:monthSize])
		if err != nil {
			return fmt.Errorf("read a stored month: %w", err)
		}
		part := monthlySum{month: month}
		if size == countSize {
			part.sum = analytics.Int(int64(littleEndian(text[monthSize:])))
		} else if err := unpack(text[monthSize:each], &part.sum); err != nil {
			return err
		}
		m.parts = append(m.parts, part)
		first, last = min(first, month), max(last, month)
	}
	m.sums = slices.Grow(m.sums[:0], int(max(0, last-first+1)))[:max(0, last-first+1)]
	clear(m.sums)
	for _, part := range m.parts {
		sum := &m.sums[part.month-first]
		*sum = sum.Add(part.sum)
	}
	for i, sum := range m.sums {
		if sum.IsZero() {
			continue
		}
		if err := take(first+calendar.Month(i), sum); err != nil {
			return err
		}
	}
	return nil
}

// takeMonths takes what a line has in each of its months.
func (b *budgetRows) takeMonths(row *budgetRow) error {
	node := analytics.NodeID(row.node)
	if row.part == partCash {
		b.cash = roomFor(b.cash, len(row.sums)/(monthSize+sumSize))
		return b.months.add(row.sums, sumSize, func(month calendar.Month, sum analytics.Int128) error {
			b.cash = append(b.cash, analytics.CashSum{NodeID: node, Currency: row.currency, Month: month, Net: sum})
			return nil
		})
	}
	b.recognized = roomFor(b.recognized, len(row.sums)/(monthSize+countSize))
	return b.months.add(row.sums, countSize, func(month calendar.Month, sum analytics.Int128) error {
		count, ok := sum.Int64()
		if !ok {
			return errCount
		}
		b.recognized = append(b.recognized, analytics.RecognizedSum{NodeID: node, Month: month, Count: count})
		return nil
	})
}

// storedPlan is a plan as its row has it: months without any are empty texts.
type storedPlan struct {
	analytics.LinePlan
	every    int
	from, to events.Opt[calendar.Month]
}

var planColumns = columns[storedPlan]{
	member("id", plain, func(p *storedPlan) *string { return &p.ID }),
	member("node_id", plain, func(p *storedPlan) *string { return &p.NodeID }),
	member("toInt32(start_date)", day, func(p *storedPlan) *events.Opt[calendar.Date] { return &p.StartDate }),
	member("toInt32(end_date)", day, func(p *storedPlan) *events.Opt[calendar.Date] { return &p.EndDate }),
	member("method", plain, func(p *storedPlan) *string { return &p.Method }),
	elements("arrayMap(m -> "+monthNumber("m")+", custom_month)", customOf, func(v *events.MonthValue, m int32) { v.Month = calendar.Month(m) }),
	elements("custom_value", customOf, func(v *events.MonthValue, value int64) { v.Value = value }),
	member("recurring_every_months", number, func(p *storedPlan) *int { return &p.every }),
	member("recurring_from", optionalMonth, func(p *storedPlan) *events.Opt[calendar.Month] { return &p.from }),
	member("recurring_to", optionalMonth, func(p *storedPlan) *events.Opt[calendar.Month] { return &p.to }),
}

func customOf(p *storedPlan) *[]events.MonthValue { return &p.CustomMonths }

func (p *storedPlan) plan() analytics.LinePlan {
	if p.every > 0 {
		p.Recurring = events.Some(events.Recurrence{EveryMonths: p.every, From: p.from.V, To: p.to})
	}
	return p.LinePlan
}

func plansQuery(tenant, project string) Query {
	return Query{
		SQL: "SELECT " + planColumns.String() + `
FROM line_plans FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "project": project},
	}
}
