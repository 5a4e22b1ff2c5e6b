package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api/desk"
	"tallyhouse/api/desk/confirmation"
	"tallyhouse/api/desk/desktest"
	"tallyhouse/api/desk/signin"
	"tallyhouse/api/session"
	"tallyhouse/deploy/demo"
	"tallyhouse/ingest/store"
)

// otherTenant is a company beside the sample's, with a user ada of its own.
const otherTenant = "acme"

// deskWorld is the desk on a small sample of two companies, in a browser.
type deskWorld struct {
	*process
	api       *openAPI
	browser   *desktest.Browser
	originals desk.Originals         // nil where none are kept
	publisher confirmation.Publisher // nil for the usual one
}

func newDeskWorld(t *testing.T) *deskWorld {
	t.Helper()
	s := &deskWorld{process: newProcess(t), browser: desktest.Start(t)}
	var lines bytes.Buffer
	s.must(demo.Write(&lines, demo.Options{Topics: store.Topics(), Projects: 2, Records: 400}))
	s.must(demo.Write(&lines, demo.Options{Topics: store.Topics(), Projects: 1, Records: 40, Tenant: otherTenant, Seed: 7}))
	s.load(lines.String())
	var err error
	s.api, err = s.openAPI(apiFlags{environment: "test", now: demo.Now().Format(time.RFC3339)}, s.servers, prometheus.NewRegistry())
	s.must(err)
	t.Cleanup(s.api.close)
	s.background("API", func(ctx context.Context) error { s.api.Follow(ctx); return nil })
	s.must(until(s.within(startsWithin), s.api.Ready))
	return s
}

const maxAmountOfTests = 1_000_000_00

// desk is a desk that a user can sign in at, by the link.
func (s *deskWorld) desk(t testing.TB, tenant, user string) (url, link string) {
	t.Helper()
	codes := signin.NewCodes(session.User{Tenant: tenant, ID: user}, func(string) {})
	publisher := s.publisher
	if publisher == nil {
		publisher = confirmations{s.servers.kafka}
	}
	server := httptest.NewUnstartedServer(nil)
	url = "http://" + server.Listener.Addr().String()
	d, err := desk.New(desk.Options{API: s.api.Server, Sources: s.api.sources, Inbox: s.api.inbox, Originals: s.originals, URL: url, Codes: codes, Log: s.log,
		Publisher: publisher, MaxAmount: maxAmountOfTests})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = d.Handler()
	server.Start()
	t.Cleanup(server.Close)
	return url, url + desk.CodePath + codes.Code()
}

// signedIn is a person at a desk of their own.
func (s *deskWorld) signedIn(t *testing.T, tenant, user, language string) (p *desktest.Person, url string) {
	t.Helper()
	url, link := s.desk(t, tenant, user)
	p = s.browser.Person(t, language)
	p.Open(link)
	return p, url
}

var pictures = flag.String("pictures", "", "folder that pictures of the desk's screens are written to")

// maxPicture bounds a picture, in bytes.
const maxPicture = 150_000

// takePicture writes what the window shows to a picture of docs/desk.md.
func takePicture(p *desktest.Person, name string) {
	p.Helper()
	picture := p.Picture()
	name = filepath.Join(*pictures, "desk-"+name+".png")
	if err := os.WriteFile(name, picture, 0o644); err != nil || len(picture) > maxPicture {
		p.Errorf("%s has %d bytes: %v", name, len(picture), err)
	}
}

// takesPictures takes each screen of figures by day, and some by night and on a phone.
func (s *deskWorld) takesPictures(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	take := func(screen screen, suffix string, width int64, dark bool) {
		p.Window(width, dark)
		p.Open(url + screen.path)
		takePicture(p, screen.name+suffix)
	}
	for _, screen := range screens {
		if !strings.Contains(screen.name, " ") {
			take(screen, "", pictureWidth, false)
		}
		if screen.name == "budget" || screen.name == "cashflow" {
			take(screen, "-dark", pictureWidth, true)
			take(screen, "-phone", desktest.Phone, false)
		}
	}
}

const pictureWidth = 1280

