package mail

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gomail "github.com/emersion/go-message/mail"

	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/mail/answer"
	"tallyhouse/ingest/mail/answer/smtptest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// mailed is a reading of a mail that arrived at an instant.
func mailed(project, status, reason, arrived, subject string, fields ...events.ReadField) *events.Reading {
	at, err := time.Parse(time.RFC3339, arrived)
	if err != nil {
		panic(err) // a test's own constant
	}
	return &events.Reading{ProjectID: events.Some(project), Status: status, Reason: text(reason), Fields: fields,
		Mail: events.ReadMail{Mailbox: "m", ArrivedAt: events.Some(at), From: events.Some("office@bauwerk.example"), Subject: events.Some(subject)}}
}

// invoiceFields are all that a record needs to be paid.
func invoiceFields(number string) []events.ReadField {
	field := func(name, value string) events.ReadField {
		return events.ReadField{Name: name, Value: events.Some(events.Stated{Text: events.Some(value), Rule: "label"})}
	}
	return []events.ReadField{field("invoiceNumber", number), field("supplierName", "Bauwerk Donau\nGmbH"), field("currency", "EUR"),
		{Name: "gross", Value: events.Some(events.Stated{Minor: events.Some[int64](-123456750), Rule: "sum"})}, field("invoiceDate", "2026-10-20")}
}

// digests are what the outbox has of days, by project and day: how often it was said to be owed, and what became of it.
func (w *world) digests() map[string][]string {
	w.t.Helper()
	all := map[string][]string{}
	for _, r := range topicstest.Messages(w.t, w.cluster, events.Answers) {
		e, err := events.Decode(events.Answers, r.Key, r.Value)
		if err != nil {
			w.t.Fatalf("an answer was written that breaks the rules: %v", err)
		}
		a := e.Data.(*events.Answer)
		of := a.ProjectID + " " + a.Day.String()
		if a.Outcome.Ok {
			all[of] = append(all[of], a.Outcome.V.What)
		} else {
			all[of] = append(all[of], "owed "+e.At.Format("15:04"))
		}
	}
	for of := range all {
		slices.Sort(all[of])
	}
	return all
}

// digested are the letters that a server has taken, each with its receiver and its subject.
func digested(t *testing.T, server *smtptest.Server) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, l := range server.Letters() {
		r, err := gomail.CreateReader(bytes.NewReader(l.Raw))
		if err != nil {
			t.Fatal(err)
		}
		if l.From != "" || r.Header.Get("Auto-Submitted") != "auto-generated" || r.Header.Get("In-Reply-To") != "" {
			t.Errorf("a digest from %q has the header %v", l.From, r.Header.Map())
		}
		part, err := r.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part.Body)
		if err != nil {
			t.Fatal(err)
		}
		subject, err := r.Header.Subject()
		if err != nil {
			t.Fatal(err)
		}
		of := l.To + " " + subject
		all[of] = append(all[of], strings.ReplaceAll(string(body), "\r\n", "\n"))
	}
	return all
}

