package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/analytics"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// Given a project's intake address, when an invoice is mailed to it, then the record goes through queued and processing
// to completed, with what the invoice says.
func TestAMailedInvoiceBecomesARecord(t *testing.T) {
	w := newWorld(t)
	w.intake([]mailbox.Options{w.box()})
	w.deliver(testMail{to: "QUARTIER+rohbau@intake.EXAMPLE", id: "m1", pdfs: [][]byte{invoicePDF("2026-0417")}}.raw(), "catchall@b.example")
	stored := w.settled(1)
	sent := w.sent()
	for id, h := range stored {
		var statuses []string
		for _, e := range sent[id] {
			r := e.Data.(*events.Record)
			statuses = append(statuses, fmt.Sprint(e.Version, r.Intake.Status.V))
		}
		if want := []string{"1queued", "2processing", "3completed"}; !slices.Equal(statuses, want) {
			t.Errorf("sent were %v, want %v", statuses, want)
		}
		_, r := sent.last(id)
		got := fmt.Sprintln(r.ProjectID, r.Source, r.Direction, r.StepKind, r.Intake.Channel, r.InvoiceNumber.V,
			r.RecognitionDate.V, r.DueDate.V, r.Currency.V, r.Net.V, r.Tax.V, r.Gross.V,
			r.CounterpartyName.V, r.ContractorID.V, r.Documents, r.Allocations)
		want := fmt.Sprintln("P1", "invoice", "out", "setup", "email", "2026-0417", "2026-04-17", "2026-05-17", "EUR", 1240000, 248000, 1488000,
			"Bauwerk Donau GmbH", "C1", []events.Document{{Name: "invoice-1.pdf", Kind: "original"}}, []events.RecordAllocation(nil))
		if got != want {
			t.Errorf("the record is\n%s, want\n%s", got, want)
		}
		if since := time.Since(r.Intake.ReceivedAt.V); !r.Intake.ReceivedAt.Ok || since < 0 || since > time.Minute {
			t.Errorf("it was received at %v", r.Intake.ReceivedAt)
		}
		if h.project != "P1" {
			t.Errorf("it is stored in project %s", h.project)
		}
	}
}

// An intake address whose domain has letters beyond ASCII is the same however project and mail write it.
func TestAnIntakeAddressHasSeveralSpellings(t *testing.T) {
	w := newWorld(t)
	w.project("P5", "Haus@bücher.example")
	w.project("P6", "bau@xn--bcher-kva.example")
	w.intake([]mailbox.Options{w.box()})
	w.deliver(testMail{to: "haus+1@XN--bcher-kva.example", id: "s1", pdfs: [][]byte{invoicePDF("1")}}.raw(), "catchall@b.example")
	w.deliver(testMail{to: "BAU@Bücher.example", id: "s2", pdfs: [][]byte{invoicePDF("2")}}.raw(), "catchall@b.example")
	var projects []string
	for _, h := range w.settled(2) {
		projects = append(projects, h.project)
	}
	if slices.Sort(projects); !slices.Equal(projects, []string{"P5", "P6"}) {
		t.Errorf("the records are of %v", projects)
	}
}

