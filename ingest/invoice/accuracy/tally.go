package main

import (
	"fmt"
	"io"
	"slices"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/accuracy/truth"
	"tallyhouse/ingest/invoice/fields"
)

// names are the fields in the order of the table.
var names = []string{"invoiceNumber", "invoiceDate", "dueDate", "supplierName", "supplierTaxId", "currency", "net",
	"tax", "gross"}

// count is how often a field was right, wrong and missing; invented counts
// values where the truth states none.
type count struct{ right, wrong, missing, invented int }

type tally struct {
	pageAlone bool
	fields    map[string]*count
	core      [2]int // number, date, supplier and gross: all right, of
	refused   map[string]*[2]int
	misses    []string
	// calibrations are kept by field.
	calibrations map[string]*calibration
}

func newTally(pageAlone bool) *tally {
	t := &tally{pageAlone: pageAlone, fields: map[string]*count{}, refused: map[string]*[2]int{},
		calibrations: map[string]*calibration{}}
	for _, n := range names {
		t.fields[n], t.calibrations[n] = &count{}, &calibration{}
	}
	return t
}

// verdict is one field of one file.
type verdict struct {
	name         string
	known, given bool
	right        bool
	want, got    string
	confidence   float64 // of a given value
	at           fields.Evidence
}

func (t *tally) add(want truth.Truth, r invoice.Result) {
	refused := r.Status == invoice.Failed && r.Reason != invoice.Crashed // a fault of the reader refuses nothing
	switch want.Kind {
	case "invoice", "credit-note":
		// With e-invoices only files that still hold one are counted.
		if want.Expect == "fields" && (t.pageAlone || want.Source == "embedded-xml" && !want.Strip) {
			t.addFields(want, r)
		}
	case "receipt", "garbled":
	case "xml-fault":
		if !t.pageAlone && want.XMLFault != nil {
			reject := want.XMLFault.Expected == "reject"
			t.refuse("faulty e-invoice, expected "+want.XMLFault.Expected, want.File,
				reject == refused)
		}
	default:
		t.refuse(want.Kind, want.File, refused)
	}
}

func (t *tally) refuse(kind, file string, right bool) {
	c := t.refused[kind]
	if c == nil {
		c = &[2]int{}
		t.refused[kind] = c
	}
	c[1]++
	if right {
		c[0]++
	} else {
		t.misses = append(t.misses, fmt.Sprintf("%s: %s is not treated as one", file, kind))
	}
}

func (t *tally) addFields(want truth.Truth, r invoice.Result) {
	all, seen := true, false
	for _, v := range verdicts(want, r) {
		c := t.fields[v.name]
		if v.known && t.pageAlone && !want.Visible[v.name] {
			continue
		}
		if v.given {
			t.calibrations[v.name].add(v.confidence, v.right)
		}
		switch {
		case !v.known && !v.given:
			continue
		case !v.known:
			c.invented++
		case v.right:
			c.right++
		case v.given:
			c.wrong++
		default:
			c.missing++
		}
		if v.known && slices.Contains([]string{"invoiceNumber", "invoiceDate", "supplierName", "gross"}, v.name) {
			seen = true
			all = all && v.right
		}
		if !v.right {
			t.misses = append(t.misses, fmt.Sprintf("%s: %s is %s, read %s", want.File, v.name, v.want, v.got))
		}
	}
	if seen {
		t.core[1]++
		if all {
			t.core[0]++
		}
	}
}

func verdicts(want truth.Truth, r invoice.Result) []verdict {
	text := func(name string, w *string, g *fields.Text, same func(a, b string) bool) verdict {
		v := verdict{name: name, known: w != nil, given: g != nil, want: "null", got: "null"}
		if w != nil {
			v.want = *w
		}
		if g != nil {
			v.got, v.confidence, v.at = g.Value, g.Confidence, g.Evidence
		}
		v.right = v.known && v.given && same(*w, g.Value)
		return v
	}
	amount := func(name string, w *int64, g *fields.Amount) verdict {
		v := verdict{name: name, known: w != nil, given: g != nil, want: "null", got: "null"}
		if w != nil {
			v.want = fmt.Sprint(*w)
		}
		if g == nil {
			return v
		}
		v.got, v.confidence, v.at = fmt.Sprint(g.Value), g.Confidence, g.Evidence
		switch {
		case w == nil:
			// Without tax on the invoice, tax 0 and net = gross say no more than it.
			v.given = !(name == "tax" && g.Value == 0 || name == "net" && want.Gross != nil && g.Value == *want.Gross)
		case want.Kind == "credit-note": // their signs differ between sources
			v.right = g.Value == *w || g.Value == -*w
		default:
			v.right = g.Value == *w
		}
		return v
	}
	exact := func(a, b string) bool { return a == b }
	return []verdict{
		text("invoiceNumber", want.Number, r.Number, truth.Same), text("invoiceDate", want.Date, r.Date, exact),
		text("dueDate", want.Due, r.DueDate, exact),
		text("supplierName", want.Supplier, r.SupplierName, func(_, b string) bool { return want.IsName(b) }),
		text("supplierTaxId", want.TaxID, r.SupplierTaxID, func(_, b string) bool { return want.IsTaxID(b) }),
		text("currency", want.Currency, r.Currency, exact), amount("net", want.Net, r.Net),
		amount("tax", want.Tax, r.Tax), amount("gross", want.Gross, r.Gross),
	}
}

func (t *tally) print(w io.Writer) {
	fmt.Fprintf(w, "%-15s %6s %6s %8s %9s %8s\n", "field", "right", "wrong", "missing", "invented", "right")
	for _, n := range names {
		c := t.fields[n]
		share := "-"
		if of := c.right + c.wrong + c.missing; of > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(c.right)/float64(of))
		}
		fmt.Fprintf(w, "%-15s %6d %6d %8d %9d %8s\n", n, c.right, c.wrong, c.missing, c.invented, share)
	}
	fmt.Fprintf(w, "number, date, supplier and gross all right: %d of %d\n", t.core[0], t.core[1])
	kinds := make([]string, 0, len(t.refused))
	for k := range t.refused {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		fmt.Fprintf(w, "%s: %d of %d as expected\n", k, t.refused[k][0], t.refused[k][1])
	}
}
