package mail

import (
	"context"
	"fmt"
	"testing"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/store/database"
)

// Given an invoice as PDF and as XML, of different names, when the mail is read again and more of it can be read than before, or less, then it is
// the same record; so it is where the worker died before it had read the record.
func TestARecordIsTheSameWhateverOfItCanBeRead(t *testing.T) {
	t.Parallel()
	unreadable := func(in *Intake) { in.options.Reader.Limits.Operations = 1 }
	usual := func(*Intake) {}
	withoutXML := func(in *Intake) { in.options.Limits.NoXML = true }
	for _, c := range []struct {
		name         string
		first, again func(*Intake)
	}{
		{"the PDF becomes readable", unreadable, usual},
		{"the PDF becomes unreadable", usual, unreadable},
		{"XML is left out", usual, withoutXML},
		{"XML is taken", withoutXML, usual},
	} {
		for _, table := range []bool{true, false} { // it is known of the record, or of what was noted of it alone
			t.Run(fmt.Sprint(c.name, ", stored ", table), func(t *testing.T) {
				w := newWorld(t)
				s := mailboxtest.Start(t)
				s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1",
					files: []testFile{{"a.pdf", invoicePDF("B1")}, {"b.xml", invoiceUBL("B1")}}}.raw()))
				first := w.intake([]mailbox.Options{scripted(t, s)}, c.first)
				var id string
				for id = range w.settled(1) {
				}
				eventually(t, "it is marked", func() error { return allDone(s, 1) })
				first.end()
				if !table {
					w.forget(id)
				}
				s.Renumber()
				again := w.intake([]mailbox.Options{scripted(t, s)}, c.again)
				eventually(t, "it is marked again", func() error { return allDone(s, 1) })
				again.end()
				if sent := w.sent(); len(sent) != 1 || len(sent[id]) == 0 {
					t.Errorf("sent were %d records", len(sent))
				}
			})
		}
	}
}

// forget takes a record out of the table, as if it had not come there yet.
func (w *world) forget(id string) {
	w.t.Helper()
	if err := w.db.Exec(context.Background(), database.Statement{SQL: "ALTER TABLE records DELETE WHERE id = {id:String} SETTINGS mutations_sync = 2",
		Params: database.Params{"id": id}}); err != nil {
		w.t.Fatal(err)
	}
	if h, there := w.stored()[id]; there {
		w.t.Fatalf("it is still there: %+v", h)
	}
}
