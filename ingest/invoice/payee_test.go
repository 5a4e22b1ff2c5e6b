package invoice

import (
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/paymentcode"
	"tallyhouse/ingest/invoice/text"
)

// Given a supplier that the page leaves open, then the code's payee decides among its candidates, and is none by itself.
func TestThePayeeDecidesAmongCandidates(t *testing.T) {
	cases := []struct {
		payee, stated, want string
		confidence          float64
	}{
		{"Bauwerk Donau GmbH", "", "Bauwerk Donau GmbH", agreeing},
		{"BAUWERK DONAU", "", "Bauwerk Donau GmbH", agreeing},
		{"Factoring Bank AG", "", "", 0},
		{"Bau", "", "", 0},
		{"Bauwerk Donau GmbH", "Bauwerk Donau GmbH", "Bauwerk Donau GmbH", agreeing},
		{"Bauwerk Donau GmbH", "Stahlbau Enns GmbH", "Stahlbau Enns GmbH", fields.Certain},
	}
	for _, c := range cases {
		f := fields.Invoice{Possible: []fields.Possible{{Field: fields.Number, Value: c.payee}, {Field: fields.SupplierName, Value: "Stahlbau Enns GmbH"},
			{Field: fields.SupplierName, Value: "Bauwerk Donau GmbH"}}}
		if c.stated != "" {
			f.SupplierName = &fields.Text{Value: c.stated, Evidence: fields.Evidence{Confidence: fields.Certain}}
		}
		coded{Payment: paymentcode.Payment{Payee: c.payee}}.compare(&f, text.Document{})
		got, confidence := "", 0.0
		if f.SupplierName != nil {
			got, confidence = f.SupplierName.Value, f.SupplierName.Confidence
		}
		if got != c.want || confidence != c.confidence {
			t.Errorf("payee %q, stated %q: %q (%v), want %q", c.payee, c.stated, got, confidence, c.want)
		}
	}
}
