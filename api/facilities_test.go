package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/api"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// facility stores a loan facility.
func (w *world) facility(id string, f events.Facility) {
	w.Helper()
	from, margins, ipds := []time.Time{}, []string{}, []time.Time{}
	for _, s := range f.Pricing.MarginSteps {
		from, margins = append(from, s.From.Time()), append(margins, s.MarginBp.String())
	}
	for _, d := range f.Ipds.V {
		ipds = append(ipds, d.Time())
	}
	bp := func(d events.Opt[events.Decimal]) *string {
		if !d.Ok {
			return nil
		}
		text := d.V.String()
		return &text
	}
	w.state("facilities", "", id, map[string]any{
		"project_ids": f.ProjectIDs, "lender": f.Lender, "type": f.Type, "currency": f.Currency, "commitment": f.Commitment,
		"revolving": f.Revolving, "availability_from": f.Availability.From.Time(), "availability_to": f.Availability.To.Time(),
		"maturity": f.Maturity.Time(), "day_count": f.DayCount, "reference_rate": f.Pricing.ReferenceRate,
		"margin_bp": f.Pricing.MarginBp.String(), "floor_bp": bp(f.Pricing.FloorBp), "floor_on": f.Pricing.FloorOn.V,
		"fixed_rate_bp": bp(f.Pricing.FixedRateBp), "margin_step_from": from, "margin_step_margin_bp": margins,
		"commitment_fee_bp": f.CommitmentFeeBp.String(), "interest_treatment": f.InterestTreatment, "first_ipd": day(f.FirstIpd),
		"ipd_every_months": int64(f.IpdEveryMonths.V), "has_ipds": f.Ipds.Ok, "ipds": ipds,
	}, nil)
}

func (w *world) facilityEntry(id string, e events.FacilityEntry) {
	w.Helper()
	w.state("facility_entries", e.FacilityID, id, map[string]any{"kind": e.Kind, "status": e.Status, "date": e.Date.Time(),
		"value": e.Value}, analytics.FacilityEntryContribution(nil, &e))
}

func (w *world) fixing(id string, f events.Fixing) {
	w.Helper()
	w.state("fixings", f.FacilityID, id, map[string]any{"period_start": f.PeriodStart.Time(),
		"reference_bp": f.ReferenceBp.String()}, nil)
}

func bp(units int64, scale uint8) events.Decimal { return events.Decimal{Units: units, Scale: scale} }

// loan is a plain facility that finances these projects.
func loan(projects ...string) events.Facility {
	return events.Facility{ProjectIDs: projects, Lender: "Bank", Type: "construction", Currency: "EUR", Commitment: 500_000_000,
		Availability: events.DateRange{From: calendar.NewDate(2026, 1, 1), To: calendar.NewDate(2026, 6, 30)},
		Maturity:     calendar.NewDate(2026, 12, 31), DayCount: "ACT/360", InterestTreatment: "paid",
		Pricing: events.Pricing{ReferenceRate: "EURIBOR-3M", MarginBp: bp(250, 0), FloorBp: some(bp(0, 0)),
			MarginSteps: []events.MarginStep{{From: calendar.NewDate(2026, 8, 16), MarginBp: bp(300, 0)}}},
		CommitmentFeeBp: bp(90, 0), FirstIpd: some(calendar.NewDate(2026, 3, 31)), IpdEveryMonths: some(3)}
}

