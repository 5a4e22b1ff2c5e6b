package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/api"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// unit stores a unit.
func (w *world) unit(id string, u events.Unit) {
	w.Helper()
	var area *string
	if u.AreaM2.Ok {
		text := u.AreaM2.V.String()
		area = &text
	}
	var rate *int64
	if u.AskingRate.Ok {
		rate = &u.AskingRate.V.Value
	}
	w.state("units", u.ProjectID, id, map[string]any{"site_id": u.SiteID, "site_name": u.SiteName, "building_id": u.BuildingID,
		"label": u.Label, "type": u.Type, "floor": pointer(u.Floor), "area_m2": area, "spaces": pointer(u.Spaces), "scope": u.Scope,
		"asking_rate_value": rate, "asking_rate_currency": u.AskingRate.V.Currency}, nil)
}

// lease stores a lease of P1.
func (w *world) lease(id string, l events.Lease) {
	w.Helper()
	after, err := analytics.LeaseContribution(nil, id, &l)
	w.must(err)
	w.state("leases", "P1", id, map[string]any{"category": l.Category, "counterparty_name": pointer(l.CounterpartyName),
		"status": l.Status, "unit_ids": append([]string{}, l.UnitIDs...), "start_date": l.Start.Time(), "end_date": day(l.End),
		"effective_end": day(analytics.EffectiveEnd(&l)), "currency": l.Currency, "indexation_text": pointer(l.IndexationText)}, after)
}

// let is structured with units and leases.
func let(t testing.TB, change ...func(*api.Options)) *world {
	t.Helper()
	w := structured(t, append(change, inMay)...)
	area := func(units int64, scale uint8) events.Opt[events.Decimal] {
		return some(events.Decimal{Units: units, Scale: scale})
	}
	place := events.Unit{ProjectID: "P1", SiteID: "S", SiteName: "Site", BuildingID: "B", Type: "office", Scope: "scheme"}
	of := func(label string, change func(u *events.Unit)) events.Unit {
		u := place
		u.Label = label
		change(&u)
		return u
	}
	w.unit("U1", of("Top 1", func(u *events.Unit) {
		u.Floor, u.AreaM2, u.AskingRate = some("EG"), area(725, 1), some(events.Amount{Value: 1650, Currency: "EUR"})
	}))
	w.unit("U2", of("P 2", func(u *events.Unit) { u.Type, u.Spaces = "parking", some(int64(2)) }))
	w.unit("U3", of("Top 3", func(u *events.Unit) { u.AreaM2 = area(100, 0) }))
	start, end := calendar.NewDate(2021, 5, 1), some(calendar.NewDate(2031, 4, 30))
	w.lease("L1", events.Lease{Category: "main", CounterpartyName: some("Baker"), Status: "active", UnitIDs: []string{"U1", "U2"},
		Start: start, End: end, Currency: "EUR", MonthlyRent: 600_000, IndexationText: some("VPI 2020"),
		RentFree: []events.DateRange{{From: calendar.NewDate(2026, 7, 1), To: calendar.NewDate(2026, 7, 31)}},
		Breaks:   []events.Break{{Date: calendar.NewDate(2029, 4, 30), Party: "tenant", State: "open"}}})
	w.lease("L2", events.Lease{Category: "other", Status: "active", Start: start, Currency: "EUR", MonthlyRent: 40_000})
	w.lease("L3", events.Lease{Category: "main", CounterpartyName: some("Miller"), Status: "signed", Start: start, End: end,
		Currency: "CHF", MonthlyRent: 1_000,
		Breaks: []events.Break{{Date: calendar.NewDate(2030, 12, 31), Party: "landlord", State: "exercised"}}})
	w.lease("L4", events.Lease{Category: "main", Status: "draft", Start: start, Currency: "EUR", MonthlyRent: 1})
	return w
}

// roll is the rent roll of P1 with these totals and leases.
func roll(asOf string, passing, forward int, toExpiry, toBreak string, leases ...string) string {
	return `{"projectId":"P1","asOf":"` + asOf + `","currency":"EUR","passingRentAnnual":` + eur(passing) +
		`,"passingRentOtherAnnual":` + eur(480_000) + `,"forwardRent12m":` + eur(forward) +
		`,"letAreaM2":72.5,"totalAreaM2":172.5,"vacancyPct":57.97,"waultToExpiryYears":` + toExpiry +
		`,"waultToBreakYears":` + toBreak + `,"leases":[` + strings.Join(leases, ",") + `]}`
}

