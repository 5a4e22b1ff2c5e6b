// Package invoice reads invoices into fields: of PDFs the embedded e-invoice first,
// else the text of the pages, else, for scans, what tesseract makes of them; and
// e-invoices that are XML alone.
//
// They come by mail from anybody. Read bounds its work by Limits. Package isolated
// reads a file in a child process, where it cannot harm the caller at all.
package invoice

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/text"
)

// Status says whether the file was read.
type Status string

// The states of a Result.
const (
	OK     Status = "ok"
	Failed Status = "failed"
)

// Reason says why a file was not read.
type Reason string

// The reasons of failed results.
const (
	NotAPDF         Reason = "not-a-pdf"        // no %PDF header, and no e-invoice
	Encrypted       Reason = "encrypted"        // a password is needed
	Broken          Reason = "broken"           // cut off or without a readable structure
	NoPages         Reason = "no-pages"         // a PDF without pages
	NoText          Reason = "no-text"          // neither text nor a picture to read
	NotAnInvoice    Reason = "not-an-invoice"   // a quote, an order, a letter …
	SeveralInvoices Reason = "several-invoices" // one after the other in one file
	FaultyEInvoice  Reason = "faulty-einvoice"  // the e-invoice contradicts itself or its container
	TooLarge        Reason = "too-large"        // more bytes than Limits.Bytes
	TooManyPages    Reason = "too-many-pages"   // more pages than Limits.Pages
	TooMuchWork     Reason = "too-much-work"    // more operations, glyphs or unpacked bytes than allowed
	Timeout         Reason = "timeout"          // not read within Limits.Time
	OCRMissing      Reason = "ocr-missing"      // a scan, and tesseract is not installed
	OCROff          Reason = "ocr-off"          // a scan, and OCR is turned off
	OCRFailed       Reason = "ocr-failed"       // a scan that tesseract cannot read
	Crashed         Reason = "crashed"          // the reader panicked, or its child process ended without a result
	NeedsPictures   Reason = "needs-pictures"   // Options.Light leaves it to be read again without it
)

var reasons = []Reason{NotAPDF, Encrypted, Broken, NoPages, NoText, NotAnInvoice, SeveralInvoices, FaultyEInvoice, TooLarge,
	TooManyPages, TooMuchWork, Timeout, OCRMissing, OCROff, OCRFailed, Crashed, NeedsPictures}

// Limits bound the work on one file. The zero value of a field stands for its
// default.
type Limits struct {
	Bytes      int64         // of the file; default 25 MiB
	Pages      int           // default 100
	Operations int64         // objects, operators and glyphs; default 20 million
	Unpacked   int64         // bytes unpacked in all; default 192 MiB
	Time       time.Duration // without OCR, which has its own; default 10 s
}

// Options configure Read.
type Options struct {
	// Own is the company that receives the invoices.
	Own page.Own
	// NoXML reads the page alone.
	NoXML bool
	// NoOCR leaves scans unread.
	NoOCR bool
	// OCR is how tesseract is called.
	OCR ocr.Options
	// Light reads no file that needs pictures of its pages: OCR, or a comparison with what is drawn.
	Light  bool
	Limits Limits
}

// Defaults of Limits that others need to know.
const (
	DefaultBytes = 25 << 20
	DefaultTime  = 10 * time.Second
)

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = DefaultBytes
	}
	if l.Pages == 0 {
		l.Pages = 100
	}
	if l.Operations == 0 {
		l.Operations = 20_000_000
	}
	if l.Unpacked == 0 {
		l.Unpacked = 192 << 20
	}
	if l.Time == 0 {
		l.Time = DefaultTime
	}
	return l
}

// Result is what was read of one file. Fields that are not certain are nil.
type Result struct {
	File   string
	Status Status
	Reason Reason // of a failed result
	Detail string // the reason in words
	fields.Invoice
	// Findings name what is worth a look: faults of an e-invoice, values that differ
	// between it and the page.
	Findings []fields.Finding
}

