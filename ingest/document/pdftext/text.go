// Package pdftext reads the text of PDF pages with its place: an interpreter of
// content streams (ISO 32000-1, 8 and 9) that follows fonts, matrices and forms,
// and a layout of the glyphs in words, cells and lines.
package pdftext

import (
	"context"
	"fmt"

	"tallyhouse/ingest/document/pdfobj"
)

// Page is the text of one page.
type Page struct {
	Number int // from 1
	Lines  []Line
	Width  float64 // in points, as written, after rotation
	Height float64
}

// Document is the text of a file's pages.
type Document struct {
	Pages []Page
	// Glyphs counts the characters read, Unmapped those shown by fonts that do
	// not tell what characters they are, Images the pictures drawn.
	Glyphs, Unmapped, Images int
}

// Read reads the text of the given pages. On an error the pages read so far
// are returned with it.
func Read(ctx context.Context, f *pdfobj.File, budget *pdfobj.Budget, pages []pdfobj.Page) (Document, error) {
	in := &interpreter{file: f, budget: budget, fonts: map[uint32]*font{}}
	var doc Document
	for i, p := range pages {
		in.marks = in.marks[:0]
		if err := in.page(ctx, p); err != nil {
			return doc, fmt.Errorf("reading page %d: %w", i+1, err)
		}
		page := Page{Number: i + 1, Lines: lines(in.marks, p.MediaBox, p.Rotate)}
		page.Width, page.Height = p.MediaBox[2]-p.MediaBox[0], p.MediaBox[3]-p.MediaBox[1]
		if p.Rotate%180 != 0 {
			page.Width, page.Height = page.Height, page.Width
		}
		doc.Glyphs += len(in.marks)
		if doc.Glyphs > maxGlyphs {
			return doc, fmt.Errorf("reading page %d: %d glyphs: %w", i+1, doc.Glyphs, pdfobj.ErrBudget)
		}
		doc.Pages = append(doc.Pages, page)
	}
	doc.Unmapped, doc.Images = in.unmapped, in.images
	return doc, nil
}
