package page

import (
	"strings"
	"testing"
)

// Given bills whose sums are labelled by "excl." and "incl." alone, run together in a cell, are called fees that are
// to be paid, or stand above sentences about other sums, then net, tax and total are the bill's own.
func TestSumsOfFewWords(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ sums, want string }{
		"a prepayment without and with tax, the rate alone between": {`ANZAHLUNGSRECHNUNG

Auftragssumme 4.720,00 exkl. 20 % USt.; davon vereinbarte Anzahlung:
3 Stiegen × 420,00                            1.260,00
Material                                        156,00
Anzahlung exkl.                               1.416,00
20 %                                            283,20
Anzahlung inkl. – €                           1.699,20`, "141600 | 28320 | 169920"},
		"sums without and with": {`
Malerarbeiten                                 1.416,00
Summe exkl.                                   1.416,00
20 %                                            283,20
Summe inkl.                                   1.699,20`, "141600 | 28320 | 169920"},
		"figures without decimals that run together": {`
Megnevezés                     Óra Óradíj   Nettó Ft ÁFA     ÁFA Ft Bruttó Ft
Ügyvédi munkadíj            118 38 000 4 484 000 27% 1 210 680 5 694 680
Összesen                                       4 484 000     1 210 680 5 694 680
                                              Fizetendő: 5 694 680 Ft`, "448400000 | 121068000 | 569468000"},
		"labour that the total contains, with its own tax": {`
Material                                         83,58
Summe Lohn                                      293,83
Nettobetrag                                     377,41
Mehrwertsteuer 19 %                              71,71
Rechnungsbetrag                                 449,12

Im Rechnungsbetrag enthaltene Lohnkosten gem. § 35a EStG: 349,66 EUR brutto (darin 55,83 EUR MwSt).`, "37741 | 7171 | 44912"},
		"labour of a total with tax": {`
Material                                       1 000,00
Arbete                                         4 000,00
Summa exkl. moms                               5 000,00
Moms 25 %                                      1 250,00
Att betala SEK                                 6 250,00

Varav arbetskostnad inkl. moms                 5 000,00`, "500000 | 125000 | 625000"},
		"fees that are to be paid": {`
2.3.1.1 Bouwactiviteit, 2,15% over bouwkosten € 1.840.000        € 39.560,00
2.3.9 Welstandsadvies                                               € 463,50
Te betalen leges                                                 € 40.023,50`, "- | - | 4002350"},
		"a total that the tax is still to be added to, and both alone below": {`
Denumire                         Valoare lei      Valoare TVA lei
Ridicare topografică                7.630,00             1.602,30
Total                               7.630,00             1.602,30
Cota TVA: 21%
                                                         9.232,30`, "763000 | 160230 | 923230"},
		"a sentence about what is billed later": {`
Émolument administratif                        Fr. 1'250.–
Frais d'enquête publique                         Fr. 480.–
Contrôle abri                                     Fr. 35.–
Montant dû                                     Fr. 1'765.–

La taxe de raccordement, art. 42 du règlement, estimée à Fr. 18'400.–, fera l'objet d'une facturation
séparée. Prestation hors du champ de la TVA.`, "- | - | 176500"},
	} {
		_, got, _ := reader.Read(typedBill(c.sums), Own{})
		if _, sums, _ := strings.Cut(brief(got), " | - | "); sums != c.want {
			t.Errorf("%s: %s, want %s", name, brief(got), c.want)
		}
	}
}

// Given labels that say "excl." and "incl." of nothing, on an invoice for a prepayment and on others, and fees that
// are to be paid, then their sums are without tax, with it, and to be paid.
func TestRolesOfFewWords(t *testing.T) {
	prepaid, other := sheetOf(t, "Anzahlungsrechnung\n\nAnzahlung exkl.   100,00"), sheetOf(t, "Rechnung\n\nSumme exkl.   100,00")
	for _, c := range []struct {
		sheet *sheet
		label string
		want  role
	}{
		{prepaid, "Anzahlung exkl.", roleNet}, {prepaid, "Anzahlung inkl. – €", roleGross}, {other, "Anzahlung inkl.", roleOther},
		{other, "Summe exkl.", roleNet}, {other, "Totaal exclusief", roleNet}, {other, "Total incl.", roleGross}, {other, "I alt ekskl.", roleNet},
		{other, "Total ATI", roleGross}, {other, "Lavori fatturati", roleNone}, {other, "SAL 1-3 già fatturati", roleOther},
		{other, "Zu zahlen zusammen", rolePayable}, {other, "zusammen sohin", roleGross}, {other, "Te betalen leges", rolePayable}, {other, "Leges", roleOther},
	} {
		if got, _ := c.sheet.roleOf(fold([]rune(c.label))); got != c.want {
			t.Errorf("%q has the role %d, want %d", c.label, got, c.want)
		}
	}
}

// Given a row of totals whose figures run together in one cell, then rules find net, tax and total in it.
func TestARowOfTotalsThatRunTogether(t *testing.T) {
	s := sheetOf(t, "Megnevezés   Nettó Ft   ÁFA Ft Bruttó Ft\nMunkadíj   4 484 000   1 210 680 5 694 680\n"+
		"Összesen   4 484 000   1 210 680 5 694 680\n\nFizetendő: 5 694 680 Ft")
	if got := s.totalRow(nil); got.netValue != 4_484_000*10_000 || got.taxValue != 1_210_680*10_000 {
		t.Errorf("net %d, tax %d", got.netValue, got.taxValue)
	}
}

// Given a sum in a sentence below the total that is more than it, then it leaves the total explained; in a row of its
// own it doesn't.
func TestSentencesExplainNoTotal(t *testing.T) {
	for below, want := range map[string]bool{"Noch zu zahlen sind EUR 18.400,00 nach der Abnahme.": false, "Noch zu zahlen: 18.400,00": true} {
		s := sheetOf(t, "Montant dû   1.765,00\n\n"+below)
		all := s.sums()
		if got := unexplained(&all[0], all, nil); got != want {
			t.Errorf("%s: unexplained %t, want %t", below, got, want)
		}
	}
}
