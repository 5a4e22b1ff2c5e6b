// Package known recognises suppliers that a tenant knows among what stands on an invoice
// (docs/invoices.md#suppliers-that-are-known).
package known

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"tallyhouse/ingest/invoice/fields"
)

// Supplier is one that the tenant knows: a contractor, or one that a person has confirmed for an earlier invoice.
type Supplier struct {
	Contractor string // its id; "" where there is none
	Name       string
	TaxID      string // "" where it isn't known
	// IBAN is one of its accounts, Domain that of a sender of its invoices for whom the mailbox's server vouched; "" where
	// they aren't known.
	IBAN, Domain string
	Confirmed    bool
}

// Printed is what may name the supplier on an invoice, as keys.
type Printed struct{ TaxIDs, Names, IBANs []string }

// Suppliers are looked up in the database by keys that it makes itself, so both have one rule, step by step: marks become one
// with their letters, the case is that of whole words (the last sigma of a Greek word differs, an upper ß is SS), and then all
// but letters and figures goes.

// TaxKey is what two spellings of a tax id have in common: its letters and figures.
func TaxKey(id string) string {
	return alphanumeric(cases.Upper(language.Und).String(norm.NFC.String(id)))
}

// NameKey is what two spellings of a name have in common: its letters and figures.
func NameKey(name string) string {
	return alphanumeric(cases.Lower(language.Und).String(norm.NFC.String(name)))
}

func alphanumeric(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, s)
}

const (
	likelyID = 0.5 // what an id scores at least that isn't marked as the buyer's

	// A contractor may be the buyer of another invoice, so its name has to be a likely one. Who was confirmed was a supplier.
	likelyName    = 0.3
	confirmedName = 0.1

	rule           = "known supplier"
	sureByTaxID    = 0.97
	sureByIBAN     = 0.95
	sureByName     = 0.93
	sureByDomain   = 0.9
	shortestOfName = 4 // letters and figures: shorter names stand in other texts, too
)

// PrintedOn is what of an invoice its supplier is looked up by.
func PrintedOn(i fields.Invoice) Printed {
	var p Printed
	for _, id := range candidates(i, fields.SupplierTaxID) {
		if key := TaxKey(id.Value); id.Confidence >= likelyID && !slices.Contains(p.TaxIDs, key) {
			p.TaxIDs = append(p.TaxIDs, key)
		}
	}
	for _, name := range candidates(i, fields.SupplierName) {
		if key := NameKey(name.Value); len(key) >= shortestOfName && !slices.Contains(p.Names, key) {
			p.Names = append(p.Names, key)
		}
	}
	for _, account := range candidates(i, fields.SupplierIBAN) {
		if !slices.Contains(p.IBANs, account.Value) {
			p.IBANs = append(p.IBANs, account.Value)
		}
	}
	return p
}

// candidates are the value of a field and what else it could be.
func candidates(i fields.Invoice, field string) (all []fields.Possible) {
	if value := valueOf(i, field); value != nil {
		all = append(all, *value)
	}
	for _, p := range i.Possible {
		if p.Field == field {
			all = append(all, p)
		}
	}
	return all
}

// valueOf is what a field says, nil when it says nothing.
func valueOf(i fields.Invoice, field string) *fields.Possible {
	if t := *textOf(&i, field); t != nil {
		return &fields.Possible{Field: field, Value: t.Value, Evidence: t.Evidence}
	}
	if a := *amountOf(&i, field); a != nil {
		return &fields.Possible{Field: field, Value: strconv.FormatInt(a.Value, 10), Evidence: a.Evidence}
	}
	return nil
}

// textOf is where the value of a field is kept that is no amount.
func textOf(i *fields.Invoice, field string) **fields.Text {
	var none *fields.Text
	switch field {
	case fields.Number:
		return &i.Number
	case fields.Date:
		return &i.Date
	case fields.DueDate:
		return &i.DueDate
	case fields.SupplierName:
		return &i.SupplierName
	case fields.SupplierTaxID:
		return &i.SupplierTaxID
	case fields.SupplierIBAN:
		return &i.SupplierIBAN
	}
	return &none
}

// amountOf is where an amount is kept.
func amountOf(i *fields.Invoice, field string) **fields.Amount {
	var none *fields.Amount
	switch field {
	case fields.Net:
		return &i.Net
	case fields.Tax:
		return &i.Tax
	case fields.Gross:
		return &i.Gross
	}
	return &none
}

// Recognise states the supplier where what is printed is that of exactly one of the suppliers, by tax id before account before
// name: what the tenant knows outweighs what the page looks like. Where the page is certain of another tax id, or of another
// supplier that the tenant knows as well, nothing changes. A name that a person has confirmed for a tax id is the supplier's,
// whatever is printed. Of suppliers that a person has confirmed the newest come first. domain is that of the mail's sender if
// somebody vouches for it, else "": it says which of several printed names counts, or that an unlikely one does. The
// contractor is the one that the supplier is, "" where that isn't known.
func Recognise(i fields.Invoice, domain string, suppliers []Supplier) (_ fields.Invoice, contractor string) {
	printed := PrintedOn(i)
	is, sure := identify(i, printed, domain, suppliers)
	if is == nil || certain(i.SupplierTaxID) && OtherVATID(i.SupplierTaxID.Value, is.TaxID) {
		return i, ""
	}
	id, identified := find(i, fields.SupplierTaxID, func(v string) bool { return TaxKey(v) == TaxKey(is.TaxID) })
	name, isNamed := find(i, fields.SupplierName, func(v string) bool { return NameKey(v) == NameKey(is.Name) })
	if !identified && is.IBAN != "" {
		id, _ = find(i, fields.SupplierIBAN, func(v string) bool { return v == is.IBAN })
	}
	if identified && id.Confidence >= likelyID {
		i = state(i, id, rule, sure)
	}
	switch {
	case isNamed:
		i = state(i, name, rule, sure)
	case is.Confirmed || !certain(i.SupplierName): // the tax id names it, as a person has said or for want of a name
		i = state(i, fields.Possible{Field: fields.SupplierName, Value: is.Name, Evidence: id.Evidence}, rule, sure)
	}
	return i, is.Contractor
}

