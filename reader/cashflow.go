package reader

import (
	"cmp"
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
	rollPayments   = "payments"
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

// Cashflow is a project's cash flow, and what it was computed from.
type Cashflow struct {
	analytics.ProjectCashflow
	Inputs Inputs // the zero value when they have no name
}

// Cashflow returns a project's cash flow (docs/calculations.md#cash-flow). Without figures it has the lines alone. No
// record is read for it.
func (r *Reader) Cashflow(ctx context.Context, request CashflowRequest) (Cashflow, error) {
	in := analytics.CashflowInput{From: request.From, To: request.To}
	rows, err := r.cashflowRows(ctx, request, &in.Plans)
	if err != nil {
		return Cashflow{}, fmt.Errorf("read a cash flow: %w", err)
	}
	in.BudgetInput, in.Cash, in.Recognized = rows.input, rows.cash, rows.recognized
	return Cashflow{analytics.Cashflow(in, request.Today), rows.inputs}, nil
}

// cashflowRows reads the plans, and then what they need.
func (r *Reader) cashflowRows(ctx context.Context, request CashflowRequest, plans *[]analytics.LinePlan) (*budgetRows, error) {
	if !request.Figures {
		return r.budgetInput(ctx, request.BudgetRequest, budgetStatement{})
	}
	var err error
	if *plans, err = r.plans(ctx, request.BudgetRequest); err != nil {
		return nil, err
	}
	read := func(expected expectedRecords) (*budgetRows, error) {
		return r.budgetInput(ctx, request.BudgetRequest, budgetStatement{reads: expected.String(),
			query: func(tenant, project string, known budgetKnown) Query {
				return cashflowQuery(tenant, project, known, expected)
			}})
	}
	// On which nodes the plans expect records is a matter of the lines. What was kept of these says it, if they are still the
	// same; the statement finds out.
	known, _ := r.structures.latest(structureKey{request.Tenant, request.Project})
	expected := expectedOn(known, *plans)
	rows, err := read(expected)
	if err == nil && rows.input.Structure != known && !expected.covers(expectedOn(rows.input.Structure, *plans)) {
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

// String tells these records apart from others.
func (e expectedRecords) String() string {
	return fmt.Sprintf("records since %v on %q", e.since, e.nodes)
}

// A month is the last of the keys of cash and recognized records. What stands before it is the same for all months of a line.
const (
	keysBeforeMonth = "left(keys, -7)"
	keysMonth       = "substring(keys, -7)"
)

// cashflowQuery reads all that a budget is made of and, in the same statement, what was paid on each line in each month,
// and where something is recognized as far as that is expected. The months of a line travel as two arrays, each part of the
// table with its own sum of a month: to group by month costs the engine more than all that is left to do here. To gather
// numbers costs it less than texts, so a month is its text read as one. A month is paid or counted, so one sum holds either.
func cashflowQuery(tenant, project string, known budgetKnown, expected expectedRecords) Query {
	q := budgetQuery(tenant, project, known)
	months := ofRolls(rollPayments)
	if expected.since.Ok {
		months += " OR " + ofRolls(rollRecognized)
		if expected.nodes == nil {
			months += " AND " + keysMonth + " >= {since:String}"
			q.Args["since"] = expected.since.V.String()
		} else { // few rows, which need no second condition
			months += " AND " + keysBeforeMonth + " IN {expecting:Array(String)}"
			expecting := make([]string, len(expected.nodes))
			for i, node := range expected.nodes {
				expecting[i] = string(schema.AppendKeys(nil, schema.RollRecognized.Roll(), []string{node, ""}))
			}
			q.Args["expecting"] = expecting
		}
	}
	const of = `
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND (`
	line := keysBeforeMonth + " AS line, groupArray(reinterpretAsUInt64(" + keysMonth + ")) AS months, groupArray(net + count) AS nets"
	row := allOf(rowOf("line", "months", "nets"))
	if known.parts.byPart {
		q.SQL += `
UNION ALL
SELECT '` + partMonths + `', part, '', '', toInt64(0), ` + row + `
FROM (
  SELECT _part AS part, ` + line + of + months + `) AND _part NOT IN {known:Array(String)}
  GROUP BY part, line
)
GROUP BY part`
		return q
	}
	q.SQL += `
UNION ALL
SELECT ` + monthsBranch + row + `
FROM (
  SELECT ` + line + of + months + `)
  GROUP BY line
)`
	return q
}

const (
	monthSize  = len("2026-01")
	monthWidth = monthSize + 1 // of a number that is read of its text
)

// monthNets reads what lines have in months, of one line after another.
type monthNets struct{ room []analytics.MonthNet }

// read reads the months of a line and then what it has in them.
func (m *monthNets) read(rows *rowBinary) ([]analytics.MonthNet, error) {
	left := len(rows.left)
	months, err := rows.fixed(monthWidth)
	if err != nil {
		return nil, err
	}
	sums, err := rows.fixed(sumSize)
	if err != nil {
		return nil, err
	}
	n := len(months) / monthWidth
	if len(sums) != n*sumSize {
		return nil, fmt.Errorf("%d months with sums of %d bytes", n, len(sums))
	}
	if n > len(m.room) {
		m.room = make([]analytics.MonthNet, left/(monthWidth+sumSize))
	}
	nets := m.room[:n:n]
	m.room = m.room[n:]
	for i := range nets {
		month, err := calendar.ParseMonth(months[i*monthWidth:][:monthSize])
		if err != nil {
			return nil, fmt.Errorf("read a stored month: %w", err)
		}
		nets[i] = analytics.MonthNet{Month: month, Net: int128(sums[i*sumSize:])}
	}
	return nets, nil
}

// takeMonths takes what lines have in each of their months.
func (p *sumsOfPart) takeMonths(rows rowBinary) error {
	var row budgetRow
	var months monthNets
	p.size += 2 * len(rows.left) // as it came, and its months
	for rows.left != "" {
		size := len(rows.left)
		if err := row.takeKeys(&rows); err != nil {
			return err
		}
		nets, err := months.read(&rows)
		if err != nil {
			return err
		}
		p.size += rowSize
		if err := p.takeLine(&row, nets, rows.behind(size)); err != nil {
			return err
		}
	}
	return nil
}

// takeLine takes the months of a line, behind which there are about so many more lines.
func (p *sumsOfPart) takeLine(row *budgetRow, months []analytics.MonthNet, behind int) error {
	node := analytics.NodeID(row.node)
	if row.roll == rollPayments {
		p.cash = append(roomFor(p.cash, 1+behind), analytics.CashSum{NodeID: node, Currency: row.currency, Paid: months})
		return nil
	}
	slices.SortFunc(months, func(x, y analytics.MonthNet) int { return cmp.Compare(x.Month, y.Month) })
	for len(months) > 0 {
		var sum analytics.Int128
		month := months[0].Month
		for ; len(months) > 0 && months[0].Month == month; months = months[1:] {
			sum = sum.Add(months[0].Net)
		}
		count, ok := sum.Int64()
		if !ok {
			return errCount
		}
		if count != 0 {
			p.recognized = append(p.recognized, analytics.RecognizedSum{NodeID: node, Month: month, Count: count})
		}
	}
	return nil
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
	elements("arrayMap(m -> "+monthNumber("m")+", custom_month)", customOf,
		func(v *events.MonthValue, m int32) { v.Month = calendar.Month(m) }),
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

// Bounds of the plans that are kept, in bytes.
const (
	maxCachedPlans = 32 << 20
	planOverhead   = 200 // of each, beside its texts and months
	customOverhead = 16  // of each month that is entered
)

// plans returns the plans of a project. Those of a standing are kept for as long as the table of plans stands as it did then; they
// must not be changed.
func (r *Reader) plans(ctx context.Context, request BudgetRequest) (plans []analytics.LinePlan, err error) {
	key := projectKey{request.Tenant, request.Project.ID}
	if request.At.known {
		if plans, ok := r.keptPlans.get(request.At.plans, key); ok {
			return plans, nil
		}
	}
	size := len(request.At.plans) + nameOverhead
	err = planColumns.readRows(ctx, r, plansQuery(planColumns.rows(), request.Tenant, request.Project.ID), budgetSettings,
		func(row *storedPlan, behind int) error {
			plans = append(roomFor(plans, 1+behind), row.plan())
			size += planOverhead + len(row.ID) + len(row.NodeID) + len(row.Method) + len(row.CustomMonths)*customOverhead
			return nil
		})
	if err == nil && request.At.known {
		r.keptPlans.put(request.At.plans, key, plans, size)
	}
	return plans, err
}

// plansQuery selects something of a project's plans.
func plansQuery(selected, tenant, project string) Query {
	return Query{
		SQL: "SELECT " + selected + `
FROM line_plans FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "project": project},
	}
}
