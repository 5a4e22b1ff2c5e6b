package invoice_test

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given letterheads, seller's blocks, feet and labels in many arrangements, then the supplier is the
// company that issued the invoice and never the customer.
func TestSuppliersWhereverTheyStand(t *testing.T) {
	// A line is "x y size text"; the customer's block, labels and sums are the same on each page.
	cases := []struct{ name, want, lines string }{
		{"centred head", "Schreinerei Holzer GmbH",
			"220 50 16 Schreinerei Holzer GmbH|200 70 9 Industriestraße 4 · 84028 Landshut · Tel. 0871 123456|" +
				"60 790 8 USt-IdNr. DE136695976"},
		{"head at the right", "Schreinerei Holzer GmbH",
			"400 50 12 Schreinerei Holzer GmbH|400 66 9 Industriestraße 4|400 78 9 84028 Landshut|400 90 9 USt-IdNr. DE136695976"},
		{"foot alone", "Schreinerei Holzer GmbH",
			"60 770 8 Schreinerei Holzer GmbH|60 780 8 Industriestraße 4|60 790 8 84028 Landshut|" +
				"220 770 8 Sparkasse Landshut|220 780 8 IBAN DE02120300000000202051|" +
				"380 770 8 Amtsgericht Landshut HRB 1234|380 780 8 USt-IdNr. DE136695976"},
		{"sole trader", "Anna Berger",
			"60 50 14 Anna Berger|60 68 9 Grafikdesign|60 110 7 Anna Berger · Lindenweg 3 · 5020 Salzburg|" +
				"60 780 8 Steuernummer 12 345/6789|60 790 8 IBAN AT611904300234573201"},
		{"label seller", "Schreinerei Holzer GmbH",
			"340 60 9 Rechnungssteller:|340 74 9 Schreinerei Holzer GmbH|340 86 9 Industriestraße 4|" +
				"340 98 9 84028 Landshut|340 110 9 USt-IdNr.: DE136695976"},
		{"from and to", "Northside Plumbing Ltd",
			"60 60 9 From|60 74 10 Northside Plumbing Ltd|60 88 9 8 Mill Road|60 100 9 Cambridge CB1 2AB|60 112 9 VAT No. GB980780684"},
		{"seller and buyer", "Northside Plumbing Ltd",
			"60 60 9 Seller:|110 60 9 Northside Plumbing Ltd|110 74 9 8 Mill Road, Cambridge CB1 2AB|110 88 9 VAT No. GB980780684"},
		{"french foot", "Électricité Moreau SARL",
			"60 50 16 Électricité Moreau|60 68 9 12 rue des Lilas|60 80 9 69003 Lyon|" +
				"60 790 7 Électricité Moreau SARL au capital de 10 000 € - RCS Lyon 303 265 045 - TVA FR40303265045"},
		{"italian head", "Idraulica Bianchi S.r.l.",
			"60 50 14 Idraulica Bianchi S.r.l.|60 66 9 Via Garibaldi 5 - 10122 Torino|60 78 9 P.IVA 00743110157 - C.F. 00743110157"},
		{"spanish head", "Reformas Ortega S.L.", "60 50 14 Reformas Ortega S.L.|60 66 9 Calle Luna 3, 28004 Madrid|" +
			"60 78 9 CIF: B58378431"},
		{"cedente", "Idraulica Bianchi S.r.l.",
			"60 60 9 Cedente/prestatore|60 74 10 Idraulica Bianchi S.r.l.|60 88 9 Via Garibaldi 5|" +
				"60 100 9 10122 Torino|60 112 9 P.IVA IT00743110157"},
		{"slogan above", "Schreinerei Holzer GmbH",
			"60 40 9 Möbel mit Herz und Verstand|60 56 15 Schreinerei Holzer GmbH|" +
				"60 74 9 Industriestraße 4, 84028 Landshut|60 790 8 USt-IdNr. DE136695976"},
		{"account holder", "Schreinerei Holzer GmbH",
			"60 110 7 Schreinerei Holzer GmbH, Industriestraße 4, 84028 Landshut|" +
				"60 770 8 Kontoinhaber: Schreinerei Holzer GmbH|60 780 8 IBAN DE02120300000000202051|60 790 8 USt-IdNr. DE136695976"},
		{"name and owner", "Malerbetrieb Koller e.U.",
			"60 50 14 Malerbetrieb Koller e.U.|60 66 9 Inhaber: Franz Koller|60 78 9 Dorfplatz 1, 3100 St. Pölten|" +
				"60 790 8 UID: ATU12345675"},
		{"partnership", "Steiner & Partner Ziviltechniker OG",
			"340 50 11 Steiner & Partner Ziviltechniker OG|340 64 9 Ringstraße 9|340 76 9 6020 Innsbruck|340 88 9 ATU12345675"},
		{"domain", "Kaffeerösterei Blum",
			"60 50 18 Kaffeerösterei Blum|60 70 9 Marktplatz 2|60 82 9 8010 Graz|60 94 9 www.kaffeeroesterei-blum.at|" +
				"60 790 8 UID ATU12345675"},
		{"association", "Verein Stadtgarten e.V.",
			"60 50 14 Verein Stadtgarten e.V.|60 66 9 Parkweg 1|60 78 9 50667 Köln|60 790 8 Steuernummer 214/5876/1234"},
		{"foot with headings", "Schreinerei Holzer GmbH",
			"60 50 14 Schreinerei Holzer GmbH|60 66 9 Industriestraße 4|60 78 9 84028 Landshut|60 760 8 Postanschrift|" +
				"60 770 8 Industriestraße 4|60 780 8 84028 Landshut|220 760 8 Bankverbindung|" +
				"220 770 8 IBAN DE02120300000000202051|380 770 8 USt-IdNr. DE136695976"},
		{"swiss payment slip", "Alpenbau Zürich AG",
			"60 50 12 Alpenbau Zürich AG|60 64 9 Seestrasse 40|60 76 9 8001 Zürich|60 88 9 MWST-Nr. CHE-116.281.710|" +
				"60 700 8 Empfangsschein|60 715 7 Konto / Zahlbar an|60 725 8 CH4431999123000889012|" +
				"60 735 8 Alpenbau Zürich AG|60 745 8 Seestrasse 40|60 755 8 8001 Zürich|60 775 7 Zahlbar durch|" +
				"60 785 8 Wohnpark Nord Projekt GmbH|60 795 8 Am Tabor 3|60 805 8 1020 Wien"},
		{"foot in a line", "Schreinerei Holzer GmbH",
			"60 790 7 Schreinerei Holzer GmbH  ·  Industriestraße 4  ·  84028 Landshut  ·  Tel. 0871 123456|" +
				"60 800 7 IBAN DE02120300000000202051  ·  USt-IdNr. DE136695976"},
		{"foot in a line of all", "Schreinerei Holzer GmbH",
			"60 790 7 Schreinerei Holzer GmbH, Industriestraße 4, 84028 Landshut, HRB 1234, USt-IdNr. DE136695976"},
		{"foot by lines", "Schreinerei Holzer GmbH",
			"250 770 7 Schreinerei Holzer GmbH|250 779 7 Industriestraße 4 - 84028 Landshut|" +
				"250 788 7 Geschäftsführer: Max Holzer - HRB 1234|250 797 7 USt-IdNr. DE136695976"},
		{"foot with a manager", "Schreinerei Holzer GmbH",
			"60 760 7 Schreinerei Holzer GmbH|60 770 7 Geschäftsführer: Max Holzer|60 780 7 Industriestraße 4|" +
				"60 790 7 84028 Landshut|240 760 7 Volksbank Landshut eG|240 770 7 IBAN DE02120300000000202051|" +
				"420 760 7 Steuernr. 214/5876/1234|420 770 7 USt-IdNr. DE136695976"},
		{"thanks", "Harrow & Lane Ltd",
			"60 50 16 Harrow & Lane Ltd|60 70 9 12 High Street|60 82 9 London EC1A 1BB|" +
				"400 50 9 hello@harrowlane.co.uk|400 62 9 +44 20 7946 0000|60 700 9 Thank you for your business!|" +
				"60 790 8 VAT Reg No GB980780684"},
		{"cheques", "Harrow & Lane Ltd",
			"60 50 16 Harrow & Lane|60 68 9 12 High Street, London EC1A 1BB|" +
				"60 700 9 Please make payment to Harrow & Lane Ltd, sort code 20-00-00, account 12345678|" +
				"60 790 8 Harrow & Lane Ltd. Company No. 01234567. VAT No. GB980780684"},
		{"brand above", "Mobilnetz Austria GmbH",
			"60 50 24 mobilnetz|60 110 7 Mobilnetz Austria GmbH, Postfach 100, 1030 Wien|" +
				"60 790 7 Mobilnetz Austria GmbH, Rennweg 97, 1030 Wien, FN 123456a, UID ATU12345675"},
		{"contact within the block", "Elektro Bauer GmbH",
			"340 50 11 Elektro Bauer GmbH|340 64 9 Hauptplatz 1|340 76 9 8010 Graz|" +
				"340 88 9 Contact: Frau Huber, 0316 123456|340 100 9 office@elektro-bauer.at|340 112 9 UID: ATU12345675"},
		{"foreign", "Van der Berg Installaties B.V.",
			"60 50 14 Van der Berg Installaties B.V.|60 66 9 Kerkstraat 10|60 78 9 1017 GC Amsterdam|60 90 9 BTW-nr. NL004495445B01"},
	}
	for _, c := range cases {
		for _, customer := range [][]string{{"Wohnpark Nord Projekt GmbH", "z. Hd. Buchhaltung", "Am Tabor 3", "1020 Wien"},
			{"Frau", "Maria Neumann", "Gartenweg 12", "80331 München"}} {
			t.Run(c.name+" to "+customer[len(customer)-3], func(t *testing.T) {
				var p pdftest.Page
				at := func(x, y, size float64, text string) {
					p.Texts = append(p.Texts, pdftest.Text{X: x, Y: y, Size: size, Text: text})
				}
				for _, line := range strings.Split(c.lines, "|") {
					var x, y, size float64
					if _, err := fmt.Sscan(line, &x, &y, &size); err != nil {
						t.Fatal(err)
					}
					at(x, y, size, strings.SplitN(line, " ", 4)[3])
				}
				for i, line := range customer {
					at(60, 140+13*float64(i), 10, line)
				}
				at(60, 230, 14, "Rechnung / Invoice")
				for i, row := range []string{"Rechnungsnummer 2026-0417", "Rechnungsdatum 17.04.2026"} {
					at(60, 250+13*float64(i), 10, row)
				}
				for i, row := range [][2]string{{"Nettobetrag", "1.000,00 €"}, {"20 % USt.", "200,00 €"}, {"Gesamtbetrag", "1.200,00 €"}} {
					at(340, 400+14*float64(i), 10, row[0])
					at(480, 400+14*float64(i), 10, row[1])
				}
				r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
				if got := (text{r.SupplierName}).show(); got != c.want {
					t.Errorf("%s %s: supplier %s, want %s", r.Status, r.Detail, got, c.want)
				}
				if r.SupplierTaxID == nil {
					t.Error("no tax id")
				}
			})
		}
	}
}
