package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
	"tallyhouse/ingest/invoice/page/typed"
)

// letterhead names who sends an invoice and whom it is for.
const letterhead = `Muster Bau GmbH
Hauptstraße 1
1010 Wien
UID ATU12345675

Lofts GmbH
Ringstraße 7
8010 Graz
`

// withParticulars is an invoice in whose head stands what is given.
func withParticulars(particulars string) string {
	return letterhead + `
` + particulars + `

Malerarbeiten                                                   100,00 €
Nettobetrag                                                     100,00 €
USt. 20 %                                                        20,00 €
Rechnungsbetrag                                                 120,00 €
`
}

func numberOn(t *testing.T, reader *Reader, page string) string {
	t.Helper()
	_, f, _ := reader.Read(typed.Document(page), Own{})
	if f.Number == nil {
		return ""
	}
	return f.Number.Value
}

// Given an invoice without a number, on which that of something else stands under its own label, in any language and wherever an invoice's
// would stand, then no number is stated; beside the invoice's own it is never taken for it.
func TestNumbersOfOtherThings(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{
		"Auftrag", "Auftrags-Nr.", "Kundennummer", "Kd-Nr.", "Ihre Bestellung", "Projekt", "Vertrag Nr.", "Angebot", "Lieferschein Nr.", "Zählernummer",
		"Baustelle", "Liefertermin KW", "Order", "Order No.", "Customer ID", "Project", "Contract No.", "Quotation", "Delivery note", "PO", "Policy", "Your ref.",
		"Commande n°", "N° client", "Contrat", "Devis n°", "Bon de livraison", "Chantier", "Dossier", "Marché n°", "SIRET", "Ordine n.", "Codice cliente",
		"Commessa", "Contratto", "Preventivo n.", "DDT n.", "CIG", "Pedido nº", "Código cliente", "Obra", "Presupuesto nº", "Albarán", "Expediente",
		"Encomenda n.º", "Contrato", "Requisição", "Guia", "Klantnummer", "Ordernummer", "Uw referentie", "Offertenummer", "Pakbon", "Zamówienie nr",
		"Umowa nr", "Nr klienta", "Oferta nr", "Objednávka č.", "Smlouva č.", "Číslo zákazníka", "Zmluva č.", "Naročilo št.", "Pogodba št.", "Šifra kupca",
		"Dobavnica", "Narudžba br.", "Ugovor br.", "Otpremnica", "Rendelésszám", "Szerződésszám", "Ügyfélszám", "Szállítólevél", "Comanda nr.",
		"Contract nr.", "Aviz nr.", "Kundnummer", "Ordernr", "Avtal", "Offert", "Kundenr.", "Tilbud nr.", "Ordrenr.", "Prosjekt", "Avtale nr.",
		"Tilausnumero", "Asiakasnumero", "Sopimus", "Tarjous",
	} {
		for _, particulars := range []string{
			"Rechnung\n\n" + label + " T-1044/26                    Datum 12.03.2026",
			"Datum: 12.03.2026\n" + label + ": T-1044/26\n\nRechnung",
			"Rechnung                      " + label + "        Datum\n                              T-1044/26" + strings.Repeat(" ", max(2, len([]rune(label))-1)) + "12.03.2026",
		} {
			if got := numberOn(t, reader, withParticulars(particulars)); got != "" {
				t.Errorf("%q: number %q", particulars, got)
			}
		}
		beside := "Rechnung\n\n" + label + "  T-1044/26\nRechnungsnummer  26-88\nDatum  12.03.2026"
		if got := numberOn(t, reader, withParticulars(beside)); got != "26-88" {
			t.Errorf("%q: number %q", beside, got)
		}
	}
}