// Warnings are the messages of the findings.
func (r Result) Warnings() []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Message)
	}
	return all
}

// Reader reads invoices. It may be used by several goroutines.
type Reader struct{ pages *page.Reader }

// NewReader returns a Reader of all languages. An error means that the words
// built into the program are faulty.
func NewReader() (*Reader, error) {
	pages, err := page.NewReader()
	if err != nil {
		return nil, err
	}
	return &Reader{pages: pages}, nil
}

// Read reads one file: a PDF or, unless Options.NoXML says otherwise, the XML of an
// e-invoice. It always returns a Result; see Reason for what can fail.
func (r *Reader) Read(ctx context.Context, data []byte, opts Options) Result {
	result, _ := r.read(ctx, data, opts)
	return result.bounded()
}

// Explain is Read with the text of the pages that the result was read from; none when it could not be had.
func (r *Reader) Explain(ctx context.Context, data []byte, opts Options) (Result, text.Document) {
	result, doc := r.read(ctx, data, opts)
	return result.bounded(), doc
}

func (r *Reader) read(ctx context.Context, data []byte, opts Options) (result Result, doc text.Document) {
	defer func() {
		// A fault of the reader that a file triggers must not end the program.
		if fault := recover(); fault != nil {
			result = Failure(Crashed, fmt.Errorf("reader panicked: %v", fault))
		}
	}()
	limits := opts.Limits.withDefaults()
	if int64(len(data)) > limits.Bytes {
		return Failure(TooLarge, fmt.Errorf("file has %d bytes, %d are allowed", len(data), limits.Bytes)), doc
	}
	if !opts.NoXML && einvoice.Is(data) {
		return readXML(data), doc
	}
	budget := pdf.NewBudget(limits.Unpacked, limits.Operations)
	limited, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	file, err := pdf.Open(limited, data, budget)
	if err != nil {
		return Failure(reasonOf(err), err), doc
	}
	one := reading{pages: r.pages, file: file, budget: budget, opts: opts, limits: limits}
	out, scan := one.read(limited)
	if scan == nil {
		return one.asDrawn(ctx, out), one.doc
	}
	// OCR has a time limit of its own; the file's structure was read by now.
	return one.scan(ctx, *scan), one.doc
}

// readXML reads an e-invoice that no PDF goes with.
func readXML(data []byte) Result {
	doc, err := einvoice.Read(data)
	if err != nil {
		return Failure(FaultyEInvoice, err)
	}
	return Result{Status: OK, Invoice: doc.Invoice, Findings: doc.Findings}
}

func reasonOf(err error) Reason {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Timeout
	case errors.Is(err, pdf.ErrBudget):
		return TooMuchWork
	case errors.Is(err, pdf.ErrNotPDF):
		return NotAPDF
	case errors.Is(err, pdf.ErrEncrypted):
		return Encrypted
	case errors.Is(err, pdf.ErrTooManyPages):
		return TooManyPages
	case errors.Is(err, ocr.ErrMissing):
		return OCRMissing
	case errors.Is(err, ocr.ErrNoPicture):
		return NoText
	case errors.Is(err, ocr.ErrFailed):
		return OCRFailed
	}
	return Broken
}

// reading is the reading of one file.
type reading struct {
	pages  *page.Reader
	file   *pdf.File
	budget *pdf.Budget
	opts   Options
	limits Limits
	doc    text.Document // what the pages say, once they are read
}

// minGlyphs is the least text that can be an invoice.
const minGlyphs = 40

// maxStamp is how much text may stand on a scan that it says nothing of: a stamp of what came in, a number of an archive.
const maxStamp = 400

// scanned is what OCR needs of a file without text.
type scanned struct {
	pages []pdf.Page
	texts []text.Page
}

