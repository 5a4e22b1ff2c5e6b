package page

import "testing"

// Given totals that are known by what they add up, contain or stand alone as, whatever they are called, then these are the sums.
func TestTotalsKnownByTheirParts(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ sums, want string }{
		"what is left, with the net sum and tax in it": {`
Grundleistungen erbracht, netto                   80.000,00
zzgl. 19 % Umsatzsteuer                           15.200,00
Honorar erbracht, brutto                          95.200,00
abzüglich 1. Abschlag 26-31-A1
(netto 50.000,00 €, USt 9.500,00 €)              -59.500,00
Forderung aus diesem Abschlag                     35.700,00
darin enthalten: netto 30.000,00 €, USt 19 % 5.700,00 €`, "3000000 | 570000 | 3570000"},
		"what is left of a sum that nothing is called": {`
Summe                                              4.200,00
19 % Umsatzsteuer                                    798,00
Zwischensumme                                      4.998,00
abzüglich Vorschuss vom 14.07.2026                -1.785,00
Noch zu zahlen (darin netto 2.700,00, USt 513,00)  3.213,00`, "270000 | 51300 | 321300"},
		"a row of totals below rows of items": {`
Leistung           Netto        USt         Brutto
Wassergebühr       800,00       80,00       880,00
Kanalgebühr      1.700,00      170,00     1.870,00
Grundsteuer        300,00        0,00       300,00
Vierteljahr      2.800,00      250,00     3.050,00`, "280000 | 25000 | 305000"},
		"a row of totals below items whose own net sums and taxes close": {`
                              Cena              Wartość                 Kwota               Wartość
Lp.  Nazwa                                                      VAT
                              netto             netto                   VAT                 brutto
     Konstrukcja PV
1                                      48,50          5 820,00  23%           1 338,60              7 158,60
     element S1
2    Śruby                             31,20          7 488,00  23%           1 722,24              9 210,24
3    Transport                      1 450,00          1 450,00  23%             333,50              1 783,50
                                      Razem:         14 758,00                3 394,34             18 152,34
Do zapłaty: 18 152,34 PLN`, "1475800 | 339434 | 1815234"},
		"items with their tax below one another": {`
Prämie für ein Halbjahr (inkl. Versicherungssteuer)      EUR 3.200,00
Zuschlag                                                 EUR 96,00
Gebühr                                                   EUR 4,00
Zu zahlen bis 01.12.2026                                 EUR 3.300,00
Prämien sind von der Umsatzsteuer befreit.`, "330000 | 0 | 330000"},
		"what the sums are stands behind them": {`
Auftragswert                                      EUR 180.000,00
EUR       54.000,00      netto
EUR       10.800,00      20 % USt
EUR       64.800,00      zahlbar bis 06.05.2026`, "5400000 | 1080000 | 6480000"},
		"one sum, and no tax is due": {`
gemäß Beitragsordnung beträgt Ihr Beitrag für das laufende Jahr
                    2.150,00 EUR
Der Mitgliedsbeitrag unterliegt nicht der Umsatzsteuer.`, "215000 | 0 | 215000"},
		"one sum, and nothing about tax": {`
Wir erlauben uns zu berechnen
                    2.150,00 EUR`, "- | - | -"},
		"two sums, and no tax is due": {`
Versicherungssumme 90.000,00 EUR
Der Beitrag ist von der Umsatzsteuer befreit: 2.150,00 EUR`, "- | - | -"},
		"a row of totals without tax below rows without": {`
                         Cena        Wartość             Kwota         Wartość
Lp.  Nazwa                                       VAT
                         netto       netto               VAT           brutto
1    Stolarka           389,00      9 336,00      0%        0,00      9 336,00
     zamówienie

2    Transport        1 150,00      1 150,00      0%        0,00      1 150,00
                        Razem:     10 486,00      X         0,00     10 486,00
Do zapłaty: 10 486,00 EUR
Stawka 0% na podst. art. 42 ustawy o VAT`, "1048600 | 0 | 1048600"},
		"the row of a table of bills that is asked for": {`
Akonto        Rechnung       Datum              exkl. MWST    MWST 8,1 %     inkl. MWST
1             2540991        18.12.2025          40'000.00      3'240.00      43'240.00
2             2640317        26.03.2026          55'000.00      4'455.00      59'455.00
3             diese          24.06.2026          45'000.00      3'645.00      48'645.00
Total Akonto bisher                             140'000.00     11'340.00     151'340.00

Wir bitten um Überweisung von CHF 48'645.00`, "4500000 | 364500 | 4864500"},
		"a row of rates that a sentence repeats": {`
Satz          Netto         USt          Brutto
20 %          400,00        80,00        480,00
10 %          200,00        20,00        220,00
Rechnungsbetrag                          700,00

Wir bitten um Überweisung von EUR 480,00 für die Beratung und EUR 220,00 für die Bücher.`, "60000 | 10000 | 70000"},
		"a gross volume and its price": {`
1   Brutto-Rauminhalt 11.840 m³ × 152,00 €/m³ (anrechenbarer Bauwert)     1.799.680,00
2   davon anteilig erbracht                                                   7.318,24
3   Auslagen                                                                     92,40
4   Zwischensumme (2 + 3)                                                     7.410,64
5   Umsatzsteuer 19 v. H.                                                     1.408,02
6   Gebührensumme (4 + 5) in Euro                                             8.818,66`, "741064 | 140802 | 881866"},
		"rates of which one is none": {`
Gesamt                                                          522,20
Steuersatz      Netto       MwSt      Brutto
7 %             361,68      25,32     387,00
19 %            104,79      19,91     124,70
0 %              10,50       0,00      10,50`, "47697 | 4523 | 52220"},
		"outlays without tax below a total that isn't called one": {`
Errichtung des Vertrages                                     € 4.000,00
Kopien, Porti                                                  € 500,00
                                                             € 4.500,00
20 % Umsatzsteuer                                              € 900,00
                                                             € 5.400,00
Barauslagen (ust-frei): Grundbuch                            € 3.500,00
zusammen sohin                                               € 8.900,00`, "- | 90000 | 890000"},
		"a mark of feet between the figures": {`
Baubewilligungsgebühr                             Fr. 12′450.00
Kontrolle                                         Fr. 2′050.00
Rechnungsbetrag                                   Fr. 14′500.00`, "- | - | 1450000"},
		"work that was billed before, in Italian": {`
Lavori cumulati € 482.100,00, a dedurre SAL 1-3 già fatturati € 337.500,00
Imponibile                                                   144.600,00
Inversione contabile art. 17                                       0,00
Totale documento                                             144.600,00`, "14460000 | 0 | 14460000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, f, _ := reader.Read(typedBill(c.sums), Own{})
			if got := sumsOf(f); got != c.want {
				t.Errorf("read %s, want %s", got, c.want)
			}
		})
	}
}

// Given cells below a figure or a label of three columns, then those that end with it are of its column, and sums behind their currency
// that begin with it; words that begin with it are not.
func TestSumsOfOneColumn(t *testing.T) {
	for lines, want := range map[string]bool{
		"Rate      EUR 3.200,00\nGebühr    EUR 4,00":     true,
		"Rate          3.200,00\nGebühr            4,00": true,
		"Rate      3.200,00 netto\nGebühr    4,00":       false,
	} {
		s := sheetOf(t, lines)
		if got := sameColumn(s.rows[0][1], s.rows[1][1]); got != want {
			t.Errorf("%q: one column is %v, want %v", lines, got, want)
		}
	}
}