// Given an invoice in whose head figures stand that are no number whatever their place (an account, a telephone number, a tax id, a year,
// the code of a title, measures), then none is stated.
func TestFiguresThatAreNoNumber(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, particulars := range []string{
		"Stromrechnung 2025\n\nDatum 12.03.2026",
		"Honorarrechnung (380)\n\nDatum 12.03.2026",
		"Rechnung\nAT86 2769 3109 8027 4085\nDatum 12.03.2026",
		"Rechnung\n0664 4418 820\nDatum 12.03.2026",
		"Rechnung\nDE811907980\nDatum 12.03.2026",
		"Rechnung\nC.I.F. RO24830206\nDatum 12.03.2026",
		"Számla\nSzámlaszám: 11700000-20000000-30000000\nDatum 12.03.2026",
		"Faktura VAT\nNr rachunku: PL22 3819 8719 7419 0593 7557 8441\nDatum 12.03.2026",
		"Rechnung\n340x176\nDatum 12.03.2026",
		"Faktura VAT\nNr rachunku: 22 1090 2398 0000 0001 4296 9426\nDatum 12.03.2026",
		"Rechnung\nDatum 12.03.2026\nNeckarbogen 12–18",
		"Faktura\nDatum 12.03.2026\nSlownie: dwa tysiace PLN 85/100",
		"Rechnung\nDatum 12.03.2026\nTel 0141-21 60 00",
		"Parcella\nC.F. BLSRGR68C14G337K\nDatum 12.03.2026",
		"Fattura\nCodice fiscale BLSRGR68C14G337K\nDatum 12.03.2026",
		"Rechnung\nDatum 12.03.2026\n\n04/2026",
		"Rechnung Bandenwerbung Saison 2025/26 und Inserat\nDatum 12.03.2026",
		"Rechnung\nDatum 12.03.2026\n\nInserat ½ Seite Festführer, 4-farbig",
		"Rechnung\nDatum 12.03.2026\n\nBeton brechen, RC 0/45 einlagern          4,00       2,50      10,00",
	} {
		if got := numberOn(t, reader, withParticulars(particulars)); got != "" {
			t.Errorf("%q: number %q", particulars, got)
		}
	}
}

