package reader

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// add puts a contribution into the sums of P1.
func add(t *testing.T, db clickhouse.Conn, c analytics.Contribution) {
	t.Helper()
	for _, s := range c {
		roll := s.Roll.Roll()
		keys := strings.ReplaceAll(string(schema.AppendKeys(nil, roll, s.Keys[:len(roll.Keys)])), "\x00", `\0`)
		columns, values := []string{"tenant", "project", "keys"}, []string{"'acme'", "'P1'", "'" + keys + "'"}
		for i, a := range roll.Amounts {
			columns, values = append(columns, schema.AmountColumn(a)), append(values, fmt.Sprint(s.Amounts[i]))
		}
		err := db.Exec(context.Background(), "INSERT INTO sums ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(values, ", ")+")")
		if err != nil {
			t.Fatal(err)
		}
	}
}

func dateText(d events.Opt[calendar.Date]) string {
	if !d.Ok {
		return ""
	}
	return d.V.String()
}

// let stores a lease of P1 as ingest does.
func let(t *testing.T, db clickhouse.Conn, id string, l *events.Lease) {
	t.Helper()
	c, err := analytics.LeaseContribution(nil, id, l)
	if err != nil {
		t.Fatal(err)
	}
	add(t, db, c)
	x := l.Indexation.V
	base, firstOn := "", ""
	if x.Type == "cpi" {
		base = x.BaseMonth.String()
	}
	if x.Type == "fixed" {
		firstOn = x.FirstOn.String()
	}
	err = db.Exec(context.Background(), `INSERT INTO leases (tenant, project, id, row_version, category, status, unit_ids, start_date, end_date, effective_end, currency,
  indexation_type, indexation_rate_bp, indexation_first_on, indexation_every_months, indexation_series, indexation_base_month, indexation_threshold_bp, indexation_lag_months,
  indexation_share_bp)
SELECT 'acme', 'P1', ?, 1, ?, ?, ?, toDate32(?), toDate32OrNull(?), toDate32OrNull(?), ?, ?, ?, toDate32OrNull(?), ?, ?, ?, ?, ?, ?`,
		id, l.Category, l.Status, l.UnitIDs, l.Start.String(), dateText(l.End), dateText(analytics.EffectiveEnd(l)), l.Currency,
		x.Type, x.RateBp.String(), firstOn, x.EveryMonths, x.Series, base, x.ThresholdBp.String(), x.LagMonths, x.ShareBp.String())
	if err != nil {
		t.Fatal(err)
	}
}

