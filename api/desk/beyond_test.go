package desk

import (
	"encoding/json"
	"log/slog"
	"testing"

	"tallyhouse/api/desk/language"
	"tallyhouse/reader"
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
	if !b.visible() || total.Budget != nil || total.EAC != nil || *total.Committed != (amount{7, "EUR"}) || *total.Variance != (amount{0, "EUR"}) {
		t.Errorf("visible: %v, the total is %+v", b.visible(), total)
	}
	if f := (facility{Drawn: &amount{1, "EUR"}}); sumUp(f.Drawn, f.Requested) != nil || sumUp() != nil {
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
