package main

import (
	"context"
	"fmt"
	"net/http"
	"net/smtp"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api/desk/desktest"
	embeddedmail "tallyhouse/deploy/embedded/mail"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// mailedWorld is a desk of two companies beside an intake of the first one's mail. In house, a project of demo, ada is an
// administrator of the company, uma a user and gus a guest; in acme, ada is an administrator.
type mailedWorld struct {
	*deskWorld
	smtp string
}

func newMailedWorld(t *testing.T) *mailedWorld {
	t.Helper()
	s := &mailedWorld{deskWorld: &deskWorld{process: newProcess(t), browser: desktest.Start(t)}}
	dir := t.TempDir()
	server, err := embeddedmail.Start(embeddedmail.Options{DataDir: filepath.Join(dir, "mail"), IMAP: "127.0.0.1:0",
		SMTP: "127.0.0.1:0", Log: s.log})
	s.must(err)
	t.Cleanup(func() { s.must(server.Stop(s.within(startsWithin))) })
	s.smtp = server.SMTP()
	event := func(topic, tenant, id, data string) string {
		return fmt.Sprintf(`{"topic": "%s", "key": "%s/%s", "value": {"id": "%s", "tenantId": "%s", "version": 1, "op": "upsert", `+
			`"at": "2026-01-05T09:00:00Z", "data": %s}}`, topic, tenant, id, id, tenant, data) + "\n"
	}
	lines := event("ledger.projects", "demo", "house", `{"name": "House", "currency": "EUR", "inboundEmail": "house@in.example"}`) +
		event("ledger.contractors", "demo", "c1", `{"name": "Ziegel AG"}`) +
		event("ledger.projects", "acme", "house", `{"name": "Another house", "currency": "EUR"}`)
	for _, m := range []struct{ tenant, user, role, scope string }{
		{"demo", "ada", "admin", `{"tenant": true}`}, {"demo", "uma", "user", `{"projectId": "house"}`},
		{"demo", "gus", "guest", `{"projectId": "house"}`}, {"acme", "ada", "admin", `{"tenant": true}`},
	} {
		lines += event("access.users", m.tenant, m.user, fmt.Sprintf(`{"name": "%s", "active": true}`, m.user)) +
			event("access.memberships", m.tenant, m.user, fmt.Sprintf(`{"userId": "%s", "scope": %s, "role": "%s"}`, m.user, m.scope, m.role))
	}
	s.load(lines)
	flags := mailFlagsOf(t, "--imap", server.URL()+"&allow=b.example", "--mail-tenant", "demo",
		"--originals-dir", filepath.Join(dir, "originals"))
	intake, err := s.openMail(t.Context(), *flags, "test", s.servers.kafka, s.worker.shards, prometheus.NewRegistry())
	s.must(err)
	s.background("intake", intake.Run)
	s.originals, err = flags.deskOriginals(t.Context())
	s.must(err)
	s.api, err = s.openAPI(apiFlags{environment: "test"}, s.servers, prometheus.NewRegistry())
	s.must(err)
	t.Cleanup(s.api.close)
	s.background("API", func(ctx context.Context) error { s.api.Follow(ctx); return nil })
	s.must(until(s.within(startsWithin), s.api.Ready))
	return s
}

// mail sends an invoice, without one where the PDF is nil.
func (s *mailedWorld) mail(from, to, id, subject string, pdf []byte) {
	s.Helper()
	raw := string(mailWith(id, pdf))
	if pdf == nil {
		raw = strings.Replace(raw, "application/pdf; name=invoice.pdf", "text/plain", 1)
	}
	raw = strings.NewReplacer("office@b.example", from, "house@in.example", to,
		"MIME-Version", "Subject: "+subject+"\r\nMIME-Version").Replace(raw)
	s.must(smtp.SendMail(s.smtp, nil, from, []string{to}, []byte(raw)))
}

const lineWith = `[...document.querySelectorAll(".mails li")].some((l) => l.innerText.includes(%q))`

// Given somebody with the inbox open, when mails come, then they appear without loading the page, each with what is the matter; and
// nobody sees what isn't theirs.
func TestTheInboxInABrowser(t *testing.T) {
	s := newMailedWorld(t)
	p, url := s.signedIn(t, "demo", "ada", "en")
	p.Open(url + "/inbox")
	if text := p.Text(); !strings.Contains(text, "Nothing here that matches.") {
		t.Errorf("an empty inbox shows %s", text)
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`window.loaded = "once"`))
	sample := pdftest.Sample()
	s.mail("office@b.example", "house@in.example", "m1", "Rechnung", sample.PDF())
	p.Wait(fmt.Sprintf(lineWith, "14,880.00 EUR"))
	s.mail("office@b.example", "nobody@in.example", "m2", "To nobody", sample.PDF())
	p.Wait(fmt.Sprintf(lineWith, "No project has an address"))
	s.mail("x@evil.example", "house@in.example", "m3", "<script>alert(1)</script>", sample.PDF())
	p.Wait(fmt.Sprintf(lineWith, "may not send invoices"))
	s.mail("office@b.example", "house@in.example", "m4", "Twice", sample.PDF())
	p.Wait(fmt.Sprintf(lineWith, "May have come before"))
	if loaded := desktest.Evaluate[string](p, `window.loaded`); loaded != "once" {
		t.Error("the page was loaded again")
	}
	t.Run("shows each screen to everybody", func(t *testing.T) { s.mailScreens(t) })
	if *pictures != "" {
		t.Run("takes pictures", s.takesPicturesOfMails)
	}
	t.Run("finds what is searched for", func(t *testing.T) { s.searches(t) })
	t.Run("tells what came before a page followed", func(t *testing.T) { s.tellsWhatCame(t) })
	t.Run("lets originals be saved, and not shown", func(t *testing.T) { s.downloads(t) })
	t.Run("shows nobody what is not theirs", func(t *testing.T) { s.hidesMails(t) })
	t.Run("corrects by keyboard", s.correctsByKeyboard)
	t.Run("says what is wrong with a form", s.saysWhatIsWrong)
	t.Run("teaches the next invoice", s.teachesTheNextInvoice)
	t.Run("lets one of two who correct at once win", s.letsOneOfTwoWin)
	t.Run("finishes what was broken off", s.finishesWhatWasBrokenOff)
	t.Run("says that Kafka is away", s.saysThatKafkaIsAway)
	t.Run("leaves the application's records alone", s.leavesTheApplicationsAlone)
	t.Run("fills in what could not be read", s.fillsInWhatCouldNotBeRead)
	t.Run("lets nobody else correct", s.letsNobodyElseCorrect)
	t.Run("draws the page beside the fields", s.drawsThePage)
	t.Run("draws scans", s.drawsScans)
	t.Run("does nothing that a PDF asks for", s.doesNothingThatAPDFAsksFor)
	t.Run("says that a file can't be drawn", s.saysThatAFileCannotBeDrawn)
	t.Run("does what people ask for", func(t *testing.T) { s.doesWhatPeopleAsk(t) })
}

