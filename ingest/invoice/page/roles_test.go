package page

import (
	"slices"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given a document that the buyer issues for his supplier, as it says, then whom it is addressed to is the supplier, and the id that it calls
// his, or that stands in his address, is his; without one none is stated.
func TestRolesOfSelfBilledDocuments(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const below = `

Gutschrift GS-26-0212                                           05.03.2026
(Abrechnung durch den Leistungsempfänger gem. § 14 Abs. 2 UStG)

Provision netto                                                1.000,00
zzgl. 19 % Umsatzsteuer                                          190,00
Auszahlungsbetrag brutto EUR                                   1.190,00

Königstor Living Projektgesellschaft mbH · HRB 38117 Dresden · USt-IdNr. DE136695976
`
	const address = `Königstor Living Projektgesellschaft mbH, Prager Straße 10, 01069 Dresden



Elbblick Vertriebs GmbH
Bautzner Straße 133
01099 Dresden
`
	for particulars, wantID := range map[string]string{
		"\nDatum 05.03.2026 | Ihre USt-IdNr. DE811907980": "DE811907980",
		"USt-IdNr. DE811907980":                           "DE811907980",
		"\n\nUSt-IdNr. des Leistenden: DE811907980":       "DE811907980",
		"": "",
	} {
		kind, f, _ := reader.Read(typed.Document(address+particulars+below), Own{})
		if kind != Invoice {
			t.Errorf("%q: kind %d", particulars, kind)
		}
		if f.SupplierName == nil || f.SupplierName.Value != "Elbblick Vertriebs GmbH" {
			t.Errorf("%q: the supplier is %+v", particulars, f.SupplierName)
		}
		got := ""
		if f.SupplierTaxID != nil {
			got = f.SupplierTaxID.Value
		}
		if got != wantID {
			t.Errorf("%q: the id is %q, want %q", particulars, got, wantID)
		}
	}
}

// Given the name over the one address that isn't the buyer's, then a label of the buyer makes it the seller's, but not where he issues the
// document himself.
func TestTheOnlyOtherPartyOfASelfBilledDocument(t *testing.T) {
	for title, want := range map[string]bool{"Rechnung": true, "Gutschrift gem. § 14 UStG": false} {
		s := sheetOf(t, "KÖNIGSTOR\n\n"+title)
		got := slices.Contains(s.ties(named{name: "KÖNIGSTOR", key: "KONIGSTOR", it: s.rows[0][0], rule: ruleLetterhead, how: onlyParty}, nil), tieLabel)
		if got != want {
			t.Errorf("%s: %t, want %t", title, got, want)
		}
	}
}

// Given ways to say that the buyer issues a document for his supplier, then it does; a credit note's own words don't.
func TestWordsOfSelfBilling(t *testing.T) {
	v := testVocabulary(t)
	for said, want := range map[string]bool{
		"Abrechnungsgutschrift gemäß § 14 Abs. 2 Satz 5 UStG": true, "Gutschrift gem. § 14 UStG": true, "Umsatzsteuerliche Gutschrift": true,
		"Gutschrift i.S.d. § 14 Abs. 2 UStG": true, "The VAT shown is your output tax due to HMRC": true, "Self-billed invoice": true,
		"Gutschrift zu Rechnung 14": false, "Wir schreiben Ihnen gut": false, "Rechnung gemäß § 14 UStG": false,
	} {
		if got := v.selfBilling.MatchString(foldText(said)); got != want {
			t.Errorf("%q: %t, want %t", said, got, want)
		}
	}
}

// Given a self-billed document with an addressee, then he is the supplier, by the seller's label where that names him, and nobody where it
// names another.
func TestTheLabelOfASelfBilledDocument(t *testing.T) {
	s := sheetOf(t, "Self-billed invoice\nElbblick UG")
	at := s.rows[1][0]
	for label, want := range map[string]string{"": ruleAddressee, "ELBBLICK": ruleSeller, "KONIGSTOR": ""} {
		all := []named{{whole: "ELBBLICK", rule: ruleAddressee, it: at}}
		if label != "" {
			all = append(all, named{whole: label, rule: ruleSeller, it: at, ties: map[tie]bool{tieLabel: true}})
		}
		got := ""
		if c := s.addressed(all); c != nil {
			got = c.rule
		}
		if got != want {
			t.Errorf("a label of %q: %q, want %q", label, got, want)
		}
	}
}

// Given a self-billed document whose parties have labels, then the one that is called the supplier and addressed is.
func TestASelfBilledDocumentWithLabels(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	kind, f, _ := reader.Read(typed.Document(`Königstor Living GmbH, Prager Straße 10, 01069 Dresden



Elbblick Vermittlung UG (haftungsbeschränkt)
Herrn Max Muster
Bautzner Straße 133
01099 Dresden

Gutschrift Nr. GS-26-0212                                       05.03.2026
Abrechnungsgutschrift gemäß § 14 Abs. 2 Satz 5 UStG

Provision netto                                                1.000,00
zzgl. 19 % Umsatzsteuer                                          190,00
Auszahlungsbetrag                                              1.190,00

Leistender Unternehmer (Gutschriftsempfänger)     Leistungsempfänger (Aussteller)
Elbblick Vermittlung UG                           Königstor Living GmbH
(haftungsbeschränkt)                              USt-IdNr. DE136695976
USt-IdNr. DE811907980

Königstor Living GmbH
`), Own{})
	if kind != Invoice || stated(f.SupplierName) != "Elbblick Vermittlung UG (haftungsbeschränkt)" || stated(f.SupplierTaxID) != "DE811907980" {
		t.Errorf("kind %d, %+v, %+v", kind, f.SupplierName, f.SupplierTaxID)
	}
}

// paintersBill is an invoice below its head.
const paintersBill = `

Rechnung Nr. 2026-118                                            12.03.2026

Malerarbeiten                                                    100,00 €
Nettobetrag                                                      100,00 €
USt. 20 %                                                         20,00 €
Rechnungsbetrag                                                  120,00 €
`

// Given ids of both parties, or labels of two ids in one, then the supplier's is read, by where it stands and what announces it.
func TestWhoseATaxIDIs(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const head = "Malerei Berger GmbH\nGasse 1\n1010 Wien\nberger@malerei-berger.example\n"
	const recipient = "Lofts GmbH\nRingstraße 7\n8010 Graz\n"
	for name, c := range map[string]struct{ page, want string }{
		"the recipient's in his address, the supplier's below the sums": {
			head + "\n\n\n\n" + recipient + "UID ATU33864707" + paintersBill + "\n\nUID ATU12345675\n", "ATU12345675"},
		"the recipient's in a line behind his label, and among the particulars": {
			head + "\n\n\nKunde Lofts GmbH, Ringstraße 7, 8010 Graz, UID ATU33864707\n\nUID: ATU33864707\nDatum: 12.03.2026" + paintersBill, ""},
		"two labels in one": {
			head + "P.IVA/C.F. 00743110157\n\n\n\n" + recipient + paintersBill, "00743110157"},
		"a number's abbreviation behind its label": {
			head + "Contribuinte n.º 501964843\n\n\n\n" + recipient + paintersBill, "501964843"},
		"behind a remark of its label, a full stop behind it": {
			head + "Federal Tax ID (EIN) 84-3319027. Services from abroad\n\n\n\n" + recipient + paintersBill, "843319027"},
		"called ours in a line below the recipient": {
			head + "\n\n\n" + recipient + "\nMandant 21560, unsere Steuernummer 14/206/30571" + paintersBill, "14/206/30571"},
		"among particulars that begin with the customer's number": {
			head + "\n\n\n" + recipient + "\nKunde:            D 2319\nObjekt:           Dachboden\nSteuernummer:     301/5126/0948" + paintersBill,
			"301/5126/0948"},
		"under its label in a foot": {
			head + "\n\n\n" + recipient + paintersBill +
				"\n\nBankverbindung                Steuernummer            Mitglied der Kammer\nVR-Bank Wien                  151/018/99689           Nr. 41 772\n",
			"151/018/99689"},
		"behind the office that gave it": {
			head + "\n\n\n" + recipient + paintersBill + "\n\nMeine Steuernummer beim Finanzamt Marburg lautet 048/284/50916.\n", "048/284/50916"},
		"a business that has no VAT id": {
			head + "SIRET 656 462 777 00011\n\n\n\n" + recipient + paintersBill + "\nTVA non applicable, art. 293 B du CGI\n", "65646277700011"},
		"under the seller's label, without one of its own and misprinted": {
			"Rechnung an:                  Rechnung von:\nLofts GmbH                    Malerei Berger GmbH\nRingstraße 7                  Gasse 1\n" +
				"8010 Graz                     1010 Wien\nATU33864707                   ATU50661234\n" + paintersBill, "ATU50661234"},
	} {
		_, f, _ := reader.Read(typed.Document(c.page), Own{})
		got := ""
		if f.SupplierTaxID != nil {
			got = f.SupplierTaxID.Value
		}
		if got != c.want {
			t.Errorf("%s: the id is %q (%+v), want %q", name, got, f.SupplierTaxID, c.want)
		}
	}
}

// Given names that stand right over one another, in a sentence of their own, behind words of an account, or with the place and day of the
// letter or the recipient's label, then the supplier's is the one that the letter is from.
func TestNamesOfSuppliers(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ page, want string }{
		"in a sentence about the company": {
			"DIGBY\nPlant and tools\n\n\n\n\nAncoats Basin Ltd\nJersey Mill\nManchester M4 6JG" + paintersBill +
				"\n\nDigby Plant Hire Limited. Reg. in England 2288107. VAT Reg No: GB 338 8689 92. Posted to your account.\n",
			"Digby Plant Hire Limited"},
		"whom the account is for": {
			"CADORF VON SALIS\n\n\n\n\nBaukonsortium Calanda\nRingstrasse 98\n7000 Chur" + paintersBill +
				"\n\nIBAN CH25 8526 3515 7640 5314 3, lautend auf Cadorf von Salis Rechtsanwälte AG,\n", "Cadorf von Salis Rechtsanwälte AG"},
		"the recipient's label before the name": {
			"Elander Immobiliare S.n.c.\nCorso Italia 174\n11755 Trieste\nelander@elander.example\n\n\n\nCommittente Rosius S.r.l., Via Roma 158, 76839 Padova" + paintersBill,
			"Elander Immobiliare S.n.c."},
	} {
		_, f, _ := reader.Read(typed.Document(c.page), Own{})
		if f.SupplierName == nil || f.SupplierName.Value != c.want {
			t.Errorf("%s: the supplier is %+v, want %q", name, f.SupplierName, c.want)
		}
	}
}

// Given sums that are parts of a total, then neither they nor their taxes are any of the bill's; a tax that the total contains is.
func TestRolesOfPartsOfATotal(t *testing.T) {
	for line, want := range map[string][]role{
		"Im Rechnungsbetrag enthaltene Fahrtkosten: 349,66 EUR brutto (darin 55,83 EUR MwSt)": {roleOther, roleOther},
		"Lohnkosten gem. § 35a EStG: 349,66 EUR":                                              {roleOther},
		"Varav arbetskostnad inkl. moms: 5 000,00 SEK":                                        {roleOther},
		"Im Rechnungsbetrag enthaltene MwSt: 71,71 EUR":                                       {roleTaxWithin},
		"Rechnungsbetrag: 449,12 EUR (darin 71,71 EUR MwSt)":                                  {roleGross, roleTaxWithin},
	} {
		var got []role
		for _, sm := range sheetOf(t, line).sums() {
			got = append(got, sm.role)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
