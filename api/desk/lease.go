package desk

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
)

// rentMonth is the month of a rent roll that the request is for, as the API understands it, with the rent roll.
func (v *visit) rentMonth(p *project) (rentRoll, calendar.Month, error) {
	var r rentRoll
	asked := v.request.URL.Query().Get("month")
	if err := v.areMonths(asked); err != nil {
		return r, 0, err
	}
	if err := v.ask(target("/v0/projects/%s/rent-roll", []string{p.ID}, "asOf", asked), &r); err != nil {
		return r, 0, err
	}
	if r.hidden() {
		return r, 0, nil
	}
	month, err := calendar.ParseMonth(r.AsOf)
	return r, month, err
}

// rentSourcesPage is what the page shows of what the figures of a rent roll are made of.
type rentSourcesPage struct {
	Hidden bool
	Month  string
	Terms  string // how the average term comes about
	Leases *table
	Units  *table
}

func showRentSources(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	r, month, err := v.rentMonth(p)
	if err != nil {
		return nil, err
	}
	page := rentSourcesPage{Hidden: r.hidden(), Month: r.AsOf}
	f := figure{tab: "rent-sources", title: v.text("rent.sources")}
	if !page.Hidden {
		leases, units, err := v.desk.sources.RentSources(v.request.Context(), reader.RentRollRequest{Tenant: v.caller.Tenant(), Project: p.ID,
			Currency: r.Currency, Month: month, Today: v.desk.api.Today()})
		if err != nil {
			return nil, err
		}
		labels, err := v.units(p, csvPages)
		if err != nil {
			return nil, err
		}
		page.Leases, page.Units = v.rentSources(p, &r, leases), v.areas(p, &r, leases, units, labels)
		page.Terms = v.termText(&r)
		f.tables = []*table{page.Leases, page.Units}
	}
	f.data = page
	return v.answer(p, f)
}

// lease is the address of a lease's page, seen from a month.
func (p *project) lease(id, month string) string {
	return target("/projects/%s/leases/%s", []string{p.ID, id}, "month", month)
}