// Given projects that want a digest, and two workers, when its time of the day comes in Vienna, on the day on which the clocks
// go back too, then each responsible user is told once what came since the time of the day before and what is open, in the
// words of the inbox: of that project and tenant alone; and when workers start anew, nobody is told again. Who has lost the
// role, or whose project has nothing new and nothing open, gets none.
func TestADayHasOneDigest(t *testing.T) {
	w := newWorld(t)
	w.project("P3", "annex@intake.example")
	exec := func(sql string) {
		t.Helper()
		if err := w.db.Exec(t.Context(), database.Statement{SQL: sql}); err != nil {
			t.Fatal(err)
		}
	}
	for id, project := range map[string]string{"U1": "P1", "U2": "P2", "U3": "P3"} {
		w.row("users", "id, name, email, active", fmt.Sprintf("'%s', '%s', '%s@own.example', true", id, id, strings.ToLower(id)))
		w.row("memberships", "id, user_id, scope_project_id, role", fmt.Sprintf("'M%s', '%s', '%s', 'user'", id, id, project))
	}
	server := smtptest.New(t, "smtps", func(string) error { return nil })
	server.Listen()
	file := filepath.Join(t.TempDir(), "answers.json")
	project := `{"tenant": "demo", "project": "P%d", "responsible": "U%d", "language": %q, "digest": "07:00"}`
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"smtp": %q, "from": "invoices@own.example", "desk": "https://desk.example", "projects": [%s, %s, %s]}`,
		server.URL, fmt.Sprintf(project, 1, 1, "de"), fmt.Sprintf(project, 2, 2, "en"), fmt.Sprintf(project, 3, 3, "en")), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := answer.Read(file)
	if err != nil {
		t.Fatal(err)
	}

	// Given mails of which some came within the day, which has 25 hours
	all := invoiceFields("17")
	doubted := mailed("P2", events.ReadingCompleted, "", "2026-10-24T12:00:00Z", "Rechnung", all...)
	doubted.Findings = []events.Finding{{Rule: "page-differs", Message: "x"}}
	twice := mailed("P1", events.ReadingCompleted, "", "2026-10-24T14:00:00Z", "Rechnung", all...)
	twice.Findings = []events.Finding{{Rule: "duplicate-number", Message: "x", Records: events.Some([]string{"mail-a"})}}
	for id, r := range map[string]*events.Reading{
		"mail-undated": mailed("P1", events.ReadingCompleted, "", "2026-10-24T04:55:00Z", "Rechnung", all[:4]...),
		"mail-read":    mailed("P1", events.ReadingCompleted, "", "2026-10-25T05:54:59Z", "Rechnung", all...),
		"mail-twice":   twice,
		"intake-spam":  mailed("P1", events.ReadingQuarantined, "sender-not-allowed", "2026-10-24T16:00:00Z", "Click https://evil.example"),
		"intake-away":  mailed("P1", events.ReadingWithoutRecord, "automatic", "2026-10-24T17:00:00Z", "Out of office"),
		"mail-locked":  mailed("P1", events.ReadingFailed, "encrypted", "2026-10-20T08:00:00Z", "Rechnung\r\n18"),
		"intake-hello": mailed("P1", events.ReadingWithoutRecord, "no-invoice", "2026-10-20T08:00:00Z", "Hello"),
		"mail-old":     mailed("P1", events.ReadingFailed, "encrypted", "2026-09-20T08:00:00Z", "Rechnung"),
		"mail-next":    mailed("P1", events.ReadingCompleted, "", "2026-10-25T05:55:00Z", "Rechnung", all...),
		"mail-doubted": doubted,
		"mail-annex":   mailed("P3", events.ReadingCompleted, "", "2026-10-23T12:00:00Z", "Rechnung", all...),
	} {
		w.send(events.Readings, id, r)
	}
	w.sendEvent(events.Readings, events.Event{Data: mailed("P1", events.ReadingFailed, "encrypted", "2026-10-24T12:00:00Z", "Rechnung"),
		Envelope: events.Envelope{ID: "mail-others", TenantID: "other", Version: 1, Op: events.Upsert, At: time.Now().UTC().Truncate(time.Microsecond)}})
	exec("INSERT INTO records (tenant, project, id, row_version) VALUES ('demo', 'P1', 'mail-twice', 100)") // the application's
	eventually(t, "all readings are in the table", func() error {
		n := 0
		err := w.db.Rows(t.Context(), database.Query{SQL: "SELECT id FROM readings FINAL WHERE tenant != ''"}, func(scan func(...any) error) error {
			n++
			return scan(new(string))
		})
		if err == nil && n != 12 {
			err = fmt.Errorf("there are %d", n)
		}
		return err
	})

	// When it is nearly seven, and then seven
	var now atomic.Pointer[time.Time]
	clock := func() time.Time { return *now.Load() }
	set := func(at string) {
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		now.Store(&instant)
	}
	becomes := func(of string, want ...string) {
		t.Helper()
		eventually(t, of+" has its outcome", func() error {
			if got := w.digests()[of]; !slices.Equal(got, want) {
				return fmt.Errorf("of %s there is %q, want %q", of, got, want)
			}
			return nil
		})
	}
	set("2026-10-25T05:59:59Z")
	stopFirst, stopSecond := w.teller(settings, clock), w.teller(settings, clock)
	yesterday := events.Event{Data: &events.Answer{About: events.AboutDay, ProjectID: "P1", Day: calendar.NewDate(2026, 10, 24)},
		Envelope: events.Envelope{ID: "yesterday", TenantID: tenant, Version: 1, Op: events.Upsert, At: clock()}}
	w.sendEvent(events.Answers, yesterday) // nobody could send it
	becomes("P1 2026-10-24", "expired", "owed 05:59")
	set("2026-10-25T06:00:00Z")

	// Then each has said so, and one letter went to each who is to be told
	becomes("P1 2026-10-25", "owed 06:00", "owed 06:00", "sent")
	becomes("P2 2026-10-25", "owed 06:00", "owed 06:00", "sent")
	becomes("P3 2026-10-25", "owed 06:00", "owed 06:00", "unwanted")
	want := map[string][]string{"u1@own.example Eingang von P1: 5 neu, 3 offen": {`Eingang des Projekts P1

