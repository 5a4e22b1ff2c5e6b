package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given a bill of 6 May 2026 whose terms have abbreviations, break over lines, name a day without its year, or have a label on two lines,
// then the due date is what they come to.
func TestDueDatesOfTermsAsTheyArePrinted(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const sums = "Malerarbeiten        1.000,00\nGesamtbetrag EUR     1.000,00\n\n"
	for terms, want := range map[string]string{
		"Zahlungskondition: 14 Tage ab Rechnungsdatum abzügl. 3 % Skonto (das sind EUR 30,00), 30 Tage ab\nRechnungsdatum netto.": "2026-06-05",
		"Zahlungskondition: 14 Tage ab Rechnungsdatum abzügl. 3 % Skonto":                                                         "-",
		"Please pay by 17th June. Thank you.":                                                                                     "2026-06-17",
		"Please pay by 17th January.":                                                                                             "2027-01-17",
		"Bitte überweisen Sie bis 17. Juni.":                                                                                      "2026-06-17",
		"Die Arbeiten dauerten vom 3. Mai bis 5. Mai und wurden abgenommen.":                                                      "-",
		"À honorer pour le 30/06/2026 au plus tard":                                                                               "2026-06-30",
		"At betale inden 20.05.2026          1.000,00":                                                                            "2026-05-20",
		"Final date for        26 June\npayment               2026":                                                               "2026-06-26",
		"Zahlbar 8 Tage 2 % Skonto oder bis 05.06.2026 rein netto":                                                                "2026-06-05",
		"Zahlbar binnen 8 Tagen mit 2 % Skonto oder 30 Tage netto":                                                                "2026-06-05",
		"Zahlung: bis 16.05.2026 abzgl. 3% Skonto (EUR 30,00), bis 05.06.2026 ohne Abzug.":                                        "2026-06-05",
		"Wir bitten Sie, diesen Betrag bis längstens 5. 6. 2026 auf unser Konto zu überweisen.":                                   "2026-06-05",
		"Der Betrag wird gemäß SEPA-Mandat HV-0412-77 am 05.06.2026 eingezogen.":                                                  "2026-06-05",
		"Fälligkeit gemäß Vertrag: 05.06.2026":                                                                                    "2026-06-05",
		"Payable within 8 days less 2 % discount or 30 days net":                                                                  "2026-06-05",
		"Paiement sous 8 jours avec 2 % d'escompte ou à 30 jours net":                                                             "2026-06-05",
		"Zahlbar binnen 30 Tagen oder binnen 8 Tagen mit 2 % Skonto":                                                              "2026-06-05",
		"Zahlbar binnen 8 Tagen mit 2 % Skonto oder 14 Tagen mit 1 % Skonto":                                                      "-",
		"termen plata: 30 zile": "2026-06-05",
		"Bis 20.05.2026 erhalten Sie 2,000 % Skonto (20,00 EUR)\nBis 05.06.2026 ohne Abzug":                             "2026-06-05",
		"Der Betrag wird am 15.05.2026 von Ihrem Konto DE•• •••• •••• ••41 17 abgebucht.":                               "2026-05-15",
		"Den Betrag buchen wir am 20.05.2026 von Ihrem Konto DE•• ••41 17 ab. Neuer Abschlag ohne Abzug ab 01.06.2026.": "2026-05-20",
		"Z U  B E Z A H L E N  B I S\n23.5.2026": "2026-05-23",
		"Ich ersuche höflich um Überweisung des Betrages binnen drei Wochen ab Rechnungsdatum ohne\nAbzug auf das Konto.":              "2026-05-27",
		"Es wird keine Umsatzsteuer berechnet. Bitte überweise den Betrag innerhalb von 14\nTagen nach Rechnungsdatum auf mein Konto.": "2026-05-20",
		"Payment within one calendar month.": "2026-06-06",
		"Zahlbar bis 16.05.2026 mit 3 % Skonto = 30,00 EUR, Zahlbetrag 970,00 EUR\noder bis 05.06.2026 ohne Abzug.": "2026-06-05",
		"Fällig am               Skonto            Betrag\n16.05.2026              3,00 % 30,00          970,00\n" +
			"05.06.2026              0                   1.000,00": "2026-06-05",
		"Bei Zahlung bis         Skonto            Zahlbetrag\n16.05.2026              3,00 % 30,00          970,00\n" +
			"05.06.2026              netto               1.000,00": "2026-06-05",
		"Wir buchen diesen Betrag am 24.05.2026 von Ihrem Konto ab.\n\nIhr neuer Teilbetrag: 245,00 EUR, erstmals fällig am 15.06.2026.":       "2026-05-24",
		"Neuer Abschlag ab Juni: Strom 185,00 €, Wasser 55,00 €, fällig zum 1. eines Monats,\nerstmals am 01.06.2026.":                         "-",
		"Wir belasten Ihre Kreditkarte (endet auf 4471) am 03.06.2026. Sie müssen nichts tun.":                                                 "2026-06-03",
		"Zahlbar spesenfrei bis Kursbeginn (05.06.2026) auf unser Konto bei RZOOAT2L.\nStorno: danach 50 %.":                                   "2026-06-05",
		"Wir bitten Sie, den Betrag bis zum 5. Juni 2026 auf unser nebenstehendes Konto\nanzuweisen.":                                          "2026-06-05",
		"Zahlung mittels Banküberweisung innerhalb 05.06.2026 auf das Konto.":                                                                  "2026-06-05",
		"Den Betrag werden wir am 20.05.2026 Ihrem Kontokorrentkonto 0100 448 213 belasten.":                                                   "2026-05-20",
		"Wir sind dankbar für die Überweisung bis Ende Mai (31.5.2026) auf unser Konto.":                                                       "2026-05-31",
		"VAT at 23% is EUR 994.75, and the sum payable EUR 1,000.75.\nWe would be obliged to receive your remittance by 5th June 2026.":        "2026-06-05",
		"Beløbet bedes indbetalt senest den 5. juni 2026 på foreningens konto.":                                                                "2026-06-05",
		"Beløbet er indbetalt den 5. juni 2026.":                                                                                               "-",
		"À régler pour le 05/06/2026, de préférence par virement : FR67 1027 8073 1200\n0204 4850 173. Pas d'escompte pour paiement anticipé.": "2026-06-05",
		"Queries within 7 days: payables@castlemoor.example":                                                                                   "-",
		"Eräpäivä                 Euro\n              5.6.2026            1.000,00":                                                            "2026-06-05",
		"Uhraďte nejpozději\n5. 6. 2026": "2026-06-05",
		"Bitte überweisen Sie den Betrag von 1.000,00 € bis zum 05.06.2026 unter Angabe der Nummer.": "2026-06-05",
		"Nous vous prions de régler la somme de 1 000,00 € pour le 05/06/2026 au plus tard.":         "2026-06-05",
		"Zahlung von 1.000,00 € · Lieferung bis zum 05.06.2026":                                      "-",
		// Of what comes next, or is planned, nothing is due; small words and an account are no reason to doubt.
		"Wir ersuchen um Einzahlung bis 5. Juni 2026.\n\nDie nächste Teilrate ist am 15.08.2026 fällig.": "2026-06-05",
		"Please pay by 5 June 2026.\n\nNext premium: December 2026, payment due 5 December 2026":         "2026-06-05",
		"Folgender Betrag wird am 05.06.2026 fällig: 1.000,00 EUR":                                       "2026-06-05",
		"Prochain loyer : échéance le 05/06/2026":                                                        "-",
		"Der Rest wird am 20.05.2026 von Ihrem Konto abgebucht.\n\nFällig am        netto        brutto\n" +
			"01.06.2026       100,00       119,00\n01.07.2026       100,00       119,00\n01.08.2026       100,00       119,00": "2026-05-20",
		"Wir ersuchen um Anweisung innert 20 Werktagen, längstens aber am 05.06.2026.":                                           "2026-06-05",
		"Agradecemos o envio da quantia até 5 de junho de 2026 para o IBAN\nPT50 0002 0123 1234 5678 9015 4.":                    "2026-06-05",
		"Der Betrag wird vereinbarungsgemäß am 20.05.2026 dem Treuhandkonto entnommen; eine Überweisung ist nicht erforderlich.": "2026-05-20",
	} {
		if _, f, _ := reader.Read(typedBill(sums+terms), Own{}); dueOf(stated(f.DueDate)) != want {
			t.Errorf("%s: %s, want %s", terms, dueOf(stated(f.DueDate)), want)
		}
	}
}

