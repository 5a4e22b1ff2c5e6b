package page

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Given a bill that says again in another currency how much its sums are, by a rate that is printed, then its own are read, wherever the
// others stand and whatever they are called.
func TestSumsInAnotherCurrency(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ sums, want string }{
		"Czech, rows below": {`
Popis                       Základ      DPH 21 %       Celkem
Montáž haly              8 000,00      1 680,00     9 680,00
Doprava                    400,00         84,00       484,00
Celkem                   8 400,00      1 764,00    10 164,00
Celkem k úhradě                                10 164,00 EUR

Přepočet pro účely DPH, kurz ČNB 24,515 CZK/EUR
Základ daně CZK                                205 926,00
DPH 21 % CZK                                    43 244,46
Celkem CZK                                     249 170,46`, "EUR | 840000 | 176400 | 1016400"},
		"Hungarian, without decimals": {`
Nettó összesen           3 000,00 EUR
ÁFA 27%                    810,00 EUR
Fizetendő                3 810,00 EUR

MNB árfolyam 389,14 HUF/EUR
Nettó HUF                    1 167 420
ÁFA 27% HUF                    315 203
Bruttó HUF                   1 482 623`, "EUR | 300000 | 81000 | 381000"},
		"Romanian, beside them": {`
                               EUR              RON
Total fără TVA            2.500,00        12.441,25
TVA 21%                     525,00         2.612,66
Total cu TVA              3.025,00        15.053,91
Total de plată 3.025,00 EUR
Curs BNR 4,9765 lei/EUR`, "EUR | 250000 | 52500 | 302500"},
		"Romanian, side by side, and nothing says which": {`
                               RON              EUR
Total fără TVA           12.441,25         2.500,00
TVA 21%                   2.612,66           525,00
Total cu TVA             15.053,91         3.025,00
Curs BNR 4,9765 lei/EUR`, "- | - | - | -"},
		"the same, and the currency has a label": {`Valuta: EUR
                               RON              EUR
Total fără TVA           12.441,25         2.500,00
TVA 21%                   2.612,66           525,00
Total cu TVA             15.053,91         3.025,00
Curs BNR 4,9765 lei/EUR`, "EUR | 250000 | 52500 | 302500"},
		"British, the rate the other way": {`
Net total                EUR 4,300.00
VAT 20%                    EUR 860.00
Total due                EUR 5,160.00

Sterling equivalent at GBP 1 = EUR 1.1467
Net                       GBP 3,749.89
VAT                         GBP 749.98
Total                     GBP 4,499.87`, "EUR | 430000 | 86000 | 516000"},
		"Swiss, the total alone": {`
Beratung                                 1'200.00
Total exkl. MWST                         1'200.00
MWST 8.1 %                                  97.20
Total CHF                                1'297.20
Gegenwert in EUR zum Kurs von 0.93625    1'214.50`, "CHF | 120000 | 9720 | 129720"},
		"no tax is due on it": {`
Consultanță                           2.500,00
Total                                 2.500,00 EUR
Taxare inversă, art. 331
Echivalent în lei la cursul BNR 4,9765                12.441,25 lei`, "EUR | 250000 | 0 | 250000"},
		"an item paid in another currency, in its row": {`
Tag        Ort          Liter    Preis    Betrag lokal     Kurs       Betrag EUR
02.05.26   Brno         40,00    38,900   1.556,00 CZK    25,105          61,98
09.05.26   Wien         50,00     1,060      53,00 EUR                    53,00
Netto                                                                    114,98
USt 20 %                                                                  23,00
Gesamtbetrag EUR                                                         137,98`, "EUR | 11498 | 2300 | 13798"},
		"prices in another currency than the bill's": {`
Usługa                    Cena EUR       Wartość PLN
Projekt                   1 000,00          4 271,80
Nadzór                      500,00          2 135,90
Razem netto PLN                             6 407,70
VAT 23 % PLN                                1 473,77
Do zapłaty PLN                              7 881,47
Kurs 4,2718`, "PLN | 640770 | 147377 | 788147"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typedBill(c.sums), Own{})
			got := "- | " + sumsOf(f)
			if f.Currency != nil {
				got = f.Currency.Value + " | " + sumsOf(f)
			}
			if got != c.want {
				t.Errorf("read %s, want %s", got, c.want)
			}
		})
	}
}

// Given figures that a price or a rate leads from and to, then they are of two currencies only where each side names its own, and those
// are marked that fewer things speak for.
func TestWhatIsConverted(t *testing.T) {
	const litres = "Menge      Preis     Betrag EUR\n45,20      1,459          65,95\n30,00      1,459          43,77\nSumme EUR                109,72\n"
	for lines, want := range map[string]int{
		litres:                                0,
		litres + "Stammkapital 50.000,00 CHF": 0,
		"Total 100,00 EUR\nZahlbetrag 100,00 EUR\n427,18 PLN, 1 EUR = 4,2718 PLN":            1,
		"427,18 PLN, 1 EUR = 4,2718 PLN\nTotal 100,00 EUR\nZahlbetrag 100,00 EUR":            1,
		"Total 100,00 EUR, zum Kurs 4,2718 427,19 EUR\nZahlbetrag 100,00 EUR":                0,
		"100,00 EUR     427,18 PLN     Kurs 4,2718":                                          0, // which one is the bill's?
		"Total 100,00 EUR\nZahlbetrag 100,00 EUR\n427,18 PLN (4,2718)\nAuslagen 30,00 PLN":   2,
		"Total 100,00 EUR\nZahlbetrag 100,00 EUR\n447,18 PLN (4,2718)\nAuslagen 30,00 PLN":   0, // not by that rate
		"Total 100,00 EUR\nZahlbetrag 100,00 EUR\nGegenwert 24.515,00 CZK, Kurs 245,15 %":    0,
		"Total 100,00 EUR\nZahlbetrag 100,00 EUR\nGegenwert HUF 38 914, Kurs 389,14 EUR/HUF": 1,
	} {
		got := 0
		for _, row := range sheetOf(t, lines).rows {
			for _, it := range row {
				for _, a := range it.amounts {
					if a.foreign {
						got++
					}
				}
			}
		}
		if got != want {
			t.Errorf("%q: %d marked, want %d", lines, got, want)
		}
	}
}

// How far two products are apart is what numbers without a bound give.
func TestProductsApartIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(-1_000_000, 1_000_000), rapid.Int64Range(-math.MaxInt64, math.MaxInt64))
		a, b, c, d := number.Draw(t, "a"), number.Draw(t, "b"), number.Draw(t, "c"), number.Draw(t, "d")
		product := func(x, y int64) *big.Int { return new(big.Int).Abs(new(big.Int).Mul(big.NewInt(x), big.NewInt(y))) }
		want := new(big.Int).Abs(new(big.Int).Sub(product(a, b), product(c, d)))
		if most := big.NewInt(math.MaxInt64); want.Cmp(most) > 0 {
			want = most
		}
		if got := productsApart(a, b, c, d); got != want.Int64() {
			t.Fatalf("%d, want %s", got, want)
		}
	})
}
