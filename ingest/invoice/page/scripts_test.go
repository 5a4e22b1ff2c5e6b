package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given names of the Baltic states, Greece, Bulgaria and Austria, then their legal forms are known, beside quotation marks those, too, that are words
// of other languages; these words alone are none.
func TestLegalFormsOfManyScripts(t *testing.T) {
	v := testVocabulary(t)
	for name, want := range map[string]bool{
		"Puitlinn OÜ": true, "Osaühing Põhjala Puit": true, "SIA \"Rīgas Darbnīca\"": true, "SIA „Daugavas Būve”": true, "SIA Ziemeļu Logi": true,
		"Projektu birojs Jumts, SIA": true, "UAB „Baltijos langai“": true, "„Šviesos studija“, MB": true, "MB Šviesos studija": true,
		"ΑΙΓΑΙΟ ΜΕΛΕΤΗΤΙΚΗ Ε.Π.Ε.": true, "ΜΑΡΜΑΡΑ ΘΑΣΟΥ ΑΕ": true, "Δομική Αττικής Μονοπρόσωπη Ι.Κ.Ε.": true, "Παπαδόπουλος & ΣΙΑ Ο.Ε.": true,
		"БИМ Студио Родопи ООД": true, "Реставрация ЕООД": true, "Балкан Логистика АД": true, "ЕТ „Иван Петров“": true,
		"architetti sia otia": false, "10 MB frei": false, "et le maçon": false, "ad esempio Rossi": false, "puitlinn.ee": false,
		"HAGENAUER & STEINDL BAUGESELLSCHAFT M.B.H.": true,
		"Mike Lowe": false, "Abschnitt II": false,
	} {
		if got := v.legalForm.MatchString(foldText(name)); got != want {
			t.Errorf("%q has a legal form: %t, want %t", name, got, want)
		}
	}
}

// Given figures behind the label of Greek tax ids, then they are one if there are nine: the Dutch authority AFM numbers its licences, too.
func TestTheLabelOfGreekTaxIDsIsAnAuthoritysInTheNetherlands(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{"ΑΦΜ: 094418268": "094418268", "AFM vergunning 12004417": "", "AFM 12004417": ""} {
		page := strings.Replace(paper("Rechnung", closing, ""), "UID: ATU33864707", label, 1)
		if _, f, _ := reader.Read(typed.Document(page), Own{}); stated(f.SupplierTaxID) != want {
			t.Errorf("%s: %q, want %q", label, stated(f.SupplierTaxID), want)
		}
	}
}

// Given totals in the currencies of the Baltic states and Bulgaria, as their words and former codes name them, then these are known.
func TestCurrenciesInManyScripts(t *testing.T) {
	for text, want := range map[string]string{
		"22 140,00 лв.": "BGN", "22 140,00 лв": "BGN", "ЛВ. 120,00": "BGN", "1 200,00 евро": "EUR", "1.240,00 ευρώ": "EUR", "ΕΥΡΩ 1.240,00": "EUR",
		"2153,80 Eur": "EUR", "816,75 LVL": "LVL", "816,75 LTL": "LTL", "1 200 EEK": "EEK", "12,00 левкоя": "", "12,00 eurokood": "",
	} {
		if got := currencyIn([]rune(text)); got != want {
			t.Errorf("the currency in %q is %q, want %q", text, got, want)
		}
	}
}

// Given a number in Greek or Cyrillic letters, or one with its day behind a stroke, then it comes out as it is printed.
func TestNumbersInManyScripts(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"Τιμολόγιο Αρ. ΤΠΥ-000412": "ΤΠΥ-000412", "Τιμολόγιο\n\nΑρ. τιμολογίου: Α 1093": "Α 1093", "Фактура № 0000004127": "0000004127",
		"Фактура №0000004127/16.09.2025": "0000004127", "Фактура № СТ-118": "СТ-118", "Serija BLT Nr. 00871": "BLT 00871",
		"Rēķins Nr. RD-2025/311": "RD-2025/311", "KREEDITARVE NR K-12\nArve nr 2026-031 juurde": "K-12",
	} {
		page := strings.Replace(paper(line, closing, ""), "Nr.:               2026-0417\n", "", 1)
		if _, f, _ := reader.Read(typed.Document(page), Own{}); stated(f.Number) != want {
			t.Errorf("%s: %q, want %q", line, stated(f.Number), want)
		}
	}
}
