package answer

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-message/mail"
	"github.com/emersion/go-smtp"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/analytics"
	"tallyhouse/ingest/mail/answer/smtptest"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

const someSettings = `{"smtp": "smtp://127.0.0.1:1025?tls=off", "from": "Tallyhouse <invoices@own.example>", "desk": "https://desk.example/",
	"projects": [{"tenant": "demo", "project": "P1", "responsible": "U1", "language": "de", "receipt": true, "failure": true, "duplicate": true,
	"senders": true, "digest": "07:00"}, {"tenant": "demo", "project": "P2", "language": "en", "receipt": true, "senders": true}]}`

// Given an answer whose outcome can't be written, because its version is the last of all, then it isn't owed: it would be sent for ever.
func TestAnAnswerThatCanHaveNoOutcomeIsNotOwed(t *testing.T) {
	s := &Sender{options: Options{Log: slog.New(slog.DiscardHandler)}}
	p := &partition{done: map[string]time.Time{}, open: map[string]*owed{}}
	for version, want := range map[int64]int{events.MaxVersion: 0, events.MaxVersion - 1: 1} {
		e := events.Event{Data: &events.Answer{About: events.AboutMail, ProjectID: "P1"},
			Envelope: events.Envelope{ID: "a", TenantID: "demo", Version: version, Op: events.Upsert, At: time.Now().UTC().Truncate(time.Microsecond)}}
		value, err := events.Encode(events.Answers, e)
		if err != nil {
			t.Fatal(err)
		}
		clear(p.open)
		s.take(p, &kgo.Record{Key: []byte(e.Key()), Value: value})
		if len(p.open) != want {
			t.Errorf("version %d: %d are owed", version, len(p.open))
		}
	}
}

// What is wrong with settings is said, all at once, and never by a password.
func TestSettingsSayWhatIsWrong(t *testing.T) {
	s, err := parse([]byte(someSettings))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		project              string
		responsible, senders bool
	}{{"P1", true, true}, {"P2", false, true}, {"P3", false, false}} {
		if responsible, senders := s.Wanted("demo", c.project); responsible != c.responsible || senders != c.senders {
			t.Errorf("%s wants %t, %t", c.project, responsible, senders)
		}
	}
	if responsible, senders := s.Wanted("other", "P1"); responsible || senders {
		t.Error("another tenant's project wants answers")
	}
	for change, want := range map[string]string{
		`"smtp": "smtp://127.0.0.1:1025?tls=off"|"smtp": "imap://x"`:                        "smtp must be an address like",
		`"smtp": "smtp://127.0.0.1:1025?tls=off"|"smtp": "smtp://u@h?tls=off"`:              "tls=off (with smtp and without a user",
		`"smtp": "smtp://127.0.0.1:1025?tls=off"|"smtp": "smtps://u:s3cret@h"`:              "password-file=FILE names",
		`"smtp": "smtp://127.0.0.1:1025?tls=off"|"smtp": "smtps://u@h"`:                     "user and password-file go together",
		`"smtp": "smtp://127.0.0.1:1025?tls=off"|"smtp": "smtps://u@h?password-file=/none"`: "password-file: open /none",
		`"smtp": "smtp://127.0.0.1:1025?tls=off"|"smtp": "smtps://h?ca=/none"`:              "ca: open /none",
		`"smtp": "smtp://127.0.0.1:1025?tls=off"|"smtp": "smtps://h?ca=/dev/null"`:          "ca: /dev/null holds no PEM certificate",
		`Tallyhouse <invoices@own.example>|invoices`:                                        "from must be an address like",
		`https://desk.example/|desk.example`:                                                "desk must be",
		`"language": "de"|"language": "fr"`:                                                 "language must be one of de, en",
		`"digest": "07:00"|"digest": "24:00"`:                                               "digest must be a time of the day",
		`"digest": "07:00"|"digest": "7:00"`:                                                "digest must be a time of the day",
		`"responsible": "U1",|`:                                                             "responsible must be the id",
		`"project": "P2"|"project": "P1"`:                                                   "is there twice",
		`"digest": "|"digset": "`:                                                           "unknown field",
		`"tenant": "demo", "project": "P2"|"project": "P2"`:                                 "tenant and project must be given",
	} {
		before, after, _ := strings.Cut(change, "|")
		if !strings.Contains(someSettings, before) {
			t.Fatalf("%s is not in the settings", before)
		}
		_, err := parse([]byte(strings.Replace(someSettings, before, after, 1)))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") ||
			strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: got %v, want %s", after, err, want)
		}
	}
}