// Every mail gets the mark that it should have, and the lists say why.
func TestMailsThatBecomeNoRecordStayAndSayWhy(t *testing.T) {
	w := newWorld(t)
	w.project("P3", "shared@intake.example")
	w.project("P4", "Shared@intake.example")
	in := w.intake([]mailbox.Options{w.box()}, func(in *Intake) { in.options.Limits.Bytes = 20000; in.options.Limits.Files = 3 })
	pdf := invoicePDF("1")
	many := [][]byte{pdf, pdf, pdf, pdf}
	for _, m := range []struct {
		raw  []byte
		mark mailbox.Mark
		why  string
	}{
		{testMail{to: "nobody@intake.example", id: "f1", pdfs: [][]byte{pdf}}.raw(), mailbox.Failed,
			"no project has an intake address among the recipients catchall@b.example, nobody@intake.example"},
		{testMail{to: "shared@intake.example", id: "f2", pdfs: [][]byte{pdf}}.raw(), mailbox.Failed, "belongs to several projects: P3, P4"},
		{testMail{to: "quartier@intake.example", id: "f3", text: strings.Repeat("long ", 5000)}.raw(), mailbox.Failed, "20000 are allowed"},
		{testMail{to: "quartier@intake.example", id: "f4", pdfs: many}.raw(), mailbox.Failed, "more than 3 PDFs"},
		{bytes.Replace(testMail{to: "quartier@intake.example", id: "f5"}.raw(), []byte("; boundary=B"), nil, 1),
			mailbox.Failed, "has no boundary"},
		{testMail{to: "quartier@intake.example", id: "i1"}.raw(), mailbox.Ignored, "none of its 2 parts is a PDF"},
		{testMail{to: "quartier@intake.example", id: "i2", pdfs: [][]byte{[]byte("<Invoice/>")}}.raw(),
			mailbox.Ignored, "calls itself a PDF, but is none"},
	} {
		w.deliver(m.raw, "catchall@b.example")
		list := in.Failed
		if m.mark == mailbox.Ignored {
			list = in.Ignored
		}
		id := string(m.raw[bytes.Index(m.raw, []byte("Message-ID: <"))+13:][:2])
		eventually(t, id+" is listed with its reason", func() error {
			var found []Listed
			if err := list(context.Background(), func(l Listed) { found = append(found, l) }); err != nil {
				return err
			}
			for _, l := range found {
				if l.MessageID == id && strings.Contains(l.Reason, m.why) && l.From == "Supplier <supplier@b.example>" && l.Subject == "Rechnung" {
					return nil
				}
			}
			return fmt.Errorf("listed are %+v", found)
		})
	}
	if n := len(w.sent()); n != 0 {
		t.Errorf("%d records were sent", n)
	}
	if failed, ignored := in.mails("failed"), in.mails("ignored"); failed != 5 || ignored != 2 {
		t.Errorf("counted were %d failed and %d ignored mails", failed, ignored)
	}
	box, err := mailbox.Open(t.Context(), w.box())
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if all, err := box.On(t.Context(), time.Now()); err != nil || len(all) != 7 {
		t.Errorf("%d of the 7 mails are still there, %v", len(all), err)
	}
}

