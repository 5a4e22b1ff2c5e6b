package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given forms that name the supplier by a label, or beside a mark, a portal's name or a remark, then he is stated.
func TestSuppliersOfForms(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	toTheFoot := strings.Repeat("\n", 36)
	for name, c := range map[string]struct{ page, want string }{
		"labels in two languages": {`Nordwind Beratung                                  Rechnung EU-2026-0142
Projekte in aller Welt
Seestraße 8, 1220 Wien                             Datum: 28.02.2026
UID-Nr: ATU62093601

Rechnungsempfänger | Recipient         Leistungserbringer | Supplier
Digital Lofts GmbH                     Nordwind Projektberatung GmbH
Lindenweg 78                           Seestraße 8
10117 Berlin                           1220 Wien
` + billedWork, "Nordwind Projektberatung GmbH"},
		"a recipient above his bank and account": {`Rechnung
Wollgras Studio
Gestaltung für den Mittelstand
office@wollgras.example

Rechnungsempfänger
Lofts Holding GmbH
Lindenweg 78
1060 Wien
` + billedWork + `
Empfänger: Wollgras Studio
Bank: Erste Bank
IBAN: AT61 1904 3002 3457 3201
`, "Wollgras Studio"},
		"a country within a name": {`Gasthof Austria Zirbenblick
4-Sterne Ferienhotel
Dorfstraße 15, 6020 Innsbruck
Tel: +43 512 123456 | office@zirbenblick.example
UID: ATU62093601
` + billedWork, "Gasthof Austria Zirbenblick"},
		"a day beside it": {`INVOICE #1042
Lofts Corp - due 2026-09-01

Bill to: Omega Plugins LLC

Item        Qty       Amount
Widget        4       $1,000.00
Support       1       $240.00

Total                 $1,240.00
`, "Lofts Corp"},
		"to whom payments are made": {`TAX INVOICE                                     603962

Customer Name      Mr. Adam Lund
Customer Address   House 8, Street 12, Riverside

Invoice Number 603962
Issued on 06/12/2025
Fee               $ 9.09
Sub Total         $ 9.09
VAT (10%)         $ 0.91
Grand Total       $ 10.00

Please make payment to "Rivernet Co., Ltd"
Please visit www.rivernet.example
`, "Rivernet Co., Ltd"},
		"sold on a marketplace": {`                                                     Rechnung
                                       Verkauft von Lofts Retail Limited
                                       Rechnungsdatum   12.03.2026
                                       Rechnungsnummer  DS-2026-118

Adam Lund                              Zahlbetrag       1.200,00 EUR
FASANENWEG 15
12345 GLÜCKSTADT

                                       Umsatzsteuer erklärt durch   Ludovic EU S.a.r.L.
                                       USt-IDNr.                    LU15027442

Um unseren Kundenservice zu erreichen, besuche www.ludovic.example/kontakt

Rechnungsadresse             Lieferadresse             Verkauft von
Adam Lund                    Adam Lund                 Lofts Retail Limited
Fasanenweg 15                Fasanenweg 15             5 Mill Lane
` + billedWork + toTheFoot + `
Ludovic EU S.à r.l. - 38 avenue Verte, L-1855 Luxembourg
Sitz der Gesellschaft: L-1855 Luxemburg
eingetragen im Handelsregister unter R.C.S. B 101818 • Stammkapital: 37.500 EUR
`, "Lofts Retail Limited"},
		"over the only tax id": {`Tax Invoice
Fernwood
ABN: 51 824 753 556
                                                          PO Box 161
                                                          Mill Street West, VIC 8007
                                                          Australia

To:  Lofts Ltd                                            Invoice No. 12429647



Details:



Member: adamlund
Name: Adam Lund
Email: lund@lofts.example

Handling fee        $0.00
Item purchase      $80.80

Invoice Total: $80.80
`, "Fernwood"},
		"the fields of an e-invoice": {`Bereiche ohne Inhalt werden nicht gezeigt
Daten der E-Rechnung
Informationen zum Käufer
Name:              Adam Lund                        Telefon:           +491234567890
Adresszeile 1:     Parkweg 1                        E-Mail-Adresse:    lund@lofts.example
PLZ:               12345
Ort:               Glückstadt

Informationen zum Verkäufer
Firmenname:        Wollgras Gartenbau               Telefon:           +4917012345678
Adresszeile 1:     Seestraße 1                      E-Mail-Adresse:    post@rock.example
PLZ:               12345
Ort:               Glückstadt
` + billedWork + `
Bereiche ohne Inhalt werden nicht gezeigt
`, "Wollgras Gartenbau"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typed.Document(c.page), Own{})
			if got := stated(f.SupplierName); got != c.want {
				t.Errorf("the supplier is %q, want %q; possible are %v", got, c.want, f.Possible)
			}
		})
	}
}

