package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/accuracy/truth"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/known"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/page/layouts"
)

// unseen is the seed from which on families are none that training sees.
const unseen = 1_000_000

// measureFamilies reads drawn invoices, a member of each family: first of families that training saw, then of others,
// with wordings of their own.
func measureFamilies(out io.Writer, families int, list bool) error {
	reader, drawer, err := readerAndDrawer()
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		name string
		from int
	}{{"Families that training saw", 0}, {"Families that nobody has seen", unseen}} {
		all, scenarios := readFamilies(reader, drawer.Family, kind.from, families, nil, false)
		fmt.Fprintf(out, "\n%s\n", kind.name)
		all.print(out)
		all.printCalibration(out)
		fmt.Fprintf(out, "\nright of all, by the kind of bill:\n%-14s", "")
		for _, n := range names {
			fmt.Fprintf(out, " %14.14s", n)
		}
		fmt.Fprintln(out)
		for _, s := range layouts.Scenarios() {
			scenarios[s].printShares(out, s)
		}
		suppliers, buyers := everybody(drawer, kind.from, families)
		confirmed, paid, mailed := slices.Clone(suppliers), slices.Clone(suppliers), slices.Clone(suppliers)
		for i, s := range suppliers {
			confirmed[i] = known.Supplier{Name: s.Name, TaxID: s.TaxID, Confirmed: true}
			paid[i] = known.Supplier{Name: s.Name, IBAN: s.IBAN, Confirmed: true}
			mailed[i] = known.Supplier{Name: s.Name, Domain: s.Domain, Confirmed: true}
			suppliers[i] = known.Supplier{Name: s.Name, TaxID: s.TaxID}
		}
		for _, tenant := range []struct {
			knows  string
			list   []known.Supplier
			taught bool // where the values stood, too
		}{
			{"all suppliers and all buyers", slices.Concat(suppliers, buyers), false},
			{"all buyers, and has confirmed an invoice of each supplier", slices.Concat(confirmed, buyers), false},
			{"all buyers, and has confirmed an invoice of each supplier with its account, but no tax id", slices.Concat(paid, buyers), false},
			{"all buyers, and has confirmed an invoice of each supplier from its domain, but no tax id", slices.Concat(mailed, buyers), false},
			{"all buyers, and has confirmed all this of each supplier", slices.Concat(confirmed, paid, mailed, buyers), false},
			{"the same, and where the values of that invoice stood", slices.Concat(confirmed, paid, mailed, buyers), true},
			{"all buyers, whom it should take for no supplier", buyers, false},
		} {
			recognised, _ := readFamilies(reader, drawer.Family, kind.from, families, tenant.list, tenant.taught)
			fmt.Fprintf(out, "\nwhere the tenant lists %s\n", tenant.knows)
			recognised.print(out)
		}
		if list {
			for _, miss := range all.misses {
				fmt.Fprintln(out, "  ", miss)
			}
		}
	}
	printLetters(out, reader, drawer, families, list)
	return nil
}

// measureLetters reads drawn letters alone.
func measureLetters(out io.Writer, letters int, list bool) error {
	reader, drawer, err := readerAndDrawer()
	if err != nil {
		return err
	}
	printLetters(out, reader, drawer, letters, list)
	return nil
}

func readerAndDrawer() (*page.Reader, *layouts.Drawer, error) {
	reader, err := page.NewReader()
	if err != nil {
		return nil, nil, err
	}
	drawer, err := layouts.NewDrawer()
	return reader, drawer, err
}

func printLetters(out io.Writer, reader *page.Reader, drawer *layouts.Drawer, n int, list bool) {
	letters, _ := readFamilies(reader, drawer.Letter, unseen, n, nil, false)
	fmt.Fprintf(out, "\nLetters that nobody has seen, with much beside what is looked for\n")
	letters.print(out)
	letters.printCalibration(out)
	if list {
		for _, miss := range letters.misses {
			fmt.Fprintln(out, "  ", miss)
		}
	}
}

