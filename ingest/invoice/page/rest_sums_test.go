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
		"rows of bills before, without their signs": {`
Abrechnungssumme netto                            46.932,80
zzgl. 19 % MwSt                                    8.917,23
Abrechnungssumme brutto                           55.850,03
Rechnung                             netto     19 % MwSt      brutto
1. Abschlagsrechnung             15.000,00      2.850,00   17.850,00
2. Abschlagsrechnung             18.000,00      3.420,00   21.420,00
Summe Abschläge                  33.000,00      6.270,00   39.270,00
Restforderung                    13.932,80      2.647,23   16.580,03`, "1393280 | 264723 | 1658003"},
		"bills before and what is left in sentences": {`
Honorar laut Vertrag 86.400,00 €, zuzüglich 4 % Nebenkosten von 3.456,00 €, somit
89.856,00 € ohne Umsatzsteuer. Zuzüglich 20 % Umsatzsteuer in Höhe von 17.971,20 € ergibt
sich eine Gesamtsumme von 107.827,20 €.
Darauf wurden gestellt: Teilrechnung H2 vom 12.05.2025 über 25.920,00 € zuzüglich
5.184,00 € USt, das sind 31.104,00 €, und Teilrechnung H4 vom 02.02.2026 über
33.696,00 € zuzüglich 6.739,20 € USt, das sind 40.435,20 €.
Es verbleibt ein Resthonorar von 30.240,00 € netto; die Umsatzsteuer hierauf beträgt
6.048,00 €. Wir bitten Sie, den offenen Betrag von
            36.288,00 €
auf unser Konto zu überweisen.`, "3024000 | 604800 | 3628800"},
		"one figure before, and what is left with its tax below": {`
Gesamtleistung netto                              60.000,00
zzgl. 20 % USt                                    12.000,00
Gesamtleistung brutto                             72.000,00
bisher verrechnet brutto                          48.000,00
Restsumme netto                                   20.000,00
20 % USt                                           4.000,00
Zu zahlen                                         24.000,00`, "2000000 | 400000 | 2400000"},
		"rows of two rates below their total": {`
Zimmer und Frühstück                                 600,00
Getränke                                             300,00
Summe netto                                          900,00
Umsatzsteuer                                         120,00
Gesamtbetrag                                       1.020,00
Satz         Netto          USt       Brutto
10 %        600,00        60,00       660,00
20 %        300,00        60,00       360,00`, "90000 | 12000 | 102000"},
		"rows of rates, one of nothing": {`
Total EUR                                                    689,53
Code    MwSt            Netto       Steuer         Brutto
A       10 %           509,82        50,98         560,80
C       20 %            96,25        19,25         115,50
X       0%              13,23         0,00          13,23`, "61930 | 7023 | 68953"},
		"a correction without tax": {`
             Netto        VAT      Brutto
Przed        6 420,00     0,00     6 420,00
Po           5 778,00     0,00     5 778,00
Różnica       -642,00     0,00      -642,00
Do zwrotu: 642,00 EUR`, "-64200 | 0 | -64200"},
		"a tourist tax below the total": {`
Zimmer                                              900,00
Summe Netto                                         900,00
USt 10 %                                             90,00
Summe Brutto                                        990,00
Ortstaxe                                             16,80
GESAMTBETRAG                                      1.006,80`, "- | 9000 | 100680"},
		"freight between the tax and what is due": {`
Lamps                                               109.90
SUBTOTAL                                            109.90
SALES TAX                                            10.99
SHIPPING & HANDLING                                   5.00
TOTAL DUE                                           125.89`, "- | 1099 | 12589"},
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
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := reader.Read(typedBill(sums), Own{})
	_, out, _ := strings.Cut(brief(got), " | - | ")
	return out
}

// Given three rows of net, tax and total of which the last is the difference of the others, then it is a correction's own, unless a row
// behind it repeats the first one: then the second is a total of parts.
func TestADifferenceOfTwoRowsIsACorrectionsOwn(t *testing.T) {
	const rows = `
bisher              40.000,00      8.000,00     48.000,00
richtig             55.000,00     11.000,00     66.000,00
Differenz           15.000,00      3.000,00     18.000,00`
	for below, want := range map[string]int64{
		"": 18_000 * 10_000, "\nneu                 15.000,00      3.000,00     18.000,00": 18_000 * 10_000,
		"\nbisher              40.000,00      8.000,00     48.000,00": 0,
	} {
		if got := sheetOf(t, rows+below).corrected(); got.grossValue != want {
			t.Errorf("with %q: %d, want %d", below, got.grossValue, want)
		}
	}
}

// Given what is left of a total, with its net sum and tax, then it is the bill's own, unless the payer withholds what is between, or it has
// another rate.
func TestWhatIsLeftOfATotal(t *testing.T) {
	const total = `
Leistung netto                                    60.000,00
20 % USt                                          12.000,00
Leistung brutto                                   72.000,00
`
	for name, c := range map[string]struct {
		below string
		want  int64
	}{
		"one figure before": {`
bisher verrechnet                                 48.000,00
Restsumme netto                                   20.000,00
USt                                                4.000,00
Zu zahlen                                         24.000,00`, 24_000},
		"a figure that the payer keeps": {`
Haftungsrücklass                                  48.000,00
Restsumme netto                                   20.000,00
USt                                                4.000,00
Zu zahlen                                         24.000,00`, 0},
		"another rate": {`
bisher verrechnet                                 48.000,00
Restsumme netto                                   20.400,00
USt                                                3.600,00
Zu zahlen                                         24.000,00`, 0},
		"no figure before": {`
Restsumme netto                                   20.000,00
USt                                                4.000,00
Zu zahlen                                         24.000,00`, 0},
		"no name of a total": {`
bisher verrechnet                                 48.000,00
Material                                          20.000,00
Lohn                                               4.000,00
Beton                                             24.000,00`, 0},
		"bills before, in a row each": {`
Rechnung 1 netto 20.000,00 USt 4.000,00 brutto 24.000,00
Rechnung 2 netto 20.000,00 USt 4.000,00 brutto 24.000,00
Rest netto 20.000,00 USt 4.000,00 zu zahlen 24.000,00`, 24_000},
	} {
		s := sheetOf(t, total+c.below)
		best := ruled{gross: s.totalNamed(t, "Leistung brutto"), hasNet: true, netValue: 60_000 * 10_000, taxValue: 12_000 * 10_000, grossValue: 72_000 * 10_000}
		if got, _ := s.remainder(best); got.grossValue != c.want*10_000 {
			t.Errorf("%s: %d, want %d", name, got.grossValue, c.want*10_000)
		}
	}
}

