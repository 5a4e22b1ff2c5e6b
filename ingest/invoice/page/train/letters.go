package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/text"
)

// truth is what a letter says of who sent it, as package accuracy has it.
type truth struct {
	Supplier string   `json:"supplierName"`
	Also     []string `json:"supplierNameAlso"`
}

// madeByHand reads the invoices of a folder, NAME.pdf with what each says in NAME.json, as far as names go.
func madeByHand(folder string) ([]drawn, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no letters in %s: %w", folder, err)
	}
	var out []drawn
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading what a letter says: %w", err)
		}
		var t truth
		if err := json.Unmarshal(data, &t); err != nil {
			return nil, fmt.Errorf("reading what %s says: %w", name, err)
		}
		if t.Supplier == "" {
			continue // no invoice
		}
		d := drawn{source: handmade, also: t.Also}
		d.Supplier = t.Supplier
		if d.doc, err = document(strings.TrimSuffix(name, ".json") + ".pdf"); err != nil {
			return nil, fmt.Errorf("reading the letter of %s: %w", name, err)
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
