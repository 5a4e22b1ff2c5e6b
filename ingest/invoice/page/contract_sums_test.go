package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
)

// Given the sums of a whole contract, by words that nobody knows, above those of the invoice, then the items tell which are the invoice's:
// those that they add up to, and never the contract's.
func TestItemsTellTheInvoicesOwnSums(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sums  string
		gross int64 // 0: not stated
	}{
		"items of the invoice": {`Mauerwerk                           700,00
Innenputz                           300,00

Wuppersumme netto:               10.000,00
Umsatzsteuer 20 %:                2.000,00
Gesamtbetrag:                    12.000,00

Satz        Basis    Umsatzsteuer      Gesamtbetrag
20 %     1.000,00          200,00          1.200,00
Gesamtbetrag:                     1.200,00
`, 0},
		"items of the invoice, below words that say so": {`Mauerwerk                           700,00
Innenputz                           300,00

Auftragswert netto:              10.000,00
Umsatzsteuer 20 %:                2.000,00
Gesamtbetrag:                    12.000,00

Satz        Basis    Umsatzsteuer      Gesamtbetrag
20 %     1.000,00          200,00          1.200,00
Zahlbetrag:                       1.200,00
`, 1200_00},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typedBill("Leistung                            Betrag\n"+c.sums), Own{})
			if got := grossOf(f); got != c.gross {
				t.Errorf("the total is %d, want %d", got, c.gross)
			}
		})
	}
}

// grossOf is a total in minor units, 0 where none is stated.
func grossOf(f fields.Invoice) int64 {
	if f.Gross == nil {
		return 0
	}
	return f.Gross.Value
}

// Given a tax that is within the total, by a label that says the total were meant or beside a total with a balance brought forward, then
// the rate tells which sum is which.
func TestTheRateTellsTheTaxWithinATotal(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		totals     string
		tax, gross int64
	}{
		"the tax is called a sum with tax": {"Gesamtbetrag               1.200,00\ninkl. 20 % MwSt.:            200,00", 20000, 120000},
		"in another language":              {"TOTALE                     1.220,00\nIVA inclusa 22 %:            220,00", 22000, 122000},
		"a balance is brought forward": {`Totale                     1.220,00
IVA inclusa 22 %:            220,00
Conti scoperti:              187,79
Saldo da pagare:           1.407,79`, 22000, 122000},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typed.Document(paper("Rechnung", c.totals, "")), Own{})
			tax := int64(0)
			if f.Tax != nil {
				tax = f.Tax.Value
			}
			if gross := grossOf(f); gross != c.gross || tax != c.tax {
				t.Errorf("the total is %d with a tax of %d, want %d and %d", gross, tax, c.gross, c.tax)
			}
		})
	}
}

// Given the sum of a guarantee that no label names a total, and the total of an appendix behind a larger net sum of the invoice, then
// neither is stated as the invoice's; what is debited is.
func TestSumsOfOtherThingsAreNoTotal(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		lines string
		gross int64
	}{
		"a guarantee": {"Bürgschaft                Vertragserfüllung, Urkunde 8841902,\n                          1.250.000,00 EUR\n" +
			"Periode                   01.07.2026 – 30.09.2026, 90/360 Tage zu 1,35            4.218,75 EUR\n" +
			"Umsatzsteuer              steuerfrei nach § 4 Nr. 8 g UStG                        0,00 EUR\n" +
			"Belastung                 Konto 441 902 00, Wert 05.10.2026                       4.218,75 EUR", 421_875},
		"an appendix": {"Gross valuation                                  417,627.45\nLess retention 5%                                (20,881.37)\n" +
			"Net valuation to date                            396,746.08\nLess previously invoiced (Nos. 1-5)             (297,184.00)\n" +
			"Amount of this invoice (excl. VAT)                99,562.08\nVAT on this supply to be accounted for by the principal contractor    0.00\n" +
			"\fAppendix\n\nSoft spot excavation        4,182.50\nAdditional gully            1,264.00\nRelocate duct               2,889.00\n" +
			"Rock breaking              16,001.65\n\nTotal variations           24,337.15", 0},
	} {
		invoice, appendix, _ := strings.Cut(c.lines, "\f")
		doc := typed.Document("Bauwerk Huber GmbH\nHofgasse 3\n1010 Wien\nUID: ATU33864707\n\nInvoice 2026-0417\nDate: 06.05.2026\n\n" + invoice)
		behind := typed.Document(appendix).Pages[0]
		behind.Number = 2
		doc.Pages = append(doc.Pages, behind)
		_, f, _ := reader.Read(doc, Own{})
		if gross := grossOf(f); gross != c.gross {
			t.Errorf("%s: the total is %d, want %d", name, gross, c.gross)
		}
		s := newSheet(reader.vocabulary, doc)
		b := s.billing(s.sums())
		for _, bill := range b.bills {
			if other := bill.gross == 125_000_000*PerMinor || bill.gross == 2_433_715*PerMinor; other && !b.unsupported(bill) {
				t.Errorf("%s: %q supports %d", name, bill.how, bill.gross)
			}
		}
	}
}
