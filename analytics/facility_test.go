package analytics_test

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// loan is a term loan of 1,000,000.00 from 1 January to 31 December 2026 at a margin of 200, without a floor, whose
// interest is paid every three months from 1 April on.
func loan(change ...func(*events.Facility)) *analytics.Facility {
	f := &analytics.Facility{ID: "F", Facility: events.Facility{
		ProjectIDs: []string{"P1"}, Currency: "EUR", Commitment: 100_000_000, DayCount: "ACT/360",
		Availability: events.DateRange{From: date("2026-01-01"), To: date("2026-06-30")}, Maturity: date("2026-12-31"),
		Pricing:  events.Pricing{ReferenceRate: "EURIBOR-3M", MarginBp: points("200")},
		FirstIpd: events.Some(date("2026-04-01")), IpdEveryMonths: events.Some(3),
	}}
	for _, c := range change {
		c(&f.Facility)
	}
	return f
}

func revolving(f *events.Facility) { f.Revolving = true }

func counted(name string) func(*events.Facility) {
	return func(f *events.Facility) { f.DayCount = name }
}

// term is "from maturity", without payment dates.
func term(text string) func(*events.Facility) {
	from, to, _ := strings.Cut(text, " ")
	return func(f *events.Facility) {
		f.Availability.From, f.Maturity = date(from), date(to)
		f.FirstIpd, f.IpdEveryMonths = events.Opt[calendar.Date]{}, events.Opt[int]{}
	}
}

// paying is "first every", or "first" alone.
func paying(text string) func(*events.Facility) {
	words := strings.Fields(text)
	return func(f *events.Facility) {
		f.FirstIpd, f.IpdEveryMonths = events.Some(date(words[0])), events.Opt[int]{}
		if len(words) > 1 {
			f.IpdEveryMonths.Ok = true
			fmt.Sscan(words[1], &f.IpdEveryMonths.V)
		}
	}
}

func payingOn(dates ...string) func(*events.Facility) {
	return func(f *events.Facility) {
		f.Ipds = events.Some([]calendar.Date{})
		for _, d := range dates {
			f.Ipds.V = append(f.Ipds.V, date(d))
		}
	}
}

func floor(bp, on string) func(*events.Facility) {
	return func(f *events.Facility) {
		f.Pricing.FloorBp = events.Some(points(bp))
		f.Pricing.FloorOn = events.Opt[string]{V: on, Ok: on != ""}
	}
}

func marginFrom(at, bp string) func(*events.Facility) {
	return func(f *events.Facility) {
		f.Pricing.MarginSteps = append(f.Pricing.MarginSteps, events.MarginStep{From: date(at), MarginBp: points(bp)})
	}
}

func fixedRate(bp string) func(*events.Facility) {
	return func(f *events.Facility) { f.Pricing.FixedRateBp = events.Some(points(bp)) }
}

func feeOf(bp string) func(*events.Facility) {
	return func(f *events.Facility) { f.CommitmentFeeBp = points(bp) }
}

// entriesFrom reads "kind status date value".
func entriesFrom(texts ...string) []analytics.FacilityEntry {
	var all []analytics.FacilityEntry
	for i, text := range texts {
		words := strings.Fields(text)
		e := analytics.FacilityEntry{ID: fmt.Sprint("e", i), FacilityEntry: events.FacilityEntry{FacilityID: "F",
			Kind: words[0], Status: words[1], Date: date(words[2])}}
		fmt.Sscan(words[3], &e.Value)
		all = append(all, e)
	}
	return all
}

// fixingsFrom reads "date bp".
func fixingsFrom(texts ...string) []analytics.Fixing {
	var all []analytics.Fixing
	for i, text := range texts {
		at, bp, _ := strings.Cut(text, " ")
		all = append(all, analytics.Fixing{ID: fmt.Sprint("x", i),
			Fixing: events.Fixing{FacilityID: "F", PeriodStart: date(at), ReferenceBp: points(bp)}})
	}
	return all
}

