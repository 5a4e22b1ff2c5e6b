// Package truth reads what invoices say from the files beside them: NAME.json beside NAME.pdf. It holds kind, expect, visible (is the value
// printed?) and the fields by the names of the JSON line, null where the invoice states none; supplierNameAlso lists
// other names that the supplier goes by on it.
package truth

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Truth is what an invoice says. Sums are in minor units.
type Truth struct {
	File      string          `json:"file"`
	Kind      string          `json:"kind"`
	Expect    string          `json:"expect"`
	Source    string          `json:"source"`
	Strip     bool            `json:"strip"`
	Visible   map[string]bool `json:"visible"`
	Number    *string         `json:"invoiceNumber"`
	Date      *string         `json:"invoiceDate"`
	Due       *string         `json:"dueDate"`
	Supplier  *string         `json:"supplierName"`
	Also      []string        `json:"supplierNameAlso"` // other names of the supplier that are printed, as a hotel's and its owner's
	TaxID     *string         `json:"supplierTaxId"`
	VATID     *string         `json:"supplierVatId"`
	TaxNumber *string         `json:"supplierTaxNumber"`
	Currency  *string         `json:"currency"`
	Net       *int64          `json:"net"`
	Tax       *int64          `json:"tax"`
	Gross     *int64          `json:"gross"`
	XMLFault  *struct {
		Expected string `json:"expected"`
	} `json:"xmlFault"`
}

// Read reads the truths of a folder, sorted by file. A folder without one is an error.
func Read(folder string) ([]Truth, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", folder, err)
	}
	var out []Truth
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading truth: %w", err)
		}
		var t Truth
		if err := json.Unmarshal(data, &t); err != nil {
			return nil, fmt.Errorf("decoding truth %s: %w", name, err)
		}
		if t.File == "" {
			t.File = strings.TrimSuffix(filepath.Base(name), ".json") + ".pdf"
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, errors.New("the folder holds no NAME.json beside a NAME.pdf")
	}
	return out, nil
}

// Same reports whether two texts differ in case, spaces and punctuation alone.
func Same(a, b string) bool { return plain(a) == plain(b) }

// plain is a text without case, spaces and punctuation.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// sameName takes a name for the same when one contains the other and is at
// least half as long.
func sameName(a, b string) bool {
	x, y := plain(a), plain(b)
	short, long := min(len(x), len(y)), max(len(x), len(y))
	return x == y || short >= 4 && short*2 >= long && (strings.Contains(x, y) || strings.Contains(y, x))
}

// IsName reports whether the supplier goes by a name.
func (t Truth) IsName(s string) bool {
	return t.Supplier != nil && sameName(*t.Supplier, s) || slices.ContainsFunc(t.Also, func(also string) bool { return sameName(also, s) })
}

// IsTaxID reports whether an id is the supplier's. Many print a VAT id without its country's letters, after a label that only one
// country has ("CVR", "OIB", "P.IVA"); what is read is what is printed. What Swiss ids end with, "MWST", is no part of the number.
func (t Truth) IsTaxID(s string) bool {
	for _, id := range []*string{t.TaxID, t.VATID, t.TaxNumber} {
		if id != nil && (swiss(plain(*id)) == swiss(plain(s)) || withoutCountry(*id) == plain(s)) {
			return true
		}
	}
	return false
}

// swiss is an id without what the Swiss add to theirs in three languages.
func swiss(id string) string {
	for _, tax := range []string{"mwst", "tva", "iva"} {
		if number, added := strings.CutSuffix(id, tax); added && strings.HasPrefix(id, "che") {
			return number
		}
	}
	return id
}

// withoutCountry is a VAT id without the letters of its country.
func withoutCountry(id string) string {
	id = plain(id)
	if len(id) < 10 || strings.ContainsAny(id[:2], "0123456789") {
		return id
	}
	return id[2:]
}