// rentSources lists what each lease puts into the figures; those in other currencies are in no total.
func (v *visit) rentSources(p *project, r *rentRoll, leases []analytics.RentSource) *table {
	amounts := func(title string) column { return column{Title: v.text(title), Number: true} }
	t := &table{Name: "leases", Caption: v.text("rent.sourcesCaption", cells{v.lang}.month(r.AsOf).Text), Note: v.text("table.none"),
		Columns: []column{{Title: v.text("rent.tenant")}, {Title: v.text("rent.category")}, {Title: v.text("contracts.status")},
			{Title: v.text("table.currency")}, amounts("rent.ofMonth"), amounts("rent.aYear"), amounts("rent.weight"),
			{Title: v.text("rent.daysToEnd"), Number: true}, {Title: v.text("rent.daysToBreak"), Number: true}, amounts("rent.forward")}}
	c := cells{v.lang}
	var passing, annual, weights, forward analytics.Int128
	for i := range leases {
		l := &leases[i]
		link := p.lease(l.ID, r.AsOf)
		money := func(n analytics.Int128) cell { return c.amount(&amount{n, l.Currency}) }
		cells := []cell{c.text(cmp.Or(l.CounterpartyName.V, l.ID)).to(link), c.text(v.lang.Name("leaseCategory", l.Category)),
			c.text(v.lang.Name("leaseStatus", l.Status)), c.text(l.Currency), {kind: plainCell}, {kind: plainCell}, {kind: plainCell},
			{kind: plainCell}, {kind: plainCell}, {kind: plainCell}}
		if l.InForce {
			cells[4], cells[5] = money(l.Passing).to(link), money(l.PassingAnnual).to(link)
		}
		if l.DaysToExpiry.Ok {
			cells[6], cells[7], cells[8] = money(l.Contracted).to(link), c.whole(l.DaysToExpiry.V), c.whole(l.DaysToBreak.V)
			weights = weights.Add(l.Contracted)
		}
		if l.InTotals {
			cells[9] = money(l.Forward).to(link)
			passing, annual, forward = passing.Add(l.Passing), annual.Add(l.PassingAnnual), forward.Add(l.Forward)
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	total := func(n analytics.Int128) cell { return c.amount(&amount{n, r.Currency}) }
	if len(t.Rows) > 0 {
		t.Rows = append(t.Rows, row{Total: true, Cells: []cell{c.text(v.text("budget.total")), {}, {}, c.text(r.Currency), total(passing),
			total(annual), total(weights), {kind: plainCell}, {kind: plainCell}, total(forward)}})
	}
	return t
}

func (v *visit) termText(r *rentRoll) string {
	if r.WAULTToExpiryYears == nil || r.WAULTToBreakYears == nil {
		return ""
	}
	return v.text("rent.termText", v.lang.Number(string(*r.WAULTToExpiryYears)), v.lang.Number(string(*r.WAULTToBreakYears)))
}

// areas lists the units whose areas count, and who rents them.
func (v *visit) areas(p *project, r *rentRoll, leases []analytics.RentSource, units []analytics.Unit, labels map[string]string) *table {
	c := cells{v.lang}
	t := &table{Name: "units", Caption: v.text("rent.areas"), Note: v.text("table.none"), Columns: []column{{Title: v.text("rent.unit")},
		{Title: v.text("rent.tenant")}, {Title: v.text("rent.size"), Number: true}, {Title: v.text("rent.sizeLet"), Number: true}}}
	let := map[string]*analytics.RentSource{}
	for i := range leases {
		if l := &leases[i]; l.Lets {
			for _, id := range l.UnitIDs {
				if let[id] == nil {
					let[id] = l
				}
			}
		}
	}
	units = slices.DeleteFunc(units, func(u analytics.Unit) bool { return !u.Counts() })
	slices.SortFunc(units, func(a, b analytics.Unit) int {
		return strings.Compare(cmp.Or(labels[a.ID], a.ID), cmp.Or(labels[b.ID], b.ID))
	})
	for i := range units {
		u := &units[i]
		size := jsonNumber(u.AreaM2.V.String())
		area, tenant, used := c.number(&size, ""), c.text(v.text("rent.vacant")), cell{kind: plainCell}
		if l := let[u.ID]; l != nil {
			tenant, used = c.text(cmp.Or(l.CounterpartyName.V, l.ID)).to(p.lease(l.ID, r.AsOf)), area
		}
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(cmp.Or(labels[u.ID], u.ID)), tenant, area, used}})
	}
	if len(t.Rows) > 0 {
		t.Rows = append(t.Rows, row{Total: true, Cells: []cell{c.text(v.text("budget.total")), {}, c.number(r.TotalAreaM2, ""),
			c.number(r.LetAreaM2, "")}})
	}
	return t
}

// leasePage is what the page of one lease shows.
type leasePage struct {
	Month   string
	Facts   []fact
	Details []fact
	Terms   *table
	Months  *table
	Roll    string
}

func showLease(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	r, month, err := v.rentMonth(p)
	if err != nil {
		return nil, err
	}
	if r.hidden() { // who sees no rents sees no leases
		return nil, errNotFound
	}
	l, err := v.desk.sources.Lease(v.request.Context(), v.caller.Tenant(), p.ID, v.request.PathValue("lease"))
	if errors.Is(err, reader.ErrNotFound) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, err
	}
	labels, err := v.units(p, csvPages)
	if err != nil {
		return nil, err
	}
	page := leasePage{Month: r.AsOf, Terms: v.leaseTerms(&l), Details: v.leaseDetails(&l, labels), Roll: p.page("rent-roll", "month", r.AsOf)}
	page.Facts, page.Months = v.leaseMonths(p, &l, month)
	return v.answer(p, figure{tab: "lease", title: cmp.Or(l.CounterpartyName.V, l.ID), data: page, tables: []*table{page.Months, page.Terms}})
}

func (v *visit) leaseDetails(l *reader.LeaseTerms, labels map[string]string) []fact {
	c := cells{v.lang}
	names := make([]string, len(l.UnitIDs))
	for i, id := range l.UnitIDs {
		names[i] = cmp.Or(labels[id], id)
	}
	end := v.text("rent.indefinite")
	if l.End.Ok {
		end = c.Date(l.End.V)
	}
	return []fact{{Label: v.text("rent.category"), Text: v.lang.Name("leaseCategory", l.Category)},
		{Label: v.text("contracts.status"), Text: v.lang.Name("leaseStatus", l.Status)},
		{Label: v.text("rent.units"), Text: strings.Join(names, ", ")},
		{Label: v.text("rent.start"), Text: c.Date(l.Start)}, {Label: v.text("rent.end"), Text: end},
		{Label: v.text("rent.indexation"), Text: v.indexationText(l)}}
}

