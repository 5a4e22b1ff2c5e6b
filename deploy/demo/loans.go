package demo

import (
	"fmt"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

var lenders = []string{"Landesbank Traun", "Bankhaus Ennsthaler", "Sparverein Wachau"}

// addLoans gives every project a construction loan, and the first two a bridge loan together.
func (w *world) addLoans() {
	for _, p := range w.projects {
		var d dice
		d.take(w.Seed, ofLoan, int64(p.number))
		w.addLoan(&d, loan{
			id: fmt.Sprintf("fa-%04d", p.number+1), projects: []string{p.id}, begin: p.begin,
			commitment: 100_000_00 * d.between(40, 180),
		})
	}
	if len(w.projects) > 1 {
		var d dice
		d.take(w.Seed, ofLoan, -1)
		both := []string{w.projects[0].id, w.projects[1].id}
		w.addLoan(&d, loan{
			id: "fa-bridge", projects: both, begin: max(w.projects[0].begin, w.projects[1].begin), commitment: 25_000_000_00, revolving: true,
		})
	}
}

// loan is a loan that is drawn in equal parts until it is no longer available.
type loan struct {
	id         string
	projects   []string
	begin      int64 // Unix seconds
	commitment int64
	revolving  bool
}

const loanMonths = 60 // in which a loan can be drawn; it is repaid a year later

func (w *world) addLoan(d *dice, l loan) {
	first := calendar.Date(l.begin/day).Month() + 1
	data := events.Facility{
		ProjectIDs: l.projects, Lender: oneOf(d, lenders), Type: "construction",
		Currency: currency, Commitment: l.commitment, Revolving: l.revolving,
		Availability: events.DateRange{From: first.First(), To: (first + loanMonths - 1).Last()},
		Maturity:     (first + loanMonths + 11).Last(), DayCount: oneOf(d, []string{"ACT/360", "ACT/360", "30/360"}),
		Pricing: events.Pricing{
			ReferenceRate: "EURIBOR 3M", MarginBp: events.Decimal{Units: d.between(140, 260)}, FloorBp: events.Some(events.Decimal{}),
			FloorOn:     events.Some("reference"),
			MarginSteps: []events.MarginStep{{From: (first + loanMonths).First(), MarginBp: events.Decimal{Units: 2875, Scale: 1}}},
		},
		CommitmentFeeBp: events.Decimal{Units: 35}, InterestTreatment: "paid",
		FirstIpd: events.Some((first + 2).Last()), IpdEveryMonths: events.Some(3),
	}
	if l.revolving {
		data.Type, data.InterestTreatment = "bridge", "capitalised"
	}
	w.schedule.add(change{topic: events.Facilities, id: l.id, version: 1, at: l.begin + 6*day, data: func() any { return &data }})
	w.addFixings(d, l.id, &data)
	w.addMovements(d, l, first)
}

// addFixings fixes the reference rate of every interest period, three days before it begins.
func (w *world) addFixings(d *dice, id string, f *events.Facility) {
	reference := d.between(-40, 180)
	for k := int64(0); ; k++ {
		begins := f.Availability.From
		if k > 0 {
			begins = (f.FirstIpd.V.Month() + calendar.Month(3*(k-1))).Last()
		}
		at := int64(begins-3)*day + 11*3600
		if at >= w.end || begins >= f.Maturity {
			return
		}
		reference += d.between(-20, 35)
		data := events.Fixing{FacilityID: id, PeriodStart: begins, ReferenceBp: tenths(10*reference + d.between(0, 9))}
		w.schedule.add(change{topic: events.Fixings, id: id + ":" + begins.String(), version: 1, at: at, data: func() any { return &data }})
	}
}

// addMovements draws a part every month: planned from the beginning, requested a week before, funded on its day. A
// revolving loan is repaid in part each year, and its interest is added to the debt.
func (w *world) addMovements(d *dice, l loan, first calendar.Month) {
	part := share(l.commitment, 1)
	for k := range calendar.Month(loanMonths) {
		on := (first + k).First() + calendar.Date(d.between(4, 20))
		w.movement(fmt.Sprintf("%s-d%02d", l.id, k+1), l, "drawdown", on, part+100*d.between(0, part/400))
		if !l.revolving {
			continue
		}
		if k%3 == 2 {
			w.movement(fmt.Sprintf("%s-i%02d", l.id, k+1), l, "interest", (first + k).Last(), 100*d.between(200, 9000))
		}
		if k%12 == 11 {
			w.movement(fmt.Sprintf("%s-r%02d", l.id, k+1), l, "repayment", (first + k).Last(), 6*part)
		}
	}
}

func (w *world) movement(id string, l loan, kind string, on calendar.Date, value int64) {
	planned := l.begin + 7*day
	for i, status := range []string{"planned", "requested", "funded"} {
		at := max(planned+int64(i)*3600, int64(on)*day-int64(2-i)*7*day+10*3600)
		if i == 0 {
			at = planned
		}
		if at >= w.end {
			return
		}
		data := events.FacilityEntry{FacilityID: l.id, Kind: kind, Status: status, Date: on, Value: value}
		w.schedule.add(change{topic: events.FacilityEntries, id: id, version: int64(i) + 1, at: at, data: func() any { return &data }})
	}
}