// financed has F1, the loan of docs/calculations.md#facilities, on 12 July 2026 in Vienna, and F2, which has what F1
// lacks.
func financed(t testing.TB) *world {
	t.Helper()
	w := structured(t, func(o *api.Options) {
		o.Clock = func() time.Time { return time.Date(2026, 7, 11, 22, 0, 0, 0, time.UTC) }
	})
	w.budgetRow("B1", "P1", "t", 800_000_000)
	w.facility("F1", loan("P1"))
	entry := func(id, facility, kind, status string, month, day int, value int64) {
		w.facilityEntry(id, events.FacilityEntry{FacilityID: facility, Kind: kind, Status: status,
			Date: calendar.NewDate(2026, month, day), Value: value})
	}
	entry("e1", "F1", "drawdown", "funded", 1, 15, 200_000_000)
	entry("e2", "F1", "drawdown", "funded", 4, 10, 100_000_000)
	entry("e3", "F1", "repayment", "funded", 5, 31, 50_000_000)
	entry("e4", "F1", "drawdown", "requested", 8, 1, 75_000_000)
	w.fixing("x1", events.Fixing{FacilityID: "F1", PeriodStart: calendar.NewDate(2026, 1, 1), ReferenceBp: bp(-125, 1)})
	w.fixing("x2", events.Fixing{FacilityID: "F1", PeriodStart: calendar.NewDate(2026, 3, 31), ReferenceBp: bp(40, 0)})

	f := loan("P1", "P1")
	f.Lender, f.Type, f.Currency, f.Commitment, f.Revolving = "Owner", "shareholder", "CHF", 1000, true
	f.Maturity, f.DayCount, f.InterestTreatment = calendar.NewDate(2026, 7, 11), "30/360", "capitalised"
	f.Pricing = events.Pricing{ReferenceRate: "none", MarginBp: bp(0, 0), FloorOn: some("allIn"),
		FixedRateBp: some(bp(312125, 3))}
	f.Ipds = some([]calendar.Date{}) // counts as not given
	w.facility("F2", f)
	entry("e5", "F2", "drawdown", "funded", 1, 1, 100)
	entry("e6", "F2", "interest", "funded", 3, 31, 10)
	entry("e7", "F2", "repayment", "funded", 4, 1, 40)
	entry("e8", "F2", "repayment", "requested", 4, 1, 5)
	entry("e9", "F2", "drawdown", "planned", 4, 1, 7)
	return w
}

const (
	facilitiesPath = "/v0/projects/P1/facilities"
	schedulePath   = "/v0/facilities/F1/schedule"
	drawdownsPath  = "/v0/facilities/F1/drawdowns"
)

func TestFacilitiesAreShownInFull(t *testing.T) {
	// Given
	w := financed(t)
	// When
	got := w.get(adminKey, facilitiesPath).want(t, http.StatusOK, "")
	// Then
	chf := func(n int) string { return strings.Replace(eur(n), "EUR", "CHF", 1) }
	want := `{"data":[{"facilityId":"F1","projectIds":["P1"],"lender":"Bank","type":"construction","currency":"EUR",` +
		`"commitment":` + eur(500_000_000) + `,"drawn":` + eur(250_000_000) + `,"requested":` + eur(75_000_000) +
		`,"available":` + eur(125_000_000) + `,"availability":{"from":"2026-01-01","to":"2026-06-30"},"maturity":"2026-12-31",` +
		`"pricing":{"referenceRate":"EURIBOR-3M","marginBp":250,"floorBp":0,"floorOn":"reference",` +
		`"marginSteps":[{"from":"2026-08-16","marginBp":300}]},"interestTreatment":"paid","nextIpd":"2026-09-30","ltcBp":6250},` +
		`{"facilityId":"F2","projectIds":["P1","P1"],"lender":"Owner","type":"shareholder","currency":"CHF",` +
		`"commitment":` + chf(1000) + `,"drawn":` + chf(70) + `,"requested":` + chf(0) + `,"available":` + chf(930) +
		`,"availability":{"from":"2026-01-01","to":"2026-06-30"},"maturity":"2026-07-11",` +
		`"pricing":{"referenceRate":"none","marginBp":0,"floorBp":null,"floorOn":"allIn","fixedRateBp":312.125,"marginSteps":[]},` +
		`"interestTreatment":"capitalised","nextIpd":null}],"page":{"nextCursor":null,"limit":50}}`
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	w.get(adminKey, "/v0/projects/none/facilities").want(t, 404, "not-found")
	for _, query := range []string{"projectId=P1", "fields=facilityId", "count=true", "limit=0", "limit=201", "cursor="} {
		w.get(adminKey, facilitiesPath+"?"+query).want(t, 400, "invalid-query")
		w.get(adminKey, drawdownsPath+"?"+query).want(t, 400, "invalid-query")
	}
	w.get(adminKey, facilitiesPath+"?cursor=x").want(t, 400, "invalid-cursor")
}

