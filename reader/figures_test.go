package reader

import (
	"context"
	"regexp"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Figures and lists of what is to be re-coded come from the sums: of these statements none may touch records.
func TestNoStatementOfFiguresScansRecords(t *testing.T) {
	records, all := regexp.MustCompile(`FROM records\b`), queries(t)
	for _, name := range []string{"budget", "estimates", "contracts", "contracts_linked", "contracts_of_one", "contract",
		"contractors", "snapshot_heads", "snapshot_lines", "cashflow", "plans", "units", "rentroll_leases", "rentroll_areas", "lease_series",
		"facilities", "facility", "facility_sums", "facility_entries", "facility_fixings"} {
		q, is := all[name]
		if !is || records.MatchString(q.SQL) {
			t.Errorf("%s reads records, or is no statement:\n%s", name, q.SQL)
		}
	}
	if !records.MatchString(all["record"].SQL) {
		t.Error("a record is not read from records: does this test still see anything?")
	}
}

// A budget takes one read of the sums, and a cash flow the same one with more in it, beside the plans.
func TestFiguresTakeOneReadOfTheSums(t *testing.T) {
	db := database(t)
	conn := &counted{Conn: db}
	r, ctx := New(conn, db, 10*time.Second), context.Background()
	budget := BudgetRequest{Tenant: "acme", Project: ProjectRef{ID: "P1", StructureID: events.Some("S")}, Currency: "EUR", Figures: true}
	for _, test := range []struct {
		name       string
		statements int
		read       func() error
	}{
		{"budget", 1, func() error { _, err := r.Budget(ctx, budget); return err }},
		{"cash flow", 2, func() error {
			_, err := r.Cashflow(ctx, CashflowRequest{BudgetRequest: budget, Today: calendar.NewDate(2026, 5, 12)})
			return err
		}},
	} {
		// Given lines that have been read before
		if err := test.read(); err != nil {
			t.Fatal(err)
		}
		conn.count(0)
		// When it is read again, then that takes no other statement.
		if err := test.read(); err != nil || conn.statements != test.statements {
			t.Errorf("a %s took %d statements, want %d: %v", test.name, conn.statements, test.statements, err)
		}
	}
}

func TestSumsTravelExactly(t *testing.T) {
	r := newReader(t, 10*time.Second)
	for _, text := range []string{
		"0", "1", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
		"18446744073709551616", "-18446744073709551617",
		"170141183460469231731687303715884105727", "-170141183460469231731687303715884105728",
	} {
		query := Query{SQL: "SELECT " + packed("toInt128({sum:String})", "toInt128(-7)"), Args: map[string]any{"sum": text}}
		var packedSums string
		var sum, other analytics.Int128
		err := r.each(context.Background(), query, nil, func(scan func(...any) error) error {
			if err := scan(&packedSums); err != nil {
				return err
			}
			return unpack(packedSums, &sum, &other)
		})
		if err != nil || sum.String() != text || other != analytics.Int(-7) {
			t.Errorf("%s came as %s, and -7 as %s: %v", text, sum, other, err)
		}
	}
	var sum analytics.Int128
	if unpack("too short", &sum) == nil {
		t.Error("a string of another length is taken")
	}
}

func TestSnapshotsThatChangeAreReadAgain(t *testing.T) {
	db := database(t)
	r := New(db, db, 10*time.Second)
	ctx := context.Background()
	store := func(version int, status string, budget int) {
		t.Helper()
		err := db.Exec(ctx, `INSERT INTO forecast_snapshots (tenant, project, id, row_version, month, version, status, line_node, line_parent, line_level, line_code, line_name,
  line_budget, line_committed, line_pending_changes, line_uncommitted, line_uncommitted_defaulted, line_invoiced, line_paid)
SELECT 'acme', 'P1', 'F1', ?, '2026-04', 1, ?, ['t', 's'], ['', 't'], ['budget', 'subBudget'], ['1', '2'], ['T', 'S'], [?, 5], [0, 0], [0, 0], [0, 0], [true, true], [0, 0], [0, 0]`,
			version, status, budget)
		if err != nil {
			t.Fatal(err)
		}
	}
	store(1, "submitted", 10)
	// Given a snapshot that changes while it is read, the first time
	tries := 0
	found, err := r.snapshots(ctx, "acme", "P1", func(heads []analytics.Snapshot) []*analytics.Snapshot {
		if tries++; tries == 1 {
			store(2, "approved", 20)
		}
		return []*analytics.Snapshot{&heads[0]}
	})
	// Then head and lines are of one version
	if err != nil || tries != 2 || len(found) != 1 || found[0].Status != "approved" || len(found[0].Lines) != 2 ||
		found[0].Lines[0].Budget != 20 {
		t.Errorf("after %d tries: %+v, %v", tries, found, err)
	}
	// And when it never stops, that is told.
	_, err = r.snapshots(ctx, "acme", "P1", func(heads []analytics.Snapshot) []*analytics.Snapshot {
		tries++
		store(tries, "approved", 20)
		return []*analytics.Snapshot{&heads[0]}
	})
	if err == nil {
		t.Error("a snapshot that keeps changing is taken")
	}
}

func TestPagesOfSnapshots(t *testing.T) {
	snapshot := func(id string, month calendar.Month, version int64) analytics.Snapshot {
		return analytics.Snapshot{ID: id, ForecastSnapshot: events.ForecastSnapshot{Month: month, Version: version}}
	}
	heads := []analytics.Snapshot{snapshot("a", 1, 1), snapshot("b", 2, 1), snapshot("c", 2, 2), snapshot("d", 2, 2),
		snapshot("e", 3, 1)}
	var met string
	p := SnapshotPage{}
	for range 10 {
		page := p.of(heads, 2)
		if len(page) == 0 {
			break
		}
		for _, s := range page {
			met += s.ID
		}
		last := page[len(page)-1]
		p.After = events.Some(SnapshotPlace{last.Month, last.Version, last.ID})
	}
	if met != "edcba" {
		t.Errorf("met %s", met)
	}
}
