package reader

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Whatever versions of a contract there are, in whatever parts and projects, it is read as the newest says: by itself, and in pages.
func TestAContractIsWhatItsNewestRowSays(t *testing.T) {
	// Given contracts of several versions: changed, moved, moved there and back, moved to a project that nobody asks for, deleted
	r := newReader(t, 30*time.Second)
	insert := func(rows string) {
		t.Helper()
		err := r.conn.Exec(context.Background(), `INSERT INTO contracts (tenant, project, id, row_version, deleted, moved, name, contractor_id,
  status, start_date, currency, allocation_node, allocation_value, amendment_id, amendment_node, amendment_value, amendment_status,
  amendment_date, amendment_title)
VALUES `+rows)
		if err != nil {
			t.Fatal(err)
		}
	}
	const none = `NULL, '', '', NULL, '', [], [], [], [], [], [], [], []`
	insert(`('acme', 'P1', 'changed', 1, false, false, ` + none + `), ('acme', 'P1', 'back', 1, false, false, ` + none + `),
  ('acme', 'P1', 'hidden', 1, false, false, ` + none + `), ('acme', 'P1', 'gone', 1, false, false, ` + none + `),
  ('acme', 'P1', 'moved', 1, false, false, ` + none + `)`)
	insert(`('acme', 'P1', 'changed', 3, false, false, 'Roof', 'K1', 'signed', '1965-02-03', 'EUR', ['a', 'b'], [1, -2],
    ['x', 'y'], ['a', ''], [3, 4], ['approved', 'pending'], ['1965-02-03', NULL], ['More', NULL]),
  ('acme', 'P1', 'moved', 2, true, true, ` + none + `), ('acme', 'P2', 'moved', 2, false, false, ` + none + `),
  ('acme', 'P1', 'back', 2, true, true, ` + none + `), ('acme', 'P2', 'back', 2, false, false, ` + none + `),
  ('acme', 'P1', 'hidden', 2, true, true, ` + none + `), ('acme', 'P3', 'hidden', 2, false, false, ` + none + `)`)
	insert(`('acme', 'P1', 'changed', 2, false, false, ` + none + `), ('acme', 'P1', 'back', 3, false, false, ` + none + `),
  ('acme', 'P2', 'back', 3, true, true, ` + none + `), ('acme', 'P1', 'gone', 2, true, false, ` + none + `),
  ('other', 'P1', 'gone', 9, false, false, ` + none + `)`)
	start, err := calendar.ParseDate("1965-02-03")
	if err != nil {
		t.Fatal(err)
	}
	changed := Contract{Contract: analytics.Contract{ID: "changed", Contract: events.Contract{
		ProjectID: "P1", Name: events.Some("Roof"), ContractorID: events.Some("K1"), Status: "signed", Currency: "EUR",
		StartDate:   events.Some(start),
		Allocations: []events.ContractAllocation{{NodeID: "a", Value: 1}, {NodeID: "b", Value: -2}},
		Amendments: []events.Amendment{
			{ID: "x", NodeID: events.Some("a"), Value: 3, Status: "approved", Date: events.Some(start),
				Title: events.Some("More")},
			{ID: "y", Value: 4, Status: "pending"},
		}}}}
	empty := func(id analytics.ContractID, project string) Contract {
		return Contract{Contract: analytics.Contract{ID: id, Contract: events.Contract{
			ProjectID: project, Allocations: []events.ContractAllocation{}, Amendments: []events.Amendment{}}}}
	}
	back, moved := empty("back", "P1"), empty("moved", "P2")
	projects := []ProjectRef{{ID: "P1"}, {ID: "P2"}}
	// When they are read one by one, then each is the newest, and what is none any more isn't there.
	one := func(id string) (Contract, error) {
		return r.Contract(context.Background(), "acme", id, projects, func(string) Part[Contract] { return Part[Contract]{} })
	}
	for _, want := range []Contract{changed, back, moved} {
		got, err := one(string(want.ID))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is\n%+v, want\n%+v: %v", want.ID, got, want, err)
		}
	}
	for _, id := range []string{"hidden", "gone", "never"} {
		if got, err := one(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s is %+v: %v", id, got, err)
		}
	}
	// When they are read as a page, then it has the same.
	page, more, err := r.Contracts(context.Background(), ContractPage{Tenant: "acme", Projects: projects, Limit: 50})
	if err != nil || more || !reflect.DeepEqual(page, []Contract{back, changed, moved}) {
		t.Errorf("the page is\n%+v: %v", page, err)
	}
}