// mailAddress is the page of the mail whose line has the text.
func mailAddress(p *desktest.Person, text string) string {
	p.Helper()
	return desktest.Evaluate[string](p, fmt.Sprintf(
		`[...document.querySelectorAll(".mails li")].find((l) => l.innerText.includes(%q)).querySelector("a").getAttribute("href")`, text))
}

func (s *mailedWorld) mailScreens(t *testing.T) {
	p, url := s.signedIn(t, "demo", "ada", "de-AT")
	p.Open(url + "/inbox")
	for _, screen := range []struct{ path, shows string }{
		{"/inbox", "Kam vielleicht schon einmal"},
		{mailAddress(p, "Kam vielleicht schon einmal"), "Neben früheren"},
		{mailAddress(p, "nichts zu tun"), "14.880,00 EUR"},
		{mailAddress(p, "darf keine Rechnungen schicken"), "<script>alert(1)</script>"},
	} {
		looksAt(p, url, screen.path, screen.shows)
	}
}

// takesPicturesOfMails takes the inbox, an invoice with a field's box on its page, and a mail in quarantine.
func (s *mailedWorld) takesPicturesOfMails(t *testing.T) {
	p, url := s.signedIn(t, "demo", "ada", "en")
	p.Window(pictureWidth, false)
	p.Open(url + "/inbox")
	takePicture(p, "inbox")
	twice, quarantined := mailAddress(p, "May have come before"), mailAddress(p, "may not send invoices")
	p.Open(url + quarantined)
	takePicture(p, "quarantine")
	p.Open(url + twice)
	p.Wait(pageDrawn)
	s.must(until(s.within(startsWithin), func() error { return inkOf(p, "RECHNUNG") }))
	p.Do(chromedp.Focus("#field-gross"))
	p.Wait(fmt.Sprintf(boxOnWord, "14.880,00"))
	takePicture(p, "invoice")
}

