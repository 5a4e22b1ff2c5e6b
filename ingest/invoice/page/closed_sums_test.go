package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given bills whose own total has a label that nobody knows, or that of something else, then what closes is read; where several totals do, or
// nothing says that no tax is due, no more is stated than is certain.
func TestSumsThatClose(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const progress = `
Leistungsstand exkl. MWST                   482'600.00
Rabatt 4 %                                  -19'304.00
Zwischentotal                               463'296.00
Rückbehalt 10 %                             -46'329.60
Total nach Rückbehalt                       416'966.40
Bisherige Akonto 1–4                       -285'000.00
G  Diese Etappe exkl. MWST                  131'966.40
H  MWST 8.10 % von G                         10'689.28
I  Schlusszahl                              142'655.68
`
	const left = `
Leistungsstand netto                        259.437,02
./. 1. Abschlagsrechnung                   -168.000,00
Abrechnungsstand netto                       91.437,02
`
	for name, c := range map[string]struct{ sums, want string }{
		"whatever the total is called":         {progress, "13196640 | 1068928 | 14265568"},
		"the tax not by the rate":              {strings.NewReplacer("10'689.28", "10'789.28", "142'655.68", "142'755.68").Replace(progress), "- | - | -"},
		"a smaller total below, for no reason": {progress + "Total CHF                                    99'000.00\n", "- | - | -"},
		"in a sentence": {`
Für die Leistungen bis Phase 4 stellen wir ein Honorar von 12.400,00 EUR zuzüglich
19 % Mehrwertsteuer in Höhe von 2.356,00 EUR, mithin 14.756,00 EUR in Rechnung.`, "1240000 | 235600 | 1475600"},
		"no tax on what is left":           {left + "Steuerschuldnerschaft des Leistungsempfängers.\n", "9143702 | 0 | 9143702"},
		"what is left, and nobody says so": {left, "- | - | -"},
		"not what is left of anything": {
			strings.Replace(left, "259.437,02", "250.000,00", 1) + "Steuerschuldnerschaft des Leistungsempfängers.\n", "- | - | -"},
		"what was billed, what is right, and the difference": {`
                       Netto EUR     USt. 20 % EUR     Brutto EUR
bisher                  8.880,00          1.776,00      10.656,00
richtig                 8.362,00          1.672,40      10.034,40
Unterschied              -518,00           -103,60        -621,60`, "-51800 | -10360 | -62160"},
		"totals of sections in an annex": {`
Erdarbeiten                                  41.880,20
Betonarbeiten                               112.455,75
Summe netto                                 154.335,95
Steuerschuldnerschaft des Leistungsempfängers, USt. 0,00
Gesamtbetrag                                154.335,95

Anhang: Positionen
01  Aushub                                   41.880,20
Gesamt Erdarbeiten                           41.880,20
01  Schalung                                112.455,75
Gesamt Betonarbeiten                        112.455,75`, "15433595 | 0 | 15433595"},
		"the label first, what explains it between": {`
Bereitstellung                                           4.218,75 EUR
Umsatzsteuer     steuerfrei nach § 4 Nr. 8 UStG              0,00 EUR
Belastung        Konto 441 902 00, Wert 05.06.2026       4.218,75 EUR`, "421875 | 0 | 421875"},
		"thousands in groups, the currency beside one of them": {`
Megnevezés         Nettó érték     ÁFA 27%       Bruttó érték
Vezérlés             1 486 000     401 220          1 887 220
Összesen             1 486 000     401 220          1 887 220
Fizetendő végösszeg: 1 887 220 Ft`, "148600000 | 40122000 | 188722000"},
		"the same beside a code with decimals": {`
Megnevezés          VTSZ     Nettó érték     ÁFA 27%       Bruttó érték
Statika             71.12      1 486 000     401 220          1 887 220
Összesen                       1 486 000     401 220          1 887 220
Fizetendő végösszeg: 1 887 220 Ft`, "148600000 | 40122000 | 188722000"},
		"a code beside sums in a currency with coins": {`
Práce              41.20      1 486 000     312 060          1 798 060
Celkem                        1 486 000     312 060          1 798 060
Celkem k úhradě: 1 798 060 Kč`, "- | - | 179806000"},
		"rows of rates with their bases beside the word of tax": {`
Warenwert 7 %                       860,00 USt        60,20
Warenwert 19 %                    1.334,00 USt       253,46
Summen                            2.194,00           313,66
Endbetrag EUR                                      2.507,66`, "219400 | 31366 | 250766"},
		"no tax, and a rate of exchange": {`
Munkadíj                                                     7 450,00
Fordított adózás / Reverse charge
Fizetendő összesen: 7 450,00 EUR
Az áfa összege forintban: 0 Ft. MNB árfolyam: 1 EUR = 389,14 HUF.`, "745000 | 0 | 745000"},
		"no tax, and the total in another currency": {`
Planuri de armare                             8.625,00
Taxare inversă
Total plată                               8.625,00 EUR
Curs valutar: 1 EUR = 5,0871 RON. Total plată în RON: 43.876,24`, "862500 | 0 | 862500"},
		"a supply within the union": {`
Okno PVC                        0% WDT          1.184,00
Do zapłaty: 1.184,00 EUR
Intra-Community supply, art. 138 Directive 2006/112/EC.`, "118400 | 0 | 118400"},
		"a net sum, its tax and what is left, less those of the bill before": {`
Schlussrechnungssumme netto                  28.545,95
zzgl. 19 % MwSt                               5.423,73
Schlussrechnungssumme brutto                 33.969,68
abzgl. 1. AZ 0266/25 netto 16.000,00        -16.000,00
darin enthaltene MwSt                        -3.040,00
Restforderung netto                          12.545,95
Restforderung MwSt                            2.383,73
Restforderung EUR                            14.929,68`, "1254595 | 238373 | 1492968"},
		"the same with a part withheld": {`
Schlussrechnungssumme netto                  28.545,95
zzgl. 19 % MwSt                               5.423,73
Schlussrechnungssumme brutto                 33.969,68
Sicherheitseinbehalt                        -16.000,00
darin enthaltene MwSt                        -3.040,00
Restforderung netto                          12.545,95
Restforderung MwSt                            2.383,73
Restforderung EUR                            14.929,68`, "2854595 | 542373 | 3396968"},
		"a tax that words deny": {`
Der steuerfreie Nettobetrag beläuft sich auf        1.200,50
Bruttobetrag                                        1.428,60 €`, "- | - | 142860"},
		"a return of taxes is an item": {`
Buchhaltung                                     180,00
Umsatzsteuervoranmeldung August                  45,00
Summe netto                                     225,00
20 % Umsatzsteuer                                45,00
Gesamtbetrag                                    270,00`, "22500 | 4500 | 27000"},
		"net and tax in a row of totals, a rate in the heading": {`
Denumirea     Cant.     Preț unitar     Valoare lei     TVA 21% lei
Lotizare          4        2.100,00        8.400,00        1.764,00
Total                                      8.400,00        1.764,00
Total de plată lei                                        10.164,00`, "840000 | 176400 | 1016400"},
		"a row of totals without cents, below a currency": {`
Megnevezés               Menny.   Nettó Ft     ÁFA Ft    Bruttó Ft
Szállás 2 éj             2        70 000       3 500      73 500
Idegenforgalmi adó       2         4 000           0       4 000
Étterem                  1        12 000       2 120      14 120
Összesen                          86 000       5 620      91 620`, "8600000 | 562000 | 9162000"},
		"what is left of bills before, no tax being due": {`
Summe                                             33.403,62
Nachlass 2 %                                        -668,07
Auftragssumme netto                               32.735,55
./. 1. Abschlag vom 03.03.2026                    15.000,00
./. 2. Abschlag vom 02.06.2026                    15.500,00
Restforderung                                      2.235,55
Steuerschuldnerschaft des Leistungsempfängers gemäß § 13b UStG.`, "223555 | 0 | 223555"},
		"the same of many bills": {`
Auftragssumme netto                               32.735,55
./. 1. Abschlag vom 03.03.2026                    15.000,00
./. 2. Abschlag vom 02.06.2026                     5.500,00
./. 3. Abschlag vom 02.07.2026                     4.000,00
./. 4. Abschlag vom 02.08.2026                     3.000,00
./. 5. Abschlag vom 02.09.2026                     3.000,00
Restforderung                                      2.235,55
Steuerschuldnerschaft des Leistungsempfängers gemäß § 13b UStG.`, "223555 | 0 | 223555"},
		"the same, a part being paid": {`
Summe                                             33.403,62
Nachlass 2 %                                        -668,07
Auftragssumme netto                               32.735,55
./. bereits bezahlt                               15.000,00
./. 2. Abschlag vom 02.06.2026                    15.500,00
Restforderung                                      2.235,55
Steuerschuldnerschaft des Leistungsempfängers gemäß § 13b UStG.`, "- | - | -"},
		"a balance as the Swiss call it": {`
Honorar (16.00 Std.)                  CHF           5'480.00
Kleinspesenpauschale                  CHF             164.40
Zwischentotal                         CHF           5'644.40
8,1 % Mehrwertsteuer                  CHF             457.20
Zu Ihren Lasten                       CHF           6'101.60`, "564440 | 45720 | 610160"},
		"what items come to together, without tax": {`
2 opnamedagen à € 525,00                          € 1.050,00
Nabewerking 28 beelden                              € 280,00
Samen                                             € 1.330,00
Ik maak gebruik van de kleineondernemersregeling.`, "133000 | 0 | 133000"},
		"one sum of somebody who pays no tax": {`
za statické posouzení vám účtuji sjednanou částku 13 500,- Kč.
Nejsem plátce DPH.`, "1350000 | 0 | 1350000"},
		"a total that is called rounded, and nobody prints by how much": {`
Arbeiten gemäss Rapport                       4'213.40
Zwischensumme exkl. MWST                      4'213.40
MWST 8.1 %                                      341.29
Gesamtbetrag inkl. MWST, gerundet             4'554.70`, "421340 | 34129 | 455470"},
		"by more than five hundredths": {`
Arbeiten gemäss Rapport                       4'213.40
Zwischensumme exkl. MWST                      4'213.40
MWST 8.1 %                                      341.29
Gesamtbetrag inkl. MWST, gerundet             4'554.75`, "- | - | -"},
		"to whole crowns": {`
Cena bez DPH                                 12 340,40 Kč
DPH 21 %                                      2 591,48 Kč
Zaokrouhlená částka celkem                   14 932,00 Kč`, "1234040 | 259148 | 1493200"},
		"expenses without tax, and the fees again in an annex": {`
Honoraires                                       2.400,00 EUR
Frais de bureau                                     96,00 EUR
Total soumis à la TVA                            2.496,00 EUR
TVA 17 %                                           424,32 EUR
Débours non soumis à la TVA                         84,00 EUR
Total à payer                                    3.004,32 EUR

Annexe
Conférence                                       1.500,00
Recherches                                         900,00
Total                                            2.400,00`, "- | 42432 | 300432"},
		"a duty below the tax is none": {`
Notarski zapis                                  387,00
Vpis                                             92,00
Osnova za DDV                                   479,00
22 % DDV                                        105,38
Taksa (ni predmet DDV)                           21,50
Skupaj EUR                                      605,88`, "- | 10538 | 60588"},
	} {
		_, f, _ := reader.Read(typedBill(c.sums), Own{})
		if got := sumsOf(f); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Given another total, then it is in another currency where its sum or the words before it name one.
func TestTotalsInOtherCurrencies(t *testing.T) {
	for lines, want := range map[string]bool{
		"Total plată 8.625,00 EUR\nTotal plată în RON: 43.876,24":                           true,
		"Total plată 8.625,00 EUR\nTotal plată 43.876,24 RON":                               true,
		"Total plată 8.625,00 EUR\nCurs: 1 EUR = 5,0871 RON. Total plată în RON: 43.876,24": true,
		"Total plată 8.625,00 EUR\nTotal plată 43.876,24":                                   false,
		"Total plată 8.625,00 EUR\nTotal plată 43.876,24 EUR":                               false,
		"Total plată 8.625,00\nTotal plată 43.876,24 RON":                                   false,
	} {
		s := sheetOf(t, lines)
		last := func(it *item) *sum { return &sum{item: it, amount: it.amounts[len(it.amounts)-1]} }
		if got := inOther(last(s.rows[1][0]), last(s.rows[0][0])); got != want {
			t.Errorf("%q: %t, want %t", lines, got, want)
		}
	}
}

// Given a plainly labelled net sum, then a total that is more by as much as a tax may be says that there is one, whatever words say of it.
func TestATaxThatWordsDeny(t *testing.T) {
	net := func(value int64) *sum { return &sum{value: value * PerMinor, role: roleNet, weight: 3} }
	for gross, want := range map[int64]bool{12000: true, 10200: true, 12800: true, 10000: false, 10100: false, 13000: false} {
		if got := net(10000).taxedTo(gross * PerMinor); got != want {
			t.Errorf("100.00 and %d: %t, want %t", gross, got, want)
		}
	}
	column := *net(10000)
	column.column = true
	if column.taxedTo(12000 * PerMinor) {
		t.Error("a net sum of a column tells of a tax")
	}
}

// Given a sum set large and alone over the words for a total, then it is that; set as small as others, or beside another cell, it isn't.
func TestASumOverItsLabel(t *testing.T) {
	for lines, want := range map[string]role{
		"#665,00 €\nGesamtbetrag":                  roleGross,
		"#665,00 €\nZahlbetrag":                    rolePayable,
		"665,00 €\nGesamtbetrag":                   roleNone,
		"#665,00 €\nZwischensumme netto":           roleNone,
		"#665,00 €\nGesamtbetrag          17,00 €": roleNone,
		"#665,00 €\nHinweise":                      roleNone,
	} {
		s := newSheet(testVocabulary(t), set("Zeile\nZeile\nZeile\nZeile", lines, "Zeile"))
		got := roleNone
		for _, sm := range s.sums() {
			if sm.value == 66500_00 {
				got = sm.role
			}
		}
		if got != want {
			t.Errorf("%q: role %d, want %d", lines, got, want)
		}
	}
}

// Given a year's bill less its prepayments in a row, and the year's sums again on the next page, then the row is the bill's.
func TestAYearsBillInARow(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	doc := typedBill(`Zusammenstellung                                  Netto EUR       USt 7 % EUR    Brutto EUR
Trinkwasser und Grundpreis                        2.407,98        168,56         2.576,54
abzüglich verrechnete Abschläge (11 Zahlungen)   -1.925,00       -134,75        -2.059,75
Nachzahlung                                         482,98         33,81           516,79`)
	details := typed.Document(`Bezeichnung                      Menge           Preis EUR    Betrag netto EUR
Verbrauchspreis Trinkwasser      1.182 m³        1,89 / m³            2.233,98
Grundpreis Zähler                12 Monate   14,50 / Monat              174,00
Summe                                                                 2.407,98

In der Bruttosumme von 2.576,54 EUR sind 7 % Umsatzsteuer von 168,56 EUR enthalten.`).Pages[0]
	details.Number = 2
	doc.Pages = append(doc.Pages, details)
	if _, f, _ := reader.Read(doc, Own{}); sumsOf(f) != "48298 | 3381 | 51679" {
		t.Errorf("read %s", sumsOf(f))
	}
	doc.Pages[1] = typed.Document(`Bezeichnung                      Menge           Preis EUR    Betrag netto EUR
Verbrauchspreis Trinkwasser      1.182 m³        1,89 / m³            2.233,98
Grundpreis Zähler                12 Monate   14,50 / Monat              174,00
Summe netto                                                           2.407,98
Umsatzsteuer 7 %                                                        168,56
Rechnungsbetrag brutto                                                2.576,54`).Pages[0]
	doc.Pages[1].Number = 2
	if _, f, _ := reader.Read(doc, Own{}); sumsOf(f) != "48298 | 3381 | 51679" {
		t.Errorf("with the year's sums labelled on the next page: read %s", sumsOf(f))
	}
}

// Given rows of net, tax and total, then one is left of a row above less those between where these have a minus and nothing is withheld.
func TestARowLessThoseBetween(t *testing.T) {
	const first = "Jahr            2.407,98      168,56      2.576,54\n"
	for rows, want := range map[string]int64{
		first + "Abschläge      -1.925,00     -134,75     -2.059,75\nNachzahlung       482,98       33,81        516,79": 51679,
		first + "Januar         -1.000,00      -70,00     -1.070,00\nFebruar          -925,00      -64,75       -989,75\n" +
			"Nachzahlung       482,98       33,81        516,79": 51679,
		first + "Abschläge       1.925,00      134,75      2.059,75\nNachzahlung       482,98       33,81        516,79": 0, // parts of the first
		first + "Einbehalt      -1.925,00     -134,75     -2.059,75\nNachzahlung       482,98       33,81        516,79": 0,
		first + "Abschläge      -1.900,00     -133,00     -2.033,00\nNachzahlung       482,98       33,81        516,79": 0,
	} {
		s := sheetOf(t, rows)
		if got := s.lessRows(s.triples()); got.grossValue != want*PerMinor {
			t.Errorf("%q: %d, want %d", rows, got.grossValue, want)
		}
	}
}

// Given a rate beside a tax within the total, then it is that of the total by this rate alone: else there is another rate.
func TestATaxWithinByItsRate(t *testing.T) {
	for lines, want := range map[string]bool{
		"Endbetrag 1.190,00 EUR\ndarin enthalten 19 % MwSt. 190,00 EUR": true,
		"Endbetrag 1.190,00 EUR\ndarin enthalten 7 % MwSt. 32,71 EUR":   false,
		"Endbetrag 1.190,00 EUR\ndarin enthaltene MwSt. 112,71 EUR":     true,
	} {
		s := sheetOf(t, lines)
		if got, _ := s.byRules(); got.hasTax != want {
			t.Errorf("%q: a tax %t, want %t", lines, got.hasTax, want)
		}
	}
}

// Given three rows of net, tax and total of which the last is the first less the second, then it is left of the first, with whatever sign
// the second is printed; and not of another one, nor where the rows don't come to it.
func TestARowThatIsLeftOfAnother(t *testing.T) {
	for rows, want := range map[string]bool{
		"Jahr            2.407,98      168,56      2.576,54\nAbschläge      -1.925,00     -134,75     -2.059,75\nNachzahlung       482,98       33,81        516,79": true,
		"Jahr            2.407,98      168,56      2.576,54\nAbschläge       1.925,00      134,75      2.059,75\nNachzahlung       482,98       33,81        516,79": true,
		"Jahr            2.407,98      168,56      2.576,54\nAbschläge      -1.900,00     -133,00     -2.033,00\nNachzahlung       482,98       33,81        516,79": false,
		"Jahr            2.000,00      140,00      2.140,00\nAbschläge      -1.517,02     -106,19     -1.623,21\nNachzahlung       482,98       33,81        516,79": false,
	} {
		s := sheetOf(t, rows)
		left := s.triples()[2]
		rules := totals{gross: &share{value: left.gross.value, from: &left.gross}}
		weighed := totals{gross: &share{value: 2576_54 * PerMinor}}
		if got := s.rowLeft(&rules, &weighed); got != want {
			t.Errorf("%q: %t, want %t", rows, got, want)
		}
	}
}

// Given a heading of two lines, then words of tax in the upper one name the column, too, unless there are figures.
func TestAHeadingOfTwoLines(t *testing.T) {
	for heads, want := range map[string]bool{
		"Nazwa      Wartość       VAT     Wartość\n             netto     kwota      brutto": true,
		"Nazwa      Wartość     kwota     Wartość\n             netto       VAT      brutto": true,
		"Nazwa      Wartość     rabat     Wartość\n             netto     kwota      brutto": false,
		"Nazwa      Wartość    VAT 23     Wartość\n             netto     kwota      brutto": false,
	} {
		s := sheetOf(t, heads+"\nRazem     1 900,00    257,00    2 157,00")
		if got := s.headedTax(s.rows[2][2]); got != want {
			t.Errorf("%q: %t, want %t", heads, got, want)
		}
	}
}
