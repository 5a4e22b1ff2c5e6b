package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// paper is a bill with a title, totals and what stands below them.
func paper(title, totals, below string) string {
	return `Bauwerk Huber GmbH
Hofgasse 3
1010 Wien
UID: ATU33864707

` + title + `

Nr.:               2026-0417
Datum:             06.05.2026

Leistung            Betrag in EUR
Mauerwerk                1.000,00

` + totals + `

` + below + `
`
}

const closing = `Summe netto              1.000,00
20 % Mehrwertsteuer        200,00
Gesamtbetrag             1.200,00`

// Given documents of titles that are known and not, then those are invoices that are called so, or that carry all that one has and are
// called nothing else; and what is called a credit below the total is another document.
func TestKindsOfDocuments(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		paper string
		want  Kind
	}{
		"an invoice": {paper("Rechnung", closing, ""), Invoice},
		"a title that nobody knows, net, tax, total": {paper("Wupperzettel", closing, ""), Invoice},
		"the same without a tax":                     {paper("Wupperzettel", "Gesamtbetrag 1.000,00", ""), NotAnInvoice},
		"the same with a day by which to pay":        {paper("Wupperzettel", "Gesamtbetrag 1.000,00", "Zahlbar bis: 05.06.2026"), Invoice},
		"a title and no number, the sums without tax": {
			strings.Replace(paper("Fee Account", "Amount payable 1.000,00", ""), "Nr.:               2026-0417", "", 1), Invoice},
		"a quote":                                   {paper("Angebot", closing, ""), NotAnInvoice},
		"a credit note":                             {paper("Gutschrift", closing, ""), CreditNote},
		"a credit named below the total":            {paper("Wupperzettel", closing, "Storno zu Rechnung 2026-0399 vom 02.05.2026"), Invoice},
		"an order named below the title":            {paper("RECHNUNG 2026-0417\n\nAuftrag 4711", closing, ""), Invoice},
		"the title in a line of several parts":      {paper("Ref.: Rechnung 2026-0417 / Ihre Kundennummer 9001043940\n\nAuftrag 4711", closing, ""), Invoice},
		"an order above what it calls its invoice":  {paper("Auftrag 4711\n\nRechnung an:", closing, ""), NotAnInvoice},
		"a compound as title, an order beside it":   {paper("Anzeigenrechnung 7 188 440\n\nAuftrag 2218-06", closing, ""), Invoice},
		"a title that begins with a compound":       {strings.Replace(paper("Beitragsrechnung zur Bauleistungsversicherung", closing, ""), "Nr.:               2026-0417", "", 1), Invoice},
		"a partial bill by its ordinal":             {paper("3. TEILRECHNUNG\n\nWerkvertrag vom 12.02.2026", closing, ""), Invoice},
		"a contract beside its label":               {paper("TEILRECHNUNG DREI\n\nAuftrag     : Werkvertrag vom 12.02.2026", closing, ""), Invoice},
		"a reminder with its number beside it":      {paper("2. Mahnung     M-2026-0931\n\nRechnung 2026-0417", closing, ""), NotAnInvoice},
		"what reminders cost, in a row of sums":     {paper("Rechnung", closing, "Zahlungserinnerung     Spesen     10,00"), Invoice},
		"a report of how an invoice was checked":    {paper("Rechnungsprüfprotokoll\n\nRechnung 2026-0417", closing, ""), NotAnInvoice},
		"a sheet that releases a payment":           {paper("Zahlungsfreigabe\n\nRechnung 2026-0417", closing, ""), NotAnInvoice},
		"an offer that says until when it is valid": {paper("Wupperzettel", closing, "Gültig bis 30.06.2026"), NotAnInvoice},
		"a certificate that is valid for long":      {paper("Wupperzettel", closing, "Freistellungsbescheinigung gem. § 48b EStG, gültig bis 31.12.2026"), Invoice},
		"an offer that hopes for an order":          {paper("Wupperzettel", closing, "Wir freuen uns auf Ihren Auftrag."), NotAnInvoice},
		"a reminder of an invoice":                  {paper("Mahnung\n\nRechnung 2026-0417", closing, ""), NotAnInvoice},
		"a fee note in Spanish":                     {paper("Minuta de honorarios 3/2026", closing, ""), Invoice},
		"a quote whose subject says what it is for": {paper("Offerte OF-26-0117 – vervanging van 44 cv-ketels in complex Harlingerstraat", closing, ""), NotAnInvoice},
		"a delivery note by its law, an invoice to follow": {paper("DOCUMENTO DI TRASPORTO (D.P.R. 472/96)", "Totale valore merce 1.000,00",
			"Seguirà regolare fattura differita."), NotAnInvoice},
		"claims and debts that are to be confirmed": {paper("Odsouhlasení pohledávek a závazků ke dni 06.05.2026\n\nFaktura č. 2601441", closing, ""),
			NotAnInvoice},
		"a bill of a utility in Italy": {paper("Bolletta della luce", closing, ""), Invoice},
		"an order confirmed, invoices in a sentence": {paper("Wupperzettel\n\nDe uitvoering begint in week twaalf en wordt verrekend in delen volgens de\nfactuurdatum.",
			"Gesamtbetrag 1.000,00", ""), NotAnInvoice},
		"a correction":                                 {paper("Rechnungskorrektur", closing, ""), CreditNote},
		"a correction that replaces an invoice":        {paper("Rechnungskorrektur", closing, "Diese Rechnung ersetzt unsere Rechnung 2026-0399."), Invoice},
		"a correction that replaces none":              {paper("Rechnungskorrektur", closing, "Sie ersetzt nicht unsere Rechnung 2026-0399."), CreditNote},
		"an offer of an insurance":                     {paper("Wupperzettel", closing, "Diese Versicherung bieten wir Ihnen an, gültig bis 31.12.2026"), NotAnInvoice},
		"a credit that replaces an invoice":            {paper("Gutschrift", closing, "Sie ersetzt unsere Rechnung 2026-0399."), CreditNote},
		"a notice of the costs that an office settles": {paper("Kostenfestsetzungsbescheid", "Kosten insgesamt 1.000,00 EUR", ""), Invoice},
		"a notice of a contribution":                   {paper("Erschließungsbeitragsbescheid", "Zu zahlen 1.000,00 EUR", ""), Invoice},
		"a credit named above the total":               {paper("Storno zu Rechnung 2026-0399 vom 02.05.2026", closing, ""), CreditNote},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _, _ := reader.Read(typed.Document(c.paper), Own{}); got != c.want {
				t.Errorf("the kind is %d, want %d", got, c.want)
			}
		})
	}
}

