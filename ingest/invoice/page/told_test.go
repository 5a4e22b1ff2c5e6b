package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// letterThatTells is a letter whose sums stand in a text.
func letterThatTells(text string) string {
	return `Berger Gutachten GmbH
Werkstraße 4, 4400 Steyr
UID ATU12345675

Lindenhof Wohnbau GmbH
Hauptplatz 3
4400 Steyr

Rechnung 2026-118
Datum: 12.03.2026

` + text + `

Mit freundlichen Grüßen
Franz Berger
`
}

// Given a letter that tells net sum, tax and total in a paragraph, in whatever order and words, then they are read where they add up, a
// printed rate leads to the tax, and no other total is named; else none of them is.
func TestSumsToldInSentences(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a charge without tax in the net sum": {`Our fee was agreed at €4,250.00. To this we add €75.00 for sundries. Outlay paid on your behalf, on
which no VAT arises, amounted to €870.00. These items together come to €5,195.00. VAT at 23% on our fee
and sundries is €994.75, and accordingly the sum payable to us is €6,189.75.`, "519500 | 99475 | 618975"},
		"the total first": {`Für unser Einschreiten im Jänner, angeboten um 2.900,00 EUR, erlauben wir uns die Summe von
3.408,00 EUR zu verrechnen, das sind 2.840,00 EUR an Honorar, vermehrt um 568,00
EUR an Mehrwertsteuer in Höhe von 20 %.`, "284000 | 56800 | 340800"},
		"the tax behind its words on the line above, the total set apart": {`Die vereinbarte Provision von 3 % des Kaufpreises von EUR 485.000,00
beläuft sich daher auf EUR 14.550,00 zuzüglich 20 % Umsatzsteuer
in Höhe von EUR 2.910,00, sohin

                                        EUR 17.460,00`, "1455000 | 291000 | 1746000"},
		"words of tax behind it": {`Voor onze bemiddeling bij de verkoop brengen wij 1,5% over € 750.000,00 in
rekening, zijnde € 11.250,00, te vermeerderen met € 2.362,50 aan omzetbelasting (21%),
derhalve € 13.612,50.`, "1125000 | 236250 | 1361250"},
		"with what was laid out, the total set apart": {`Ich erlaube mir, an Honorar EUR 2.840,00 zu verzeichnen. Zuzüglich 20 % Umsatzsteuer
im Betrag von EUR 568,00 und der verauslagten Gerichtsgebühren (Durchlaufposten) von
EUR 382,50 ergibt sich ein Gesamtbetrag von

                                        EUR 3.790,50`, "- | 56800 | 379050"},
		"no tax, what the parts come to": {`Für elf Stunden zu je 115,00 Euro berechne ich 1.265,00 Euro,
dazu Laborkosten von 142,50 Euro und Fahrtkosten von 80,00
Euro, also 1.487,50 Euro. Umsatzsteuer weise ich als Kleinunternehmer nicht aus.`, "148750 | 0 | 148750"},
		"no tax, the sum in a paragraph of its own": {`Au mois de mai j'ai tondu la pelouse et taillé les haies : 6,50 heures à 24,00 €, soit 156,00 €.
S'y ajoutent 35 km à 0,40 €, soit 14,00 €, et la déchetterie pour 18,60 €.

Merci de bien vouloir virer 188,60 € sous quinzaine. Vos 90,00 € du mois d'avril me sont bien parvenus.

TVA non applicable, article 293 B du CGI, je suis auto-entrepreneuse.`, "18860 | 0 | 18860"},
		"no tax, a sum that nothing comes to": {`Au mois de mai j'ai tondu la pelouse et taillé les haies : 6,50 heures à 24,00 €, soit 156,00 €.
S'y ajoutent 35 km à 0,40 €, soit 14,00 €, et la déchetterie pour 18,60 €.

Merci de bien vouloir virer 198,60 € sous quinzaine. Vos 90,00 € du mois d'avril me sont bien parvenus.

TVA non applicable, article 293 B du CGI, je suis auto-entrepreneuse.`, "- | - | -"},
		"the tax by no printed rate": {`Für unser Einschreiten im Jänner erlauben wir uns 3.408,00 EUR zu verrechnen, das sind 2.840,00 EUR
an Honorar, vermehrt um 568,00 EUR an Mehrwertsteuer, bei einem Anteil von 13 %.`, "- | - | -"},
		"another total below": {`Für unser Einschreiten im Jänner erlauben wir uns 3.408,00 EUR zu verrechnen, das sind 2.840,00 EUR
an Honorar, vermehrt um 568,00 EUR an Mehrwertsteuer in Höhe von 20 %.

Gesamtbetrag              5.120,00 EUR`, "- | - | 512000"},
		"two rates, one after the other": {`62 × Buffet zu € 14,50 ........ € 899,00, Getränke € 297,60 und Geschirrverleih zu € 90,00
Gesamtbetrag mit der Steuer in Höhe von € 1.286,60
Speisen 10 %: netto 817,27, USt 81,73; und dann noch die
Getränke und der Verleih 20 %: netto 323,00, USt 64,60`, "- | - | 128660"},
		"two bills": {`Für unser Einschreiten im Jänner erlauben wir uns 3.408,00 EUR zu verrechnen, das sind 2.840,00 EUR
an Honorar, vermehrt um 568,00 EUR an Mehrwertsteuer in Höhe von 20 %.

Für unser Einschreiten im Februar erlauben wir uns 1.200,00 EUR zu verrechnen, das sind 1.000,00 EUR
an Honorar, vermehrt um 200,00 EUR an Mehrwertsteuer in Höhe von 20 %.`, "- | - | -"},
	} {
		_, got, _ := reader.Read(typed.Document(letterThatTells(c.text)), Own{})
		if all := strings.Split(brief(got), " | "); strings.Join(all[len(all)-3:], " | ") != c.want {
			t.Errorf("%s: %s, want %s", name, brief(got), c.want)
		}
	}
}

// Given a letter that tells its sums and, on the next page, how they were worked out, then those that are told count.
func TestSumsWorkedOutOnAnotherPage(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	letter := letterThatTells(`Für die erbrachten Leistungen ermitteln wir unser Honorar laut beiliegender Aufstellung
mit netto € 77 000,00. Unter Hinzurechnung der Umsatzsteuer von 20 %, das sind € 15 400,00, ergibt sich
ein Betrag von € 92 400,00.`)
	doc, annex := typed.Document(letter), typed.Document(`Bemessungsgrundlage               9 120 000,00
Summe Leistungen kumuliert          137 000,00
Nebenkosten 3,5 %                     4 800,00
Gesamthonorar bisher                141 800,00
bisher verrechnet                   -64 800,00
Teilhonorar                          77 000,00`).Pages[0]
	annex.Number = 2
	doc.Pages = append(doc.Pages, annex)
	if _, f, _ := reader.Read(doc, Own{}); sumsOf(f) != "7700000 | 1540000 | 9240000" {
		t.Errorf("read %s", sumsOf(f))
	}
}

// Given a paragraph that tells the sums of a contract, then they aren't the invoice's.
func TestSumsOfAContractAreNotTold(t *testing.T) {
	const told = `von 2.840,00 EUR ist um 568,00 EUR an Mehrwertsteuer in Höhe von 20 % zu vermehren, das sind 3.408,00 EUR.`
	for begin, want := range map[string]int64{"Das Honorar ": 34_080_000, "Die Vertragssumme ": 0} {
		if got := sheetOf(t, begin+told).toldSums(nil); got.grossValue != want {
			t.Errorf("%q: %d, want %d", begin, got.grossValue, want)
		}
	}
}

// Given paragraphs far apart that tell different totals, then none is told; nor is a sum without tax where no words say that none is due.
func TestWhatIsNotTold(t *testing.T) {
	const first = "Das Honorar von 2.840,00 EUR ist um 568,00 EUR an Mehrwertsteuer (20 %) zu vermehren, also 3.408,00 EUR."
	const second = "Das Honorar von 1.000,00 EUR ist um 200,00 EUR an Mehrwertsteuer (20 %) zu vermehren, also 1.200,00 EUR."
	const parts = "Ich berechne 1.265,00 Euro, Laborkosten von 142,50 Euro und Fahrtkosten von 80,00 Euro, also 1.487,50 Euro."
	for text, want := range map[string]int64{
		first:                         34_080_000,
		first + "\n\n\n\n\n" + second: 0,
		parts:                         0,
		parts + " Umsatzsteuer weise ich als Kleinunternehmer nicht aus.": 14_875_000,
	} {
		if got := sheetOf(t, text).toldSums(nil); got.grossValue != want {
			t.Errorf("%q: %d, want %d", text, got.grossValue, want)
		}
	}
}
