package analytics

import (
	"cmp"
	"math/big"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// RentRollInput is everything that the rent roll of one project is computed from.
type RentRollInput struct {
	Currency string // of the project
	Units    []Unit
	Leases   []Lease
	Indexes  *Indexes // at least the series that the leases name
}

// Unit is a flat, shop, parking space or piece of land with its id.
type Unit struct {
	ID string
	events.Unit
}

const scopeScheme = "scheme"

// Counts reports whether the unit's area is in those of a rent roll: it is of the scheme, and measured.
func (u *Unit) Counts() bool { return u.Scope == scopeScheme && u.AreaM2.Ok }

// ProjectRentRoll is the rent roll of a month (docs/calculations.md#rent-roll), amounts in the project's currency.
type ProjectRentRoll struct {
	PassingRentAnnual      Int128
	PassingRentOtherAnnual Int128
	ForwardRent12m         Int128
	LetAreaM2              events.Opt[events.Decimal] // none beyond what a decimal holds
	TotalAreaM2            events.Opt[events.Decimal] // none beyond what a decimal holds
	VacancyPct             events.Opt[events.Decimal] // none without any area
	WAULTToExpiryYears     events.Opt[events.Decimal] // none beyond what a decimal holds
	WAULTToBreakYears      events.Opt[events.Decimal] // none beyond what a decimal holds
	Leases                 []RentRollLease            // in force, by id
}

// RentRollLease is a lease in force, seen from the month of the rent roll.
type RentRollLease struct {
	*Lease
	FirstBreak        events.Opt[calendar.Date]
	PassingRentAnnual Int128 // in the lease's currency
}

const forwardMonths = 12

// RentRoll computes the rent roll of a month as it is on a day in Vienna (docs/calculations.md#rent-roll).
func RentRoll(in RentRollInput, month calendar.Month, today calendar.Date) ProjectRentRoll {
	r := rentRoll{in: &in, month: month, indexer: newIndexer(in.Indexes)}
	for i := range r.firsts {
		r.firsts[i] = (month + calendar.Month(i)).First()
	}
	let := make(map[string]bool, len(in.Leases))
	r.result.Leases = make([]RentRollLease, 0, len(in.Leases))
	for i := range in.Leases {
		if l := &in.Leases[i]; l.qualifies(today) {
			r.take(l, let)
		}
	}
	slices.SortFunc(r.result.Leases, func(a, b RentRollLease) int { return cmp.Compare(a.ID, b.ID) })
	r.areas(let)
	r.result.WAULTToExpiryYears = r.toExpiry.years()
	r.result.WAULTToBreakYears = r.toBreak.years()
	return r.result
}

// rentRoll is a computation under way.
type rentRoll struct {
	in      *RentRollInput
	month   calendar.Month
	firsts  [forwardMonths + 1]calendar.Date // of the months from month on
	indexer *indexer
	result  ProjectRentRoll

	toExpiry, toBreak averageTerm
}

// take adds a qualifying lease, and its units to let where it is a main one in force.
func (r *rentRoll) take(l *Lease, let map[string]bool) {
	own := l.Currency == r.in.Currency
	rents := newMonthlyRents(l, r.indexer.of(l.Indexation))
	for i := range forwardMonths {
		m, first := r.month+calendar.Month(i), r.firsts[i]
		rent, ok := rents.in(m, first)
		if !ok {
			if !own {
				break // what comes later is not added
			}
			continue
		}
		if i == 0 {
			r.inForce(l, rent, own)
			if l.Category == leaseMain {
				for _, id := range l.UnitIDs {
					let[id] = true
				}
			}
		}
		if !own {
			break
		}
		r.result.ForwardRent12m = r.result.ForwardRent12m.Add(l.payable(rent.passing(), first, r.firsts[i+1]))
	}
}

// inForce lists a lease and adds it to the totals of the month.
func (r *rentRoll) inForce(l *Lease, rent monthlyRent, own bool) {
	annual := rent.passing().times(forwardMonths)
	r.result.Leases = append(r.result.Leases,
		RentRollLease{Lease: l, FirstBreak: rent.segment.FirstBreak, PassingRentAnnual: annual})
	if !own {
		return
	}
	r.result.PassingRentAnnual = r.result.PassingRentAnnual.Add(annual)
	if l.Category == leaseOther {
		r.result.PassingRentOtherAnnual = r.result.PassingRentOtherAnnual.Add(annual)
	}
	if l.Category != leaseMain {
		return
	}
	if toExpiry, toBreak, ok := l.termsLeft(&rent); ok {
		r.toExpiry.add(rent.contracted, toExpiry)
		r.toBreak.add(rent.contracted, toBreak)
	}
}

// termsLeft are the days from the month's due date to the end of the lease and to the first day on which the tenant may leave, both
// included, none where it is past; false where nobody knows for how long it runs.
func (l *Lease) termsLeft(rent *monthlyRent) (toExpiry, toBreak calendar.Date, ok bool) {
	expiry, leave := l.EffectiveEnd, rent.segment.FirstBreak
	switch {
	case !expiry.Ok && !leave.Ok:
		return 0, 0, false
	case !expiry.Ok:
		expiry = leave
	case !leave.Ok:
		leave = expiry
	}
	return max(0, expiry.V-rent.due+1), max(0, leave.V-rent.due+1), true
}

// payable is the rent of a month for the days on which the lease is in force in it.
func (l *Lease) payable(rent Int128, first, next calendar.Date) Int128 {
	from, until := max(first, l.Start), next
	if l.EffectiveEnd.Ok {
		until = min(next, l.EffectiveEnd.V+1)
	}
	if from == first && until == next {
		return rent
	}
	days := rent.times(uint32(max(0, until-from)))
	return held(HalfAway(days.Big(), big.NewInt(int64(next-first))))
}

// areas adds up the units, and those of them that are let. Each counts once.
func (r *rentRoll) areas(let map[string]bool) {
	var total, used decimalSum
	for i := range r.in.Units {
		u := &r.in.Units[i]
		if !u.Counts() {
			continue
		}
		total.add(u.AreaM2.V)
		if let[u.ID] {
			used.add(u.AreaM2.V)
		}
	}
	all, taken := total.big(), used.big()
	r.result.TotalAreaM2 = hundredths(all, sumWhole())
	r.result.LetAreaM2 = hundredths(taken, sumWhole())
	if all.Sign() != 0 {
		vacant := new(big.Int).Sub(all, taken)
		r.result.VacancyPct = hundredths(vacant.Mul(vacant, big.NewInt(100)), all)
	}
}

// averageTerm is a term weighted by contracted rent.
type averageTerm struct{ rents, days Int128 }

func (a *averageTerm) add(rent Int128, days calendar.Date) {
	a.rents = a.rents.Add(rent)
	a.days = a.days.Add(rent.times(uint32(days)))
}

// years divides by 365.25 days, 0 where nothing is averaged.
func (a *averageTerm) years() events.Opt[events.Decimal] {
	rents, days := a.rents, a.days
	if rents.Sign() < 0 {
		rents, days = rents.Neg(), days.Neg()
	}
	if rents.IsZero() {
		return events.Some(events.Decimal{})
	}
	num, den := days.Big(), rents.Big()
	return hundredths(num.Mul(num, big.NewInt(100)), den.Mul(den, big.NewInt(36525)))
}

// monthlyRents walks through the months of a lease.
type monthlyRents struct {
	lease       *Lease
	segments    []RentSegment
	adjustments *adjustments

	last       int64 // the rent that was last indexed, by so many adjustments
	count      int
	until      calendar.Month // before it there are no more of them
	contracted Int128
}

// monthlyRent is the rent of one month.
type monthlyRent struct {
	segment    *RentSegment
	due        calendar.Date
	contracted Int128
}

// passing is what is payable of it.
func (r *monthlyRent) passing() Int128 {
	if r.segment.RentFree {
		return Int128{}
	}
	return r.contracted
}

func newMonthlyRents(l *Lease, a *adjustments) *monthlyRents {
	return &monthlyRents{lease: l, segments: l.Segments, adjustments: a, count: -1, until: calendar.MinMonth}
}

// in returns the rent of a month, false when the lease is not in force in it. Months come in order.
func (r *monthlyRents) in(m calendar.Month, first calendar.Date) (monthlyRent, bool) {
	for len(r.segments) > 0 && r.segments[0].To < m {
		r.segments = r.segments[1:]
	}
	if len(r.segments) == 0 || r.segments[0].From > m {
		return monthlyRent{}, false
	}
	s, due := &r.segments[0], r.lease.due(first)
	if r.adjustments == nil {
		return monthlyRent{segment: s, due: due, contracted: Int(s.Rent)}, true
	}
	n := r.count
	if m >= r.until {
		n, r.until = r.adjustments.count(due, m)
	}
	if n != r.count || s.Rent != r.last {
		r.count, r.last, r.contracted = n, s.Rent, r.adjustments.factor(n).of(s.Rent)
	}
	return monthlyRent{segment: s, due: due, contracted: r.contracted}, true
}
