package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tallyhouse/ingest/invoice/accuracy/truth"
	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/text"
)

// madeByHand reads the invoices of a folder, as far as names go.
func madeByHand(folder string) ([]drawn, error) {
	truths, err := truth.Read(folder)
	if err != nil {
		return nil, err
	}
	var out []drawn
	for _, t := range truths {
		if t.Supplier == nil {
			continue // no invoice
		}
		d := drawn{source: handmade, also: t.Also}
		d.Supplier = *t.Supplier
		if d.doc, err = document(filepath.Join(folder, t.File)); err != nil {
			return nil, fmt.Errorf("reading the letter %s: %w", t.File, err)
		}
		out = append(out, d)
	}
	return out, nil
}

// document is the text of a PDF.
func document(name string) (text.Document, error) {
	const unpacked, operations, most = 192 << 20, 20_000_000, 100 // as for files that anybody sends
	data, err := os.ReadFile(name)
	if err != nil {
		return text.Document{}, err
	}
	ctx, budget := context.Background(), pdf.NewBudget(unpacked, operations)
	file, err := pdf.Open(ctx, data, budget)
	if err != nil {
		return text.Document{}, err
	}
	pages, err := file.Pages(most)
	if err != nil {
		return text.Document{}, err
	}
	doc, err := text.Read(ctx, file, budget, pages)
	if err == nil && doc.Glyphs == 0 {
		err = errors.New("no text")
	}
	return doc, err
}
