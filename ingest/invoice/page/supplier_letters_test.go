package page

import (
	"slices"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// body is what follows the head of a German letter.
const body = `
Wien, 12.03.2026

Rechnung Nr. 2026-118

Leistung                              Betrag EUR
Beratung März 2026                      1.000,00

Summe netto                             1.000,00
20 % USt                                  200,00
Rechnungsbetrag                         1.200,00
`

// Given a letter as real senders print it, with several names of which one is the supplier's, then that one is read, or none.
func TestWhoseLetterItIs(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ letter, want string }{
		"a logo on several lines, the legal name in the imprint": {`
KORNTHAL
BERGER
& SÖHNE
ZIMMEREI
                     Seeblick Wohnbau GmbH
                     Uferweg 4
                     5310 Mondsee
` + body + `
Kornthal Berger & Söhne Zimmerei OG · FN 290118 d · UID ATU12345675 · IBAN AT61 1904 3002 3457 3201
`, "Kornthal Berger & Söhne Zimmerei OG"},
		"a logo in one small word, the legal name in the foot": {`
glasmann

Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
` + body + `





Glasmann Fenster und Türen GmbH     Tel. 01 234 56 78        Volksbank Wien AG
Lange Gasse 7, 1080 Wien            office@glasmann.example  IBAN AT61 1904 3002 3457 3201
Geschäftsführer: Ing. Karl Moser    UID ATU12345675          FN 118223 k HG Wien
`, "Glasmann Fenster und Türen GmbH"},
		"the buyer with an id at the top, the sender's particulars below the sums": {`
Seeblick Wohnbau GmbH
Uferweg 4, 5310 Mondsee
ATU69088346
` + body + `

Atelier Krenn OG — Lena Krenn, Tobias Ebner
Westbahnstraße 33/2, 1070 Wien
ATU12345675 / FN 519077b
AT61 1904 3002 3457 3201 / GIBAATWW
`, "Atelier Krenn OG"},
		"a trade name, and the owner who signs": {`
                                       Elektro Kramsach
                              Installationen und Blitzschutz
                        Inh. Josef Kramsach, Meisterbetrieb
                                 6330 Kufstein, Kreuzgasse 9
                                          Tel 0664 43 21 776

Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
` + body + `
Mit freundlichen Grüßen
Josef Kramsach
`, "Josef Kramsach"},
		"the buyer flush right below his label": {`
Studio Tecnico Geom. Carlo Dal Bosco
                                                                   Spett.le
Via dei Tigli 18 – 33018 Tarvisio (UD)
                                                      Seeblick Wohnbau GmbH
C.F. DLLPLA71C14L057F – P.IVA 01234567897
                                                                  Uferweg 4
Iscr. Collegio Geometri n. 3318
                                                               5310 Mondsee
                                                            VAT ATU12345675
` + body, "Studio Tecnico Geom. Carlo Dal Bosco"},
		"a list's head above a line across, the buyer's id below": {`
BAUWELT HOLZINGER HANDELSGES.M.B.H.                    FILIALE 07
NEUBAUER STRASSE 120    4050 TRAUN     TEL 07229/6100
==============================================================
SEEBLICK WOHNBAU GMBH
UFERWEG 4
5310 MONDSEE

UID-NR KUNDE: ATU69088346
` + body + `
UID ATU12345675 FN 88123 F LG LINZ
`, "BAUWELT HOLZINGER HANDELSGES.M.B.H."},
		"a name that another language greets with": {`
Gerber Bodenbeläge AG, Industriestrasse 18, 8645 Jona

Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
` + body, "Gerber Bodenbeläge AG"},
		"a legal form in two languages": {`
Huber Metall
Huber Metall des Huber Florian & Co. KG-SAS
Handwerkerzone 11
39044 Neumarkt
                                        Rechnungsanschrift
                                        Seeblick Wohnbau GmbH
                                        5310 Mondsee
` + body, "Huber Metall des Huber Florian & Co. KG-SAS"},
		"a legal form behind commas": {`
Wasserwerk Lindau, Betrieb und Netz, AG
Hafenstraße 12, 6900 Bregenz

Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
` + body, "Wasserwerk Lindau, Betrieb und Netz, AG"},
		"the form on a second line": {`
Holzbau Reitmayr
GmbH & Co KG
Sägestraße 8
4810 Gmunden

                               Seeblick Wohnbau GmbH
                               Uferweg 4
                               5310 Mondsee
` + body, "Holzbau Reitmayr GmbH & Co KG"},
		"a hotel whose owner stands in the imprint": {`
                 HOTEL TURMBLICK
       Marktplatz 3 · 4020 Linz · Tel. 0732 1234

Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
` + body + `
Inh. Turm Gastronomie Betriebs GmbH · UID ATU12345675 · FN 118223 k LG Linz
`, "Turm Gastronomie Betriebs GmbH"},
		"a general partner, a group and an insurer in the small print": {`
Reitmayr Tiefbau GmbH & Co. KG
Sägestraße 8, 80331 München

Seeblick Wohnbau GmbH
Uferweg 4
81675 München
` + body + `
Reitmayr Tiefbau GmbH & Co. KG · HRA 4711 München · USt-IdNr. DE136695976
Persönlich haftende Gesellschafterin: Reitmayr Verwaltungs GmbH · HRB 4712 München
Haftpflichtversicherung: Alpina Versicherung AG, Ring 2, 1010 Wien
Ein Unternehmen der Nordgrund Holding AG
`, "Reitmayr Tiefbau GmbH & Co. KG"},
		"lawyers and what they are in a column": {`
MOSER LINHART
RECHTSANWÄLTE

Dr. Eva Moser               Seeblick Wohnbau GmbH
Mag. Peter Linhart          Uferweg 4
Domplatz 3                  5310 Mondsee
5020 Salzburg
kanzlei@moser-linhart.example
` + body + `
Moser Linhart Rechtsanwälte OG, Domplatz 3, 5020 Salzburg, UID ATU12345675, FN 290118 d Landesgericht Salzburg
`, "Moser Linhart Rechtsanwälte OG"},
		"boxes of labels beside the name": {`
TRASPORTI             Cod. cliente      Data documento     Pagina
                      C00418            12/03/2026         1 di 1
BERTOLDI
Autotrasporti Bertoldi S.n.c. di Bertoldi G. & C. - Via Roma 22 - 37066 Sommacampagna - P.IVA e C.F. 00743110157

Spett.le
Lago Immobiliare S.r.l.
Corso Italia 4
39100 Bolzano

Fattura n. 2026-118 del 12/03/2026

Descrizione                              Importo
Trasporto                               1.000,00

Imponibile                              1.000,00
IVA 22 %                                  220,00
Totale documento EUR                    1.220,00
`, "Autotrasporti Bertoldi S.n.c. di Bertoldi G. & C."},
		"a slogan and services above the name": {`
Heizung · Sanitär · Lüftung · Klima
wir machen Räume warm

Installationen Berger e.U.
Lange Gasse 7
1080 Wien

Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
` + body, "Installationen Berger e.U."},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typed.Document(c.letter), Own{})
			switch {
			case f.SupplierName == nil:
				t.Errorf("the supplier is not read, want %q", c.want)
			case f.SupplierName.Value != c.want:
				t.Errorf("the supplier is %q (%s, %.2f), want %q", f.SupplierName.Value, f.SupplierName.Rule, f.SupplierName.Confidence, c.want)
			}
		})
	}
}