// Given mails that nothing is decided about, then they are listed with what they wait for.
func TestMailsThatWaitAreListed(t *testing.T) {
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	in, err := New(Options{Mailboxes: []mailbox.Options{o}, Log: testLog(t), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	box, err := mailbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for i, tried := range []int{-1, 0, 2} {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i)}.raw()))
		if tried >= 0 {
			if mine, err := box.Claim(t.Context(), mailbox.UID(i+1), tried, false); err != nil || !mine {
				t.Fatalf("the claim: %t, %v", mine, err)
			}
		}
	}
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "done"}.raw()))
	if err := box.Mark(t.Context(), mailbox.Done, 4); err != nil {
		t.Fatal(err)
	}
	want := []string{"m0: no worker has read it yet", "m1: a worker reads it", "m2: reading it was begun 2 times"}
	var got []string
	err = in.Waiting(t.Context(), func(l Listed) { got = append(got, l.MessageID+": "+l.Reason) })
	if err != nil || len(got) != len(want) {
		t.Fatalf("listed are %q, %v", got, err)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

// Given a failed mail to an unknown address, when a project gets that address, then the mail becomes a record.
func TestAnAddressThatBecomesKnownBringsItsMailsIn(t *testing.T) {
	w := newWorld(t)
	in := w.intake([]mailbox.Options{w.box()})
	w.deliver(testMail{to: "late@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw(), "catchall@b.example")
	marked(t, w.box(), mailbox.Failed, 1)
	w.project("P9", "late@intake.example")
	w.settled(1)
	marked(t, w.box(), mailbox.Done, 1)
	marked(t, w.box(), mailbox.Failed, 0)
	if n := in.mails("failed"); n != 1 {
		t.Errorf("the mail was counted as failed %d times", n)
	}
}

// Given mails that failed, one by what is in it and one by its address, when addresses of projects are added and the worker starts again, then
// only the one whose address it is is fetched again; that the other one is released has it read.
func TestAMailThatFailedByItsBodyIsNotReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	two := [][]byte{invoicePDF("1"), invoicePDF("2")}
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: two}.raw()))
	s.Deliver(string(testMail{to: "late@intake.example", id: "m2", pdfs: two[:1]}.raw()))
	bodies := func(uid string) (n int) {
		for _, c := range s.Log() {
			if strings.HasPrefix(c, "UID FETCH "+uid+" ") && strings.Contains(c, "BODY.PEEK[]") {
				n++
			}
		}
		return n
	}
	one := func(in *Intake) { in.options.Limits.Files = 1 }
	first := w.intake([]mailbox.Options{o}, one)
	marked(t, o, mailbox.Failed, 2)
	eventually(t, "the table has why", func() error {
		h, err := mailOf(t, o, 1)
		if err != nil {
			return err
		}
		id := unrecorded(tenant, "P1", h)
		of, err := (directory{[]*database.Server{w.db}}).told(t.Context(), tenant, []string{"P1"}, []string{id})
		if err == nil && of[id].reason != reasonTooLarge {
			err = fmt.Errorf("it has %+v", of[id])
		}
		return err
	})
	first.end()
	before := bodies("1")
	again := w.intake([]mailbox.Options{o}, one)
	w.project("P9", "late@intake.example")
	w.settled(1)
	marked(t, o, mailbox.Done, 1)
	if n := bodies("1"); n != before {
		t.Errorf("the mail that failed by its body was fetched %d times more", n-before)
	}
	again.end()

	w.intake([]mailbox.Options{o}) // as many files are allowed now
	if err := again.Release(t.Context(), mailID{boxName(o), 1, 1}.String()); err != nil {
		t.Fatal(err)
	}
	w.settled(3)
	marked(t, o, mailbox.Done, 2)
}

// mailOf is the header of a mail.
func mailOf(t *testing.T, o mailbox.Options, uid mailbox.UID) ([]byte, error) {
	t.Helper()
	box, err := mailbox.Open(t.Context(), o)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	mails, err := box.Mails(t.Context(), []mailbox.UID{uid})
	if err != nil || len(mails) != 1 {
		return nil, fmt.Errorf("%d mails, %w", len(mails), err)
	}
	return mails[0].Header, nil
}

// A PDF that can't be read is a failed record; the other PDFs of its mail aren't touched by it.
func TestAPDFThatCannotBeReadIsAFailedRecord(t *testing.T) {
	w := newWorld(t)
	w.intake([]mailbox.Options{w.box()})
	broken := []byte("%PDF-1.7\nnothing that could be read")
	w.deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{broken, invoicePDF("2")}}.raw(), "catchall@b.example")
	w.settled(2)
	statuses := map[string]string{}
	sent := w.sent()
	for id := range sent {
		_, r := sent.last(id)
		statuses[r.Documents[0].Name] = r.Intake.Status.V
		if r.Intake.Status.V == "failed" && (r.InvoiceNumber.Ok || r.Currency.Ok || r.CounterpartyName.Ok) {
			t.Error("the failed record has fields")
		}
	}
	if statuses["invoice-1.pdf"] != "failed" || statuses["invoice-2.pdf"] != "completed" {
		t.Errorf("got %v", statuses)
	}
	marked(t, w.box(), mailbox.Done, 1)
}

