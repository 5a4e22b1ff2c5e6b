package demo

import (
	"cmp"
	"slices"
	"time"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// years is how far back the data go.
const years = 5

// world is everything but the records: what they are drawn from, and what depends on their sums.
type world struct {
	Options
	start, end  int64 // Unix seconds; the end is exclusive
	structures  []*structure
	contractors []contractor
	firms       int // contractors of each trade
	projects    []*project
	choice      [timeSlices]weights // of the project, by time
	schedule    schedule
	memberships int
	counted     int64 // records that are in the sums
}

func newWorld(o Options) *world {
	today := o.Now.UTC().Truncate(24 * time.Hour)
	w := &world{
		Options: o, start: today.AddDate(-years, 0, 0).Unix(), end: today.Unix(),
		projects: make([]*project, o.Projects),
	}
	w.schedule.topics = o.Topics
	w.drawStructures()
	w.drawProjects()
	w.drawContractors()
	for _, p := range w.projects {
		w.drawContracts(p)
		w.drawBudget(p)
		p.sums.from = w.firstMonth()
	}
	return w
}

// needsSums reports whether a wanted topic has amounts that depend on what is invoiced.
func (w *world) needsSums() bool {
	dependent := []events.Topic{
		events.BudgetRows, events.BudgetTransfers, events.UncommittedEntries, events.Contracts, events.Claims,
		events.ForecastSnapshots,
	}
	return slices.ContainsFunc(w.Topics, func(t events.Topic) bool { return slices.Contains(dependent, t) })
}

// count draws all records once and adds up what they book until the end; the amounts of budgets and contracts depend on
// it.
func (w *world) count() {
	for _, p := range w.projects {
		p.sums.lines = make([]months, len(p.nodes))
	}
	var r record
	for n := range w.Records {
		if w.Progress != nil && n%progressEvery == 0 {
			w.Progress(Progress{Counted: n})
		}
		if w.draw(n, &r); r.counts() {
			r.project.sums.add(&r)
		}
	}
	w.counted = w.Records
	for _, p := range w.projects {
		w.valueContracts(p)
		w.valueBudget(p)
	}
}

// plan schedules all changes but those of records, what others refer to first.
func (w *world) plan() {
	w.addAccess()
	w.addContractors()
	for _, s := range w.structures {
		w.addNodes(s.nodes)
	}
	w.addProjects()
	for _, p := range w.projects {
		w.addBudget(p)
		w.addContracts(p)
		w.addClaims(p)
		w.addSnapshots(p)
		w.addPlans(p)
		w.addUnits(p)
	}
	w.addIndex()
	w.addLoans()
	w.schedule.sort()
}

// firstMonth is the first month that is frozen in a snapshot.
func (w *world) firstMonth() calendar.Month {
	return calendar.Date(w.end/day).Month() - snapshotMonths
}

// change is one change of an entity that is no record.
type change struct {
	topic   events.Topic
	id      string
	version int64
	at      int64      // Unix seconds
	data    func() any // nil: a delete
}

// schedule has the changes that are wanted, in the order of time.
type schedule struct {
	topics []events.Topic
	list   []change
}

// add schedules a change, unless its topic isn't wanted.
func (a *schedule) add(c change) {
	if slices.Contains(a.topics, c.topic) {
		a.list = append(a.list, c)
	}
}

func (a *schedule) sort() {
	slices.SortStableFunc(a.list, func(x, y change) int { return cmp.Compare(x.at, y.at) })
}