// Given a line of the head that names a quote, a colon and what it is for, then the document is one where the line is set large: small ones
// are references.
func TestATitleWithAColon(t *testing.T) {
	for size, want := range map[float64]bool{10: false, 14: true} {
		s := sheetOf(t, paper("Angebot: Flachdach Bauteil B", closing, ""))
		for _, row := range s.rows {
			if strings.HasPrefix(row[0].text(), "Angebot") {
				row[0].size = size
			}
		}
		if got := s.offers(); got != want {
			t.Errorf("in %g points: %t, want %t", size, got, want)
		}
	}
}

// Given a document whose title nobody knows and that carries all that an invoice has, then it is none where it says so in the words of its
// language; what calls itself an invoice is one, for such a sentence may be about the tax.
func TestDocumentsThatSayTheyAreNoInvoice(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		"Toto není daňový doklad.", "Dieses Schreiben ist keine Rechnung.", "This is not a VAT invoice.", "Ne vaut pas facture.",
		"Il presente documento non costituisce fattura.", "Este documento no es una factura.", "Dit is geen factuur.",
		"Dokument nie jest fakturą VAT.", "To ni račun.", "Ovo nije račun.", "Ez nem számla.", "Este documento não serve de fatura.",
		"Acest document nu este o factură.", "Rechnung folgt.", "Seguirà regolare fattura.", "Invoice to follow.", "Facture suivra.", "Detta är inte en faktura.", "Dette er ikke en faktura.", "Tämä ei ole lasku.",
		"See ei ole arve.", "Tas nav rēķins.", "Tai nėra PVM sąskaita faktūra.", "Δεν αποτελεί τιμολόγιο.", "Това не е фактура.",
	} {
		if got, _, _ := reader.Read(typed.Document(paper("Wupperzettel", closing, says)), Own{}); got != NotAnInvoice {
			t.Errorf("%q: %v", says, got)
		}
		if got, _, _ := reader.Read(typed.Document(paper("Rechnung", closing, says)), Own{}); got != Invoice {
			t.Errorf("%q below an invoice's title: %v", says, got)
		}
	}
}

