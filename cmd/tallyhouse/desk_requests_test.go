package main

import (
	"errors"
	"fmt"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"tallyhouse/api/desk/desktest"
)

// asks posts what somebody asks for about a mail or a sender, with the token of their session or another one, and gives the status.
func asks(v *visitor, path, token string) int {
	v.Helper()
	return v.post(path, token, neturl.Values{"sender": {"x@evil.example"}})
}

// press presses the button of the form whose address ends so.
func press(p *desktest.Person, action string) {
	p.Helper()
	p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("main form[action$='%s'] button").click()`, action)))
}

// lineSays waits until the line of a mail says something.
func lineSays(p *desktest.Person, mail, says string) {
	p.Helper()
	p.Wait(fmt.Sprintf(`[...document.querySelectorAll(".mails li")].some((l) =>
		l.innerText.includes(%q) && l.innerText.includes(%q))`, mail, says))
}

// Given mails that wait, when people ask for them on their pages, then they come in while the inbox is looked at; and nobody asks for
// what isn't theirs.
func (s *mailedWorld) doesWhatPeopleAsk(t *testing.T) {
	ada, desk := s.signedIn(t, "demo", "ada", "en")
	s.mail("office@b.example", "house@in.example", "m5", "A letter", nil)
	s.mail("y@evil.example", "house@in.example", "m6", "Of another one", numbered("R-6"))
	ada.Open(desk + "/inbox")
	ada.Wait(fmt.Sprintf(lineWith, "neither a PDF nor an e-invoice"))
	ada.Wait(fmt.Sprintf(lineWith, "Of another one"))
	stranger, other, letter := mailAddress(ada, "<script>alert(1)</script>"), mailAddress(ada, "Of another one"),
		mailAddress(ada, "neither a PDF nor an e-invoice")

	for _, c := range []struct {
		tenant, user, path, token string
		want                      int
	}{
		{"demo", "gus", stranger + "/release", "", 404}, {"acme", "ada", stranger + "/release", "", 404},
		{"demo", "ada", stranger + "/release", "forged", 403}, {"demo", "ada", stranger + "/retry", "", 400},
		{"demo", "uma", stranger + "/allow", "", 400}, {"demo", "uma", "/inbox/senders/disallow", "", 404},
		{"demo", "ada", "/inbox/senders/disallow", "", 404}, {"demo", "ada", letter + "/release", "", 400},
		{"demo", "ada", letter + "/allow", "", 400},
	} {
		if got := asks(s.visitor(t, c.tenant, c.user), c.path, c.token); got != c.want {
			t.Errorf("%s of %s asks for %s and is answered %d, want %d", c.user, c.tenant, c.path, got, c.want)
		}
	}

	t.Run("release, as a user of the project", func(t *testing.T) {
		p, desk := s.signedIn(t, "demo", "uma", "de-AT")
		p.Open(desk + other)
		if text := p.Text(); !strings.Contains(text, "Administratoren der Firma") || strings.Contains(text, "auf Dauer erlauben\n") {
			t.Errorf("a user sees %s", text)
		}
		p.Check("a mail in quarantine")
		press(p, "/release")
		lineSays(p, "R-6", "14.880,00")
		p.Open(desk + "/inbox?state=quarantined")
		if strings.Contains(p.Text(), "Of another one") {
			t.Error("the mail is still in quarantine")
		}
	})
	t.Run("allow a sender, and take it back", func(t *testing.T) {
		ada.Open(desk + stranger)
		if text := ada.Text(); !strings.Contains(text, "asks no server") {
			t.Errorf("the page doesn't say what allowing means: %s", text)
		}
		press(ada, "/allow")
		ada.Wait(fmt.Sprintf(`location.pathname === "/inbox" && !(%s)`, fmt.Sprintf(lineWith, "may not send invoices")))
		s.mail("x@evil.example", "house@in.example", "m7", "Later", numbered("R-7"))
		lineSays(ada, "R-7", "14,880.00")
		ada.Open(desk + "/inbox/senders")
		if text := ada.Text(); !strings.Contains(text, "x@evil.example") {
			t.Errorf("the allowed senders are %s", text)
		}
		ada.Check("/inbox/senders")
		if got := asks(s.visitor(t, "demo", "uma"), "/inbox/senders/disallow", ""); got != 404 {
			t.Errorf("who is no administrator takes the sender back, and is answered %d", got)
		}
		press(ada, "/disallow")
		ada.Wait(`document.body.innerText.includes("Nobody has been allowed here.")`)
	})
	t.Run("retry a mail without a record", func(t *testing.T) {
		ada.Open(desk + letter)
		press(ada, "/retry")
		ada.Wait(`location.pathname === "/inbox"`)
		said := fmt.Sprintf(`fetch(%q).then((r) => r.text()).then((text) =>
			text.includes("asked for by ada") && text.includes("was given back to be read"))`, letter)
		s.must(until(s.within(startsWithin), func() error {
			if !desktest.Evaluate[bool](ada, said) {
				return errors.New("its page doesn't say what became of the request")
			}
			return nil
		}))
	})
}