// Estimates are kept for as long as nothing that they are made of has changed.
func TestEveryChangeOfAnEstimateShowsInFacilitiesAtOnce(t *testing.T) {
	w := budgeted(t)
	w.facility("F1", loan("P1"))
	seen := string(w.get(adminKey, facilitiesPath).want(t, http.StatusOK, "").body)
	for _, change := range []struct {
		name string
		make func()
	}{
		{"a budget row", func() { w.budgetRow("B9", "P1", "i", 1234) }},
		{"a transfer", func() { w.transfer("T9", "P1", "", "t", 77) }},
		{"a contract", func() {
			w.contractOf("C9", events.Contract{ProjectID: "P1", Allocations: []events.ContractAllocation{{NodeID: "i", Value: 99999}}})
		}},
		{"a claim", func() { w.claim("L9", "P1", "i", 4000, 5000) }},
		{"an entered value", func() { w.entry("E1", "P1", "k", some(int64(4711))) }},
		{"a line", func() {
			w.node("k", events.BudgetNode{StructureID: some("S1"), ParentID: some("t"), Level: "subBudget", Code: "01-0002", Name: "Roof"})
		}},
	} {
		change.make()
		now := string(w.get(adminKey, facilitiesPath).want(t, http.StatusOK, "").body)
		if now == seen || !strings.Contains(now, `"ltcBp"`) {
			t.Errorf("after %s the facilities are as before, or have no estimate: %s", change.name, now)
		}
		seen = now
	}
}

func TestAScheduleIsShownInFull(t *testing.T) {
	// Given
	w := financed(t)
	period := func(start, end string, days int, reference, margin, rate, changes string, projected bool,
		opening, balance, interest, fee int) string {
		return fmt.Sprintf(`{"start":"%s","end":"%s","days":%d,"referenceBp":%s,"marginBp":%s,"rateBp":%s,"rateChanges":[%s],`+
			`"projected":%t,"openingBalance":%s,"balance":%s,"interest":%s,"commitmentFee":%s}`,
			start, end, days, reference, margin, rate, changes, projected, eur(opening), eur(balance), eur(interest), eur(fee))
	}
	const step = `{"from":"2026-08-16","marginBp":300,"rateBp":340}`
	first := period("2026-01-01", "2026-03-31", 89, "-12.5", "250", "250", "", false, 0, 200_000_000, 1_041_667, 737_500)
	second := period("2026-03-31", "2026-06-30", 91, "40", "250", "290", "", false, 200_000_000, 250_000_000, 1_997_778, 480_000)
	third := period("2026-06-30", "2026-09-30", 92, "40", "250", "290", step, true, 250_000_000, 250_000_000, 2_009_028, 5_000)
	fourth := period("2026-09-30", "2026-12-31", 92, "40", "300", "340", "", true, 250_000_000, 250_000_000, 2_172_222, 0)
	asked := period("2026-06-30", "2026-09-30", 92, "40", "250", "290", step, true, 250_000_000, 325_000_000, 2_418_403, 5_000)
	for query, periods := range map[string][]string{
		"":                                   {first, second, third, fourth},
		"?includePlanned=false":              {first, second, third, fourth},
		"?to=2026-07-01":                     {first, second, third},
		"?to=2026-06-30":                     {first, second},
		"?to=2026-01-01":                     {},
		"?to=9999-12-31":                     {first, second, third, fourth},
		"?to=2026-09-30&includePlanned=true": {first, second, asked},
	} {
		// When
		got := w.get(adminKey, schedulePath+query).want(t, http.StatusOK, "")
		// Then
		want := `{"facilityId":"F1","currency":"EUR","dayCount":"ACT/360","periods":[` + strings.Join(periods, ",") + `]}`
		if string(got.body) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", query, got.body, want)
		}
	}
	for _, query := range []string{"to=2026-02-30", "to=", "to=2026-07", "includePlanned=yes", "includePlanned=", "from=2026-01-01",
		"limit=1", "to=2026-07-01&to=2026-07-01"} {
		w.get(adminKey, schedulePath+"?"+query).want(t, 400, "invalid-query")
	}
}