func dueOf(value string) string {
	if value == "" {
		return "-"
	}
	return value
}

// Given credit notes that name the day of a balance, or until when what they correct was due, then nothing is due; the day on which the sum
// is paid back is stated.
func TestNothingIsDueOnCreditNotes(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for below, want := range map[string]string{
		"Wir verrechnen den Betrag mit Ihrem Konto.\nOffener Saldo Ihres Kontos per 06.05.2026 vor Gutschrift:  14.882,19": "-",
		"Die Rechnung war fällig, ihr Liefertermin der 13.05.2026.":                                                        "-",
		"Wir überweisen den Betrag bis zum 15.05.2026 auf Ihr Konto.":                                                      "2026-05-15",
		"Der Betrag wird am 15.05.2026 auf Ihr Konto bei der Sparkasse überwiesen.":                                        "2026-05-15",
		"Der Betrag, am 15.05.2026 berechnet, gilt als vereinbart.":                                                        "-",
	} {
		_, f, _ := reader.Read(typed.Document(paper("Gutschrift", closing, below)), Own{})
		if dueOf(stated(f.DueDate)) != want {
			t.Errorf("%s: %s, want %s", below, dueOf(stated(f.DueDate)), want)
		}
	}
}

// Given sentences whose last word is the rest of a verb, or in which signs hide an account, then they end where they do and not before.
func TestWhereSentencesEnd(t *testing.T) {
	v := testVocabulary(t)
	for first, rest := range map[string]string{
		"wir buchen am 2.3. ab": ". Ihr neuer Abschlag gilt ab 1.6.",
		"wir ziehen ihn ein":    ". Vielen Dank.",
		"er wird vom Konto DE•• •••• ••41 17 abgebucht": ". Vielen Dank.",
		"Konto DE41 ": "• BIC BAWAATWW",
		"Zahlung nach Prüfung gemäß § 16 VOB/B":              ". Freistellungsbescheinigung liegt vor",
		"der Betrag von € 1.200,00 ist bis 2.3. zu bezahlen": "; danach mit Zinsen",
		"gemäß Nr. 4 zu bezahlen":                            "; danach mit Zinsen",
	} {
		text := fold([]rune(first + rest))
		if got := text[:v.sentenceEnd(text)]; got != fold([]rune(first)) {
			t.Errorf("%q ends behind %q", first+rest, got)
		}
	}
}
