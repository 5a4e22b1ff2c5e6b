package page

import "testing"

// Given sums of layouts that few countries or trades have, then the invoice's own are read, and none where nothing tells them.
func TestSumsOfFewLayouts(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ sums, want string }{
		"a row of sums without a word, below cells that say that there is no tax": {`
                                         EUR        USt 20 %         EUR
Planung der Fassade                  4.200,00       840,00       5.040,00
Gerichtsgebühr                         312,00       keine          312,00
Grundbuch                               48,50       keine           48,50
Kopien                                  60,00        12,00          72,00
                                     4.620,50       852,00       5.472,50
abzüglich Akonto vom 3. März                                    -2.000,00
Restbetrag                                                       3.472,50`, "462050 | 85200 | 547250"},
		"the same where a column doesn't add up": {`
                                         EUR        USt 20 %         EUR
Planung der Fassade                  4.200,00       840,00       5.040,00
Gerichtsgebühr                         312,00       keine          312,00
Kopien                                  60,00        12,00          72,00
                                     4.620,50       852,00       5.472,50
abzüglich Akonto vom 3. März                                    -2.000,00
Restbetrag                                                       3.472,50`, "- | - | -"},
		"lakhs and crores, and a tax in halves": {`
Particulars                       HSN        Qty         Rate            Amount
Structural audit                 998331      1.00    1,25,40,000.00    1,25,40,000.00
Site visits                      998339      4.00       15,000.00           60,000.00
                                                                       1,26,00,000.00
                                 CGST         9                          11,34,000.00
                                 SGST         9                          11,34,000.00
Total                                                                ₹ 1,48,68,000.00`, "1260000000 | 226800000 | 1486800000"},
		"a schedule of what is to be paid next year": {`
Fernwärme 2025                                                       3.480,00 €
Ihre Zahlungen                                                      -3.900,00 €
Guthaben                                                               420,00 €

Ihr Zahlungsplan
Tag                 Nettobetrag         20 % USt       Teilbetrag
15.02.2026              240,00             48,00         288,00 €
15.05.2026              240,00             48,00         288,00 €
15.08.2026              240,00             48,00         288,00 €

Wärmepreis          20.000 kWh                                       2.300,00 €
Grundpreis          1 Jahr                                             600,00 €
Nettobetrag                                                          2.900,00 €
Umsatzsteuer 20 %                                                      580,00 €
Bruttobetrag                                                         3.480,00 €`, "290000 | 58000 | 348000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typedBill(c.sums), Own{})
			if got := sumsOf(f); got != c.want {
				t.Errorf("read %s, want %s", got, c.want)
			}
		})
	}
}

// Given rows of a day, net sum, tax and total, then they are a schedule where the same sums come again on another day.
func TestASchedule(t *testing.T) {
	for rows, want := range map[string]int{
		"15.02.2026    240,00    48,00    288,00\n15.05.2026    240,00    48,00    288,00": 2,
		"15.02.2026    240,00    48,00    288,00\n15.02.2026    240,00    48,00    288,00": 0,
		"15.02.2026    240,00    48,00    288,00\n15.05.2026    250,00    50,00    300,00": 0,
		"Februar       240,00    48,00    288,00\nMai           240,00    48,00    288,00": 0,
	} {
		if got := len(sheetOf(t, rows).lists); got != want {
			t.Errorf("%q: %d rows, want %d", rows, got, want)
		}
	}
}

// Given a row of sums alone, then it is one of totals where each of them adds up its column, and words in place of a sum don't head it.
func TestARowOfTotalsWithoutAWord(t *testing.T) {
	const items = `
                              EUR        USt          EUR
Planung der Fassade      4.200,00     840,00     5.040,00
Kopien                      60,00      12,00        72,00
Gerichtsgebühr             312,00      keine       312,00
`
	for total, want := range map[string]int64{
		"                         4.572,00     852,00     5.424,00": 542400,
		"                         4.572,50     852,00     5.424,50": 0,
		"Sitzungsgeld             4.572,00     852,00     5.424,00": 542400,
	} {
		if got := sheetOf(t, items+total).totalRow(nil); got.grossValue != want*PerMinor {
			t.Errorf("%q: %d, want %d", total, got.grossValue, want)
		}
	}
}

// Given a bill with columns of all work so far, of what was billed before and of its own, in whatever order, then the sums of the column that
// is to be paid are read; where nothing says which one that is, none, nor those of rates or buildings.
func TestColumnsOfPeriods(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const french = `
                        Présent mois        Fin de mois      Mois précédents
Gros travaux HT            40 000,00         160 000,00           120 000,00
Travaux HT                 42 500,00         170 000,00           127 500,00
TVA 20 %                    8 500,00          34 000,00            25 500,00
Travaux TTC                51 000,00         204 000,00           153 000,00
`
	const german = `
                          Vorperiode      laufende Periode      insgesamt
Leistung netto             82.000,00            31.000,00      113.000,00
USt 19 %                   15.580,00             5.890,00       21.470,00
Leistung brutto            97.580,00            36.890,00      134.470,00
`
	const untaxed = `
                     dieser Monat         bis heute     bis Vormonat
Gerüst                   4.100,00         20.100,00        16.000,00
Dachstuhl               12.000,00         12.000,00             0,00
Netto                   16.100,00         32.100,00        16.000,00
Steuerschuldnerschaft des Leistungsempfängers
`
	for name, c := range map[string]struct{ sums, want string }{
		"without tax, its own first":                      {untaxed + "Zu überweisen sind 16.100,00 EUR", "1610000 | 0 | 1610000"},
		"without tax, its own first, and nothing says so": {untaxed, "- | - | -"},
		"its own first, less a retention": {french + `Retenue 5 %                -2 550,00
Net à payer                48 450,00`, "4250000 | 850000 | 5100000"},
		"its own first, to be paid": {french + `
Net à payer : 51 000,00 €`, "4250000 | 850000 | 5100000"},
		"its own first, and nothing says so": {french, "- | - | -"},
		"its own in the middle": {german + `
Zahlbetrag 36.890,00 EUR`, "3100000 | 589000 | 3689000"},
		"in Polish, its own between": {`
                      narastająco        w okresie      poprzednio
Roboty netto           210 000,00        60 000,00      150 000,00
VAT 23 %                48 300,00        13 800,00       34 500,00
Roboty brutto          258 300,00        73 800,00      184 500,00

Do zapłaty: 73 800,00 PLN`, "6000000 | 1380000 | 7380000"},
		"buildings and both together": {`
                             Haus A            Haus B         zusammen
Leistung netto            82.000,00         31.000,00       113.000,00
USt 19 %                  15.580,00          5.890,00        21.470,00
Leistung brutto           97.580,00         36.890,00       134.470,00

Zahlbetrag 134.470,00 EUR`, "11300000 | 2147000 | 13447000"},
		"rates and both together": {`
                              20 %              10 %         zusammen
Leistung netto            80.000,00         30.000,00       110.000,00
USt                       16.000,00          3.000,00        19.000,00
Leistung brutto           96.000,00         33.000,00       129.000,00

Zahlbetrag 129.000,00 EUR`, "11000000 | 1900000 | 12900000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typedBill(c.sums), Own{})
			if got := sumsOf(f); got != c.want {
				t.Errorf("read %s, want %s", got, c.want)
			}
		})
	}
}
