package invoice

import (
	"errors"
	"fmt"
	"image"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/iban"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/paymentcode"
	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/qr"
	"tallyhouse/ingest/invoice/text"
)

// Bounds of the search for codes of payments.
const (
	maxCodePictures = 16
	maxCodePixels   = 6_000_000 // of all pictures together
	maxAccounts     = 16        // that the pages name
	pixelsAtOnce    = 8         // pixels that cost one operation
	// agreeing is how certain a value is that both the page and a code say.
	agreeing = 0.95
)

// byCode is the rule of values that a code of a payment decides among those on the page.
const byCode = "payment code"

// coded is a payment that a page's code asks for.
type coded struct {
	paymentcode.Payment
	page int
}

// withCodes compares what was read of the pages with what their codes ask to be paid. A code alone states nothing: it can
// hold anything, and nobody sees what.
func (r *reading) withCodes(out Result, pages []text.Page, said text.Document) Result {
	if out.Status != OK {
		return out
	}
	payments, findings := r.payments(pages)
	out.Findings = append(out.Findings, findings...)
	for _, p := range payments {
		out.Findings = append(out.Findings, p.compare(&out.Invoice, said)...)
	}
	return out
}

// payments reads the codes on the pages, in pictures and of rectangles.
func (r *reading) payments(pages []text.Page) (all []coded, findings []fields.Finding) {
	look := func(g *image.Gray, page int) {
		for _, found := range qr.Find(g) {
			payment, err := paymentcode.Parse(found)
			switch {
			case errors.Is(err, paymentcode.ErrFaulty):
				findings = append(findings, fields.Finding{Rule: "payment-code-faulty", Message: err.Error(), Page: page})
			case err == nil:
				all = append(all, coded{payment, page})
			}
		}
	}
	seen := map[*pdf.Stream]bool{}
	looked, pixels := 0, 0
	// affordable reports whether a picture of so many pixels is within the bounds; over: nothing is any more.
	affordable := func(size int) (yes, over bool) {
		if pixels+size > maxCodePixels {
			return false, false
		}
		if looked == maxCodePictures || r.file.Spend(size/pixelsAtOnce) != nil {
			return false, true
		}
		looked++
		pixels += size
		return true, false
	}
	for _, p := range pages {
		for _, m := range p.Mosaics {
			width, height := m.Size()
			yes, over := affordable(width * height)
			if over {
				return all, findings
			}
			if yes {
				look(m.Picture(), p.Number)
			}
		}
		for _, picture := range p.Pictures {
			if seen[picture.Stream] {
				continue
			}
			d := picture.Stream.Dict
			yes, over := affordable(int(min(max(r.file.Int(d["Width"], 0), 0)*max(r.file.Int(d["Height"], 0), 0), maxCodePixels+1)))
			if over {
				return all, findings
			}
			if !yes {
				continue
			}
			seen[picture.Stream] = true
			gray, err := ocr.Decode(r.file, picture.Stream)
			if err != nil || gray.Rect.Dx()*gray.Rect.Dy() > maxCodePixels {
				continue // another picture, or one for OCR to complain of
			}
			look(gray, p.Number)
		}
	}
	return all, findings
}

// compare lets what the code and the page agree on count for more, and finds where they differ.
func (c coded) compare(f *fields.Invoice, said text.Document) []fields.Finding {
	var findings []fields.Finding
	differs := func(place, format string, args ...any) {
		findings = append(findings, fields.Finding{Rule: "payment-code-differs", Place: place, Page: c.page,
			Message: "the " + c.Scheme + " " + fmt.Sprintf(format, args...)})
	}
	sameTotal := f.Gross != nil && c.Amount == f.Gross.Value
	switch {
	case sameTotal && f.Currency != nil && f.Currency.Value != c.Currency:
		differs(fields.Currency, "asks for %s, the page for %s", c.Currency, f.Currency.Value)
	case sameTotal:
		f.Gross.Confidence = max(f.Gross.Confidence, agreeing)
		if f.Currency == nil {
			f.Currency = &fields.Text{Value: c.Currency,
				Evidence: fields.Evidence{Page: c.page, Text: c.Scheme + " " + c.Currency, Rule: byCode, Confidence: agreeing}}
		}
	case c.Amount > 0 && !prints(said, strconv.FormatInt(c.Amount, 10)):
		// What is left to pay, or less a discount, is printed somewhere.
		differs(fields.Gross, "asks for %s %d.%02d, which isn't on the page", c.Currency, c.Amount/100, c.Amount%100)
	}
	if known := accounts(said); len(known) > 0 && !slices.Contains(known, c.IBAN) {
		differs("", "pays to %s, the page names %s", c.IBAN, strings.Join(known, ", "))
	}
	c.confirm(f, &f.SupplierName, fields.SupplierName, func(value string) bool { return sameName(value, c.Payee) })
	c.confirm(f, &f.DueDate, fields.DueDate, func(value string) bool { return value == c.Due })
	return findings
}

// confirm states a field that isn't certain where a value that the page offers for it is the code's.
func (c coded) confirm(f *fields.Invoice, stated **fields.Text, field string, same func(string) bool) {
	if *stated != nil {
		if same((*stated).Value) {
			(*stated).Confidence = max((*stated).Confidence, agreeing)
		}
		return
	}
	for i, p := range f.Possible {
		if p.Field == field && same(p.Value) {
			e := p.Evidence
			e.Rule, e.Confidence = byCode, agreeing
			*stated = &fields.Text{Value: p.Value, Evidence: e}
			f.Possible = slices.Delete(f.Possible, i, i+1)
			return
		}
	}
}

// sameName reports whether a name on the page is the payee's, which may be cut off.
func sameName(value, payee string) bool {
	a, b := page.Key(value), page.Key(payee)
	return len(a) >= 4 && len(b) >= 4 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

var printedFigures = regexp.MustCompile(`\d[\d .,'’]*`)

// prints reports whether figures are on the pages, however they are grouped.
func prints(doc text.Document, figures string) bool {
	return slices.ContainsFunc(texts(doc), func(line string) bool {
		return slices.ContainsFunc(printedFigures.FindAllString(line, -1), func(found string) bool {
			return strings.Map(onlyFigures, found) == figures
		})
	})
}

func onlyFigures(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

// accounts are the IBANs on the pages.
func accounts(doc text.Document) []string {
	var out []string
	for _, cell := range texts(doc) {
		for _, account := range iban.In(cell) {
			if !slices.Contains(out, account) && len(out) < maxAccounts {
				out = append(out, account)
			}
		}
	}
	return out
}

// texts are what stands in the cells of the pages.
func texts(doc text.Document) []string {
	var out []string
	for _, p := range doc.Pages {
		for _, line := range p.Lines {
			for _, cell := range line.Cells {
				out = append(out, cell.Text)
			}
		}
	}
	return out
}