// Given an invoice's number set in one of the ways that billers have, then it is read as it is printed.
func TestWaysToSetANumber(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for particulars, want := range map[string]string{
		"Faktura VAT   FS-517/26/WRO oryginał\nDatum 12.03.2026":                "FS-517/26/WRO",
		"Bolletta n. 5126 0088 4471\ndel 12.03.2026":                            "5126 0088 4471",
		"Račun-otpremnica R-1 br.    318/1/1\nDatum 12.03.2026":                 "318/1/1",
		"3. Abschlagsrechnung · AR 2419/03\nDatum 12.03.2026":                   "AR 2419/03",
		"Rechnung 2026–07\nDatum 12.03.2026":                                    "2026–07",
		"Rechnungsnummer: RE-2026-   Datum: 12.03.2026\n                 08734": "RE-2026-08734",
		// Values above their labels.
		"Rechnung\n12              20.10.2026\nRg.-Nr.         Rechnungsdatum":                                                    "12",
		"Rechnung\nA-12/7          20.10.2026\nRg.-Nr.         Rechnungsdatum\n\nBestellung: 77-4\nFällig: 30.10.2026":            "A-12/7",
		"Factura\n20201208                20/10/2026\nRef. factura            Fecha de emisión":                                   "20201208",
		"Rechnung Nr. 72 142 994 42 vom 20.10.2026, Ihr Zeichen: AB":                                                              "72 142 994 42",
		"Rechnungsnr. 2600 7731 5542\nDatum 20.10.2026":                                                                           "2600 7731 5542",
		"Rechnung Nr. 22 / 2026\nWien, 20.10.2026":                                                                                "22 / 2026",
		"FACTURA Seria TGC nr. 004471\nData: 20.10.2026":                                                                          "TGC 004471",
		"Faktura VAT FS 187/04/2026\nData wystawienia: 20.10.2026":                                                                "FS 187/04/2026",
		"Faktura VAT nr FV/118/2026\nData wystawienia: 20.10.2026":                                                                "FV/118/2026",
		"Rechnung\nIhr Konto: 386DB2-65 · Bestellung: 2745-7 · Fällig: 04.11.2026 · Nr.:\nBA44-1658 · Rechnungsdatum: 20.10.2026": "BA44-1658",
		"Rechnung\nBaustelle Hauptstr. 5 – Nr. EF5157 – Datum 20.10.2026":                                                         "EF5157",
		"Rechnung\nNummer 38, Rechnungsdatum 20.10.2026. Bestellung: 2020/673.":                                                   "38",
		"Račun\nDatum računa: 20.10.2026\nŠtevilka: 44":                                                                           "44",
		"Račun za storitve št. 608/L, Naročilo št. BV/636/2021\nDatum: 20.10.2026":                                                "608/L",
		"Réf.: Facture n° RE-2022-979 / N° client SV/710/2022\nDate: 20/10/2026":                                                  "RE-2022-979",
		"Affaire: Facture de solde no 9/19 / Commande n° 399/A\nDate: 20/10/2026":                                                 "9/19",
		"Facture B027538 du 20/10/2026\n\nRemplace la facture n° B003906 du 13/03/2026":                                           "B027538",
		"FACTUUR 5917 d.d. 20-10-2026. Offertenummer: B043673.":                                                                   "5917",
		"Račun-otpremnica broj KF5413748\nDatum: 20.10.2026":                                                                      "KF5413748",
		"A 2026. októberi szolgáltatásról kiállított ZK25-114477 számú számla\nSzámla kelte: 2026.10.20.":                         "ZK25-114477",
		"TAX INVOICE\nDoc no. ND-004417\nIssued 20 October 2026":                                                                  "ND-004417",
		"C.F. BLSRGR68C14G337K\n\nParcella n. 512 del 20/10/2026":                                                                 "512",
		"MINUTA DE HONORARIOS 3/2026\nBarcelona, 20 de octubre de 2026":                                                           "3/2026",
		// A municipality's, beside that of the matter.
		"Legesnota\nAanslagnummer      8801 4477 203\nDagtekening        20-10-2026\nZaaknummer         Z-25-118207 (omgevingsvergunning)": "8801 4477 203",
		// Broken at a hyphen, over two lines of a cell.
		"TAX INVOICE\nInvoice ref       VAL07-\n                  22071\nDate 20 October 2026": "VAL07-22071",
		// What a label says in parentheses.
		"FAKTÚRA\nFaktúra číslo (VS): 10260418\nVyhotovená 31.05.2026\n\nUhradený preddavok (zálohová faktúra 20260077 z 24.04.2026)": "10260418",
		"Invoice\nInvoice no. (please quote): 7\nDate 20 October 2026":                                                                "7",
		"Factură fiscală\nSerie și nr.: GTC-004418\nData: 20.10.2026\nÎntocmit de: Ana Pop, CI seria CJ nr. 221904":                   "GTC-004418",
		// Behind its title or alone below it, in parts, or like a telephone number; of a notice.
		"Wien, 20.10.2026\n\n3. TEILHONORARNOTE\nHN 26 – 0418\nProjekt PR 2514 Wohnanlage":     "HN 26 – 0418",
		"Mietrechnung 47-26-10-0551\nMietvertrag :   MV 2026/0311\nRechn.-Datum :  20.10.2026": "47-26-10-0551",
		"Sammelvorschreibung 12/2026\nRechnungsnr. SV-30118-202612\nDatum 20.10.2026":          "SV-30118-202612",
		"GUTSCHRIFT\nBeleg/Datum: 90044718 / 20.10.2026\nReferenzbeleg: 80177120 / 28.08.2026": "90044718",
		"KOSTENBESCHEID / RECHNUNG\nKostenbescheid Nr.: K 2026-0338\nDatum 20.10.2026":         "K 2026-0338",
		"Sammelrechnung\nBeleg-Nr.           RE 704 118 26\nBelegdatum          20.10.2026":    "RE 704 118 26",
		"RAČUN 26-300-118842\nDatum računa 20.10.2026":                                         "26-300-118842",
		"Teilhonorarnote, HN-Nr. 26.093\nWien, 20.10.2026":                                     "26.093",
		"Kostenberechnung R.-Nr. 2026-1203\nUR-Nr. 812/2026 K, Wien, 20.10.2026":               "2026-1203",
		// The title's, above which of a contract's bills it is.
		"Datum 04.12.2025\nAkontorechnung Nr. 3 – Rechnung 25214":                                                      "25214",
		"Honorarrechnung B-26/031                    22.04.2026\nAbschlagsrechnung Nr. 1 gemäß Vertrag vom 14.01.2026": "B-26/031",
		// Behind a title's word for it in a sentence that breaks there.
		"We act in the above sale, which closed on 2 October 2026, and set out below our note of fees no.\n" +
			"22719 for the work done to 30 September 2026.\n\nLimerick, 20 October 2026": "22719",
		"Premienota 885120.25.1\nPolisnummer CAR-7718420\nDeventer, 20 oktober 2026": "885120.25.1",
	} {
		if got := numberOn(t, reader, withParticulars(particulars)); got != want {
			t.Errorf("%q: number %q, want %q", particulars, got, want)
		}
	}
}

