package reader

import (
	"context"
	"fmt"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Rolls by month.
const (
	rollCash       = "cash"
	rollRecognized = "recognized"
)

// CashflowRequest says which cash flow is wanted: the budget's lines and figures, phased.
type CashflowRequest struct {
	BudgetRequest
	From, To events.Opt[calendar.Month] // the first and the last month that are asked for
	Today    calendar.Date              // in Vienna
}

// maxExpecting bounds the nodes that a statement names because records are expected on them: of more, it reads all.
const maxExpecting = 1000

// Cashflow returns a project's cash flow (docs/calculations.md#cash-flow). Without figures it has the lines alone. No
// record is read for it.
func (r *Reader) Cashflow(ctx context.Context, request CashflowRequest) (analytics.ProjectCashflow, error) {
	in := analytics.CashflowInput{From: request.From, To: request.To}
	rows, err := r.cashflowRows(ctx, request, &in.Plans)
	if err != nil {
		return analytics.ProjectCashflow{}, fmt.Errorf("read a cash flow: %w", err)
	}
	in.BudgetInput, in.Cash, in.Recognized = rows.input, rows.cash, rows.recognized
	return analytics.Cashflow(in, request.Today), nil
}

// cashflowRows reads the plans, and then what they need.
func (r *Reader) cashflowRows(ctx context.Context, request CashflowRequest, plans *[]analytics.LinePlan) (*budgetRows, error) {
	if !request.Figures {
		return r.budgetInput(ctx, request.BudgetRequest, nil)
	}
	err := planColumns.read(ctx, r, plansQuery(request.Tenant, request.Project.ID), budgetSettings, func(row *storedPlan) error {
		*plans = append(*plans, row.plan())
		return nil
	})
	if err != nil {
		return nil, err
	}
	read := func(expected expectedRecords) (*budgetRows, error) {
		return r.budgetInput(ctx, request.BudgetRequest, func(tenant, project string) Query {
			return cashflowQuery(tenant, project, expected)
		})
	}
	// On which nodes the plans expect records is a matter of the lines. What was kept of these says it, if they are still the
	// same; the statement finds out.
	known, _ := r.structures.latest(structureKey{request.Tenant, request.Project})
	expected := expectedOn(known, *plans)
	rows, err := read(expected)
	if err == nil && !expected.covers(expectedOn(rows.input.Structure, *plans)) {
		expected.nodes = nil
		rows, err = read(expected)
	}
	return rows, err
}

// expectedRecords says which recognized records a cash flow needs: from a month on, on some nodes or, when there are none, on
// all.
type expectedRecords struct {
	since events.Opt[calendar.Month] // none: no plan expects any
	nodes []string
}

// expectedOn are the records that plans expect; of lines that aren't known, on all nodes.
func expectedOn(structure *analytics.Structure, plans []analytics.LinePlan) (e expectedRecords) {
	for i := range plans {
		if p := plans[i].Recurring; p.Ok && (!e.since.Ok || p.V.From < e.since.V) {
			e.since = events.Some(p.V.From)
		}
	}
	if structure == nil || !e.since.Ok {
		return e
	}
	nodes := structure.ExpectRecords(plans)
	if len(nodes) > maxExpecting {
		return e
	}
	e.nodes = make([]string, len(nodes))
	for i, id := range nodes {
		e.nodes[i] = string(id)
	}
	return e
}

// covers reports whether what is read for e is what the others need, which are those of the same plans.
func (e expectedRecords) covers(others expectedRecords) bool {
	return e.nodes == nil || others.nodes != nil && slices.Equal(e.nodes, others.nodes)
}

// A month is the last of the keys of cash and recognized records. What stands before it is the same for all months of a line.
const (
	keysBeforeMonth = "substring(keys, 1, length(keys) - 7)"
	keysMonth       = "substring(keys, length(keys) - 6)"
)

// cashflowQuery reads all that a budget is made of and, in the same statement, what was paid on each line in each month,
// and where something is recognized as far as that is expected. The months of a line travel as one text, each part of the
// table with its own sum of a month: to group by month costs the engine more than all that is left to do here. A month is
// paid or counted, so one sum holds either.
func cashflowQuery(tenant, project string, expected expectedRecords) Query {
	q := budgetQuery(tenant, project)
	months := ofRolls(rollCash)
	if expected.since.Ok {
		months += " OR " + ofRolls(rollRecognized) + " AND " + keysMonth + " >= {since:String}"
		q.Args["since"] = expected.since.V.String()
		if expected.nodes != nil {
			months += " AND " + keysBeforeMonth + " IN {expecting:Array(String)}"
			expecting := make([]string, len(expected.nodes))
			for i, node := range expected.nodes {
				expecting[i] = string(schema.AppendKeys(nil, schema.RollRecognized.Roll(), []string{node, ""}))
			}
			q.Args["expecting"] = expecting
		}
	}
	q.SQL += `
UNION ALL
SELECT ` + textsBranch + rowTexts("line", "months") + `
FROM (
  SELECT ` + keysBeforeMonth + " AS line, arrayStringConcat(groupArray(concat(" + keysMonth + `, reinterpretAsFixedString(net + count)))) AS months
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND (` + months + `)
  GROUP BY line
)`
	return q
}

const (
	monthSize = len("2026-01")
	monthSum  = monthSize + sumSize
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

// add reads the months of a text, each behind a sum, and calls take for those that come to anything, the first one
// first.
func (m *monthlySums) add(text string, take func(month calendar.Month, sum analytics.Int128) error) error {
	if len(text)%monthSum != 0 {
		return fmt.Errorf("sums of months of %d bytes", len(text))
	}
	first, last := calendar.MaxMonth, calendar.MinMonth
	for m.parts = m.parts[:0]; text != ""; text = text[monthSum:] {
		month, err := calendar.ParseMonth(text[:monthSize])
		if err != nil {
			return fmt.Errorf("read a stored month: %w", err)
		}
		part := monthlySum{month: month}
		if err := unpack(text[monthSize:monthSum], &part.sum); err != nil {
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

// takeMonths takes what a line has in each of its months. Behind it are lines with about as many.
func (b *budgetRows) takeMonths(row *budgetRow, behind int) error {
	node, most := analytics.NodeID(row.node), (1+behind)*(len(row.sums)/monthSum)
	if row.roll == rollCash {
		return b.months.add(row.sums, func(month calendar.Month, sum analytics.Int128) error {
			b.cash = append(roomFor(b.cash, most), analytics.CashSum{NodeID: node, Currency: row.currency, Month: month, Net: sum})
			return nil
		})
	}
	return b.months.add(row.sums, func(month calendar.Month, sum analytics.Int128) error {
		count, ok := sum.Int64()
		if !ok {
			return errCount
		}
		b.recognized = append(roomFor(b.recognized, most), analytics.RecognizedSum{NodeID: node, Month: month, Count: count})
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