// TestTheDeskInABrowser looks at every screen; they share the sample and the browser, because starting those takes the longest.
func TestTheDeskInABrowser(t *testing.T) {
	s := newDeskWorld(t)
	t.Run("lets in who has a code, once", s.letsInWhoHasACode)
	t.Run("shows each screen to everybody", s.showsEachScreen)
	t.Run("shows nothing of another tenant", s.showsNothingOfAnotherTenant)
	t.Run("shows a guest no amounts", s.showsAGuestNoAmounts)
	t.Run("is used by keyboard", s.isUsedByKeyboard)
	t.Run("has all tabs and whole dates on a phone", s.hasTabsAndDatesOnAPhone)
	t.Run("names a filter once", s.namesAFilterOnce)
	t.Run("says in the person's language what is wrong with a month", s.saysWhatIsWrongWithAMonth)
	t.Run("gives its tables as CSV", s.givesItsTablesAsCSV)
	t.Run("leads from a figure to what it is made of", s.leadsToWhatAFigureIsMadeOf)
	t.Run("leads from every figure to its source", s.leadsFromEveryFigureToItsSource)
	t.Run("shows sources that add up to their figures", s.showsSourcesThatAddUp)
	t.Run("refuses forms and scripts of others", s.refusesFormsAndScriptsOfOthers)
	t.Run("runs as a process", s.runsAsAProcess)
	if *pictures != "" {
		t.Run("takes pictures", s.takesPictures)
	}
}

// Given the desk as `tallyhouse desk` runs it, then people can sign in at their provider, and operators see how it is.
func (s *deskWorld) runsAsAProcess(t *testing.T) {
	at, operators := free(t), free(t)
	f := deskFlags{addr: at, url: "http://" + at, client: signin.Client{Issuer: "https://id.example.com/", ID: "desk"}}
	f.mail.maxAmount = 1
	answering := apiFlags{environment: "test", metricsAddr: operators}
	s.background("desk", func(ctx context.Context) error {
		return s.runDesk(ctx, f, answering, s.servers, prometheus.NewRegistry())
	})
	get := func(url, want string) error {
		answer, err := http.Get(url)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err == nil && (answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want)) {
			err = fmt.Errorf("%s: %d %.500s, want %q", url, answer.StatusCode, body, want)
		}
		return err
	}
	s.must(until(s.within(startsWithin), func() error { return get("http://"+operators+"/readyz", "ok") }))
	s.must(get("http://"+operators+"/metrics", "tallyhouse_api_access_confirmed_timestamp_seconds"))
	s.must(get("http://"+at+"/healthz", "ok"))
	s.must(get("http://"+at+"/projects", "/signin/start"))
}

// Given a link with a code, when it is opened twice, then it signs in once; and whoever signs out is out.
func (s *deskWorld) letsInWhoHasACode(t *testing.T) {
	url, link := s.desk(t, demo.DefaultTenant, "ada")
	p := s.browser.Person(t, "en")
	p.Open(url + "/projects")
	if text := p.Text(); !strings.Contains(text, "Sign in") || strings.Contains(text, "Lindenhof") {
		t.Errorf("a stranger sees %s", text)
	}
	p.Check("the page to sign in")
	p.Open(link)
	if text := p.Text(); !strings.Contains(text, "Quartier Lindenhof") || !strings.Contains(text, "ada") {
		t.Errorf("the person sees %s", text)
	}
	p.Do(chromedp.Click("form.person button"))
	p.Wait(`location.pathname === "/signin"`)
	p.Settled()
	if text := p.Text(); !strings.Contains(text, "You are signed out.") {
		t.Errorf("the person sees %s", text)
	}
	p.Expect("403")
	p.Open(link)
	if text := p.Text(); !strings.Contains(text, "has been used") {
		t.Errorf("the second time the link shows %s", text)
	}
	p.Open(url + "/projects")
	if text := p.Text(); strings.Contains(text, "Lindenhof") {
		t.Errorf("who has signed out sees %s", text)
	}
}

// screen is one of the figures, on the sample, and what it shows in German.
type screen struct{ name, path, shows string }

// firstScreen is the only one that shows the user of another tenant something: their own projects.
const firstScreen = "/projects"