func someTexts(t testing.TB) texts {
	t.Helper()
	all, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// opened reads a letter as its receiver does.
func opened(t testing.TB, raw []byte) (h mail.Header, body string) {
	t.Helper()
	r, err := mail.CreateReader(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	part, err := r.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(part.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
}

var ownAddress = mail.Address{Name: "Tallyhouse", Address: "invoices@own.example"}

func TestWhatLettersSay(t *testing.T) {
	for _, c := range []struct {
		letter        letter
		subject, body string
	}{
		{letter{language: "de", Sender: true, Subject: "Rechnung 17", Arrived: "20.04.2026 08:30",
			Lines: []line{{File: "r.pdf", State: analytics.InboxDoubtful}, {File: "s.pdf", State: analytics.InboxFailed, Reason: "Die Datei verlangt ein Passwort."}}},
			"Nicht lesbar: Rechnung 17", `Guten Tag,

Ihre Mail „Rechnung 17“ ist am 20.04.2026 08:30 eingegangen.

r.pdf: ist da und wird bearbeitet.

s.pdf: konnte nicht gelesen werden. Die Datei verlangt ein Passwort.

-- 
Diese Nachricht wurde automatisch geschrieben. Antworten liest niemand.
`},
		{letter{language: "en", Project: "Quartier", Subject: "",
			Lines: []line{{File: "r.pdf", State: analytics.InboxDuplicate, Link: "https://desk.example/inbox/m2", Earlier: []string{"https://desk.example/inbox/m1"}}}},
			"Possible duplicate: (no subject)", `A mail for the project Quartier has arrived: "(no subject)".

r.pdf: read. This invoice may have come before.
https://desk.example/inbox/m2
Came before: https://desk.example/inbox/m1

-- 
This message was written by a program. Nobody reads replies to it.
`},
		{letter{language: "en", Project: "Quartier", Subject: "x", Lines: []line{{File: "r.pdf", State: analytics.InboxRead, Link: "m1"}}},
			"Received: x", `A mail for the project Quartier has arrived: "x".

r.pdf: read.
m1

-- 
This message was written by a program. Nobody reads replies to it.
`},
	} {
		c.letter.to, c.letter.id, c.letter.at = "u@own.example", "answer-1", time.Now()
		raw, err := c.letter.written(someTexts(t), ownAddress)
		if err != nil {
			t.Fatal(err)
		}
		h, body := opened(t, raw)
		if subject, err := h.Subject(); err != nil || subject != c.subject {
			t.Errorf("the subject is %q, want %q; %v", subject, c.subject, err)
		}
		if body != c.body {
			t.Errorf("the body is\n%s\nwant\n%s", body, c.body)
		}
		for field, want := range map[string]string{"Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All", "To": "<u@own.example>",
			"From": `"Tallyhouse" <invoices@own.example>`, "Message-Id": "<answer-1@own.example>"} {
			if got := h.Get(field); got != want {
				t.Errorf("%s is %q, want %q", field, got, want)
			}
		}
	}
}

// Each reason that the intake gives has its words in each language.
func TestEveryLanguageSaysTheSame(t *testing.T) {
	all := someTexts(t)
	for _, one := range all["de"].Templates() {
		if name := strings.Replace(one.Name(), "de.tmpl", "en.tmpl", 1); all["en"].Lookup(name) == nil {
			t.Errorf("English does not say %q", name)
		}
	}
	if len(all["de"].Templates()) != len(all["en"].Templates()) {
		t.Error("German does not say all that English does")
	}
	if got, err := all.reason("en", "a reason of a later version"); err != nil || got == "" {
		t.Errorf("an unknown reason is %q, %v", got, err)
	}
}

// Whatever a stranger writes into subject, file name and Message-ID, the letter has the same header fields, the same receiver,
// and nothing outside of its lines.
func FuzzLettersAreNobodyElses(f *testing.F) {
	f.Add("Rechnung", "r.pdf", "a@b.example")
	f.Add("x\r\nBcc: v@evil.example\r\n\r\nbody", "a\r\n.\r\nMAIL FROM:<>", "a@b>\r\nBcc: <v@evil.example")
	f.Add("=?utf-8?q?a=0D=0ABcc:_v@evil.example?=", "{{.Project}}\u202e", "x@[1]")
	f.Add(strings.Repeat("ä", 5000), strings.Repeat("b", 5000), strings.Repeat("c", 5000)+"@x")
	all := someTexts(f)
	f.Fuzz(func(t *testing.T, subject, file, id string) {
		l := letter{language: "de", Sender: true, Subject: subject, Lines: []line{{File: file, State: analytics.InboxRead}}, inReplyTo: id,
			to: "office@bauwerk.example", id: "answer-1", at: time.Unix(1776666605, 0)}
		raw, err := l.written(all, ownAddress)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSuffix(string(raw), "\r\n"), "\r\n") {
			if strings.ContainsAny(line, "\r\n") || len(line) > 998 {
				t.Fatalf("a line is %q", line)
			}
		}
		h, body := opened(t, raw)
		known := map[string]bool{"From": true, "To": true, "Subject": true, "Date": true, "Message-Id": true, "In-Reply-To": true, "References": true,
			"Auto-Submitted": true, "X-Auto-Response-Suppress": true, "Content-Type": true, "Content-Language": true,
			"Content-Transfer-Encoding": true, "Mime-Version": true}
		for fields := h.Fields(); fields.Next(); {
			if !known[fields.Key()] {
				t.Fatalf("there is a field %s: %s", fields.Key(), fields.Value())
			}
		}
		if to, err := h.AddressList("To"); err != nil || len(to) != 1 || to[0].Address != "office@bauwerk.example" {
			t.Fatalf("it goes to %v, %v", to, err)
		}
		if n := strings.Count(body, "\n"); n != 8 {
			t.Fatalf("the body has %d lines:\n%s", n, body)
		}
	})
}

// A server that refuses one letter says so of that letter alone; one that is away, or refuses the login, says nothing about any.
func TestWhatAServerSaysOfALetter(t *testing.T) {
	for _, scheme := range []string{"smtps", "smtp"} {
		server := smtptest.New(t, scheme, func(to string) error {
			switch to {
			case "full@x.example":
				return &smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 2, 2}, Message: "the mailbox is full"}
			case "none@x.example":
				return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "nobody of that name"}
			}
			return nil
		})
		s, err := parseServer(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		send := func(s Server, to string) error {
			return s.send(context.Background(), to, []byte("Subject: x\r\n\r\n.a line with a dot\r\n"))
		}
		var said *refusal
		if err := send(s, "u@x.example"); err == nil || errors.As(err, &said) {
			t.Errorf("%s: a server that is away says %v", scheme, err)
		}
		server.Listen()
		if err := send(s, "u@x.example"); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
		if err := send(s, "full@x.example"); !errors.As(err, &said) || said.forGood {
			t.Errorf("%s: a full mailbox: %v", scheme, err)
		}
		if err := send(s, "none@x.example"); !errors.As(err, &said) || !said.forGood {
			t.Errorf("%s: nobody: %v", scheme, err)
		}
		other := s
		other.user = "somebody"
		if err := send(other, "u@x.example"); err == nil || errors.As(err, new(*refusal)) {
			t.Errorf("%s: a refused login says %v", scheme, err)
		}
		stranger := s
		stranger.tls = stranger.tls.Clone()
		stranger.tls.RootCAs = nil
		if err := send(stranger, "u@x.example"); err == nil || errors.As(err, new(*refusal)) {
			t.Errorf("%s: a certificate that nobody vouches for says %v", scheme, err)
		}
		letters := server.Letters()
		if len(letters) != 1 || letters[0].From != "" || letters[0].To != "u@x.example" ||
			string(letters[0].Raw) != "Subject: x\r\n\r\n.a line with a dot\r\n" {
			t.Errorf("%s: taken were %q", scheme, letters)
		}
	}
}

