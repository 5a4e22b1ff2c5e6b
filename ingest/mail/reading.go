package mail

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// readInvoice reads a PDF or an e-invoice in a process of its own, and tells how long that took. What needs pictures of
// pages takes memory and processors for long: longer is asked before, and only so many files are read so at a time. An
// error is longer's, or says that the file can't be read now, not that it is at fault.
func (in *Intake) readInvoice(ctx context.Context, file []byte, longer func() error) (f reading, took time.Duration, err error) {
	read := func(o isolated.Options) (invoice.Result, error) {
		began := time.Now()
		defer func() { took += time.Since(began) }()
		result, err := isolated.Read(ctx, file, o)
		if err != nil {
			err = fmt.Errorf("read an invoice: %w", err)
		}
		return result, err
	}
	light := in.options.Reader
	light.Light = true
	result, err := read(light)
	if err != nil || result.Reason != invoice.NeedsPictures {
		return readingOf(result), took, err
	}
	if err := longer(); err != nil {
		return reading{}, took, err
	}
	if err := in.pictures.Acquire(ctx, 1); err != nil {
		return reading{}, took, err
	}
	defer in.pictures.Release(1)
	result, err = read(in.options.Reader)
	return readingOf(result), took, err
}

// quickFirst is the order in which the files of a mail are read: e-invoices first, which take moments.
func quickFirst(files []readFile) []int {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case files[a].XML == files[b].XML:
			return 0
		case files[a].XML:
			return -1
		}
		return 1
	})
	return order
}

// tooLong is what a file says that is left when the time of its mail is over.
func tooLong(limit time.Duration) reading {
	return reading{reason: string(invoice.Timeout), failed: fmt.Sprintf("the other files of its mail took %s to read, "+
		"so this one was left; tallyhouse mail retry reads it", limit)}
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