// Given a credit note that names the invoice that it corrects in a line that begins as a subject does, or in an item, then the note's own
// number is read.
func TestTheNumberOfACreditNote(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for particulars, want := range map[string]string{
		"Creditfactuur\n\nCreditnummer     C2026-0052\nDatum            20-10-2026\nBetreft factuur  F2026-0741 van 02-04-2026":              "C2026-0052",
		"Gutschrift\n\nBeleg            C2026-0052\nDatum            20.10.2026\nBetreff Rechnung F2026-0741 vom 02.04.2026":                 "C2026-0052",
		"Factura rectificativa\nSerie / Número     R25/00041\nDatum              20.10.2026\nRectifica a la factura F25/01873 de 11-04-2025": "R25/00041",
		"Nota de crédito NC 26/74\nDatum 20.10.2026\n\nTorneiras — Ref. fatura FT 26/1802 de 02-09-2026":                                     "NC 26/74",
	} {
		if got := numberOn(t, reader, withParticulars(particulars)); got != want {
			t.Errorf("%q: number %q, want %q", particulars, got, want)
		}
	}
}

// Given a number in groups, behind letters, or in parts that strokes and dots tie, then it is read to its end, and no further: not into a day, a
// sum, a quantity or what another label announces.
func TestHowFarANumberGoes(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for particulars, want := range map[string]string{
		"Vorschreibung Nr.     4711\nDatum 20.10.2026": "4711", "Vorschreibung Nummer\n4711\nDatum 20.10.2026": "4711",
		"Rechnung: 118 826\nDatum 20.10.2026":                                                              "118 826",
		"RECHNUNG 118 446\nDatum 20.10.2026":                                                               "118 446",
		"RECHNUNG 2026 118\nDatum 20.10.2026":                                                              "",
		"Kunde 118 446\nRechnung Nr. 7\nDatum 20.10.2026":                                                  "7",
		"Fakt.-Nr. F2611-0092 · Kunde 7\nDatum 20.10.2026":                                                 "F2611-0092",
		"Fakturujeme Vám pod číslem 2600771 práce dle smlouvy č. 14/2026\nDatum vystavení 20.10.2026":      "2600771",
		"Die Rechnungsnummer für diesen Vorgang lautet M-1675.\nDatum 20.10.2026":                          "M-1675",
		"Rechnung 7601 220 934 vom 20.10.2026":                                                             "7601 220 934",
		"Rechnung Nr. FA-2025-07-\n\nDatum 20.10.2026":                                                     "",
		"Rechnung Nr. TK 6610 2210 885\nDatum 20.10.2026":                                                  "TK 6610 2210 885",
		"Factuur\nNummer: VK1 / 260 3318\nDatum: 20/10/2026":                                               "VK1 / 260 3318",
		"Wien, 20.10.2026\n\nFaktura 26 1187: Absteckung":                                                  "26 1187",
		"20.10.2026\n\nFEE ACCOUNT 2207 / 9 — Riverside Phase 2":                                           "2207 / 9",
		"Facture n° 2026 / 10 / 118\nParis, le 20 octobre 2026":                                            "2026 / 10 / 118",
		"Fattura n. 44 / A\nMilano, 20 ottobre 2026":                                                       "44",
		"Rechnungsnummer: 26 · 0118\nDatum 20.10.2026":                                                     "26 · 0118",
		"Faktura nr FV 118 / 2026\nData wystawienia: 20.10.2026":                                           "FV 118 / 2026",
		"Számla száma: AB 2026 00118\nKelt: 2026.10.20.":                                                   "AB 2026 00118",
		"Rechnung Nr. 2207 / 20.10.2026":                                                                   "2207",
		"Rechnung Nr. RE 4711, 100 Stück Ziegel\nDatum 20.10.2026":                                         "RE 4711",
		"Rechnung Nr. 4711 · Kunde 8812\nDatum 20.10.2026":                                                 "4711",
		"Akontorechnung Nr. 26-2093 / 2. Zahlungsgesuch\nDatum 20.10.2026":                                 "26-2093",
		"Rechnung Nr. RE 4711 12 Stück\nDatum 20.10.2026":                                                  "RE 4711",
		"Rechnung Nr. 4711 – 12\nDatum 20.10.2026":                                                         "4711",
		"Rechnungsnummer: 2026/01342 k\nDatum 20.10.2026":                                                  "2026/01342 k",
		"Rechnungsnummer: 1846/2026 W – URNr. 2017/2026\nDatum 20.10.2026":                                 "1846/2026 W",
		"Rechnung Nr. 4711 a vom 20.10.2026":                                                               "4711",
		"Rechnung RE 26 – 0419 Haus\nDatum 20.10.2026":                                                     "RE 26",
		"Rechnungs-Nr. / Kunden-Nr.              Datum\n4711 / 8812                            20.10.2026": "4711",
	} {
		if got := numberOn(t, reader, withParticulars(particulars)); got != want {
			t.Errorf("%q: number %q, want %q", particulars, got, want)
		}
	}
}

