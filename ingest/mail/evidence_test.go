package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/originals"
	"tallyhouse/schemas/events"
)

// readings are the events of intake.readings, by record, in their order.
func (w *world) readings() map[string][]events.Event {
	w.t.Helper()
	all := map[string][]events.Event{}
	for _, r := range topicstest.Messages(w.t, w.cluster, events.Readings) {
		e, err := events.Decode(events.Readings, r.Key, r.Value)
		if err != nil {
			w.t.Fatalf("a reading was sent that breaks the rules: %v", err)
		}
		all[e.ID] = append(all[e.ID], e)
	}
	return all
}

// reading is what the newest reading of a record says.
func (w *world) reading(record string) *events.Reading {
	w.t.Helper()
	all := w.readings()[record]
	if len(all) == 0 {
		w.t.Fatalf("record %s has no reading", record)
	}
	return all[len(all)-1].Data.(*events.Reading)
}

// everyReadRecordHasEvidence fails the test unless each version of a record that was read has one reading, whose mail and
// documents are among the originals.
func (w *world) everyReadRecordHasEvidence() {
	w.t.Helper()
	store, readings := w.store(), w.readings()
	for id, sent := range w.sent() {
		of := map[int64]uint64{} // the content of each version's reading
		for _, e := range readings[id] {
			if before, known := of[e.Version]; known && before != e.ContentHash() {
				w.t.Errorf("version %d of the reading of %s was sent with two contents", e.Version, id)
			}
			of[e.Version] = e.ContentHash()
			r := e.Data.(*events.Reading)
			hashes := []string{r.Mail.SHA256.V}
			for _, d := range r.Documents {
				hashes = append(hashes, d.SHA256)
			}
			for _, text := range hashes {
				h, err := originals.ParseHash(text)
				if err == nil {
					_, err = store.Get(w.t.Context(), tenant, h)
				}
				if err != nil {
					w.t.Errorf("an original of %s: %v", id, err)
				}
			}
		}
		for _, e := range sent {
			if _, has := of[e.Version]; has != (e.Version >= versionRead) {
				w.t.Errorf("version %d of %s: it has a reading: %t", e.Version, id, has)
			}
		}
	}
}

// fieldOf is a field of a reading, in words: its value and what else was possible.
func fieldOf(r *events.Reading, name string) string {
	words := func(s events.Stated) string {
		value := s.Text.V
		if s.Minor.Ok {
			value = fmt.Sprint(s.Minor.V)
		}
		return fmt.Sprintf("%s page %d box %t %q", value, s.Page, s.Box.Ok, s.Printed.V)
	}
	for _, f := range r.Fields {
		if f.Name != name {
			continue
		}
		all := []string{"nothing"}
		if f.Value.Ok {
			all[0] = words(f.Value.V)
		}
		for _, a := range f.Alternatives {
			all = append(all, words(a))
		}
		return strings.Join(all, " or ")
	}
	return "missing"
}

// Given a mail, when its invoice becomes a record, then mail and file are kept before anything is said of the record, and
// what was read of it, with the evidence, before the record has it.
func TestTheEvidenceOfARecordIsKeptBeforeTheRecord(t *testing.T) {
	w := newWorld(t)
	printed := pdftest.Sample()
	printed.Terms = "IBAN AT61 1904 3002 3457 3201"
	pdf := printed.PDF()
	raw := testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{pdf}}.raw()
	id := recordOf("m1", pdf)
	var orders []string
	box := w.box()
	box.Senders.AuthServer = "mx.example"
	in := w.intake([]mailbox.Options{box}, func(in *Intake) {
		in.observe = func(s step) {
			if s != stepKept && s != stepEvidence {
				return
			}
			_, err := in.options.Originals.Get(context.Background(), tenant, originals.Of(pdf))
			versions := 0
			for _, e := range w.sent()[id] {
				versions = max(versions, int(e.Version))
			}
			orders = append(orders, fmt.Sprintf("%s: kept %t, readings %d, version %d", s, err == nil, len(w.readings()[id]), versions))
		}
	})
	w.deliver(append([]byte("Authentication-Results: mx.example; dmarc=pass header.from=b.example\r\n"), raw...), "quartier@intake.example")
	w.settled(1)
	marked(t, w.box(), mailbox.Done, 1)
	in.end()
	if want := []string{"kept: kept true, readings 0, version 0", "evidence: kept true, readings 1, version 2"}; !slices.Equal(orders, want) {
		t.Errorf("got %q", orders)
	}
	all := w.readings()[id]
	if len(all) != 1 || all[0].Version != versionRead || all[0].TenantID != tenant {
		t.Fatalf("the readings are %+v", all)
	}
	r := all[0].Data.(*events.Reading)
	m := r.Mail
	got := fmt.Sprintln(r.ProjectID.V, r.Status, r.Reason, m.MessageID.V, m.Mailbox == box.String(), m.UIDValidity > 0, m.UID, m.ArrivedAt.Ok, m.From.V,
		m.Verdict.V, m.VerdictBy.V, m.Released)
	if want := fmt.Sprintln("P1", "completed", events.Opt[string]{}, "m1", true, true, 1, true, "supplier@b.example", "pass", "mx.example", false); got != want {
		t.Errorf("it says\n%s, want\n%s", got, want)
	}
	for name, want := range map[string]string{
		"gross":         `1488000 page 1 box true "14.880,00 €"`,
		"invoiceNumber": `2026-0417 page 1 box true "2026-0417"`,
		"supplierName":  `Bauwerk Donau GmbH page 1 box true "Bauwerk Donau GmbH" or`,
		"supplierTaxId": `ATU12345675 page 1 box true "UID-Nr. ATU12345675"`,
		"supplierIban":  `AT611904300234573201 page 1 box true "IBAN AT61 1904 3002 3457 3201"`,
	} {
		if got := fieldOf(r, name); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if number, _ := analytics.FieldOf(r, analytics.FieldNumber); number.Label.V != "rechnungsnummer" {
		t.Errorf("the number is said to stand beside %q", number.Label.V)
	}
	if len(r.Documents) != 1 || r.Documents[0] != (events.ReadDocument{Name: "invoice-1.pdf", Kind: original, Type: "pdf",
		SHA256: originals.Of(pdf).String(), Bytes: int64(len(pdf)), Stated: true}) {
		t.Errorf("the documents are %+v", r.Documents)
	}
	h, err := originals.ParseHash(m.SHA256.V)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := w.store().Get(t.Context(), tenant, h)
	if err != nil || !strings.HasSuffix(string(kept), string(raw)) || int64(len(kept)) != m.Bytes {
		t.Errorf("the mail that was kept has %d bytes, %v", len(kept), err)
	}
}

