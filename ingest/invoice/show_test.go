package invoice_test

import (
	"fmt"

	"tallyhouse/ingest/invoice/fields"
)

type text struct{ *fields.Text }

func (t text) show() string {
	if t.Text == nil {
		return "-"
	}
	return t.Value
}

type amount struct{ *fields.Amount }

func (a amount) show() string {
	if a.Amount == nil {
		return "-"
	}
	return fmt.Sprint(a.Value)
}