// identify finds the one supplier that an invoice is of, and how sure that is.
func identify(i fields.Invoice, printed Printed, domain string, suppliers []Supplier) (*Supplier, float64) {
	if is := only(suppliers, func(s Supplier) bool { return s.TaxID != "" && slices.Contains(printed.TaxIDs, TaxKey(s.TaxID)) }); is != nil {
		return is, sureByTaxID
	}
	// Many are paid by one account, as of a bank that buys their claims, and a buyer is debited from his own: an account doesn't
	// outdo a name.
	unnamed := func(s Supplier) bool {
		return !certain(i.SupplierName) || slices.Contains(printed.Names, NameKey(s.Name))
	}
	is := only(suppliers, func(s Supplier) bool { return s.IBAN != "" && slices.Contains(printed.IBANs, s.IBAN) })
	if is != nil && unnamed(*is) {
		return is, sureByIBAN
	}
	likely := func(s Supplier) bool { return named(i, printed, s) }
	if is := only(suppliers, likely); is != nil {
		return is, sureByName
	}
	if domain == "" {
		return nil, 0
	}
	// Who forwards invoices, and who provides mail for many, sends those of several suppliers.
	sends := func(s Supplier) bool { return s.Confirmed && s.Domain == domain }
	if is := only(suppliers, func(s Supplier) bool { return sends(s) && likely(s) }); is != nil {
		return is, sureByName
	}
	is = only(suppliers, sends)
	if is != nil && !slices.ContainsFunc(suppliers, likely) && !certain(i.SupplierName) && slices.Contains(printed.Names, NameKey(is.Name)) {
		return is, sureByDomain
	}
	return nil, 0
}

// named reports whether a supplier's name is likely to be that of the one who sent the invoice.
func named(i fields.Invoice, printed Printed, s Supplier) bool {
	if !slices.Contains(printed.Names, NameKey(s.Name)) {
		return false
	}
	name, _ := find(i, fields.SupplierName, func(v string) bool { return NameKey(v) == NameKey(s.Name) })
	if s.Confirmed {
		return name.Confidence >= confirmedName
	}
	return name.Confidence >= likelyName
}

// find is the first candidate of a field whose value is the one.
func find(i fields.Invoice, field string, is func(value string) bool) (fields.Possible, bool) {
	all := candidates(i, field)
	at := slices.IndexFunc(all, func(c fields.Possible) bool { return is(c.Value) })
	if at < 0 {
		return fields.Possible{}, false
	}
	return all[at], true
}

// only is the one supplier that all matching ones are, nil where there is none or several. Which contractor it is a person's
// confirmation decides, the newest first; contractors alone must agree.
func only(suppliers []Supplier, matches func(Supplier) bool) *Supplier {
	var found *Supplier
	contractors := map[string]bool{}
	for _, s := range suppliers {
		if !matches(s) {
			continue
		}
		switch {
		case found == nil:
			found = &s
		case !same(*found, s):
			return nil
		case found.Contractor == "":
			found.Contractor = s.Contractor
		}
		if s.Contractor != "" {
			contractors[s.Contractor] = true
		}
	}
	if found != nil && !found.Confirmed && len(contractors) > 1 {
		found.Contractor = ""
	}
	return found
}

func same(a, b Supplier) bool {
	switch {
	case a.Contractor != "" && a.Contractor == b.Contractor:
		return true
	case a.TaxID != "" && b.TaxID != "":
		return TaxKey(a.TaxID) == TaxKey(b.TaxID)
	}
	return NameKey(a.Name) == NameKey(b.Name)
}

// OtherVATID reports whether two ids are VAT ids of one country, but different ones.
func OtherVATID(a, b string) bool {
	a, b = TaxKey(a), TaxKey(b)
	country := func(s string) string {
		if len(s) > 4 && unicode.IsLetter(rune(s[0])) && unicode.IsLetter(rune(s[1])) {
			return s[:2]
		}
		return ""
	}
	return a != b && country(a) != "" && country(a) == country(b)
}

func certain(t *fields.Text) bool { return t != nil && t.Confidence >= fields.Certain }

// state makes a candidate the value of its field, by a rule. The value before it stays possible.
func state(i fields.Invoice, c fields.Possible, rule string, sure float64) fields.Invoice {
	before := valueOf(i, c.Field)
	if before != nil && before.Value == c.Value {
		sure = max(sure, before.Confidence)
	}
	i.Possible = slices.DeleteFunc(slices.Clone(i.Possible), func(p fields.Possible) bool { return p.Field == c.Field && p.Value == c.Value })
	if before != nil && before.Value != c.Value {
		before.Confidence = min(before.Confidence, 1-sure)
		i.Possible = append([]fields.Possible{*before}, i.Possible...)
	}
	c.Rule, c.Confidence = rule, sure
	switch n, err := strconv.ParseInt(c.Value, 10, 64); c.Field {
	case fields.Net, fields.Tax, fields.Gross:
		if err == nil {
			*amountOf(&i, c.Field) = &fields.Amount{Value: n, Evidence: c.Evidence}
		}
	default:
		*textOf(&i, c.Field) = &fields.Text{Value: c.Value, Evidence: c.Evidence}
	}
	return i
}