// The recipient of the envelope counts though the header doesn't name it; a project named twice gets its records once.
func TestEveryProjectThatIsAddressedGetsItsRecordsOnce(t *testing.T) {
	w := newWorld(t)
	w.intake([]mailbox.Options{w.box()})
	w.deliver(testMail{to: "quartier@intake.example, Quartier <Quartier+x@intake.example>, unknown@z.example",
		id: "m1", pdfs: [][]byte{invoicePDF("1"), invoicePDF("2")}}.raw(),
		"tower@intake.example", "quartier@intake.example")
	projects := map[string]int{}
	for _, h := range w.settled(4) {
		projects[h.project]++
	}
	if projects["P1"] != 2 || projects["P2"] != 2 {
		t.Errorf("records by project: %v", projects)
	}
}

// Several workers on one mailbox: each record once, and no mail is read more than twice.
func TestWorkersShareAMailbox(t *testing.T) {
	w := newWorld(t)
	var mutex sync.Mutex
	fetched := 0
	const workers, mails = 3, 30
	for i := range workers {
		o := w.box()
		o.Slot = i
		w.intake([]mailbox.Options{o}, func(in *Intake) {
			in.observe = func(s step) {
				mutex.Lock()
				defer mutex.Unlock()
				if s == stepFetched {
					fetched++
				}
			}
		})
	}
	for i := range mails {
		w.deliver(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i),
			pdfs: [][]byte{invoicePDF(fmt.Sprint(i))}}.raw(), "quartier@intake.example")
	}
	w.settled(mails)
	marked(t, w.box(), mailbox.Done, mails)
	if err := w.sent().consistent(); err != nil {
		t.Error(err)
	}
	mutex.Lock()
	defer mutex.Unlock()
	if fetched > 2*mails {
		t.Errorf("%d mails were read %d times", mails, fetched)
	}
	t.Logf("%d mails were read %d times by %d workers", mails, fetched, workers)
}

// Given a mail that came into two mailboxes, by another way and at another second, when workers read both copies at the same
// moment, then each version of the record and of its reading says one thing: it came as the copy that was read first.
func TestCopiesOfAMailMakeOneRecordThatSaysOneThing(t *testing.T) {
	w := newWorld(t)
	var kept sync.WaitGroup // both copies are kept before anything is said of either
	kept.Add(2)
	raw := string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw())
	var boxes []mailbox.Options
	for i := range 2 {
		box := mailboxtest.Start(t)
		box.DeliverAt(time.Date(2026, 4, 20, 8, 30, i, 0, time.UTC), fmt.Sprintf("Received: from mx%d.b.example\r\n", i)+raw)
		boxes = append(boxes, scripted(t, box))
	}
	for _, o := range boxes {
		w.intake([]mailbox.Options{o}, func(in *Intake) {
			in.observe = func(s step) {
				if s == stepKept {
					kept.Done()
					kept.Wait()
				}
			}
		})
	}
	w.settled(1)
	for _, o := range boxes {
		marked(t, o, mailbox.Done, 1)
	}
	if err := w.sent().consistent(); err != nil {
		t.Error(err)
	}
	w.everyReadRecordHasEvidence()
	id := recordOf("m1", invoicePDF("1"))
	if n := len(w.readings()[id]); n != 2 {
		t.Errorf("it was read %d times", n)
	}
	_, r := w.sent().last(id)
	if at := w.reading(id).Mail.ArrivedAt; at != r.Intake.ReceivedAt {
		t.Errorf("the reading says that it arrived at %v, the record %v", at, r.Intake.ReceivedAt)
	}
}

// Given a mail that a worker claimed before it died, when another worker sees the claim for long enough, then it reads
// the mail.
func TestAClaimOfADeadWorkerIsOverruled(t *testing.T) {
	w := newWorld(t)
	dead := w.box()
	dead.Slot = 1
	w.deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw(), "quartier@intake.example")
	box, err := mailbox.Open(t.Context(), dead)
	if err != nil {
		t.Fatal(err)
	}
	if mine, err := box.Claim(t.Context(), 1, 0, false); err != nil || !mine {
		t.Fatalf("the claim: %t, %v", mine, err)
	}
	box.Close()
	alive := w.box()
	alive.Slot = 2
	w.intake([]mailbox.Options{alive}, func(in *Intake) { in.timings.claims = 200 * time.Millisecond })
	w.settled(1)
	marked(t, alive, mailbox.Done, 1)
}

