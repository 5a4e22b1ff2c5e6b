package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"tallyhouse/api/desk/desktest"
)

// asks posts a form of the desk as a page's script would, with the token of the person's session or another one, and gives the status.
func asks(p *desktest.Person, path, token string) int {
	p.Helper()
	return desktest.Evaluate[int](p, fmt.Sprintf(`(() => {
		const own = document.querySelector("input[name=csrf]").value;
		return fetch(%q, {method: "POST", redirect: "manual", body: new URLSearchParams({csrf: %q || own, sender: "x@evil.example"})})
			.then((r) => r.type === "opaqueredirect" ? 303 : r.status);
	})()`, path, token))
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
	ada, url := s.signedIn(t, "demo", "ada", "en")
	s.mail("office@b.example", "house@in.example", "m5", "A letter", nil)
	s.mail("y@evil.example", "house@in.example", "m6", "Of another one", numbered("R-6"))
	ada.Open(url + "/inbox")
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
		p, url := s.signedIn(t, c.tenant, c.user, "en")
		p.Open(url + "/inbox")
		p.Expect(fmt.Sprint(c.want))
		if got := asks(p, c.path, c.token); got != c.want {
			t.Errorf("%s of %s asks for %s and is answered %d, want %d", c.user, c.tenant, c.path, got, c.want)
		}
	}

	t.Run("release, as a user of the project", func(t *testing.T) {
		p, url := s.signedIn(t, "demo", "uma", "de-AT")
		p.Open(url + other)
		if text := p.Text(); !strings.Contains(text, "Administratoren der Firma") || strings.Contains(text, "auf Dauer erlauben\n") {
			t.Errorf("a user sees %s", text)
		}
		p.Check("a mail in quarantine")
		press(p, "/release")
		lineSays(p, "R-6", "14.880,00")
		p.Open(url + "/inbox?state=quarantined")
		if strings.Contains(p.Text(), "Of another one") {
			t.Error("the mail is still in quarantine")
		}
	})
	t.Run("allow a sender, and take it back", func(t *testing.T) {
		ada.Open(url + stranger)
		if text := ada.Text(); !strings.Contains(text, "asks no server") {
			t.Errorf("the page doesn't say what allowing means: %s", text)
		}
		press(ada, "/allow")
		ada.Wait(fmt.Sprintf(`location.pathname === "/inbox" && !(%s)`, fmt.Sprintf(lineWith, "may not send invoices")))
		s.mail("x@evil.example", "house@in.example", "m7", "Later", numbered("R-7"))
		lineSays(ada, "R-7", "14,880.00")
		ada.Open(url + "/inbox/senders")
		if text := ada.Text(); !strings.Contains(text, "x@evil.example") {
			t.Errorf("the allowed senders are %s", text)
		}
		ada.Check("/inbox/senders")
		uma, url := s.signedIn(t, "demo", "uma", "en")
		uma.Open(url + "/inbox")
		uma.Expect("404")
		if got := asks(uma, "/inbox/senders/disallow", ""); got != 404 {
			t.Errorf("who is no administrator takes the sender back, and is answered %d", got)
		}
		press(ada, "/disallow")
		ada.Wait(`document.body.innerText.includes("Nobody has been allowed here.")`)
	})
	t.Run("retry a mail without a record", func(t *testing.T) {
		ada.Open(url + letter)
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