func (s *mailedWorld) searches(t *testing.T) {
	p, url := s.signedIn(t, "demo", "ada", "de-AT")
	for query, want := range map[string]int{
		"": 4, "?state=quarantined": 1, "?state=duplicate": 1, "?state=failed": 0, "?q=14.880,00": 2, "?q=14%C2%A0880,00": 2, "?q=148.80,00": 0, "?q=bauwerk": 2, "?q=nothing": 0,
		"?sender=evil": 1, "?from=2020-01-01": 4, "?to=2020-01-01": 0, "?project=house": 3,
	} {
		p.Open(url + "/inbox" + query)
		if got := desktest.Evaluate[int](p, `document.querySelectorAll(".mails li").length`); got != want {
			t.Errorf("%q finds %d, want %d: %s", query, got, want, p.Text())
		}
	}
	p.Expect("40")
	for _, wrong := range []string{"?from=yesterday", "?project=other", "?after=x", "/intake-none", "/events/x"} {
		p.Open(url + "/inbox" + wrong)
		if desktest.Evaluate[int](p, `document.querySelectorAll(".mails li").length`) != 0 {
			t.Errorf("%q shows mails", wrong)
		}
	}
}

// Given a page that was made before something came, when it begins to follow the inbox, or again after its connection broke, then
// it is told at once.
func (s *mailedWorld) tellsWhatCame(t *testing.T) {
	p, url := s.signedIn(t, "demo", "ada", "en")
	p.Open(url + "/inbox")
	told := `(async (address, headers) => {
		const reader = (await fetch(address, {headers})).body.getReader(), decoder = new TextDecoder();
		let text = "";
		while (!text.includes("changed")) text += decoder.decode((await reader.read()).value);
		await reader.cancel();
		return text.includes("id: at ");
	})`
	for _, call := range []string{`("/inbox/events?since=at+0", {})`, `("/inbox/events", {"Last-Event-ID": "at 0"})`} {
		if !desktest.Evaluate[bool](p, told+call) {
			t.Errorf("%s names no place to go on from", call)
		}
	}
}

func (s *mailedWorld) downloads(t *testing.T) {
	p, url := s.signedIn(t, "demo", "uma", "en")
	p.Open(url + "/inbox")
	mail := mailAddress(p, "Nothing to do here")
	for path, want := range map[string]string{
		mail + "/documents/1": "200 application/pdf attachment; filename=invoice.pdf nosniff sandbox %PDF",
		mail + "/mail":        "200 message/rfc822 attachment; filename=mail.eml nosniff sandbox From",
	} {
		got := desktest.Evaluate[string](p, fmt.Sprintf(`fetch(%q).then(async (r) => [r.status, r.headers.get("Content-Type"),
			r.headers.get("Content-Disposition"), r.headers.get("X-Content-Type-Options"),
			r.headers.get("Content-Security-Policy").split(";")[0], (await r.text()).match(/%%PDF|From/)[0]].join(" "))`, path))
		if got != want {
			t.Errorf("%s gives %s, want %s", path, got, want)
		}
	}
	p.Expect("404")
	for _, path := range []string{mail + "/documents/0", mail + "/documents/2", mail + "/documents/x"} {
		if got := desktest.Evaluate[int](p, fmt.Sprintf(`fetch(%q).then((r) => r.status)`, path)); got != 404 {
			t.Errorf("%s answers %d", path, got)
		}
	}
}

// Guests see no mails, users of a project no others, and nobody those of another company.
func (s *mailedWorld) hidesMails(t *testing.T) {
	admin, url := s.signedIn(t, "demo", "ada", "en")
	admin.Open(url + "/inbox")
	read, lost := mailAddress(admin, "Nothing to do here"), mailAddress(admin, "No project has")
	for _, c := range []struct {
		tenant, user string
		lines        int
		sees, not    []string
	}{
		{"demo", "ada", 4, []string{read, lost}, nil},
		{"demo", "uma", 3, []string{read}, []string{lost}},
		{"demo", "gus", 0, nil, []string{read, lost}},
		{"acme", "ada", 0, nil, []string{read, lost}},
	} {
		v := s.visitor(t, c.tenant, c.user)
		if got := strings.Count(v.page("/inbox"), `class="mail-title"`); got != c.lines {
			t.Errorf("%s of %s sees %d mails, want %d", c.user, c.tenant, got, c.lines)
		}
		if got := v.status("/inbox/events"); (got == http.StatusOK) != (c.user != "gus") {
			t.Errorf("%s of %s follows the inbox with %d", c.user, c.tenant, got)
		}
		for path, status := range statuses(c.sees, c.not) {
			if got := v.status(path); got != status {
				t.Errorf("%s of %s is answered %s with %d, want %d", c.user, c.tenant, path, got, status)
			}
		}
	}
}

// statuses are those of pages that somebody sees and of others, with their downloads.
func statuses(sees, not []string) map[string]int {
	all := map[string]int{}
	for _, path := range sees {
		all[path] = 200
	}
	for _, path := range not {
		all[path], all[path+"/mail"], all[path+"/documents/1"] = 404, 404, 404
	}
	return all
}