// Given a tax id whose label ends a line, or names another id, too, then it is read.
func TestTaxIDsBehindTheirLabels(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ foot, want string }{
		"on the next line":   {"Zahlbar sofort ohne Abzug. Sparkasse DE75 1234 5678 0000 0012 34. Steuer-Nr.\n34/129/00448 Finanzamt Linden", "34/129/00448"},
		"before a telephone": {"Berger S.L. - NIF B73041824 - Tel. 961 418 273", "B73041824"},
		"of two kinds of id": {"Bertoldi S.r.l. - Via Roma 22 - 37066 Sommacampagna - P.IVA e C.F. 00743110157", "00743110157"},
	} {
		_, f, _ := reader.Read(typed.Document("\nInstallationen Berger\nLange Gasse 7\n1080 Wien\n"+body+"\n"+c.foot+"\n"), Own{})
		if f.SupplierTaxID == nil || f.SupplierTaxID.Value != c.want {
			t.Errorf("%s: the tax id is %+v, want %s", name, f.SupplierTaxID, c.want)
		}
	}
}

// Given a short form of a name, then it counts for the one full name with a legal form that holds its words, and for itself
// where two companies share them.
func TestShortFormsOfNames(t *testing.T) {
	s := &sheet{vocabulary: testVocabulary(t)}
	const firm, sister = "Weiss & Partner Rechtsanwälte OG", "Weiss & Partner Steuerberatung GmbH"
	for name, c := range map[string]struct {
		names []string
		want  string // what the first is short for
	}{
		"the words of it":     {[]string{"WEISS & PARTNER", firm}, firm},
		"one word of it":      {[]string{"Rechtsanwälte", firm}, firm},
		"in one word":         {[]string{"weisspartner", "Weiss Partner OG"}, "Weiss Partner OG"},
		"of two companies":    {[]string{"Weiss & Partner", firm, sister}, "Weiss & Partner"},
		"another word":        {[]string{"Moser & Partner", firm}, "Moser & Partner"},
		"no full name":        {[]string{"Weiss", "Weiss Rechtsanwälte"}, "Weiss"},
		"another company":     {[]string{sister, firm}, sister},
		"the full name alone": {[]string{firm}, firm},
	} {
		var all []named
		for _, n := range c.names {
			all = append(all, named{name: n, key: Key(n)})
		}
		if s.group(all); all[0].whole != Key(c.want) {
			t.Errorf("%s: %q is %s, want %s", name, c.names[0], all[0].whole, Key(c.want))
		}
	}
}

