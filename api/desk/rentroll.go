package desk

import (
	"cmp"
	"strings"
)

// rentRoll is what the API shows of a rent roll; without a currency the person may not see it.
type rentRoll struct {
	AsOf                   string      `json:"asOf"`
	Currency               string      `json:"currency"`
	PassingRentAnnual      *amount     `json:"passingRentAnnual"`
	PassingRentOtherAnnual *amount     `json:"passingRentOtherAnnual"`
	ForwardRent12m         *amount     `json:"forwardRent12m"`
	LetAreaM2              *jsonNumber `json:"letAreaM2"`
	TotalAreaM2            *jsonNumber `json:"totalAreaM2"`
	VacancyPct             *jsonNumber `json:"vacancyPct"`
	WAULTToExpiryYears     *jsonNumber `json:"waultToExpiryYears"`
	WAULTToBreakYears      *jsonNumber `json:"waultToBreakYears"`
	Leases                 []struct {
		LeaseID           string   `json:"leaseId"`
		Category          string   `json:"category"`
		Counterparty      *string  `json:"counterparty"`
		Status            string   `json:"status"`
		UnitIDs           []string `json:"unitIds"`
		Start             string   `json:"start"`
		EffectiveEnd      string   `json:"effectiveEnd"`
		FirstBreak        *string  `json:"firstBreak"`
		PassingRentAnnual *amount  `json:"passingRentAnnual"`
		Indexation        *string  `json:"indexation"`
	} `json:"leases"`
}

// hidden reports whether the person may not see it.
func (r *rentRoll) hidden() bool { return r.Currency == "" }

type unit struct {
	UnitID string  `json:"unitId"`
	Label  *string `json:"label"`
}

func showRentRoll(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	var r rentRoll
	month := v.request.URL.Query().Get("month")
	if err := v.areMonths(month); err != nil {
		return nil, err
	}
	if err := v.ask(target("/v0/projects/%s/rent-roll", []string{p.ID}, "asOf", month), &r); err != nil {
		return nil, err
	}
	page := listPage{Hidden: r.hidden(), Month: r.AsOf}
	f := figure{tab: "rent-roll", title: v.text("rent.title")}
	if !page.Hidden {
		units, err := v.units(p, 1)
		if err != nil {
			return nil, err
		}
		page.Facts, page.Table = v.rentFacts(p, &r), v.leasesTable(p, &r, units)
		f.tables = []*table{page.Table}
	}
	f.data = page
	return v.answer(p, f)
}

// units are the labels of a project's units, of so many pages of them: the first is enough for people to know most of them by.
func (v *visit) units(p *project, pages int) (map[string]string, error) {
	labels, cursor := map[string]string{}, ""
	for range pages {
		var list listed[unit]
		if err := v.ask(target("/v0/projects/%s/units", []string{p.ID}, "limit", csvItems, "cursor", cursor), &list); err != nil {
			return nil, err
		}
		for _, u := range list.Data {
			if u.Label != nil {
				labels[u.UnitID] = *u.Label
			}
		}
		if list.Page.NextCursor == nil {
			break
		}
		cursor = *list.Page.NextCursor
	}
	return labels, nil
}

func (v *visit) rentFacts(p *project, r *rentRoll) []fact {
	c := cells{v.lang}
	sources := p.page("rent-roll/sources", "month", r.AsOf)
	area := fact{Label: v.text("rent.vacancy"), Link: sources + "#t-units", Text: c.number(r.VacancyPct, "%").Text}
	if r.LetAreaM2 != nil && r.TotalAreaM2 != nil {
		area.Note = v.text("rent.area", c.Number(string(*r.LetAreaM2)), c.Number(string(*r.TotalAreaM2)))
	}
	passing := fact{Label: v.text("rent.passing"), Amount: r.PassingRentAnnual, Link: sources}
	if o := r.PassingRentOtherAnnual; o != nil && !o.isZero() {
		passing.Note = v.text("rent.other", c.Amount(o.Value, o.Currency), o.Currency)
	}
	facts := []fact{passing, {Label: v.text("rent.forward"), Amount: r.ForwardRent12m, Link: sources}, area}
	if r.WAULTToExpiryYears != nil {
		f := fact{Label: v.text("rent.wault"), Link: sources, Text: v.text("rent.years", c.Number(string(*r.WAULTToExpiryYears)))}
		if r.WAULTToBreakYears != nil {
			f.Note = v.text("rent.waultToBreak", c.Number(string(*r.WAULTToBreakYears)))
		}
		facts = append(facts, f)
	}
	return facts
}

func (v *visit) leasesTable(p *project, r *rentRoll, units map[string]string) *table {
	caption := v.text("rent.caption", cells{v.lang}.month(r.AsOf).Text)
	t := &table{Name: "leases", Caption: caption, Note: v.text("table.none"), Columns: []column{
		{Title: v.text("rent.tenant")}, {Title: v.text("rent.units")}, {Title: v.text("rent.category")},
		{Title: v.text("contracts.status")}, {Title: v.text("rent.start")}, {Title: v.text("rent.end")}, {Title: v.text("rent.break")},
		{Title: v.text("rent.share"), Bars: true}, {Title: v.text("table.currency")}, {Title: v.text("rent.rent"), Number: true},
		{Title: v.text("rent.indexation")}}}
	c := cells{v.lang}
	for _, l := range r.Leases {
		labels := make([]string, len(l.UnitIDs))
		for i, id := range l.UnitIDs {
			if labels[i] = units[id]; labels[i] == "" {
				labels[i] = id
			}
		}
		end := c.date(l.EffectiveEnd)
		if l.EffectiveEnd == "" {
			end = c.text(v.text("rent.indefinite"))
		}
		var share *bars
		if a := l.PassingRentAnnual; a != nil && a.Currency == r.Currency && a.Value.Sign() > 0 {
			share = drawBars(nil, barOf{"budget", r.PassingRentAnnual}, barOf{"invoiced", a})
		}
		link := p.lease(l.LeaseID, r.AsOf)
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(cmp.Or(text(l.Counterparty), l.LeaseID)).to(link), c.text(strings.Join(labels, ", ")),
			c.text(v.lang.Name("leaseCategory", l.Category)), c.text(v.lang.Name("leaseStatus", l.Status)), c.date(l.Start), end,
			c.date(text(l.FirstBreak)), {Bars: share}, c.text(currencyOf(l.PassingRentAnnual)), c.amount(l.PassingRentAnnual).to(link),
			c.text(text(l.Indexation))}})
	}
	return t
}
