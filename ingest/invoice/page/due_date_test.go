package page

import (
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/invoice/page/typed"
)

func TestDaysOfPaymentTerms(t *testing.T) {
	v := testVocabulary(t)
	issued := time.Date(2026, time.January, 31, 0, 0, 0, 0, time.UTC)
	for in, want := range map[string]int{
		"Zahlbar innerhalb von 14 Tagen mit 2 % Skonto, 30 Tage netto.": 30, "30 Tage netto": 30, "Zahlungsziel: 14 Tage": 14,
		"Zahlbar innerhalb von 30 Tagen ohne Abzug.": 30, "Bei Zahlung innerhalb 14 Tagen gewähren wir 2,0% Skonto.": -1,
		"Net 45 days": 45, "Payment within 14 days": 14,
		"Paiement à 30 jours": 30, "Pagamento a 60 giorni": 60, "Pago a 30 días": 30, "binnen 10 Tagen 3 % Skonto": -1,
		"Lieferung innerhalb von 5 Tagen": -1,
		// Words of paying and one number of days, in whatever order:
		"Bonifico a 14 giorni": 14, "Gelieve binnen 10 dagen te betalen.": 10, "Zapłata w terminie 7 dni": 7, "Fizetendő 15 napon belül": 15,
		"Begleichung in 20 Tagen": 20, "Transferencia a 45 días": 45, "Virement à 30 jours date de facture": 30,
		"Úhrada převodem do 21 dnů": 21, "Nakazilo v 8 dneh": 8, "Suoritus 14 päivän kuluessa laskusta": -1,
		"Maksetingimus: 14 päeva": 14, "Apmaksas termiņš: 10 dienas": 10, "Apmokėti per 30 kalendorinių dienų": 30,
		"Τρόπος πληρωμής: επί πιστώσει 60 ημέρες": 60, "Срок за плащане: 15 календарни дни": 15,
		"Zahlungserinnerungen verschicken wir nach 14 Tagen an alle Kunden": -1, "Zahlung in 10 Tagen mit 2 % oder in 30 Tagen": -1,
		"Net 16,136.40": -1, "Net 16'136.40": -1, "Net 30.": 30,
		// In words, weeks and months:
		"Überweisung binnen drei Wochen ab Rechnungsdatum": 21, "zahlbar innerhalb eines Monats": 28, "Zahlung binnen zwei Monaten": 59,
		"Payment within two calendar months": 59, "Pay within thirty (30) days": 30, "payment within 45 (forty-five) days": 45,
		"Paiement dans un délai de trente jours": 30, "Règlement sous deux mois": 59, "Règlement à quarante-cinq jours": 45,
		"Pagamento entro tre mesi": 89, "Pago en dos meses": 59, "Betaling binnen twee weken": 14, "Płatność w terminie czternastu dni": 14,
		"Úhrada do dvou týdnů": 14, "Fizetés két héten belül": 14, "Plačilo v roku petnajstih dni": 15, "Plaćanje u roku dva tjedna": 14,
		"Pagamento a um mês": 28, "Plata în două luni": 59, "Betalning inom trettio dagar": 30, "Betaling innen to uker": 14,
		"Tasuda kolmekümne päeva jooksul": 30, "Apmaksāt piecu dienu laikā": 5, "Apmokėti per dvi savaites": 14,
		"Πληρωμή εντός τριάντα ημερών": 30, "Плащане до два месеца": 59,
		"remboursé sur demande dans un délai de trente jours": -1, "Rückzahlung auf Wunsch binnen 14 Tagen": -1,
		"Pagamento con 3 % in 10 giorni": -1, "Reklamationen innerhalb von 8 Tagen": -1, "Betaling binnen 8 dagen met 2 % korting": -1,
	} {
		if got := v.termDays(fold([]rune(in)), issued); got != want {
			t.Errorf("v.termDays(%q) = %d, want %d", in, got, want)
		}
	}
}

// Given a label in the corner of a box, as forms for transfers have it, then the day in the box is due, and none in another box.
func TestADayInABox(t *testing.T) {
	for lines, want := range map[string]string{
		"Eräpäivä                 Euro\n           17.2.2026            2 065,00": "17.2.2026",
		"Eräpäivä                 Euro\n                              17.2.2026":  "",
		"Eräpäivä\n           17.2.2026":                                          "",
		"Eräpäivä                 Euro\n           17.2.2026 asti":                "",
	} {
		s, got := sheetOf(t, lines), ""
		if day := s.inBox(s.rows[0][0]); day != nil {
			got = day.text()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given a bill that is due on the day of issue, which a label above it alone tells, then that day is its due date, too.
func TestDueOnTheDayOfIssue(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	_, f, _ := reader.Read(typed.Document(`                                                     FACTURA
                                                     Referencia: #1721
                                                     Fecha: 25/12/2023
Torrent Hosting Ltd.                                 Fecha de vencimiento:
14 Quay Street, Galway                               25/12/2023
Ireland                                              Pagado
Tel: +353 91 450 3903



Facturar a
Joan Doe
1234 Main Street, New York

Articulo                       Cantidad   Precio     Impuesto     Total
Servidor virtual               1          £400       13%          £400.00

                                          Subtotal                £400.00
                                          Impuesto                 £52.00
                                          Total                   £452.00`), Own{})
	if got := brief(f); !strings.HasPrefix(got, "1721 | 2023-12-25 | 2023-12-25") {
		t.Errorf("got %s", got)
	}
}

// Given a label of the day by which to pay over a row of how and when, then the day beside the words below the label is meant; not where
// figures are in between.
func TestADayBesideTheWordsBelowItsLabel(t *testing.T) {
	for page, want := range map[string]bool{
		"Échéance(s) :\nVirement      30/11/2026      5 440,27": true,
		"Échéance(s) :\n2 x           30/11/2026      5 440,27": false,
		"Échéance(s) :\nVirement      5 440,27      30/11/2026": false,
	} {
		s := sheetOf(t, page)
		if got := s.columnDate(s.rows[0][0], s.rows[1][0]) != nil; got != want {
			t.Errorf("%q: %t, want %t", page, got, want)
		}
	}
}

// Given labels in a row, and the values below them set much larger and further down for that, then the day among them is the due date.
func TestADueDateSetLargeBelowItsLabel(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const head = `
                                        Invoice number: 30417
                                        Date: March 12, 2026
Paper Harbour, Inc.
12 Main Street
Austin, TX 78701
`
	const body = `
DESCRIPTION            PRICE            QUANTITY            SUBTOTAL
Paper boats            €40.00           2                   €80.00


DUE BY                                  ACCOUNT NUMBER                          TOTAL DUE


#April 20, 2026        132 456 7            €80.00
`
	_, f, _ := reader.Read(set(head, body, ""), Own{})
	if f.DueDate == nil || f.DueDate.Value != "2026-04-20" {
		t.Errorf("due date %+v, want 2026-04-20", f.DueDate)
	}
}