func TestARentRollIsShownInFull(t *testing.T) {
	w := let(t)
	baker := func(rent int) string {
		return `{"leaseId":"L1","category":"main","counterparty":"Baker","status":"active","unitIds":["U1","U2"],"start":"2021-05-01",` +
			`"end":"2031-04-30","effectiveEnd":"2031-04-30","firstBreak":"2029-04-30","passingRentAnnual":` + eur(rent) +
			`,"indexation":"VPI 2020"}`
	}
	mast := `{"leaseId":"L2","category":"other","counterparty":null,"status":"active","unitIds":[],"start":"2021-05-01","firstBreak":null,` +
		`"passingRentAnnual":` + eur(480_000) + `,"indexation":null}`
	miller := `{"leaseId":"L3","category":"main","counterparty":"Miller","status":"signed","unitIds":[],"start":"2021-05-01",` +
		`"end":"2031-04-30","effectiveEnd":"2030-12-31","firstBreak":null,"passingRentAnnual":{"value":12000,"currency":"CHF"},"indexation":null}`
	may := roll("2026-05", 7_680_000, 7_080_000, "5", "3", baker(7_200_000), mast, miller)
	for query, want := range map[string]string{
		"":              may,
		"?asOf=2026-05": may,
		// In a rent-free month nothing is payable, and the term is weighted all the same.
		"?asOf=2026-07": roll("2026-07", 480_000, 7_080_000, "4.83", "2.83", baker(0), mast, miller),
	} {
		if got := w.get(adminKey, "/v0/projects/P1/rent-roll"+query).want(t, 200, ""); string(got.body) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", query, got.body, want)
		}
	}
	// Before anything was let, and without any area
	empty := `,"passingRentAnnual":` + eur(0) + `,"passingRentOtherAnnual":` + eur(0) + `,"forwardRent12m":` + eur(0) +
		`,"letAreaM2":0,"totalAreaM2":%s,"vacancyPct":%s,"waultToExpiryYears":0,"waultToBreakYears":0,"leases":[]}`
	w.project("P2", events.Project{})
	w.seen(adminKey, "P1", "P2")
	for path, want := range map[string]string{
		"P1/rent-roll?asOf=1900-01": `{"projectId":"P1","asOf":"1900-01","currency":"EUR"` + fmt.Sprintf(empty, "172.5", "100"),
		"P2/rent-roll":              `{"projectId":"P2","asOf":"2026-05","currency":"EUR"` + fmt.Sprintf(empty, "0", "null"),
	} {
		if got := w.get(adminKey, "/v0/projects/"+path).want(t, 200, ""); string(got.body) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", path, got.body, want)
		}
	}
	for _, query := range []string{"asOf=2026-13", "asOf=2026-05-01", "asOf=", "asOf=1899-12", "asOf=2300-01", "month=2026-05", "limit=1"} {
		w.get(adminKey, "/v0/projects/P1/rent-roll?"+query).want(t, 400, "invalid-query")
	}
	if got := w.get(adminKey, "/v0/projects/P1/rent-roll?asOf=2299-12").want(t, 200, ""); len(got.json["leases"].([]any)) != 1 {
		t.Errorf("the indefinite lease is not there for ever: %s", got.body)
	}
}

func TestARentBeyondTheRangeOfAmountsIsLeftOut(t *testing.T) {
	w := let(t)
	const most = 9007199254740991
	w.lease("L2", events.Lease{Category: "other", Status: "active", Start: calendar.NewDate(2021, 5, 1), Currency: "EUR", MonthlyRent: most})
	got := w.get(adminKey, "/v0/projects/P1/rent-roll").want(t, 200, "")
	for _, name := range []string{"passingRentAnnual", "passingRentOtherAnnual", "forwardRent12m"} {
		if value, shown := got.json[name]; shown {
			t.Errorf("%s is %v", name, value)
		}
	}
	leases := got.json["leases"].([]any)
	if _, shown := leases[1].(map[string]any)["passingRentAnnual"]; shown || len(leases) != 3 ||
		leases[0].(map[string]any)["passingRentAnnual"] == nil || got.json["vacancyPct"] != 57.97 {
		t.Errorf("got %s", got.body)
	}
	if !strings.Contains(w.log.String(), "figures beyond the range of amounts are null or left out") {
		t.Error("the log doesn't say so")
	}
}

