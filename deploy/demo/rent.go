package demo

import (
	"fmt"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// indexSeries is the index that rents follow.
const indexSeries = "VPI2020"

// unitTypes are what a building has, with the asking rent for a square metre, or a parking space, and month.
var unitTypes = []struct {
	name        string
	least, most int64 // tenths of a square metre; 0: a parking space
	rate        int64
}{
	{"flat", 380, 1240, 14_50}, {"flat", 380, 1240, 15_20}, {"flat", 380, 1240, 13_90}, {"office", 900, 6400, 17_80},
	{"shop", 600, 3200, 24_00}, {"parking", 0, 0, 95_00},
}

// tenants of main leases, and of land and roofs in the meantime.
var (
	tenants = []string{"Kanzlei Lindauer", "Ordination Dr. Weidinger", "Brotwerk Haager", "Praxis am Seepark", "Studio Obermair",
		"Familie Strohmeyr", "Radhaus Gruberbach", "Buchhandlung Traunwald"}
	interim = []string{"Funkmast Donauraum", "Parkraum Sattler", "Imkerei Reitbauer"}
)

// addUnits adds what a project lets, and its leases.
func (w *world) addUnits(p *project) {
	var d dice
	d.take(w.Seed, ofUnit, int64(p.number))
	for n := range d.between(10, 24) {
		kind := oneOf(&d, unitTypes)
		u := events.Unit{
			ProjectID: p.id, SiteID: "si-" + p.id, SiteName: p.data.Name, BuildingID: fmt.Sprintf("bd-%s-%c", p.id, 'a'+n%3),
			Label: fmt.Sprintf("Top %d", n+1), Type: kind.name, Floor: events.Some(fmt.Sprint(n / 4)), Scope: "scheme",
			AskingRate: events.Some(events.Amount{Value: kind.rate, Currency: currency}),
		}
		rent := kind.rate
		if kind.most > 0 {
			area := d.between(kind.least, kind.most)
			u.AreaM2 = events.Some(tenths(area))
			rent = area * kind.rate / 10
		} else {
			u.Spaces, u.Floor = events.Some[int64](1), events.Opt[string]{}
		}
		id := fmt.Sprintf("un-%04d-%02d", p.number+1, n+1)
		w.schedule.add(change{topic: events.Units, id: id, version: 1, at: p.begin + 4*day, data: func() any { return &u }})
		if d.in10000(7500) {
			w.addLease(p, &d, id, n, rent)
		}
	}
	w.addInterim(p, &d)
}

// tenths is a number of tenths as a decimal, which has no zeros behind it.
func tenths(n int64) events.Decimal {
	if n%10 == 0 {
		return events.Decimal{Units: n / 10}
	}
	return events.Decimal{Units: n, Scale: 1}
}

// addLease lets a unit: signed in the project's time, active from its start on; with steps, rent-free months, breaks and
// an index as it comes.
func (w *world) addLease(p *project, d *dice, unit string, n, rent int64) {
	signed := p.begin + 20*day + int64(d.below(int(w.end-p.begin-21*day)))
	begins := calendar.Date(signed/day).Month() + calendar.Month(d.between(1, 9))
	l := events.Lease{
		ProjectID: p.id, Category: "main", CounterpartyName: events.Some(oneOf(d, tenants)), Status: "signed", UnitIDs: []string{unit},
		Start: begins.First(), Currency: currency, MonthlyRent: rent,
	}
	if years := d.between(0, 10); years > 2 { // the others are indefinite
		l.End = events.Some((begins + calendar.Month(12*years)).First() - 1)
	}
	if d.in10000(3000) {
		l.Steps = []events.RentStep{{From: (begins + 24).First(), MonthlyRent: rent + share(rent, 5)}}
	}
	if d.in10000(3000) {
		l.RentFree = []events.DateRange{{From: begins.First(), To: (begins + calendar.Month(d.between(0, 3))).Last()}}
	}
	if d.in10000(4000) {
		party := oneOf(d, []string{"tenant", "tenant", "both", "landlord"})
		l.Breaks = []events.Break{{Date: (begins + 35).Last(), Party: party, State: "open"}}
	}
	switch d.below(3) {
	case 0:
		l.Indexation = events.Some(events.Indexation{
			Type: "fixed", RateBp: events.Decimal{Units: 200}, FirstOn: (begins + 12).First(), EveryMonths: 12,
		})
		l.IndexationText = events.Some("2 % a year")
	case 1:
		l.Indexation = events.Some(events.Indexation{
			Type: "cpi", EveryMonths: 1, Series: indexSeries, BaseMonth: begins - 1, ThresholdBp: events.Decimal{Units: 500}, LagMonths: 2,
			ShareBp: events.Decimal{Units: 10_000},
		})
		l.IndexationText = events.Some(indexSeries + ", beyond 5 %")
	}
	w.lease(fmt.Sprintf("le-%04d-%02d", p.number+1, n+1), signed, l)
}

// lease schedules a lease when it is signed, and again when it begins and when it has ended.
func (w *world) lease(id string, signed int64, l events.Lease) {
	add := func(version, at int64, status string) bool {
		if at >= w.end {
			return false
		}
		now := l
		now.Status = status
		w.schedule.add(change{topic: events.Leases, id: id, version: version, at: at, data: func() any { return &now }})
		return true
	}
	if add(1, signed, "signed") && add(2, max(signed, int64(l.Start)*day)+8*3600, "active") && l.End.Ok {
		add(3, int64(l.End.V+1)*day+9*3600, "ended")
	}
}

// addInterim lets a roof, or land that waits for its turn.
func (w *world) addInterim(p *project, d *dice) {
	unit := events.Unit{
		ProjectID: p.id, SiteID: "si-" + p.id, SiteName: p.data.Name, BuildingID: "bd-" + p.id + "-a",
		Label: "Roof", Type: "mast", Scope: "currentUse",
	}
	id := fmt.Sprintf("un-%04d-roof", p.number+1)
	w.schedule.add(change{topic: events.Units, id: id, version: 1, at: p.begin + 4*day, data: func() any { return &unit }})
	w.lease(fmt.Sprintf("le-%04d-roof", p.number+1), p.begin+5*day, events.Lease{
		ProjectID: p.id, Category: "other", CounterpartyName: events.Some(oneOf(d, interim)), UnitIDs: []string{id},
		Start: calendar.Date(p.begin / day), Currency: currency, MonthlyRent: 10_00 * d.between(40, 120),
	})
}

// addIndex publishes the index: each month's value on the 24th of the month after it, later corrected now and then.
func (w *world) addIndex() {
	var d dice
	d.take(w.Seed, ofIndex, 0)
	value := int64(1080) // tenths
	for m := calendar.Date(w.start/day).Month() - 14; ; m++ {
		at := int64((m+1).First()+23)*day + 8*3600
		if at >= w.end {
			return
		}
		value += d.between(-2, 9)
		at = max(at, w.start)
		publish := func(version, at, value int64) {
			data := events.IndexValue{Series: indexSeries, Month: m, Value: tenths(value)}
			w.schedule.add(change{
				topic: events.IndexValues, id: indexSeries + ":" + m.String(), version: version, at: at,
				data: func() any { return &data },
			})
		}
		preliminary := value
		if d.in10000(1500) {
			preliminary--
		}
		publish(1, at, preliminary)
		if later := at + 30*day; preliminary != value && later < w.end {
			publish(2, later, value)
		}
	}
}
