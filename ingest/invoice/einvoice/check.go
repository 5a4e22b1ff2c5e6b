package einvoice

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/currency"

	"tallyhouse/ingest/invoice/fields"
)

// decimal reads an XML decimal exactly; nil when it is none.
func decimal(s string) *big.Rat {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 40 || strings.Trim(s, "+-.0123456789") != "" {
		return nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil
	}
	return r
}

// maxMinor bounds an amount in minor units: a quadrillion.
const maxMinor = 1_000_000_000_000_000

// minor returns an amount in minor units; false when it does not fit exactly.
func minor(s string, exponent int) (int64, bool) {
	r := decimal(s)
	if r == nil {
		return 0, false
	}
	for range exponent {
		r.Mul(r, big.NewRat(10, 1))
	}
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	n := r.Num().Int64()
	return n, n <= maxMinor && n >= -maxMinor
}

// checker collects what is wrong with an e-invoice.
type checker struct {
	faults   []fields.Finding
	warnings []fields.Finding
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, finding(fmt.Sprintf(format, args...)))
}

// add takes in what the rules of EN 16931 found, less the rules that are told already.
func (c *checker) add(faults, others []fields.Finding) {
	told := map[string]bool{}
	for _, f := range slices.Concat(c.faults, c.warnings) {
		told[f.Rule] = true
	}
	untold := func(found []fields.Finding) []fields.Finding {
		return slices.DeleteFunc(found, func(f fields.Finding) bool { return told[f.Rule] })
	}
	c.faults = append(c.faults, untold(faults)...)
	c.warnings = append(c.warnings, untold(others)...)
}

func (c *checker) warn(format string, args ...any) {
	c.warnings = append(c.warnings, finding(fmt.Sprintf(format, args...)))
}

// ruleID is the id of the rule that a message ends with.
var ruleID = regexp.MustCompile(`\(([A-Z]+-[A-Z0-9-]+)\)$`)

// lineNumber is the line of the invoice that a message begins with.
var lineNumber = regexp.MustCompile(`^line [0-9]+`)

func finding(message string) fields.Finding {
	f := fields.Finding{Rule: "einvoice-unusual", Message: message, Place: lineNumber.FindString(message)}
	if id := ruleID.FindStringSubmatch(message); id != nil {
		f.Rule = id[1]
	}
	return f
}

// Faulty is the error of an e-invoice that contradicts itself or lacks what an invoice must have. It wraps ErrFaulty.
type Faulty struct{ Findings []fields.Finding }

