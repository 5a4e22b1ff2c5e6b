package analytics

import (
	"fmt"
	"testing"
	"time"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Given what was read of an invoice, when a person confirms it, then what they left as it was keeps its evidence, what they replaced or
// took away stays possible, and what they chose from what was possible has the evidence of that.
func TestAConfirmationKeepsWhatWasRead(t *testing.T) {
	read := func(text string, page int64) events.Stated {
		return events.Stated{Text: events.Some(text), Page: page, Rule: "label", ConfidenceBp: events.Decimal{Units: 9000}}
	}
	r := &events.Reading{
		ProjectID: events.Some("p"), Status: events.ReadingFailed, Reason: events.Some("broken"), Detail: events.Some("why"),
		Documents: []events.ReadDocument{{Name: "a.pdf", Kind: "original"}},
		Fields: []events.ReadField{
			{Name: FieldNumber, Value: events.Some(read("7", 1)), Alternatives: []events.Stated{read("8", 2)}},
			{Name: FieldDate, Value: events.Some(read("2026-10-01", 1)), Alternatives: []events.Stated{read("2026-10-02", 2)}},
			{Name: FieldSupplierName, Value: events.Some(read("Bau", 1))},
			{Name: FieldTaxID, Value: events.Some(read("ATU1", 1))},
			{Name: FieldIBAN, Value: events.Some(read("AT2", 1)), Alternatives: []events.Stated{read("AT3", 2)}},
		},
	}
	values := ValuesOf(r)
	values.Date = events.Some(calendar.Date(20728)) // 2026-10-02
	values.SupplierName, values.TaxID = events.Some("Bau AG"), events.Opt[string]{}
	values.Currency, values.Gross, values.Contractor = events.Some("EUR"), events.Some[int64](-100), events.Some("c")
	next := Confirm(r, values, "uma")
	var got string
	for _, f := range next.Fields {
		say := func(s events.Stated) string { return fmt.Sprint(s.Text.V, s.Minor.V, " ", s.Rule, " ", s.Page) }
		got += f.Name + ":"
		if f.Value.Ok {
			got += " " + say(f.Value.V)
		}
		for _, s := range f.Alternatives {
			got += " or " + say(s)
		}
		got += "\n"
	}
	want := `invoiceNumber: 70 label 1 or 80 label 2
invoiceDate: 2026-10-020 label 2 or 2026-10-010 label 1
supplierName: Bau AG0 entered 0 or Bau0 label 1
supplierTaxId: or ATU10 label 1
contractorId: c0 entered 0
currency: EUR0 entered 0
gross: -100 entered 0
supplierIban: AT20 label 1 or AT30 label 2
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if ValuesOf(next) != values || next.Status != events.ReadingCompleted || next.Reason.Ok || next.Detail.Ok || next.ConfirmedBy.V != "uma" {
		t.Errorf("it says %+v", next)
	}
	if r.Fields[0].Value.V.Text.V != "7" || len(r.Fields) != 5 || r.ConfirmedBy.Ok {
		t.Errorf("what was read has changed: %+v", r)
	}
	received := events.Some(time.Unix(1_800_000_000, 0))
	record := RecordOf(next, received)
	e := events.Event{Data: record, Envelope: events.Envelope{ID: "r", TenantID: "t", Version: 4, Op: events.Upsert, At: received.V}}
	if _, err := events.Encode(events.Records, e); err != nil {
		t.Error(err)
	}
	if record.ProjectID != "p" || record.Intake != (events.Intake{Channel: "email", Status: events.Some("completed"), ReceivedAt: received}) ||
		record.Documents[0].Name != "a.pdf" || record.Gross.V != -100 || record.ContractorID.V != "c" || record.RecognitionDate != values.Date {
		t.Errorf("the record is %+v", record)
	}
}

// Given what a person entered, when another one replaces it, then it isn't offered as something that was read.
func TestWhatWasEnteredIsNotOfferedLater(t *testing.T) {
	r := Confirm(&events.Reading{}, InvoiceValues{Number: events.Some("7")}, "ada")
	next := Confirm(r, InvoiceValues{Number: events.Some("8")}, "uma")
	if len(next.Fields) != 1 || len(next.Fields[0].Alternatives) != 0 || next.Fields[0].Value.V.Text.V != "8" {
		t.Errorf("the fields are %+v", next.Fields)
	}
}
