package analytics

import "tallyhouse/schemas/calendar"

// dayCount is how a facility counts the days of interest (docs/calculations.md#interest-and-fee).
type dayCount struct {
	days func(from, until calendar.Date) int // until excluded
	year int
}

func dayCountOf(name string) dayCount {
	switch name {
	case "30/360":
		return dayCount{days: days30E, year: 360}
	case "ACT/365":
		return dayCount{days: actualDays, year: 365}
	}
	return dayCount{days: actualDays, year: 360}
}

func actualDays(from, until calendar.Date) int { return int(until - from) }

// days30E counts every month as 30 days: a 31st is a 30th, on both ends alike (30E/360).
func days30E(from, until calendar.Date) int { return day30E(until) - day30E(from) }

func day30E(d calendar.Date) int {
	m := d.Month()
	return int(m)*30 + min(int(d-m.First())+1, 30)
}
