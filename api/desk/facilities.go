package desk

import (
	"fmt"

	"tallyhouse/analytics"
)

// facility is what the API shows of a loan facility; nil is what the person may not see, or what has no value.
type facility struct {
	FacilityID string   `json:"facilityId"`
	ProjectIDs []string `json:"projectIds"`
	Lender     *string  `json:"lender"`
	Type       string   `json:"type"`
	Currency   string   `json:"currency"`
	Commitment *amount  `json:"commitment"`
	Drawn      *amount  `json:"drawn"`
	Requested  *amount  `json:"requested"`
	Available  *amount  `json:"available"`
	Maturity   *string  `json:"maturity"`
	NextIPD    *string  `json:"nextIpd"`
}

func (f *facility) name(v *visit) string {
	return fmt.Sprintf("%s, %s", text(f.Lender), v.lang.Name("facilityType", f.Type))
}

func (f *facility) bars() *bars {
	return drawBars(nil, barOf{"budget", f.Commitment}, barOf{"forecast", sumUp(f.Drawn, f.Requested)}, barOf{"paid", f.Drawn})
}

func (v *visit) facilities(p *project, all bool) ([]facility, string, error) {
	return walk[facility](v, all, func(limit, cursor string) string {
		return target("/v0/projects/%s/facilities", []string{p.ID}, "limit", limit, "cursor", cursor)
	})
}

func showFacilities(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	list, next, err := v.facilities(p, false)
	if err != nil {
		return nil, err
	}
	number := func(title string) column { return column{Title: v.text(title), Number: true} }
	t := &table{Name: "facilities", Caption: v.text("facilities.title"), Note: v.text("facilities.none"), Columns: []column{
		{Title: v.text("facilities.facility")}, {Title: v.text("budget.progress"), Bars: true}, {Title: v.text("table.currency")},
		number("facilities.commitment"), number("facilities.drawn"), number("facilities.requested"), number("facilities.available"),
		{Title: v.text("facilities.nextInterest")}, {Title: v.text("facilities.maturity")}}}
	c := cells{v.lang}
	for i := range list {
		f := &list[i]
		link := target("/projects/%s/facilities/%s", []string{p.ID, f.FacilityID})
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(f.name(v)).to(link), {Bars: f.bars()}, c.text(f.Currency),
			c.amount(f.Commitment).to(link),
			c.amount(f.Drawn).to(f.entries(p, entriesDrawn, "")), c.amount(f.Requested).to(f.entries(p, entriesRequested, "")),
			c.amount(f.Available).to(link), c.date(text(f.NextIPD)), c.date(text(f.Maturity))}})
	}
	page := listPage{Intro: v.text("facilities.intro"), Table: t, Next: v.nextPage(next)}
	return v.answer(p, figure{tab: "facilities", title: v.text("facilities.title"), data: page, tables: []*table{t}})
}

// schedule is what the API shows of a facility's interest periods.
type schedule struct {
	Currency string `json:"currency"`
	DayCount string `json:"dayCount"`
	Periods  []struct {
		Start         string      `json:"start"`
		End           string      `json:"end"`
		Days          *jsonNumber `json:"days"`
		RateBp        *jsonNumber `json:"rateBp"`
		Projected     bool        `json:"projected"`
		Balance       *amount     `json:"balance"`
		Interest      *amount     `json:"interest"`
		CommitmentFee *amount     `json:"commitmentFee"`
	} `json:"periods"`
}

type facilityEntry struct {
	Kind   string  `json:"kind"`
	Status string  `json:"status"`
	Date   *string `json:"date"`
	Amount *amount `json:"amount"`
}

// Which entries of a facility its page lists: all, those that the drawn amount or the requested one is made of.
const (
	entriesAll       = ""
	entriesDrawn     = "drawn"
	entriesRequested = "requested"
)

// entries is the address of the list of a facility's entries: of those that a figure is made of, where until is given as it was on the
// day before.
func (f *facility) entries(p *project, of, until string) string {
	return target("/projects/%s/facilities/%s", []string{p.ID, f.FacilityID}, "entries", of, "until", until) + "#t-entries"
}

// counts reports whether an entry is in the figure (docs/calculations.md#facilities), and with which sign.
func (e *facilityEntry) counts(of, until string) (sign int, ok bool) {
	if until != "" && text(e.Date) >= until { // dates as they are written sort as they are
		return 0, false
	}
	switch {
	case of == entriesRequested:
		return 1, e.Status == "requested" && e.Kind == "drawdown"
	case of == entriesDrawn && e.Kind == "repayment":
		return -1, e.Status == "funded"
	}
	return 1, of == entriesAll || e.Status == "funded"
}

// facilityPage is what the page of one facility shows.
type facilityPage struct {
	Facts    []fact
	Bars     *bars
	Chart    *chart
	Periods  *table
	Entries  *table
	DayCount string
	Planned  bool
	Filter   []string // what the entries are narrowed to, as people read it
	All      string   // the page without that
	Next     string
}