// Error has the first faults on one line.
func (f *Faulty) Error() string {
	const most = 5
	var messages []string
	for _, found := range f.Findings[:min(most, len(f.Findings))] {
		messages = append(messages, found.Message)
	}
	if more := len(f.Findings) - most; more > 0 {
		messages = append(messages, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s: %s", strings.Join(messages, "; "), ErrFaulty)
}

func (f *Faulty) Unwrap() error { return ErrFaulty }

var countryPrefix = regexp.MustCompile(`^[A-Z]{2}`)

// document checks the raw values: by all rules of EN 16931 where the invoice says that it follows them, else by those that decide
// whether the fields can be believed.
func (r raw) document() (Document, error) {
	var c checker
	doc := Document{Format: r.format, TypeCode: r.kind}
	text := func(value, rule string) *fields.Text {
		if value == "" {
			return nil
		}
		return &fields.Text{Value: value, Evidence: fields.Evidence{Text: value, Rule: rule, Confidence: 1}}
	}
	rule := string(r.format) + " e-invoice"
	if r.guideline == "" && (r.format == CII || r.format == ZUGFeRD) {
		c.fault("no guideline id (BR-01)")
	}
	for _, must := range []struct{ value, name string }{{r.number, "number (BR-02)"},
		{r.issued, "issue date (BR-03)"}, {r.currency, "currency (BR-05)"}, {r.seller.name, "seller name (BR-06)"},
		{r.gross, "gross total (BR-14)"}} {
		if must.value == "" {
			c.fault("no %s", must.name)
		}
	}
	doc.Number, doc.SupplierName = text(r.number, rule), text(r.seller.name, rule)
	doc.SupplierTaxID = text(strings.ReplaceAll(r.seller.vatID, " ", ""), rule)
	if doc.SupplierTaxID == nil {
		doc.SupplierTaxID = text(r.seller.taxNumber, rule)
	}
	if r.kind == "" {
		r.deviation(&c, "no type code (BR-04)")
	} else if !invoiceType(r.kind) {
		c.warn("type code %q is none of invoices (BR-CL-01)", r.kind)
	}
	if id := r.seller.vatID; id != "" && !countryPrefix.MatchString(id) {
		r.deviation(&c, "seller VAT id %q begins with no country (BR-CO-09)", id)
	}
	r.checkDates(&c, &doc, rule)
	exponent := fields.Exponent(r.currency)
	if _, err := currency.ParseISO(r.currency); err == nil && strings.ToUpper(r.currency) == r.currency {
		doc.Currency = text(r.currency, rule)
	} else if r.currency != "" {
		c.fault("currency %q is no ISO 4217 code (BR-CL-04)", r.currency)
	}
	r.readSums(&c, &doc, exponent, rule)
	if r.followsEN16931() {
		c.add(r.breaches())
	} else {
		r.checkSums(&c)
		r.checkTaxes(&c)
		r.checkItems(&c)
	}
	doc.Findings = c.warnings
	if len(c.faults) > 0 {
		return Document{}, &Faulty{Findings: append(c.faults, c.warnings...)}
	}
	r.sign(&doc)
	return doc, nil
}

func (r raw) checkDates(c *checker, doc *Document, rule string) {
	set := func(s, name string) *fields.Text {
		if s == "" {
			return nil
		}
		d, ok := day(s)
		if iso := r.format == UBL || r.format == EbInterface; !ok || !iso && strings.Contains(s, "-") {
			c.fault("%s %q is no date, or not in its format (CII-DT-097)", name, s)
			return nil
		}
		return &fields.Text{Value: d, Evidence: fields.Evidence{Text: s, Rule: rule, Confidence: 1}}
	}
	doc.Date, doc.DueDate = set(r.issued, "issue date"), set(r.dueDay, "due date")
	if doc.Date != nil && doc.DueDate != nil && doc.DueDate.Value < doc.Date.Value {
		// A fault by the French rules only; elsewhere a debit may have come first.
		if strings.HasPrefix(r.seller.vatID, "FR") {
			c.fault("due date %s is before the issue date %s (BR-FR-CO-07)", doc.DueDate.Value, doc.Date.Value)
		} else {
			c.warn("due date %s is before the issue date %s", doc.DueDate.Value, doc.Date.Value)
		}
	}
}

func (r raw) readSums(c *checker, doc *Document, exponent int, rule string) {
	set := func(s, name, rounded string) *fields.Amount {
		if s == "" {
			return nil
		}
		v, ok := minor(s, exponent)
		if !ok {
			c.fault("%s %q is no amount of %s (%s)", name, s, r.currency, rounded)
			return nil
		}
		return &fields.Amount{Value: v, Evidence: fields.Evidence{Text: s, Rule: rule, Confidence: 1}}
	}
	doc.Net, doc.Tax = set(r.net, "net total", "BR-DEC-12"), set(r.tax, "tax total", "BR-DEC-13")
	doc.Gross = set(r.gross, "gross total", "BR-DEC-14")
	if doc.Tax == nil && doc.Net != nil && doc.Gross != nil && doc.Net.Value == doc.Gross.Value {
		doc.Tax = &fields.Amount{Evidence: fields.Evidence{Rule: rule, Confidence: 1}}
	}
	if doc.Net != nil && doc.Tax != nil && doc.Gross != nil && doc.Net.Value+doc.Tax.Value != doc.Gross.Value {
		c.fault("net %s + tax %s is not gross %s (BR-CO-15)", r.net, r.tax, r.gross)
	}
}

// checkSums, checkTaxes and checkItems hold invoices that don't follow EN 16931 as a whole against those of its rules that decide
// whether the sums can be believed.
func (r raw) checkSums(c *checker) {
	if len(r.items) > 0 || r.format == ZUGFeRD {
		if differs(r.net, r.lines, r.charges, r.allowances) {
			r.deviation(c, "lines %s less allowances plus charges are not net %s (BR-CO-13)", r.lines, r.net)
		}
	}
	if len(r.items) > 0 || r.prepaid != "" {
		if differs(r.payable, r.gross, r.rounding, r.prepaid) {
			r.deviation(c, "gross %s less prepaid is not payable %s (BR-CO-16)", r.gross, r.payable)
		}
	}
}

// differs reports whether a total is stated and is not base + more - less, of
// which the last two may be missing.
func differs(total, base, more, less string) bool {
	stated, sum := decimal(total), decimal(base)
	if stated == nil || sum == nil {
		return false
	}
	want := new(big.Rat).Set(sum)
	if v := decimal(more); v != nil {
		want.Add(want, v)
	}
	if v := decimal(less); v != nil {
		want.Sub(want, v)
	}
	return want.Cmp(stated) != 0
}

// invoiceType reports whether a code of UNTDID 1001 is one that EN 16931 allows for
// invoices and credit notes. 875, 876 and 877 are partial, partial final and final
// construction invoices, 389 is what a buyer issues for the seller.
func invoiceType(code string) bool {
	switch code {
	case "71", "80", "81", "82", "83", "84", "102", "130", "202", "203", "204", "211", "218", "219", "261", "262", "295",
		"296", "308", "325", "326", "331", "380", "381", "382", "383", "384", "385", "386", "387", "388", "389", "390",
		"393", "394", "395", "396", "420", "456", "457", "458", "471", "472", "473", "500", "501", "502", "503", "527",
		"532", "553", "575", "623", "633", "751", "780", "817", "870", "875", "876", "877", "935":
		return true
	}
	return false
}

// deviation is a fault by EN 16931, which ZUGFeRD 1 and ebInterface do not follow.
func (r raw) deviation(c *checker, format string, args ...any) {
	if r.format == ZUGFeRD || r.format == EbInterface {
		c.warn(format, args...)
	} else {
		c.fault(format, args...)
	}
}

// cent is how far a tax may be from base times rate, per line of the breakdown.
var cent = big.NewRat(1, 100)

func (r raw) checkTaxes(c *checker) {
	seen := map[string]bool{}
	total := new(big.Rat)
	complete := len(r.breakdown) > 0
	for _, t := range r.breakdown {
		rate, base, tax := decimal(t.rate), decimal(t.base), decimal(t.tax)
		if tax != nil {
			total.Add(total, tax)
		} else {
			complete = false
		}
		if rate != nil {
			key := t.category + " " + rate.RatString()
			if seen[key] && (r.format == CII || r.format == UBL) {
				c.fault("rate %s %s%% twice in the breakdown (BR-S-08)", t.category, t.rate)
			}
			seen[key] = true
		}
		if rate != nil && base != nil && tax != nil {
			want := new(big.Rat).Mul(base, rate)
			want.Quo(want, big.NewRat(100, 1))
			diff := want.Sub(want, tax)
			if diff.Abs(diff).Cmp(cent) > 0 {
				r.deviation(c, "tax %s is not %s%% of %s (BR-CO-17)", t.tax, t.rate, t.base)
			}
		}
		if t.category == "S" && r.seller.vatID == "" && r.seller.taxNumber == "" {
			r.deviation(c, "taxed, but the seller has no tax id (BR-S-02)")
		}
	}
	if tax := decimal(r.tax); complete && tax != nil && total.Cmp(tax) != 0 {
		r.deviation(c, "taxes of the breakdown are not tax %s (BR-CO-14)", r.tax)
	}
}

func (r raw) checkItems(c *checker) {
	total := new(big.Rat)
	complete := len(r.items) > 0
	for _, item := range r.items {
		if net := decimal(item.net); net != nil {
			total.Add(total, net)
		} else {
			complete = false
		}
	}
	// In the extended profile lines may be groups of others, or mere notes.
	if lines := decimal(r.lines); complete && lines != nil && total.Cmp(lines) != 0 &&
		!strings.Contains(r.guideline, "extended") {
		r.deviation(c, "net amounts of the lines are not line total %s (BR-CO-10)", r.lines)
	}
	for i, item := range r.items {
		if price := decimal(item.price); price != nil && price.Sign() < 0 {
			c.fault("line %d: net price %s is negative (BR-27)", i+1, item.price)
		}
		if item.net == "" {
			continue
		}
		if _, ok := minor(item.net, max(2, fields.Exponent(r.currency))); !ok {
			c.fault("line %d: net amount %q has more than two decimals (BR-DEC-23)", i+1, item.net)
		}
	}
}

// sign makes credit notes negative. Their types state positive amounts, and by the rules of EN 16931 some programs state
// negative ones, which mean the same; in ebInterface a negative credit note is an invoice.
func (r raw) sign(doc *Document) {
	if !creditNote(r.kind) || doc.Gross.Value < 0 && r.format != EbInterface {
		return
	}
	for _, a := range []*fields.Amount{doc.Net, doc.Tax, doc.Gross} {
		if a != nil {
			a.Value = -a.Value
		}
	}
}

// creditNote reports whether a code of UNTDID 1001 is that of a credit note.
func creditNote(code string) bool {
	switch code {
	case "381", "81", "261", "262", "296", "308", "420", "458", "532", "396", "83":
		return true
	}
	return false
}
