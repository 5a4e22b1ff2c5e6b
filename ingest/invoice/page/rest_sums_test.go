package page

import (
	"strings"
	"testing"
)

// Given bills of which something is taken off, what was paid before with its own tax or what the payer withholds, then net, tax and total
// are those of the bill itself; where the payments have no tax, of the whole of it.
func TestSumsOfWhatIsLeftAndWithheld(t *testing.T) {
	for name, c := range map[string]struct{ sums, want string }{
		"payments with their tax": {`
Trockenbau                                         98.012,10
Nettosumme                                         98.012,10
zzgl. 19,00 % MwSt.                                18.622,30
Bruttosumme                                       116.634,40
Zahlung vom 24.03.2026 zu AR-24/0688 (netto       -41.650,00
 35.000,00 + 6.650,00 MwSt.)
Zahlung vom 12.04.2026 zu AR-24/0813 (netto       -35.700,00
 30.000,00 + 5.700,00 MwSt.)
Restforderung                                      39.284,40
enthaltene MwSt. 19 %                               6.272,30`, "3301210 | 627230 | 3928440"},
		"payments, and the tax of the whole again": {`
Trockenbau                                         98.012,10
Nettosumme                                         98.012,10
zzgl. 19,00 % MwSt.                                18.622,30
Bruttosumme                                       116.634,40
Zahlung vom 24.03.2026                            -77.350,00
Restforderung                                      39.284,40
In der Bruttosumme enthaltene MwSt. 19 %           18.622,30`, "9801210 | 1862230 | 11663440"},
		"a tax withheld in a row of headings": {`
BASE IMPONIBLE   I.V.A.     CUOTA    I.R.P.F.   RETENCIÓN   TOTAL EUR
3.200,00         21,00 %    672,00   15,00 %    -480,00     3.392,00`, "320000 | 67200 | 387200"},
		"a tax withheld, and no total before it": {`
Compenso professionale                            8.944,00
Imponibile                                        8.944,00
IVA 22 %                                          1.967,68
Ritenuta d'acconto 20 %                          -1.788,80
Netto a pagare                                    9.122,88`, "894400 | 196768 | 1091168"},
		"what a rate withheld is of, below the heading of a total": {`
Onorario                                          2.400,00
Diritti, visure, copie                              350,00
Imponibile                                        2.750,00
I.V.A. 22%                                          605,00
Spese anticipate, escluse art. 15                   418,50
Totale fattura                                    3.773,50
Ritenuta d'acconto 20% su € 2.750,00              - 550,00
Netto a pagare                                    3.223,50`, "- | 60500 | 377350"},
		"a retention, and no total before it": {`
Malerarbeiten                                    10.000,00
Nettosumme                                       10.000,00
20 % USt.                                         2.000,00
abzüglich Haftrücklass                             -600,00
Zahlbetrag                                       11.400,00`, "1000000 | 200000 | 1200000"},
	} {
		if got := sumsOn(t, c.sums); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Given rows of totals under headings that no label that is known begins, then they are net, tax and total where the total is named
// elsewhere, or they add up the rows of rates above them.
func TestRowsOfTotalsUnderHeadings(t *testing.T) {
	for name, c := range map[string]struct{ sums, want string }{
		"a sum of items": {`
Označení dodávky        Množství    J.cena       Cena     %DPH        DPH     Kč celkem
Nájem jeřábu            1 měs    78 000,00  78 000,00     21%   16 380,00     94 380,00
Jeřábník, přesčas       14 hod      600,00   8 400,00     21%    1 764,00     10 164,00
Součet položek                              86 400,00           18 144,00    104 544,00
CELKEM K ÚHRADĚ                                                           104 544,00 Kč`, "8640000 | 1814400 | 10454400"},
		"rates that the row below adds up": {`
2 × nocleg ze śniadaniem                      brutto 1 296,00   VAT 8%
Parking                                          brutto 98,40   VAT 23%
Stawka                       Netto           VAT          Brutto
8%                        1 200,00         96,00        1 296,00
23%                          80,00         18,40           98,40
Razem PLN                 1 280,00        114,40        1 394,40`, "128000 | 11440 | 139440"},
	} {
		if got := sumsOn(t, c.sums); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Given a table of taxes whose figures stand right of their headings, then rules find net, tax and total in its row.
func TestARowOfTaxesRightOfItsHeadings(t *testing.T) {
	s := sheetOf(t, "Esigibilità iva       %IVA     Spese accessorie    Totale imponibile        Totale imposta\n"+
		"I (immediata)              10,00                                        9.600,00                   960,00\n\n"+
		"Totale documento          10.560,00")
	got, _ := s.byRules()
	if got.netValue != 9600*10_000 || got.taxValue != 960*10_000 || got.grossValue != 10_560*10_000 {
		t.Errorf("%s: net %d, tax %d, gross %d", got.rule, got.netValue, got.taxValue, got.grossValue)
	}
}

// Given sums before which a font of signs draws a euro for the letter e, then what they are called stands before that.
func TestSumsBehindAnEuroThatIsALetter(t *testing.T) {
	const sums = "Honorar netto                e 71.600,00\n20 % USt.                    e 14.320,00\nHonorar brutto               e 85.920,00"
	if got := sumsOn(t, "\n"+sums); got != "7160000 | 1432000 | 8592000" {
		t.Error(got)
	}
}

// Given a total that is left of all work so far, then what stands above it is that work and its bills, and no doubt about the total; below
// it, and where the total has another reason, it is.
func TestWhatIsAboveTheRestOfAllWork(t *testing.T) {
	row := func(n int) *sum { return &sum{item: &item{row: n}} }
	for name, c := range map[string]struct {
		rule string
		row  int
		want bool
	}{
		"above the rest":          {lessBilledBefore, 5, true},
		"below the rest":          {lessBilledBefore, 12, false},
		"above a total like any":  {"net + tax = gross", 5, false},
		"above the rest with tax": {restTaxed, 5, false},
	} {
		rules := totals{gross: &share{from: row(9), rule: c.rule}}
		if got := rules.billedOf(&bill{at: row(c.row)}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// sumsOn are net, tax and total of a bill with some sums.
func sumsOn(t *testing.T, sums string) string {
	t.Helper()
	reader, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := reader.Read(typedBill(sums), Own{})
	_, out, _ := strings.Cut(brief(got), " | - | ")
	return out
}
