package mail

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/schemas/events"
)

// told is the newest reading with a subject, of a mail or of a record.
func (w *world) told(subject string) events.Event {
	w.t.Helper()
	var newest events.Event
	for _, all := range w.readings() {
		for _, e := range all {
			if r := e.Data.(*events.Reading); r.Mail.Subject.V == subject && r.Status != events.ReadingHandled && e.Version > newest.Version {
				newest = e
			}
		}
	}
	if newest.ID == "" {
		w.t.Fatalf("no reading has the subject %s", subject)
	}
	return newest
}

// request is what the desk sends about the mail of a reading.
func request(action string, about events.Event) events.Event {
	r := about.Data.(*events.Reading)
	now := time.Now().UTC().Truncate(time.Microsecond)
	return events.Event{
		Envelope: events.Envelope{ID: about.ID, TenantID: about.TenantID, Version: now.UnixMicro(), Op: events.Upsert, At: now},
		Data: &events.Request{Action: action, ProjectID: r.ProjectID, RequestedBy: events.Some("ada"), RequestedAt: now,
			Mail: events.MailPlace{Mailbox: r.Mail.Mailbox, UIDValidity: r.Mail.UIDValidity, UID: r.Mail.UID}},
	}
}

// ruling is what the desk sends about a sender.
func ruling(action, sender string) events.Event {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return events.Event{
		Envelope: events.Envelope{ID: events.SenderRequest(sender), TenantID: tenant, Version: now.UnixMicro(), Op: events.Upsert, At: now},
		Data:     &events.Request{Action: action, Sender: sender, RequestedBy: events.Some("ada"), RequestedAt: now}}
}

// asks sends a request.
func (w *world) asks(e events.Event) events.Event {
	w.t.Helper()
	w.sendEvent(events.Requests, e)
	return e
}

// answers are those that were given to a request, in their order.
func (w *world) answers(q events.Event) (outcomes []string) {
	w.t.Helper()
	for _, r := range topicstest.Messages(w.t, w.cluster, events.Requests) {
		e, err := events.Decode(events.Requests, r.Key, r.Value)
		if err != nil || e.ID != q.ID || e.Version != q.Version+1 {
			continue
		}
		answer := e.Data.(*events.Request).Answer
		if !answer.Ok || e.Data.(*events.Request).RequestedBy != q.Data.(*events.Request).RequestedBy {
			w.t.Errorf("the request %s has a version that is no answer to it: %+v", q.ID, e)
		}
		outcomes = append(outcomes, answer.V.Outcome)
	}
	return outcomes
}

// answered waits until a request has an answer.
func (w *world) answered(q events.Event, outcome string) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("the request about %s is answered with %s", q.ID, outcome), func() error {
		if got := w.answers(q); len(got) == 0 || got[0] != outcome {
			return fmt.Errorf("the answers are %q", got)
		}
		return nil
	})
}

// withSubject is a mail's source with another sender and subject.
func (m testMail) withSubject(from, subject string) string {
	return strings.NewReplacer("Supplier <supplier@b.example>", from, "Subject: Rechnung", "Subject: "+subject).Replace(string(m.raw()))
}

