package analytics

import (
	"tallyhouse/schemas/calendar"
)

// The methods of a plan besides linearDays (docs/calculations.md#phasing).
const (
	methodMonths = "linearMonths"
	methodSCurve = "sCurve"
	methodCustom = "custom"
)

type phaseKind uint8

const (
	phaseUndated phaseKind = iota // no dates: it cannot be phased
	phaseCustom                   // months are entered
	phaseOverdue                  // its end is over: everything falls due now
	phaseDated
)

// phase is what a line's plan comes to in the current month: the months that its money falls in, and for dated lines
// the days of them that count.
type phase struct {
	plan       *LinePlan
	kind       phaseKind
	from, to   calendar.Month
	start, end calendar.Date // of the days that are left of a dated plan
}

// phaseOf applies a plan, nil when the line has none. Dates of the lines above are not taken over.
func phaseOf(plan *LinePlan, asOf calendar.Month) phase {
	switch {
	case plan == nil:
		return phase{}
	case plan.Method == methodCustom:
		p := phase{plan: plan, kind: phaseCustom, from: calendar.MaxMonth, to: calendar.MinMonth}
		for _, m := range plan.CustomMonths {
			if m.Month >= asOf {
				p.from, p.to = min(p.from, m.Month), max(p.to, m.Month)
			}
		}
		return p
	case !plan.StartDate.Ok || !plan.EndDate.Ok || plan.EndDate.V < plan.StartDate.V:
		return phase{plan: plan}
	case plan.EndDate.V < asOf.First():
		return phase{plan: plan, kind: phaseOverdue, from: asOf, to: asOf}
	}
	start := max(plan.StartDate.V, asOf.First())
	return phase{plan: plan, kind: phaseDated, from: start.Month(), to: plan.EndDate.V.Month(), start: start, end: plan.EndDate.V}
}

// spreader phases one line after the other. It keeps what they share: the first days of all months, and room.
type spreader struct {
	splitter
	from    calendar.Month
	firsts  []calendar.Date // of the months from from on
	weights []uint64
	shares  []Int128
}

func newSpreader(phases []phase) *spreader {
	var months monthRange
	for i := range phases {
		if p := &phases[i]; p.kind == phaseDated {
			months.add(p.from, p.to)
		}
	}
	s := &spreader{from: months.from}
	if months.some {
		for m := months.from; m <= months.to+1; m++ {
			s.firsts = append(s.firsts, m.First())
		}
	}
	return s
}

// spread returns the shares of the months of a dated phase; they are good until the next call.
func (s *spreader) spread(funding Int128, p *phase) []Int128 {
	s.weights = s.weights[:0]
	firsts := s.firsts[p.from-s.from : p.to-s.from+2]
	weight := weightOf(p)
	for k := range len(firsts) - 1 {
		s.weights = append(s.weights, weight(max(p.start, firsts[k]), min(p.end+1, firsts[k+1])))
	}
	s.shares = s.split(funding, s.weights, s.shares[:0])
	return s.shares
}

// whole is one share, of a single month; it is good until the next call.
func (s *spreader) whole(value Int128) []Int128 {
	s.shares = append(s.shares[:0], value)
	return s.shares
}

// weightOf returns what a piece of the days of the phase weighs, until excluded. Weights of an S-curve are those of the
// whole plan, times the third power of its days: whole numbers, below 2^63 for any dates of the ledger.
func weightOf(p *phase) func(from, until calendar.Date) uint64 {
	switch p.plan.Method {
	case methodMonths:
		return func(_, _ calendar.Date) uint64 { return 1 }
	case methodSCurve:
		start := p.plan.StartDate.V
		days := uint64(p.plan.EndDate.V-start) + 1
		done := func(d calendar.Date) uint64 { // 3x^2 - 2x^3, x the part of the days before d
			x := uint64(d - start)
			return x * x * (3*days - 2*x)
		}
		return func(from, until calendar.Date) uint64 { return done(until) - done(from) }
	}
	return func(from, until calendar.Date) uint64 { return uint64(until - from) }
}