Neu von 24.10.2026 06:55 bis 25.10.2026 06:55: 5
- zweifelhaft: 1
- vielleicht doppelt: 1
- in Quarantäne: 1
- kein Beleg: 1
- gelesen: 1

Zu tun in den letzten 30 Tagen: 3

(ohne Betreff) (in Quarantäne)
Der Absender darf keine Rechnungen schicken. Lassen Sie die Mail freigeben oder den Absender zulassen, wenn Sie ihn kennen.
24.10.2026 18:00, von office@bauwerk.example
https://desk.example/inbox/intake-spam

Bauwerk Donau GmbH 17, -1.234.567,50 EUR (zweifelhaft)
Nicht sicher: Rechnungsdatum. Sehen Sie die Rechnung an und ergänzen Sie den Beleg.
24.10.2026 06:55, von office@bauwerk.example
https://desk.example/inbox/mail-undated

Rechnung 18 (nicht lesbar)
Die Datei verlangt ein Passwort. Bitten Sie den Lieferanten um eine ohne.
20.10.2026 10:00, von office@bauwerk.example
https://desk.example/inbox/mail-locked

Alle: https://desk.example/inbox?project=P1

-- 
Diese Nachricht wurde automatisch geschrieben. Antworten liest niemand.
`}, "u2@own.example Inbox of P2: 1 new, 1 open": {`The inbox of the project P2

New from 2026-10-24 06:55 to 2026-10-25 06:55: 1
- doubtful: 1

To do within the last 30 days: 1

Bauwerk Donau GmbH 17, -1,234,567.50 EUR (doubtful)
Read, but something about it is worth a look. Check the notes before it is paid.
2026-10-24 14:00, from office@bauwerk.example
https://desk.example/inbox/mail-doubted

All: https://desk.example/inbox?project=P2

-- 
This message was written by a program. Nobody reads replies to it.
`}}
	compare := func() {
		t.Helper()
		got := digested(t, server)
		for of, letters := range want {
			if !slices.Equal(got[of], letters) {
				t.Errorf("%s: got\n%s\nwant\n%s", of, strings.Join(got[of], "\n--\n"), strings.Join(letters, "\n--\n"))
			}
			delete(got, of)
		}
		if len(got) != 0 {
			t.Errorf("there are more letters: %q", got)
		}
	}
	compare()

	// When both end, one starts anew, later on the day, and another day comes, on which somebody has no role any more
	stopFirst()
	stopSecond()
	exec("INSERT INTO memberships (tenant, row_version, at, id, user_id, scope_project_id, role, deleted) VALUES ('demo', 2, now64(6), 'MU2', 'U2', 'P2', 'user', true)")
	set("2026-10-25T14:00:00Z")
	w.teller(settings, clock)
	becomes("P1 2026-10-25", "owed 06:00", "owed 06:00", "owed 14:00", "sent")
	becomes("P2 2026-10-25", "owed 06:00", "owed 06:00", "owed 14:00", "sent")
	set("2026-10-26T06:00:00Z")

	// Then nobody is told again of the day before, and who has no role isn't told
	becomes("P1 2026-10-26", "owed 06:00", "sent")
	becomes("P2 2026-10-26", "owed 06:00", "unwanted")
	becomes("P3 2026-10-26", "owed 06:00", "unwanted")
	first := want["u1@own.example Eingang von P1: 5 neu, 3 offen"][0]
	_, lines, _ := strings.Cut(first, "Zu tun")
	want["u1@own.example Eingang von P1: 1 neu, 3 offen"] = []string{`Eingang des Projekts P1

Neu von 25.10.2026 06:55 bis 26.10.2026 06:55: 1
- gelesen: 1

Zu tun` + lines}
	compare()
}
