// Package text reads the text of PDF pages with its place: an interpreter of
// content streams (ISO 32000-1, 8 and 9) that follows fonts, matrices and forms,
// and a layout of the glyphs in words, cells and lines.
package text

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tallyhouse/ingest/invoice/pdf"
)

// Page is the text of one page.
type Page struct {
	Number int // from 1
	Lines  []Line
	Aside  []Line  // what runs in other directions, each line turned upright; its places are not those of the page
	Width  float64 // in points, after rotation
	Height float64
	// Left is where the page begins: what lies there has no smaller X0.
	Left float64
	// Turned says that the text runs in another direction than the page is shown in, so its places are not those of
	// the page.
	Turned bool
	// Pictures are the images drawn, in the order drawn.
	Pictures []Picture
	// Mosaics are what small rectangles show.
	Mosaics []Mosaic
}

// Picture is an image on a page. Matrix maps the unit square, its first row of
// pixels on top, to the page before rotation.
type Picture struct {
	Stream *pdf.Stream
	Matrix [6]float64
}

// Document is the text of a file's pages.
type Document struct {
	Pages []Page
	// Glyphs counts the characters read, Unmapped those shown by fonts that do
	// not say what characters they are.
	Glyphs, Unmapped int
	// Unseen counts the figures, 0 to 9, that were left out because nobody sees
	// them on the page.
	Unseen int
	// Doubtful counts the figures of which a font says itself that it draws others.
	Doubtful int
	// Unproven counts those of which a table beside the font alone says what they are.
	Unproven int
}

// Read reads the text of the given pages. On an error the pages read so far
// are returned with it.
func Read(ctx context.Context, f *pdf.File, budget *pdf.Budget, pages []pdf.Page) (Document, error) {
	in := &interpreter{file: f, budget: budget, fonts: map[pdf.Ref]*font{}, layersOff: layersOff(f)}
	var doc Document
	for i, p := range pages {
		in.marks, in.pictures = in.marks[:0], nil
		if err := in.page(ctx, p); err != nil {
			return doc, fmt.Errorf("reading page %d: %w", i+1, err)
		}
		main := mainDirection(in.marks, p.Rotate)
		page := Page{Number: i + 1, Lines: lines(turn(in.marks, p.MediaBox, main)), Aside: aside(in.marks, p.MediaBox, main),
			Pictures: in.pictures, Mosaics: in.mosaics(), Turned: main != p.Rotate/90%4}
		switch main {
		case 0:
			page.Left = min(p.MediaBox[0], p.MediaBox[2])
		case 1:
			page.Left = min(p.MediaBox[1], p.MediaBox[3])
		}
		page.Width, page.Height = p.MediaBox[2]-p.MediaBox[0], p.MediaBox[3]-p.MediaBox[1]
		if p.Rotate%180 != 0 {
			page.Width, page.Height = page.Height, page.Width
		}
		doc.Glyphs += len(in.marks)
		if doc.Glyphs > maxGlyphs {
			return doc, fmt.Errorf("reading page %d: %d glyphs: %w", i+1, doc.Glyphs, pdf.ErrBudget)
		}
		doc.Pages = append(doc.Pages, page)
	}
	doc.Unmapped, doc.Unseen = in.unmapped, in.unseen
	doc.Doubtful = in.doubtful
	for _, ft := range slices.AppendSeq(in.loose, maps.Values(in.fonts)) {
		contradicted, unproven := ft.doubts(f)
		doc.Doubtful += contradicted
		doc.Unproven += unproven
	}
	return doc, nil
}

// FromWords lays out words whose places are known, as OCR finds them.
func FromWords(number int, width, height float64, words []Word) Page {
	return Page{Number: number, Width: width, Height: height, Lines: setLines(words)}
}