func TestASchedulesRateMayBeUnknownOrFixed(t *testing.T) {
	// Given money that was drawn, and no fixing at all
	w := financed(t)
	w.gone("fixings", "x1")
	w.gone("fixings", "x2")
	// Then there is no rate and no interest
	p := w.get(adminKey, schedulePath).want(t, 200, "").json["periods"].([]any)[0].(map[string]any)
	if p["referenceBp"] != nil || p["rateBp"] != nil || p["interest"] != nil || p["projected"] != true || p["marginBp"] != 250.0 {
		t.Errorf("without fixings: %v", p)
	}
	// And where the rate is fixed, there is neither reference nor margin.
	fixed := w.get(adminKey, "/v0/facilities/F2/schedule").want(t, 200, "").json
	p = fixed["periods"].([]any)[1].(map[string]any)
	if p["referenceBp"] != nil || p["rateBp"] != 312.125 || p["marginBp"] != nil || p["projected"] != false || p["days"] != 90.0 ||
		fixed["dayCount"] != "30/360" || fixed["currency"] != "CHF" {
		t.Errorf("fixed: %v", fixed)
	}
}

func TestDrawdownsAreShownInFull(t *testing.T) {
	// Given
	w := financed(t)
	w.facilityEntry("e0", events.FacilityEntry{FacilityID: "F1", Kind: "repayment", Status: "planned",
		Date: calendar.NewDate(2026, 4, 10), Value: 3})
	w.facilityEntry("gone", events.FacilityEntry{FacilityID: "F1", Kind: "interest", Status: "funded",
		Date: calendar.NewDate(2026, 4, 10), Value: 3})
	w.gone("facility_entries", "gone")
	w.facilityEntry("moved", events.FacilityEntry{FacilityID: "F1", Kind: "drawdown", Status: "funded", Value: 9})
	w.facilityEntry("moved", events.FacilityEntry{FacilityID: "F2", Kind: "drawdown", Status: "funded", Value: 9})
	// When
	got := w.get(adminKey, drawdownsPath).want(t, http.StatusOK, "")
	// Then they are listed by date, then by id
	entry := func(id, kind, status, date string, value int) string {
		return fmt.Sprintf(`{"entryId":"%s","facilityId":"F1","kind":"%s","status":"%s","date":"%s","amount":%s}`, id, kind, status,
			date, eur(value))
	}
	want := `{"data":[` + strings.Join([]string{
		entry("e1", "drawdown", "funded", "2026-01-15", 200_000_000), entry("e0", "repayment", "planned", "2026-04-10", 3),
		entry("e2", "drawdown", "funded", "2026-04-10", 100_000_000), entry("e3", "repayment", "funded", "2026-05-31", 50_000_000),
		entry("e4", "drawdown", "requested", "2026-08-01", 75_000_000)}, ",") + `],"page":{"nextCursor":null,"limit":50}}`
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}