// Given mails that wait and a failed record, when people ask for them, then each is done within moments though the mailbox
// is looked through every five minutes alone, the answer says so, and asking again does no harm.
func TestWhatPeopleAskForIsDoneAndAnswered(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Senders.Allowed = []string{"b.example"}
	const known = "quartier@intake.example"
	s.Deliver(testMail{to: known, id: "m1", pdfs: [][]byte{invoicePDF("1")}}.withSubject("x@evil.example", "stranger"))
	s.Deliver(testMail{to: known, id: "m2"}.withSubject("a@b.example", "letter"))
	s.Deliver(testMail{to: "late@intake.example", id: "m3", pdfs: [][]byte{invoicePDF("3")}}.withSubject("a@b.example", "late"))
	unreadable := []byte("%PDF-1.7\nnothing that could be read")
	s.Deliver(testMail{to: known, id: "m4", pdfs: [][]byte{unreadable}}.withSubject("a@b.example", "broken"))
	s.Deliver(testMail{to: known, id: "m5", pdfs: [][]byte{invoicePDF("5")}}.withSubject("y@evil.example", "another stranger"))
	never := func(in *Intake) { in.timings.addresses = time.Hour } // what brings failed mails in is the request alone
	in := w.intake([]mailbox.Options{o}, never)
	w.settled(1)
	w.shows("P1|quarantined|sender-not-allowed|stranger", "P1|withoutRecord|no-invoice|letter", "|withoutRecord|no-project|late",
		"P1|failed|broken|broken", "P1|quarantined|sender-not-allowed|another stranger")
	stranger, letter, late := w.told("stranger"), w.told("letter"), w.told("late")
	broken, another := w.told("broken"), w.told("another stranger")

	t.Run("release", func(t *testing.T) {
		q := w.asks(request(events.RequestRelease, stranger))
		w.answered(q, events.OutcomeGivenBack)
		w.settled(2)
		w.asks(q) // it comes twice
		w.answered(w.asks(request(events.RequestRelease, stranger)), events.OutcomeNotWaiting)
	})
	t.Run("retry", func(t *testing.T) {
		w.answered(w.asks(request(events.RequestRetry, letter)), events.OutcomeGivenBack)
		eventually(t, "it is ignored again", func() error {
			if n := in.mails("ignored"); n != 2 {
				return fmt.Errorf("it was %d times", n)
			}
			return nil
		})
		w.project("P7", "late@intake.example")
		w.answered(w.asks(request(events.RequestRetry, late)), events.OutcomeGivenBack)
		w.settled(3)
		w.shows("P1|read||stranger", "P1|withoutRecord|no-invoice|letter", "P7|duplicate||late", "P1|failed|broken|broken",
			"P1|quarantined|sender-not-allowed|another stranger")
	})
	t.Run("retry without a reason to end otherwise", func(t *testing.T) {
		w.answered(w.asks(request(events.RequestRetry, another)), events.OutcomeGivenBack)
		eventually(t, "it is in quarantine again", func() error {
			if n := in.mails("quarantined"); n != 3 {
				return fmt.Errorf("it was %d times", n)
			}
			return nil
		})
	})
	t.Run("a failed record", func(t *testing.T) {
		w.answered(w.asks(request(events.RequestRetry, broken)), events.OutcomeReadAgain)
		w.reaches(broken.ID, 4)
	})
	t.Run("a mail under another UID", func(t *testing.T) {
		s.Renumber()
		w.answered(w.asks(request(events.RequestRelease, another)), events.OutcomeGivenBack)
		w.settled(4)
	})
	t.Run("what is none of this mailbox's, or too late", func(t *testing.T) {
		gone, old := request(events.RequestRetry, letter), request(events.RequestRetry, letter)
		others, foreign := request(events.RequestRetry, letter), request(events.RequestRetry, letter)
		gone.ID, old.ID, others.ID, foreign.ID = "intake-none", "intake-old", "intake-others", "intake-foreign"
		old.Data.(*events.Request).RequestedAt = time.Now().Add(-25 * time.Hour).UTC()
		others.Data.(*events.Request).Mail.Mailbox = "elsewhere"
		foreign.TenantID = "other"
		w.asks(others)
		w.asks(foreign)
		w.answered(w.asks(old), events.OutcomeExpired)
		w.answered(w.asks(gone), events.OutcomeNotWaiting)
		for _, q := range []events.Event{others, foreign} {
			if got := w.answers(q); got != nil {
				t.Errorf("the request about %s was answered with %s", q.ID, got)
			}
		}
	})
	t.Run("while no worker was there", func(t *testing.T) {
		in.end()
		s.Deliver(testMail{to: known, id: "m6", pdfs: [][]byte{invoicePDF("6")}}.withSubject("z@evil.example", "third stranger"))
		first := w.intake([]mailbox.Options{o}, never)
		eventually(t, "it is told of", func() error {
			for _, row := range w.inbox() {
				if strings.HasSuffix(row, "third stranger") {
					return nil
				}
			}
			return errors.New("it isn't")
		})
		first.end()
		q := w.asks(request(events.RequestRelease, w.told("third stranger")))
		w.intake([]mailbox.Options{o}, never)
		w.answered(q, events.OutcomeGivenBack)
		w.settled(5)
		if got := w.answers(q); len(got) != 1 {
			t.Errorf("it was answered %d times", len(got))
		}
	})
	if err := w.sent().consistent(); err != nil {
		t.Error(err)
	}
}