// Given letters that somebody sends an invoice with, in several languages, then they are none, though they name its number, day and sum;
// one that has a total of its own is.
func TestLettersThatInvoicesAreSentWith(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, said := range map[string]string{
		"English": "Further to our conversation please find enclosed our invoice no. HQ-2218 dated 2 June 2026\n" +
			"in the sum of EUR 18,450.00 for services to the end of May.\n\nYours sincerely\n\nEncl.: Invoice HQ-2218",
		"German": "Wie besprochen übersende ich Ihnen anbei unsere Rechnung Nr. HQ-2218 vom 2.6.2026 über den\n" +
			"Gesamtbetrag von EUR 18.450,00 für die Leistungen im Mai.\n\nFreundliche Grüße\n\nAnlage: Rechnung HQ-2218",
		"French": "Nous vous prions de trouver ci-joint notre facture n° HQ-2218 du 02/06/2026 d'un montant\n" +
			"de 18 450,00 EUR pour les prestations du mois de mai.\n\nCordialement\n\nP.J.: Facture HQ-2218",
		"Italian": "Con la presente Vi trasmettiamo in allegato la nostra fattura n. HQ-2218 del 02/06/2026 per un\n" +
			"importo di EUR 18.450,00 per le prestazioni di maggio.\n\nDistinti saluti\n\nAllegato: Fattura HQ-2218",
		"Dutch": "Bijgaand ontvangt u onze factuur met factuurnummer HQ-2218 van 02-06-2026 ten bedrage van\n" +
			"EUR 18.450,00 voor de werkzaamheden in mei.\n\nMet vriendelijke groet\n\nBijlage: Factuur HQ-2218",
		"Polish": "W załączeniu przesyłamy naszą fakturę, numer faktury HQ-2218 z dnia 02.06.2026 na kwotę razem\n" +
			"18 450,00 EUR za prace w maju.\n\nZ poważaniem\n\nZałącznik: Faktura HQ-2218",
	} {
		letter := "Hegarty Quigley & Partners\n8 Lapp's Quay, Cork\n\nLeeside Docklands Ltd\nAlbert Quay, Cork\n\n03.06.2026\n\n" + said
		if got, _, _ := reader.Read(typed.Document(letter), Own{}); got != NotAnInvoice {
			t.Errorf("%s: the kind is %d", name, got)
		}
		if got, _, _ := reader.Read(typed.Document(letter+"\n\n"+closing), Own{}); got != Invoice {
			t.Errorf("%s, with sums below: the kind is %d", name, got)
		}
	}
}

// Given labels of sums without and with tax, also such as end like others begin, then they are told apart.
func TestWithoutTaxIsNotWithTax(t *testing.T) {
	v := testVocabulary(t)
	for label, want := range map[string]role{
		"Znesek brez DDV": roleNet, "Skupaj brez davka": roleNet, "Znesek z DDV": roleGross, "Skupaj z davkom": roleGross,
		"Celkem bez daně": roleNet, "Celkem s daní": roleGross, "Iznos bez PDV-a": roleNet, "Total sans TVA": roleNet,
		"Totaal excl. btw": roleNet, "Betrag ohne MwSt.": roleNet, "Betrag mit MwSt.": roleGross,
	} {
		if got, _ := v.roleOf(fold([]rune(label))); got != want {
			t.Errorf("%q has the role %d, want %d", label, got, want)
		}
	}
}