// TestAFacilityNeedsEveryProjectThatItFinances: who lacks one of them, or the group financial there, does not find it.
func TestAFacilityNeedsEveryProjectThatItFinances(t *testing.T) {
	// Given F1 and F2 of P1, and a loan of P1 and P2, estimated at 200 million more
	statements := &recorded{}
	w := newWorld(t, func(o *api.Options) { statements.Conn, o.ClickHouse = o.ClickHouse, statements })
	w.user("U-admin", adminKey, "admin")
	w.project("P1", events.Project{BudgetStructureID: some("S1")})
	w.project("P2", events.Project{BudgetStructureID: some("S1")})
	w.project("P3", events.Project{Currency: "CHF"})
	w.node("t", events.BudgetNode{StructureID: some("S1"), Level: "budget", Code: "1", Name: "All", Active: true})
	w.seen(adminKey, "P1", "P2", "P3")
	w.budgetRow("B1", "P1", "t", 800_000_000)
	w.budgetRow("B2", "P2", "t", 200_000_000)
	w.facility("F-one", loan("P1"))
	w.facility("F-two", loan("P1", "P2", "P1"))
	w.facility("F-unknown", loan("P1", "P9"))
	w.facility("F-abroad", loan("P1", "P3"))
	callers := map[string]func(k *events.Key){
		"pk_test_one_s":     func(k *events.Key) { k.ProjectIDs = some([]string{"P1"}) },
		"pk_test_plain_s":   func(k *events.Key) { k.Financial = false },
		"pk_test_figures_s": func(k *events.Key) { k.Groups = some([]string{"amounts", "budget"}) },
		"pk_test_terms_s":   func(k *events.Key) { k.Groups = some([]string{"financial"}) },
	}
	for key, change := range callers {
		w.key("U-admin", key, change)
		w.known(key)
	}
	w.user("U-mixed", "pk_test_mixed_s", "")
	w.member("U-mixed", events.Scope{ProjectID: some("P1")}, "user")
	w.member("U-mixed", events.Scope{ProjectID: some("P2")}, "guest")
	w.seen("pk_test_mixed_s", "P1", "P2")
	w.user("U-guest", guestKey, "guest")
	w.seen(guestKey, "P1", "P2", "P3")
	w.user("U-stranger", strangerKey, "")
	w.known(strangerKey)
	for key, want := range map[string][]string{
		adminKey: {"F-abroad", "F-one", "F-two"}, "pk_test_one_s": {"F-one"}, "pk_test_mixed_s": {"F-one"},
		"pk_test_terms_s": {"F-abroad", "F-one", "F-two"}, "pk_test_plain_s": nil, "pk_test_figures_s": nil, guestKey: nil,
		strangerKey: nil,
	} {
		// When he lists the facilities of P1, then those are there of which every project grants them
		sent, _ := statements.during(func() {
			r := w.get(key, facilitiesPath)
			if key == strangerKey {
				r.want(t, 404, "not-found")
			} else if got := r.want(t, 200, "").items("facilityId"); !slices.Equal(got, want) {
				t.Errorf("%s sees %v, want %v", key, got, want)
			}
		})
		if want == nil && len(sent) > 0 {
			t.Errorf("%s: statements\n%s", key, strings.Join(sent, "\n"))
		}
		// And of the others there is nothing, as of those that do not exist.
		for _, rest := range []string{"/schedule", "/drawdowns"} {
			absent := w.get(key, "/v0/facilities/none"+rest).want(t, 404, "not-found")
			for _, id := range []string{"F-abroad", "F-one", "F-two", "F-unknown"} {
				r := w.get(key, "/v0/facilities/"+id+rest)
				if slices.Contains(want, id) {
					r.want(t, 200, "")
				} else if !sameProblem(r, absent) {
					t.Errorf("%s of %s: %s, of an absent one %s", rest, id, r.body, absent.body)
				}
			}
		}
	}
	// And the loan's cost is that of all its projects, each once, or not told where currencies differ.
	ltc := func(key string) (all []any) {
		for _, item := range w.get(key, facilitiesPath).json["data"].([]any) {
			all = append(all, item.(map[string]any)["ltcBp"])
		}
		return all
	}
	if got := ltc(adminKey); !same(got, []any{nil, 6250.0, 5000.0}) {
		t.Errorf("ltcBp %v", got)
	}
	if got := w.get(adminKey, "/v0/projects/P2/facilities").items("facilityId"); !slices.Equal(got, []string{"F-two"}) {
		t.Errorf("of P2: %v", got)
	}
	// And who may not see amounts sees the terms.
	w.facilityEntry("e", events.FacilityEntry{FacilityID: "F-one", Kind: "drawdown", Status: "funded", Value: 1})
	for path, want := range map[string]string{
		facilitiesPath:                  `"currency":"EUR","availability":{"from":"2026-01-01","to":"2026-06-30"},"maturity"`,
		"/v0/facilities/F-one/schedule": `"rateChanges":[],"projected":true},{`,
		"/v0/facilities/F-one/drawdowns": `{"data":[{"entryId":"e","facilityId":"F-one","kind":"drawdown","status":"funded",` +
			`"date":"1970-01-01"}],"page":{"nextCursor":null,"limit":50}}`,
	} {
		r := w.get("pk_test_terms_s", path).want(t, 200, "")
		if strings.Contains(string(r.body), `"value"`) || !strings.Contains(string(r.body), want) {
			t.Errorf("%s without amounts: %s", path, r.body)
		}
	}
}

