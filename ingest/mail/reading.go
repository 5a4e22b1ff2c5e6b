package mail

import (
	"context"
	"fmt"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/isolated"
)

// reading is what a file says, as far as it is certain: "" and nil are not known.
type reading struct {
	failed   string // why nothing was read; "" when it was
	reason   string // the same in one word
	number   string
	date     string // YYYY-MM-DD, as is due
	due      string
	supplier string
	taxID    string
	currency string
	net      *int64 // minor units
	tax      *int64
	gross    *int64
	warnings []string       // what is worth a look though it was read
	result   invoice.Result // all that was read, with its evidence
	// contractor is the id of the one that the supplier is; it is looked up.
	contractor string
}

// readInvoice reads a PDF or an e-invoice in a process of its own. An error says that it can't be read now, not that
// the file is at fault.
func readInvoice(ctx context.Context, file []byte, o isolated.Options) (reading, error) {
	result, err := isolated.Read(ctx, file, o)
	if err != nil {
		return reading{}, fmt.Errorf("read an invoice: %w", err)
	}
	return readingOf(result), nil
}

func readingOf(result invoice.Result) reading {
	if result.Status != invoice.OK {
		return reading{failed: result.Detail, reason: string(result.Reason), result: result}
	}
	return reading{
		number: certain(result.Number), date: certain(result.Date), due: certain(result.DueDate),
		supplier: certain(result.SupplierName), taxID: certain(result.SupplierTaxID),
		currency: certain(result.Currency), net: minor(result.Net), tax: minor(result.Tax), gross: minor(result.Gross),
		warnings: result.Warnings(), result: result,
	}
}

func certain(t *fields.Text) string {
	if t == nil || t.Confidence < fields.Certain {
		return ""
	}
	return t.Value
}

func minor(a *fields.Amount) *int64 {
	if a == nil || a.Confidence < fields.Certain {
		return nil
	}
	return &a.Value
}