// Given phrases before who is to be paid, then what follows is a name if it begins as one or has a legal form.
func TestWhomPhrasesName(t *testing.T) {
	for line, want := range map[string]bool{
		"Please make payment to Rivernet Studio": true,
		"Payable to de Lund & Partners LLP":      true,
		"Please make payment to our office":      false,
		"Payable to":                             false,
	} {
		s := sheetOf(t, line)
		if got := s.sellerPhrased(s.rows[0][0]) != nil; got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// Given an e-invoice as programs show it, two labels and values a row, then the id below the buyer's heading is his.
func TestTheIDsAmongFieldsOfAnEInvoice(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	_, f, _ := reader.Read(typed.Document(`Daten der E-Rechnung
Informationen zum Verkäufer
Firmenname:        Wollgras Gartenbau               Telefon:            +4917012345678
E-Mail-Adresse:    post@rock.example                Umsatzsteuer-ID:    DE136695976

Informationen zum Käufer
Name:              Adam Lund                        Telefon:            +491234567890
E-Mail-Adresse:    lund@lofts.example               Umsatzsteuer-ID:    DE811128135
`+billedWork), Own{})
	if got := stated(f.SupplierTaxID); got != "DE136695976" {
		t.Errorf("the supplier's tax id is %q", got)
	}
}

// Given a company's line in the head right below another line, then it goes on with that where both are printed in one line elsewhere.
func TestNamesOverTwoLinesOfTheHead(t *testing.T) {
	const foot = "\n\nDr. Ada Wild & Partner Rechtsanwälte OG | Museumstraße 11, 1010 Wien"
	for page, want := range map[string]string{
		"    Dr. Ada Wild & Partner\n          Rechtsanwälte OG" + foot:     "Dr. Ada Wild & Partner Rechtsanwälte OG", // on the right
		"    Dr. Ada Wild & Partner\n          Rechtsanwälte OG":            "Rechtsanwälte OG",
		"Dr. Ada Wild & Partner\n                Rechtsanwälte OG" + foot:   "Rechtsanwälte OG", // in another column
		"Dr. Ada Wild & Partner GmbH\nRechtsanwälte OG\n" + foot:            "Rechtsanwälte OG",
		"    Dr. Ada Wild & Partner\n\n          Rechtsanwälte OG\n" + foot: "Rechtsanwälte OG",
	} {
		s := sheetOf(t, page)
		var got string
		for _, c := range s.names(Own{}, map[*item]bool{}, nil) {
			if c.it.page == 1 && c.it.row < 2 && strings.HasSuffix(c.name, "Rechtsanwälte OG") {
				got = c.name
				break
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// Given a company that two labels say sells, then it is the supplier instead of one without a label below the head.
func TestWhoSellsOnAMarketplace(t *testing.T) {
	first, second := &item{}, &item{}
	seller := named{whole: "LOFTSLTD", form: true, rule: ruleSeller, it: first}
	again := named{whole: "LOFTSLTD", form: true, rule: ruleSeller, it: second}
	person := named{whole: "ADAMLUND", rule: ruleSeller, it: first}
	place := named{whole: "MARKTPLATZSARL", form: true, ties: map[tie]bool{tieFoot: true, tieID: true}}
	for name, c := range map[string]struct {
		c, likeliest named
		all          []named
		want         bool
	}{
		"two labels":              {seller, place, []named{seller, again, place}, true},
		"one label":               {seller, place, []named{seller, place}, false},
		"one place, found twice":  {seller, place, []named{seller, seller, place}, false},
		"a person":                {person, place, []named{person, {whole: "ADAMLUND", rule: ruleSeller, it: second}}, false},
		"a label of the other":    {seller, named{whole: "B", ties: map[tie]bool{tieLabel: true}}, []named{seller, again}, false},
		"the other heads it":      {seller, named{whole: "B", ties: map[tie]bool{tieHead: true}}, []named{seller, again}, false},
		"the likeliest is itself": {seller, seller, []named{seller, again}, false},
	} {
		if got := sold(&c.c, &c.likeliest, c.all); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// Given labels of a party in two languages, then they are labels; with a name behind them they are none.
func TestLabelsInTwoLanguages(t *testing.T) {
	v := testVocabulary(t)
	for label, want := range map[string]bool{
		"Rechnungsempfänger | Recipient": true, "Käufer - Buyer:": true, "Käufer · Buyer": true, "Käufer | Lofts GmbH": false,
	} {
		if got := v.buyerLabel.MatchString(foldText(label)); got != want {
			t.Errorf("%q: %t, want %t", label, got, want)
		}
	}
}

// Given a seller's label and below it a longer name that ends where the label does, then that is the supplier.
func TestANameSetToTheRightBelowItsLabel(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	_, f, _ := reader.Read(typed.Document(`Invoice 207                                         Date: 2026-03-12

                     Piano lessons
           2nd March, 4th March     2 hours
           9th March                1.5 hours

                                                        Total = £140

                                                         Payable to:
                                                     Henry Middleton
                                                            07 11 09
                                                            31440512
`), Own{})
	if f.SupplierName == nil || f.SupplierName.Value != "Henry Middleton" {
		t.Errorf("supplier %+v, want Henry Middleton", f.SupplierName)
	}
}
