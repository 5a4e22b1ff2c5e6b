package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api/desk"
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
	api     *openAPI
	browser *desktest.Browser
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

// desk is a desk that a user can sign in at, by the link.
func (s *deskWorld) desk(t *testing.T, tenant, user string) (url, link string) {
	t.Helper()
	codes := signin.NewCodes(session.User{Tenant: tenant, ID: user}, func(string) {})
	server := httptest.NewUnstartedServer(nil)
	url = "http://" + server.Listener.Addr().String()
	d, err := desk.New(desk.Options{API: s.api.Server, URL: url, Codes: codes, Log: s.log})
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

func (s *deskWorld) picture(p *desktest.Person, name string) {
	s.must(os.WriteFile(filepath.Join(*pictures, strings.ReplaceAll(name, " ", "-")+".png"), p.Picture(), 0o644))
}

// TestTheDeskInABrowser looks at every screen; they share the sample and the browser, because starting those takes the longest.
func TestTheDeskInABrowser(t *testing.T) {
	s := newDeskWorld(t)
	t.Run("lets in who has a code, once", s.letsInWhoHasACode)
	t.Run("shows each screen to everybody", s.showsEachScreen)
	t.Run("shows nothing of another tenant", s.showsNothingOfAnotherTenant)
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
	{"cashflow", "/projects/pr-0002/cashflow", "Monat für Monat"},
	{"cashflow of a line", "/projects/pr-0002/cashflow?line=nd-r-018&from=2026-01&to=2027-06", "Monat für Monat"},
	{"contracts", "/projects/pr-0002/contracts", "Beauftragt"},
	{"over-invoiced", "/projects/pr-0002/contracts?only=over", "Nur überverrechnete"},
	{"contract", "/projects/pr-0002/contracts/co-0002-001", "Was vereinbart ist"},
	{"records", "/projects/pr-0002/records?status=paid", "Rechnungsdatum"},
	{"rent-roll", "/projects/pr-0002/rent-roll?month=2026-10", "Leerstand"},
	{"facilities", "/projects/pr-0002/facilities", "Kreditgeber"},
	{"facility", "/projects/pr-0002/facilities/fa-0002", "Zinsperioden"},
}

// maxPage bounds a page with all that it loads, in bytes over the wire.
const maxPage = 100_000

// Given a person, when they open each screen, on a phone or a large screen, by day or by night, then they find what it is about, and
// axe-core finds nothing.
func (s *deskWorld) showsEachScreen(t *testing.T) {
	p, url := s.signedIn(t, demo.DefaultTenant, "ada", "de-AT")
	for _, screen := range screens {
		for _, width := range []int64{desktest.Phone, desktest.Screen} {
			for _, dark := range []bool{false, true} {
				p.Window(width, dark)
				received := p.Open(url + screen.path)
				if *pictures != "" {
					s.picture(p, fmt.Sprintf("%s-%d-%v", screen.name, width, dark))
				}
				if text := p.Text(); !strings.Contains(text, screen.shows) {
					t.Errorf("%s does not show %q: %s", screen.path, screen.shows, text)
				}
				if received > maxPage {
					t.Errorf("%s takes %d bytes", screen.path, received)
				}
				p.Check(screen.path)
			}
		}
	}
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
