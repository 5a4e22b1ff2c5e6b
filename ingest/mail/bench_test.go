package mail

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/mail/message/messagetest"
	"tallyhouse/ingest/store/database"
)

// BenchmarkBacklog is how fast a mailbox full of invoices comes in: one PDF a mail, each read in a process of its own,
// to the mark in the mailbox.
func BenchmarkBacklog(b *testing.B) {
	w := newWorld(b)
	pdf := invoicePDF("1")
	for i := range b.N {
		w.deliver(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i), pdfs: [][]byte{pdf}}.raw(), "quartier@intake.example")
	}
	b.ResetTimer()
	in := w.intake([]mailbox.Options{w.box()})
	eventually(b, "all mails are marked", func() error {
		if n := in.mails("done"); n < b.N {
			return fmt.Errorf("%d of %d", n, b.N)
		}
		return nil
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "mails/s")
}

// BenchmarkArrivalBehindHostileMails is the time that an invoice takes behind a hundred mails of 2 MiB each that are
// made to hurt their reader.
func BenchmarkArrivalBehindHostileMails(b *testing.B) {
	w := newWorld(b)
	s := mailboxtest.Start(b)
	for _, m := range messagetest.Mails("quartier@intake.example", 2<<20)[:100] {
		s.Deliver(string(m.Raw))
	}
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	for b.Loop() {
		w.intake([]mailbox.Options{{Address: address(b, s.URL()), Timeout: time.Minute}})
		patiently(b, 5*time.Minute, "the invoice is read", func() error {
			if state := w.stored()[recordOf("m1", invoicePDF("1"))]; state.version != versionRead {
				return fmt.Errorf("it is %+v", state)
			}
			return nil
		})
	}
}

// BenchmarkArrival is the time from the door's acknowledgement of a mail to its read record in the table, at five mails
// a second.
func BenchmarkArrival(b *testing.B) {
	w := newWorld(b)
	w.intake([]mailbox.Options{w.box()})
	handed := map[string]time.Time{} // by the PDF's record
	seen := map[string]bool{}
	pdf := invoicePDF("1")
	var took []time.Duration
	look := func() {
		directory := directory{[]*database.Server{w.db}}
		var ids []string
		for id := range handed {
			if !seen[id] {
				ids = append(ids, id)
			}
		}
		known, err := directory.versions(context.Background(), tenant, "P1", ids)
		if err != nil {
			b.Fatal(err)
		}
		for id, version := range known {
			if version >= versionRead {
				seen[id], took = true, append(took, time.Since(handed[id]))
			}
		}
	}
	b.ResetTimer()
	began := time.Now()
	for i := range b.N {
		for time.Since(began) < time.Duration(i)*200*time.Millisecond {
			look()
			time.Sleep(5 * time.Millisecond)
		}
		l := testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i), pdfs: [][]byte{pdf}}
		w.deliver(l.raw(), "quartier@intake.example")
		handed[recordOf(l.id, pdf)] = time.Now()
	}
	eventually(b, "all records are read", func() error {
		look()
		if len(took) < b.N {
			return fmt.Errorf("%d of %d", len(took), b.N)
		}
		return nil
	})
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "ms-p99")
	b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "ms-max")
}