// screens are all screens of the figures. They are of a project that the other tenant has not.
var screens = []screen{
	{"projects", firstScreen, "Wohnen am Mühlbach"},
	{"budget", "/projects/pr-0002/budget", "Erwartete Kosten"},
	{"line", "/projects/pr-0002/lines/nd-r-018", "Woraus das Budget besteht"},
	{"outside lines", "/projects/pr-0002/outside", "Auf keiner Budgetposition"},
	{"outside currency", "/projects/pr-0002/outside?currency=CHF", "Verrechnet in CHF"},
	{"cashflow", "/projects/pr-0002/cashflow", "Monat für Monat"},
	{"cashflow of a line", "/projects/pr-0002/cashflow?line=nd-r-018&from=2026-01&to=2027-06", "Monat für Monat"},
	{"cashflow-month", "/projects/pr-0002/cashflow/2026-12", "was jede Position selbst zahlt"},
	{"contracts", "/projects/pr-0002/contracts", "Beauftragt"},
	{"over-invoiced contracts", "/projects/pr-0002/contracts?only=over", "Nur überverrechnete"},
	{"contract", "/projects/pr-0002/contracts/co-0002-005", "Was vereinbart ist"},
	{"records", "/projects/pr-0002/records?status=paid", "Rechnungsdatum"},
	{"rent-roll", "/projects/pr-0002/rent-roll?month=2026-10", "Leerstand"},
	{"rent-sources", "/projects/pr-0002/rent-roll/sources?month=2026-10", "Flächen des Objekts"},
	{"lease", "/projects/pr-0002/leases/le-0002-01?month=2026-10", "Was vereinbart ist"},
	{"facilities", "/projects/pr-0002/facilities", "Kreditgeber"},
	{"facility", "/projects/pr-0002/facilities/fa-0002", "Zinsperioden"},
	{"drawn entries", "/projects/pr-0002/facilities/fa-0002?entries=drawn&until=2026-10-01", "vor dem 01.10.2026"},
}

// maxPage bounds a page with all that it loads, in bytes over the wire.
const maxPage = 100_000

// Given a person, when they open each screen, on a phone or a large screen, by day or by night, then they find what it is about, and
// axe-core finds nothing.
func (s *deskWorld) showsEachScreen(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "de-AT")
	for _, screen := range screens {
		looksAt(p, url, screen.path, screen.shows)
	}
}

// looksAt looks at a screen on a phone and a large screen by day, and on the large one by night, too: scripts don't know which it is, so
// that the night changes colours alone, which are the same on a phone.
func looksAt(p *desktest.Person, url, path, shows string) {
	p.Helper()
	for _, width := range []int64{desktest.Phone, desktest.Screen} {
		p.Window(width, false)
		received := p.Open(url + path)
		if text := p.Text(); !strings.Contains(text, shows) {
			p.Errorf("%s does not show %q: %s", path, shows, text)
		}
		if received > maxPage {
			p.Errorf("%s takes %d bytes", path, received)
		}
		p.Check(path)
	}
	p.Window(desktest.Screen, true)
	p.CheckColours(path + " by night")
}

// Given a user of another company, when they open any screen of the first one's, then nothing of it is there.
func (s *deskWorld) showsNothingOfAnotherTenant(t *testing.T) {
	p, url := s.signedIn(t, otherTenant, "ada", "en")
	p.Expect("404")
	for _, screen := range screens {
		p.Open(url + screen.path)
		text := p.Text()
		if strings.Contains(text, "Mühlbach") || strings.Contains(text, demo.DefaultTenant+".invoices") {
			t.Errorf("%s shows %s", screen.path, text)
		}
		if screen.path != firstScreen && !strings.Contains(text, "There is no such page") {
			t.Errorf("%s shows %s", screen.path, text)
		}
	}
}

// Given a guest of both projects, when they open the screens, then they find names and no amounts, as in the API.
func (s *deskWorld) showsAGuestNoAmounts(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "gus", "en")
	p.Expect("404")
	for path, shows := range map[string]string{
		"/projects/pr-0002/budget":             "You may not see these figures",
		"/projects/pr-0002/cashflow":           "You may not see these figures",
		"/projects/pr-0002/rent-roll":          "You may not see these figures",
		"/projects/pr-0002/lines/nd-r-018":     "There is no such page",
		"/projects/pr-0002/outside":            "You may not see these figures",
		"/projects/pr-0002/cashflow/2026-12":   "You may not see these figures",
		"/projects/pr-0002/rent-roll/sources":  "You may not see these figures",
		"/projects/pr-0002/leases/le-0002-01":  "There is no such page",
		"/projects/pr-0002/contracts":          "Soil report",
		"/projects/pr-0002/records":            "Invoice date",
		"/projects/pr-0002/facilities":         "No facility finances this project",
		"/projects/pr-0002/facilities/fa-0002": "There is no such page",
	} {
		p.Open(url + path)
		text := p.Text()
		if !strings.Contains(text, shows) {
			t.Errorf("%s does not show %q: %s", path, shows, text)
		}
		if amount := regexp.MustCompile(`\d[.,]\d\d\b`).FindString(text); amount != "" {
			t.Errorf("%s shows a guest %s", path, amount)
		}
	}
}