// Given what stands for itself but is shaped like a number, houses from one to another, the end of a sum in words, a code in brackets, a year,
// a size or a telephone number, then it is none; what has letters, a year or more figures may be one.
func TestWhatIsNoNumberAnywhere(t *testing.T) {
	for text, want := range map[string]bool{
		"12–18": true, "PLN 85/100": true, "85/100": true, "(020)": true, "2026": true, "4-farbig": true, "100x200": true, "0512 58 33 71": true, "+43 512 583371": true,
		"12–1899": false, "85/1000": false, "2026-18": false, "AB 85/101": false, "8418": false,
	} {
		value := strings.Trim(text, "()")
		c := &candidate{value: value, at: &item{runes: []rune(text), folded: fold([]rune(text))}, from: strings.Index(text, value)}
		if got := noNumber(c); got != want {
			t.Errorf("%q is none: %t, want %t", text, got, want)
		}
	}
}

// Given the number of a house that no label announces, then it is never certain, however likely the weights find it.
func TestAHouseIsNoNumber(t *testing.T) {
	for line, want := range map[string]bool{"Handelsstraße 214/Top": false, "Beleg 214/Top": true} {
		s := sheetOf(t, "Bauwerk Huber GmbH\n"+line)
		s.weights = model.Model{fields.Number: {Weights: map[string]int{"shape 9/A": 9000}}}
		got, _ := s.number(nil)
		if certain(got) != want {
			t.Errorf("%s: %v is certain: %t, want %t", line, got, certain(got), want)
		}
	}
}

// Given two years, then they are a season where the second follows the first.
func TestSeasons(t *testing.T) {
	for value, want := range map[string]bool{"2025/26": true, "2025/2026": true, "2099/00": true, "2026-27": true, "2025/27": false,
		"2026/25": false, "2025/261": false, "1999/00": false} {
		if got := season(value); got != want {
			t.Errorf("%s: %t, want %t", value, got, want)
		}
	}
}

// Given a code in the block of a party, then it is not the invoice's number.
func TestTheCodeOfAPartyIsNoNumber(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const page = `                                                        Serial No. AB.00017
INVOICE
                                                        Invoice date: 2026-03-12

Seller                                      Buyer

Alder, Finch and Moss                       Jane Roe

Address: 1204 Willow Falls, CO 66972        Email: jane@example.org

Code: 52-2207719

VAT code: 987654321

Phone: 660-355-1193

Description                  Qty                     Price        Sub total
Repairs                      1                     20.00 €          20.00 €
                                              Total amount          20.00 €
`
	if got := numberOn(t, reader, page); got == "52-2207719" {
		t.Errorf("number %q", got)
	}
}