// Each day has one digest: also the one that skips the digest's time of the day, and the one that has it twice.
func TestEachDayHasItsTime(t *testing.T) {
	for _, c := range []struct{ clock, day, want string }{
		{"07:00", "2026-07-01", "2026-07-01T05:00:00Z"},
		{"07:00", "2026-12-01", "2026-12-01T06:00:00Z"},
		{"00:00", "2026-12-01", "2026-11-30T23:00:00Z"},
	} {
		d, err := calendar.ParseDate(c.day)
		if err != nil {
			t.Fatal(err)
		}
		if got := (project{Digest: c.clock}).digestOn(d).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s of %s is %s, want %s", c.clock, c.day, got, c.want)
		}
	}
	first, err := calendar.ParseDate("2026-01-01")
	if err != nil {
		t.Fatal(err)
	}
	for _, clock := range []string{"00:00", "01:59", "02:00", "02:30", "03:00", "23:59"} {
		p := project{Digest: clock}
		for d := first; d < first+366; d++ {
			if at := p.digestOn(d); calendar.ViennaDate(at) != d || !at.After(p.digestOn(d-1)) {
				t.Errorf("%s of %s is %s", clock, d, at)
			}
		}
	}
}

func TestAmountsAreWrittenAsPeopleDo(t *testing.T) {
	for _, c := range []struct {
		language, code string
		minor          int64
		want           string
	}{
		{"de", "EUR", 0, "0,00 EUR"}, {"de", "EUR", -5, "-0,05 EUR"}, {"de", "EUR", 99_999, "999,99 EUR"}, {"de", "EUR", 100_000, "1.000,00 EUR"},
		{"en", "CZK", 123_456_789, "1,234,567.89 CZK"}, {"en", "JPY", 1_234_567, "1,234,567 JPY"}, {"de", "TND", 1_234_567, "1.234,567 TND"},
		{"en", "RSD", 120_000, "1,200.00 RSD"},
		{"en", "XYZZ", 1234, "12.34 XYZZ"}, {"en", "EUR", math.MinInt64, "-92,233,720,368,547,758.08 EUR"},
	} {
		if got := amount(c.language, c.minor, c.code); got != c.want {
			t.Errorf("%d %s in %s is %q, want %q", c.minor, c.code, c.language, got, c.want)
		}
	}
}

