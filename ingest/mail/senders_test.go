package mail

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/mail/message"
)

func header(lines ...string) message.Header {
	return message.ReadHeader([]byte(strings.Join(lines, "\r\n") + "\r\n\r\n"))
}

// Fields of the envelope count above the trace of the mailbox's own servers; To and Cc count anywhere.
func TestEnvelopeFieldsCountWhereTheOwnServerWroteThem(t *testing.T) {
	own, senders := "Received: from mx.sender.example by mx.own.example; Mon, 1 Jun 2026 10:00:00 +0200", "Received: from laptop by mx.sender.example; Mon, 1 Jun 2026 09:59:00 +0200"
	for _, c := range []struct {
		name string
		hops int
		h    message.Header
		want []string
	}{
		{"above the trace", 0, header("Return-Path: <s@sender.example>", "Delivered-To: one@own.example",
			"X-Original-To: two@own.example", own, senders, "To: Team <three@own.example>"),
			[]string{"one@own.example", "two@own.example", "three@own.example"}},
		{"below the trace", 0, header("Delivered-To: one@own.example", own, "X-Original-To: forged@own.example",
			"Delivered-To: forged@own.example", senders, "Cc: three@own.example"),
			[]string{"one@own.example", "three@own.example"}},
		{"below a forged trace", 0, header(own, "Envelope-To: forged@own.example", own, "To: three@own.example"), []string{"three@own.example"}},
		{"below the first of two own servers", 2, header("Received: by store.own.example",
			"X-Original-To: one@own.example", own, "X-Original-To: forged@own.example", senders),
			[]string{"one@own.example"}},
		{"without a trace", 0, header("X-Original-To: forged@own.example", "To: three@own.example"), []string{"three@own.example"}},
	} {
		var got []string
		for _, r := range recipients(c.h, trusted(c.h, mailbox.Senders{Hops: c.hops}), Recipients()) {
			got = append(got, r.full)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Given a mail whose sender writes more recipients than are looked up, when the mailbox's server says that it came for a project, then it is
// that project's.
func TestRecipientsOfTheEnvelopeAreNotHidden(t *testing.T) {
	var to []string
	for i := range 2 * maxRecipients {
		to = append(to, fmt.Sprintf("u%d@own.example", i))
	}
	h := header("Delivered-To: quartier@intake.example", "Received: from mx.sender.example by mx.own.example; x",
		"To: "+strings.Join(to, ",\r\n "), "Cc: "+strings.Join(to, ",\r\n "))
	all := recipients(h, trusted(h, mailbox.Senders{}), Recipients())

	d := choose(all, map[string][]string{"quartier@intake.example": {"P1"}})

	if len(all) != maxRecipients || d.mark != mailbox.Done || !slices.Equal(d.projects, []string{"P1"}) {
		t.Errorf("of %d recipients the projects are %v: %s", len(all), d.projects, d.reason)
	}
}

func TestWhoMaySend(t *testing.T) {
	const from = "From: Bauwerk <office@bauwerk.example>"
	verdict := func(server, results string) string { return "Authentication-Results: " + server + "; " + results }
	own := mailbox.Senders{AuthServer: "mx.own.example"}
	for _, c := range []struct {
		name    string
		senders mailbox.Senders
		h       message.Header
		why     string // "" allowed
	}{
		{"everybody", mailbox.Senders{}, header("Subject: x"), ""},
		{"an address", mailbox.Senders{Allowed: []string{"office@bauwerk.example"}}, header(from), ""},
		{"a domain", mailbox.Senders{Allowed: []string{"bauwerk.example"}}, header("From: Office@BAUWERK.example"), ""},
		{"a domain in other letters", mailbox.Senders{Allowed: []string{"bücher.example"}}, header("From: x@xn--bcher-kva.example"), ""},
		{"an address in other letters", mailbox.Senders{Allowed: []string{"x@xn--bcher-kva.example"}}, header("From: X@Bücher.example"), ""},
		{"a domain that looks like another", mailbox.Senders{Allowed: []string{"bauwerk.example"}}, header("From: x@bauwеrk.example"), "not among"},
		{"another address", mailbox.Senders{Allowed: []string{"boss@bauwerk.example"}}, header(from),
			"the sender office@bauwerk.example is not among"},
		{"a domain within", mailbox.Senders{Allowed: []string{"bauwerk.example"}}, header("From: x@evil.bauwerk.example"), "not among"},
		{"a domain that ends alike", mailbox.Senders{Allowed: []string{"bauwerk.example"}}, header("From: x@evilbauwerk.example"), "not among"},
		{"a name like an address", mailbox.Senders{Allowed: []string{"bauwerk.example"}},
			header(`From: "office@bauwerk.example" <x@evil.example>`), "x@evil.example is not among"},
		{"one of two", mailbox.Senders{Allowed: []string{"bauwerk.example"}},
			header("From: office@bauwerk.example, x@evil.example"), "x@evil.example is not among"},
		{"nobody", mailbox.Senders{Allowed: []string{"bauwerk.example"}}, header("Subject: x"), "no sender"},
		{"a verdict", own, header(verdict("mx.own.example",
			"spf=pass smtp.mailfrom=x; dkim=pass (2048-bit key); dmarc=pass (p=reject) header.from=bauwerk.example"), from), ""},
		{"a verdict with a version", own, header(verdict("MX.own.example 1", "dmarc=pass"), from), ""},
		{"a failed one", own, header(verdict("mx.own.example", "dmarc=fail"), from), "mx.own.example says dmarc=fail"},
		{"another server's", own, header(verdict("mx.evil.example", "dmarc=pass"), from), "says dmarc=none"},
		{"none", own, header(from), "says dmarc=none"},
		{"none of DMARC", own, header(verdict("mx.own.example", "none"), from), "says dmarc=none"},
		{"in a comment", own, header(verdict("mx.own.example", "spf=fail (; dmarc=pass;)"), from), "says dmarc=none"},
		{"in a quoted address of the envelope", own, header(verdict("mx.own.example",
			`spf=fail smtp.mailfrom="x; dmarc=pass x"@evil.example; dmarc=fail`), from), "says dmarc=fail"},
		{"behind a quote that is escaped", own, header(verdict("mx.own.example",
			`spf=fail smtp.mailfrom="\"; dmarc=pass ("@evil.example; dmarc=fail`),
			from), "says dmarc=fail"},
		{"behind a comment that is escaped", own, header(verdict("mx.own.example",
			`spf=fail (\); dmarc=pass;) ; dmarc=fail`), from), "says dmarc=fail"},
		{"the topmost counts", own, header(verdict("mx.own.example", "dmarc=fail"), verdict("mx.own.example",
			"dmarc=pass"), from), "says dmarc=fail"},
		{"two senders", own, header(verdict("mx.own.example", "dmarc=pass"), from+", x@evil.example"), "2 senders"},
		{"two fields", own, header(verdict("mx.own.example", "dmarc=pass"), from, "From: x@evil.example"), "2 senders"},
		{"a verdict about another domain", own, header(verdict("mx.own.example", "dmarc=pass header.from=evil.example"), from),
			"about evil.example"},
		{"a verdict about the domain in other letters", own, header(verdict("mx.own.example", "dmarc=pass header.from=XN--BCHER-KVA.example"),
			"From: office@bücher.example"), ""},
		{"a verdict about an address", own, header(verdict("mx.own.example", "dmarc=pass header.from=Office@bauwerk.example;"), from), ""},
		{"beside an address that is too long", own, header(verdict("mx.own.example", "dmarc=pass"),
			"From: "+strings.Repeat("a", 400)+"@evil.example, office@bauwerk.example"), "not all senders"},
		{"far before another", own, header(verdict("mx.own.example", "dmarc=pass"),
			from+","+strings.Repeat(" ", 70<<10)+"x@evil.example"), "not all senders"},
		{"in a header that is cut off", own, message.ReadHeader([]byte(verdict("mx.own.example", "dmarc=pass") + "\r\n" + from + "\r\nX-Long: ")),
			"not all senders"},
		{"an address in a header that is cut off", mailbox.Senders{Allowed: []string{"bauwerk.example"}},
			message.ReadHeader([]byte(from + "\r\nX-Long: ")), "not all senders"},
	} {
		if got := disallowed(c.h, c.senders); c.why == "" && got != "" || c.why != "" && !strings.Contains(got, c.why) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.why)
		}
	}
}

// Programs that answer mails send no invoices, and what they answer may hold one; programs that send invoices do.
func TestAutomaticMailIsRecognized(t *testing.T) {
	for want, h := range map[string]message.Header{
		"Auto-Submitted: auto-replied": header("Auto-Submitted: auto-replied (vacation)", "From: x@y.example"),
		"X-Autoreply":                  header("X-Autoreply: yes"),
		"X-Autorespond":                header("X-Autorespond: Re: Rechnung"),
		"Precedence: auto_reply":       header("Precedence: auto_reply"),
		"delivery-status":              header("Content-Type: multipart/report; report-type=delivery-status; boundary=B"),
		"disposition-notification":     header("Content-Type: multipart/report; boundary=B; report-type=\"disposition-notification\""),
		"passed 60 servers":            header(slices.Repeat([]string{"Received: from x"}, 60)...),
	} {
		if got := automatic(h); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, h := range []message.Header{
		header("Auto-Submitted: auto-generated"), header("Auto-Submitted: no"), header("Precedence: bulk"), header("Precedence: list"),
		header("Content-Type: multipart/mixed; boundary=B"), header(slices.Repeat([]string{"Received: from x"}, 10)...), header(),
	} {
		if got := automatic(h); got != "" {
			t.Errorf("got %q", got)
		}
	}
}

// Whatever a verdict's field holds, it is a pass only where the named server's own says so outside of comments.
func FuzzVerdict(f *testing.F) {
	f.Add("mx.own.example; dmarc=pass")
	f.Add("mx.own.example 1; spf=fail (; dmarc=pass); dkim=pass")
	f.Add("mx.evil.example; (mx.own.example; dmarc=pass)")
	f.Fuzz(func(t *testing.T, value string) {
		h := header("Authentication-Results: " + strings.NewReplacer("\r", " ", "\n", " ").Replace(value))
		if dmarc(h, "mx.own.example").word != "pass" {
			return
		}
		if left := strings.ToLower(bare(value)); !strings.Contains(left, "dmarc") || !strings.Contains(left, "pass") ||
			!strings.HasPrefix(strings.TrimSpace(left), "mx.own.example") || strings.ContainsAny(left, `"(`) {
			t.Fatalf("%q is a pass", value)
		}
	})
}

// Given a mailbox with allowed senders, when others send, then their mails wait in quarantine with the reason, until an
// operator releases them.
func TestAQuarantinedMailIsListedAndReleased(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Senders.Allowed = []string{"bauwerk.example"}
	mail := func(id, from string, extra ...string) string {
		raw := string(testMail{to: "quartier@intake.example", id: id, pdfs: [][]byte{invoicePDF(id)}}.raw())
		return strings.Join(extra, "") + strings.Replace(raw, "Supplier <supplier@b.example>", from, 1)
	}
	s.Deliver(mail("m1", "x@evil.example"))
	s.Deliver(mail("m2", "office@bauwerk.example"))
	s.Deliver(mail("m3", "office@bauwerk.example", "Auto-Submitted: auto-replied\r\n"))
	in := w.intake([]mailbox.Options{o})
	w.settled(1)
	marked(t, o, mailbox.Quarantined, 1)
	marked(t, o, mailbox.Ignored, 1)
	var waiting []Listed
	if err := in.Quarantined(t.Context(), func(l Listed) { waiting = append(waiting, l) }); err != nil || len(waiting) != 1 ||
		waiting[0].MessageID != "m1" || waiting[0].Reason != "the sender x@evil.example is not among those that are allowed" {
		t.Fatalf("listed are %+v, %v", waiting, err)
	}
	for _, id := range []string{"x", "1.99", "9." + fmt.Sprint(waiting[0].UID), boxName(o) + ".9." + fmt.Sprint(waiting[0].UID)} {
		if err := in.Release(t.Context(), id); err == nil {
			t.Errorf("mail %s was released", id)
		}
	}
	in.end()
	if err := in.Release(t.Context(), waiting[0].ID); err != nil {
		t.Fatal(err)
	}
	w.intake([]mailbox.Options{o})
	w.settled(2)
	marked(t, o, mailbox.Quarantined, 0)
	marked(t, o, mailbox.Done, 2)
}

// Given a limit of mails an hour, when a sender sends more, then the others wait in quarantine.
func TestMailsOverTheQuotaWaitInQuarantine(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Senders.PerHour = 2
	for i := range 5 {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i), pdfs: [][]byte{invoicePDF(fmt.Sprint(i))}}.raw()))
	}
	in := w.intake([]mailbox.Options{o})
	w.settled(2)
	marked(t, o, mailbox.Quarantined, 3)
	n := 0
	if err := in.Quarantined(t.Context(), func(l Listed) {
		n++
		if !strings.Contains(l.Reason, "more mails within an hour") {
			t.Errorf("the reason is %q", l.Reason)
		}
	}); err != nil || n != 3 {
		t.Errorf("%d are listed, %v", n, err)
	}
}