func TestFacilityPosition(t *testing.T) {
	entry := func(kind, status string, value int64) analytics.EntrySum {
		return analytics.EntrySum{Kind: kind, Status: status, Value: analytics.Int(value)}
	}
	draw, interest, repay := entry("drawdown", "funded", 60), entry("interest", "funded", 5), entry("repayment", "funded", 20)
	hundred := func(f *events.Facility) { f.Commitment = 100 }
	for name, tc := range map[string]struct {
		loan    *analytics.Facility
		entries []analytics.EntrySum
		want    string // drawn, requested, available
	}{
		"nothing drawn":              {loan(hundred), nil, "0 0 100"},
		"drawn, capitalised, repaid": {loan(hundred), []analytics.EntrySum{draw, interest, repay}, "45 0 35"},
		"repaid money is drawn again": {
			loan(hundred, revolving), []analytics.EntrySum{draw, interest, repay}, "45 0 55",
		},
		"requested money is not free": {
			loan(hundred), []analytics.EntrySum{draw, entry("drawdown", "requested", 15)}, "60 15 25",
		},
		"requested repayments do not count": {
			loan(hundred), []analytics.EntrySum{entry("repayment", "requested", 15)}, "0 0 100",
		},
		"planned ones do not count": {
			loan(hundred), []analytics.EntrySum{entry("drawdown", "planned", 15)}, "0 0 100",
		},
		"several rows add up": {loan(hundred), []analytics.EntrySum{draw, draw}, "120 0 -20"},
		"what no rule names does not": {
			loan(hundred), []analytics.EntrySum{entry("fee", "funded", 5), entry("drawdown", "void", 5)}, "0 0 100",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := tc.loan.Position(tc.entries)
			if got := fmt.Sprint(p.Drawn, p.Requested, p.Available); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestLoanToCost(t *testing.T) {
	cost := func(currency string, eac int64) analytics.ProjectCost {
		return analytics.ProjectCost{Currency: currency, EAC: analytics.Int(eac)}
	}
	for name, tc := range map[string]struct {
		costs []analytics.ProjectCost
		want  string
	}{
		"of one project":        {[]analytics.ProjectCost{cost("EUR", 160_000_000)}, "6250"},
		"of several":            {[]analytics.ProjectCost{cost("EUR", 160_000_000), cost("EUR", 140_000_000)}, "3333"},
		"halves away from zero": {[]analytics.ProjectCost{cost("EUR", 800_000_000_000)}, "1"}, // 1.25
		"a half":                {[]analytics.ProjectCost{cost("EUR", 400_000_000_000)}, "3"}, // 2.5
		"another currency":      {[]analytics.ProjectCost{cost("EUR", 160_000_000), cost("CHF", 1)}, "none"},
		"no cost":               {[]analytics.ProjectCost{cost("EUR", 0)}, "none"},
		"a negative cost":       {[]analytics.ProjectCost{cost("EUR", -5)}, "none"},
		"no project":            {nil, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			got := "none"
			if bp := loan().LTCBp(tc.costs); bp.Ok {
				got = fmt.Sprint(bp.V)
			}
			if got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestTheCostOfAProjectIsThatOfItsTopLines(t *testing.T) {
	in := analytics.BudgetInput{Currency: "EUR", Structure: structureOf(tree("a -", "a1 a", "a11 a1", "b -")),
		Budget: []analytics.BudgetSum{budgetOn("a11", 7), budgetOn("a", 10), budgetOn("b", 100),
			{NodeID: "b", Currency: "CHF", Amount: analytics.Int(1)}},
		Claims: []analytics.ClaimSum{{NodeID: "b", Currency: "EUR", Pending: analytics.Int(3)},
			{NodeID: "b", Currency: "CHF", Pending: analytics.Int(1)},
			{NodeID: "gone", Currency: "EUR", Pending: analytics.Int(1)}}}
	if got := analytics.EstimateAtCompletion(in).String(); got != "120" {
		t.Errorf("%s", got)
	}
}

func TestInterestPeriods(t *testing.T) {
	for name, tc := range map[string]struct {
		loan *analytics.Facility
		to   string
		want string // the days on which they begin, and maturity
	}{
		"every three months": {loan(), "", "01-01 04-01 07-01 10-01 12-31"},
		"one date alone":     {loan(paying("2026-04-01")), "", "01-01 04-01 12-31"},
		"none":               {loan(term("2026-01-01 2026-12-31")), "", "01-01 12-31"},
		"a 31st in each month": {loan(paying("2026-01-31 1")), "2026-06-30",
			"01-01 01-31 02-28 03-31 04-30 05-31 06-30"},
		"counted from the first, though it lies before": {
			loan(paying("2025-11-30 3")), "", "01-01 02-28 05-30 08-30 11-30 12-31",
		},
		"as listed, in any order, each once": {loan(payingOn("2026-09-30", "2026-03-31", "2026-09-30")), "",
			"01-01 03-31 09-30 12-31"},
		"listed ones outside the term": {
			loan(payingOn("2025-12-31", "2026-01-01", "2026-12-31", "2027-01-01")), "", "01-01 12-31",
		},
		"an empty list is none":        {loan(payingOn()), "", "01-01 04-01 07-01 10-01 12-31"},
		"only those that begin before": {loan(), "2026-07-01", "01-01 04-01 07-01"},
		"whole ones":                   {loan(), "2026-07-02", "01-01 04-01 07-01 10-01"},
		"none begins before the first": {loan(), "2026-01-01", ""},
		"no more than there are":       {loan(), "2030-01-01", "01-01 04-01 07-01 10-01 12-31"},
	} {
		t.Run(name, func(t *testing.T) {
			request := analytics.ScheduleRequest{}
			if tc.to != "" {
				request.To = events.Some(date(tc.to))
			}
			var got []string
			periods := tc.loan.Schedule(nil, nil, request)
			for _, p := range periods {
				got = append(got, p.Start.String()[5:])
			}
			if len(periods) > 0 {
				got = append(got, periods[len(periods)-1].End.String()[5:])
			}
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestTheNextInterestPaymentDate(t *testing.T) {
	for today, want := range map[string]string{
		"2025-01-01": "2026-04-01", "2026-04-01": "2026-04-01", "2026-04-02": "2026-07-01", "2026-12-31": "2026-12-31",
		"2027-01-01": "none",
	} {
		got := "none"
		if d := loan().NextIPD(date(today)); d.Ok {
			got = d.V.String()
		}
		if got != want {
			t.Errorf("from %s on: %s, want %s", today, got, want)
		}
	}
}

func TestScheduleBalances(t *testing.T) {
	const today = "2026-05-12"
	all := []string{"drawdown funded 2026-01-01 100", "drawdown funded 2026-04-01 50", "repayment funded 2026-06-30 30",
		"interest funded 2026-07-01 7", "drawdown requested 2026-02-01 1000", "drawdown planned 2026-08-01 2000",
		"repayment planned 2026-09-01 400", "interest planned 2026-09-01 5", "fee funded 2026-01-01 9",
		"drawdown void 2026-01-01 9"}
	for name, tc := range map[string]struct {
		planned bool
		entries []string
		want    string // the balances at the ends
		opening string
	}{
		"a movement on a boundary belongs to the next period": {false, all, "100 120 127 127", "0"},
		"planned ones, those of the past today":               {true, all, "100 1120 2727 2727", "0"},
		"before the first period": {
			false, []string{"drawdown funded 2025-12-31 5"}, "5 5 5 5", "5",
		},
		"at maturity it is over": {
			false, []string{"repayment funded 2026-12-31 5"}, "0 0 0 0", "0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			periods := loan().Schedule(entriesFrom(tc.entries...), nil,
				analytics.ScheduleRequest{Today: date(today), IncludePlanned: tc.planned})
			var got []string
			for _, p := range periods {
				got = append(got, p.Balance.String())
			}
			if got := strings.Join(got, " "); got != tc.want || periods[0].OpeningBalance.String() != tc.opening {
				t.Errorf("%s from %s, want %s from %s", got, periods[0].OpeningBalance, tc.want, tc.opening)
			}
		})
	}
}

func rates(p analytics.FacilityPeriod) string {
	show := func(d events.Opt[events.Decimal]) string {
		if !d.Ok {
			return "-"
		}
		return d.V.String()
	}
	text := fmt.Sprintf("%s+%s=%s", show(p.ReferenceBp), show(p.MarginBp), show(p.RateBp))
	for _, c := range p.RateChanges {
		text += fmt.Sprintf(" %s:%s=%s", c.From.String()[5:], show(c.MarginBp), show(c.RateBp))
	}
	if p.Projected {
		text += " projected"
	}
	return text
}

func TestScheduleRates(t *testing.T) {
	firstApril := []string{"2026-04-01 -50.5"}
	for name, tc := range map[string]struct {
		loan    *analytics.Facility
		fixings []string
		want    string // of the period from April to July
	}{
		"a negative reference lowers the margin": {loan(), firstApril, "-50.5+200=149.5"},
		"a floor on the reference":               {loan(floor("0", "reference")), firstApril, "-50.5+200=200"},
		"that is where a floor is":               {loan(floor("0", "")), firstApril, "-50.5+200=200"},
		"a floor below the reference":            {loan(floor("-60", "reference")), firstApril, "-50.5+200=149.5"},
		"a floor on the whole":                   {loan(floor("150", "allIn")), firstApril, "-50.5+200=150"},
		"a lower floor on the whole":             {loan(floor("149", "allIn")), firstApril, "-50.5+200=149.5"},
		"a floor on what nobody knows":           {loan(floor("500", "moon")), firstApril, "-50.5+200=149.5"},
		"all three decimals":                     {loan(), []string{"2026-04-01 0.125"}, "0.125+200=200.125"},
		"the rate is fixed: nothing else counts": {loan(fixedRate("345.5"), floor("400", "allIn"), marginFrom("2026-05-01", "9")),
			firstApril, "-+-=345.5"},
		"not fixed yet: as the period before": {loan(), []string{"2026-01-01 10"}, "10+200=210 projected"},
		"as the latest before, whatever it is": {
			loan(), []string{"2025-06-06 10", "2026-02-02 20"}, "20+200=220 projected",
		},
		"never as a later one":       {loan(), []string{"2026-07-01 10"}, "-+200=- projected"},
		"no fixing at all":           {loan(), nil, "-+200=- projected"},
		"of several the greatest id": {loan(), []string{"2026-04-01 10", "2026-04-01 30"}, "30+200=230"},
		"a step before the period":   {loan(marginFrom("2026-03-31", "250")), firstApril, "-50.5+250=199.5"},
		"a step on its first day":    {loan(marginFrom("2026-04-01", "250")), firstApril, "-50.5+250=199.5"},
		"steps within it": {loan(marginFrom("2026-06-30", "300"), marginFrom("2026-04-02", "250")), firstApril,
			"-50.5+200=149.5 04-02:250=199.5 06-30:300=249.5"},
		"a step on the first day of the next": {loan(marginFrom("2026-07-01", "300")), firstApril, "-50.5+200=149.5"},
		"a step that the floor hides": {loan(floor("500", "allIn"), marginFrom("2026-05-01", "300")), firstApril,
			"-50.5+200=500 05-01:300=500"},
		"of several steps on a day the last": {loan(marginFrom("2026-05-01", "1"), marginFrom("2026-05-01", "300")), firstApril,
			"-50.5+200=149.5 05-01:300=249.5"},
		"a step without a reference": {loan(marginFrom("2026-05-01", "300")), nil, "-+200=- 05-01:300=- projected"},
	} {
		t.Run(name, func(t *testing.T) {
			periods := tc.loan.Schedule(nil, fixingsFrom(tc.fixings...), analytics.ScheduleRequest{})
			if got := rates(periods[1]); got != tc.want {
				t.Errorf("%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// One period each, at a rate of 360 unless another is named: a day of 1,000,000 is 100 in a year of 360 days.
func TestScheduleInterestAndFee(t *testing.T) {
	const drawn = "drawdown funded 2026-01-01 1000000"
	at360 := fixedRate("360")
	for name, tc := range map[string]struct {
		loan    *analytics.Facility
		entries []string
		want    string // days, interest, fee
	}{
		"actual days": {loan(term("2026-01-01 2026-03-01"), at360), []string{drawn}, "59 5900 0"},
		"a leap year has a day more": {
			loan(term("2028-01-01 2028-03-01"), at360), []string{"drawdown funded 2028-01-01 1000000"}, "60 6000 0",
		},
		"in a year of 365": {
			loan(term("2026-01-01 2027-01-01"), at360, counted("ACT/365")), []string{drawn}, "365 36000 0",
		},
		"in leap years too": {
			loan(term("2028-01-01 2029-01-01"), at360, counted("ACT/365")),
			[]string{"drawdown funded 2028-01-01 1000000"}, "366 36099 0",
		},
		"months of 30 days": {
			loan(term("2026-01-01 2027-01-01"), at360, counted("30/360")), []string{drawn}, "360 36000 0",
		},
		"a 31st is a 30th at the start": {
			loan(term("2026-01-31 2026-03-01"), at360, counted("30/360")), []string{drawn}, "31 3100 0",
		},
		"and at the end": {
			loan(term("2026-01-30 2026-03-31"), at360, counted("30/360")), []string{drawn}, "60 6000 0",
		},
		"February's end is no 30th": {
			loan(term("2026-01-30 2026-02-28"), at360, counted("30/360")), []string{drawn}, "28 2800 0",
		},
		"pieces around a movement": {
			loan(term("2026-01-01 2026-02-01"), at360), []string{drawn, "repayment funded 2026-01-11 500000"},
			"31 2050 0",
		},
		"rounded once for the period": { // 0.8 + 1.0
			loan(term("2026-01-01 2026-01-05"), at360),
			[]string{"drawdown funded 2026-01-01 4000", "drawdown funded 2026-01-03 1000"}, "4 2 0",
		},
		"halves away from zero": { // 0.5
			loan(term("2026-01-01 2026-01-06"), at360), []string{"drawdown funded 2026-01-01 1000"}, "5 1 0",
		},
		"a negative rate": {
			loan(term("2026-01-01 2026-01-06"), fixedRate("-360")), []string{"drawdown funded 2026-01-01 1000"},
			"5 -1 0",
		},
		"no rate, no balance": {loan(term("2026-01-01 2026-03-01")), nil, "59 0 0"},
		"no rate for a balance": {
			loan(term("2026-01-01 2026-03-01")), []string{"drawdown funded 2026-02-28 1"}, "59 null 0",
		},
		"a fee on what is not drawn": { // 30 days of 1,000,000.00, 29 of half
			loan(term("2026-01-01 2026-03-01"), at360, feeOf("36")), []string{"drawdown funded 2026-01-31 50000000"},
			"59 145000 44500",
		},
		"no fee after the availability": {loan(term("2026-06-01 2026-08-01"), at360, feeOf("36")), nil, "61 0 30000"},
		"with its last day":             {loan(term("2026-06-30 2026-08-01"), at360, feeOf("36")), nil, "32 0 1000"},
		"no fee on more than committed": {
			loan(term("2026-01-01 2026-03-01"), at360, feeOf("36")), []string{"drawdown funded 2026-01-01 200000000"},
			"59 1180000 0",
		},
		"repaid: not free on a loan": {
			loan(term("2026-01-01 2026-03-01"), fixedRate("0"), feeOf("36")),
			[]string{"drawdown funded 2026-01-01 100000000", "repayment funded 2026-01-31 100000000"}, "59 0 0",
		},
		"but on a revolving one": {
			loan(term("2026-01-01 2026-03-01"), fixedRate("0"), feeOf("36"), revolving),
			[]string{"drawdown funded 2026-01-01 100000000", "repayment funded 2026-01-31 100000000"}, "59 0 29000",
		},
		"requested money costs the fee": {
			loan(term("2026-01-01 2026-03-01"), at360, feeOf("36")),
			[]string{"drawdown requested 2026-01-01 100000000"}, "59 0 59000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			periods := tc.loan.Schedule(entriesFrom(tc.entries...), nil, analytics.ScheduleRequest{})
			if len(periods) != 1 {
				t.Fatalf("%d periods", len(periods))
			}
			p := periods[0]
			interest := "null"
			if p.Interest.Ok {
				interest = p.Interest.V.String()
			}
			if got := fmt.Sprint(p.Days, " ", interest, " ", p.CommitmentFee); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// With a margin of 180, then 230 from 16 May on, and a floor of 200 on the whole: 45 days at 200 and 46 at 245.5.
func TestAMarginStepWithinAPeriod(t *testing.T) {
	f := loan(paying("2026-07-01"), term("2026-04-01 2026-07-01"), floor("200", "allIn"), marginFrom("2026-05-16", "230"))
	f.Pricing.MarginBp = points("180")
	p := f.Schedule(entriesFrom("drawdown funded 2026-04-01 150000000"), fixingsFrom("2026-04-01 15.5"),
		analytics.ScheduleRequest{})[0]
	if got := p.Interest.V.String(); got != "845542" { // 375,000 + 470,541.67
		t.Errorf("interest %s", got)
	}
}

func TestScheduleAmountsNearTheLimit(t *testing.T) {
	p := loan(term("2026-01-01 2299-12-31"), fixedRate("999999999999999999")).Schedule(
		entriesFrom("drawdown funded 2026-01-01 9007199254740991"), nil, analytics.ScheduleRequest{})[0]
	if _, err := p.Interest.V.Amount(); err == nil || p.Interest.V.Sign() < 0 {
		t.Errorf("interest %s", p.Interest.V)
	}
}

func TestMarginStepsAreShownByDateWithTheirDefault(t *testing.T) {
	f := loan(marginFrom("2026-06-30", "300"), marginFrom("2026-04-02", "250"))
	if steps := f.MarginSteps(); f.FloorOn() != "reference" || steps[0].From != date("2026-04-02") || len(steps) != 2 {
		t.Errorf("%s %v", f.FloorOn(), steps)
	}
}