// Given a record whose PDF could not be read, when it can be, then retry writes the next version; and none when the
// application has taken over.
func TestRetryReadsAgainUntilTheApplicationTakesOver(t *testing.T) {
	for _, folder := range []string{"", "Done"} {
		t.Run("folder "+folder, func(t *testing.T) {
			w := newWorld(t)
			o := w.box()
			o.DoneFolder = folder
			// A reader that isn't good enough yet.
			in := w.intake([]mailbox.Options{o}, func(in *Intake) { in.options.Reader.Limits.Operations = 1 })
			w.deliver(testMail{to: "quartier@intake.example", pdfs: [][]byte{invoicePDF("6"), invoicePDF("7")}}.raw(), "quartier@intake.example")
			var id string
			for id = range w.settled(2) {
			}
			eventually(t, "the mail is marked", func() error { return unhandled(o) })
			in.end()
			if w.stored()[id].status != "failed" {
				t.Fatalf("the record's status is %s", w.stored()[id].status)
			}

			again, err := in.Retry(t.Context(), id)
			if err != nil || again.Version != 4 || again.Status != "failed" {
				t.Fatalf("still unreadable: got %+v, %v", again, err)
			}
			w.reaches(id, 4)
			in.options.Reader.Limits.Operations = 0
			again, err = in.Retry(t.Context(), id)
			if err != nil || again.Version != 5 || again.Status != "completed" {
				t.Fatalf("readable: got %+v, %v", again, err)
			}
			w.reaches(id, 5)
			sent := w.sent()
			_, r := sent.last(id)
			if first := sent[id][0].Data.(*events.Record); !r.InvoiceNumber.Ok ||
				r.Intake.ReceivedAt != first.Intake.ReceivedAt || r.Documents[0] != first.Documents[0] {
				t.Errorf("version 5 is %+v", r)
			}

			in.options.Reader.Limits.Operations = 1
			if _, err = in.Retry(t.Context(), id); !errors.Is(err, errWouldDamage) {
				t.Errorf("a failure over a reading: %v", err)
			}
			e, r := sent.last(id)
			e.Version, e.Data = 98, r
			w.sendEvent(events.Records, e)
			w.reaches(id, 98)
			in.options.Reader.Limits.Operations = 0
			if again, err = in.Retry(t.Context(), id); err != nil || again.Version != 99 {
				t.Errorf("version 98: got %+v, %v", again, err)
			}
			w.reaches(id, 99)
			if _, err = in.Retry(t.Context(), id); !errors.Is(err, errTakenOver) {
				t.Errorf("version 99: %v", err)
			}
			if _, err = in.Retry(t.Context(), "mail-none"); !errors.Is(err, errNoRecord) {
				t.Errorf("an unknown record: %v", err)
			}
		})
	}
}

// meanwhile is a store beside which something happens once, while a mail is kept.
type meanwhile struct {
	Originals
	happens func()
}

func (m *meanwhile) Put(ctx context.Context, tenant string, content []byte) error {
	if happens := m.happens; happens != nil {
		m.happens = nil
		happens()
	}
	return m.Originals.Put(ctx, tenant, content)
}

// Given a record of a mail whose Message-ID has bytes that aren't of UTF-8, when it is read again, then its mail is found.
func TestRetryFindsAMailWhateverItsMessageID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "r\xe4\xffchnung@b.example", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	in := w.intake([]mailbox.Options{o})
	for id := range w.settled(1) {
		w.reaches(id, versionRead)
		again, err := in.Retry(t.Context(), id)
		if err != nil || again.Status != "completed" {
			t.Errorf("read again it is %+v, %v", again, err)
		}
	}
}

