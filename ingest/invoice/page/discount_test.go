package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given a day until which a discount is given, then it isn't the one by which to pay: terms for the whole sum are counted
// beside it.
func TestTheDayOfADiscountIsNotTheDueDay(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for terms, want := range map[string]string{
		"Bei Zahlung bis 16.05.2026 2 % Skonto.\nZahlbar innerhalb von 30 Tagen ohne Abzug.":                                      "2026-06-05",
		"Zahlbar bis 16.05.2026 mit 3 % Skonto.\nZahlbar innerhalb von 21 Tagen netto.":                                           "2026-05-27",
		"Wir bitten um Ausgleich bis zum 16.05.2026 auf unser Geschäftskonto.":                                                    "2026-05-16",
		"Am 16.05.2026 fällig mit 3 % Skonto.\nZahlbar innerhalb von 30 Tagen netto.":                                             "2026-06-05",
		"Bei Zahlung bis 16.05.2026 2 % Skonto.":                                                                                  "",
		"Bei Zahlung bis 16.05.2026 2 % Skonto.\nFällig am 05.06.2026":                                                            "2026-06-05",
		"30 Tage netto ab Rechnungsdatum.\nBei Zahlung bis 16.05.2026 abzüglich 2 % Skonto.\nZahlung ohne Skonto bis 05.06.2026.": "2026-06-05",
	} {
		_, f, _ := reader.Read(typed.Document(`Bauwerk Huber GmbH
Hofgasse 3
1010 Wien
UID: ATU33864707

Rechnung

Rechnungsnummer:   2026-0417
Rechnungsdatum:    06.05.2026

Leistung            Betrag in EUR
Mauerwerk                1.000,00

Summe netto              1.000,00
20 % USt                   200,00
Gesamtbetrag             1.200,00

`+terms), Own{})
		got := ""
		if f.DueDate != nil {
			got = f.DueDate.Value
		}
		if got != want {
			t.Errorf("%q is due on %q, want %q", terms, got, want)
		}
	}
}
