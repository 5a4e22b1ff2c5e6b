package analytics_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// let is a lease "status start end rent", where - is no end, of the main category in euro.
func let(text string, change ...func(*events.Lease)) *events.Lease {
	words := strings.Fields(text)
	l := &events.Lease{ProjectID: "P1", Category: "main", Status: words[0], Start: date(words[1]), Currency: "EUR"}
	if words[2] != "-" {
		l.End = events.Some(date(words[2]))
	}
	fmt.Sscan(words[3], &l.MonthlyRent)
	for _, c := range change {
		c(l)
	}
	return l
}

func step(from string, rent int64) func(*events.Lease) {
	return func(l *events.Lease) { l.Steps = append(l.Steps, events.RentStep{From: date(from), MonthlyRent: rent}) }
}

func free(from, to string) func(*events.Lease) {
	return func(l *events.Lease) {
		l.RentFree = append(l.RentFree, events.DateRange{From: date(from), To: date(to)})
	}
}

func breakOn(at, party, state string) func(*events.Lease) {
	return func(l *events.Lease) {
		l.Breaks = append(l.Breaks, events.Break{Date: date(at), Party: party, State: state})
	}
}

func category(name string) func(*events.Lease) { return func(l *events.Lease) { l.Category = name } }

func inCurrency(name string) func(*events.Lease) { return func(l *events.Lease) { l.Currency = name } }

func units(ids ...string) func(*events.Lease) { return func(l *events.Lease) { l.UnitIDs = ids } }

func points(text string) events.Decimal {
	d, err := events.ParseDecimal(text)
	if err != nil {
		panic(err) // a test's own text
	}
	return d
}

// fixed is "rate first-day every".
func fixed(text string) func(*events.Lease) {
	words := strings.Fields(text)
	x := events.Indexation{Type: "fixed", RateBp: points(words[0]), FirstOn: date(words[1])}
	fmt.Sscan(words[2], &x.EveryMonths)
	return func(l *events.Lease) { l.Indexation = events.Some(x) }
}

// cpi is "base threshold every lag share", with "cap N" or "floor N" behind.
func cpi(text string) func(*events.Lease) {
	words := strings.Fields(text)
	x := events.Indexation{Type: "cpi", Series: "VPI", BaseMonth: month(words[0]), ThresholdBp: points(words[1]),
		ShareBp: points(words[4])}
	fmt.Sscan(words[2], &x.EveryMonths)
	fmt.Sscan(words[3], &x.LagMonths)
	for i := 5; i < len(words); i += 2 {
		limit := events.Some(points(words[i+1]))
		if words[i] == "cap" {
			x.CapBp = limit
		} else {
			x.FloorBp = limit
		}
	}
	return func(l *events.Lease) { l.Indexation = events.Some(x) }
}

// published are the values of the index VPI, "2026-01=100.5".
func published(values ...string) *analytics.Indexes {
	if len(values) == 0 {
		return nil
	}
	var all []events.IndexValue
	for _, text := range values {
		at, value, _ := strings.Cut(text, "=")
		all = append(all, events.IndexValue{Series: "VPI", Month: month(at), Value: points(value)})
	}
	return analytics.NewIndexes(all)
}

func rollOf(at string, indexes *analytics.Indexes, leases ...*events.Lease) analytics.ProjectRentRoll {
	in := analytics.RentRollInput{Currency: "EUR", Indexes: indexes}
	for i, l := range leases {
		in.Leases = append(in.Leases, analytics.NewLease(fmt.Sprint("L", i), l))
	}
	return analytics.RentRoll(in, month(at), date("2026-05-12"))
}

