package desk

import "fmt"

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
	return drawBars(nil, barOf{"budget", f.Commitment}, barOf{"forecast", plus(plus(nil, f.Drawn), f.Requested)}, barOf{"paid", f.Drawn})
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
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(f.name(v)).to(link), {Bars: f.bars()}, c.text(f.Currency), c.amount(f.Commitment),
			c.amount(f.Drawn).to(link), c.amount(f.Requested), c.amount(f.Available), c.date(text(f.NextIPD)), c.date(text(f.Maturity))}})
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

// facilityPage is what the page of one facility shows.
type facilityPage struct {
	Facts    []fact
	Bars     *bars
	Chart    *chart
	Periods  *table
	Entries  *table
	DayCount string
	Planned  bool
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
	entries, next, err := walk[facilityEntry](v, false, func(limit, cursor string) string {
		return target("/v0/facilities/%s/drawdowns", []string{id}, "limit", limit, "cursor", cursor)
	})
	if err != nil {
		return nil, err
	}
	page.DayCount, page.Next = s.DayCount, v.nextPage(next)
	page.Chart, page.Periods, page.Entries = v.balanceChart(&s), v.periodsTable(&s), v.entriesTable(f, entries)
	page.Facts = []fact{{Label: v.text("facilities.commitment"), Amount: f.Commitment, Class: "budget"},
		{Label: v.text("facilities.drawn"), Amount: f.Drawn, Class: "paid"},
		{Label: v.text("facilities.requested"), Amount: f.Requested, Class: "forecast"},
		{Label: v.text("facilities.available"), Amount: f.Available}}
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
		values := []int64{period.Balance.Value, 0}
		if period.Projected {
			values = []int64{0, period.Balance.Value}
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

func (v *visit) periodsTable(s *schedule) *table {
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
		t.Rows = append(t.Rows, row{Cells: []cell{c.date(period.Start), c.date(period.End), c.number(period.Days, ""),
			c.number(period.RateBp, "bp"), c.amount(period.Balance), c.amount(period.Interest), c.amount(period.CommitmentFee), state}})
	}
	return t
}

func (v *visit) entriesTable(f *facility, entries []facilityEntry) *table {
	t := &table{Name: "entries", Caption: v.text("facilities.entries"), Note: v.text("table.none"), Columns: []column{
		{Title: v.text("table.date")}, {Title: v.text("facilities.kind")}, {Title: v.text("contracts.status")},
		{Title: v.text("table.amount"), Unit: f.Currency, Number: true}}}
	c := cells{v.lang}
	for _, e := range entries {
		t.Rows = append(t.Rows, row{Cells: []cell{c.date(text(e.Date)), c.text(v.lang.Name("entryKind", e.Kind)),
			c.text(v.lang.Name("entryStatus", e.Status)), c.amount(e.Amount)}})
	}
	return t
}
