package analytics

import (
	"time"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// ApplicationsOwn is the first of the versions of a mailed record that are the application's. Those below are of the intake and
// of people at the desk (docs/mail.md#for-operators).
const ApplicationsOwn = 100

// Bounds of an invoice's texts, in characters: a longer one is none (docs/mail.md#for-finance-teams).
const (
	LongestInvoiceNumber = 100
	LongestSupplierName  = 300
	LongestTaxID         = 50
)

// RuleEntered is the rule of values that a person entered, and that were read nowhere. Their page is 0.
const RuleEntered = "entered"

// Names of the fields of a reading (docs/events.md#intakereadings).
const (
	FieldNumber       = "invoiceNumber"
	FieldDate         = "invoiceDate"
	FieldDueDate      = "dueDate"
	FieldSupplierName = "supplierName"
	FieldTaxID        = "supplierTaxId"
	FieldIBAN         = "supplierIban" // as it was read: it is no part of the record
	FieldContractor   = "contractorId"
	FieldCurrency     = "currency"
	FieldNet          = "net"
	FieldTax          = "tax"
	FieldGross        = "gross"
)

// confirmedFields lists the fields that people confirm, in the order in which they are shown.
func confirmedFields() []string {
	return []string{FieldNumber, FieldDate, FieldDueDate, FieldSupplierName, FieldTaxID, FieldContractor, FieldCurrency, FieldNet,
		FieldTax, FieldGross}
}

// InvoiceValues are an invoice's values as its record has them, and the supplier's tax id. Two of them can be compared.
type InvoiceValues struct {
	Number       events.Opt[string]
	Date         events.Opt[calendar.Date]
	DueDate      events.Opt[calendar.Date]
	SupplierName events.Opt[string]
	TaxID        events.Opt[string]
	Contractor   events.Opt[string] // id
	Currency     events.Opt[string]
	Net          events.Opt[int64] // minor units, as are the next two
	Tax          events.Opt[int64]
	Gross        events.Opt[int64]
}

// ValuesOf are what a reading says for certain.
func ValuesOf(r *events.Reading) InvoiceValues {
	text := func(name string) events.Opt[string] {
		s, _ := FieldOf(r, name)
		return s.Text
	}
	day := func(name string) events.Opt[calendar.Date] {
		d, err := calendar.ParseDate(text(name).V)
		return events.Opt[calendar.Date]{V: d, Ok: err == nil}
	}
	minor := func(name string) events.Opt[int64] {
		s, _ := FieldOf(r, name)
		return s.Minor
	}
	return InvoiceValues{
		Number: text(FieldNumber), Date: day(FieldDate), DueDate: day(FieldDueDate), SupplierName: text(FieldSupplierName),
		TaxID: text(FieldTaxID), Contractor: text(FieldContractor), Currency: text(FieldCurrency), Net: minor(FieldNet),
		Tax: minor(FieldTax), Gross: minor(FieldGross),
	}
}

// Field is a value as a reading has it; false when there is none.
func (v InvoiceValues) Field(name string) (events.Stated, bool) {
	text := func(o events.Opt[string]) (events.Stated, bool) { return events.Stated{Text: o}, o.Ok }
	day := func(o events.Opt[calendar.Date]) (events.Stated, bool) {
		return events.Stated{Text: events.Opt[string]{V: o.V.String(), Ok: o.Ok}}, o.Ok
	}
	minor := func(o events.Opt[int64]) (events.Stated, bool) { return events.Stated{Minor: o}, o.Ok }
	switch name {
	case FieldNumber:
		return text(v.Number)
	case FieldDate:
		return day(v.Date)
	case FieldDueDate:
		return day(v.DueDate)
	case FieldSupplierName:
		return text(v.SupplierName)
	case FieldTaxID:
		return text(v.TaxID)
	case FieldContractor:
		return text(v.Contractor)
	case FieldCurrency:
		return text(v.Currency)
	case FieldNet:
		return minor(v.Net)
	case FieldTax:
		return minor(v.Tax)
	case FieldGross:
		return minor(v.Gross)
	}
	return events.Stated{}, false
}

// mostAlternatives bounds those of a field.
const mostAlternatives = 5

// Confirm is a reading's next version, with the values that a person stands for. What was read of a value stays with it; where
// theirs was read nowhere it is RuleEntered. A value that they replaced or took away stays among what was possible.
func Confirm(r *events.Reading, values InvoiceValues, by string) *events.Reading {
	next := *r
	next.Status, next.Reason, next.Detail = events.ReadingCompleted, events.Opt[string]{}, events.Opt[string]{}
	next.ConfirmedBy = events.Some(by)
	next.Fields = nil
	for _, name := range confirmedFields() {
		was := events.ReadField{Name: name}
		for _, f := range r.Fields {
			if f.Name == name {
				was = f
			}
		}
		one := events.ReadField{Name: name}
		value, ok := values.Field(name)
		if ok {
			const certain = 10_000 // basis points
			value.ConfidenceBp, value.Rule = events.Decimal{Units: certain}, RuleEntered
		}
		known := was.Alternatives
		if was.Value.Ok {
			known = append([]events.Stated{was.Value.V}, known...)
		}
		for _, s := range known {
			switch {
			case ok && value.Rule == RuleEntered && s.Text == value.Text && s.Minor == value.Minor:
				value = s
			case len(one.Alternatives) < mostAlternatives && s.Rule != RuleEntered:
				one.Alternatives = append(one.Alternatives, s)
			}
		}
		if ok {
			one.Value = events.Some(value)
		}
		if one.Value.Ok || len(one.Alternatives) > 0 {
			next.Fields = append(next.Fields, one)
		}
	}
	for _, f := range r.Fields {
		if f.Name == FieldIBAN {
			next.Fields = append(next.Fields, f)
		}
	}
	return &next
}

// RecordOf is the record that a confirmed reading stands for: the same, whoever makes it, so that it can be sent again. received is
// when the record says that its mail came in.
func RecordOf(r *events.Reading, received events.Opt[time.Time]) *events.Record {
	v := ValuesOf(r)
	record := &events.Record{
		ProjectID: r.ProjectID.V, Source: "invoice", Direction: "out", StepKind: "setup",
		ContractorID: v.Contractor, CounterpartyName: v.SupplierName, InvoiceNumber: v.Number, RecognitionDate: v.Date, DueDate: v.DueDate,
		Currency: v.Currency, Net: v.Net, Tax: v.Tax, Gross: v.Gross,
		Intake: events.Intake{Channel: "email", Status: events.Some(events.ReadingCompleted), ReceivedAt: received},
	}
	for _, d := range r.Documents {
		record.Documents = append(record.Documents, events.Document{Name: d.Name, Kind: d.Kind})
	}
	return record
}

// Recorded are the values as a record of them has them: without what it has no place for.
func (v InvoiceValues) Recorded() InvoiceValues {
	v.TaxID = events.Opt[string]{}
	return v
}
