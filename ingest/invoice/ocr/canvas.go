package ocr

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"

	"tallyhouse/ingest/invoice/drawn"
	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/text"
)

// scan is a page that is to be read, as a picture.
type scan struct {
	page   text.Page
	canvas *image.Gray
}

// canvases are the pages with pictures, at most o.Pages: the first ones and the last, where totals stand.
func canvases(ctx context.Context, f *pdf.File, pages []pdf.Page, texts []text.Page, o Options) ([]scan, error) {
	var viewer *drawn.File
	defer func() {
		if viewer != nil {
			_ = viewer.Close() // what was drawn stays
		}
	}()
	var scans []scan
	blank := true
	for i, page := range texts {
		if i >= len(pages) || len(page.Pictures) == 0 || len(scans) >= o.Pages-1 && i < len(texts)-1 {
			continue
		}
		var undrawn error
		needed, err := needsViewer(f, page.Pictures)
		if err != nil {
			return nil, fmt.Errorf("looking at the pictures of page %d: %w", i+1, err)
		}
		if needed {
			var canvas *image.Gray
			if canvas, undrawn = show(ctx, &viewer, f, i, page); undrawn == nil {
				scans, blank = append(scans, scan{page, canvas}), blank && !inked(canvas)
				continue
			}
		}
		composed, err := compose(f, pages[i], page.Pictures)
		if err != nil {
			return nil, fmt.Errorf("taking the pictures of page %d: %w", i+1, errors.Join(err, undrawn))
		}
		scans, blank = append(scans, scan{page, composed}), false
	}
	switch {
	case len(scans) == 0:
		return nil, ErrNoPicture
	case blank:
		// PDFium leaves out what it can't unpack. One page may be blank.
		return nil, fmt.Errorf("the pictures show nothing: %w", ErrFailed)
	}
	return scans, nil
}

// needsViewer reports whether there are pictures that are not unpacked here, or that show only in part. Their pixels
// cost what they would here: what the viewer does is bounded by its memory and by time alone.
func needsViewer(f *pdf.File, pictures []text.Picture) (bool, error) {
	needed := false
	for _, p := range pictures {
		if !viewersOwn(f, p.Stream.Dict) {
			continue
		}
		w, h, err := size(f, p.Stream.Dict)
		if err != nil {
			return false, fmt.Errorf("%w: %w", err, ErrFailed)
		}
		if err := f.Spend(w * h / pixelsAtOnce); err != nil {
			return false, err
		}
		needed = true
	}
	return needed, nil
}

// viewersOwn reports whether a picture needs a viewer.
func viewersOwn(f *pdf.File, d pdf.Dict) bool {
	if f.Stream(d["SMask"]) != nil || f.Stream(d["Mask"]) != nil {
		return true
	}
	last := d["Filter"]
	if filters := f.Array(last); len(filters) > 0 {
		last = filters[len(filters)-1]
	}
	switch f.Name(last) {
	case "JPXDecode", "JBIG2Decode":
		return true
	}
	return false
}

// show draws a page as viewers show it, by the viewer, which it starts if need be.
func show(ctx context.Context, viewer **drawn.File, f *pdf.File, index int, page text.Page) (*image.Gray, error) {
	if *viewer == nil {
		opened, err := drawn.Open(ctx, f.Data())
		if err != nil {
			return nil, err
		}
		*viewer = opened
	}
	return (*viewer).Page(ctx, index, page.Width, page.Height, dpi)
}

// inked reports whether anything stands on a canvas.
func inked(canvas *image.Gray) bool {
	return slices.ContainsFunc(canvas.Pix, func(v byte) bool { return v < 128 })
}
