package analytics_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// The schedule of a facility once more, in the plainest way: every single day from its own balance and rate, with
// fractions.

type naiveFacility struct {
	*ledger
	id string
	*events.Facility
	request analytics.ScheduleRequest
}

// movements are the entries that count, with their days.
func (f naiveFacility) moved(until calendar.Date, count func(e *events.FacilityEntry) int64) *big.Int {
	sum := new(big.Int)
	for _, e := range f.movements {
		on := e.Date
		counts := e.Status == "funded"
		if f.request.IncludePlanned && (e.Status == "requested" || e.Status == "planned") && e.Kind != "interest" {
			counts, on = true, max(e.Date, f.request.Today)
		}
		if e.FacilityID == f.id && counts && on < until {
			sum = plus(sum, big.NewInt(count(e)))
		}
	}
	return sum
}

func (f naiveFacility) balance(until calendar.Date) *big.Int {
	return f.moved(until, func(e *events.FacilityEntry) int64 {
		return map[string]int64{"drawdown": e.Value, "interest": e.Value, "repayment": -e.Value}[e.Kind]
	})
}

func (f naiveFacility) undrawn(until calendar.Date) *big.Int {
	used := f.balance(until)
	if !f.Revolving {
		used = f.moved(until, func(e *events.FacilityEntry) int64 {
			return map[string]int64{"drawdown": e.Value, "interest": e.Value}[e.Kind]
		})
	}
	return positive(minus(big.NewInt(f.Commitment), used))
}

func (f naiveFacility) pays(d calendar.Date) bool {
	if f.Ipds.Ok && len(f.Ipds.V) > 0 {
		return slices.Contains(f.Ipds.V, d)
	}
	if !f.FirstIpd.Ok || !f.IpdEveryMonths.Ok {
		return f.FirstIpd.Ok && d == f.FirstIpd.V
	}
	for k := 0; clipped(f.FirstIpd.V, k*f.IpdEveryMonths.V) <= d; k++ {
		if clipped(f.FirstIpd.V, k*f.IpdEveryMonths.V) == d {
			return true
		}
	}
	return false
}

// days counts by the words of the rules: of 30E/360, by year, month and day.
func (f naiveFacility) days(from, until calendar.Date) int64 {
	if f.DayCount != "30/360" {
		return int64(until - from)
	}
	v := func(d calendar.Date) int64 {
		t := civil(d)
		return int64(360*t.Year() + 30*int(t.Month()) + min(t.Day(), 30))
	}
	return v(until) - v(from)
}

func (f naiveFacility) margin(d calendar.Date) events.Decimal {
	margin, from := f.Pricing.MarginBp, calendar.MinDate-1
	for _, s := range f.Pricing.MarginSteps {
		if s.From <= d && s.From >= from {
			margin, from = s.MarginBp, s.From
		}
	}
	return margin
}

// reference is the fixing of the period that begins on a day, or the latest before it.
func (f naiveFacility) reference(start calendar.Date) (bp *big.Rat, fixed bool) {
	latest, greatest := calendar.MinDate-1, ""
	for id, fixing := range f.fixings {
		if fixing.FacilityID == f.id && fixing.PeriodStart <= start &&
			(fixing.PeriodStart > latest || fixing.PeriodStart == latest && id > greatest) {
			latest, greatest = fixing.PeriodStart, id
			bp = rat(fixing.ReferenceBp)
		}
	}
	return bp, latest == start
}

func (f naiveFacility) rate(reference *big.Rat, d calendar.Date) *big.Rat {
	if f.Pricing.FixedRateBp.Ok {
		return rat(f.Pricing.FixedRateBp.V)
	}
	if reference == nil {
		return nil
	}
	margin := rat(f.margin(d))
	sum := new(big.Rat).Add(reference, margin)
	if !f.Pricing.FloorBp.Ok {
		return sum
	}
	floor := rat(f.Pricing.FloorBp.V)
	if f.Pricing.FloorOn.Ok && f.Pricing.FloorOn.V == "allIn" {
		if sum.Cmp(floor) < 0 {
			return floor
		}
		return sum
	}
	if reference.Cmp(floor) < 0 {
		return new(big.Rat).Add(floor, margin)
	}
	return sum
}