// Whatever strangers wrote on an invoice and into its mail, it stays on the lines that a digest has for it.
func FuzzDigestsAreNobodyElses(f *testing.F) {
	f.Add("Bauwerk", "17", "EUR", "Rechnung", "a@b.example", "encrypted")
	f.Add("x\r\nBcc: v@evil.example\r\n\r\nbody", "\u202e{{.Inbox}}", "E\nR", "a\r\n.\r\n", "a\r\n@b", "x\"}}")
	f.Add(strings.Repeat("ä", 5000), strings.Repeat("b", 5000), strings.Repeat("c", 5000), "", strings.Repeat("d", 5000), "")
	s := &Sender{texts: someTexts(f), options: Options{Settings: &Settings{desk: "https://desk.example"}}}
	f.Fuzz(func(t *testing.T, supplier, number, code, subject, from, reason string) {
		field := func(name, value string) events.ReadField {
			return events.ReadField{Name: name, Value: events.Some(events.Stated{Text: events.Some(value)})}
		}
		for _, state := range analytics.InboxStates() {
			r := read{id: "mail-a", state: state, reading: events.Reading{Reason: events.Some(reason),
				Mail:   events.ReadMail{From: events.Some(from), Subject: events.Some(subject)},
				Fields: []events.ReadField{field("supplierName", supplier), field("invoiceNumber", number), field("currency", code)}}}
			one, err := s.digestLine("de", &r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := s.texts.say("de", "digest", digest{Open: 1, Lines: []digestLine{one}})
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(body, "\n"); n != 13 || len(body) > 2500 {
				t.Fatalf("%s has %d lines:\n%s", state, n, body)
			}
		}
	})
}