// Given files that can't be read, or whose values are not certain, then the reason and what was possible are kept.
func TestFailuresAndDoubtsAreKept(t *testing.T) {
	w := newWorld(t)
	w.intake([]mailbox.Options{w.box()}, func(in *Intake) { in.options.MaxAmount = 1000 })
	faulty := []byte(strings.Replace(string(invoiceCII("FX-9")), "14880.00</ram:Grand", "14881.00</ram:Grand", 1))
	letter := pdftest.Document{Pages: []pdftest.Page{{Texts: []pdftest.Text{{X: 60, Y: 700,
		Text: "Sehr geehrte Damen und Herren, anbei die Unterlagen zum Projekt."}}}}}.Bytes()
	large := invoicePDF("7")
	for i, m := range []testMail{{pdfs: [][]byte{letter}}, {files: []testFile{{"x.xml", faulty}}}, {pdfs: [][]byte{large}}} {
		m.to, m.id = "quartier@intake.example", fmt.Sprint("m", i)
		w.deliver(m.raw(), "quartier@intake.example")
	}
	w.settled(3)
	r := w.reading(recordOf("m0", letter))
	if r.Status != "failed" || r.Reason.V != "not-an-invoice" || !strings.Contains(r.Detail.V, "no title") || len(r.Fields) != 0 {
		t.Errorf("the letter: %+v", r)
	}
	r = w.reading(recordOf("m1", faulty))
	if r.Status != "failed" || r.Reason.V != "faulty-einvoice" || len(r.Findings) != 2 || r.Findings[0].Rule != "BR-CO-15" || r.Documents[0].Type != "xml" {
		t.Errorf("the faulty e-invoice: %+v", r)
	}
	r = w.reading(recordOf("m2", large))
	if got := fieldOf(r, "gross"); r.Status != "completed" || !strings.HasPrefix(got, "nothing or 1488000 page 1") {
		t.Errorf("a gross that is larger than allowed: %s", got)
	}
	if len(r.Findings) != 1 || r.Findings[0].Rule != "amount-implausible" {
		t.Errorf("its findings are %+v", r.Findings)
	}
}

// lame is a store that fails so many times, and then works.
type lame struct {
	Originals
	fail func() bool
}

func (l lame) Put(ctx context.Context, tenant string, content []byte) error {
	if l.fail() {
		return errors.New("the disk is full")
	}
	return l.Originals.Put(ctx, tenant, content)
}

// Given a place of originals that can't be written to, then a mail waits, and nothing of it is sent before it is kept.
func TestAMailWaitsForItsOriginals(t *testing.T) {
	w := newWorld(t)
	pdf := invoicePDF("1")
	tries := 0
	in := w.intake([]mailbox.Options{w.box()}, func(in *Intake) {
		in.options.Originals = lame{in.options.Originals, func() bool {
			if n := len(w.sent()); n != 0 {
				t.Errorf("%d records were sent before their mail was kept", n)
			}
			tries++
			return tries <= 2
		}}
	})
	w.deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{pdf}}.raw(), "quartier@intake.example")
	w.settled(1)
	w.everyReadRecordHasEvidence()
	if n := count(in.metrics.waits.WithLabelValues("originals")); n != 2 {
		t.Errorf("it waited %d times", n)
	}
}
