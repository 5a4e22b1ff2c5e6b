package analytics

import (
	"cmp"
	"math/big"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// ScheduleRequest says which periods of a facility are wanted, and on which movements they rest.
type ScheduleRequest struct {
	To             events.Opt[calendar.Date] // periods that begin before it; none: all
	IncludePlanned bool                      // requested and planned movements too
	Today          calendar.Date             // in Vienna: movements that are not funded yet come on it at the earliest
}

// FacilityPeriod is an interest period of a facility (docs/calculations.md#interest-periods), amounts in its currency.
// ReferenceBp, MarginBp and RateBp are those of the first day; none where they do not exist or are not known.
type FacilityPeriod struct {
	Start, End     calendar.Date // End excluded
	Days           int           // by the facility's day count
	ReferenceBp    events.Opt[events.Decimal]
	MarginBp       events.Opt[events.Decimal]
	RateBp         events.Opt[events.Decimal]
	RateChanges    []RateChange // within the period, by date
	Projected      bool         // the rate is not fixed yet
	OpeningBalance Int128
	Balance        Int128             // at the end
	Interest       events.Opt[Int128] // none while a balance is outstanding at an unknown rate
	CommitmentFee  Int128
}

// RateChange is a step of the margin within a period.
type RateChange struct {
	From     calendar.Date
	MarginBp events.Opt[events.Decimal]
	RateBp   events.Opt[events.Decimal]
}

// Schedule computes the interest periods of a facility (docs/calculations.md#interest-periods) from its entries and
// fixings, in any order.
func (f *Facility) Schedule(entries []FacilityEntry, fixings []Fixing, request ScheduleRequest) []FacilityPeriod {
	s := schedule{
		facility: f, count: dayCountOf(f.DayCount), fixings: periodFixings(fixings),
		prices: newPrices(&f.Pricing), movements: f.movements(entries, request),
		feeBp: thousandths(f.CommitmentFeeBp).Big(),
	}
	boundaries := f.boundaries()
	periods := make([]FacilityPeriod, 0, len(boundaries)-1)
	for i, start := range boundaries[:len(boundaries)-1] {
		if request.To.Ok && start >= request.To.V {
			break
		}
		periods = append(periods, s.period(start, boundaries[i+1]))
	}
	return periods
}

// movement changes what is outstanding from a day on.
type movement struct {
	on      calendar.Date
	balance Int128
	draw    Int128 // the part that is drawn, 0 for a repayment
}

// movements are the entries on which a schedule rests, by date. Capitalised interest counts once it is booked: future
// interest is never capitalised.
func (f *Facility) movements(entries []FacilityEntry, request ScheduleRequest) []movement {
	all := make([]movement, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		on := e.Date
		switch {
		case e.Status == statusFunded:
		case request.IncludePlanned && e.Kind != entryInterest && (e.Status == statusRequested || e.Status == statusPlanned):
			on = max(e.Date, request.Today)
		default:
			continue
		}
		switch e.Kind {
		case entryDrawdown, entryInterest:
			all = append(all, movement{on: on, balance: Int(e.Value), draw: Int(e.Value)})
		case entryRepayment:
			all = append(all, movement{on: on, balance: Int(e.Value).Neg()})
		}
	}
	slices.SortFunc(all, func(a, b movement) int { return cmp.Compare(a.on, b.on) })
	return all
}

// periodFixings keeps the fixing that counts for each period, by date.
func periodFixings(fixings []Fixing) []Fixing {
	sorted := slices.Clone(fixings)
	slices.SortFunc(sorted, func(a, b Fixing) int {
		return cmp.Or(cmp.Compare(a.PeriodStart, b.PeriodStart), cmp.Compare(b.ID, a.ID))
	})
	return slices.CompactFunc(sorted, func(a, b Fixing) bool { return a.PeriodStart == b.PeriodStart })
}

// schedule walks through the periods of a facility, day by day where something changes.
type schedule struct {
	facility *Facility
	count    dayCount
	fixings  []Fixing
	prices   prices
	feeBp    *big.Int // in thousandths

	movements []movement // still to come
	balance   Int128
	draws     Int128
}

// move lets the movements before a day happen.
func (s *schedule) move(before calendar.Date) {
	for ; len(s.movements) > 0 && s.movements[0].on < before; s.movements = s.movements[1:] {
		s.balance = s.balance.Add(s.movements[0].balance)
		s.draws = s.draws.Add(s.movements[0].draw)
	}
}

// period computes the next period.
func (s *schedule) period(start, end calendar.Date) FacilityPeriod {
	s.move(start)
	p := FacilityPeriod{Start: start, End: end, Days: s.count.days(start, end), OpeningBalance: s.balance}
	reference := s.reference(&p)
	s.prices.reach(start)
	rate := s.prices.rate(reference)
	p.MarginBp, p.RateBp = s.prices.shownMargin(), shownRate(rate)
	interest, fee, known := new(big.Int), new(big.Int), true
	for day := start; day < end; {
		if s.prices.reach(day) {
			rate = s.prices.rate(reference)
			p.RateChanges = append(p.RateChanges,
				RateChange{From: day, MarginBp: s.prices.shownMargin(), RateBp: shownRate(rate)})
		}
		s.move(day + 1)
		next := s.nextChange(day, end)
		days := big.NewInt(int64(s.count.days(day, next)))
		if rate.Ok {
			accrue(interest, s.balance, rate.V.Big(), days)
		} else if !s.balance.IsZero() {
			known = false
		}
		if s.facility.Availability.From <= day && day <= s.facility.Availability.To {
			accrue(fee, s.facility.undrawn(s.draws, s.balance).OrZero(), s.feeBp, days)
		}
		day = next
	}
	p.Balance = s.balance
	year := big.NewInt(int64(s.count.year) * 10_000 * 1_000)
	p.Interest = events.Opt[Int128]{V: held(HalfAway(interest, year)), Ok: known}
	p.CommitmentFee = held(HalfAway(fee, year))
	return p
}

// accrue adds amount times rate times days to a sum that is not rounded yet.
func accrue(sum *big.Int, amount Int128, rate, days *big.Int) {
	product := amount.Big()
	sum.Add(sum, product.Mul(product, rate).Mul(product, days))
}

// nextChange returns the first day after one on which anything changes: a movement, the margin, the availability.
func (s *schedule) nextChange(day, end calendar.Date) calendar.Date {
	next := end
	if len(s.movements) > 0 {
		next = min(next, s.movements[0].on)
	}
	if len(s.prices.steps) > 0 {
		next = min(next, s.prices.steps[0].From)
	}
	if over := s.facility.Availability.To + 1; over > day {
		next = min(next, over)
	}
	return next
}

// reference finds the reference rate of a period: its fixing, else the latest one before it; that is a projection. A
// fixed rate has none and needs none.
func (s *schedule) reference(p *FacilityPeriod) events.Opt[Int128] {
	if s.facility.Pricing.FixedRateBp.Ok {
		return events.Opt[Int128]{}
	}
	at, fixed := slices.BinarySearchFunc(s.fixings, p.Start, func(f Fixing, start calendar.Date) int {
		return cmp.Compare(f.PeriodStart, start)
	})
	p.Projected = !fixed
	if !fixed {
		at--
	}
	if at < 0 {
		return events.Opt[Int128]{}
	}
	p.ReferenceBp = events.Some(s.fixings[at].ReferenceBp)
	return events.Some(thousandths(s.fixings[at].ReferenceBp))
}

// prices follows the margin through time. Rates are thousandths of a basis point.
type prices struct {
	pricing *events.Pricing
	margin  Int128
	steps   []events.MarginStep // still to come, one a day
}

func newPrices(p *events.Pricing) prices {
	all := prices{pricing: p, margin: thousandths(p.MarginBp)}
	if p.FixedRateBp.Ok {
		return all // it is all-in
	}
	steps := slices.Clone(p.MarginSteps)
	slices.Reverse(steps) // of several on one day the last delivered counts
	slices.SortStableFunc(steps, func(a, b events.MarginStep) int { return cmp.Compare(a.From, b.From) })
	all.steps = slices.CompactFunc(steps, func(a, b events.MarginStep) bool { return a.From == b.From })
	return all
}

// reach goes on to a day, and reports whether a step of the margin came.
func (p *prices) reach(day calendar.Date) bool {
	stepped := false
	for ; len(p.steps) > 0 && p.steps[0].From <= day; p.steps = p.steps[1:] {
		p.margin, stepped = thousandths(p.steps[0].MarginBp), true
	}
	return stepped
}

// rate is what is paid at a reference rate (docs/calculations.md#rate); none while that is not known.
func (p *prices) rate(reference events.Opt[Int128]) events.Opt[Int128] {
	switch {
	case p.pricing.FixedRateBp.Ok:
		return events.Some(thousandths(p.pricing.FixedRateBp.V))
	case !reference.Ok:
		return reference
	case !p.pricing.FloorBp.Ok:
		return events.Some(reference.V.Add(p.margin))
	}
	floor := thousandths(p.pricing.FloorBp.V)
	switch p.pricing.FloorOn.Or(floorReference) {
	case floorAllIn:
		return events.Some(reference.V.Add(p.margin).AtLeast(floor))
	case floorReference:
		return events.Some(reference.V.AtLeast(floor).Add(p.margin))
	}
	return events.Some(reference.V.Add(p.margin)) // a floor on something that no rule knows
}

func (p *prices) shownMargin() events.Opt[events.Decimal] {
	if p.pricing.FixedRateBp.Ok {
		return events.Opt[events.Decimal]{}
	}
	return shownRate(events.Some(p.margin))
}

// thousandths is a number of basis points in thousandths: they have at most three decimals.
func thousandths(bp events.Decimal) Int128 { return aligned(bp, 3) }

// shownRate is a rate as a decimal; none where there is none or a decimal does not hold it.
func shownRate(rate events.Opt[Int128]) events.Opt[events.Decimal] {
	units, ok := rate.V.Int64()
	if !rate.Ok || !ok {
		return events.Opt[events.Decimal]{}
	}
	return events.Some(trimmed(events.Decimal{Units: units, Scale: 3}))
}