// Given mails of a sender who isn't allowed, when people allow him, then those come in that were not vouched against, and
// later ones too; and no more once it is taken back.
func TestPeopleAllowASender(t *testing.T) {
	w := newWorld(t)
	d := startDovecot(t)
	o := mailbox.Options{Address: address(t, d.url("imap")+"&allow=b.example&dmarc=mx.own.example")}
	mail := func(number, verdict, from string) []byte {
		raw := testMail{to: "quartier@intake.example", id: "m" + number, pdfs: [][]byte{invoicePDF(number)}}.withSubject(from, "mail "+number)
		return []byte("Authentication-Results: mx.own.example; dmarc=" + verdict + "\r\n" + raw)
	}
	for _, raw := range [][]byte{mail("1", "pass", "New <New@c.example>"), mail("2", "fail", "new@c.example"), mail("3", "pass", "other@c.example")} {
		d.deliver(raw)
	}
	in := w.intake([]mailbox.Options{o})
	const waits = "P1|quarantined|sender-not-allowed|mail "
	w.shows(waits+"1", waits+"2", waits+"3")

	w.asks(ruling(events.RequestAllow, "new@c.example"))
	w.settled(1)
	w.shows("P1|read||mail 1", waits+"2", waits+"3")
	d.deliver(mail("4", "pass", "new@c.example"))
	d.deliver(mail("5", "fail", "new@c.example"))
	w.settled(2)
	w.shows("P1|read||mail 1", waits+"2", waits+"3", "P1|duplicate||mail 4", waits+"5")
	var listed []string
	if err := in.Quarantined(t.Context(), func(l Listed) { listed = append(listed, l.Reason) }); err != nil || !slices.Equal(listed, []string{
		"mx.own.example says dmarc=fail about the sender new@c.example", "the sender other@c.example is not among those that are allowed",
		"mx.own.example says dmarc=fail about the sender new@c.example"}) {
		t.Errorf("listed are %q, %v", listed, err)
	}

	taken := w.asks(ruling(events.RequestDisallow, "new@c.example"))
	eventually(t, "the sender is allowed no more", func() error {
		newest, err := in.directory.newestRequest(t.Context(), tenant, "", taken.ID)
		if err == nil && newest != taken.Version {
			err = fmt.Errorf("the table has version %d", newest)
		}
		return err
	})
	d.deliver(mail("6", "pass", "new@c.example"))
	w.shows("P1|read||mail 1", waits+"2", waits+"3", "P1|duplicate||mail 4", waits+"5", waits+"6")
}

// Given a sender over the limit of an hour, when he is allowed, then the limit stays.
func TestAnAllowedSenderKeepsToTheLimitOfAnHour(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Senders = mailbox.Senders{Allowed: []string{"b.example"}, PerHour: 1}
	for _, c := range []struct{ number, from string }{
		{"1", "new@c.example"}, {"2", "new@c.example"}, {"3", "a@b.example"}, {"4", "a@b.example"},
	} {
		m := testMail{to: "quartier@intake.example", id: "m" + c.number, pdfs: [][]byte{invoicePDF(c.number)}}
		s.Deliver(m.withSubject(c.from, "mail "+c.number))
	}
	w.intake([]mailbox.Options{o})
	w.settled(1)
	w.asks(ruling(events.RequestAllow, "new@c.example"))
	w.asks(ruling(events.RequestAllow, "a@b.example")) // who was allowed before
	w.settled(2)
	w.shows("P1|duplicate||mail 1", "P1|quarantined|too-many-mails|mail 2", "P1|read||mail 3", "P1|quarantined|too-many-mails|mail 4")
}

// Given a server without keywords, when a mail in quarantine is released, then the answer is that this can't be kept; when
// its sender is allowed, it comes in.
func TestAReleaseThatCannotBeKeptIsRefused(t *testing.T) {
	w := newWorld(t)
	d := startDovecot(t)
	o := mailbox.Options{Address: address(t, d.withoutKeywords()+"&allow=b.example"), DoneFolder: "Tallyhouse"}
	d.deliver([]byte(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.withSubject("new@c.example", "mail")))
	w.intake([]mailbox.Options{o})
	w.shows("P1|quarantined|sender-not-allowed|mail")
	w.answered(w.asks(request(events.RequestRelease, w.told("mail"))), events.OutcomeNotKept)
	w.asks(ruling(events.RequestAllow, "new@c.example"))
	w.settled(1)
	w.shows("P1|read||mail")
}

// Given a request to which no answer can be written, as its version is the last of all, then those behind it are heeded.
func TestARequestThatCannotBeAnsweredHoldsNoOtherUp(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Senders.Allowed = []string{"b.example"}
	s.Deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.withSubject("x@evil.example", "stranger"))
	w.intake([]mailbox.Options{o}, func(in *Intake) { in.timings.addresses = time.Hour })
	w.shows("P1|quarantined|sender-not-allowed|stranger")
	q := request(events.RequestRelease, w.told("stranger"))
	last := q
	last.ID, last.Version = unrecordedPrefix+"nobody", events.MaxVersion
	// When it and another one behind it, in the same partition, are asked for
	for kafkaPartition(last) != kafkaPartition(q) {
		last.ID += "x"
	}
	w.asks(last)
	w.answered(w.asks(q), events.OutcomeGivenBack)
	w.settled(1)
}

// kafkaPartition is where an event is, of the two partitions of a topic.
func kafkaPartition(e events.Event) int { return kafka.Partition([]byte(e.Key()), 2) }

// Given a worker that looks through its mailbox every five minutes, when a mail is released by the command, then it is
// read at once.
func TestTheCommandsReleaseWakesTheWorker(t *testing.T) {
	w := newWorld(t)
	d := startDovecot(t)
	o := mailbox.Options{Address: address(t, d.url("imap")+"&allow=c.example")}
	d.deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw())
	in := w.intake([]mailbox.Options{o}, func(in *Intake) { in.timings.addresses = time.Hour })
	marked(t, o, mailbox.Quarantined, 1)
	if err := in.Quarantined(t.Context(), func(l Listed) {
		if err := in.Release(t.Context(), l.ID); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	w.settled(1)
}
