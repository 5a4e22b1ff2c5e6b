package reader

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// What is read for a cash flow is what it is computed from: payments by month and line, recognized records where
// something is expected regularly, and the plans.
func TestACashFlowIsComputedFromPlansAndMonthlySums(t *testing.T) {
	// Given two lines, one of them with a plan that expects invoices, and invoices on both
	db := database(t)
	ctx := context.Background()
	for _, sql := range []string{
		`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, level, code, name, active, accounting_codes) VALUES
  ('acme', '', 'a', 1, 'S', 'budget', '1', 'A', true, '[]'), ('acme', '', 'b', 1, 'S', 'budget', '2', 'B', true, '[]')`,
		`INSERT INTO line_plans (tenant, project, id, row_version, node_id, start_date, end_date, method, custom_month, custom_value, recurring_every_months, recurring_from, recurring_to) VALUES
  ('acme', 'P1', 'p1', 1, 'a', '2026-01-15', '2026-08-31', 'sCurve', [], [], 2, '2026-02', ''),
  ('acme', 'P1', 'p2', 1, 'b', NULL, NULL, 'custom', ['2026-06', '2026-07'], [100, -5], 0, '', '')`,
	} {
		if err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	var in analytics.CashflowInput
	add(t, db, analytics.BudgetRowContribution(nil, &events.BudgetRow{NodeID: events.Some("a"), Status: "approved", Amount: events.Amount{Value: 100_000, Currency: "EUR"}}))
	in.Budget = []analytics.BudgetSum{{NodeID: "a", Currency: "EUR", Amount: analytics.Int(100_000)}}
	for id, of := range map[string]struct {
		node string
		on   calendar.Date
		net  int64
	}{
		"R1": {"a", calendar.NewDate(2026, 1, 31), 700}, "R2": {"a", calendar.NewDate(2026, 4, 2), 1_000}, "R3": {"b", calendar.NewDate(2026, 5, 5), -30},
		"R4": {"a", calendar.NewDate(2026, 6, 1), 40},
		// two of one month, and two that come to nothing: theirs is no month of a payment
		"R5": {"a", calendar.NewDate(2026, 4, 30), 5}, "R6": {"b", calendar.NewDate(2025, 11, 3), 500}, "R7": {"b", calendar.NewDate(2025, 11, 9), -500},
	} {
		r := &events.Record{Source: "invoice", StepKind: "paid", Currency: events.Some("EUR"), Net: events.Some(of.net),
			CashDate: events.Some(of.on), RecognitionDate: events.Some(of.on), Allocations: []events.RecordAllocation{{NodeID: events.Some(of.node), Net: events.Some(of.net)}}}
		c, err := analytics.RecordContribution(nil, id, r)
		if err != nil {
			t.Fatal(err)
		}
		add(t, db, c)
		in.Records = append(in.Records, []analytics.RecordSum{{NodeID: analytics.NodeID(of.node), Currency: "EUR", Status: analytics.Paid,
			Net: analytics.Int(of.net), Gross: analytics.Int(of.net), Count: 1}})
		if of.on >= calendar.NewDate(2026, 1, 1) {
			in.Cash = append(in.Cash, analytics.CashSum{NodeID: analytics.NodeID(of.node), Currency: "EUR",
				Paid: []analytics.MonthNet{{Month: of.on.Month(), Net: analytics.Int(of.net)}}})
		}
		in.Recognized = append(in.Recognized, analytics.RecognizedSum{NodeID: analytics.NodeID(of.node), Month: of.on.Month(), Count: 1})
	}
	// When its cash flow is read
	r, project, today := New(db, db, 10*time.Second), ProjectRef{ID: "P1", StructureID: events.Some("S")}, calendar.NewDate(2026, 5, 20)
	request := CashflowRequest{BudgetRequest: BudgetRequest{Tenant: "acme", Project: project, Currency: "EUR", Figures: true}, Today: today}
	got, err := r.Cashflow(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	// Then it is the one of all that was delivered
	structures, err := r.structuresAt(ctx, "", "acme", []ProjectRef{project})
	if err != nil {
		t.Fatal(err)
	}
	in.Currency, in.Structure = "EUR", structures["P1"]
	some := func(y, m, d int) events.Opt[calendar.Date] { return events.Some(calendar.NewDate(y, m, d)) }
	in.Plans = []analytics.LinePlan{
		{ID: "p1", LinePlan: events.LinePlan{NodeID: "a", StartDate: some(2026, 1, 15), EndDate: some(2026, 8, 31), Method: "sCurve",
			Recurring: events.Some(events.Recurrence{EveryMonths: 2, From: calendar.NewDate(2026, 2, 1).Month()})}},
		{ID: "p2", LinePlan: events.LinePlan{NodeID: "b", Method: "custom", CustomMonths: []events.MonthValue{
			{Month: calendar.NewDate(2026, 6, 1).Month(), Value: 100}, {Month: calendar.NewDate(2026, 7, 1).Month(), Value: -5}}}},
	}
	if want := analytics.Cashflow(in, today); !reflect.DeepEqual(got.ProjectCashflow, want) {
		t.Errorf("read is\n%+v\nof what was delivered\n%+v", got, want)
	}
	if got.First != calendar.NewDate(2026, 1, 1).Month() {
		t.Errorf("it begins in %s", got.First)
	}
	if got.Nodes[0].Flags&analytics.FlagRecurringMissing == 0 || got.Nodes[1].Gap.IsZero() {
		t.Errorf("the plans don't show: %+v", got.Nodes)
	}
	// Without figures it has the lines alone
	request.Figures = false
	if bare, err := r.Cashflow(ctx, request); err != nil || len(bare.Nodes) != 2 || !bare.Nodes[0].Undated.IsZero() {
		t.Errorf("%+v, %v", bare, err)
	}
}

// A statement asks for recognized records on the nodes that the lines were known to have. When there are others by now,
// what is recognized on them counts at once.
func TestRecordsOnALineThatIsNewMeetWhatItsPlanExpects(t *testing.T) {
	// Given a line whose plan expects a record each month, none of which has come, and whose cash flow was read
	db := database(t)
	ctx := context.Background()
	node := func(version int, id, parent string) {
		t.Helper()
		err := db.Exec(ctx, `INSERT INTO budget_nodes (tenant, project, id, row_version, src_offset, structure_id, parent_id, level, code, name, active, accounting_codes)
SELECT 'acme', '', $1, 1, $3, 'S', nullIf($2, ''), 'budget', '1', 'A', true, '[]' UNION ALL SELECT '', '#0', '', $3, 0, NULL, NULL, '', '', '', false, '[]'`,
			id, parent, version)
		if err != nil {
			t.Fatal(err)
		}
	}
	node(1, "a", "")
	err := db.Exec(ctx, `INSERT INTO line_plans (tenant, project, id, row_version, node_id, start_date, end_date, method, recurring_every_months, recurring_from)
VALUES ('acme', 'P1', 'p1', 1, 'a', '2026-01-15', '2026-08-31', 'sCurve', 1, '2026-04')`)
	if err != nil {
		t.Fatal(err)
	}
	r := New(db, db, 10*time.Second)
	missing := func() bool {
		t.Helper()
		flow, err := r.Cashflow(ctx, CashflowRequest{Today: calendar.NewDate(2026, 5, 20), BudgetRequest: BudgetRequest{Tenant: "acme",
			Project: ProjectRef{ID: "P1", StructureID: events.Some("S")}, Currency: "EUR", Figures: true}})
		if err != nil {
			t.Fatal(err)
		}
		return flow.Nodes[0].Flags&analytics.FlagRecurringMissing != 0
	}
	for range 2 { // before the lines are known, and then
		if !missing() {
			t.Fatal("a plan expects a record, and none is missing")
		}
	}
	// When a line below it comes, and a record on that
	node(2, "b", "a")
	c, err := analytics.RecordContribution(nil, "R1", &events.Record{Source: "invoice", StepKind: "setup", Currency: events.Some("EUR"), Net: events.Some[int64](7),
		RecognitionDate: events.Some(calendar.NewDate(2026, 4, 2)), Allocations: []events.RecordAllocation{{NodeID: events.Some("b"), Net: events.Some[int64](7)}}})
	if err != nil {
		t.Fatal(err)
	}
	add(t, db, c)
	// Then none is missing any more.
	if missing() {
		t.Error("the record on the new line is not seen")
	}
}

// inserting runs statements that must not fail.
func inserting(t *testing.T, db clickhouse.Conn) func(sql string) {
	return func(sql string) {
		t.Helper()
		if err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// Plans are kept from one cash flow to the next, for as long as their table stands as it did.
func TestPlansAreReadAgainWhenTheirTableHasChanged(t *testing.T) {
	// Given a line with a plan, and a reader that counts its statements
	db := database(t)
	ctx := context.Background()
	insert := inserting(t, db)
	plan := func(version int, month string) {
		t.Helper()
		insert(fmt.Sprintf(`INSERT INTO line_plans (tenant, project, id, row_version, node_id, method, custom_month, custom_value)
VALUES ('acme', 'P1', 'p1', %d, 'a', 'custom', ['%s'], [100]), ('', '#0', '', %[1]d, '', '', [], [])`, version, month))
	}
	insert(`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, level, code, name, active, accounting_codes)
VALUES ('acme', '', 'a', 1, 'S', 'budget', '1', 'A', true, '[]')`)
	plan(1, "2026-06")
	asked := &counted{Conn: db}
	r := New(asked, db, 10*time.Second)
	read := func(at Standing) (last string, statements int) {
		t.Helper()
		asked.count(0)
		flow, err := r.Cashflow(ctx, CashflowRequest{Today: calendar.NewDate(2026, 5, 20), BudgetRequest: BudgetRequest{Tenant: "acme",
			Project: ProjectRef{ID: "P1", StructureID: events.Some("S")}, Currency: "EUR", Figures: true, At: at}})
		if err != nil {
			t.Fatal(err)
		}
		return flow.Last.String(), asked.statements
	}
	standing := func() Standing {
		t.Helper()
		at, settled, err := r.Standing(ctx)
		if err != nil || !settled {
			t.Fatal(settled, err)
		}
		return at
	}
	read(Standing{}) // which finds the lines
	first := standing()
	read(first)
	// When its cash flow is read again and nothing has changed, then one statement reads all of it
	if last, statements := read(first); last != "2026-06" || statements != 1 {
		t.Errorf("until %s, by %d statements", last, statements)
	}
	// When a plan changes, then the next standing is another one, and what is read then has the plan as it is
	plan(2, "2026-09")
	second := standing()
	if second == first {
		t.Error("a plan has changed, and the standing is the same")
	}
	if last, _ := read(second); last != "2026-09" {
		t.Errorf("until %s after the change", last)
	}
	// And without a standing it is read every time
	plan(3, "2026-10")
	for range 2 {
		if last, statements := read(Standing{}); last != "2026-10" || statements != 2 {
			t.Errorf("until %s, by %d statements, where no standing is known", last, statements)
		}
	}
}

// What was entered as still to be contracted is kept from one budget to the next, for as long as its table stands as it did.
func TestEntriesAreReadAgainWhenTheirTableHasChanged(t *testing.T) {
	// Given a line with an entry, and its budget
	db := database(t)
	ctx := context.Background()
	insert := inserting(t, db)
	insert(`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, level, code, name, active, accounting_codes)
VALUES ('acme', '', 'a', 1, 'S', 'budget', '1', 'A', true, '[]'), ('other', '', 'a', 1, 'S', 'budget', '1', 'A', true, '[]')`)
	enter := func(version, value int, moved bool) {
		t.Helper()
		insert(fmt.Sprintf(`INSERT INTO uncommitted_entries (tenant, project, id, row_version, node_id, currency, value)
VALUES ('acme', 'P1', 'e1', %d, 'a', 'EUR', %d)`, version, value))
		if moved {
			insert(fmt.Sprintf("INSERT INTO uncommitted_entries (tenant, project, row_version) VALUES ('', '#0', %d)", version))
		}
	}
	enter(1, 700, true)
	r := New(db, db, 10*time.Second)
	standing := func() Standing {
		t.Helper()
		at, settled, err := r.Standing(ctx)
		if err != nil || !settled {
			t.Fatal(settled, err)
		}
		return at
	}
	request := BudgetRequest{Tenant: "acme", Project: ProjectRef{ID: "P1", StructureID: events.Some("S")}, Currency: "EUR", Figures: true}
	open := func(at Standing, want int64, when string) {
		t.Helper()
		request.At = at
		budget, err := r.Budget(ctx, request)
		if err != nil || len(budget.Nodes) != 1 || budget.Nodes[0].Uncommitted != analytics.Int(want) {
			t.Errorf("%s: %+v, want %d on one line: %v", when, budget.Nodes, want, err)
		}
		flow, err := r.Cashflow(ctx, CashflowRequest{BudgetRequest: request, Today: calendar.NewDate(2026, 5, 20)})
		if err != nil || len(flow.Nodes) != 1 || flow.Nodes[0].Undated != analytics.Int(want) {
			t.Errorf("%s: %+v, want %d on one line: %v", when, flow.Nodes, want, err)
		}
	}
	first := standing()
	open(first, 700, "at first")
	// When a row comes that moves no position, which no worker writes, then nobody looks for it
	enter(2, 800, false)
	open(first, 700, "while the table stands as it did")
	// But without a standing it is read every time
	open(Standing{}, 800, "where no standing is known")
	// And when a change moves the position, then the next standing is another one, and what is read then is the change.
	enter(3, 900, true)
	second := standing()
	if second == first {
		t.Error("an entry has changed, and the standing is the same")
	}
	open(second, 900, "after the change")
	// In another project, or in another tenant's project of the same name, there is none.
	request.Project.ID = "P2"
	open(second, 0, "in another project")
	request.Project.ID, request.Tenant = "P1", "other"
	open(second, 0, "of another tenant")
}
