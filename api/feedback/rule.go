package feedback

import (
	"slices"
	"time"
)

// rule says which messages count, by caller: in the order of the log, those with fewer than Most that count in the day
// before them.
type rule map[string][]counted

type counted struct {
	id string
	at time.Time
}

// add takes the next message of the log and reports whether it counts. One that was there already doesn't count again.
// What the caller said long before is dropped.
func (r rule) add(by, id string, at time.Time) bool {
	if r.counts(by, id) || len(r.within(by, at)) >= Most {
		return false
	}
	kept := slices.DeleteFunc(r[by], func(c counted) bool { return at.Sub(c.at) > history })
	r[by] = append(kept, counted{id, at})
	return true
}

func (r rule) counts(by, id string) bool {
	return slices.ContainsFunc(r[by], func(c counted) bool { return c.id == id })
}

// within are the instants of the messages that count in the day that ends at the instant, ascending.
func (r rule) within(by string, at time.Time) (all []time.Time) {
	for _, c := range r[by] {
		if at.Sub(c.at) < Day {
			all = append(all, c.at)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// full reports whether one more message now would not count, and how long that lasts.
func (r rule) full(by string, now time.Time) (wait time.Duration, full bool) {
	all := r.within(by, now)
	if len(all) < Most {
		return 0, false
	}
	return all[len(all)-Most].Add(Day).Sub(now), true
}

// forget drops what was received before the instant, of all callers.
func (r rule) forget(before time.Time) {
	for by, all := range r {
		if all = slices.DeleteFunc(all, func(c counted) bool { return c.at.Before(before) }); len(all) == 0 {
			delete(r, by)
		} else {
			r[by] = all
		}
	}
}