// The rent roll that is read is the one that is computed from whole leases, in whatever month: the runs of months that
// are read of each are enough.
func TestTheRentRollOfAnyMonthNeedsFewRuns(t *testing.T) {
	day, some := calendar.NewDate, events.Some[calendar.Date]
	db := database(t)
	leases := map[string]*events.Lease{
		"indefinite": {Category: "main", Status: "active", UnitIDs: []string{"U1"}, Start: day(2025, 3, 15), Currency: "EUR", MonthlyRent: 100_000,
			Steps:    []events.RentStep{{From: day(2026, 9, 1), MonthlyRent: 120_000}},
			RentFree: []events.DateRange{{From: day(2026, 4, 1), To: day(2026, 6, 30)}},
			Breaks:   []events.Break{{Date: day(2027, 3, 31), Party: "tenant", State: "open"}, {Date: day(2026, 3, 31), Party: "both", State: "open"}},
			Indexation: events.Some(events.Indexation{Type: "cpi", EveryMonths: 1, Series: "VPI", BaseMonth: day(2025, 1, 1).Month(),
				ThresholdBp: events.Decimal{Units: 300}, LagMonths: 2, ShareBp: events.Decimal{Units: 10_000}})},
		"indexed": {Category: "other", Status: "active", UnitIDs: []string{"U2"}, Start: day(2025, 1, 1), End: some(day(2027, 12, 31)), Currency: "EUR", MonthlyRent: 33_333,
			Indexation: events.Some(events.Indexation{Type: "fixed", RateBp: events.Decimal{Units: 2055, Scale: 1}, FirstOn: day(2026, 1, 1), EveryMonths: 12})},
		"left":   {Category: "main", Status: "ended", UnitIDs: []string{"U2"}, Start: day(2024, 1, 1), End: some(day(2025, 10, 20)), Currency: "EUR", MonthlyRent: 50_000},
		"later":  {Category: "main", Status: "signed", UnitIDs: []string{"U1", "U2"}, Start: day(2027, 1, 10), End: some(day(2031, 12, 31)), Currency: "EUR", MonthlyRent: 70_000},
		"francs": {Category: "main", Status: "active", UnitIDs: []string{}, Start: day(2025, 1, 1), End: some(day(2028, 6, 30)), Currency: "CHF", MonthlyRent: 9_000},
		"draft":  {Category: "main", Status: "draft", UnitIDs: []string{"U2"}, Start: day(2025, 1, 1), Currency: "EUR", MonthlyRent: 1},
		"cut": {Category: "main", Status: "active", UnitIDs: []string{}, Start: day(2025, 1, 1), End: some(day(2029, 12, 31)), Currency: "EUR", MonthlyRent: 8_000,
			Breaks: []events.Break{{Date: day(2026, 5, 31), Party: "landlord", State: "exercised"}}},
	}
	in := analytics.RentRollInput{Currency: "EUR"}
	for id, l := range leases {
		let(t, db, id, l)
		in.Leases = append(in.Leases, analytics.NewLease(id, l))
	}
	values := []events.IndexValue{}
	for i, units := range []int64{1000, 1001, 1050, 1051, 1100} {
		v := events.IndexValue{Series: "VPI", Month: day(2025, 1, 1).Month() + calendar.Month(3*i), Value: events.Decimal{Units: units, Scale: 1}}
		values = append(values, v)
		err := db.Exec(context.Background(), "INSERT INTO index_values (tenant, project, id, row_version, series, month, value) VALUES ('acme', '', ?, 1, 'VPI', ?, ?)",
			"VPI:"+v.Month.String(), v.Month.String(), v.Value.String())
		if err != nil {
			t.Fatal(err)
		}
	}
	in.Indexes = analytics.NewIndexes(values)
	for id, area := range map[string]events.Decimal{"U1": {Units: 725, Scale: 1}, "U2": {Units: 100}, "U3": {Units: 12345, Scale: 2}} {
		u := analytics.Unit{ID: id}
		u.Scope, u.AreaM2 = "scheme", events.Some(area)
		in.Units = append(in.Units, u)
		err := db.Exec(context.Background(), "INSERT INTO units (tenant, project, id, row_version, scope, area_m2) VALUES ('acme', 'P1', ?, 1, 'scheme', ?)", id, area.String())
		if err != nil {
			t.Fatal(err)
		}
	}
	r, today := New(db, db, 10*time.Second), day(2026, 5, 10)
	for _, month := range []calendar.Month{day(1900, 1, 1).Month(), day(2024, 6, 1).Month(), day(2025, 3, 1).Month(), day(2025, 10, 1).Month(),
		day(2026, 4, 1).Month(), day(2026, 5, 1).Month(), day(2026, 9, 1).Month(), day(2027, 1, 1).Month(), calendar.MaxMonth} {
		got, err := r.RentRoll(context.Background(), RentRollRequest{Tenant: "acme", Project: "P1", Currency: "EUR", Month: month, Today: today})
		if err != nil {
			t.Fatal(err)
		}
		want := analytics.RentRoll(in, month, today)
		for _, roll := range []*analytics.ProjectRentRoll{&got, &want} {
			for i := range roll.Leases {
				l := *roll.Leases[i].Lease
				l.Segments, l.Indexation = nil, events.Opt[events.Indexation]{}
				roll.Leases[i].Lease = &l
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read is\n%+v\ncomputed of whole leases\n%+v", month, got, want)
		}
		if month == today.Month() && len(got.Leases) != 4 {
			t.Errorf("%d leases are in force", len(got.Leases))
		}
	}
}

// A page of units has them as they were delivered.
func TestUnitsArePaged(t *testing.T) {
	db := database(t)
	for _, values := range []string{
		"'a', 'flat', '1', '72.5', NULL, 'scheme', 1650, 'EUR'", "'b', 'parking', NULL, NULL, 2, 'scheme', NULL, ''", "'c', 'mast', NULL, NULL, NULL, 'currentUse', NULL, ''",
	} {
		err := db.Exec(context.Background(), "INSERT INTO units (tenant, project, id, type, floor, area_m2, spaces, scope, asking_rate_value, asking_rate_currency) SELECT 'acme', 'P1', "+values)
		if err != nil {
			t.Fatal(err)
		}
	}
	r := New(db, db, 10*time.Second)
	page, more, err := r.Units(context.Background(), UnitPage{Tenant: "acme", Project: "P1", Limit: 2})
	if err != nil || !more || len(page) != 2 || page[0].ID != "a" || page[1].ID != "b" {
		t.Fatalf("%+v, %v, %v", page, more, err)
	}
	if u := page[0]; u.AskingRate != events.Some(events.Amount{Value: 1650, Currency: "EUR"}) || u.AreaM2.V.String() != "72.5" || u.Floor != events.Some("1") || u.Spaces.Ok {
		t.Errorf("%+v", u)
	}
	if u := page[1]; u.AskingRate.Ok || u.AreaM2.Ok || u.Floor.Ok || u.Spaces != events.Some[int64](2) {
		t.Errorf("%+v", u)
	}
	page, more, err = r.Units(context.Background(), UnitPage{Tenant: "acme", Project: "P1", After: "b", Limit: 2})
	if err != nil || more || len(page) != 1 || page[0].ID != "c" {
		t.Errorf("%+v, %v, %v", page, more, err)
	}
}