func (r *reading) read(ctx context.Context) (Result, *scanned) {
	var xml *embedded
	if !r.opts.NoXML {
		var err error
		if xml, err = r.embedded(); err != nil {
			return Failure(r.attachmentReason(err), err), nil
		}
	}
	pages, err := r.file.Pages(r.limits.Pages)
	if err != nil && xml == nil {
		return Failure(reasonOf(err), err), nil
	}
	if len(pages) == 0 && xml == nil {
		return Failure(NoPages, errors.New("the page tree has no page")), nil
	}
	doc, err := text.Read(ctx, r.file, r.budget, pages)
	r.doc = doc
	if err != nil && xml == nil {
		return Failure(reasonOf(err), err), nil
	}
	if xml != nil {
		return r.withXML(xml, doc, err == nil), nil
	}
	if doc.Glyphs < minGlyphs || doc.Unmapped > doc.Glyphs {
		return Result{}, &scanned{pages: pages, texts: doc.Pages}
	}
	out := r.page(doc)
	if out.Reason == NotAnInvoice && doc.Glyphs < maxStamp && pictured(doc.Pages) {
		return Result{}, &scanned{pages: pages, texts: doc.Pages}
	}
	return r.withCodes(out, doc.Pages, doc), nil
}

// pictured reports whether a picture covers most of a page.
func pictured(pages []text.Page) bool {
	return slices.ContainsFunc(pages, func(p text.Page) bool {
		return slices.ContainsFunc(p.Pictures, func(picture text.Picture) bool {
			m := picture.Matrix
			return math.Abs(m[0]*m[3]-m[1]*m[2]) >= 0.6*p.Width*p.Height
		})
	})
}

// page reads the text of the pages.
func (r *reading) page(doc text.Document) Result {
	kind, values, findings := r.pages.Read(doc, r.opts.Own)
	if kind == page.NotAnInvoice {
		return Failure(NotAnInvoice, errors.New("the text has no title, number and total of an invoice"))
	}
	if kind == page.SeveralInvoices {
		return Failure(SeveralInvoices, errors.New("the pages hold several invoices; each needs a file of its own"))
	}
	out := Result{Status: OK, Invoice: values, Findings: findings}
	if doc.Doubtful > 0 {
		// What viewers draw isn't known, so no sum is.
		out.Net, out.Tax, out.Gross = nil, nil, nil
		out.Findings = append(out.Findings, fields.Finding{Rule: "figures-contradict", Place: fields.Gross,
			Message: fmt.Sprintf("%d figures are drawn as others than the text of the file says: no sum is stated", doc.Doubtful)})
	}
	if doc.Unseen > 0 {
		out.Findings = append(out.Findings, fields.Finding{Rule: "unseen-figures",
			Message: fmt.Sprintf("%d figures were not read: they cannot be seen on the pages", doc.Unseen)})
	}
	return out
}

// errPictures is why a file isn't read by Options.Light.
var errPictures = errors.New("pictures of its pages are needed")

// scan reads pictures of pages by OCR.
func (r *reading) scan(ctx context.Context, s scanned) Result {
	pictures := 0
	for _, p := range s.texts {
		pictures += len(p.Pictures)
	}
	if pictures == 0 {
		return Failure(NoText, ocr.ErrNoPicture)
	}
	if r.opts.NoOCR {
		return Failure(OCROff, errors.New("the pages are pictures and ocr is turned off"))
	}
	if r.opts.Light {
		return Failure(NeedsPictures, errPictures)
	}
	doc, missing, err := ocr.Read(ctx, r.file, s.pages, s.texts, r.opts.OCR)
	if err != nil {
		return Failure(reasonOf(err), err)
	}
	r.doc = doc
	out := r.page(doc)
	if missing != "" {
		out.Findings = append(out.Findings, fields.Finding{Rule: "ocr-language",
			Message: "the pages are in " + missing + ", of which tesseract has no data: names may lack their accents, and more"})
	}
	return r.withCodes(out, s.texts, doc)
}
