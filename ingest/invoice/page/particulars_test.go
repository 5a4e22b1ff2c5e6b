package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

const (
	billersHead = "Marmor Studio GmbH, Hofgasse 3, 1010 Wien, UID ATU33864707\n\n\nLofts GmbH\nRingstraße 7\n8010 Graz\n\n"
	plainSums   = "\n\nLeistung                     100,00 EUR\nNetto                        100,00 EUR\n" +
		"USt. 20 %                     20,00 EUR\nGesamtbetrag                 120,00 EUR\n"
)

// Given numbers and days of several documents, or set in unusual ways, then those of the invoice itself are read.
func TestWhoseNumberAndDayItIs(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ page, want string }{
		"two labels and two values with a stroke between": {
			"Facture\nVotre n° / notre n°     PO-7714 / 26-30-0611\nDate                    13-06-2026" + plainSums, "26-30-0611 | 2026-06-13"},
		"to be told when paying, over a line's end": {
			"Facture pour l'appartement témoin, le 4 décembre 2025. Veuillez rappeler le numéro\nOB/25/88 lors du paiement." + plainSums,
			"OB/25/88 | 2025-12-04"},
		"one billed before, in the row that takes it off": {
			"2. Teilrechnung\nRE       AB-26022\nvom      26.02.2026\n" +
				"\nLeistungsstand                                   300,00 EUR\n./. 1. Teilrechnung AB-25110 v. 28.11.2025     -200,00 EUR" + plainSums,
			"AB-26022 | 2026-02-26"},
		"the day of the invoice that is corrected": {
			"Odobrenje br. O-7/2026 po računu 214-1-1 od 28.05.2026.\nGraz, 10. lipnja 2026." + plainSums, "O-7/2026 | 2026-06-10"},
		"the day behind a place, beside other days' words": {
			"Rechnung Nr. 4-S/2026\nObjekt: Block D · Leistungszeitraum: 1. 5. – 31. 5. 2026 · Graz, 8. 6. 2026" + plainSums, "4-S/2026 | 2026-06-08"},
		"labels and values with a stroke between": {
			"Invoice                                  Tern & Plover\n                                         Creative Studio\nBilled to\n" +
				"Grand Canal Residences DAC               No. / TP-1188\nHanover Quay 30, Dublin D02 XY47         Issued / 15 Jan 2026\n" +
				"                                         PO / GCR-2210\n                                         Quote / Q-0931 (3 Nov 2025)" +
				plainSums, "TP-1188 | 2026-01-15"},
		"a credit note beside the invoice that it corrects": {
			"NOTE DE CRÉDIT\n\nN° document  NC26/0033     Date document      20/05/2026\n" +
				"N° client    CONF02        Facture d'origine  FV26/0412 du 30/04/2026" + plainSums, "NC26/0033 | 2026-05-20"},
		"the day of a handover beside that of the document": {
			"SCHLUSSRECHNUNG                    BV Ennsleite, 18 WE\n\nBeleg         vom              Kunde             Projekt\n" +
				"SR250418      22.12.25         D20077            P2024-031\n\nAuftrag       Auftragsdatum    Bearbeiter        Übernahme\n" +
				"AB240512      13.05.24         Hr. Pichlwanger   01.12.25" + plainSums, "SR250418 | 2025-12-22"},
		"the day of an acceptance": {
			"Schlussrechnung SR250418\nAbnahme: 01.12.25\nLinz, 22.12.25" + plainSums, "SR250418 | 2025-12-22"},
		"the invoice that is corrected, under a label of its own": {
			"NOTE DE CRÉDIT NC26/0033\nFacture d'origine : FV26/0412\nDate d'origine : 30/04/2026\nNamur, 20/05/2026" + plainSums,
			"NC26/0033 | 2026-05-20"},
		"the invoice that is corrected, under a word for a reference": {
			"AVOIR\n\nNuméro        Date          Code client   Réf. facture\nAV250044      22/07/2025    BALRHO        FA250611" + plainSums,
			"AV250044 | 2025-07-22"},
		"the day up to which works are counted, and that of the contract": {
			"FACTURE N° FV-2603-041\n\nLot 07 Ravalement - Marché du 22/09/2025\nTravaux arrêtés au 28/02/2026\nMagny, le 3 mars 2026" + plainSums,
			"FV-2603-041 | 2026-03-03"},
		"a day between strokes": {
			"                                     19 | 03 | 2026\n\nHonorarrechnung Nr. 318-04" + plainSums, "318-04 | 2026-03-19"},
	} {
		_, f, _ := reader.Read(typed.Document(billersHead+c.page), Own{})
		if got := brief(f); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Given documents with number, day and sums, then those that call themselves a bill in the words of their trade are invoices, and those that
// offer, order or agree on something are none.
func TestBillsAndOtherDocuments(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const particulars = "\nNr. T-26-041                   Datum 22.06.2026\n"
	for title, want := range map[string]Kind{
		"vierte Abschlagsforderung nach HOAI":           Invoice,
		"5. Akontogesuch":                               Invoice,
		"Provisionsabrechnung":                          Invoice,
		"Betreft: courtagenota T-26-041":                Invoice,
		"État de frais":                                 Invoice,
		"Avviso di parcella":                            Invoice,
		"Notă de onorariu":                              Invoice,
		"Regning":                                       Invoice,
		"Application for payment":                       Invoice,
		"Tender for Groundworks and Drainage, Phase 1":  NotAnInvoice,
		"Zmluva o dielo":                                NotAnInvoice,
		"We thank you and offer to carry out the works": NotAnInvoice,
		"Für diese Arbeiten bieten wir Ihnen an:":       NotAnInvoice,
		"Przedmiotem umowy są roboty ziemne":            NotAnInvoice,
		"Hiermit bestellen wir":                         NotAnInvoice,
	} {
		if got, f, _ := reader.Read(typed.Document(billersHead+title+particulars+plainSums), Own{}); got != want {
			t.Errorf("%q: kind %d, want %d: %s", title, got, want, brief(f))
		}
	}
}

// Given a title above its number on the right, then it says what the document is.
func TestATitleAboveItsNumber(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const page = `Ziegelkontor Nord GmbH · Hafenstr. 4 · 24103 Kiel            Auftragsbestätigung
                                                             Nr. AB118204
Förde Bauträger GmbH                                         Datum 19.01.2026
Kiellinie 70                                                 Kunde 40771
24105 Kiel                                                   Ihre Bestellung B-0118 v. 16.01.2026

Vielen Dank für Ihre Bestellung, die wir wie folgt bestätigen:

4.000 St Klinker                                   2.984,00
Nettowert                                          2.984,00
19 % MwSt                                            566,96
Auftragswert EUR                                   3.550,96

Zahlungsbedingung: 30 Tage netto. Sie erhalten die Rechnung nach Lieferung.
HRB 11820 AG Kiel · USt-IdNr. DE134882072`
	if got, f, _ := reader.Read(typed.Document(page), Own{}); got != NotAnInvoice {
		t.Errorf("kind %d: %s", got, brief(f))
	}
}

// Given a credit note or a bill that the buyer issues, which says when it is paid, then that is its due date.
func TestWhenTheIssuerPays(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		"Gutschrift Nr. G-7     Datum: 02.03.2026" + plainSums + "\nWir überweisen zum 16.03.2026 auf Ihr Konto.":                "2026-03-16",
		"Faktura korygująca nr G-7     Data: 02.03.2026" + plainSums + "\nKwota do zwrotu: 120,00 EUR w terminie do 16.03.2026.": "2026-03-16",
		"Rechnung Nr. G-7       Datum: 02.03.2026" + plainSums + "\nWir überweisen zum 16.03.2026 an das Finanzamt.":             "-",
	} {
		_, f, _ := reader.Read(typed.Document(billersHead+said), Own{})
		if got := strings.Split(brief(f), " | ")[2]; got != want {
			t.Errorf("%s: due %s, want %s", said, got, want)
		}
	}
}
