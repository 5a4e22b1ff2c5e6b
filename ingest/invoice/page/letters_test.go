package page

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
)

// Given letters in forms that suppliers use, with number, day of issue, due date, net, tax and gross of each in its first line, then these
// are read: from subjects, sentences, grids, lines of several parts, in several languages, of bills of many kinds.
func TestLettersOfManyForms(t *testing.T) {
	eachTyped(t, "letters", func(t *testing.T, want string, _ Kind, got fields.Invoice) {
		if brief(got) != want {
			t.Errorf("\n got %s\nwant %s", brief(got), want)
		}
	})
}

func brief(f fields.Invoice) string {
	var out []string
	for _, v := range []*fields.Text{f.Number, f.Date, f.DueDate} {
		if v == nil {
			out = append(out, "-")
			continue
		}
		out = append(out, v.Value)
	}
	for _, v := range []*fields.Amount{f.Net, f.Tax, f.Gross} {
		if v == nil {
			out = append(out, "-")
			continue
		}
		out = append(out, fmt.Sprint(v.Value))
	}
	return strings.Join(out, " | ")
}

// Given an invoice of 2 March 2026 that says in a sentence, in the words of its language, until when to pay, or when the sum is taken from
// the account, then that is its due date; what else a sentence says of a day is not.
func TestDueDatesOfSentences(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const page = `Serverhalle GmbH
Rechenzentrumsring 1, 08223 Falkenstein
USt-ID DE812917304

Hafen Lofts GmbH                     Rechnungsnr.:      R-4418
Grasbrook 9                          Rechnungsdatum:    02.03.2026
20457 Hamburg

Server                                                  100,00 €
Nettobetrag                                             100,00 €
USt. 19 %                                                19,00 €
Rechnungsbetrag                                         119,00 €

`
	for sentence, want := range map[string]string{
		"Der Betrag wird abgebucht, voraussichtlich am 13.03.2026.":                                     "2026-03-13",
		"Den Endbetrag ziehen wir am 13.03.2026 mit der\nMandatsreferenz UT-11844 von Ihrem Konto ein.": "2026-03-13",
		"SEPA-Lastschrift mit Mandat vom 13.03.2026.":                                                   "-",
		"Ihre Zahlung bis zum 13.03.2026 haben wir erhalten.":                                           "-",
		"Bei Bezahlung bis zum 13.03.2026 gewähren wir 2 % Treuebonus.":                                 "-",
		"Wir würden den Betrag dann zum 13.03.2026 per Lastschrift holen.":                              "-",
		"Zahlbar 30 Tage zum Monatsende, das ist der 30.04.2026.":                                       "2026-04-30",
		"Der nächste Einzug erfolgt am 13.09.2026.":                                                     "-",
		"Please settle this invoice no later than 30 April 2026.":                                       "2026-04-30",
		"Prosimy o uregulowanie należności najpóźniej do dnia 30.04.2026.":                              "2026-04-30",
		"Znesek nakažite najkasneje do 30. 4. 2026.":                                                    "2026-04-30",
		"Molimo da podmirite račun najkasnije do 30.04.2026.":                                           "2026-04-30",
		"Uhraďte prosím nejpozději do 30.4.2026.":                                                       "2026-04-30",
		"Rogamos efectúen la transferencia a más tardar el 30/04/2026.":                                 "2026-04-30",
		"Agradecemos a transferência até ao dia 30/04/2026.":                                            "2026-04-30",
		"Beløbet betales senest den 30.04.2026.":                                                        "2026-04-30",
		"Votre compte sera débité le 30/03/2026.":                                                       "2026-03-30",
		"Het bedrag wordt omstreeks 30-03-2026 automatisch afgeschreven.":                               "2026-03-30",
		"L'importo sarà addebitato il 30/03/2026 sul Vostro conto.":                                     "2026-03-30",
		"Kérjük, fizessen 2026. 03. 30-ig.":                                                             "2026-03-30",
		"Suoritus 30.3.2026 mennessä.":                                                                  "2026-03-30",
		"Bei Zahlung bis 16.03.2026 gewähren wir 2 % Skonto, ohne Abzug bis 01.04.2026.":                "2026-04-01",
		"Faellig am 01.04.2026 rein netto. Verzugszins 5%.":                                             "2026-04-01",
		"Zahlung: 30 Tage netto nach Prüfung.":                                                          "-",
		"Zahlbar gemäß § 16 Abs. 3 VOB/B, spätestens zum 26.04.2026. Danke.":                            "2026-04-26",
		"Wir ersuchen, € 119,00 bis längstens 26.04.2026 zu überweisen.":                                "2026-04-26",
		"Zahlung nach Prüfung gem. § 16 VOB/B. Bescheinigung § 48b liegt vor (gültig bis 26.04.2026).":  "-",
		"Bitte bis Ende des Folgemonats, also 30. 04. 2026, auf unser Konto überweisen.":                "2026-04-30",
		"Nous vous saurions gré de bien vouloir verser cette somme pour le 1er avril 2026.":             "2026-04-01",
		"Dit bedrag schrijven wij omstreeks 26-03-2026 af van uw rekening.":                             "2026-03-26",
		"Zahlungen bis zum 20.02.2026 sind berücksichtigt.":                                             "-",
		"Vencimientos: 30/04/2026   119,00 €":                                                           "2026-04-30",
		"Scadenze: 30/04/2026   119,00":                                                                 "2026-04-30",
		"Scadenze: 30/04/2026   59,50   30/05/2026   59,50":                                             "-",
		// Words of paying behind the day, some lines below:
		"Ich bitte Sie, diesen Betrag bis 30. April 2026 unter Angabe der\nNummer R-4418 auf unser Konto bei der Sparkasse,\nIBAN DE14, lautend auf Serverhalle GmbH,\nzu überweisen.": "2026-04-30",
		"Wir bitten, das Gerät bis 30. April 2026 zurückzugeben. Unser Konto steht unten für\nIhre Zahlung bereit.":                                                                    "-",
		"Das Angebot ist gültig bis 30. April 2026, danach werden wir die Summe\nneu berechnen und zu zahlen bitten.":                                                                  "-",
		// Terms that say what day they come to, and terms that don't:
		"Sposób zapłaty: przelew, termin 21 dni (2026-03-23)":       "2026-03-23",
		"Betaling binnen 30 dagen (01-04-2026)":                     "2026-04-01",
		"Zahlungsziel 14 Tage":                                      "2026-03-16",
		"2 % Skonto bis 09.03.2026.\nOhne Abzug bis 01.04.2026.":    "2026-04-01",
		"Ich ersuche um Überweisung bis längstens 1. April 2026.":   "2026-04-01",
		"Belastung Ihres Kontos, Wert 16.03.2026.":                  "2026-03-16",
		"Solde attendu au plus tard le 1er avril 2026.":             "2026-04-01",
		"Zahlbar innerhalb von 14 Tagen nach Erhalt.":               "-",
		"Zahlbar innerhalb von 14 Tagen nach\nErhalt der Rechnung.": "-",
		"Payment within 14 days of receipt of invoice":              "-",
		"Paiement à 30 jours à réception de la facture":             "-",
		"Pagamento a 30 giorni dal ricevimento della fattura":       "-",
		"Pago a 30 días desde la recepción de la factura":           "-",
		"Betaling binnen 14 dagen na ontvangst van de factuur":      "-",
		"Płatność w terminie 14 dni od otrzymania faktury":          "-",
		"Plačilo v 15 dneh po prejemu računa":                       "-",
		"Der Betrag wird am 16.03.2026 von Ihrem Konto AT76 3300 0000 0441 8273 eingezogen (Mandat 7,\nID AT12PAN). Nächste Rechnung voraussichtlich 02.04.2026.": "2026-03-16",
		"Domiciliación bancaria: cargo en cuenta a partir del 16/03/2026. Entidad: Banco.":                                                                        "2026-03-16",
		"Abbuchung von Ihrem Konto ab 16.03.2026.":                                                   "2026-03-16",
		"Prélèvement sur votre compte à partir du 16/03/2026.":                                       "2026-03-16",
		"Addebito sul Vostro conto a partire dal 16/03/2026.":                                        "2026-03-16",
		"The sum will be collected from 16 March 2026.":                                              "2026-03-16",
		"Automatische incasso vanaf 16-03-2026.":                                                     "2026-03-16",
		"Terms                    30 days from invoice date":                                         "2026-04-01",
		"Montant à régler          Prélèvement automatique\n119,00 €                  le 16/03/2026": "2026-03-16",
		"Fecha de vencimiento:\n02/03/2026\nPaid!":                                                   "2026-03-02",
		"Due date for payment 16/03/26 Final date for payment: 30 March 2026":                        "2026-03-30",
	} {
		if _, got, _ := reader.Read(typed.Document(page+sentence), Own{}); brief(got) != "R-4418 | 2026-03-02 | "+want+" | 10000 | 1900 | 11900" {
			t.Errorf("%s: %s, want due %s", sentence, brief(got), want)
		}
	}
}