// What is linked to a contract is the same whether it is read by itself or in a page, and whatever is asked of it.
func TestAContractByItselfIsThatOfItsPage(t *testing.T) {
	// Given contracts whose ids begin alike, with lines and without; one invoice on a line, one elsewhere, and one that was taken away
	r := newReader(t, 30*time.Second)
	for _, statement := range []string{
		`INSERT INTO contracts (tenant, project, id, row_version, status, currency, allocation_node, allocation_value)
VALUES ('acme', 'P1', 'C1', 1, 'signed', 'EUR', ['a'], [100]), ('acme', 'P1', 'C10', 1, 'signed', 'EUR', ['b'], [100]), ('acme', 'P1', 'C2', 1, 'signed', 'EUR', [], [])`,
		`INSERT INTO sums (tenant, project, keys, amount1, amount4, amount2, amount3)
SELECT 'acme', 'P1', concat('lines\0', arrayJoin(['C1', 'C10', 'C2']), '\0', node, '\0EUR\0paid\0'), count, count, count * net, count * 2 * net
FROM values('node String, count Int64, net Int64', ('a', 1, 5), ('b', 1, 7), ('b', 0, 0), ('gone', 1, 9), ('gone', -1, 9))`,
		`INSERT INTO sums (tenant, project, keys, amount1)
SELECT 'acme', 'P1', concat('links\0', arrayJoin(['C1', 'C10', 'C2']), '\0', node, '\0EUR\0\0', 'on-', node), count
FROM values('node String, count Int64', ('a', 1), ('b', 1), ('gone', 1), ('gone', -1))`,
	} {
		if err := r.conn.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	projects := []ProjectRef{{ID: "P1"}}
	outside := map[analytics.ContractID][]string{"C1": {"on-b"}, "C10": {"on-a"}, "C2": nil}
	for name, read := range map[string]Part[Contract]{"figures": ContractFigures, "and records to re-code": ContractReclass} {
		// When they are read as a page
		page, _, err := r.Contracts(context.Background(), ContractPage{Tenant: "acme", Projects: projects, Limit: 50, Read: read})
		if err != nil || len(page) != len(outside) {
			t.Fatalf("%s: %d contracts: %v", name, len(page), err)
		}
		for i := range page {
			inPage := &page[i]
			// Then each has its own invoices, and those that are coded outside its lines.
			want := outside[inPage.ID]
			if !read.needs(miscoded) {
				want = nil
			}
			if inPage.Figures.Invoiced != analytics.Int(12) || !slices.Equal(inPage.ReclassRecordIDs, want) {
				t.Errorf("%s: %s is invoiced %s, to re-code are %q, want 12 and %q", name, inPage.ID, inPage.Figures.Invoiced,
					inPage.ReclassRecordIDs, want)
			}
			// And it is the same by itself.
			one, err := r.Contract(context.Background(), "acme", string(inPage.ID), projects, func(string) Part[Contract] { return read })
			if err != nil || one.Figures != inPage.Figures || !slices.Equal(one.ReclassRecordIDs, inPage.ReclassRecordIDs) {
				t.Errorf("%s: %s by itself is\n%+v, in the page\n%+v: %v", name, inPage.ID, one, *inPage, err)
			}
		}
	}
}
