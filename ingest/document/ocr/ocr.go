// Package ocr reads scanned pages by the tesseract program.
package ocr

import (
	"context"
	"errors"

	"tallyhouse/ingest/document/pdfobj"
	"tallyhouse/ingest/document/pdftext"
)

// Errors of Read, wrapped.
var (
	ErrMissing   = errors.New("tesseract is not installed")
	ErrNoPicture = errors.New("the pages hold neither text nor a picture")
	ErrFailed    = errors.New("tesseract cannot read the page")
)

// Options steer how tesseract is called.
type Options struct {
	Tesseract string // its path; default: searched in PATH
	Languages string // default deu+eng
}

// Read is to come.
func Read(ctx context.Context, f *pdfobj.File, pages []pdfobj.Page, o Options) (pdftext.Document, error) {
	return pdftext.Document{}, ErrMissing
}