// Given a record that a person confirms, before it is read again or at that very moment, then it stays as they have confirmed it.
func TestRetryLeavesWhatAPersonHasConfirmed(t *testing.T) {
	w := newWorld(t)
	in := w.intake([]mailbox.Options{w.box()})
	raw := testMail{to: "quartier@intake.example", pdfs: [][]byte{invoicePDF("7")}}.raw()
	w.deliver(raw, "quartier@intake.example")
	var id string
	for id = range w.settled(1) {
	}
	eventually(t, "the mail is marked", func() error { return unhandled(w.box()) })
	in.end()
	confirm := func(version int64, number string) {
		e := w.readings()[id][0]
		values := analytics.ValuesOf(e.Data.(*events.Reading))
		values.Number = events.Some(number)
		e.Version, e.At, e.Data = version, e.At.Add(time.Minute), analytics.Confirm(e.Data.(*events.Reading), values, "uma")
		w.sendEvent(events.Readings, e)
		r := e
		r.Data = analytics.RecordOf(e.Data.(*events.Reading), events.Opt[time.Time]{})
		w.sendEvent(events.Records, r)
	}
	in.options.Originals = &meanwhile{in.options.Originals, func() { confirm(4, "P-4") }}
	if again, err := in.Retry(t.Context(), id); !errors.Is(err, errConfirmed) {
		t.Errorf("confirmed meanwhile: got %+v, %v", again, err)
	}
	w.reaches(id, 4)
	if again, err := in.Retry(t.Context(), id); !errors.Is(err, errConfirmed) {
		t.Errorf("confirmed before: got %+v, %v", again, err)
	}
	released := w.intake([]mailbox.Options{w.box()})
	w.deliver(raw, "quartier@intake.example") // the same mail again: the same record
	eventually(t, "the mail is marked", func() error { return unhandled(w.box()) })
	released.end()
	for _, e := range w.sent()[id] {
		if r := e.Data.(*events.Record); e.Version > 3 && r.InvoiceNumber.V != "P-4" {
			t.Errorf("version %d of the record says %q", e.Version, r.InvoiceNumber.V)
		}
	}
	if w.stored()[id].version != 4 {
		t.Errorf("the record has version %d", w.stored()[id].version)
	}
}

// reaches waits until the table has a version of a record.
func (w *world) reaches(id string, version int64) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("%s has version %d", id, version), func() error {
		if h := w.stored()[id]; h.version != version {
			return fmt.Errorf("it has %d", h.version)
		}
		return nil
	})
}

// The contractor is found by its tax id, else by its name, and never guessed.
func TestContractorsAreMatchedWithoutGuessing(t *testing.T) {
	w := newWorld(t)
	w.contractor("C2", "Müller & Söhne OG", "ATU11111116")
	w.contractor("C3", "Zwilling GmbH", "")
	w.contractor("C4", "ZWILLING GmbH.", "")
	w.contractor("C5", "Same Tax A", "DE 1")
	w.contractor("C6", "Same Tax B", "de1")
	b := directory{[]*database.Server{w.db}}
	for _, c := range []struct{ taxID, name, want string }{
		{"ATU12345675", "Another Name", "C1"},
		{"atu 123 456 75", "", "C1"},
		{"", "BAUWERK DONAU GMBH", "C1"},
		{"", "Mu\u0308ller & So\u0308hne, OG", "C2"},
		{"FN 123456a", "Müller & Söhne OG", "C2"},
		{"ATU99999999", "Müller & Söhne OG", ""},
		{"", "Zwilling GmbH", ""},
		{"DE1", "Same Tax A", ""},
		{"", "Unknown", ""},
		{"", "  ", ""},
	} {
		got, err := b.contractor(t.Context(), tenant, c.taxID, c.name)
		if err != nil || got != c.want {
			t.Errorf("tax id %q, name %q: got %q, %v, want %q", c.taxID, c.name, got, err, c.want)
		}
		if got, err := b.contractor(t.Context(), "other", c.taxID, c.name); err != nil || got != "" {
			t.Errorf("another tenant's: got %q, %v", got, err)
		}
	}
}
