package invoice

import (
	"context"
	"fmt"
	"image"
	"regexp"
	"strings"

	"tallyhouse/ingest/invoice/drawn"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/ocr"
)

const (
	// largeSum is the least total, in minor units, whose sums are compared with the drawn page.
	largeSum = 10_000_000
	// The resolutions in which their places are drawn, and the points that surround them.
	sharp     = 300
	lessSharp = 220
	around    = 4.0
)

// clean is a sum as OCR reads it where it reads it well.
var clean = regexp.MustCompile(`^\D{0,4}(\d[\d .,'’]*[.,] ?\d\d)\D{0,4}$`)

// asDrawn compares large sums with what a viewer draws where they stand, if tables beside the fonts alone say which figures
// these are. Where others are drawn no sum is stated. Without tesseract, or where it can't tell, the result stays.
func (r *reading) asDrawn(ctx context.Context, out Result) Result {
	if out.Status != OK || out.Gross == nil || out.Gross.Page < 1 || max(out.Gross.Value, -out.Gross.Value) < largeSum ||
		r.doc.Unproven == 0 || r.opts.NoOCR || !r.opts.Light && !r.opts.OCR.Installed() {
		return out
	}
	if r.opts.Light {
		return Failure(NeedsPictures, errPictures)
	}
	limit := r.opts.OCR.Time
	if limit == 0 {
		limit = ocr.DefaultTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	viewer, err := drawn.Open(ctx, r.file.Data())
	if err != nil {
		return out
	}
	defer viewer.Close()
	for _, sum := range []*fields.Amount{out.Gross, out.Net, out.Tax} {
		if sum == nil || sum.Box == nil || sum.Page < 1 || sum.Page > len(r.doc.Pages) {
			continue
		}
		// OCR errs, but not twice in the same way on what it sees in another resolution.
		first, err := r.shown(ctx, viewer, *sum, sharp)
		if err != nil || first == "" || sameFigures(first, sum.Text) {
			continue
		}
		if again, err := r.shown(ctx, viewer, *sum, lessSharp); err != nil || !sameFigures(first, again) {
			continue
		}
		out.Net, out.Tax, out.Gross = nil, nil, nil
		out.Findings = append(out.Findings, fields.Finding{Rule: "figures-contradict", Place: fields.Gross, Page: sum.Page, Box: sum.Box,
			Message: fmt.Sprintf("%s is drawn where the text of the file says %s: no sum is stated", first, sum.Text)})
		return out
	}
	return out
}

// shown is the sum that OCR reads where a sum is drawn; empty where it isn't plain.
func (r *reading) shown(ctx context.Context, viewer *drawn.File, sum fields.Amount, dpi int) (string, error) {
	page := r.doc.Pages[sum.Page-1]
	picture, err := viewer.Page(ctx, sum.Page-1, page.Width, page.Height, float64(dpi))
	if err != nil {
		return "", err
	}
	line, err := ocr.Line(ctx, r.opts.OCR, cut(picture, *sum.Box, dpi), dpi)
	if err != nil {
		return "", err
	}
	found := clean.FindStringSubmatch(line)
	if found == nil {
		return "", nil
	}
	return strings.ReplaceAll(found[1], " ", ""), nil
}

func sameFigures(a, b string) bool { return strings.Map(onlyFigures, a) == strings.Map(onlyFigures, b) }

// cut is the part of a drawn page around a box.
func cut(page *image.Gray, b fields.Box, dpi int) *image.Gray {
	margin := around * float64(dpi) / 72
	w, h := float64(page.Rect.Dx()), float64(page.Rect.Dy())
	part := image.Rect(int(b.Left*w-margin), int(b.Top*h-margin), int(b.Right*w+margin), int(b.Bottom*h+margin)).Intersect(page.Rect)
	out := image.NewGray(image.Rect(0, 0, part.Dx(), part.Dy()))
	for y := range part.Dy() {
		copy(out.Pix[y*out.Stride:][:part.Dx()], page.Pix[(part.Min.Y+y)*page.Stride+part.Min.X:])
	}
	return out
}
