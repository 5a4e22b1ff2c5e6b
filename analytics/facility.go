package analytics

import (
	"cmp"
	"math/big"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Facility is a loan facility with its id.
type Facility struct {
	ID string
	events.Facility
}

// The values of facilities and their entries that rules name.
const (
	entryDrawdown   = "drawdown"
	entryInterest   = "interest"
	entryRepayment  = "repayment"
	statusPlanned   = "planned"
	statusRequested = "requested"
	statusFunded    = "funded"
	floorReference  = "reference"
	floorAllIn      = "allIn"
)

// EntrySum is what the entries of a facility of one kind and status add up to.
type EntrySum struct {
	Kind   string
	Status string
	Value  Int128
}

// FacilityPosition is what of a facility is used and left, in its currency (docs/calculations.md#drawn-and-available).
type FacilityPosition struct {
	Drawn     Int128
	Requested Int128
	Available Int128 // may be negative
}

// Position computes what of the facility is used. Rows may come in any order, and several of one kind and status add up.
func (f *Facility) Position(entries []EntrySum) FacilityPosition {
	var draws, repaid, requested Int128
	for _, e := range entries {
		switch {
		case e.Status == statusFunded && (e.Kind == entryDrawdown || e.Kind == entryInterest):
			draws = draws.Add(e.Value)
		case e.Status == statusFunded && e.Kind == entryRepayment:
			repaid = repaid.Add(e.Value)
		case e.Status == statusRequested && e.Kind == entryDrawdown:
			requested = requested.Add(e.Value)
		}
	}
	p := FacilityPosition{Drawn: draws.Sub(repaid), Requested: requested}
	p.Available = f.undrawn(draws, p.Drawn).Sub(requested)
	return p
}

// undrawn is what of the commitment is left: repaid money can be drawn again from a revolving facility alone.
func (f *Facility) undrawn(draws, balance Int128) Int128 {
	if f.Revolving {
		return Int(f.Commitment).Sub(balance)
	}
	return Int(f.Commitment).Sub(draws)
}

// NextIPD returns the first interest payment date, maturity included, that is not over on a day in Vienna
// (docs/calculations.md#interest-periods).
func (f *Facility) NextIPD(today calendar.Date) events.Opt[calendar.Date] {
	for _, d := range f.boundaries()[1:] {
		if d >= today {
			return events.Some(d)
		}
	}
	return events.Opt[calendar.Date]{}
}

// boundaries returns where interest periods begin and end: the start of the availability, the payment dates between it
// and maturity, maturity.
func (f *Facility) boundaries() []calendar.Date {
	dates := []calendar.Date{f.Availability.From}
	pay := func(d calendar.Date) {
		if d > f.Availability.From && d < f.Maturity {
			dates = append(dates, d)
		}
	}
	switch {
	case len(f.Ipds.V) > 0:
		for _, d := range f.Ipds.V {
			pay(d)
		}
	case f.FirstIpd.Ok && f.IpdEveryMonths.Ok:
		every := max(1, f.IpdEveryMonths.V)
		for months, d := 0, f.FirstIpd.V; d < f.Maturity; d = f.FirstIpd.V.AddMonths(months) {
			pay(d)
			months += every
		}
	case f.FirstIpd.Ok:
		pay(f.FirstIpd.V)
	}
	slices.Sort(dates)
	return append(slices.Compact(dates), f.Maturity)
}

// FloorOn says which rate does not fall below the floor: the reference, unless something else was delivered.
func (f *Facility) FloorOn() string { return f.Pricing.FloorOn.Or(floorReference) }

// MarginSteps returns the steps of the margin by date, as they are shown.
func (f *Facility) MarginSteps() []events.MarginStep {
	steps := slices.Clone(f.Pricing.MarginSteps)
	slices.SortStableFunc(steps, func(a, b events.MarginStep) int { return cmp.Compare(a.From, b.From) })
	return steps
}

// ProjectCost is the live estimate at completion of a project, in its currency.
type ProjectCost struct {
	Currency string
	EAC      Int128
}

// LTCBp returns the commitment in basis points of the cost of the projects that the facility finances, each once
// (docs/calculations.md#loan-to-cost). None: a project has another currency, or they cost nothing.
func (f *Facility) LTCBp(costs []ProjectCost) events.Opt[int64] {
	var cost Int128
	for _, c := range costs {
		if c.Currency != f.Currency {
			return events.Opt[int64]{}
		}
		cost = cost.Add(c.EAC)
	}
	if cost.Sign() <= 0 {
		return events.Opt[int64]{}
	}
	parts := big.NewInt(f.Commitment)
	bp := HalfAway(parts.Mul(parts, big.NewInt(10_000)), cost.Big())
	return events.Opt[int64]{V: bp.Int64(), Ok: bp.IsInt64()}
}

// FacilityEntry is a movement of a facility with its id.
type FacilityEntry struct {
	ID string
	events.FacilityEntry
}

// Fixing is the reference rate of an interest period. Of several for one period the one with the greatest id counts.
type Fixing struct {
	ID string
	events.Fixing
}
