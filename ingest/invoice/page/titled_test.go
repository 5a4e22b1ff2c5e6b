package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given a number between the document's title and its day, and one with a plain label in a party's block, then the first is
// the invoice's, whatever stands between title and number.
func TestTheNumberBetweenTitleAndDay(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{
		"Rechnung (380) Nr. 01.234.567.8-2026-1 vom 06.05.2026",
		"Rechnung des Versicherers (575) Nr. 01.234.567.8-2026-1 vom 06.05.2026",
		"Rechnung 01.234.567.8-2026-1 vom 06.05.2026",
		"Rechnung Nr. 01.234.567.8-2026-1, 6. Mai 2026",
		"Gutschrift Nr. 01.234.567.8-2026-1 vom 06.05.2026",
	} {
		_, f, _ := reader.Read(typed.Document(title+`

Währung:             EUR
Leistungsdatum:      06.05.2026

Verkäufer
Nummer:              549910
Name:                Muster Versicherung AG
Anschrift:           Musterstr. 12
                     12345 Musterstadt
USt.-Id.-Nr.:        DE136695976

Käufer
Name:                Hausbau GmbH
Anschrift:           Hofgasse 3
                     12346 Neustadt

Pos  Bezeichnung      Menge   Betrag
1    Haftpflicht      1       50,00

     Rechnungssumme ohne USt.   50,00
     Umsatzsteuer 19 %           9,50
     Bruttosumme                59,50
     Zahlbetrag                 59,50
`), Own{})
		if f.Number == nil || f.Number.Value != "01.234.567.8-2026-1" {
			t.Errorf("below %q the number is %+v", title, f.Number)
		}
		if f.Date == nil || f.Date.Value != "2026-05-06" {
			t.Errorf("below %q the date is %+v", title, f.Date)
		}
	}
}

// Given days behind numbers, then the day of issue is the one behind the invoice's own number, not one behind another's, nor behind words
// between them.
func TestTheDayBehindTheInvoicesOwnNumber(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for head, want := range map[string]string{
		"Rechnung Nr. 2026-0417 vom 06.05.2026\n\nGemäß Auftrag Nr. 4711 vom 02.03.2026:":                    "2026-05-06",
		"Rechnung Nr. 2026-0417\n\n06.05.2026\n\nGemäß Angebot Nr. 4711 vom 02.03.2026:":                     "2026-05-06",
		"Rechnung\n\n06.05.2026\n\nUst-ID: DE136695976 - Rechnungs-Nr.: 2026-0417 - Übergabe am: 02.03.2026": "2026-05-06",
	} {
		_, f, _ := reader.Read(typed.Document("Muster Bau GmbH\nMusterstr. 12\n12345 Musterstadt\n\n"+head+"\n\n"+closing), Own{})
		if f.Date == nil || f.Date.Value != want {
			t.Errorf("%q: the day is %v, want %s", head, f.Date, want)
		}
	}
}