// Given the tree of a budget, when its first branch is closed and opened by the keyboard, then the lines below it go and come.
func (s *deskWorld) isUsedByKeyboard(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	p.Open(url + "/projects/pr-0002/budget")
	shown := func() int {
		return desktest.Evaluate[int](p, `[...document.querySelectorAll("tr[data-id]")].filter((row) => row.offsetParent).length`)
	}
	before := shown()
	p.Do(chromedp.Focus("button.branch"), chromedp.KeyEvent(kb.Enter))
	closed := shown()
	p.Do(chromedp.KeyEvent(kb.Enter))
	if opened := shown(); closed >= before || opened != before {
		t.Errorf("there are %d lines, then %d, then %d", before, closed, opened)
	}
	// The first stop is the link to the content.
	p.Open(url + "/projects")
	p.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	if focused := desktest.Evaluate[string](p, `document.activeElement.textContent`); focused != "Quartier Lindenhof" {
		t.Errorf("behind the link to the content comes %q", focused)
	}
}

// fetched is what the browser gets for an address.
func fetched(p *desktest.Person, path string) string {
	quoted, _ := json.Marshal(path) // of a text
	return desktest.Evaluate[string](p, `fetch(`+string(quoted)+`).then((r) => r.blob()).then((b) => new Promise((done) => {
		const reader = new FileReader();
		reader.onload = () => done(reader.result.split(",")[1]);
		reader.readAsDataURL(b);
	})).then((base64) => new TextDecoder("utf-8", {ignoreBOM: true}).decode(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))))`)
}

// Given the table of a budget, then its CSV is one that a German Excel takes, with the same figures, and all lines of long lists.
func (s *deskWorld) givesItsTablesAsCSV(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "de")
	p.Open(url + "/projects/pr-0002/budget")
	address := desktest.Evaluate[string](p, `document.querySelector("a.csv").getAttribute("href")`)
	total := desktest.Evaluate[string](p, `document.querySelector("tr.total td.n").textContent`)
	text := fetched(p, address)
	head, _, _ := strings.Cut(text, "\r\n")
	want := "\ufeffBudgetposition;Budget (EUR);Beauftragt (EUR);Verrechnet (EUR);Bezahlt (EUR);Erwartete Kosten (EUR);Rest (EUR)"
	if head != want {
		t.Errorf("the CSV begins with %q, want %q", head, want)
	}
	if want := "\r\nSumme;" + strings.ReplaceAll(total, ".", "") + ";"; !strings.Contains(text, want) {
		t.Errorf("the CSV lacks %q:\n%s", want, text)
	}
	p.Open(url + "/projects/pr-0002/records")
	rows := desktest.Evaluate[int](p, `document.querySelectorAll("tbody tr").length`)
	if lines := strings.Count(fetched(p, "/projects/pr-0002/records?csv=records"), "\r\n") - 1; rows != 50 || lines <= rows {
		t.Errorf("the page has %d records and the CSV %d", rows, lines)
	}
}

// Given a phone, then each tab of a project is in sight, and a date stands on one line.
func (s *deskWorld) hasTabsAndDatesOnAPhone(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	p.Window(desktest.Phone, false)
	p.Open(url + "/projects/pr-0002/records?status=paid")
	if hidden := desktest.Evaluate[string](p, `[...document.querySelectorAll(".tabs a")]
		.filter((a) => a.getBoundingClientRect().right > innerWidth).map((a) => a.textContent).join()`); hidden != "" {
		t.Errorf("out of sight: %s", hidden)
	}
	if broken := desktest.Evaluate[string](p, `[...document.querySelectorAll("tbody td")].filter((d) => /^\d+ [A-Z][a-z]+ \d{4}$/.test(d.textContent))
		.filter((d) => { const text = document.createRange(); text.selectNodeContents(d); return text.getClientRects().length !== 1; })
		.map((d) => d.textContent).join()`); broken != "" {
		t.Errorf("dates on several lines: %s", broken)
	}
}

