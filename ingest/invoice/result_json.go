package invoice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/untrusted"
)

type evidenceJSON map[string]fields.Evidence

type resultJSON struct {
	File          string            `json:"file"`
	Status        Status            `json:"status"`
	Reason        Reason            `json:"reason,omitempty"`
	Detail        string            `json:"detail,omitempty"`
	Number        *string           `json:"invoiceNumber"`
	Date          *string           `json:"invoiceDate"`
	DueDate       *string           `json:"dueDate"`
	SupplierName  *string           `json:"supplierName"`
	SupplierTaxID *string           `json:"supplierTaxId"`
	SupplierIBAN  *string           `json:"supplierIban"`
	Currency      *string           `json:"currency"`
	Net           *int64            `json:"net"`
	Tax           *int64            `json:"tax"`
	Gross         *int64            `json:"gross"`
	Evidence      evidenceJSON      `json:"evidence"`
	Possible      []fields.Possible `json:"possible,omitempty"`
	Findings      []fields.Finding  `json:"findings,omitempty"`
	Warnings      []string          `json:"warnings,omitempty"` // the messages of the findings
}

// JSON is the result as one line: the file, status, reason and fields, null
// where not certain, with the evidence of each.
func (r Result) JSON() ([]byte, error) {
	out := resultJSON{File: r.File, Status: r.Status, Reason: r.Reason, Detail: r.Detail, Evidence: evidenceJSON{},
		Possible: r.Possible, Findings: r.Findings, Warnings: r.Warnings()}
	for name, f := range map[string]struct {
		from *fields.Text
		to   **string
	}{
		fields.Number: {r.Number, &out.Number}, fields.Date: {r.Date, &out.Date},
		fields.DueDate:      {r.DueDate, &out.DueDate},
		fields.SupplierName: {r.SupplierName, &out.SupplierName}, fields.SupplierTaxID: {r.SupplierTaxID, &out.SupplierTaxID},
		fields.SupplierIBAN: {r.SupplierIBAN, &out.SupplierIBAN},
		fields.Currency:     {r.Currency, &out.Currency},
	} {
		if f.from != nil {
			*f.to = &f.from.Value
			out.Evidence[name] = f.from.Evidence
		}
	}
	for name, f := range map[string]struct {
		from *fields.Amount
		to   **int64
	}{fields.Net: {r.Net, &out.Net}, fields.Tax: {r.Tax, &out.Tax}, fields.Gross: {r.Gross, &out.Gross}} {
		if f.from != nil {
			*f.to = &f.from.Value
			out.Evidence[name] = f.from.Evidence
		}
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return nil, fmt.Errorf("writing result: %w", err)
	}
	return bytes.TrimRight(line.Bytes(), "\n"), nil
}

// ParseJSON reads a line that JSON wrote, in a process that a file may have taken over: what it holds is bounded as
// Read bounds it.
func ParseJSON(line []byte) (Result, error) {
	var in resultJSON
	if err := json.Unmarshal(line, &in); err != nil {
		return Result{}, fmt.Errorf("reading result: %w", err)
	}
	if in.Status != OK && in.Status != Failed {
		return Result{}, fmt.Errorf("reading result: unknown status %q", untrusted.Cut(string(in.Status), longestEvidence))
	}
	if (in.Status == Failed) != slices.Contains(reasons, in.Reason) {
		return Result{}, fmt.Errorf("reading result: status %s for the reason %q", in.Status, untrusted.Cut(string(in.Reason), longestEvidence))
	}
	out := Result{File: in.File, Status: in.Status, Reason: in.Reason, Detail: in.Detail, Findings: in.Findings}
	text := func(v *string, name string) *fields.Text {
		if v == nil {
			return nil
		}
		return &fields.Text{Value: *v, Evidence: in.Evidence[name]}
	}
	amount := func(v *int64, name string) *fields.Amount {
		if v == nil {
			return nil
		}
		return &fields.Amount{Value: *v, Evidence: in.Evidence[name]}
	}
	out.Invoice = fields.Invoice{
		Number: text(in.Number, fields.Number), Date: text(in.Date, fields.Date),
		DueDate:      text(in.DueDate, fields.DueDate),
		SupplierName: text(in.SupplierName, fields.SupplierName), SupplierTaxID: text(in.SupplierTaxID, fields.SupplierTaxID),
		SupplierIBAN: text(in.SupplierIBAN, fields.SupplierIBAN),
		Currency:     text(in.Currency, fields.Currency),
		Net:          amount(in.Net, fields.Net), Tax: amount(in.Tax, fields.Tax), Gross: amount(in.Gross, fields.Gross),
		Possible: in.Possible,
	}
	return out.bounded(), nil
}