// everybody are the suppliers of all families, and the buyers.
func everybody(drawer *layouts.Drawer, from, families int) (suppliers, buyers []known.Supplier) {
	for seed := from; seed < from+families; seed++ {
		drawn := drawer.Family(seed, from == unseen).Draw(0)
		suppliers = append(suppliers, known.Supplier{Name: drawn.Supplier, TaxID: strings.TrimSuffix(drawn.TaxID, " MWST"),
			IBAN: drawn.IBAN, Domain: drawn.Domain})
		buyers = append(buyers, known.Supplier{Name: drawn.Recipient})
	}
	return suppliers, buyers
}

// readFamilies reads a member of each of some families, from a seed on, for a tenant that knows some suppliers, and where the values
// stood on another member if that was taught: all in all, and by the kind of bill.
func readFamilies(reader *page.Reader, draw func(seed int, unseen bool) layouts.Family, from, families int, suppliers []known.Supplier,
	taught bool) (*tally, map[string]*tally) {
	all := newTally(true)
	scenarios := map[string]*tally{}
	for _, s := range layouts.Scenarios() {
		scenarios[s] = newTally(true)
	}
	for seed := from; seed < from+families; seed++ {
		family := draw(seed, from == unseen)
		drawn := family.Draw(0)
		want := truthOf(seed, drawn)
		got := readDrawn(reader, drawn)
		got.Invoice, _ = known.Recognise(got.Invoice, drawn.Domain, suppliers)
		if taught {
			earlier := family.Draw(1)
			layout := taughtBy(truthOf(seed, earlier), readDrawn(reader, earlier).Invoice)
			got.Invoice = known.Place(got.Invoice, got.Findings, []known.Layout{layout})
		}
		all.add(want, got)
		scenarios[drawn.Scenario].add(want, got)
	}
	return all, scenarios
}

func readDrawn(reader *page.Reader, drawn layouts.Invoice) invoice.Result {
	got := invoice.Result{Status: invoice.OK}
	own := page.Own{}
	if drawn.Buyer != "" {
		own.Names = []string{drawn.Buyer}
	}
	_, got.Invoice, got.Findings = reader.Read(drawn.Document(), own)
	return got
}

// taughtBy is where the true values of an invoice stand, as far as the reader has seen them: what a person confirms.
func taughtBy(want truth.Truth, read fields.Invoice) (layout known.Layout) {
	for _, v := range verdicts(want, invoice.Result{Invoice: read}) {
		stood := known.Stood{Field: v.name, Corrected: v.known && v.given && !v.right}
		confirm := func(e fields.Evidence) {
			if e.Box != nil {
				stood.Page, stood.Box, stood.Label = e.Page, *e.Box, e.Label
				layout = append(layout, stood)
			}
		}
		if v.right {
			confirm(v.at)
			continue
		}
		for _, p := range read.Possible {
			if p.Field == v.name && truth.Same(p.Value, v.want) {
				confirm(p.Evidence)
				break
			}
		}
	}
	return layout
}

// truthOf is what a drawn invoice says, all of it printed.
func truthOf(seed int, v layouts.Invoice) truth.Truth {
	t := truth.Truth{File: fmt.Sprintf("family %d (%s, %s)", seed, v.Language, v.Scenario), Kind: "invoice", Expect: "fields",
		Visible: map[string]bool{}}
	if v.CreditNote {
		t.Kind = "credit-note"
	}
	for _, n := range names {
		t.Visible[n] = true
	}
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	t.Number, t.Date, t.Due, t.Supplier = text(v.Number), text(v.Date), text(v.DueDate), text(v.Supplier)
	t.TaxID, t.Currency, t.Gross = text(strings.TrimSuffix(v.TaxID, " MWST")), text(v.Currency), &v.Gross
	if v.HasNet {
		t.Net = &v.Net
	}
	if v.HasTax {
		t.Tax = &v.Tax
	}
	return t
}