func TestUnitsAreListed(t *testing.T) {
	w := let(t)
	place := `"siteId":"S","siteName":"Site","buildingId":"B"`
	units := []string{
		`{"unitId":"U1",` + place + `,"label":"Top 1","type":"office","floor":"EG","areaM2":72.5,"spaces":null,"askingRate":` + eur(1650) + `}`,
		`{"unitId":"U2",` + place + `,"label":"P 2","type":"parking","floor":null,"areaM2":null,"spaces":2,"askingRate":null}`,
		`{"unitId":"U3",` + place + `,"label":"Top 3","type":"office","floor":null,"areaM2":100,"spaces":null,"askingRate":null}`,
	}
	const path = "/v0/projects/P1/units"
	want := `{"data":[` + strings.Join(units, ",") + `],"page":{"nextCursor":null,"limit":50}}`
	if got := w.get(adminKey, path).want(t, 200, ""); string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	// Page by page, ids of any length
	long := "V" + strings.Repeat("ä", 400)
	for _, id := range []string{long, long + "1", "W"} {
		w.unit(id, events.Unit{ProjectID: "P1", Scope: "scheme"})
	}
	w.unit("A", events.Unit{ProjectID: "P2", Scope: "scheme"})
	w.project("P2", events.Project{})
	w.seen(adminKey, "P1", "P2")
	var ids []string
	cursor := ""
	for range 10 {
		page := w.get(adminKey, path+"?limit=1"+cursor).want(t, 200, "")
		ids = append(ids, page.items("unitId")...)
		if page.cursor() == "" {
			break
		}
		cursor = "&cursor=" + page.cursor()
		w.get(adminKey, "/v0/projects/P2/units?limit=1"+cursor).want(t, 400, "invalid-cursor")
		w.get(adminKey, "/v0/records?limit=1"+cursor).want(t, 400, "invalid-cursor")
	}
	if all := []string{"U1", "U2", "U3", long, long + "1", "W"}; !slices.Equal(ids, all) {
		t.Errorf("got %q, want %q", ids, all)
	}
	for _, query := range []string{"limit=0", "limit=201", "count=true", "type=office", "asOf=2026-05"} {
		w.get(adminKey, path+"?"+query).want(t, 400, "invalid-query")
	}
}

func TestAGuestSeesUnitsWithoutRatesAndNoRents(t *testing.T) {
	statements := &recorded{}
	w := let(t, func(o *api.Options) { statements.Conn, o.ClickHouse = o.ClickHouse, statements })
	w.user("U-guest", guestKey, "guest")
	w.seen(guestKey, "P1")
	const amountsKey = "pk_test_amounts_secret"
	w.key("U-admin", amountsKey, func(k *events.Key) { k.Groups = some([]string{"amounts"}) })
	w.seen(amountsKey, "P1")
	const units, rents = "/v0/projects/P1/units", "/v0/projects/P1/rent-roll"
	// A guest sees of units what is core
	admin := string(w.get(adminKey, units).want(t, 200, "").body)
	want := strings.NewReplacer(`,"askingRate":`+eur(1650), "", `,"askingRate":null`, "").Replace(admin)
	if got := w.get(guestKey, units).want(t, 200, ""); string(got.body) != want {
		t.Errorf("a guest sees %s", got.body)
	}
	// And nothing of rents, for which nothing is read
	for _, query := range []string{"", "?asOf=2024-05"} {
		sent, _ := statements.during(func() {
			if got := w.get(guestKey, rents+query).want(t, 200, ""); string(got.body) != "{}" {
				t.Errorf("a guest sees %s", got.body)
			}
		})
		if len(sent) > 0 {
			t.Errorf("for a guest's empty rent roll\n%s", strings.Join(sent, "\n"))
		}
	}
	// Amounts alone are enough for all of both.
	for _, path := range []string{units, rents} {
		if got, all := w.get(amountsKey, path).want(t, 200, ""), w.get(adminKey, path); string(got.body) != string(all.body) {
			t.Errorf("%s: amounts show %s", path, got.body)
		}
	}
}
