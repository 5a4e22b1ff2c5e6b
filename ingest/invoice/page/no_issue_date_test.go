package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given an invoice whose only unlabelled day is that of an item, or figures of a tax office years before all other days, then it has no day
// of issue; elsewhere such a day is.
func TestDaysThatAreNotOfIssue(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	page := func(above, item, below string) string {
		return letterhead + `
Rechnung Nr. 2026-118
` + above + `

Pos  Leistung                            Menge      Einzelpreis      Betrag
1    Vermittlung laut Vertrag             1,00           100,00      100,00
     ` + item + `
Nettobetrag                                                          100,00
USt. 20 %                                                             20,00
Rechnungsbetrag                                                      120,00

` + below
	}
	for name, c := range map[string]struct{ page, want string }{
		"of an item":                {page("", "Begehung in Graz, 17.04.2026", ""), ""},
		"beside the day itself":     {page("Wien, 21.04.2026", "Begehung in Graz, 17.04.2026", ""), "2026-04-21"},
		"of a contract's signature": {page("", "", "CPCV assinado em 17/04/2026"), ""},
		"of an appointment":         {page("", "", "come da disciplinare d'incarico del 17/04/2026"), ""},
		"of a payment":              {page("", "", "BEZAHLT am 17.04.2026"), ""},
		"of a debit, beside its own": {page("Rechnungsnummer        Ausgestellt      Status\n2026-118               21.04.2026       Abbuchung am 17.05.2026", "", ""),
			"2026-04-21"},
		"of issue and delivery in one": {page("Bestellung vom 16.04.2026 · Rechnungsdatum = Lieferdatum: 21.04.2026", "", ""), "2026-04-21"},
		"in brackets behind a course":  {page("Kursrechnung K26 (Rechnungsdatum: 21.04.2026)", "", "Kursbeginn 17.05.2026"), "2026-04-21"},
		"of an order, the number unknown": {strings.Replace(page("", "", "Auftrag: 2026/Q7-14 vom 17.04.2026"), "Rechnung Nr. 2026-118", "RECHNUNG", 1),
			""},
		"of the invoice that is credited": {strings.Replace(page("", "", ""), "Rechnung Nr. 2026-118",
			"CREDIT NOTE\nCredit note no. SCN/04418 · Date 21-Apr-2026 · Against invoice SI/22810 of 31-Mar-2026", 1), "2026-04-21"},
		"figures of an office": {page("Leistung bis 31. März 2026", "", "Finanzamt Wien 4/5/10, 08 418/8270"), ""},
	} {
		_, f, _ := reader.Read(typed.Document(c.page), Own{})
		if got := stated(f.Date); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, other := range reader.Considered(typed.Document(c.page), Own{})["invoiceDate"] {
			if other.Key == "2026-04-17" || other.Key == "2010-05-04" {
				t.Errorf("%s: %s is a candidate", name, other.Key)
			}
		}
	}
}
