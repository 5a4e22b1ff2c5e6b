package invoice_test

import (
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given an invoice of 17 April 2026 that says how to pay in words, then the due date is what they settle, else null.
func TestDueDatesFromWords(t *testing.T) {
	cases := map[string]string{
		"Der Rechnungsbetrag ist am 20.05.2026 fällig.":                                      "2026-05-20",
		"Zahlungsbedingungen: 10 Tage 3 % Skonto, 45 Tage netto":                             "2026-06-01",
		"Bei Zahlung innerhalb von 10 Tagen 2 % Skonto.":                                     "-",
		"Zahlbar bis 27.04.2026 mit 2 % Skonto, bis 17.05.2026 netto":                        "2026-05-17",
		"Bitte überweisen Sie den Betrag bis spätestens 17.05.2026 auf unser Konto.":         "2026-05-17",
		"30 Tage zum Monatsende":                                                             "-",
		"Zahlbar: 7.000,00 € bis 01.05.2026, 7.000,00 € bis 01.06.2026.":                     "-",
		"Zahlbar bis 24.04.2026 mit Skonto 2.910,00 €, bis 17.05.2026 ohne Abzug 3.000,00 €": "2026-05-17",
		"Zahlbar bis 24.04.2026 abzüglich 3 % 2.910,00 €, bis 17.05.2026 netto 3.000,00 €":   "2026-05-17",
		"Pay by 24 April 2026 less 3 %, or by 17 May 2026 in full":                           "2026-05-17",
		"Zahlbar bis 17.05.2026 (4 % Verzugszinsen ab Fälligkeit)":                           "2026-05-17",
		"3 % bis 24.04.2026, netto bis 17.05.2026":                                           "2026-05-17",
		"Zahlbar bis 24.04.2026 abzgl. 3 %":                                                  "-",
		"Zahlbar in 3 Raten":                                                                 "-",
		"Paiement à 45 jours fin de mois":                                                    "-",
		"Règlement à 60 jours date de facture":                                               "2026-06-16",
		"En cas de retard de paiement, une pénalité de 40 € sera due sous 15 jours.":         "-",
		"Pagamento: 30/60 gg data fattura":                                                   "-",
		"Pagamento 30 gg f.m.":                                                               "-",
		"Condizioni di pagamento: 60 giorni":                                                 "2026-06-16",
		"Forma de pago: transferencia a 60 días":                                             "2026-06-16",
		"Payment within 14 days. 2% discount within 7 days.":                                 "2026-05-01",
		"2/10 net 30":                     "2026-05-17",
		"Terms: net 45 days end of month": "-",
		"Interest of 8 % is charged on payments later than 30 days.":                              "-",
		"Die Ware bleibt bis zur vollständigen Bezahlung unser Eigentum.":                         "-",
		"Reklamationen innerhalb von 14 Tagen.":                                                   "-",
		"Nach 30 Tagen tritt Verzug ein (§ 286 BGB).":                                             "-",
		"Sofort fällig ohne Abzug.":                                                               "-",
		"Betrag dankend erhalten am 17.04.2026.":                                                  "-",
		"Der Betrag wird am 24.04.2026 von Ihrem Konto abgebucht.":                                "2026-04-24",
		"Skontofrist bis 27.04.2026, Nettofrist bis 17.05.2026":                                   "2026-05-17",
		"Payment is due on 1 June 2026. Late payments bear interest after 10 June 2026.":          "2026-06-01",
		"Zahlungsziel 21 Tage ab Rechnungsdatum":                                                  "2026-05-08",
		"Zahlbar binnen 2 Wochen ohne Abzug.":                                                     "2026-05-01",
		"Zahlbar innerhalb von vierzehn Tagen.":                                                   "2026-05-01",
		"Payable within 2 weeks.":                                                                 "2026-05-01",
		"Paiement sous 3 semaines.":                                                               "2026-05-08",
		"Gültig bis 31.12.2026":                                                                   "-",
		"Leistungszeitraum vom 01.04.2026 bis 15.04.2026":                                         "-",
		"Sie zahlen bis 24.04.2026 abzüglich 3 % Skonto 14.433,60 €, danach bis 17.05.2026 netto": "2026-05-17",
	}
	for words, want := range cases {
		t.Run(words, func(t *testing.T) {
			v := pdftest.Sample()
			v.DueLabel, v.Terms = "", words
			r := read(v.PDF(), invoice.Options{})
			if got := (text{r.DueDate}).show(); r.Status != invoice.OK || got != want {
				t.Errorf("%s %s: due %s, want %s", r.Status, r.Detail, got, want)
			}
		})
	}
}
