package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// trader is a bill of somebody who writes no more than he must: a title with a number, a day, what was done and a
// sum.
func trader(title, day, total, below string) string {
	return `Gary Plumridge
Window & Builders Cleans
3 Malthouse Lane, Diss, Norfolk IP22 4LR
07700 900418

                                                  ` + day + `

` + title + `

Plots 11 to 18                                           360,00 €
Show home windows                                        378,50 €
` + total + `                                            738,50 €

` + below + `
`
}

// Given a title with a number behind it and nothing else that names either, in each language, then it is an invoice
// of that number, a leading zero and all.
func TestTitlesWithNumbersInEachLanguage(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for title, total := range map[string]string{
		"INVOICE 0047": "To pay", "RECHNUNG 0047": "Zu zahlen", "FACTURE 0047": "À payer", "FATTURA 0047": "Da pagare", "FACTURA 0047": "A pagar",
		"FACTUUR 0047": "Te betalen", "FAKTURA 0047": "Do zapłaty", "FAKTÚRA 0047": "Na úhradu", "RAČUN 0047": "Za plačilo",
		"OKONČANA SITUACIJA 0047": "Za platiti", "SZÁMLA 0047": "Fizetendő", "FATURA 0047": "Total a pagar", "FACTURĂ 0047": "Total de plată",
		"RÄKNING 0047": "Att betala", "REGNING 0047": "At betale", "LASKU 0047": "Maksettava", "ARVE 0047": "Tasuda", "RĒĶINS 0047": "Summa apmaksai",
		"PVM SĄSKAITA FAKTŪRA 0047": "Iš viso apmokėti", "ΤΙΜΟΛΟΓΙΟ 0047": "Πληρωτέο ποσό", "ФАКТУРА № 0047": "Сума за плащане",
		"VYÚČTOVÁNÍ 0047": "K úhradě",
	} {
		kind, f, _ := reader.Read(typed.Document(trader(title, "03.06.2026", total, "")), Own{})
		if kind != Invoice || stated(f.Number) != "0047" || grossOf(f) != 73850 {
			t.Errorf("%s: kind %d, number %q, total %d", title, kind, stated(f.Number), grossOf(f))
		}
	}
}

// Given the fee notices of public bodies, which call themselves no invoice, then they are invoices.
func TestFeeNoticesAreInvoices(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"Gebührenbescheid Nr. 63/871-GB", "Kostenbescheid Nr. 63/871-GB", "Beitragsbescheid Nr. 63/871-GB",
		"Facture d'émoluments 63/871-GB", "Platební výměr č. 63/871-GB", "Aanslagbiljet 63/871-GB", "Avgiftsbesked 63/871-GB"} {
		page := "Stadt Ravensfelde\nAm Wall 3, 39211 Ravensfelde\n\nDatum: 15.01.2026\n\n" + title + `

Baugenehmigung                                        12.843,00 €
Kopien                                                    35,00 €
Festgesetzter Betrag                                  12.878,00 €

Der Betrag wird am 20.02.2026 fällig.`
		if kind, f, _ := reader.Read(typed.Document(page), Own{}); kind != Invoice || grossOf(f) != 1287800 {
			t.Errorf("%s: kind %d, total %d", title, kind, grossOf(f))
		}
	}
}

// Given statements of account in several languages, one word for a title, then they are no invoices, though they list
// those with their numbers, days and sums.
func TestStatementsOfAccountAreNoInvoices(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const page = `O'Gorman Plant & Tool Hire Ltd
Ballysimon Road, Limerick · VAT No. IE6718820WH

                                                      TITLE

Shannon Rise Developments Ltd            Account No. SHA003
Raheen Business Park                     Statement date 31/03/26

Date        Type            Ref        Debit €     Credit €     Balance €
03/02/26    Invoice         71120     2,145.50                   2,145.50
17/02/26    Invoice         71188       984.00                   3,129.50
03/03/26    Credit note     C0219                    123.00      3,006.50
Balance due                                                      3,006.50

Terms strictly 30 days from invoice.
`
	for _, title := range []string{"STATEMENT", "Relevé", "Estratto", "Extracto", "Kontoübersicht", "Openstaande posten", "Zestawienie sald",
		"Kontooversigt", "Extrato", "Fișă de cont", "Otvorene stavke", "Avoimet laskut", "Tasumata arved",
		"Salīdzināšanas akts", "Skolų suderinimo aktas", "Καρτέλα πελάτη", "Извлечение по сметка"} {
		if kind, _, _ := reader.Read(typed.Document(strings.Replace(page, "TITLE", title, 1)), Own{}); kind != NotAnInvoice {
			t.Errorf("%s: the kind is %d", title, kind)
		}
	}
}

// Given days of arrival, departure and printing beside their labels, and no day of issue, then none of them is
// stated.
func TestDaysOfOtherThings(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const page = `The Corrib Strand Hotel
Salthill, Galway · Tel +353 91 555 018

Ballycoast Developments Ltd              Invoice no.     F-220418
Dock Road, Galway                        Arrival         06/04/2026
                                         Departure       17/04/2026

INVOICE

Accommodation, 11 nights                     2,264.50
Total EUR                                    2,264.50
`
	if _, f, _ := reader.Read(typed.Document(page), Own{}); f.Date != nil {
		t.Errorf("the day of issue is %s: %q", f.Date.Value, f.Date.Text)
	}
}

// Given numbers of an invoice under or beside a heading that says no more than that they are those of this document,
// then they are stated.
func TestNumbersOfThisDocument(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"Document", "Dokument", "Beleg", "Documento", "Bizonylat", "Doklad", "Bilag", "Tosite", "Folio"} {
		page := `                                                     Invoice

Sold to                               ` + label + `
Rheinauhafen Projekt Drei GmbH        EXP/17/05/2026
Agrippinawerft 22, 50678 Köln         issued 18 May 2026
VAT ID DE299144037                    offer 2026-03/117

Exterior still image             6      1,450.00      8,700.00
Total EUR                                             8,700.00

Studio Widok Renders Sp. z o.o. · ul. Dolnych 3/14, 31-124 Kraków · KRS 0000771904 · NIP PL9512044175
`
		if _, f, _ := reader.Read(typed.Document(page), Own{}); stated(f.Number) != "EXP/17/05/2026" {
			t.Errorf("%s: the number is %q", label, stated(f.Number))
		}
	}
}

// Given numbers of laws in notes and labels of sums, in several languages, then they are those of something else.
func TestNumbersOfLaws(t *testing.T) {
	v := testVocabulary(t)
	for _, said := range []string{"Imposta anticipata (art. 15 D.P.R. ", "nach der Richtlinie ", "VAT – reverse charge, Directive ", "selon la loi ",
		"exento, Ley ", "zgodnie z art. 43 ustawy ", "dle zákona ", "conform Legea ", "isento, artigo "} {
		if !v.numberedThing.MatchString(fold([]rune(said))) {
			t.Errorf("%q", said)
		}
	}
}
