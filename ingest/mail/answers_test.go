package mail

import (
	"net/mail"
	"strings"
	"testing"

	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/events"
)

// everybody tells the responsible user of every project, and no sender.
type everybody struct{}

func (everybody) Wanted(string, string) (responsible, senders bool) { return true, false }

func (everybody) Own() string { return "tallyhouse@own.example" }

// owed are the answers in the outbox about a mail, by id.
func (w *world) owed(messageID string) map[string]*events.Answer {
	w.t.Helper()
	all := map[string]*events.Answer{}
	for _, r := range topicstest.Messages(w.t, w.cluster, events.Answers) {
		e, err := events.Decode(events.Answers, r.Key, r.Value)
		if err != nil {
			w.t.Fatalf("an answer was written that breaks the rules: %v", err)
		}
		if a := e.Data.(*events.Answer); a.Mail.MessageID.V == messageID {
			all[e.ID] = a
		}
	}
	return all
}

// Programs, lists and those who want no answer get none (RFC 3834).
func TestWhatNoProgramAnswers(t *testing.T) {
	for lines, want := range map[string]bool{
		"Subject: Rechnung":                      false,
		"Auto-Submitted: no":                     false,
		"Auto-Submitted: No; x=y":                false,
		"Return-Path: <office@bauwerk.example>":  false,
		"Precedence: first-class":                false,
		"Auto-Submitted: auto-generated":         true,
		"Auto-Submitted: auto-replied":           true,
		"Auto-Submitted: (no)":                   true,
		"auto-submitted:\r\n auto-notified":      true,
		"Return-Path: <>":                        true,
		"Return-Path: < >":                       true,
		"Precedence: Bulk":                       true,
		"Precedence: list":                       true,
		"Precedence: junk":                       true,
		"List-Id: <l.example>":                   true,
		"LIST-UNSUBSCRIBE: <mailto:x@l.example>": true,
		"List-Post:":                             true,
		"X-Auto-Response-Suppress: All":          true,
		"X-Autoreply: yes":                       true,
		"X-Loop: here":                           true,
		"Content-Type: multipart/report; report-type=delivery-status; boundary=B": true,
	} {
		if got := unanswerable(header(lines, "From: a@b.example")); got != want {
			t.Errorf("%q: got %v, want %v", lines, got, want)
		}
	}
}

// A sender is answered where the mailbox's own server vouches for the one address in From, and a person may read it.
func TestWhichSendersAreAnswered(t *testing.T) {
	const pass = "Authentication-Results: mx.own.example; dmarc=pass header.from=bauwerk.example"
	own := mailbox.Senders{AuthServer: "mx.own.example"}
	for _, c := range []struct {
		name    string
		senders mailbox.Senders
		h       message.Header
		want    string
	}{
		{"vouched for", own, header(pass, "From: Bauwerk <Office@Bauwerk.example>"), "office@bauwerk.example"},
		{"nobody is asked", mailbox.Senders{}, header(pass, "From: office@bauwerk.example"), ""},
		{"no verdict", own, header("From: office@bauwerk.example"), ""},
		{"another server's verdict", own, header("Authentication-Results: mx.evil.example; dmarc=pass", "From: office@bauwerk.example"), ""},
		{"a forged verdict below the server's own", own, header("Authentication-Results: mx.own.example; dmarc=fail", pass,
			"From: office@bauwerk.example"), ""},
		{"a verdict in a comment", own, header("Authentication-Results: mx.own.example; dmarc=none (dmarc=pass)", "From: office@bauwerk.example"), ""},
		{"SPF alone", own, header("Authentication-Results: mx.own.example; spf=pass; dkim=pass", "From: office@bauwerk.example"), ""},
		{"two senders", own, header(pass, "From: a@bauwerk.example, b@bauwerk.example"), ""},
		{"two fields From", own, header(pass, "From: a@bauwerk.example", "From: b@bauwerk.example"), ""},
		{"no sender", own, header(pass, "From: Bauwerk"), ""},
		{"a daemon", own, header(pass, "From: MAILER-DAEMON@bauwerk.example"), ""},
		{"nobody reads it", own, header(pass, "From: no-reply@bauwerk.example"), ""},
		{"a list's owner", own, header(pass, "From: owner-team@bauwerk.example"), ""},
		{"a command in the address", own, header(pass, `From: "x> RCPT TO:<y"@bauwerk.example`), ""},
		{"letters that not every server takes", own, header(pass, "From: bü@bauwerk.example"), ""},
	} {
		if got := vouchedFor(c.h, c.senders); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever a header says, an answer goes to an address that is one, alone and on one line.
func FuzzWhoIsAnswered(f *testing.F) {
	for _, seed := range []string{
		"Authentication-Results: mx; dmarc=pass\r\nFrom: Bauwerk <office@bauwerk.example>\r\n\r\n",
		"Authentication-Results: mx; dmarc=pass\r\nFrom: \"a\r\n b\"@x.example\r\n\r\n", "From: =?utf-8?q?a=0D=0Ab?=@x\r\n", "From: a@[::1]\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := message.ReadHeader(raw)
		unanswerable(h)
		sender := vouchedFor(h, mailbox.Senders{AuthServer: "mx"})
		if sender == "" {
			return
		}
		if a, err := mail.ParseAddress(sender); err != nil || a.Address != sender || strings.ContainsAny(sender, "\r\n <>,") {
			t.Fatalf("%q is answered: %v", sender, err)
		}
	})
}