func TestFiguresOfAFacilityBeyondTheRangeAreLeftOut(t *testing.T) {
	// Given more drawn than an amount can be
	w := financed(t)
	for _, id := range []string{"huge1", "huge2"} {
		w.facilityEntry(id, events.FacilityEntry{FacilityID: "F1", Kind: "interest", Status: "funded",
			Date: calendar.NewDate(2026, 2, 1), Value: analytics.MaxAmount})
	}
	// When
	f := w.get(adminKey, facilitiesPath).want(t, 200, "").json["data"].([]any)[0].(map[string]any)
	p := w.get(adminKey, schedulePath).want(t, 200, "").json["periods"].([]any)[0].(map[string]any)
	// Then these figures are missing, and nothing else
	for _, name := range []string{"drawn", "available"} {
		if _, shown := f[name]; shown {
			t.Errorf("%s: %v", name, f[name])
		}
	}
	if f["requested"] == nil || f["ltcBp"] != 6250.0 {
		t.Errorf("got %v", f)
	}
	if _, shown := p["balance"]; shown || p["openingBalance"] == nil || p["commitmentFee"] == nil {
		t.Errorf("got %v", p)
	}
}

// TestWalksThroughLoansMeetEverythingOnce walks with ids that do not fit into a cursor, and days that many entries share.
func TestWalksThroughLoansMeetEverythingOnce(t *testing.T) {
	w := financed(t)
	w.gone("facilities", "F1")
	w.gone("facilities", "F2")
	long := strings.Repeat("ä", 300)
	var facilities, entries []string
	for i := range 11 {
		facilities = append(facilities, fmt.Sprint("f", i), fmt.Sprint(long, i%10, i))
	}
	slices.Sort(facilities)
	for _, id := range facilities {
		w.facility(id, loan("P1"))
	}
	// days before and after 1970, of which the numbers have different signs
	for i, date := range []calendar.Date{calendar.MinDate, -1, 0, 1, calendar.MaxDate} {
		for _, id := range []string{"a", "b", long} {
			id = fmt.Sprint(9-i, id) // against the order of the dates
			entries = append(entries, id)
			w.facilityEntry(id, events.FacilityEntry{FacilityID: "f0", Kind: "drawdown", Status: "planned", Date: date, Value: 1})
		}
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for path, c := range map[string]struct {
		member string
		want   []string
	}{
		facilitiesPath:                {"facilityId", facilities},
		"/v0/facilities/f0/drawdowns": {"entryId", entries},
	} {
		var got []string
		for cursor := ""; ; {
			page := w.get(adminKey, fmt.Sprintf("%s?limit=%d%s", path, 1+draw.IntN(4), cursor)).want(t, 200, "")
			got = append(got, page.items(c.member)...)
			if page.cursor() == "" || len(got) > len(c.want) {
				break
			}
			cursor = "&cursor=" + page.cursor()
			w.get(adminKey, "/v0/facilities/f1/drawdowns?"+cursor[1:]).want(t, 400, "invalid-cursor")
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %d items %.300q, want %d", path, len(got), got, len(c.want))
		}
	}
}