func showFacility(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	list, _, err := v.facilities(p, true)
	if err != nil {
		return nil, err
	}
	id := v.request.PathValue("facility")
	var f *facility
	for i := range list {
		if list[i].FacilityID == id {
			f = &list[i]
		}
	}
	if f == nil {
		return nil, errNotFound
	}
	page := facilityPage{Bars: f.bars(), Planned: v.request.URL.Query().Get("planned") == "true"}
	planned := ""
	if page.Planned {
		planned = "true"
	}
	var s schedule
	if err := v.ask(target("/v0/facilities/%s/schedule", []string{id}, "includePlanned", planned), &s); err != nil {
		return nil, err
	}
	of, until := v.request.URL.Query().Get("entries"), v.request.URL.Query().Get("until")
	if of != entriesDrawn && of != entriesRequested {
		of, until = entriesAll, ""
	}
	entries, next, err := walk[facilityEntry](v, of != entriesAll, func(limit, cursor string) string {
		return target("/v0/facilities/%s/drawdowns", []string{id}, "limit", limit, "cursor", cursor)
	})
	if err != nil {
		return nil, err
	}
	page.DayCount, page.Next, page.All = s.DayCount, v.nextPage(next), target("/projects/%s/facilities/%s", []string{p.ID, id})
	page.Chart, page.Periods, page.Entries = v.balanceChart(&s), v.periodsTable(p, f, &s, page.Planned), v.entriesTable(f, entries, of, until)
	page.Facts = []fact{{Label: v.text("facilities.commitment"), Amount: f.Commitment, Class: "budget", Note: v.text("facilities.agreed")},
		{Label: v.text("facilities.drawn"), Amount: f.Drawn, Class: "paid", Link: f.entries(p, entriesDrawn, "")},
		{Label: v.text("facilities.requested"), Amount: f.Requested, Class: "forecast", Link: f.entries(p, entriesRequested, "")},
		{Label: v.text("facilities.available"), Amount: f.Available, Note: v.text("facilities.availableNote")}}
	switch {
	case of == entriesDrawn && until != "":
		page.Filter = []string{v.text("facilities.drawn"), v.text("facilities.until", cells{v.lang}.date(until).Text)}
	case of == entriesDrawn:
		page.Filter = []string{v.text("facilities.drawn")}
	case of == entriesRequested:
		page.Filter = []string{v.text("facilities.requested")}
	}
	return v.answer(p, figure{tab: "facility", title: f.name(v), data: page, tables: []*table{page.Periods, page.Entries}})
}

func (v *visit) balanceChart(s *schedule) *chart {
	c := cells{v.lang}
	var columns []chartColumn
	year := ""
	for _, period := range s.Periods {
		if period.Balance == nil {
			return nil
		}
		values := []analytics.Int128{period.Balance.Value, {}}
		if period.Projected {
			values = []analytics.Int128{{}, period.Balance.Value}
		}
		col := chartColumn{values: values, title: v.text("facilities.tip", c.date(period.Start).Text, c.date(period.End).Text,
			c.Amount(period.Balance.Value, period.Balance.Currency), period.Balance.Currency)}
		if len(period.Start) > 4 && period.Start[:4] != year {
			year = period.Start[:4]
			col.label = year
		}
		columns = append(columns, col)
	}
	return drawChart(v.lang, v.text("facilities.chart", s.Currency), s.Currency, []string{"paid", "forecast"}, columns)
}

func (v *visit) periodsTable(p *project, f *facility, s *schedule, planned bool) *table {
	amounts := func(title string) column { return column{Title: v.text(title), Unit: s.Currency, Number: true} }
	t := &table{Name: "periods", Caption: v.text("facilities.periods"), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("rent.start")}, {Title: v.text("rent.end")}, {Title: v.text("facilities.days"), Number: true},
		{Title: v.text("facilities.rate"), Number: true}, amounts("facilities.balance"), amounts("facilities.interest"),
		amounts("facilities.fee"), {Title: v.text("contracts.status")}}}
	c := cells{v.lang}
	for _, period := range s.Periods {
		state := c.text(v.text("facilities.fixed"))
		if period.Projected {
			state = c.text(v.text("facilities.projected")).badge("warn")
		}
		balance := c.amount(period.Balance)
		if !planned { // what is planned for days that are past counts today, which no list of entries shows
			balance = balance.to(f.entries(p, entriesDrawn, period.End))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{c.date(period.Start), c.date(period.End), c.number(period.Days, ""),
			c.number(period.RateBp, "bp"), balance, c.amount(period.Interest), c.amount(period.CommitmentFee), state}})
	}
	return t
}

// entriesTable lists entries; those that a figure is made of with their sum.
func (v *visit) entriesTable(f *facility, entries []facilityEntry, of, until string) *table {
	t := &table{Name: "entries", Caption: v.text("facilities.entries"), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("table.date")}, {Title: v.text("facilities.kind")}, {Title: v.text("contracts.status")},
		{Title: v.text("table.amount"), Unit: f.Currency, Number: true}}}
	c := cells{v.lang}
	sum := &amount{Currency: f.Currency}
	for i := range entries {
		e := &entries[i]
		sign, ok := e.counts(of, until)
		if !ok {
			continue
		}
		if e.Amount != nil && of != entriesAll {
			if sign < 0 {
				e.Amount = e.Amount.negative()
			}
			sum = sumUp(sum, e.Amount)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{c.date(text(e.Date)), c.text(v.lang.Name("entryKind", e.Kind)),
			c.text(v.lang.Name("entryStatus", e.Status)), c.amount(e.Amount)}})
	}
	if of != entriesAll && len(t.Rows) > 0 {
		t.Rows = append(t.Rows, row{Total: true, Cells: []cell{c.text(v.text("budget.total")), {}, {}, c.amount(sum)}})
	}
	return t
}
