package mail

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/schemas/events"
)

// Given a record that is announced, when its worker dies and its mail is removed before it is read, or set aside, then the record fails and
// says why, once, however many workers look and however often; and it can be read again from what is kept of the mail.
func TestAnAnnouncedRecordWhoseMailIsGoneFails(t *testing.T) {
	t.Parallel()
	for _, removed := range []bool{true, false} {
		t.Run(fmt.Sprint("removed ", removed), func(t *testing.T) {
			w := newWorld(t)
			s := mailboxtest.Start(t)
			pdf := invoicePDF("1")
			s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{pdf}}.raw()))
			runUntilDead(t, w.childThatDies(s.URL()))
			id := recordOf("m1", pdf)
			w.reaches(id, versionProcessing)
			if removed {
				s.Remove(1)
			} else {
				box, err := mailbox.Open(t.Context(), scripted(t, s))
				if err != nil {
					t.Fatal(err)
				}
				if err := box.Mark(t.Context(), mailbox.Ignored, 1); err != nil {
					t.Fatal(err)
				}
				box.Close()
			}
			var ended [2]*running
			for i := range ended {
				ended[i] = w.intake([]mailbox.Options{scripted(t, s)}, func(in *Intake) {
					in.timings.unreadFor, in.timings.unread = time.Millisecond, 50*time.Millisecond
				})
			}
			w.reaches(id, versionRead)
			time.Sleep(500 * time.Millisecond) // they look again
			for _, in := range ended {
				in.end()
			}
			sent := w.sent()
			_, r := sent.last(id)
			reading := w.reading(id)
			if r.Intake.Status.V != "failed" || reading.Status != events.ReadingFailed || reading.Reason.V != reasonUnread || !reading.Detail.Ok {
				t.Errorf("the record is %s, its reading %s: %s, %s", r.Intake.Status.V, reading.Status, reading.Reason.V, reading.Detail.V)
			}
			announced := sent[id][0].Data.(*events.Record)
			if r.ProjectID != "P1" || r.Intake.ReceivedAt != announced.Intake.ReceivedAt || !slices.Equal(r.Documents, announced.Documents) {
				t.Errorf("it failed as %+v, it was announced as %+v", r, announced)
			}
			if err := sent.consistent(); err != nil {
				t.Error(err)
			}
			w.shows("P1|failed|left-unread|Rechnung")

			again, err := ended[0].Retry(t.Context(), id)
			if err != nil || again.Status != "completed" || again.Version != versionRead+1 {
				t.Errorf("read again it is %+v, %v", again, err)
			}
		})
	}
}

// Given a record that the table has as announced, and whose mail waits in the mailbox or is done, which the table has yet to learn, then
// nobody ends it.
func TestAnAnnouncedRecordWhoseMailIsThereIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	pdf := invoicePDF("1")
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{pdf}}.raw()))
	runUntilDead(t, w.childThatDies(s.URL()))
	w.reaches(recordOf("m1", pdf), versionProcessing)
	in := &watch{Intake: w.intake([]mailbox.Options{w.box()}).Intake, box: scripted(t, s), name: scripted(t, s).String(), log: testLog(t)}
	in.send = in.sender()
	defer in.send.close()
	endUnread := func() {
		t.Helper()
		if err := in.endUnread(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if e, _ := w.sent().last(recordOf("m1", pdf)); e.Version != versionProcessing {
			t.Errorf("version %d was sent", e.Version)
		}
	}
	endUnread()
	box, err := mailbox.Open(t.Context(), in.box)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if err := box.Mark(t.Context(), mailbox.Done, 1); err != nil {
		t.Fatal(err)
	}
	endUnread()
}
