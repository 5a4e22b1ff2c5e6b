package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// fill runs statements on an empty database.
func fill(t *testing.T, statements ...string) (*Reader, clickhouse.Conn) {
	t.Helper()
	db := database(t)
	for _, statement := range statements {
		if err := db.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
	return New(db, db, 30*time.Second), db
}

// Given a line with an inactive one below it, bookings that count and others that don't, then its sources are those that count on it,
// and bookings on lines that are gone are on none.
func TestSourcesOfALine(t *testing.T) {
	r, _ := fill(t,
		`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, parent_id, code, active) VALUES
('acme', '', 'a', 1, 'S1', NULL, '1', true), ('acme', '', 'b', 1, 'S1', 'a', '2', true), ('acme', '', 'off', 1, 'S1', 'a', '3', false)`,
		`INSERT INTO budget_rows (tenant, project, id, row_version, kind, node_id, currency, value, status) VALUES
('acme', 'P1', 'r1', 1, 'initial', 'a', 'EUR', 1000, 'approved'), ('acme', 'P1', 'r2', 1, 'addendum', 'off', 'EUR', -200, 'approved'),
('acme', 'P1', 'r3', 1, 'addendum', 'a', 'EUR', 7, 'draft'), ('acme', 'P1', 'r4', 1, 'addendum', 'a', 'CHF', 7, 'approved'),
('acme', 'P1', 'r5', 1, 'initial', 'b', 'EUR', 500, 'approved'), ('acme', 'P2', 'r6', 1, 'initial', 'a', 'EUR', 7, 'approved'),
('other', 'P1', 'r7', 1, 'initial', 'a', 'EUR', 7, 'approved'), ('acme', 'P1', 'r8', 1, 'initial', 'gone', 'EUR', 30, 'approved'),
('acme', 'P1', 'r9', 1, 'initial', '', 'EUR', 4, 'approved')`,
		`INSERT INTO budget_rows (tenant, project, id, row_version, deleted) VALUES ('acme', 'P1', 'r0', 2, true)`,
		`INSERT INTO budget_rows (tenant, project, id, row_version, kind, node_id, currency, value, status) VALUES
('acme', 'P1', 'r0', 1, 'initial', 'a', 'EUR', 7, 'approved')`,
		`INSERT INTO budget_transfers (tenant, project, id, row_version, from_node_id, to_node_id, currency, value, status) VALUES
('acme', 'P1', 't1', 1, 'a', 'b', 'EUR', 60, 'approved'), ('acme', 'P1', 't2', 1, '', 'a', 'EUR', 5, 'approved'),
('acme', 'P1', 't3', 1, 'a', 'b', 'EUR', 7, 'rejected')`,
		`INSERT INTO claims (tenant, project, id, row_version, node_id, currency, value, probability_bp, status) VALUES
('acme', 'P1', 'c1', 1, 'b', 'EUR', 101, '5000', 'open'), ('acme', 'P1', 'c2', 1, 'a', 'EUR', 7, '5000', 'closed'),
('acme', 'P1', 'c3', 1, 'a', 'CHF', 7, '5000', 'open'), ('acme', 'P1', 'c4', 1, 'a', 'EUR', -7, '5000', 'open')`,
		`INSERT INTO uncommitted_entries (tenant, project, id, row_version, node_id, currency, value) VALUES
('acme', 'P1', 'u1', 1, 'a', 'EUR', 1), ('acme', 'P1', 'u2', 1, 'a', 'EUR', 2), ('acme', 'P1', 'u3', 1, 'a', 'CHF', 3), ('acme', 'P1', 'u4', 1, 'off', 'EUR', 4)`,
		`INSERT INTO line_plans (tenant, project, id, row_version, node_id, method) VALUES
('acme', 'P1', 'p2', 1, 'a', 'custom'), ('acme', 'P1', 'p1', 1, 'a', 'sCurve'), ('acme', 'P1', 'p3', 1, 'b', 'sCurve')`,
	)
	for line, want := range map[string]string{
		"a": "initial r1 1000, addendum r2 -200, transferOut t1 -60 b, transferIn t2 5; c1 51; entered u2 2; plan p2 custom",
		"b": "initial r5 500, transferIn t1 60 a; c1 51; plan p3 sCurve",
		"":  "initial r8 30, initial r9 4, transferOut t2 -5 a",
	} {
		found, err := r.LineSources(t.Context(), LineRequest{Tenant: "acme", Project: ProjectRef{ID: "P1", StructureID: events.Some("S1")},
			Currency: "EUR", Line: line})
		if err != nil {
			t.Fatal(err)
		}
		var parts, bookings []string
		for _, b := range found.Bookings {
			bookings = append(bookings, strings.TrimSpace(fmt.Sprint(b.Kind, " ", b.ID, " ", b.Value, " ", b.Other)))
		}
		parts = append(parts, strings.Join(bookings, ", "))
		for _, c := range found.Claims {
			parts = append(parts, fmt.Sprint(c.ID, " ", c.Pending))
		}
		if e := found.Entered; e.Ok {
			parts = append(parts, fmt.Sprint("entered ", e.V.ID, " ", e.V.Value))
		}
		if p := found.Plan; p.Ok {
			parts = append(parts, fmt.Sprint("plan ", p.V.ID, " ", p.V.Method))
		}
		if got := strings.Join(parts, "; "); got != want || found.Incomplete {
			t.Errorf("%q is made of %s, want %s", line, got, want)
		}
	}
	for _, line := range []string{"off", "gone"} {
		_, err := r.LineSources(t.Context(), LineRequest{Tenant: "acme", Project: ProjectRef{ID: "P1", StructureID: events.Some("S1")},
			Currency: "EUR", Line: line})
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Given more bookings than are told one by one, then so many are, and it is said.
func TestSourcesOfALineAreBounded(t *testing.T) {
	r, _ := fill(t, `INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, code, active) VALUES ('acme', '', 'a', 1, 'S1', '1', true)`,
		`INSERT INTO budget_rows (tenant, project, id, row_version, kind, node_id, currency, value, status)
SELECT 'acme', 'P1', toString(number), 1, 'addendum', 'a', 'EUR', 1, 'approved' FROM numbers(501)`)
	found, err := r.LineSources(t.Context(), LineRequest{Tenant: "acme", Project: ProjectRef{ID: "P1", StructureID: events.Some("S1")},
		Currency: "EUR", Line: "a"})
	if err != nil || len(found.Bookings) != maxSources || !found.Incomplete {
		t.Errorf("%d bookings, incomplete: %v, %v", len(found.Bookings), found.Incomplete, err)
	}
}

// Given a contract on one line with an increase that awaits approval on another, then it is among the contracts of both, whose figures it
// is in; what is left of one that went elsewhere is on none.
func TestContractsOfALine(t *testing.T) {
	r, _ := fill(t,
		`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, parent_id, code, active) VALUES
('acme', '', 'a', 1, 'S1', NULL, '1', true), ('acme', '', 'b', 1, 'S1', NULL, '2', true), ('acme', '', 'off', 1, 'S1', 'b', '3', false)`,
		`INSERT INTO sums (tenant, project, keys, amount1, amount2, amount3, amount4) VALUES
('acme', 'P1', 'contracts\0K\0a\0EUR\0signed\000001', 1, 500, 500, 0), ('acme', 'P1', 'contracts\0K\0b\0EUR\0signed\0', 0, 0, 0, 10000),
('acme', 'P1', 'contracts\0L\0off\0EUR\0completed\000001', 1, 5, 5, 0), ('acme', 'P1', 'contracts\0S\0b\0EUR\0setup\000001', 1, 5, 5, 0),
('acme', 'P1', 'contracts\0M\0b\0EUR\0signed\000001', 1, 5, 5, 0), ('acme', 'P1', 'contracts\0M\0b\0EUR\0signed\000001', -1, -5, -5, 0),
('acme', 'P2', 'contracts\0N\0b\0EUR\0signed\000001', 1, 5, 5, 0), ('other', 'P1', 'contracts\0O\0b\0EUR\0signed\000001', 1, 5, 5, 0),
('acme', 'P1', 'claims\0\0b\0EUR\0\0', 7, 7, 7, 7)`)
	for line, want := range map[string]string{"a": "[K]", "b": "[K L]", "off": "[]", "gone": "[]"} {
		found, err := r.LineContracts(t.Context(), LineRequest{Tenant: "acme", Project: ProjectRef{ID: "P1", StructureID: events.Some("S1")},
			Currency: "EUR", Line: line})
		slices.Sort(found)
		if got := fmt.Sprint(found); err != nil || got != want {
			t.Errorf("on %s are %s, want %s: %v", line, got, want, err)
		}
	}
}

// Given records of a contract and of others, then those are found that count as invoiced on it, the newest first.
func TestInvoicesOfAContract(t *testing.T) {
	r, _ := fill(t, `INSERT INTO records (tenant, project, id, row_version, source, status, contract_id, currency, net, recognition_date) VALUES
('acme', 'P1', 'i1', 1, 'invoice', 'paid', 'C1', 'EUR', 10, '2026-01-01'), ('acme', 'P1', 'i2', 1, 'manual', 'setup', 'C1', 'EUR', -4, '2026-02-01'),
('acme', 'P1', 'i3', 1, 'accrual', 'setup', 'C1', 'EUR', 7, '2026-01-01'), ('acme', 'P1', 'i4', 1, 'invoice', 'rejected', 'C1', 'EUR', 7, '2026-01-01'),
('acme', 'P1', 'i5', 1, 'invoice', 'paid', 'C1', 'CHF', 7, '2026-01-01'), ('acme', 'P1', 'i6', 1, 'invoice', 'paid', 'C2', 'EUR', 7, '2026-01-01'),
('acme', 'P2', 'i7', 1, 'invoice', 'paid', 'C1', 'EUR', 7, '2026-01-01'), ('other', 'P1', 'i8', 1, 'invoice', 'paid', 'C1', 'EUR', 7, '2026-01-01'),
('acme', 'P1', 'i9', 1, 'invoice', 'paid', 'C1', 'EUR', NULL, '2026-01-01')`)
	found, err := r.ContractInvoices(t.Context(), "acme", "P1", "C1", "EUR")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range found {
		got = append(got, fmt.Sprint(i.ID, " ", i.Value))
	}
	if want := []string{"i2 -4", "i1 10"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Given records on a line, on none and on one that is gone, then those are outside that aren't on a line that counts, with what they don't
// put on one; and of another currency all.
func TestInvoicesOnNoLine(t *testing.T) {
	r, _ := fill(t, `INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, code, active) VALUES ('acme', '', 'a', 1, 'S1', '1', true)`,
		`INSERT INTO records (tenant, project, id, row_version, source, status, currency, net, allocation_node, allocation_net) VALUES
('acme', 'P1', 'i1', 1, 'invoice', 'paid', 'EUR', 10, ['a'], [10]), ('acme', 'P1', 'i2', 1, 'invoice', 'paid', 'EUR', 10, ['a', 'gone'], [7, 3]),
('acme', 'P1', 'i3', 1, 'invoice', 'paid', 'EUR', 10, [''], [10]), ('acme', 'P1', 'i4', 1, 'invoice', 'paid', 'EUR', 10, [], []),
('acme', 'P1', 'i5', 1, 'accrual', 'paid', 'EUR', 10, [], []), ('acme', 'P1', 'i6', 1, 'invoice', 'paid', 'CHF', 10, ['a'], [10])`)
	for currency, want := range map[string][]string{"EUR": {"i2 3", "i3 10", "i4 10"}, "CHF": {"i6 10"}, "USD": nil} {
		found, err := r.OutsideInvoices(t.Context(), LineRequest{Tenant: "acme", Project: ProjectRef{ID: "P1", StructureID: events.Some("S1")},
			Currency: "EUR"}, currency)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range found {
			got = append(got, fmt.Sprint(i.ID, " ", i.Value))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", currency, got, want)
		}
	}
}

// Given a lease that follows an index, then its terms are as they were agreed, and its rents follow that index.
func TestTermsOfALease(t *testing.T) {
	r, _ := fill(t, `INSERT INTO leases (tenant, project, id, row_version, category, counterparty_name, status, unit_ids, start_date, end_date,
currency, monthly_rent, step_from, step_monthly_rent, rent_free_from, rent_free_to, break_date, break_party, break_state, indexation_type,
indexation_every_months, indexation_series, indexation_base_month, indexation_threshold_bp, indexation_share_bp) VALUES
('acme', 'P1', 'L1', 1, 'main', 'Tenant', 'active', ['u1'], '2026-01-01', NULL, 'EUR', 1000, ['2026-03-01'], [2000], ['2026-01-01'],
['2026-01-31'], ['2027-01-31'], ['tenant'], ['open'], 'cpi', 1, 'VPI', '2025-12', '0', '10000'), ('acme', 'P2', 'L2', 1, 'main', '', 'active', [],
'2026-01-01', NULL, 'EUR', 1, [], [], [], [], [], [], [], '', 0, '', '', '', '')`,
		`INSERT INTO index_values (tenant, project, id, row_version, series, month, value) VALUES
('acme', '', 'VPI:2025-12', 1, 'VPI', '2025-12', '100'), ('acme', '', 'VPI:2026-02', 1, 'VPI', '2026-02', '110'),
('acme', '', 'HPI:2026-02', 1, 'HPI', '2026-02', '999'), ('other', '', 'VPI:2026-02', 1, 'VPI', '2026-02', '999')`)
	l, err := r.Lease(t.Context(), "acme", "P1", "L1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(l.ID, l.ProjectID, l.UnitIDs, l.End.Ok, l.Steps, l.RentFree, l.Breaks),
		fmt.Sprint("L1", "P1", []string{"u1"}, false, []events.RentStep{{From: calendar.NewDate(2026, 3, 1), MonthlyRent: 2000}},
			[]events.DateRange{{From: calendar.NewDate(2026, 1, 1), To: calendar.NewDate(2026, 1, 31)}},
			[]events.Break{{Date: calendar.NewDate(2027, 1, 31), Party: "tenant", State: "open"}}); got != want {
		t.Errorf("the terms are %s, want %s", got, want)
	}
	whole := analytics.NewLease(l.ID, &l.Lease)
	var rents []string
	for _, rent := range analytics.LeaseRents(&whole, l.Indexes, calendar.NewDate(2026, 1, 1).Month())[:4] {
		rents = append(rents, fmt.Sprint(rent.Base, " ", rent.Contracted, " ", rent.Payable))
	}
	if want := []string{"1000 1000 0", "1000 1100 1100", "2000 2200 2200", "2000 2200 2200"}; !slices.Equal(rents, want) {
		t.Errorf("the rents are %q, want %q", rents, want)
	}
	for _, of := range [][3]string{{"acme", "P1", "L2"}, {"other", "P1", "L1"}, {"acme", "P2", "L1"}} {
		if _, err := r.Lease(t.Context(), of[0], of[1], of[2]); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: %v", of, err)
		}
	}
}