// Given a bill without tax that takes the bills before off, then what is left is its own, called a total or a bill's; it isn't where other
// figures are taken off, payments and what the payer keeps.
func TestWhatIsLeftWithoutTax(t *testing.T) {
	for lines, want := range map[string]string{
		"abzüglich 1. Abschlagsrechnung A1 vom 30.07.2025  -48.000,00\nForderung 2. Abschlagsrechnung                     12.000,00": "1200000 | 0 | 1200000",
		"1. Teilrechnung A1 vom 30.07.2025                 -48.000,00\nRechnungsbetrag                                    12.000,00": "1200000 | 0 | 1200000",
		"Zahlung vom 30.07.2025                            -48.000,00\nForderung laut Rechnung                            12.000,00": "6000000 | 0 | 6000000",
		"Sicherheitseinbehalt laut 1. Abschlagsrechnung    -48.000,00\nForderung 2. Abschlagsrechnung                     12.000,00": "6000000 | 0 | 6000000",
	} {
		got := sumsOn(t, `
Erdarbeiten                                        40.000,00
Beton                                              20.000,00
Leistungssumme netto                               60.000,00
`+lines+`

Steuerschuldnerschaft des Leistungsempfängers nach § 13b UStG.`)
		if got != want {
			t.Errorf("%s: %s, want %s", lines, got, want)
		}
	}
}

// totalNamed is the sum behind a label.
func (s *sheet) totalNamed(t *testing.T, label string) *sum {
	t.Helper()
	all, _ := s.money()
	for i := range all {
		if strings.HasPrefix(s.labelOf(&all[i]), foldText(label)) {
			return &all[i]
		}
	}
	t.Fatalf("no sum is called %s", label)
	return nil
}

// Given totals that tables set in their columns, then net, tax and total are read where something says what they are: headings far above,
// labelled rows of rates that add up, headings that begin where the columns do, a rate to the whole unit. Quantity times price is no tax.
func TestTotalsInColumns(t *testing.T) {
	for name, c := range map[string]struct{ sums, want string }{
		"headings far above, the total below beside other lines": {`
Denumirea          Cantit.     Pret unitar      Valoarea       TVA
Vata minerala       640,00           31,20     19.968,00     4.193,28
Adeziv              180,00           28,70      5.166,00     1.084,86








Semnatura                         Total        25.134,00     5.278,14
Numele delegatului
C.I. seria
Mijloc de transport               Total de plata
Expedierea s-a efectuat
la data                                        30.412,14`, "2513400 | 527814 | 3041214"},
		"rows of rates and their sums": {`
        Netto 10%       1.806,10  USt    180,61
        Netto 20%         360,00  USt     72,00
        Netto 0%          412,75  USt      0,00
        Summen          2.578,85         252,61
                       ZAHLUNGSBETRAG            2.831,46`, "257885 | 25261 | 283146"},
		"sums that are not those of the rows": {`
        Netto 10%       1.806,10  USt    180,61
        Netto 20%         360,00  USt     72,00
        Summen          2.578,85         252,61
                       ZAHLUNGSBETRAG            2.831,46`, "- | - | -"},
		"figures on the right of headings on the left": {`
Riferimenti normativi      Spese      Totale imponibile          Totale imposta
Non imp. art. 41                                 12.176,85                   0,00
Bollo          Sconto          Arr.        Totale documento
                                                           EUR 12.176,85
Scadenza       Banca           Data         Importo
Bonifico       BPM             30-09-2026   6.088,42
Bonifico       BPM             31-10-2026   6.088,43`, "1217685 | 0 | 1217685"},
		"a rate to the whole unit": {`
Megnevezés                 1 850 000 27%     499 500     2 349 500
Művezetés                    306 450 27%      82 742       389 192
Összesen:                  2 156 450         582 242     2 738 692
Fizetendő összesen: 2 738 692 Ft`, "215645000 | 58224200 | 273869200"},
		"items of which one is a rate of the other": {`
Totale Fattura: 1.230,00
Descrizione                 Quantità     Prezzo        Totale
Servizio Consulenza         10           100,00      1.000,00
Supporto Tecnico             2           115,00        230,00`, "- | - | 123000"},
	} {
		if got := sumsOn(t, c.sums); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Given the only sum of an invoice without tax under a label of net sums, then it is what is to be paid, though its items are a cent more.
func TestAnExemptNetSumAlone(t *testing.T) {
	const want = "45727 | 0 | 45727"
	if got := sumsOn(t, `
Beratung                                            298,65
Planung                                             158,63
Netto                                               457,27
Kein Ausweis von Umsatzsteuer, da Kleinunternehmer gemäß § 19 UStG.`); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
