package mail

import (
	"crypto/sha256"
	"testing"
	"time"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/originals"
	"tallyhouse/schemas/events"
)

// Given a file that an earlier release made a record of, when it is read again, then it has that record's id: else every mail
// that is read again would be another record.
func TestARecordKeepsItsID(t *testing.T) {
	t.Parallel()
	got := identity{tenant: "t", project: "p", mail: "m", index: 3, file: sha256.Sum256([]byte("f"))}.id()
	if want := "mail-o4iltb2i44ebxueu5snruqckollfu2h7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An amount beyond what is plausible is not certain, and with it the sum that it is part of; the invoice's other fields
// are.
func TestImplausibleAmountsAreNotCertain(t *testing.T) {
	amount := func(n int64) *int64 { return &n }
	const most = DefaultMaxAmount
	for _, c := range []struct {
		name            string
		net, tax, gross *int64
		certain         bool
	}{
		{"usual", amount(1240000), amount(248000), amount(1488000), true},
		{"the largest", amount(most - 1), amount(1), amount(most), true},
		{"a larger gross", amount(most), amount(1), amount(most + 1), false},
		{"a larger gross alone", nil, nil, amount(99999999999996), false},
		{"a credit note", amount(-most), nil, amount(-most), true},
		{"a larger credit note", nil, nil, amount(-most - 1), false},
		{"the least number", nil, nil, amount(-1 << 63), false},
		{"beyond the ledger", nil, nil, amount(events.MaxAmount + 1), false},
		{"a gross that isn't stated", amount(most), amount(1), nil, false},
		{"a credit note whose gross isn't stated", amount(-most), amount(-1), nil, false},
	} {
		d := draft{tenant: tenant, project: "P1", id: "r", documents: []document{{Document: events.Document{Name: "r.pdf", Kind: original}}},
			arrived: time.Now(), maxAmount: most}
		e, failure := d.outcome(versionRead, reading{number: "7", currency: "EUR", net: c.net, tax: c.tax, gross: c.gross}, time.Now())
		r := e.Data.(*events.Record)
		if failure != "" || r.Intake.Status.V != "completed" || r.InvoiceNumber.V != "7" || r.Currency.V != "EUR" {
			t.Errorf("%s: %s, %+v", c.name, failure, r)
		}
		if r.Gross.Ok != c.certain || r.Net.Ok != (c.certain && c.net != nil) || r.Tax.Ok != (c.certain && c.tax != nil) {
			t.Errorf("%s: net %v, tax %v, gross %v", c.name, r.Net, r.Tax, r.Gross)
		}
	}
}

// Whatever the sandboxed reader writes, what is taken of it makes a record that the ledger takes.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"status":"ok","invoiceNumber":"7","invoiceDate":"2026-01-31","supplierName":"A","currency":"EUR","net":9007199254740991,` +
		`"tax":9007199254740991,` +
		`"evidence":{"invoiceNumber":{"confidence":1},"currency":{"confidence":1},"net":{"confidence":1},"tax":{"confidence":1}}}`))
	f.Add([]byte(`{"status":"ok","currency":"EUR","net":9223372036854775807,"evidence":{"net":{"confidence":1,"page":-3,"box":{"left":-1,"top":0.1,` +
		`"right":7,"bottom":0.2}}},"possible":[{"field":"tax","value":"9223372036854775807","confidence":2},{"field":"tax","value":"x"},` +
		`{"field":"dueDate","value":"\u0000","rule":"r"}],"findings":[{"rule":"","message":"","place":"\u0000","page":-1}]}`))
	f.Add([]byte(`{"status":"failed","reason":"faulty-einvoice","findings":[{"rule":"BR-CO-15","message":"net","page":4294967296}]}`))
	f.Add([]byte(`{"status":"ok","currency":"€","dueDate":"2300-01-01","gross":-9223372036854775808,` +
		`"evidence":{"currency":{"confidence":1},"dueDate":{"confidence":1},"gross":{"confidence":1}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		result, err := invoice.ParseJSON(line)
		if err != nil {
			return
		}
		f := readingOf(result)
		d := draft{tenant: tenant, project: "P1", id: "r", documents: []document{{Document: events.Document{Name: "r.pdf", Kind: original}}},
			source: source{evidence: events.ReadMail{SHA256: events.Some(originals.Of(nil).String())}}, arrived: time.Now(), maxAmount: events.MaxAmount}
		e, failure := d.outcome(versionRead, f, time.Now())
		if failure != f.failed {
			t.Fatalf("%+v gives no record: %s", f, failure)
		}
		if _, err := messageOf(events.Records, e); err != nil {
			t.Fatal(err)
		}
		if _, err := messageOf(events.Readings, d.evidence(e, f, failure, nil)); err != nil {
			t.Fatalf("the evidence of %+v: %v", f, err)
		}
	})
}
