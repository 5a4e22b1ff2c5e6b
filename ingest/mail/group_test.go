package mail

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/events"
)

// read is a file that says an invoice's number and gross; number "!" is one that could not be read, "?" no invoice, "!!" an
// e-invoice with a fault, "&" several invoices.
func read(name, number string, gross int64) readFile {
	f := readFile{File: message.File{Name: name, XML: strings.HasSuffix(name, ".xml")}}
	switch number {
	case "!":
		f.reading = reading{failed: "it is broken", reason: string(invoice.Broken)}
	case "!!":
		f.reading = reading{failed: "net + tax is not gross", reason: string(invoice.FaultyEInvoice)}
	case "&":
		f.reading = reading{failed: "there are several", reason: string(invoice.SeveralInvoices)}
	case "?":
		f.reading = reading{failed: "it is a letter", reason: string(invoice.NotAnInvoice)}
	default:
		f.reading = reading{number: number, currency: "EUR", gross: &gross, supplier: name}
	}
	return f
}

func TestTheFilesOfAMailAreGroupedIntoInvoices(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []readFile
		want  []string // of each invoice: the file of its id, who read it, its documents
	}{
		{"one", []readFile{read("a.pdf", "1", 100)}, []string{"0 a.pdf original:a.pdf"}},
		{"two PDFs, though alike", []readFile{read("a.pdf", "1", 100), read("b.pdf", "1", 100)},
			[]string{"0 a.pdf original:a.pdf", "1 b.pdf original:b.pdf"}},
		{"a PDF and its XML", []readFile{read("a.pdf", "RE 1", 100), read("x.xml", "re1", 100)},
			[]string{"0 x.xml original:a.pdf original:x.xml"}},
		{"an XML and its PDF", []readFile{read("x.xml", "1", 100), read("a.pdf", "1", 100)},
			[]string{"1 x.xml original:x.xml original:a.pdf"}},
		{"an XML in two formats", []readFile{read("x.xml", "1", 100), read("y.xml", "1", 100)},
			[]string{"0 x.xml original:x.xml original:y.xml"}},
		{"two XMLs and their PDFs",
			[]readFile{read("x.xml", "1", 100), read("y.xml", "2", 100), read("b.pdf", "2", 100), read("a.pdf", "1", 100)},
			[]string{"3 x.xml original:x.xml original:a.pdf", "2 y.xml original:y.xml original:b.pdf"}},
		{"an XML of another invoice", []readFile{read("a.pdf", "1", 100), read("x.xml", "2", 100)},
			[]string{"0 a.pdf original:a.pdf", "1 x.xml original:x.xml"}},
		{"an XML with another amount", []readFile{read("a.pdf", "1", 100), read("x.xml", "1", 101)},
			[]string{"0 a.pdf original:a.pdf", "1 x.xml original:x.xml"}},
		{"a PDF without a number, of the same name", []readFile{read("A.pdf", "", 100), read("a.xml", "1", 100)},
			[]string{"0 a.xml original:A.pdf original:a.xml"}},
		{"a PDF without a number, of another name", []readFile{read("b.pdf", "", 100), read("a.xml", "1", 100)},
			[]string{"0 b.pdf original:b.pdf", "1 a.xml original:a.xml"}},
		{"a PDF that can't be read, of the same name", []readFile{read("a.pdf", "!", 0), read("a.xml", "1", 100)},
			[]string{"0 a.xml original:a.pdf original:a.xml"}},
		{"a PDF that looks like none, of the same name", []readFile{read("a.pdf", "?", 0), read("a.xml", "1", 100)},
			[]string{"0 a.xml original:a.pdf original:a.xml"}},
		{"a faulty XML beside its PDF", []readFile{read("a.pdf", "1", 100), read("a.xml", "!", 0)},
			[]string{"0 - original:a.pdf original:a.xml"}},
		{"terms beside an invoice", []readFile{read("agb.pdf", "?", 0), read("a.pdf", "1", 100), read("lv.pdf", "?", 0)},
			[]string{"1 a.pdf original:a.pdf other:agb.pdf other:lv.pdf"}},
		{"terms beside two", []readFile{read("a.pdf", "1", 100), read("agb.pdf", "?", 0), read("x.xml", "2", 100)},
			[]string{"0 a.pdf original:a.pdf other:agb.pdf", "2 x.xml original:x.xml other:agb.pdf"}},
		{"what can't be read beside an invoice", []readFile{read("plan.pdf", "!", 0), read("a.pdf", "1", 100), read("b.pdf", "!", 0)},
			[]string{"1 a.pdf original:a.pdf other:plan.pdf other:b.pdf"}},
		{"what can't be read beside an XML", []readFile{read("plan.pdf", "!", 0), read("a.xml", "1", 100)},
			[]string{"1 a.xml original:a.xml other:plan.pdf"}},
		{"what can't be read and calls itself an invoice", []readFile{read("a.pdf", "1", 100), read("Teilrechnung 2.pdf", "!", 0),
			read("RE-2026-17.pdf", "!", 0), read("Reihenplan 3.pdf", "!", 0)},
			[]string{"0 a.pdf original:a.pdf other:Reihenplan 3.pdf", "1 - original:Teilrechnung 2.pdf other:Reihenplan 3.pdf",
				"2 - original:RE-2026-17.pdf other:Reihenplan 3.pdf"}},
		{"several invoices in one file", []readFile{read("a.pdf", "1", 100), read("b.pdf", "&", 0)},
			[]string{"0 a.pdf original:a.pdf", "1 - original:b.pdf"}},
		{"an e-invoice with a fault", []readFile{read("a.pdf", "1", 100), read("b.xml", "!!", 0)},
			[]string{"0 a.pdf original:a.pdf", "1 - original:b.xml"}},
		{"terms beside no invoice", []readFile{read("agb.pdf", "?", 0), read("b.pdf", "!", 0)},
			[]string{"0 - original:agb.pdf", "1 - original:b.pdf"}},
		{"terms alone", []readFile{read("agb.pdf", "?", 0)}, []string{"0 - original:agb.pdf"}},
	} {
		var got []string
		invoices, _ := group(c.files)
		for _, f := range invoices {
			by := f.reading.supplier
			if f.reading.failed != "" {
				by = "-"
			}
			line := fmt.Sprint(f.first, " ", by)
			for _, d := range f.documents {
				line += fmt.Sprintf(" %s:%s", d.Kind, d.Name)
			}
			got = append(got, line)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// summary is what is asked of a record here.
func summary(r *events.Record) string {
	return fmt.Sprint(r.Intake.Status.V, " ", r.InvoiceNumber.V, " ", r.Currency.V, " ", r.Gross.V, " ", r.ContractorID.V, " ", r.Documents)
}

// Given mails with e-invoices and supporting documents, then each invoice is one record with its documents, however it
// was sent; and a worker that reads them again makes no other.
func TestEInvoicesAndSupportingDocuments(t *testing.T) {
	letter := pdftest.Document{Pages: []pdftest.Page{{Texts: []pdftest.Text{
		{X: 60, Y: 80, Size: 16, Text: "Allgemeine Geschäftsbedingungen"},
		{X: 60, Y: 120, Size: 10, Text: "1. Diese Bedingungen gelten für alle Lieferungen und Leistungen."},
		{X: 60, Y: 140, Size: 10, Text: "2. Gerichtsstand ist Wien. Es gilt österreichisches Recht."},
	}}}}.Bytes()
	// Its supplier is known by its tax id alone.
	longUBL := bytes.Replace(invoiceUBL(strings.Repeat("9", 60_000)), []byte("Donau"), bytes.Repeat([]byte("x"), 60_000), 1)
	mails := []struct {
		id    string
		files []testFile
		want  []string
	}{
		{"ubl", []testFile{{"xrechnung.xml", invoiceUBL("U1")}}, []string{"completed U1 EUR 1488000 C1 [{xrechnung.xml original}]"}},
		{"cii", []testFile{{"rechnung.txt", invoiceCII("C7")}}, []string{"completed C7 EUR 1488000 C1 [{rechnung.txt original}]"}},
		{"both", []testFile{{"a.pdf", invoicePDF("B1")}, {"b.xml", invoiceUBL("B1")}},
			[]string{"completed B1 EUR 1488000 C1 [{a.pdf original} {b.xml original}]"}},
		{"two", []testFile{{"a.pdf", invoicePDF("T1")}, {"b.xml", invoiceCII("T2")}},
			[]string{"completed T1 EUR 1488000 C1 [{a.pdf original}]", "completed T2 EUR 1488000 C1 [{b.xml original}]"}},
		{"terms", []testFile{{"agb.pdf", letter}, {"a.pdf", invoicePDF("S1")}},
			[]string{"completed S1 EUR 1488000 C1 [{a.pdf original} {agb.pdf other}]"}},
		{"unreadable", []testFile{{"plan.pdf", []byte("%PDF-1.7\nnothing that could be read")}, {"a.pdf", invoicePDF("S2")}},
			[]string{"completed S2 EUR 1488000 C1 [{a.pdf original} {plan.pdf other}]"}},
		{"Austria", []testFile{{"a.xml", pdftest.EbInterface("A1")}},
			[]string{"completed A1 EUR 1488000 C1 [{a.xml original}]"}},
		{"UTF-16", []testFile{{"a.pdf", invoicePDF("W1")}, {"b.xml", pdftest.UTF16(binary.LittleEndian, pdftest.EbInterface("W1"))}},
			[]string{"completed W1 EUR 1488000 C1 [{a.pdf original} {b.xml original}]"}},
		{"long", []testFile{{"a.xml", longUBL}}, []string{"completed  EUR 1488000 C1 [{a.xml original}]"}},
		{"letter", []testFile{{"agb.pdf", letter}}, []string{"failed   0  [{agb.pdf original}]"}},
	}
	w := newWorld(t)
	n := 0
	for _, m := range mails {
		w.deliver(testMail{to: "quartier@intake.example", id: m.id, files: m.files}.raw(), "quartier@intake.example")
		n += len(m.want)
	}
	in := w.intake([]mailbox.Options{w.box()})
	w.settled(n)
	sent := w.sent()
	for _, m := range mails {
		var want, got []string
		want = append(want, m.want...)
		for _, i := range identities(m.id, files(m.files)) {
			if id := i.in(tenant, "P1"); len(sent[id]) > 0 {
				_, r := sent.last(id)
				got = append(got, summary(r))
				if n := len(sent[id]); n != versionRead {
					t.Errorf("%s: sent were %d versions", m.id, n)
				}
				if again, err := in.Retry(t.Context(), id); err != nil || again.Version != versionRead+1 {
					t.Errorf("%s: retry gives %+v, %v", m.id, again, err)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", m.id, got, want)
		}
	}
	for id, all := range w.sent() { // the retry says the same again
		_, r := w.sent().last(id)
		if before := all[versionRead-1].Data.(*events.Record); summary(r) != summary(before) {
			t.Errorf("read again it is %s, it was %s", summary(r), summary(before))
		}
	}
}

func files(all []testFile) []message.File {
	var files []message.File
	for _, f := range all {
		files = append(files, message.File{Name: f.name, Data: f.content, XML: einvoice.Is(f.content)})
	}
	return files
}

// Where e-invoices that are XML alone are turned off, a mail with one alone is ignored, and one beside a PDF is
// nothing.
func TestXMLCanBeTurnedOff(t *testing.T) {
	w := newWorld(t)
	w.intake([]mailbox.Options{w.box()}, func(in *Intake) { in.options.Limits.NoXML = true })
	const to = "quartier@intake.example"
	w.deliver(testMail{to: to, id: "m1", files: []testFile{{"x.xml", invoiceUBL("1")}}}.raw(), to)
	w.deliver(testMail{to: to, id: "m2", pdfs: [][]byte{invoicePDF("2")}, files: []testFile{{"x.xml", invoiceUBL("3")}}}.raw(), to)
	w.settled(1)
	marked(t, w.box(), mailbox.Ignored, 1)
	if _, r := w.sent().last(recordOf("m2", invoicePDF("2"))); r.InvoiceNumber.V != "2" || len(r.Documents) != 1 {
		t.Errorf("the record is %+v", r)
	}
}
