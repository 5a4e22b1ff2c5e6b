package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// reminders are titles and subjects of reminders and statements of account in every language, over the invoice that they list.
func reminders() map[string][]string {
	return map[string][]string{
		"German": {"2. Mahnung – Rechnung Nr. 20260577", "Betreff: Rechnung Nr. 20260577 – Zahlungserinnerung", "Letzte Mahnung zu Rechnung 20260577",
			"Kontoauszug zum 31.10.2026", "Betreff: Offene Rechnung 20260577", "3. Mahnung und Kontoauszug"},
		"English": {"Final reminder - invoice 20260577", "Re: Overdue invoice 20260577", "Statement of account as at 31/10/2026",
			"Subject: Invoice 20260577 – second reminder", "Re: Unpaid invoice 20260577", "Statement of account and reminder"},
		"French":    {"2ème relance – facture F26-1147", "Objet : relance – facture F26-1147 impayée", "Objet : facture F26-1147 impayée"},
		"Italian":   {"Secondo sollecito - fattura n. 20260577", "Oggetto: sollecito di pagamento fattura 20260577", "Oggetto: fattura 20260577 insoluta"},
		"Spanish":   {"Segundo recordatorio – factura 20260577", "Asunto: reclamación de pago de la factura 20260577", "Asunto: factura 20260577 vencida"},
		"Dutch":     {"Tweede herinnering – factuur 20260577", "Betreft: aanmaning factuur 20260577", "Betreft: openstaande factuur 20260577"},
		"Polish":    {"Ostateczne wezwanie do zapłaty – faktura 20260577", "Dotyczy: przypomnienie o płatności, faktura 20260577"},
		"Czech":     {"2. upomínka – faktura č. 20260577", "Upomínka a výzva k úhradě", "Věc: výzva k úhradě faktury 20260577", "Věc: faktura 20260577 po splatnosti"},
		"Slovak":    {"2. upomienka – faktúra č. 20260577", "Vec: výzva na zaplatenie faktúry 20260577"},
		"Slovenian": {"Drugi opomin – račun št. 20260577", "Zadeva: opomin za račun 20260577", "Zadeva: neplačan račun 20260577"},
		"Croatian":  {"Druga opomena – račun br. 20260577", "Predmet: opomena za račun 20260577", "Predmet: nepodmireni račun 20260577"},
		"Hungarian": {"Második fizetési felszólítás – számla 20260577", "Tárgy: fizetési emlékeztető, számla 20260577"},
		"Portuguese": {"Segundo lembrete – fatura 20260577", "Assunto: fatura 20260577 em atraso",
			"Assunto: lembrete de pagamento da fatura 20260577"},
		"Romanian":  {"A doua somație – factura 20260577", "Subiect: notificare de plată factura 20260577", "Subiect: factura 20260577 neachitată"},
		"Swedish":   {"Andra påminnelse – faktura 20260577", "Ärende: påminnelse om faktura 20260577"},
		"Danish":    {"Anden rykker – faktura 20260577", "Vedr.: betalingspåmindelse faktura 20260577"},
		"Norwegian": {"Andre purring – faktura 20260577", "Gjelder: betalingspåminnelse faktura 20260577"},
		"Estonian":  {"Teine meeldetuletus – arve 20260577", "Teema: tasumata arve 20260577"},
		"Latvian": {"Otrais atgādinājums – rēķins Nr. 20260577", "Temats: kavēts maksājums, rēķins 20260577",
			"Savstarpējo norēķinu salīdzināšanas akts"},
		"Lithuanian": {"Antras priminimas – sąskaita 20260577", "Tema: neapmokėta sąskaita 20260577", "Tarpusavio atsiskaitymų suderinimo aktas"},
		"Greek":      {"Δεύτερη υπενθύμιση – τιμολόγιο 20260577", "Θέμα: ανεξόφλητο τιμολόγιο 20260577", "Κίνηση λογαριασμού"},
		"Bulgarian":  {"Втора покана за плащане – фактура № 20260577", "Относно: неплатена фактура № 20260577"},
		"Finnish":    {"Toinen maksumuistutus – lasku 20260577", "Asia: maksukehotus, lasku 20260577"},
	}
}

const reminded = `Leider konnten wir zu der unten angeführten Rechnung noch keinen Zahlungseingang feststellen.

Rechnung     Datum       Fällig     Netto       USt        Brutto
20260577     3.8.2026    2.9.2026   18.460,00   3.692,00   22.152,00
Mahnspesen                                                 40,00
Offen gesamt                                               22.192,00`

// Given reminders and statements of account in every language that are set as their text is, then they are no invoices, though they list one
// with its number, day and sums.
func TestRemindersAreNoInvoices(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for language, titles := range reminders() {
		for _, title := range titles {
			letter := "Tischlerei Huber GmbH\nHofgasse 3, 1010 Wien\nATU33864707\n\nWohnpark Errichtungs GmbH\n5163 Mattsee\n\nWien, 14.10.2026\n\n" +
				title + "\n\n" + reminded
			if got, _, _ := reader.Read(typed.Document(letter), Own{}); got != NotAnInvoice {
				t.Errorf("%s: the kind of %q is %d", language, title, got)
			}
		}
	}
}

// Given invoices that speak of reminders in their items, in what they are about, or below their total, then they are invoices.
func TestInvoicesMaySpeakOfReminders(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ title, below string }{
		"the matter of a lawyer":     {"Rechnung\n\nBetreff: Mahnung gegen Meier wegen Miete", ""},
		"a charge for a reminder":    {"Rechnung\n\nMahnung vom 02.03.2026          40,00", ""},
		"what follows from late pay": {"Rechnung 2026-0417", "Mahnung: je Mahnung 5,00 EUR"},
		"a sentence":                 {"Rechnung 2026-0417\n\nEine Mahnung ist nicht nötig, damit Verzug eintritt.", ""},
	} {
		if got, _, _ := reader.Read(typed.Document(paper(c.title, closing, c.below)), Own{}); got != Invoice {
			t.Errorf("%s: the kind is %d", name, got)
		}
	}
}
