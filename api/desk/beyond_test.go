package desk

import (
	"encoding/json"
	"log/slog"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/api/desk/language"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// beyond is a budget of which one line's figures are beyond what an amount can show, as the API writes it.
const beyond = `{"currency": "EUR", "excluded": [], "unallocated": {"value": 0, "currency": "EUR"}, "unallocatedBudget": null, "nodes": [
	{"nodeId": "a", "parentId": null, "budget": null, "committed": {"value": 3, "currency": "EUR"}, "pendingChanges": null,
		"uncommitted": {"value": 1, "currency": "EUR"}, "uncommittedDefaulted": true, "eac": null, "variance": {"value": 0, "currency": "EUR"}},
	{"nodeId": "a1", "parentId": "a", "budget": null, "committed": {"value": 3, "currency": "EUR"}, "eac": null, "variance": null},
	{"nodeId": "b", "parentId": null, "budget": {"value": 5, "currency": "EUR"}, "committed": {"value": 4, "currency": "EUR"},
		"eac": {"value": 5, "currency": "EUR"}, "variance": {"value": 0, "currency": "EUR"}}]}`

// Given figures that are beyond what an amount can show, then they are in no total as if they were nothing: there is no such total.
func TestWhatIsBeyondAmountsIsInNoTotal(t *testing.T) {
	var b budget
	if err := json.Unmarshal([]byte(beyond), &b); err != nil {
		t.Fatal(err)
	}
	total := b.total()
	if !b.visible() || total.Budget != nil || total.EAC != nil || *total.Committed != *minor(7, "EUR") || *total.Variance != *minor(0, "EUR") {
		t.Errorf("visible: %v, the total is %+v", b.visible(), total)
	}
	if f := (facility{Drawn: minor(1, "EUR")}); sumUp(f.Drawn, f.Requested) != nil || sumUp() != nil {
		t.Error("an amount that nobody knows adds nothing")
	}
}

// And the page of such a line shows what it is made of, without a sum.
func TestALineBeyondAmountsIsShown(t *testing.T) {
	var b budget
	if err := json.Unmarshal([]byte(beyond), &b); err != nil {
		t.Fatal(err)
	}
	languages, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{desk: &Desk{log: slog.New(slog.DiscardHandler)}, lang: languages.Of("en")}
	sources := reader.LineSources{Bookings: []reader.Booking{{ID: "B", Kind: reader.BookingInitial, Value: 1 << 52}}}
	for name, of := range map[string]*table{
		"budget":   v.lineBudget(&project{ID: "P"}, &b, b.node("a"), &sources),
		"estimate": v.lineEstimate(&project{ID: "P"}, &b, b.node("a"), &sources),
	} {
		last := of.Rows[len(of.Rows)-1]
		if got := last.Cells[len(last.Cells)-1]; !last.Total || got.Text != "" || len(of.Rows) < 3 {
			t.Errorf("the %s of %d rows comes to %q", name, len(of.Rows), got.Text)
		}
	}
}

// beyondFlow is a cash flow whose figures need more than 64 bits, as the API writes it.
const beyondFlow = `{"currency": "EUR", "asOf": "2026-05", "nodes": [
	{"nodeId": "a", "parentId": null, "code": "1", "name": "A", "undated": 18446744073709551616, "gap": -18446744073709551616, "flags": [],
		"months": [{"month": "2026-04", "actual": 9223372036854775807, "forecast": 0}, {"month": "2026-05", "actual": 0, "forecast": -9223372036854775808}]},
	{"nodeId": "b", "parentId": null, "code": "2", "name": "B", "undated": 0, "gap": 0, "flags": [],
		"months": [{"month": "2026-04", "actual": 9223372036854775807, "forecast": 0}, {"month": "2026-05", "actual": 0, "forecast": -1}]}]}`

// Given sums beyond 64 bits, then the cash flow shows each of them to the cent, and adds them up.
func TestACashFlowBeyond64BitsIsShown(t *testing.T) {
	var of cashflow
	if err := json.Unmarshal([]byte(beyondFlow), &of); err != nil {
		t.Fatal(err)
	}
	v, p := &visit{desk: &Desk{log: slog.New(slog.DiscardHandler)}, lang: english(t)}, &project{ID: "P"}
	flow := of.flow("")
	chart, months, lines := v.cashflowChart(&of, flow), v.monthsTable(p, &of, flow, ""), v.linesTable(p, &of)
	if chart == nil || len(chart.Bars) != 2 || len(chart.Ticks) > mostTicks+2 {
		t.Errorf("it is drawn as %+v", chart)
	}
	for _, want := range []struct {
		of       *table
		row, at  int
		as, text string
	}{
		{months, 0, 1, "18446744073709551614", "184,467,440,737,095,516.14"}, {months, 1, 2, "-9223372036854775809", "−92,233,720,368,547,758.09"},
		{months, 1, 3, "9223372036854775805", "92,233,720,368,547,758.05"}, {months, 2, 1, "18446744073709551614", "184,467,440,737,095,516.14"},
		{lines, 0, 3, "18446744073709551616", "184,467,440,737,095,516.16"}, {lines, 0, 4, "-18446744073709551616", "−184,467,440,737,095,516.16"},
	} {
		if got := want.of.Rows[want.row].Cells[want.at]; got.value != want.as || got.Text != want.text {
			t.Errorf("%s, row %d, cell %d: %s, %q, want %s, %q", want.of.Name, want.row, want.at, got.value, got.Text, want.as, want.text)
		}
	}
	own := of.own("a")
	plan := v.linePlan(p, &budgetNode{NodeID: "a"}, "EUR", own, events.Opt[analytics.LinePlan]{})
	if last := plan.Rows[len(plan.Rows)-1].Cells[2]; last.value != "-9223372036854775808" {
		t.Errorf("the plan comes to %s", last.value)
	}
}

// What is excluded, or on no line, and is beyond what an amount can show, is said to be, and never 0 or hidden.
func TestWhatIsExcludedBeyondAmountsIsSaidToBe(t *testing.T) {
	var b budget
	if err := json.Unmarshal([]byte(`{"currency": "EUR", "nodes": [], "unallocated": null, "unallocatedBudget": {"value": 0, "currency": "EUR"},
		"excluded": [{"currency": "USD", "value": null, "count": 3}], "excludedCommitted": [{"currency": "USD", "value": 5, "count": 1}]}`), &b); err != nil {
		t.Fatal(err)
	}
	v := &visit{desk: &Desk{log: slog.New(slog.DiscardHandler)}, lang: english(t)}
	notes := v.outsideLines(&project{ID: "P"}, &b)
	want := []string{"(beyond what can be shown) EUR are invoiced on no line of the budget.",
		"In another currency, and in no total: (beyond what can be shown) USD invoiced on 3 records.",
		"In another currency, and in no total: 0.05 USD committed in 1 contracts."}
	if len(notes) != len(want) {
		t.Fatalf("%+v", notes)
	}
	for i := range want {
		if notes[i].Text != want[i] {
			t.Errorf("%q, want %q", notes[i].Text, want[i])
		}
	}
	table := v.invoicedTable(&project{ID: "P"}, "", "USD", []reader.InvoicedRecord{{ID: "R", Value: 7}}, b.Excluded[0].amount())
	if n := len(table.Rows); n != 2 || !table.Rows[1].Total || table.Rows[1].Cells[3].Text != "" {
		t.Errorf("its records are %+v", table.Rows)
	}
}