// Given contracts narrowed to the over-invoiced ones, then that is said once, and what shows all of them again is there.
func (s *deskWorld) namesAFilterOnce(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	p.Open(url + "/projects/pr-0002/contracts?only=over")
	if text := p.Text(); strings.Count(text, "Over-invoiced only") != 1 || !strings.Contains(text, "Show all") {
		t.Errorf("the filter shows as %s", text)
	}
}

// Given a browser that lets any month be typed, then what is wrong with it is said in the person's language; and what the API alone
// knows to be wrong is said by its reason.
func (s *deskWorld) saysWhatIsWrongWithAMonth(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "de-AT")
	p.Expect("400")
	for path, want := range map[string]string{
		"cashflow?from=2027-01&to=2026-01": "Der erste Monat liegt nach dem letzten.",
		"cashflow?to=soon":                 "soon ist kein Monat wie 2026-05.",
		"rent-roll?month=5/2026":           "5/2026 ist kein Monat wie 2026-05.",
		"rent-roll/sources?month=soon":     "soon ist kein Monat wie 2026-05.",
		"records?status=payd":              "kann so nicht beantwortet werden: status has the item",
	} {
		if page := fetched(p, url+"/projects/pr-0002/"+path); !strings.Contains(page, want) || strings.Contains(page, "errors lists") {
			t.Errorf("%s: %s", path, page)
		}
	}
}

// Given what is invoiced on a line, when the figure is clicked, then the records are those that count: invoices that aren't rejected.
func (s *deskWorld) leadsToWhatAFigureIsMadeOf(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	p.Open(url + "/projects/pr-0002/budget")
	p.Do(chromedp.Click(`tr[data-id]:nth-child(1) a[href*="/records"]`))
	p.Wait(`location.pathname.endsWith("/records")`)
	p.Settled()
	text := p.Text()
	if !strings.Contains(text, "Land") || strings.Contains(text, "Rejected") || strings.Contains(text, "There is nothing to list") {
		t.Errorf("the figure leads to %s", text)
	}
	p.Do(chromedp.Click(`tbody th a`))
	p.Wait(`/records\/.+/.test(location.pathname)`)
	p.Settled()
	if text := p.Text(); !strings.Contains(text, "Budget lines") || !strings.Contains(text, "Gross") {
		t.Errorf("the record shows %s", text)
	}
	amounts := desktest.Evaluate[string](p, `[...document.querySelectorAll(".fact .figure")].map((f) => f.textContent).join(" ")`)
	if !regexp.MustCompile(`^[\d,]+\.\d\d [\d,]+\.\d\d [\d,]+\.\d\d$`).MatchString(amounts) {
		t.Errorf("net, tax and gross of the record are %q, not to the cent", amounts)
	}
	p.Check("a record")
}

// ownSources are the columns and tiles whose figures lead nowhere, by screen: what was entered there, what is computed of figures that
// stand beside it, and rent and days from which those beside them are computed. Totals of a table are made of its rows.
var ownSources = map[string][]string{
	"cashflow":           {"Paid and forecast so far"},
	"cashflow of a line": {"Paid and forecast so far"},
	"line":               {"Amount", "Entered for the month"},
	"contract":           {"Amount", "Still open", "Over-invoiced"},
	"rent-sources":       {"Days to its end", "Days to the first break", "Area, m²", "Of it let, m²"},
	"lease":              {"As agreed", "After indexation", "Payable", "Amount"},
	"facility":           {"Days", "Rate", "Interest", "Commitment fee", "Amount", "Facility", "Available"},
	"drawn entries":      {"Days", "Rate", "Interest", "Commitment fee", "Amount", "Facility", "Available"},
}

// figuresOfAPage are the columns and tiles with figures that aren't links, and where the links lead that are.
type figuresOfAPage struct{ Bare, Links []string }

const findFigures = `(() => {
	const bare = new Set(), links = new Set();
	const titleOf = (element) => [...element.childNodes].filter((n) => n.nodeName === "#text").map((n) => n.textContent).join("").trim();
	const look = (element, title) => {
		const link = element.querySelector("a");
		if (link) links.add(link.getAttribute("href"));
		else bare.add(title);
	};
	for (const table of document.querySelectorAll("table")) {
		const titles = [...table.querySelectorAll("thead th")].map(titleOf);
		for (const row of table.querySelectorAll("tbody tr:not(.total)"))
			[...row.children].forEach((cell, i) => {
				if (cell.matches("td.n") && /[1-9]/.test(cell.textContent)) look(cell, titles[i]);
			});
	}
	for (const figure of document.querySelectorAll("dl.small dd")) look(figure, "of a project");
	for (const fact of document.querySelectorAll(".fact"))
		if (/[1-9]/.test(fact.querySelector(".figure").textContent)) look(fact.querySelector("dd"), titleOf(fact.querySelector("dt")));
	return {Bare: [...bare], Links: [...links]};
})()`

