package invoice

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/text"
)

const (
	maxAttachments = 64       // looked at
	maxAttachment  = 16 << 20 // bytes of one, unpacked
	maxMetadata    = 4 << 20
)

var errContainer = errors.New("the pdf says it carries an e-invoice, its container is faulty")

// embedded is the e-invoice of a file.
type embedded struct {
	einvoice.Document
	name string
}

// embedded finds the e-invoice among the attachments by its root element. nil
// without an error: there is none.
func (r *reading) embedded() (*embedded, error) {
	claimed := r.claimsEInvoice()
	var found *embedded
	for _, a := range r.file.Attachments(maxAttachments) {
		data, err := r.file.Unpack(a.Stream, maxAttachment)
		if err != nil {
			if errors.Is(err, pdf.ErrBudget) {
				return nil, fmt.Errorf("unpacking attachment %q: %w", a.Name, err)
			}
			continue
		}
		if !einvoice.Is(data) {
			continue
		}
		doc, err := einvoice.Read(data)
		if err != nil && found != nil {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("attachment %q: %w", a.Name, err)
		}
		e := &embedded{Document: doc, name: a.Name}
		if found != nil {
			if !sameInvoice(found, e) {
				return nil, fmt.Errorf("%w: attachments %q and %q are different invoices", errContainer, found.name,
					e.name)
			}
			continue
		}
		found = e
		if !claimed {
			continue
		}
		if err := r.checkContainer(e, a); err != nil {
			return nil, err
		}
		if !standardName(a.Name) {
			e.finds("container-name", "attachment %q should be called factur-x.xml, xrechnung.xml or zugferd-invoice.xml", a.Name)
		}
	}
	if found != nil {
		return found, nil
	}
	if claimed {
		return nil, fmt.Errorf("%w: there is no xml", errContainer)
	}
	return nil, r.budget.Err()
}

// finds adds what is worth a look about how the e-invoice is attached.
func (e *embedded) finds(rule, format string, args ...any) {
	e.Findings = append(e.Findings, fields.Finding{Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// sameInvoice reports whether two e-invoices state the same, as when a file is
// attached in two formats.
func sameInvoice(a, b *embedded) bool {
	return a.Number.Value == b.Number.Value && a.Gross.Value == b.Gross.Value
}

func standardName(name string) bool {
	switch strings.ToLower(name) {
	case "factur-x.xml", "xrechnung.xml", "zugferd-invoice.xml":
		return true
	}
	return false
}

func (r *reading) attachmentReason(err error) Reason {
	if errors.Is(err, einvoice.ErrFaulty) || errors.Is(err, errContainer) {
		return FaultyEInvoice
	}
	return reasonOf(err)
}

// claimsEInvoice reports whether the XMP metadata calls the file a Factur-X or
// ZUGFeRD 2 invoice. ZUGFeRD 1 and other uses of PDF/A-3 claim nothing here.
func (r *reading) claimsEInvoice() bool {
	s := r.file.Stream(r.file.Root()["Metadata"])
	if s == nil {
		return false
	}
	xmp, err := r.file.Unpack(s, maxMetadata)
	if err != nil {
		return false
	}
	text := string(xmp)
	return strings.Contains(text, "urn:factur-x:pdfa:CrossIndustryDocument:invoice") &&
		strings.Contains(text, "DocumentType") && !strings.Contains(text, ">ORDER")
}

// checkContainer checks how the XML is attached (Factur-X 1.0, 6.2): as an
// associated file of the PDF, with a relationship.
func (r *reading) checkContainer(e *embedded, a pdf.Attachment) error {
	root := r.file.Root()
	if r.file.Resolve(root["AF"]) == nil {
		return fmt.Errorf("%w: the catalog has no /AF", errContainer)
	}
	relationship := r.file.Name(a.Spec["AFRelationship"])
	switch relationship {
	case "":
		return fmt.Errorf("%w: attachment %q has no /AFRelationship", errContainer, a.Name)
	case "Data", "Alternative":
	default:
		e.finds("container-relationship", "attachment %q has the relationship %s, it should be Data or Alternative", a.Name, relationship)
	}
	if len(r.file.Array(root["OutputIntents"])) == 0 {
		e.finds("container-pdfa", "the pdf is no pdf/a-3: it has no output intent")
	}
	return nil
}

// withXML returns the values of the e-invoice and warns where the page differs.
func (r *reading) withXML(e *embedded, doc text.Document, pageRead bool) Result {
	out := Result{Status: OK, Invoice: e.Invoice, Findings: e.Findings}
	if !pageRead || doc.Glyphs < minGlyphs {
		return out
	}
	kind, seen, _ := r.pages.Read(doc, r.opts.Own)
	if kind == page.NotAnInvoice || kind == page.SeveralInvoices {
		return out
	}
	differs := func(name string, on fields.Evidence, value, format string, args ...any) {
		out.Possible = append(out.Possible, fields.Possible{Field: name, Value: value, Evidence: on})
		out.Findings = append(out.Findings, fields.Finding{Rule: "page-differs", Message: fmt.Sprintf(format, args...), Place: name,
			Page: on.Page, Box: on.Box})
	}
	text := func(name string, x, p *fields.Text) {
		if x != nil && p != nil && !sameText(x.Value, p.Value) {
			differs(name, p.Evidence, p.Value, "%s is %q in the e-invoice and %q on page %d", name, x.Value, p.Value, p.Page)
		}
	}
	text(fields.Number, e.Number, seen.Number)
	text(fields.Date, e.Date, seen.Date)
	text(fields.DueDate, e.DueDate, seen.DueDate)
	text(fields.Currency, e.Currency, seen.Currency)
	amount := func(name string, x, p *fields.Amount) {
		if x != nil && p != nil && x.Value != p.Value && x.Value != -p.Value {
			differs(name, p.Evidence, strconv.FormatInt(p.Value, 10), "%s is %d in the e-invoice and %d on page %d", name, x.Value, p.Value,
				p.Page)
		}
	}
	amount(fields.Net, e.Net, seen.Net)
	amount(fields.Tax, e.Tax, seen.Tax)
	amount(fields.Gross, e.Gross, seen.Gross)
	return out
}

func sameText(a, b string) bool {
	strip := func(s string) string {
		return strings.Map(func(c rune) rune {
			if strings.ContainsRune(" .-/_", c) {
				return -1
			}
			return c
		}, strings.ToLower(s))
	}
	return strip(a) == strip(b)
}
