package mail

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/originals"
	"tallyhouse/schemas/events"
)

// Given an invoice that has been read, when another one is read that may be the same, then the later one's findings name the
// earlier record by the surest reason alone, and the earlier one's never name the later.
func TestInvoicesThatComeTwiceAreNoted(t *testing.T) {
	amount := func(n int64) *int64 { return &n }
	first := reading{number: "2026-0417", date: "2026-04-17", supplier: "Bauwerk Donau GmbH", taxID: "ATU12345675", currency: "EUR",
		gross: amount(1488000)}
	changed := func(change func(*reading)) reading {
		f := first
		change(&f)
		return f
	}
	for _, c := range []struct {
		name, tenant, file string
		reading            reading
		want               string
	}{
		{"the same file", tenant, "a", reading{failed: "a scan"}, "duplicate-content A"},
		{"the same file and number", tenant, "a", first, "duplicate-content A"},
		{"the same number, written in another way", tenant, "b", changed(func(f *reading) {
			f.number, f.taxID, f.supplier, f.gross = "2026 - 0417", "", "BAUWERK DONAU GmbH.", nil
		}), "duplicate-number invoiceNumber A"},
		{"the same number of a contractor", tenant, "b", changed(func(f *reading) {
			f.contractor, f.taxID, f.supplier, f.date = "C1", "", "", ""
		}), ""},
		{"the same amount and date", tenant, "b", changed(func(f *reading) { f.number = "" }), "duplicate-amount gross A"},
		{"the same amount on another day", tenant, "b", changed(func(f *reading) { f.number, f.date = "8", "2026-05-17" }), ""},
		{"the same amount in another currency", tenant, "b", changed(func(f *reading) { f.number, f.currency = "8", "CHF" }), ""},
		{"the credit note", tenant, "b", changed(func(f *reading) { f.number, f.gross = "8", amount(-1488000) }), ""},
		{"the same number of another supplier", tenant, "b", changed(func(f *reading) { f.taxID, f.supplier = "ATU99999999", "Other GmbH" }), ""},
		{"nothing that is certain", tenant, "b", reading{}, ""},
		{"another tenant", "other", "a", first, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, err := originals.OpenDirectory(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			in := &Intake{options: Options{Originals: store}}
			a := draft{tenant: tenant, project: "Secret tower", id: "A", documents: stating("a")}
			b := draft{tenant: c.tenant, project: "P2", id: "B", documents: stating(c.file)}
			// However often the mails are read, in whatever order from then on.
			for range 2 {
				if got := noted(t, in, a, first); got != "" {
					t.Errorf("the first: %s", got)
				}
				if got := noted(t, in, b, c.reading); got != c.want {
					t.Errorf("the second: %q, want %q", got, c.want)
				}
			}
		})
	}
}

// A contractor that became known in between is the same supplier by its name or tax id.
func TestASupplierIsTheSameByAnyOfItsNames(t *testing.T) {
	store, err := originals.OpenDirectory(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := &Intake{options: Options{Originals: store}}
	for i, f := range []reading{{number: "7", supplier: "Bau GmbH"}, {number: "7", supplier: "Bau GmbH", contractor: "C1"},
		{number: "7", taxID: "ATU1", contractor: "C1"}, {number: "7", taxID: "ATU1"}} {
		got := noted(t, in, draft{tenant: tenant, id: fmt.Sprint(i)}, f)
		if want := strings.Contains(got, fmt.Sprint(i-1)); i > 0 && !want || i == 0 && got != "" {
			t.Errorf("record %d: %s", i, got)
		}
	}
}

func stating(content string) []document {
	return []document{
		{Document: events.Document{Name: "a.pdf", Kind: original}, file: message.File{Data: []byte(content)}, states: true},
		{Document: events.Document{Name: "terms.pdf", Kind: other}, file: message.File{Data: []byte("terms")}},
	}
}

// noted are the findings about a record in words, without their messages, which name no record and no project.
func noted(t *testing.T, in *Intake, d draft, f reading) string {
	t.Helper()
	all, err := in.repeated(context.Background(), d, f)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, found := range all {
		if strings.Contains(fmt.Sprint(found), "Secret") {
			t.Errorf("a finding tells of another project: %+v", found)
		}
		words = append(words, strings.Fields(found.Rule+" "+found.Place.V+" "+strings.Join(found.Records.V, ","))...)
	}
	return strings.Join(words, " ")
}