// Given one lease, when the rent roll of each month is asked for, then its rent payable for a year is 12 times that of
// the month; - where it is not listed.
func TestRentOfAMonth(t *testing.T) {
	none := published()
	for name, tc := range map[string]struct {
		lease   *events.Lease
		indexes *analytics.Indexes
		months  string
		want    string
	}{
		"before, in and after its term": {let("active 2026-02-16 2026-04-10 100"), none,
			"2026-01 2026-02 2026-03 2026-04 2026-05", "- 1200 1200 1200 -"},
		"for ever": {let("active 2026-02-16 - 100"), none, "2026-02 2150-01 2299-12", "1200 1200 1200"},
		"a step on the first": {let("active 2026-01-01 - 100", step("2026-03-01", 150)), none,
			"2026-02 2026-03 2026-04", "1200 1800 1800"},
		"a step within a month counts from the next": {let("active 2026-01-01 - 100", step("2026-03-02", 150)), none,
			"2026-03 2026-04", "1200 1800"},
		"a step on the first day of the lease": {
			let("active 2026-01-15 - 100", step("2026-01-15", 150)), none, "2026-01", "1800",
		},
		"the latest step counts, in any order": {let("active 2026-01-01 - 100", step("2026-04-01", 300), step("2026-02-01", 200)),
			none, "2026-01 2026-02 2026-03 2026-04", "1200 2400 2400 3600"},
		"rent-free months": {let("active 2026-01-01 - 100", free("2026-02-01", "2026-03-31")), none,
			"2026-01 2026-02 2026-03 2026-04", "1200 0 0 1200"},
		"rent-free on the day when rent is due": {let("active 2026-01-01 - 100", free("2026-01-31", "2026-02-01")), none,
			"2026-01 2026-02 2026-03", "1200 0 1200"},
		"rent-free beats a step": {let("active 2026-01-01 - 100", step("2026-02-01", 150), free("2026-02-01", "2026-02-28")), none,
			"2026-01 2026-02 2026-03", "1200 0 1800"},
		"ranges that overlap": {let("active 2026-01-01 - 100", free("2026-01-01", "2026-04-30"), free("2026-02-01", "2026-02-28")),
			none, "2026-02 2026-03 2026-04 2026-05", "0 0 0 1200"},
		"a rate of 2 % a year": {let("active 2024-01-01 - 100050", fixed("200 2025-01-01 12")), none,
			"2024-12 2025-01 2026-01", "1200600 1224612 1249104"},
		"adjusted on the last days of months": {let("active 2026-01-01 - 10000", fixed("1000 2026-01-31 1")), none,
			"2026-01 2026-02 2026-03 2026-04", "120000 132000 145200 159720"},
		"steps are adjusted like the rent": {let("active 2024-01-01 - 100", step("2025-06-01", 1000), fixed("1000 2025-01-01 12")),
			none, "2025-05 2025-06", "1320 13200"},
		"rounded once, at the end": {let("active 2024-01-01 - 25", fixed("200 2025-01-01 1")), none,
			"2025-01 2025-02 2025-03", "312 312 324"}, // 25.5, 26.01, 26.5302
		"halves away from zero": {let("active 2026-01-01 - -25", fixed("200 2026-01-01 12")), none, "2026-01", "-312"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, at := range strings.Fields(tc.months) {
				if roll := rollOf(at, tc.indexes, tc.lease); len(roll.Leases) == 1 {
					got = append(got, roll.Leases[0].PassingRentAnnual.String())
				} else {
					got = append(got, "-")
				}
			}
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// Given a rent of 10,000 from 2026 on that follows an index, then the rents of these months are these.
func TestRentsThatFollowAnIndex(t *testing.T) {
	for name, tc := range map[string]struct {
		terms  string
		values []string
		months string
		want   string
	}{
		"not at the threshold": {
			"2026-01 500 1 0 10000", []string{"2026-01=100", "2026-02=105", "2026-03=95"}, "2026-02 2026-03",
			"10000 10000",
		},
		"above the threshold": {
			"2026-01 500 1 0 10000", []string{"2026-01=100", "2026-02=105.1"}, "2026-01 2026-02 2026-03",
			"10000 10510 10510",
		},
		"below the threshold, down": {"2026-01 500 1 0 10000", []string{"2026-01=100", "2026-02=94.9"}, "2026-02", "9490"},
		"after a lag": {
			"2026-01 500 1 3 10000", []string{"2026-01=100", "2026-02=110"}, "2026-04 2026-05", "10000 11000",
		},
		"the base moves to the month that exceeded": {"2026-01 500 1 0 10000",
			[]string{"2026-01=100", "2026-02=106", "2026-03=111", "2026-04=112"}, "2026-02 2026-03 2026-04", "10600 10600 11200"},
		"only every so many months": {
			"2026-01 0 3 0 10000", []string{"2026-01=100", "2026-03=120", "2026-04=110", "2026-07=121"},
			"2026-03 2026-04 2026-07", "10000 11000 12100",
		},
		"months without a value are skipped": {
			"2026-01 0 1 0 10000", []string{"2026-01=100", "2026-04=110"}, "2026-03 2026-04", "10000 11000",
		},
		"a part of the change": {
			"2026-01 0 1 0 7500", []string{"2026-01=100", "2026-02=110"}, "2026-02", "10750",
		},
		"a cap, and what it cuts off is lost": {"2026-01 0 1 0 10000 cap 300",
			[]string{"2026-01=100", "2026-02=110", "2026-03=110"}, "2026-02 2026-03", "10300 10300"},
		"upward only": {
			"2026-01 0 1 0 10000 floor 0", []string{"2026-01=100", "2026-02=90", "2026-03=110"}, "2026-02 2026-03",
			"10000 11000",
		},
		"at least so much": {
			"2026-01 0 1 0 10000 floor 100", []string{"2026-01=100", "2026-02=100.5", "2026-03=99"}, "2026-02 2026-03",
			"10100 10201",
		},
		"no value of the base month": {
			"2025-12 0 1 0 10000", []string{"2026-01=100", "2026-02=110"}, "2026-02", "10000",
		},
		"no such series": {"2026-01 0 1 0 10000", nil, "2026-02", "10000"},
		"compounded without rounding": {
			"2026-01 0 1 0 5000", []string{"2026-01=3", "2026-02=4", "2026-03=5"}, "2026-02 2026-03", "11667 13125",
		},
		"values with different decimals": {
			"2026-01 500 1 0 10000", []string{"2026-01=100.000", "2026-02=105", "2026-03=105.0000001"},
			"2026-02 2026-03", "10000 10500",
		},
		"values of 18 digits": {
			"2026-01 500 1 0 10000",
			[]string{"2026-01=99999999999999.98", "2026-02=104999999999999.979", "2026-03=104999999999999.98"},
			"2026-02 2026-03", "10000 10500",
		},
		"a published value that is taken back": {"2026-01 0 1 0 10000", []string{"2026-01=100"}, "2026-02", "10000"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, at := range strings.Fields(tc.months) {
				roll := rollOf(at, published(tc.values...), let("active 2026-01-01 - 10000", cpi(tc.terms)))
				annual, _ := roll.PassingRentAnnual.Int64()
				got = append(got, fmt.Sprint(annual/12))
			}
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// A corrected index value changes rents of the past and of the future at once: leases hold none.
func TestACorrectedIndexValueCountsAtOnce(t *testing.T) {
	lease := let("active 2026-01-01 - 10000", cpi("2026-01 0 1 0 10000"))
	for index, want := range map[string]string{"2026-02=110": "132000", "2026-02=111": "133200"} {
		roll := rollOf("2026-02", published("2026-01=100", index), lease)
		if got := roll.PassingRentAnnual.String(); got != want {
			t.Errorf("with %s the rent is %s, want %s", index, got, want)
		}
	}
}

// On 12 May 2026, in the rent roll of May.
func TestLeasesInForce(t *testing.T) {
	for name, tc := range map[string]struct {
		lease *events.Lease
		want  string // effective end and first break; "" when it is not listed
	}{
		"active":                         {let("active 2026-01-01 2026-12-31 1"), "2026-12-31 -"},
		"signed":                         {let("signed 2026-05-31 2026-12-31 1"), "2026-12-31 -"},
		"signed for June":                {let("signed 2026-06-01 2026-12-31 1"), ""},
		"a draft":                        {let("draft 2026-01-01 2026-12-31 1"), ""},
		"a status that nobody knows":     {let("parked 2026-01-01 2026-12-31 1"), ""},
		"indefinite":                     {let("active 2026-01-01 - 1"), "- -"},
		"ended as planned":               {let("ended 2026-01-01 2026-05-11 1"), "2026-05-11 -"},
		"ended, though its end is today": {let("ended 2026-01-01 2026-05-12 1"), ""},
		"ended, though it is indefinite": {let("ended 2026-01-01 - 1"), ""},
		"ended by a break": {
			let("ended 2026-01-01 - 1", breakOn("2026-05-02", "landlord", "exercised")), "2026-05-02 -",
		},
		"the end of April is over":   {let("active 2026-01-01 2026-04-30 1"), ""},
		"the first of May is in May": {let("active 2026-01-01 2026-05-01 1"), "2026-05-01 -"},
		"the earliest exercised break": {
			let("active 2026-01-01 2026-12-31 1", breakOn("2026-09-30", "both", "exercised"),
				breakOn("2026-07-31", "tenant", "exercised")),
			"2026-07-31 -",
		},
		"a break after the end": {
			let("active 2026-01-01 2026-06-30 1", breakOn("2026-07-31", "tenant", "exercised")), "2026-06-30 -",
		},
		"the earliest open break": {
			let("active 2026-01-01 - 1", breakOn("2026-09-30", "both", "open"), breakOn("2026-07-31", "tenant", "open")),
			"- 2026-07-31",
		},
		"one of the landlord does not": {
			let("active 2026-01-01 - 1", breakOn("2026-07-31", "landlord", "open"), breakOn("2026-09-30", "both", "open")),
			"- 2026-09-30",
		},
		"one that was waived does not": {let("active 2026-01-01 - 1", breakOn("2026-07-31", "tenant", "waived")), "- -"},
		"one in the month itself": {
			let("active 2026-01-01 - 1", breakOn("2026-05-01", "tenant", "open")), "- 2026-05-01",
		},
		"one of last month is over": {let("active 2026-01-01 - 1", breakOn("2026-04-30", "tenant", "open")), "- -"},
		"one on the effective end": {
			let("active 2026-01-01 2026-09-30 1", breakOn("2026-09-30", "tenant", "open")), "2026-09-30 -",
		},
		"one on the day before": {
			let("active 2026-01-01 2026-09-30 1", breakOn("2026-09-29", "tenant", "open")), "2026-09-30 2026-09-29",
		},
		"one after an exercised break": {
			let("active 2026-01-01 - 1", breakOn("2026-08-31", "tenant", "exercised"),
				breakOn("2026-09-30", "tenant", "open")),
			"2026-08-31 -",
		},
		"ended before it began": {let("active 2026-05-16 2026-04-30 1"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			show := func(d events.Opt[calendar.Date]) string {
				if !d.Ok {
					return "-"
				}
				return d.V.String()
			}
			got := ""
			for _, l := range rollOf("2026-05", published(), tc.lease).Leases {
				got = show(l.EffectiveEnd) + " " + show(l.FirstBreak)
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestTotalsOfRents(t *testing.T) {
	for name, tc := range map[string]struct {
		leases []*events.Lease
		want   string // passing, other, forward
	}{
		"all categories": {[]*events.Lease{let("active 2026-01-01 - 100"), let("active 2026-01-01 - 10", category("other")),
			let("active 2026-01-01 - 1", category("mast"))}, "1332 120 1332"},
		"other currencies are listed alone": {[]*events.Lease{let("active 2026-01-01 - 100", inCurrency("CHF"))}, "0 0 0"},
		"twelve months with this one": {
			[]*events.Lease{let("signed 2027-04-01 - 100"), let("signed 2027-05-01 - 100")}, "0 0 100",
		},
		"by days where a lease begins": {[]*events.Lease{let("signed 2027-04-16 - 100")}, "0 0 50"},
		"and where it ends":            {[]*events.Lease{let("active 2026-01-01 2026-05-10 310")}, "3720 0 100"},
		"and where both are in one month": { // 100.32
			[]*events.Lease{let("active 2026-05-11 2026-05-20 311")}, "3732 0 100",
		},
		"rounded for each lease": {
			[]*events.Lease{let("signed 2027-04-16 - 1"), let("signed 2027-04-16 - 1")}, "0 0 2",
		},
		"nothing in rent-free months": {
			[]*events.Lease{let("active 2026-01-01 - 100", free("2026-05-01", "2026-10-31"))}, "0 0 600",
		},
		"steps to come": {
			[]*events.Lease{let("active 2026-01-01 - 100", step("2027-04-01", 200))}, "1200 0 1300",
		},
		"open breaks are not used": {
			[]*events.Lease{let("active 2026-01-01 - 100", breakOn("2026-06-30", "tenant", "open"))}, "1200 0 1200",
		},
		"exercised ones are": {
			[]*events.Lease{let("active 2026-01-01 - 100", breakOn("2026-06-30", "tenant", "exercised"))},
			"1200 0 200",
		},
		"adjustments to come": {
			[]*events.Lease{let("active 2026-01-01 - 100", fixed("1000 2026-11-01 12"))}, "1200 0 1260",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := rollOf("2026-05", published(), tc.leases...)
			if got := fmt.Sprint(r.PassingRentAnnual, r.PassingRentOtherAnnual, r.ForwardRent12m); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// unit is "scope area"; - is none.
func unit(id, text string) analytics.Unit {
	scope, area, _ := strings.Cut(text, " ")
	u := analytics.Unit{ID: id, Unit: events.Unit{ProjectID: "P1", Scope: scope}}
	if area != "-" {
		u.AreaM2 = events.Some(points(area))
	}
	return u
}

func TestAreasAndVacancy(t *testing.T) {
	scheme := []analytics.Unit{unit("a", "scheme 1000.505"), unit("b", "scheme 499.5"), unit("parking", "scheme -"),
		unit("field", "currentUse 3000")}
	show := func(d events.Opt[events.Decimal]) string {
		if !d.Ok {
			return "-"
		}
		return d.V.String()
	}
	for name, tc := range map[string]struct {
		units  []analytics.Unit
		leases []*events.Lease
		want   string // let, total, vacancy
	}{
		"nothing let": {scheme, nil, "0 1500.01 100"}, // 1500.005
		"one of two": {
			scheme, []*events.Lease{let("active 2026-01-01 - 1", units("b"))}, "499.5 1500.01 66.7",
		},
		"each unit once": {
			scheme,
			[]*events.Lease{let("active 2026-01-01 - 1", units("b", "b")), let("active 2026-01-01 - 1", units("b"))},
			"499.5 1500.01 66.7",
		},
		"in another currency": {
			scheme, []*events.Lease{let("active 2026-01-01 - 1", units("b"), inCurrency("CHF"))}, "499.5 1500.01 66.7",
		},
		"not by another category": {
			scheme, []*events.Lease{let("active 2026-01-01 - 1", units("b"), category("other"))}, "0 1500.01 100",
		},
		"not by a lease to come": {scheme, []*events.Lease{let("signed 2026-06-01 - 1", units("b"))}, "0 1500.01 100"},
		"neither parking nor fields": {
			scheme, []*events.Lease{let("active 2026-01-01 - 1", units("parking", "field"))}, "0 1500.01 100",
		},
		"units that nobody has": {scheme, []*events.Lease{let("active 2026-01-01 - 1", units("x"))}, "0 1500.01 100"},
		"all let": {
			scheme, []*events.Lease{let("active 2026-01-01 - 1", units("a", "b"))}, "1500.01 1500.01 0",
		},
		"no units":           {nil, nil, "0 0 -"},
		"units without area": {[]analytics.Unit{unit("a", "scheme 0")}, nil, "0 0 -"},
		"halves away from zero": {
			[]analytics.Unit{unit("a", "scheme 1"), unit("b", "scheme 19999")},
			[]*events.Lease{let("active 2026-01-01 - 1", units("b"))}, "19999 20000 0.01",
		},
		"beyond what can be shown": {[]analytics.Unit{unit("a", "scheme 999999999999999999")}, nil, "0 - 100"},
	} {
		t.Run(name, func(t *testing.T) {
			in := analytics.RentRollInput{Currency: "EUR", Units: tc.units, Indexes: published()}
			for i, l := range tc.leases {
				in.Leases = append(in.Leases, analytics.NewLease(fmt.Sprint(i), l))
			}
			r := analytics.RentRoll(in, month("2026-05"), date("2026-05-12"))
			if got := strings.Join([]string{show(r.LetAreaM2), show(r.TotalAreaM2), show(r.VacancyPct)}, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestWAULT(t *testing.T) {
	for name, tc := range map[string]struct {
		leases []*events.Lease
		want   string // to expiry, to break
	}{
		"nothing":                     {nil, "0 0"},
		"both days included":          {[]*events.Lease{let("active 2026-01-01 2030-04-30 5")}, "4 4"}, // 1,461 days
		"from the start in the month": {[]*events.Lease{let("active 2026-05-16 2030-05-15 5")}, "4 4"}, // 1,461 days
		"to the first break": {
			[]*events.Lease{let("active 2026-01-01 2030-04-30 5", breakOn("2027-04-30", "tenant", "open"))}, "4 1",
		},
		"by contracted rent": {
			[]*events.Lease{let("active 2026-01-01 2030-04-30 3"), let("active 2026-01-01 2027-04-30 1")}, "3.25 3.25",
		},
		"rent-free ones weigh too": {
			[]*events.Lease{
				let("active 2026-01-01 2030-04-30 1", free("2026-05-01", "2026-06-30")),
				let("active 2026-01-01 2027-04-30 1"),
			},
			"2.5 2.5",
		},
		"indefinite, to the break": {
			[]*events.Lease{let("active 2026-01-01 - 5", breakOn("2027-04-30", "tenant", "open"))}, "1 1",
		},
		"indefinite without a break": {
			[]*events.Lease{let("active 2026-01-01 - 500"), let("active 2026-01-01 2030-04-30 1")}, "4 4",
		},
		"tenants of the scheme alone": {
			[]*events.Lease{
				let("active 2026-01-01 2030-04-30 1"), let("active 2026-01-01 2027-04-30 1", category("other")),
			},
			"4 4",
		},
		"one currency alone": {
			[]*events.Lease{
				let("active 2026-01-01 2030-04-30 1"), let("active 2026-01-01 2027-04-30 1", inCurrency("CHF")),
			},
			"4 4",
		},
		"without rent": {[]*events.Lease{let("active 2026-01-01 2030-04-30 0")}, "0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rollOf("2026-05", published(), tc.leases...)
			if got := r.WAULTToExpiryYears.V.String() + " " + r.WAULTToBreakYears.V.String(); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// Rents that no amount can show are not wrapped, and spoil nothing but the totals that they are in.
func TestRentsBeyondAllBounds(t *testing.T) {
	beyond := let("active 2026-01-01 - 9007199254740991", fixed("999999999999999999 2026-01-01 1"), inCurrency("CHF"))
	r := rollOf("2026-05", published(), beyond, let("active 2026-01-01 - 100"))
	if _, err := r.Leases[0].PassingRentAnnual.Amount(); err == nil || r.Leases[0].PassingRentAnnual.Sign() < 0 {
		t.Errorf("shows %s", r.Leases[0].PassingRentAnnual)
	}
	if got := r.PassingRentAnnual.String(); got != "1200" {
		t.Errorf("the other lease pays %s", got)
	}
}

// The segments are what is stored of a lease: the fewest runs of months that answer for every month.
func TestSegmentsOfALease(t *testing.T) {
	show := func(s analytics.RentSegment) string {
		text := fmt.Sprintf("%s..%s %d", s.From, s.To, s.Rent)
		if s.To == analytics.Forever {
			text = fmt.Sprintf("%s.. %d", s.From, s.Rent)
		}
		if s.RentFree {
			text += " free"
		}
		if s.FirstBreak.Ok {
			text += " break " + s.FirstBreak.V.String()
		}
		return text
	}
	for name, tc := range map[string]struct {
		lease *events.Lease
		want  []string
	}{
		"a plain one":       {let("active 2026-01-16 2027-03-10 7"), []string{"2026-01..2027-03 7"}},
		"an indefinite one": {let("draft 2026-01-16 - 7"), []string{"2026-01.. 7"}},
		"steps, rent-free time and breaks": {
			let("active 2026-01-16 2027-03-10 7", step("2026-06-01", 8), step("2026-06-01", 9), free("2026-02-10", "2026-03-31"),
				breakOn("2026-09-15", "tenant", "open"), breakOn("2026-10-31", "both", "open"),
				breakOn("2027-02-15", "tenant", "waived")),
			[]string{"2026-01..2026-02 7 break 2026-09-15", "2026-03..2026-03 7 free break 2026-09-15",
				"2026-04..2026-05 7 break 2026-09-15", "2026-06..2026-09 9 break 2026-09-15", "2026-10..2026-10 9 break 2026-10-31",
				"2026-11..2027-03 9"},
		},
		"what changes nothing": {let("active 2026-01-01 - 7", step("2020-01-01", 7), step("2026-05-01", 7),
			step("2026-05-02", 8), step("2026-06-01", 7)),
			[]string{"2026-01.. 7"}},
		"what lies behind its end": {
			let("active 2026-01-01 2026-03-31 7", step("2026-04-01", 8)), []string{"2026-01..2026-03 7"},
		},
		"one that ends before it begins": {let("active 2026-05-16 2026-04-30 7"), nil},
		"thousands of steps": {func() *events.Lease {
			l := let("active 1900-01-01 - 1")
			for i := range 100_000 {
				step(fmt.Sprintf("2000-01-%02d", 2+i%30), int64(100_000-i))(l)
			}
			return l
		}(), []string{"1900-01..2000-01 1", "2000-02.. 11"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range analytics.NewLease("L", tc.lease).Segments {
				got = append(got, show(s))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q\nwant\n%q", got, tc.want)
			}
		})
	}
}

func TestRentsIndexedQuicklyAreExact(t *testing.T) {
	parts := rapid.OneOf(rapid.Int64Range(1, 40), rapid.Int64Range(1, 20_000), rapid.Int64Range(1, math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		power := big.NewInt(rapid.Int64Range(1, 60).Draw(t, "power"))
		num := new(big.Int).Exp(big.NewInt(parts.Draw(t, "num")), power, nil)
		den := new(big.Int).Exp(big.NewInt(parts.Draw(t, "den")), power, nil)
		rent := rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(0, analytics.MaxAmount), rapid.Int64()).Draw(t, "rent")
		indexed, sure := analytics.QuickIndexed(num, den, rent)
		exact := analytics.HalfAway(new(big.Int).Mul(num, big.NewInt(rent)), den)
		if sure && indexed.Big().Cmp(exact) != 0 {
			t.Fatalf("%d times %s / %s is %s, not %s", rent, num, den, exact, indexed)
		}
	})
	if indexed, sure := analytics.QuickIndexed(big.NewInt(10_200), big.NewInt(10_000), 123_456); !sure || indexed != analytics.Int(125_925) {
		t.Errorf("an ordinary rent is %s, sure: %v", indexed, sure)
	}
	if indexed, sure := analytics.QuickIndexed(big.NewInt(1), big.NewInt(10), 5); sure && indexed != analytics.Int(1) {
		t.Errorf("an exact half is surely %s", indexed)
	}
}
