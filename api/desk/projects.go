package desk

import (
	"errors"
	"net/http"

	"tallyhouse/analytics"
)

// amount is money in minor units of a currency: an amount of the API, or a sum of such, which may be larger than any of them.
type amount struct {
	Value    analytics.Int128 `json:"value"`
	Currency string           `json:"currency"`
}

// minor is an amount of so many minor units.
func minor(units int64, currency string) *amount { return &amount{analytics.Int(units), currency} }

func (a *amount) isZero() bool { return a.Value.IsZero() }

// negative is the amount with the other sign.
func (a *amount) negative() *amount { return &amount{a.Value.Neg(), a.Currency} }

// project is what the API shows of a project.
type project struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	InboundEmail string `json:"inboundEmail"` // "" when there is none, or the person may not see it
}

// figures are the screens of what the ledger adds up to.
func (d *Desk) figures() []route {
	return []route{
		{"GET /projects", showProjects, asksPage},
		{"GET /projects/{project}", showProject, asksPage},
		{"GET /projects/{project}/summary", showSummary, asksPage},
		{"GET /projects/{project}/budget", showBudget, asksPage},
		{"GET /projects/{project}/lines/{line}", showLine, asksPage},
		{"GET /projects/{project}/outside", showOutside, asksPage},
		{"GET /projects/{project}/cashflow", showCashflow, asksPage},
		{"GET /projects/{project}/cashflow/{month}", showCashflowMonth, asksPage},
		{"GET /projects/{project}/contracts", showContracts, asksPage},
		{"GET /projects/{project}/contracts/{contract}", showContract, asksPage},
		{"GET /projects/{project}/rent-roll", showRentRoll, asksPage},
		{"GET /projects/{project}/rent-roll/sources", showRentSources, asksPage},
		{"GET /projects/{project}/leases/{lease}", showLease, asksPage},
		{"GET /projects/{project}/facilities", showFacilities, asksPage},
		{"GET /projects/{project}/facilities/{facility}", showFacility, asksPage},
		{"GET /projects/{project}/records", showRecords, asksPage},
		{"GET /projects/{project}/records/{record}", showRecord, asksPage},
	}
}

// figure is a screen of a project: its page, and what is on it.
type figure struct {
	tab    string
	title  string
	data   any
	tables []*table
}

// answer is the figure's page, or the CSV of one of its tables when that is asked for.
func (v *visit) answer(p *project, f figure) (answer, error) {
	if v.wantsCSV() {
		return v.sheet(f.tables)
	}
	v.offer(f.tables...)
	return view{name: f.tab, title: f.title, here: "projects", project: p, tab: f.tab, data: f.data}, nil
}

// project is the one that the request's path names.
func (v *visit) project() (*project, error) {
	var p project
	if err := v.ask(target("/v0/projects/%s", []string{v.request.PathValue("project")}), &p); err != nil {
		return nil, err
	}
	return &p, nil
}

// page is the address of a page of a project.
func (p *project) page(of string, parameters ...string) string {
	return target("/projects/%s/"+of, []string{p.ID}, parameters...)
}

// showProjects lists the projects. The figures of each come when it is scrolled to.
func showProjects(v *visit) (answer, error) {
	var list struct{ Data []project }
	if err := v.ask("/v0/projects", &list); err != nil {
		return nil, err
	}
	return view{name: "projects", title: v.text("projects.title"), here: "projects", data: list.Data}, nil
}

func showProject(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	return redirect(p.page("budget")), nil
}

// summary is what a project's card shows of its budget.
type summary struct {
	Page     string // the project's budget
	Currency string
	Budget   *amount
	Paid     *amount
	Estimate *amount
	Bars     *bars
	Over     *amount // what the estimate is beyond the budget; nil when it isn't
}

func showSummary(v *visit) (answer, error) {
	p, err := v.project()
	if err != nil {
		return nil, err
	}
	b, err := v.budget(p.ID, levelBudget)
	if err != nil && !errors.Is(err, errNotFound) {
		return nil, err
	}
	s := summary{}
	if err == nil && b.visible() {
		total := b.total()
		s = summary{Page: p.page("budget"), Currency: b.Currency, Budget: total.Budget, Paid: total.Paid, Estimate: total.EAC, Bars: total.bars()}
		if total.Variance != nil && total.Variance.Value.Sign() < 0 {
			s.Over = total.Variance.negative()
		}
	}
	return view{name: "summary", data: s, part: true, status: http.StatusOK}, nil
}
