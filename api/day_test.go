package api_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/api"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// beforeEach does something before each statement.
type beforeEach struct {
	reader.Conn
	do func()
}

func (b *beforeEach) Query(ctx context.Context, q string, args ...any) (driver.Rows, error) {
	b.do()
	return b.Conn.Query(ctx, q, args...)
}

// An answer is of the day on which its request came, however long its statements take.
func TestAllOfAnAnswerIsOfTheDayOfItsRequest(t *testing.T) {
	// Given an API whose clock goes from April to May in Vienna before any statement of a request
	evening := time.Date(2026, 4, 30, 21, 59, 0, 0, time.UTC)
	var now atomic.Int64
	w := structured(t, func(o *api.Options) {
		o.Control = o.ClickHouse
		o.ClickHouse = &beforeEach{o.Control, func() { now.Store(evening.Add(time.Hour).Unix()) }}
		o.Clock = func() time.Time { return time.Unix(now.Load(), 0) }
	})
	f := loan("P1")
	f.Ipds = some([]calendar.Date{calendar.NewDate(2026, 4, 30), calendar.NewDate(2026, 5, 1)})
	w.facility("F1", f)
	w.facilityEntry("e1", events.FacilityEntry{FacilityID: "F1", Kind: "drawdown", Status: "planned",
		Date: calendar.NewDate(2026, 3, 1), Value: 1})
	for path, april := range map[string]string{
		"/v0/projects/P1/cashflow":   `"asOf":"2026-04"`,
		"/v0/projects/P1/rent-roll":  `"asOf":"2026-04"`,
		"/v0/projects/P1/facilities": `"nextIpd":"2026-04-30"`,
		// What was planned for March counts as if it came today: in the period of this one day.
		"/v0/facilities/F1/schedule?includePlanned=true&to=2026-05-01": `"openingBalance":` + eur(0) + `,"balance":` + eur(1),
	} {
		// When it is asked before midnight
		now.Store(evening.Unix())
		got := string(w.get(adminKey, path).want(t, 200, "").body)
		// Then it answers as of that day.
		if !strings.Contains(got, april) {
			t.Errorf("%s: not of 30 April: %s", path, got)
		}
	}
	// And an answer that is kept is not that of the next day.
	if got := w.get(adminKey, "/v0/projects/P1/cashflow").want(t, 200, ""); got.json["asOf"] != "2026-05" {
		t.Errorf("on 1 May: %s", got.body)
	}
}

// The same data give the same answers whatever zone the server or the user's profile has: no date and no month is made
// by a clock of the database.
func TestAnswersDoNotDependOnTheZoneOfTheDatabase(t *testing.T) {
	// Given something of everything that has a date, at hours at which other zones have another day
	w := planned(t)
	received := some(time.Date(2026, 4, 30, 22, 30, 0, 0, time.UTC))
	w.records(record{id: "R2", project: "P1", status: "paid", recognition: some(calendar.NewDate(2026, 1, 1)),
		due: some(calendar.NewDate(2026, 12, 31)), cash: some(calendar.NewDate(2026, 4, 30)), currency: "EUR",
		channel: "email", receivedAt: received})
	w.contractOf("C1", events.Contract{ProjectID: "P1", Status: "signed", Currency: "EUR",
		StartDate: some(calendar.NewDate(2026, 1, 1)), EndDate: some(calendar.NewDate(2026, 12, 31)),
		Amendments: []events.Amendment{{ID: "a", Status: "approved", Date: some(calendar.NewDate(2026, 5, 1))}}})
	w.snapshot("S1", events.ForecastSnapshot{ProjectID: "P1", Month: month(2026, 3), Version: 1, Status: "approved",
		SubmittedAt: received, DecidedAt: received})
	w.lease("L1", events.Lease{Category: "main", Status: "active", Start: calendar.NewDate(2026, 5, 1),
		End: some(calendar.NewDate(2026, 5, 31)), Currency: "EUR", MonthlyRent: 100,
		Breaks: []events.Break{{Date: calendar.NewDate(2026, 5, 1), Party: "tenant", State: "open"}}})
	w.facility("F1", loan("P1"))
	w.facilityEntry("e1", events.FacilityEntry{FacilityID: "F1", Kind: "drawdown", Status: "funded",
		Date: calendar.NewDate(2026, 3, 31), Value: 1_000_000})
	w.fixing("x1", events.Fixing{FacilityID: "F1", PeriodStart: calendar.NewDate(2026, 3, 31), ReferenceBp: bp(40, 0)})
	paths := []string{"/v0/records", "/v0/records?cashDateFrom=2026-04-30&cashDateTo=2026-04-30",
		"/v0/records?recognitionDateFrom=2026-01-01&recognitionDateTo=2026-01-01", "/v0/contracts", "/v0/contracts/C1",
		"/v0/projects/P1/budget", "/v0/projects/P1/budget?asOf=2026-03", "/v0/projects/P1/cashflow",
		"/v0/projects/P1/forecast/snapshots", "/v0/projects/P1/forecast/snapshots/2026-03", "/v0/projects/P1/rent-roll",
		"/v0/projects/P1/facilities", "/v0/facilities/F1/schedule", "/v0/facilities/F1/drawdowns"}
	want := make(map[string]string)
	for _, path := range paths {
		want[path] = string(w.get(adminKey, path).want(t, 200, "").body)
	}
	for _, zone := range []string{"Pacific/Kiritimati", "America/Los_Angeles"} {
		// When an API asks a database of another zone
		elsewhere, err := clickhouse.Open(&clickhouse.Options{Addr: []string{clickhousetest.Engine(t).Addr()},
			Auth: clickhouse.Auth{Database: w.database}, Settings: clickhouse.Settings{"session_timezone": zone}})
		w.must(err)
		t.Cleanup(func() { _ = elsewhere.Close() })
		_, w.url = w.start(inMay, func(o *api.Options) { o.ClickHouse = elsewhere })
		w.seen(adminKey, "P1")
		for _, path := range paths {
			// Then it answers the same.
			if got := string(w.get(adminKey, path).want(t, 200, "").body); got != want[path] {
				t.Errorf("%s in %s: got\n%s\nwant\n%s", path, zone, got, want[path])
			}
		}
	}
}