// Given a line with more than a name, then the name alone may be the supplier's.
func TestNamesWithinLines(t *testing.T) {
	v := testVocabulary(t)
	for line, want := range map[string]string{
		"Sie erhalten diese Rechnung von der Reitmayr Tiefbau GmbH als Ihrem Vertragspartner.": "Reitmayr Tiefbau GmbH",
		"Glasmann is a brand of Berger Windows Ltd | VAT GB980780684":                          "Berger Windows Ltd",
		"Harlow Surveyors LLP is a limited partnership. VAT No. GB980780684":                   "Harlow Surveyors LLP",
		"Berger & Sohn GmbH & Co. KG · FN 290118 d · UID ATU12345675":                          "Berger & Sohn GmbH & Co. KG",
		"Bertoldi S.n.c. di Bertoldi G. & C. - Via Roma 22 - P.IVA 00743110157":                "Bertoldi S.n.c. di Bertoldi G. & C.",
		"Malerei Kogler e.U. Inh. Franz Kogler · UID ATU12345675":                              "Malerei Kogler e.U.",
	} {
		s := newSheet(v, typed.Document("Rechnung 2026-118\n\n"+line+"\n"))
		all := s.names(Own{}, s.buyers(), nil)
		if !slices.ContainsFunc(all, func(c named) bool { return c.name == want }) {
			t.Errorf("%q is not among the names of %q: %+v", want, line, all)
		}
	}
	for _, fragment := range []string{"& PARTNER", "Berger &", "Commerce) Aucun escompte"} {
		if v.nameLike(fragment) {
			t.Errorf("%q is taken for a name", fragment)
		}
	}
}
