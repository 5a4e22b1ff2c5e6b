package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// inbox are the rows of the table of readings that are shown: project, state, reason and subject of each, by id.
func (w *world) inbox() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	q := database.Query{SQL: `SELECT id, project, state, reason, subject FROM readings FINAL
WHERE tenant = {tenant:String} AND state != ''`, Params: database.Params{"tenant": tenant}}
	err := w.db.Rows(context.Background(), q, func(scan func(...any) error) error {
		var id, project, state, reason, subject string
		err := scan(&id, &project, &state, &reason, &subject)
		all[id] = strings.Join([]string{project, state, reason, subject}, "|")
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// shows waits until the inbox has these rows and no others, in any order.
func (w *world) shows(want ...string) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("the inbox has %q", want), func() error {
		got := map[string]int{}
		for _, row := range w.inbox() {
			got[row]++
		}
		for _, row := range want {
			if got[row]--; got[row] == 0 {
				delete(got, row)
			}
		}
		if len(got) > 0 {
			return fmt.Errorf("the differences are %v", got)
		}
		return nil
	})
}

// Given mails that become no record, when each is decided, then the inbox of its project says why, and of a mail that no
// project is known of the tenant's own; when one becomes a record after all, then its line is the record's alone.
func TestTheInboxSaysWhyAMailBecameNoRecord(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Senders.Allowed = []string{"bauwerk.example"}
	mail := func(id, from, to, subject string, pdf bool) string {
		m := testMail{to: to, id: id}
		if pdf {
			m.pdfs = [][]byte{invoicePDF(id)}
		}
		return strings.NewReplacer("Supplier <supplier@b.example>", from, "Subject: Rechnung", "Subject: "+subject).Replace(string(m.raw()))
	}
	s.Deliver(mail("m1", "x@evil.example", "quartier@intake.example", "quarantined", true))
	s.Deliver(mail("m2", "a@bauwerk.example", "quartier@intake.example", "no invoice", false))
	s.Deliver(mail("m3", "a@bauwerk.example", "nobody@intake.example", "no project", true))
	s.Deliver("Auto-Submitted: auto-replied\r\n" + mail("m4", "a@bauwerk.example", "tower@intake.example", "automatic", true))
	s.Deliver(mail("m5", "a@bauwerk.example", "tower@intake.example", "read", true))
	w.intake([]mailbox.Options{o})
	w.settled(1)
	w.shows("P1|quarantined|sender-not-allowed|quarantined", "P1|withoutRecord|no-invoice|no invoice",
		"|withoutRecord|no-project|no project", "P2|withoutRecord|automatic|automatic", "P2|read||read")

	var listed []Listed
	in := w.intake([]mailbox.Options{o})
	if err := in.Quarantined(t.Context(), func(l Listed) { listed = append(listed, l) }); err != nil || len(listed) != 1 {
		t.Fatalf("listed are %v, %v", listed, err)
	}
	if err := in.Release(t.Context(), listed[0].ID); err != nil {
		t.Fatal(err)
	}
	in.end()
	w.project("P3", "nobody@intake.example")
	w.intake([]mailbox.Options{o}) // it looks at all mails
	w.settled(3)
	// All three have the same supplier, day and amount.
	w.shows("P1|duplicate||quarantined", "P1|withoutRecord|no-invoice|no invoice", "P3|duplicate||no project",
		"P2|withoutRecord|automatic|automatic", "P2|read||read")
}

// Given a mail of which nothing more can be told, as a reading of it has the last version of all, then it gets its mark, and the mails
// beside it come in.
func TestAMailThatCannotBeToldOfHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	raw := string(testMail{to: "nobody@intake.example", id: "m1"}.raw())
	header, _, _ := strings.Cut(raw, "\r\n\r\n")
	id := unrecorded(tenant, "", []byte(header+"\r\n\r\n"))
	w.sendEvent(events.Readings, events.Event{
		Envelope: events.Envelope{ID: id, TenantID: tenant, Version: events.MaxVersion, Op: events.Upsert, At: time.Now().UTC().Truncate(time.Microsecond)},
		Data:     &events.Reading{Status: events.ReadingHandled, Mail: events.ReadMail{Mailbox: "m"}},
	})
	eventually(t, "the table has it", func() error {
		known, err := directory{[]*database.Server{w.db}}.told(context.Background(), tenant, []string{""}, []string{id})
		if err == nil && len(known) == 0 {
			err = errors.New("it hasn't")
		}
		return err
	})
	s.Deliver(raw)
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m2", pdfs: [][]byte{invoicePDF("2")}}.raw()))
	w.intake([]mailbox.Options{scripted(t, s)})
	w.settled(1)
	eventually(t, "it has its mark", func() error {
		if f := s.Flags()[0]; !slices.Contains(f, "$TallyhouseFailed") {
			return fmt.Errorf("it has %v", f)
		}
		return nil
	})
}

// Given a mail without a record, when it is decided again and nothing has changed, then nothing is told again.
func TestWhatWasToldOfAMailIsNotToldAgain(t *testing.T) {
	w := newWorld(t)
	w.deliver(testMail{to: "nobody@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw(), "nobody@intake.example")
	first := w.intake([]mailbox.Options{w.box()})
	w.shows("|withoutRecord|no-project|Rechnung")
	first.end()
	again := w.intake([]mailbox.Options{w.box()}) // failed mails get another chance
	w.deliver(testMail{to: "quartier@intake.example", id: "m2", pdfs: [][]byte{invoicePDF("2")}}.raw(), "quartier@intake.example")
	w.settled(1)
	marked(t, w.box(), mailbox.Done, 1)
	again.end()
	for id, told := range w.readings() {
		if len(told) != 1 {
			t.Errorf("%s was told %d times", id, len(told))
		}
		if r := told[0].Data.(*events.Reading); r.Status == events.ReadingWithoutRecord && r.Mail.SHA256.Ok {
			t.Error("a mail that isn't kept has a hash by which it would be")
		}
	}
}
