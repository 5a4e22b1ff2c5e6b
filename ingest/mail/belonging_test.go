package mail

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/schemas/events"
)

// moves gives the intake address of P1 to P9, or to nobody.
func (w *world) moves(address string, toP9 bool) {
	w.t.Helper()
	w.project("P1", "elsewhere@intake.example")
	if toP9 {
		w.project("P9", address)
	}
}

// onlyIn fails the test where a record is in another project than this one.
func (w *world) onlyIn(project string, records int) {
	w.t.Helper()
	for id, h := range w.settled(records) {
		if h.project != project {
			w.t.Errorf("record %s is in project %s", id, h.project)
		}
	}
	for id, all := range w.sent() {
		for _, e := range all {
			if got := e.Data.(*events.Record).ProjectID; got != project {
				w.t.Errorf("version %d of %s was sent to project %s", e.Version, id, got)
			}
		}
	}
}

// Given a mail that is done, when its address is given to another project, or to none, and the mailbox forgets all marks, then it stays
// done: no second record, and no line in the inbox.
func TestAMailThatIsDoneStaysDoneWhereverItsAddressGoes(t *testing.T) {
	t.Parallel()
	for _, toP9 := range []bool{true, false} {
		t.Run(fmt.Sprint("to another project ", toP9), func(t *testing.T) {
			w := newWorld(t)
			s := mailboxtest.Start(t)
			s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
			first := w.intake([]mailbox.Options{scripted(t, s)})
			w.settled(1)
			eventually(t, "it is marked", func() error { return allDone(s, 1) })
			first.end()
			w.moves("quartier@intake.example", toP9)
			s.Renumber()
			w.intake([]mailbox.Options{scripted(t, s)})
			eventually(t, "it is marked again", func() error { return allDone(s, 1) })
			w.onlyIn("P1", 1)
			w.shows("P1|read||Rechnung")
		})
	}
}

// Given a mail that failed in a project by what is in it, when its address is given to another project and the mail can be read, then it
// becomes a record of the first one, and the other learns nothing of it.
func TestAFailedMailStaysWithTheProjectThatItCameTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	two := [][]byte{invoicePDF("1"), invoicePDF("2")}
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: two}.raw()))
	first := w.intake([]mailbox.Options{o}, func(in *Intake) { in.options.Limits.Files = 1 })
	w.shows("P1|withoutRecord|too-large|Rechnung")
	marked(t, o, mailbox.Failed, 1)
	first.end()
	w.moves("quartier@intake.example", true)
	s.Deliver(string(testMail{to: "tower@intake.example", id: "m2", pdfs: two[:1]}.raw()))
	again := w.intake([]mailbox.Options{o}) // as many files are allowed now
	w.reads(recordIn("P2", "m2", two[0], 0))
	w.shows("P1|withoutRecord|too-large|Rechnung", "P2|read||Rechnung")
	if err := again.Release(t.Context(), mailID{boxName(o), 1, 1}.String()); err != nil {
		t.Fatal(err)
	}
	w.reads(recordIn("P1", "m1", two[0], 0))
	w.reads(recordIn("P1", "m1", two[1], 1))
	w.settled(3)
}

// recordIn is the record of a mail's PDF in a project.
func recordIn(project, messageID string, pdf []byte, index int) string {
	return identity{tenant, project, messageID, index, sha256.Sum256(pdf)}.id()
}

// Given a record that is announced, when its worker dies and its address is given to another project, or to none, before it is read, then
// it is read where it was announced.
func TestAnAnnouncedRecordIsReadWhereverItsAddressGoes(t *testing.T) {
	t.Parallel()
	for _, toP9 := range []bool{true, false} {
		t.Run(fmt.Sprint("to another project ", toP9), func(t *testing.T) {
			w := newWorld(t)
			w.deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw(), "quartier@intake.example")
			runUntilDead(t, w.childThatDies(w.server.URL()))
			w.moves("quartier@intake.example", toP9)
			w.intake([]mailbox.Options{w.box()})
			w.onlyIn("P1", 1)
			marked(t, w.box(), mailbox.Done, 1)
			w.shows("P1|read||Rechnung")
		})
	}
}

// childThatDies is a worker that dies once it has announced a record.
func (w *world) childThatDies(box string) childWork {
	return childWork{Kafka: w.cluster.Addrs[0], ClickHouse: w.where.Addr, Database: w.where.Database, Originals: w.originals,
		Mailbox: box, DieAt: stepProcessing, DieAfter: 1}
}