// Given any screen, then each figure on it is a link to a page that is there and has the part that the link names, but for those that
// are sources themselves.
func (s *deskWorld) leadsFromEveryFigureToItsSource(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	pages := map[string]string{} // what the addresses without their fragment show
	for _, screen := range screens {
		p.Open(url + screen.path)
		if screen.path == firstScreen {
			p.Wait(`document.querySelectorAll("[data-awaited]").length === 0`)
		}
		found := desktest.Evaluate[figuresOfAPage](p, findFigures)
		slices.Sort(found.Bare)
		want := slices.Sorted(slices.Values(ownSources[screen.name]))
		if left := slices.DeleteFunc(found.Bare, func(title string) bool { return slices.Contains(want, title) }); len(left) > 0 {
			t.Errorf("%s: %q lead nowhere", screen.name, left)
		}
		checked := map[string]int{}
		for _, link := range found.Links {
			address, part, _ := strings.Cut(link, "#")
			if address == "" {
				address = screen.path
			}
			kind := regexp.MustCompile(`[0-9]+`).ReplaceAllString(address, "0") + "#" + part
			if checked[kind]++; checked[kind] > 3 {
				continue // others of the same form lead alike
			}
			if _, known := pages[address]; !known {
				pages[address] = fetched(p, address)
			}
			if page := pages[address]; !strings.Contains(page, "<h1>") || strings.Contains(page, "There is no such page") ||
				part != "" && !strings.Contains(page, "\""+part+"\"") {
				t.Errorf("%s leads to %s, where that is not: %.300s", screen.name, link, page)
			}
		}
		if len(found.Links) == 0 {
			t.Errorf("%s has no figures that lead anywhere", screen.name)
		}
	}
}

// sheet is a CSV of the desk, in English: its lines without the heading, the last of them the total.
func sheet(t *testing.T, text string) (lines [][]string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return lines[1:]
}