func (f naiveFacility) schedule() any {
	periods := []any{}
	for start := f.Availability.From; start < f.Maturity && (!f.request.To.Ok || start < f.request.To.V); {
		end := start + 1
		for end < f.Maturity && !f.pays(end) {
			end++
		}
		periods = append(periods, f.period(start, end))
		start = end
	}
	return object{"periods": periods}
}

func (f naiveFacility) period(start, end calendar.Date) any {
	reference, fixed := f.reference(start)
	bpText := func(r *big.Rat) any {
		if r == nil {
			return nil
		}
		return json.Number(strings.TrimSuffix(strings.TrimRight(r.FloatString(3), "0"), "."))
	}
	year := int64(360)
	if f.DayCount == "ACT/365" {
		year = 365
	}
	part := func(value *big.Int, bp *big.Rat, days int64) *big.Rat {
		part := new(big.Rat).Mul(new(big.Rat).SetInt(value), bp)
		return part.Mul(part, big.NewRat(days, 10_000*year))
	}
	interest, fee, known, changes := new(big.Rat), new(big.Rat), true, []any{}
	for d := start; d < end; d++ {
		n, balance, rate := f.days(d, d+1), f.balance(d+1), f.rate(reference, d)
		if rate != nil {
			interest.Add(interest, part(balance, rate, n))
		} else {
			known = known && balance.Sign() == 0
		}
		if f.Availability.From <= d && d <= f.Availability.To {
			fee.Add(fee, part(f.undrawn(d+1), rat(f.CommitmentFeeBp), n))
		}
		stepped := slices.ContainsFunc(f.Pricing.MarginSteps, func(s events.MarginStep) bool { return s.From == d })
		if d > start && stepped && !f.Pricing.FixedRateBp.Ok {
			changes = append(changes, object{"from": d.String(), "marginBp": bpText(rat(f.margin(d))), "rateBp": bpText(rate)})
		}
	}
	amount := func(v *big.Int) any { return object{"value": json.Number(v.String()), "currency": f.Currency} }
	p := object{"start": start.String(), "end": end.String(), "days": f.days(start, end),
		"rateBp": bpText(f.rate(reference, start)), "rateChanges": changes, "openingBalance": amount(f.balance(start)), "balance": amount(f.balance(end)),
		"interest": nil, "commitmentFee": amount(away(fee)), "projected": false, "referenceBp": nil, "marginBp": nil}
	if known {
		p["interest"] = amount(away(interest))
	}
	if !f.Pricing.FixedRateBp.Ok {
		p["projected"], p["referenceBp"], p["marginBp"] = !fixed, bpText(reference), bpText(rat(f.margin(start)))
	}
	return p
}

// loans makes up a facility F with movements and fixings, and others beside it.
func loans() *rapid.Generator[*ledger] {
	return rapid.Custom(func(t *rapid.T) *ledger {
		d := &drawLedger{t: t}
		l := &ledger{projects: map[string]*events.Project{"P1": {Currency: "EUR"}}}
		l.facilities = map[string]*events.Facility{"F": d.facility()}
		id := func() string { return d.pick("facility", "F", "F", "F", "G") }
		l.movements = many(d, "e", 8, func() *events.FacilityEntry {
			return &events.FacilityEntry{FacilityID: id(),
				Kind:   d.pick("kind", "drawdown", "drawdown", "interest", "repayment", "fee"),
				Status: d.pick("status", "funded", "funded", "requested", "planned", "void"), Date: d.day("date"),
				Value: rapid.Int64Range(1, 5_000_000).Draw(t, "value")}
		})
		starts := []calendar.Date{d.day("fixed")}
		for _, p := range l.facility("F").Schedule(nil, nil, analytics.ScheduleRequest{}) {
			starts = append(starts, p.Start)
		}
		l.fixings = many(d, "x", 5, func() *events.Fixing {
			return &events.Fixing{FacilityID: id(), PeriodStart: rapid.SampledFrom(starts).Draw(t, "start"),
				ReferenceBp: d.points("reference", -999, 999)}
		})
		return l
	})
}

