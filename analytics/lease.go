package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Lease is a lease, expanded into runs of months so that the rent roll of any month needs only those that touch it.
// Nothing in it depends on other entities or on the day on which it is read.
type Lease struct {
	ID               string
	Category         string
	CounterpartyName events.Opt[string]
	Status           string
	UnitIDs          []string
	Start            calendar.Date
	End              events.Opt[calendar.Date] // none: indefinite
	EffectiveEnd     events.Opt[calendar.Date] // End, or the break that was exercised before it
	Currency         string
	Indexation       events.Opt[events.Indexation]
	IndexationText   events.Opt[string]
	Segments         []RentSegment // by month; a rent roll needs those of its month and the eleven after it
}

// RentSegment is a run of months in which a lease is in force and its terms do not change
// (docs/calculations.md#segments-of-a-lease).
type RentSegment struct {
	From, To   calendar.Month // both included; To is Forever for the last one of an indefinite lease
	Rent       int64          // a month, before indexation, in the lease's currency
	RentFree   bool
	FirstBreak events.Opt[calendar.Date] // the earliest at which the tenant may leave, seen from these months
}

// NewLease expands a lease into all its runs of months.
func NewLease(id string, l *events.Lease) Lease {
	return Lease{
		ID: id, Category: l.Category, CounterpartyName: l.CounterpartyName, Status: l.Status, UnitIDs: l.UnitIDs,
		Start: l.Start, End: l.End, EffectiveEnd: EffectiveEnd(l), Currency: l.Currency,
		Indexation: l.Indexation, IndexationText: l.IndexationText, Segments: rentSegments(l),
	}
}

// Forever is the end of what has no end: beyond the twelve months that follow any month of the ledger.
const Forever = calendar.MaxMonth + 12

// The values of a lease that rules name.
const (
	leaseSigned    = "signed"
	leaseActive    = "active"
	leaseEnded     = "ended"
	leaseMain      = "main"
	leaseOther     = "other"
	breakOpen      = "open"
	breakExercised = "exercised"
	partyTenant    = "tenant"
	partyBoth      = "both"
)

// EffectiveEnd is the earliest exercised break before the end of the lease, else that end; none for an indefinite one
// (docs/calculations.md#leases-in-force).
func EffectiveEnd(l *events.Lease) events.Opt[calendar.Date] {
	end := l.End
	for _, b := range l.Breaks {
		if b.State == breakExercised && (!end.Ok || b.Date < end.V) {
			end = events.Some(b.Date)
		}
	}
	return end
}

// qualifies reports whether the lease counts at all: a signed or active one, or one that has ended as planned
// (docs/calculations.md#leases-in-force).
func (l *Lease) qualifies(today calendar.Date) bool {
	switch l.Status {
	case leaseSigned, leaseActive:
		return true
	case leaseEnded:
		return l.EffectiveEnd.Ok && l.EffectiveEnd.V < today
	}
	return false
}

// due is the day on which the rent of a month is due: its first, or the lease's start in the month.
func (l *Lease) due(first calendar.Date) calendar.Date { return max(first, l.Start) }

// rentSegments expands a lease. Its terms are those of the day on which the rent of each month is due, so steps and ends of
// rent-free time within a month count from the next one on.
func rentSegments(l *events.Lease) []RentSegment {
	end := EffectiveEnd(l)
	first, last := l.Start.Month(), Forever
	if end.Ok {
		last = end.V.Month()
	}
	terms := newTerms(l, end)
	var segments []RentSegment
	for _, m := range terms.changes(first, last) {
		next := terms.in(m, max(m.First(), l.Start))
		if n := len(segments) - 1; n >= 0 {
			if s := &segments[n]; s.Rent == next.Rent && s.RentFree == next.RentFree && s.FirstBreak == next.FirstBreak {
				continue
			}
			segments[n].To = m - 1
		}
		next.To = last
		segments = append(segments, next)
	}
	return segments
}

// terms walks through what a lease's months are told apart by, month after month.
type terms struct {
	rent     int64
	steps    []events.RentStep  // to come, by date
	rentFree []events.DateRange // to come, by their first day
	freeTo   calendar.Date      // the last day of all rent-free time that has begun
	breaks   []calendar.Date    // open ones of the tenant, to come
}

func newTerms(l *events.Lease, end events.Opt[calendar.Date]) *terms {
	t := &terms{rent: l.MonthlyRent, steps: slices.Clone(l.Steps), rentFree: slices.Clone(l.RentFree),
		freeTo: calendar.MinDate - 1}
	slices.SortStableFunc(t.steps, func(a, b events.RentStep) int { return cmp.Compare(a.From, b.From) })
	slices.SortFunc(t.rentFree, func(a, b events.DateRange) int { return cmp.Compare(a.From, b.From) })
	for _, b := range l.Breaks {
		if b.State == breakOpen && (b.Party == partyTenant || b.Party == partyBoth) && (!end.Ok || b.Date < end.V) {
			t.breaks = append(t.breaks, b.Date)
		}
	}
	slices.Sort(t.breaks)
	return t
}

// changes lists the months, from first to last, in which the terms can be others than the month before.
func (t *terms) changes(first, last calendar.Month) []calendar.Month {
	months := []calendar.Month{first}
	from := func(d calendar.Date) { // the first month whose rent is due on the day or after it
		m := d.Month()
		if d > m.First() {
			m++
		}
		if m > first && m <= last {
			months = append(months, m)
		}
	}
	for _, s := range t.steps {
		from(s.From)
	}
	for _, r := range t.rentFree {
		from(r.From)
		from(r.To + 1)
	}
	for _, b := range t.breaks {
		from(b + 1)
	}
	if first > last {
		return nil
	}
	slices.Sort(months)
	return slices.Compact(months)
}

// in returns the terms of a month whose rent is due on a day. Months come in order.
func (t *terms) in(m calendar.Month, due calendar.Date) RentSegment {
	for ; len(t.steps) > 0 && t.steps[0].From <= due; t.steps = t.steps[1:] {
		t.rent = t.steps[0].MonthlyRent
	}
	for ; len(t.rentFree) > 0 && t.rentFree[0].From <= due; t.rentFree = t.rentFree[1:] {
		t.freeTo = max(t.freeTo, t.rentFree[0].To)
	}
	for ; len(t.breaks) > 0 && t.breaks[0] < m.First(); t.breaks = t.breaks[1:] {
	}
	s := RentSegment{From: m, Rent: t.rent, RentFree: t.freeTo >= due}
	if len(t.breaks) > 0 {
		s.FirstBreak = events.Some(t.breaks[0])
	}
	return s
}