// minor is an amount of a CSV in minor units, 0 for nothing.
func minor(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(text, ".", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Given all lines of a project, its rent roll, a loan and the contracts, then the tables of what their figures are made of add up to
// these, without anything that isn't told.
func (s *deskWorld) showsSourcesThatAddUp(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	v := s.visitor(t, demo.DefaultTenant, "ada")
	p.Open(url + "/projects/pr-0002/budget")
	budget := p.Text()
	addsUp := func(path string, column int, want string) {
		t.Helper()
		lines := sheet(t, v.page(path))
		if len(lines) == 0 {
			return
		}
		sum, total := int64(0), lines[len(lines)-1]
		for _, line := range lines[:len(lines)-1] {
			sum += minor(t, line[column])
			if line[0] == "Further entries" {
				t.Errorf("%s: not everything is told: %q", path, line)
			}
		}
		if sum != minor(t, total[column]) || want != "" && want != total[column] {
			t.Errorf("%s: %d comes to %s, want %s", path, sum, total[column], want)
		}
	}
	type link struct{ ID, Budget, Estimate string }
	lines := desktest.Evaluate[[]link](p, `[...document.querySelectorAll("tr[data-id]")].map((row) => {
		const cells = [...row.querySelectorAll("td.n")].map((cell) => cell.textContent.replaceAll(",", "").replace("\u2212", "-"));
		return {ID: row.dataset.id, Budget: cells[0], Estimate: cells[4]};
	})`)
	if len(lines) < 50 {
		t.Fatalf("there are %d lines", len(lines))
	}
	for _, line := range lines {
		page := "/projects/pr-0002/lines/" + line.ID + "?csv="
		addsUp(page+"budget", 3, line.Budget)
		addsUp(page+"estimate", 2, line.Estimate)
		addsUp(page+"plan", 2, "")
	}
	months := sheet(t, v.page("/projects/pr-0002/cashflow?csv=months"))
	for _, month := range months[len(months)-8 : len(months)-1] {
		addsUp("/projects/pr-0002/cashflow/"+month[0]+"?csv=lines", 1, month[1])
		addsUp("/projects/pr-0002/cashflow/"+month[0]+"?csv=lines", 2, month[2])
	}
	p.Open(url + "/projects/pr-0002/contracts")
	invoiced := desktest.Evaluate[[][2]string](p, `[...document.querySelectorAll("tbody tr")].map((row) =>
		[row.querySelector("th a").getAttribute("href"), row.querySelectorAll("td.n")[1].textContent.replaceAll(",", "").replace("\u2212", "-")])`)
	for _, contract := range invoiced {
		addsUp(contract[0]+"?csv=invoices", 3, contract[1])
	}
	others := regexp.MustCompile(`([\d,.]+) (EUR are invoiced on no line|CHF invoiced)`).FindAllStringSubmatch(budget, -1)
	if len(others) != 2 {
		t.Fatalf("the budget says %q of what is on no line", others)
	}
	addsUp("/projects/pr-0002/outside?csv=invoices", 3, strings.ReplaceAll(others[0][1], ",", ""))
	addsUp("/projects/pr-0002/outside?currency=CHF&csv=invoices", 3, strings.ReplaceAll(others[1][1], ",", ""))
	loan := sheet(t, v.page("/projects/pr-0002/facilities?csv=facilities"))[0]
	addsUp("/projects/pr-0002/facilities/fa-0002?entries=drawn&csv=entries", 3, loan[3])
	addsUp("/projects/pr-0002/facilities/fa-0002?entries=requested&csv=entries", 3, loan[4])

	roll := "/projects/pr-0002/rent-roll/sources?month=2026-10&csv=leases"
	p.Open(url + "/projects/pr-0002/rent-roll?month=2026-10")
	tiles := desktest.Evaluate[[]string](p, `[...document.querySelectorAll(".fact span.figure[title]")].map((f) => f.title.replace(/[^0-9.]/g, ""))`)
	addsUp(roll, 5, tiles[0])
	addsUp(roll, 9, tiles[1])
	leases := sheet(t, v.page(roll))
	p.Open(url + strings.TrimSuffix(roll, "&csv=leases"))
	pages := desktest.Evaluate[[]string](p, `[...document.querySelector("table").querySelectorAll("tbody th a")].map((a) => a.getAttribute("href"))`)
	if len(pages) == 0 || len(pages) != len(leases)-1 {
		t.Fatalf("there are %d pages of %d leases", len(pages), len(leases)-1)
	}
	for i, page := range pages {
		addsUp(page+"&csv=months", 4, leases[i][9])
	}
}

// A form that another site's page has sent is refused even if it knows the session's token.
func (s *deskWorld) refusesFormsOfOtherSites(t *testing.T) {
	v := s.visitor(t, demo.DefaultTenant, "ada")
	form := neturl.Values{"csrf": {v.token}}
	if status := v.ask(http.MethodPost, "/signout", form, "cross-site"); status != http.StatusForbidden {
		t.Errorf("another site's form is answered by %d", status)
	}
	if status := v.ask(http.MethodPost, "/signout", form, "same-origin"); status != http.StatusSeeOther {
		t.Errorf("the desk's own form is answered by %d", status)
	}
}

// Given somebody who is signed in, then a form without their token does nothing, and a script that gets into the page does not run.
func (s *deskWorld) refusesFormsAndScriptsOfOthers(t *testing.T) {
	s.refusesFormsOfOtherSites(t)
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "en")
	p.Open(url + "/projects")
	for _, header := range []string{`{}`, `{"X-CSRF-Token": "of another session"}`} {
		p.Expect("403")
		status := desktest.Evaluate[int](p, `fetch("/signout", {method: "POST", headers: `+header+`}).then((r) => r.status)`)
		if status != 403 {
			t.Errorf("a form with %s is answered by %d", header, status)
		}
	}
	p.Expect("Content Security Policy")
	ran := desktest.Evaluate[bool](p, `(() => {
		const script = document.createElement("script");
		script.textContent = "window.ran = true";
		document.body.append(script);
		document.body.insertAdjacentHTML("beforeend", "<button id=inline onclick='window.ran = true'>x</button>");
		document.getElementById("inline").click();
		return Boolean(window.ran);
	})()`)
	if ran || p.Passed() == 0 {
		t.Errorf("a script of nobody's runs: %v; the browser has reported %d refusals", ran, p.Passed())
	}
	p.Open(url + "/projects")
	if text := p.Text(); !strings.Contains(text, "Sign out") {
		t.Errorf("the session has ended: %s", text)
	}
}