// indexationText says what the rent follows: as it was written, else as it is computed.
func (v *visit) indexationText(l *reader.LeaseTerms) string {
	x := l.Indexation.V
	switch {
	case l.IndexationText.V != "":
		return l.IndexationText.V
	case x.Type == "fixed":
		return v.text("rent.fixed", v.percent(x.RateBp), v.lang.Date(x.FirstOn), x.EveryMonths)
	case x.Type == "cpi":
		return v.text("rent.cpi", x.Series, cells{v.lang}.month(x.BaseMonth.String()).Text, v.percent(x.ThresholdBp))
	}
	return ""
}

// leaseTerms lists what was agreed over time: the rent and its steps, time free of rent, and breaks.
func (v *visit) leaseTerms(l *reader.LeaseTerms) *table {
	c := cells{v.lang}
	t := v.sourceTable("terms", v.text("rent.terms"), l.Currency, column{Title: v.text("sources.what")}, column{Title: v.text("rent.start")},
		column{Title: v.text("rent.end")})
	add := func(what string, from calendar.Date, to string, rent cell) {
		t.Rows = append(t.Rows, row{Cells: []cell{c.text(what), c.date(from.String()), c.date(to), rent}})
	}
	add(v.text("rent.monthly"), l.Start, "", c.amount(minor(l.MonthlyRent, l.Currency)))
	for _, s := range l.Steps {
		add(v.text("rent.step"), s.From, "", c.amount(minor(s.MonthlyRent, l.Currency)))
	}
	for _, r := range l.RentFree {
		add(v.text("rent.free"), r.From, r.To.String(), c.amount(minor(0, l.Currency)))
	}
	for _, b := range l.Breaks {
		add(v.text("rent.breakOf", v.lang.Name("breakParty", b.Party), v.lang.Name("breakState", b.State)), b.Date, "", cell{kind: plainCell})
	}
	return t
}

// leaseMonths are the rents of a month and the eleven that follow, and what they come to.
func (v *visit) leaseMonths(p *project, l *reader.LeaseTerms, month calendar.Month) ([]fact, *table) {
	c := cells{v.lang}
	money := func(n analytics.Int128) cell { return c.amount(&amount{n, l.Currency}) }
	amounts := func(title string) column { return column{Title: v.text(title), Unit: l.Currency, Number: true} }
	t := &table{Name: "months", Caption: v.text("rent.months"), Note: v.text("rent.noMonths"),
		Columns: []column{{Title: v.text("cashflow.month")},
			amounts("rent.base"), amounts("rent.contracted"), {Title: v.text("sources.from")}, amounts("rent.payable")}}
	whole := analytics.NewLease(l.ID, &l.Lease)
	var passing, forward analytics.Int128
	for _, rent := range analytics.LeaseRents(&whole, l.Indexes, month) {
		why := ""
		switch {
		case rent.RentFree:
			why = v.text("rent.free")
		case rent.Payable != rent.Contracted:
			why = v.text("rent.partly")
		}
		if rent.Month == month {
			passing = rent.PassingAnnual()
		}
		forward = forward.Add(rent.Payable)
		t.Rows = append(t.Rows, row{Cells: []cell{c.month(rent.Month.String()).to(p.page("rent-roll", "month", rent.Month.String())),
			c.amount(minor(rent.Base, l.Currency)), money(rent.Contracted), c.text(why), money(rent.Payable)}})
	}
	if len(t.Rows) > 0 {
		t.Rows = append(t.Rows, row{Total: true, Cells: []cell{c.text(v.text("budget.total")),
			{kind: plainCell}, {kind: plainCell}, {}, money(forward)}})
	}
	var facts []fact
	for _, one := range []struct {
		label string
		sum   analytics.Int128
		note  string
	}{{"rent.passing", passing, v.text("rent.twelveTimes", c.month(month.String()).Text)}, {"rent.forward", forward, ""}} {
		facts = append(facts, fact{Label: v.text(one.label), Amount: &amount{one.sum, l.Currency}, Link: "#t-months", Note: one.note})
	}
	return facts, t
}
