package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given forms that name the supplier by a label, in two lines, or beside a sentence, a portal's name or a remark, then he is stated.
func TestSuppliersOfForms(t *testing.T) {
	reader, err := NewReader()
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

Rechnungsadresse             Lieferadresse             Verkauft von
Adam Lund                    Adam Lund                 Lofts Retail Limited
Fasanenweg 15                Fasanenweg 15             5 Mill Lane
` + billedWork + toTheFoot + `
Marktplatz EU S.à r.l. - 38 avenue Verte, L-1855 Luxembourg
Sitz der Gesellschaft: L-1855 Luxemburg
eingetragen im Handelsregister unter R.C.S. B 101818, USt-IDNr. LU20260743
`, "Lofts Retail Limited"},
		"over two lines on the right": {`                                          Dr. Ada Wild & Partner
                                                Rechtsanwälte OG
                                         Beratung und Vertretung
                                                 Museumstraße 11
                                                       1010 Wien
                                   office@wildundpartner.example

HONORARNOTE
` + billedWork + `
Dr. Ada Wild & Partner Rechtsanwälte OG
`, "Dr. Ada Wild & Partner Rechtsanwälte OG"},
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
		"a sentence at the foot": {`Wollgras Service Kunden
75371 Paris Cedex 08

                                   Adam Lund
                                   35 rue Verte
                                   69100 VILLEURBANNE

Facture n°562044387 du 02/07/2026
Abonnement              24,99
Total HT                24,99
TVA 20%                  5,00
Total TTC               29,99
` + toTheFoot + `
                                          Au verso, vous trouverez le détail de votre facture
Wollgras SAS au capital de 3.441.812 Euros - B 421 938 861 RCS Paris - 8 rue de la Ville, 75008 Paris - N° de TVA: FR60421938861
`, "Wollgras SAS"},
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
	reader, err := NewReader()
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