func (d *drawLedger) points(label string, from, to int64) events.Decimal {
	v := events.Decimal{Units: rapid.Int64Range(from, to).Draw(d.t, label),
		Scale: uint8(rapid.IntRange(0, 3).Draw(d.t, "decimals"))}
	for v.Scale > 0 && v.Units%10 == 0 {
		v.Units, v.Scale = v.Units/10, v.Scale-1
	}
	return v
}

func (d *drawLedger) facility() *events.Facility {
	f := &events.Facility{ProjectIDs: []string{"P1"}, Currency: "EUR",
		Commitment: rapid.Int64Range(-10, 20_000_000).Draw(d.t, "commitment"),
		Revolving:  rapid.Bool().Draw(d.t, "revolving"), DayCount: d.pick("days", "ACT/360", "ACT/365", "30/360"),
		Availability: events.DateRange{From: d.day("from"), To: d.day("to")}, CommitmentFeeBp: d.points("fee", 0, 200)}
	f.Maturity = max(f.Availability.From+1, d.day("maturity"))
	f.Pricing.MarginBp = d.points("margin", 0, 400)
	for range rapid.IntRange(0, 4).Draw(d.t, "steps") {
		f.Pricing.MarginSteps = append(f.Pricing.MarginSteps,
			events.MarginStep{From: d.day("step"), MarginBp: d.points("margin", -50, 400)})
	}
	if rapid.Bool().Draw(d.t, "floored") {
		f.Pricing.FloorBp = events.Some(d.points("floor", -100, 300))
		f.Pricing.FloorOn = events.Opt[string]{V: d.pick("on", "reference", "allIn"), Ok: rapid.Bool().Draw(d.t, "on given")}
	}
	if rapid.IntRange(0, 4).Draw(d.t, "fixed rate") == 0 {
		f.Pricing.FixedRateBp = events.Some(d.points("fixed", 0, 900))
	}
	switch d.pick("payment dates", "none", "listed", "first", "every", "every") {
	case "listed":
		f.Ipds = events.Some([]calendar.Date{})
		for range rapid.IntRange(0, 5).Draw(d.t, "dates") {
			f.Ipds.V = append(f.Ipds.V, d.day("paid on"))
		}
	case "first":
		f.FirstIpd = events.Some(d.day("first"))
	case "every":
		f.FirstIpd, f.IpdEveryMonths = events.Some(d.day("first")), events.Some(rapid.IntRange(1, 6).Draw(d.t, "every"))
	}
	return f
}

func (d *drawLedger) request() analytics.ScheduleRequest {
	return analytics.ScheduleRequest{Today: d.day("today"), IncludePlanned: rapid.Bool().Draw(d.t, "planned"),
		To: events.Opt[calendar.Date]{V: d.day("until"), Ok: rapid.IntRange(0, 2).Draw(d.t, "cut") == 0}}
}

func TestSchedulesAgreeWithTheNaiveRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := loans().Draw(t, "ledger")
		request := (&drawLedger{t: t}).request()
		want := decoded(t, naiveFacility{l, "F", l.facilities["F"], request}.schedule())
		f := l.facility("F")
		got := decoded(t, shownSchedule(f, f.Schedule(l.entriesOf("F"), l.fixingsOf("F"), request)))
		if d := differences(want, got, "$", ""); len(d) > 0 {
			encoded, _ := json.Marshal([]any{l.facilities, l.movements, l.fixings, request})
			t.Fatalf("%s\n%s", strings.Join(d, "\n"), encoded)
		}
	})
}

func TestPeriodsTileTheTerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := loans().Draw(t, "ledger")
		f, next, days := l.facility("F"), l.facilities["F"].Availability.From, 0
		periods := f.Schedule(nil, nil, analytics.ScheduleRequest{})
		for i, p := range periods {
			if p.Start != next || p.End <= p.Start {
				t.Fatalf("period %d goes from %s to %s, want it from %s", i, p.Start, p.End, next)
			}
			next, days = p.End, days+p.Days
		}
		if next != f.Maturity {
			t.Fatalf("the periods end on %s, not at maturity %s", next, f.Maturity)
		}
		if whole := int(naiveFacility{Facility: &f.Facility}.days(f.Availability.From, f.Maturity)); days != whole {
			t.Fatalf("the periods have %d days, the term %d", days, whole)
		}
		for _, d := range []calendar.Date{f.Availability.From, f.Maturity - 1, f.Maturity, f.Maturity + 1} {
			got, want := f.NextIPD(d), events.Opt[calendar.Date]{}
			for _, p := range slices.Backward(periods) {
				if p.End >= d {
					want = events.Some(p.End)
				}
			}
			if got != want {
				t.Fatalf("the next payment date from %s on is %v, want %v", d, got, want)
			}
		}
	})
}

// Amounts are multiples of what interest is divided by, so nothing is rounded: then it is the same, to the cent, however
// the term is cut into periods.
func TestInterestOfASplitPeriodIsThatOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := loans().Draw(t, "ledger")
		const whole = 10_000 * 1_000 * 360 * 73 // of both years, and all decimals of the rates
		for _, e := range l.movements {
			e.Value *= whole
		}
		l.facilities["F"].Commitment *= whole
		l.fixings = nil
		if rapid.Bool().Draw(t, "fixed") {
			l.fixings = map[string]*events.Fixing{"x": {FacilityID: "F", ReferenceBp: events.Decimal{Units: 55, Scale: 1},
				PeriodStart: l.facilities["F"].Availability.From}}
		}
		request := (&drawLedger{t: t}).request()
		request.To = events.Opt[calendar.Date]{}
		total := func() (interest, fee analytics.Int128, known bool) {
			known = true
			for _, p := range l.facility("F").Schedule(l.entriesOf("F"), l.fixingsOf("F"), request) {
				interest, fee, known = interest.Add(p.Interest.V), fee.Add(p.CommitmentFee), known && p.Interest.Ok
			}
			return interest, fee, known
		}
		interest, fee, known := total()
		l.facilities["F"].Ipds = events.Opt[[]calendar.Date]{}
		l.facilities["F"].FirstIpd = events.Opt[calendar.Date]{}
		oneInterest, oneFee, oneKnown := total()
		if fee != oneFee || known != oneKnown || known && interest != oneInterest {
			t.Fatalf("in periods %s and %s, as one %s and %s", interest, fee, oneInterest, oneFee)
		}
	})
}

func TestBalancesFollowOneAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := loans().Draw(t, "ledger")
		request := (&drawLedger{t: t}).request()
		request.To = events.Opt[calendar.Date]{}
		f := naiveFacility{l, "F", l.facilities["F"], request}
		periods := l.facility("F").Schedule(l.entriesOf("F"), l.fixingsOf("F"), request)
		for i := 1; i < len(periods); i++ {
			if periods[i].OpeningBalance != periods[i-1].Balance {
				t.Fatalf("%s after %s", periods[i].OpeningBalance, periods[i-1].Balance)
			}
		}
		if last := periods[len(periods)-1]; last.Balance != wide(f.balance(f.Maturity)) {
			t.Fatalf("at maturity %s are outstanding, want %s", last.Balance, f.balance(f.Maturity))
		}
	})
}
