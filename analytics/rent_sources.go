package analytics

import (
	"cmp"
	"slices"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// RentSource is what one lease puts into the figures of a rent roll (docs/calculations.md#rent-roll). Amounts are in its currency.
type RentSource struct {
	*Lease
	InForce       bool   // in the month of the rent roll
	Lets          bool   // its units are let: it is in force, and not for their use in the meantime
	Passing       Int128 // payable in the month; 0 of a lease that isn't in force
	PassingAnnual Int128 // twelve times that
	Contracted    Int128 // the rent of the month, by which the averages of terms are weighted
	Forward       Int128 // of the month and the eleven that follow
	// Days from the month's rent to the end, and to the first break: of main leases in force of which one is known.
	DaysToExpiry, DaysToBreak events.Opt[int64]
	// InTotals is whether it is in the project's currency. A lease in another one is in no total, and its Forward isn't computed.
	InTotals bool
}

// RentSources are the leases that figures of the rent roll of a month are made of, by id: those in force, and those that begin within the
// twelve months.
func RentSources(in RentRollInput, month calendar.Month, today calendar.Date) []RentSource {
	indexer := newIndexer(in.Indexes)
	var all []RentSource
	for i := range in.Leases {
		l := &in.Leases[i]
		if !l.qualifies(today) {
			continue
		}
		source := RentSource{Lease: l, InTotals: l.Currency == in.Currency}
		rents := leaseRents(l, indexer, month)
		for j := range rents {
			rent := &rents[j]
			if rent.Month == month {
				source.InForce, source.Lets = true, l.Category == leaseMain
				source.Passing, source.PassingAnnual, source.Contracted = rent.passing(), rent.PassingAnnual(), rent.Contracted
				if toExpiry, toBreak, ok := l.termsLeft(&rent.monthlyRent); ok && source.Lets && source.InTotals {
					source.DaysToExpiry, source.DaysToBreak = events.Some(int64(toExpiry)), events.Some(int64(toBreak))
				}
			}
			if source.InTotals {
				source.Forward = source.Forward.Add(rent.Payable)
			}
		}
		if source.InForce || source.InTotals && len(rents) > 0 {
			all = append(all, source)
		}
	}
	slices.SortFunc(all, func(a, b RentSource) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// LeaseRent is the rent of a lease in a month, and how it comes about.
type LeaseRent struct {
	Month      calendar.Month
	Base       int64 // before indexation
	RentFree   bool
	Contracted Int128 // after indexation
	Payable    Int128 // of it, for the days on which the lease is in force; 0 of a rent-free month

	monthlyRent
}

// PassingAnnual is twelve times what is payable of the rent for a whole month.
func (r *LeaseRent) PassingAnnual() Int128 { return r.passing().times(forwardMonths) }

// LeaseRents are the rents of a lease in a month and the eleven that follow, without months in which it is not in force.
func LeaseRents(l *Lease, indexes *Indexes, month calendar.Month) []LeaseRent {
	return leaseRents(l, newIndexer(indexes), month)
}

func leaseRents(l *Lease, indexer *indexer, month calendar.Month) (all []LeaseRent) {
	rents := newMonthlyRents(l, indexer.of(l.Indexation))
	for m := month; m < month+forwardMonths; m++ {
		first := m.First()
		rent, ok := rents.in(m, first)
		if !ok {
			continue
		}
		all = append(all, LeaseRent{Month: m, Base: rent.segment.Rent, RentFree: rent.segment.RentFree, Contracted: rent.contracted,
			Payable: l.payable(rent.passing(), first, (m + 1).First()), monthlyRent: rent})
	}
	return all
}
