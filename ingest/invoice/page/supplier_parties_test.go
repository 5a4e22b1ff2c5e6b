package page

import (
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// sideColumn is a letter whose sender stands in a narrow column along the left edge, the address in the window beside it.
const sideColumn = `
                                Stiftung Wohnen am Wienerberg
k                               Hertha-Firnberg-Straße 10
l                               1100 Wien
w

Architekturbüro Klaus Wieser
ZT GmbH
Zieglergasse 29/7               HONORARNOTE
1070 Wien
                                Nr. HN 2026-041                Wien, 17. März 2026
T 01 524 88 31
UID ATU69088346                 Projekt 2208 Wohnhausanlage
FN 418820d, HG Wien             Honorar exkl. USt                         67.840,50
AT94 1420 0200 1093 7422        20 % USt                                  13.568,10
                                Gesamt EUR                                81.408,60
`

// guarded is an invoice below its addresses.
const guarded = `Račun št. 2026-SV-0418
Ljubljana, 4. 5. 2026

Varovanje gradbišča                                                      5.593,00
Osnova za DDV                                                            5.593,00
DDV 22 %                                                                 1.230,46
Za plačilo EUR                                                           6.823,46
`

// Given letters whose heads, feet and accounts name others beside the supplier, then he is stated, or nobody.
func TestOthersBesideTheSupplier(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ page, want string }{
		"the bank below the account": {`JADRAN NADZOR d.o.o. za graditeljstvo                 IBAN: HR73 2390 0011 1004 4182 9
Poljička cesta 26, 21000 Split                        HPB d.d. Zagreb
OIB: 44182077197                                      MBS 060118204, Trgovački sud u Splitu

Primatelj: Marjan Rezidencija d.o.o., Trg Gaje Bulata 5, 21000 Split, OIB 81120447180

RAČUN broj 64/1/2
Datum izdavanja: 27.02.2026.

Usluga                                                   Iznos EUR
Stručni nadzor                                          109.600,00
Porezna osnovica                                        109.600,00
PDV 25 %                                                 27.400,00
Sveukupno                                               137.000,00
`, "JADRAN NADZOR d.o.o."},
		"behind the word for from": {`RECHNUNG
Von: Lindner Planung GmbH, Hauptstraße 10, 10115 Berlin
An: Schmidt Immobilien AG, Industrieweg 5, 80333 München

Rechnungsnummer: RE-2026-042
Rechnungsdatum: 20.02.2026

Beratung                                                    850,00
Nettobetrag                                                 850,00
MwSt. 19 %                                                  161,50
Gesamtbetrag                                              1.011,50
`, "Lindner Planung GmbH"},
		"below the word for from, the form in brackets": {`Rechnung
Von                                  Rechnung an
Bautakt Software UG                  Spreebogen Development GmbH
(haftungsbeschränkt)                 Spreeufer 7
Elsenstraße 4                        10115 Berlin
12435 Berlin

Rechnungsnummer: BT-0014
Datum: 01.03.2026

Abonnement                                                  348,00
Nettobetrag                                                 348,00
MwSt. 19 %                                                   66,12
Gesamtbetrag                                                414,12
`, "Bautakt Software UG (haftungsbeschränkt)"},
		"two companies side by side, and nothing says who is who": {`Invoice No. 123
Created: 1 January 2026

Sparrow Design, Inc.              Acme Corp.
12345 Sunny Road                  John Doe
Sunnyville, CA 12345              john@mail.example

Website design                                             $333.00
Total                                                      $333.00
`, ""},
		"a Polish form without its first stop": {`Faktura VAT nr FV 1/05/2026
Data wystawienia:      2026-05-02

Sprzedawca:                            Nabywca:
Krzak sp.z.o.o                         Fundacja Muzeum Motoryzacji
ul. Wilanowska 13                      ul. Towarowa 35
05-122 Wilanów                         61-896 Poznań
NIP: 5741997874

Usługa                                                   1 000,00
Wartość netto                                            1 000,00
VAT 23%                                                    230,00
Razem                                                    1 230,00
`, "Krzak sp.z.o.o"},
		"who runs a hotel": {`The Corrib Strand Hotel
Salthill, Galway · Tel +353 91 555 018

Ballycoast Marina Developments Ltd
Dock Road, Galway

INVOICE F-220418
Date: 17/04/2026

Accommodation                            1,749.00
Total                                    1,749.00
VAT included 13.5%                         208.03
Thank you for staying with us.

Owned and operated by Corrib Strand Hotel Operations Ltd, Reg. in Ireland 330914 · VAT IE9820114TH
`, "Corrib Strand Hotel Operations Ltd"},
		"a town hall": {`Stadt Ravensfelde                          Technisches Rathaus, Am Wall 3, 39211 Ravensfelde
                                           Auskunft: Frau Thielecke, Tel. 03925 611-374

Stadt Ravensfelde · Postfach 11 20 · 39201 Ravensfelde
Bördeland Logistik GmbH
Magdeburger Chaussee 4
39211 Ravensfelde

Datum: 15.01.2026

Rechnung Nr. 63/871-GB

Kopien                                                   35,00 €
Rechnungsbetrag                                          35,00 €
`, "Stadt Ravensfelde"},
		"a street without a number over a town": {`hissezhaut

AVOIR AV2603-0118
Lyon, le 27/03/2026

Promotion Presqu'île SNC
Cours Charlemagne, 69002 Lyon

Location nacelle                               552,00
Transport                                       95,00
Base HT                                        647,00
TVA 20 %                                       129,40
Montant TTC à votre crédit                     776,40 €

Hissez Haut Location SAS, 44 route de Vienne, 69800 Saint-Priest. SIREN 138066840 RCS Lyon. N° TVA FR56138066840.
`, "Hissez Haut Location SAS"},
		"a trade name over the person who trades under it": {`Gebäudereinigung Yıldız
Ayşe Yıldız, Kantstraße 901, 04275 Leipzig
Steuernummer 231/291/04417

Baugemeinschaft Connewitz GbR
Bornaische Straße 880
04277 Leipzig

Rechnung
Nr. 37 / 2026                     Leipzig, 31. August 2026

Bauzwischenreinigung                        845,25 €
Material und Anfahrt                         68,00 €
Endbetrag                                   913,25 €
`, "Ayşe Yıldız"},
		"a name in a line that breaks behind a label": {`FASADEX SISTEMI d.o.o. za graditeljstvo · Ulica grada Vukovara 990, 10000 Zagreb · OIB:
36847649650 · PDV ID: HR36847649650 · Trgovački sud u Zagrebu MBS 080418822

Investitor: Savica Living d.o.o., Zagreb, OIB 39859264610

RAČUN broj 58/P1/1
Datum: 05.05.2026.

Fasada                                                   72.550,75
Ukupno za naplatu                                        72.550,75 EUR
`, "FASADEX SISTEMI d.o.o."},
		"an addressee alone, the letterhead a picture": {`            Baukonsortium Limmatfeld
            vertreten durch Stammer Immobilien Entwicklung AG
            Überlandstrasse 18
            8953 Dietikon




            Honorarrechnung

            Datum    7. April 2026
            Beleg    2604.03-TZ5

            Honorar dieser Rechnung                       42'112.00
            Total exkl. MWST                              42'112.00
            MWST 8.1 %                                     3'411.07
            Rechnungsbetrag CHF                           45'523.07
`, ""},
		"two addresses with a tax id beside each other, and no word of either": {`
Rezidenca Brdo d.o.o.                                        Ščit varovanje d.o.o.
Tehnološki park 18                                           Letališka cesta 44
1000 Ljubljana                                               1000 Ljubljana
ID za DDV: SI22044183                                        ID za DDV: SI44180225

` + guarded, ""},
		"the same, one in the window below the other": {`
                                                             Ščit varovanje d.o.o.
                                                             Letališka cesta 44
                                                             1000 Ljubljana
                                                             ID za DDV: SI44180225

Rezidenca Brdo d.o.o.
Tehnološki park 18
1000 Ljubljana
ID za DDV: SI22044183

` + guarded, "Ščit varovanje d.o.o."},
		"the same, one on the right below the other": {`
Rezidenca Brdo d.o.o.
Tehnološki park 18
1000 Ljubljana
ID za DDV: SI22044183
                                                             Ščit varovanje d.o.o.
                                                             Letališka cesta 44
                                                             1000 Ljubljana
                                                             ID za DDV: SI44180225

` + guarded, ""},
		"the same, of whom one is named as the buyer": {`
Ščit varovanje d.o.o.                                        Kupec: Rezidenca Brdo d.o.o.
Letališka cesta 44                                           Tehnološki park 18
1000 Ljubljana                                               1000 Ljubljana
ID za DDV: SI44180225                                        ID za DDV: SI22044183

` + guarded, "Ščit varovanje d.o.o."},
		"a column on the left edge that is the letterhead": {sideColumn, "Architekturbüro Klaus Wieser ZT GmbH"},
	} {
		if _, f, _ := reader.Read(typed.Document(c.page), Own{}); stated(f.SupplierName) != c.want {
			t.Errorf("%s: %q, want %q", name, stated(f.SupplierName), c.want)
		}
	}
}

// Given a column on the left edge that names a company below a label, then the company is a candidate, without the label.
func TestACompanyInTheSendersColumn(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range reader.Considered(typed.Document(`
bygglogg                        Strand Bostadsutveckling AB
                                FE 4182
Fakturanummer                   Scancentral
2025-4182                       831 90 Östersund

Fakturadatum                    Faktura
2025-02-14
                                Er referens: Åsa Lindqvist
Bankgiro
5418-2736                       Onboarding                                27 540,00

OCR
20250041827

Organisationsnr
559418-2734

Momsreg.nr                      Exkl. moms                                27 540,00
SE559418273401                  Moms 25%                                   6 885,00
                                Att betala SEK                            34 425,00
Adress
Bygglogg Sverige AB
Kungsbron 18
111 22 Stockholm
faktura@bygglogg.example
`), Own{})["supplierName"] {
		keys = append(keys, c.Key)
	}
	if !slices.Contains(keys, "BYGGLOGGSVERIGEAB") || slices.Contains(keys, "ADRESSBYGGLOGGSVERIGEAB") {
		t.Errorf("candidates are %v", keys)
	}
}

// Given a narrow column along the left edge, then it is the sender's where it tells a tax id, and an account or register, and no other line
// begins there.
func TestTheSendersColumn(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		want bool
	}{
		"of its own":             {sideColumn, true},
		"a register, no account": {strings.Replace(sideColumn, "AT94 1420 0200 1093 7422", "Kammer der Architekten  ", 1), true},
		"neither of them": {strings.NewReplacer("AT94 1420 0200 1093 7422", "Kammer der Architekten  ",
			"FN 418820d, HG Wien", "Ziviltechniker, Wien").Replace(sideColumn), false},
		"no tax id in it":         {strings.Replace(sideColumn, "UID ATU69088346", "Ziviltechniker ", 1), false},
		"a sentence begins there": {sideColumn + "Wir danken für den Auftrag und ersuchen um Überweisung binnen drei Wochen.\n", false},
	} {
		if got := len(newSheet(testVocabulary(t), typed.Document(c.page)).sideColumn()) > 0; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Given labels of sums in the head, on the left of them or above, then they are no names; a company's name is, whatever stands
// beside it.
func TestLabelsOfSumsAreNoNames(t *testing.T) {
	s := sheetOf(t, "VALOR A PAGAR\n336,15 €\n\nMontant du marché HT    61 400,00 €\nTotal Energies GmbH    12,00 €\nTotal Energies\nParis")
	var got []string
	for _, row := range s.rows {
		if s.announcesSum(row[0]) {
			got = append(got, row[0].text())
		}
	}
	if want := []string{"VALOR A PAGAR", "Montant du marché HT"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}

// Given a name that a label gives to who buys, then it is nobody's who may be the supplier, wherever else it stands; a seller's label, or an
// account beside the label, says otherwise.
func TestWhoIsSaidToBuy(t *testing.T) {
	head := "Duna Projekt Kft.\n1117 Budapest, Dombóvári út 27.\n\n"
	for below, want := range map[string]bool{
		"Leistungsempfänger: Duna Projekt Kft., USt-IdNr. HU26441885":            false,
		"Customer: Duna Projekt Kft.":                                            false,
		"Customer: Berger Bau GmbH":                                              true,
		"Seller: Duna Projekt Kft.\nCustomer: Duna Projekt Kft.":                 true,
		"Prejemnik: Duna Projekt Kft.\nIBAN prejemnika: SI90 0610 0004 4180 227": true,
	} {
		s := sheetOf(t, head+below)
		got := slices.ContainsFunc(s.names(Own{}, s.buyers(), nil), func(c named) bool { return c.name == "Duna Projekt Kft." })
		if got != want {
			t.Errorf("%q: may be the supplier %t, want %t", below, got, want)
		}
	}
	// Under its label it is the buyer's.
	s := sheetOf(t, "Eladó neve, címe          Vevő neve, címe\nDaruport Zrt.             Duna Projekt Kft.\n2040 Budaörs              1117 Budapest")
	if buyers := s.buyers(); !buyers[s.rows[1][1]] || buyers[s.rows[1][0]] {
		t.Error("who buys stands below a label that asks for name and address")
	}
}

// Given addresses without a number, of estates and public buildings, what somebody is licensed for and phrases, then they are no names;
// companies that bear such words are, and persons behind small titles.
func TestPlacesAreNoNames(t *testing.T) {
	v := testVocabulary(t)
	for name, want := range map[string]bool{
		"Ballybane Industrial Estate": false, "Technisches Rathaus": false, "Hôtel de Ville": false, "Gewerbepark Nord": false,
		"Sitz Freiburg im Breisgau":               false,
		"Ingenieurkonsulent für Vermessungswesen": false, "Studio tecnico": false, "Illustratrice d'architecture (EI)": false, "wie gestern besprochen": false,
		"dott. ing. Marta Bellomo": true, "dott.ssa Marta Bellomo": true, "v. Trotha & Cie.": true, "Studio tecnico Bellomo": true,
		"Prüfingenieur für Standsicherheit": false, "Gerber Bodenbeläge AG": true, "Holzinger Handelsges.m.b.H.": true,
		"Raheen Business Park Ltd": true, "Rathaus Apotheke GmbH": true, "Berger Estates": true,
	} {
		if got := v.nameLike(name); got != want {
			t.Errorf("%q may be a name: %t, want %t", name, got, want)
		}
	}
}

// Given names with what ties them to the issuer, then who runs a business outdoes its mark, and who trades under a
// mark outdoes that, but no company's name.
func TestWhoStandsBehindAMark(t *testing.T) {
	s := sheetOf(t, "Malerei Yıldız\nAyşe Yıldız, Kantstraße 901, 04275 Leipzig")
	mark := &named{name: "Malerei Yıldız", whole: "a", it: s.rows[0][0]}
	mark.it.size = 16
	person := named{name: "Ayşe Yıldız", whole: "b", it: s.rows[1][0], rule: ruleReturn}
	another := named{name: "Ayşe Kaya", whole: "c", it: s.rows[1][0], rule: ruleReturn}
	if !person.trader(mark) || another.trader(mark) || mark.trader(&person) {
		t.Error("who bears the mark's last name and begins the sender's line trades under it, and nobody else")
	}
	if mark.it.size = person.it.size; person.trader(mark) {
		t.Error("what isn't set larger is no mark")
	}
	company := named{name: "Hotel Betriebs GmbH", whole: "d", form: true, ties: map[tie]bool{tieLabel: true, tieID: true}}
	if !company.told(mark) || company.told(&named{whole: "e", form: true}) {
		t.Error("who is said to run it outdoes a mark, and no company")
	}
}

// Given a company right below an account and nothing else, then it is the bank that keeps it; with an address or
// printed again it isn't.
func TestBanksBelowAccounts(t *testing.T) {
	for page, want := range map[string]bool{
		"IBAN: HR73 2390 0011 1004 4182 9\nHPB d.d. Zagreb":                                 true,
		"IBAN: HR73 2390 0011 1004 4182 9\nHPB d.d. Zagreb\nPoljička cesta 26\n21000 Split": false,
		"IBAN: HR73 2390 0011 1004 4182 9\nHPB d.d. Zagreb\n\nHPB d.d. Zagreb":              false,
		"Plativo na IBAN HR73 2390 0011 1004 4182 9 do 3. 3. naručitelja\nHPB d.d. Zagreb":  false,
		"IBAN: HR73 2390 0011 1004 4182 9\n\n\nHPB d.d. Zagreb":                             false,
	} {
		if s := sheetOf(t, page); s.besideAccount(s.rows[1][0]) != want {
			t.Errorf("%q: below an account %t, want %t", page, !want, want)
		}
	}
}

// Given a line that runs across the page, then it is looked at last, as what has no place there.
func TestLinesAcrossThePageHaveNoPlace(t *testing.T) {
	doc := typed.Document("Rechnung 7")
	doc.Pages[0].Aside = typed.Document("Berger Bau GmbH").Pages[0].Lines
	s := newSheet(testVocabulary(t), doc)
	s.addAside()
	last := s.rows[len(s.rows)-1][0]
	if len(s.rows) != 2 || last.text() != "Berger Bau GmbH" || s.box(last) != nil || s.box(s.rows[0][0]) == nil {
		t.Errorf("%d rows, the last is %q at %v", len(s.rows), last.text(), s.box(last))
	}
}

// Given a column on the left edge that is the sender's, then a name beside it that nothing but its place ties to the issuer is whom the
// letter is for; not one that a label or the account ties to him, nor one within the column, nor where no such column is.
func TestNamesBesideTheSendersColumn(t *testing.T) {
	column := newSheet(testVocabulary(t), typed.Document(sideColumn))
	other := newSheet(testVocabulary(t), typed.Document(guarded))
	item := func(s *sheet, text string) *item {
		for _, row := range s.rows {
			for _, it := range row {
				if strings.HasPrefix(it.text(), text) {
					return it
				}
			}
		}
		t.Fatalf("no %q", text)
		return nil
	}
	placed := map[tie]bool{tieHead: true, tieContact: true}
	for name, c := range map[string]struct {
		s    *sheet
		it   string
		ties map[tie]bool
		want bool
	}{
		"placed":            {column, "Stiftung", placed, true},
		"with a label":      {column, "Stiftung", map[tie]bool{tieHead: true, tieLabel: true}, false},
		"within the column": {column, "Architekturbüro", placed, false},
		"without a column":  {other, "Varovanje", placed, false},
	} {
		if got := c.s.besideSender(&named{it: item(c.s, c.it), ties: c.ties}); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// Given a name without a legal form over an address, the only one, then it may be whom the letter is for where the letterhead is a picture;
// not in the large letters of one.
func TestALoneNameInTheFirstRow(t *testing.T) {
	for size, want := range map[float64]bool{10: true, 14: false} {
		doc := typed.Document("Becker Bürotechnik\nLindenallee 7\n50667 Köln\n\n\n\n\nRechnung RG-2026-0334\nDatum 12.03.2026\nSchreibtisch    100,00")
		doc.Pages[0].Lines[0].Cells[0].Size = size
		s := newSheet(testVocabulary(t), doc)
		c := named{it: s.rows[0][0], name: "Becker Bürotechnik", whole: "BECKERBUROTECHNIK", ties: map[tie]bool{tieHead: true}}
		if got := s.loneAddressee(&c, []named{c}); got != want {
			t.Errorf("size %v: %t, want %t", size, got, want)
		}
	}
}

// Given a name over a department for invoices that come in, then it is whom the letter is for; over another department it may be anybody.
func TestDepartmentsForIncomingInvoices(t *testing.T) {
	for department, want := range map[string]bool{
		"Rechnungseingang": true, "Eingangsrechnungen": true, "Kreditorenbuchhaltung": true, "Accounts Payable": true, "z. Hd. Frau Berger": true,
		"Baustelle Nord": false, "Entsorgung und Recycling": false,
	} {
		s := sheetOf(t, "Zollverein Immobilien GmbH\n"+department+"\nGelsenkirchener Straße 181\n45309 Essen")
		if got := s.buyers()[s.rows[0][0]]; got != want {
			t.Errorf("over %s: %t, want %t", department, got, want)
		}
	}
}

// Given a label of a name with a part of it beside and its legal form on the next line, then the name is both.
func TestNamesBehindTheirLabelOverTwoLines(t *testing.T) {
	for lines, want := range map[string]string{
		"Denominazione: CERAMICHE\nVALLESECCHIA S.R.L.":        "CERAMICHE VALLESECCHIA S.R.L.",
		"Denominazione: CERAMICHE S.R.L.\nVALLESECCHIA S.R.L.": "CERAMICHE S.R.L.",
		"Denominazione: CERAMICHE\nVia Emilia":                 "CERAMICHE",
	} {
		var got string
		s := sheetOf(t, lines)
		s.behindNameLabel(s.rows[0][0], func(name string, _ *item, _, _ string) { got = name })
		if got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given a line in an address that says whose attention it is for, then the lines below it are the buyer's, too, as far as they go together.
func TestTheRestOfAnAddressBelowItsAttention(t *testing.T) {
	s := sheetOf(t, `Lofts Ireland DAC                    Reference
Attention: Accounts Payable
Unit 6, Grange Yard                  CW-118
Mill Street
DUBLIN 7

Description`)
	buyers := s.buyers()
	for r, want := range []bool{true, true, true, true, true, false} {
		if got := buyers[s.rows[r][0]]; got != want {
			t.Errorf("%q: %t, want %t", s.rows[r][0].text(), got, want)
		}
	}
	if buyers[s.rows[2][1]] {
		t.Error("what stands beside an address is the buyer's")
	}
}

// Given a person's name behind a word of politeness in an address, then the lines of it are the addressee's; not where it tells how to reach
// the person, who may be asked, nor without such a word or a name.
func TestAPersonWhomALetterIsFor(t *testing.T) {
	for first, want := range map[string]bool{
		"Frau Anna Berger":           true,
		"Herrn Dipl.-Ing. Jan Huber": true,
		"Mme Claire Martin":          true,
		"Anna Berger":                false,
		"Frau Holle Betten":          false,
		"Mr Tools Ltd":               false,
	} {
		s := sheetOf(t, "Lofts Projekt GmbH\n"+first+"\nRingstraße 12\n08010 Graz\n\nRechnung")
		buyers := s.buyers()
		for r := range 4 {
			if got := buyers[s.rows[r][0]]; got != want {
				t.Errorf("%s: %q: %t, want %t", first, s.rows[r][0].text(), got, want)
			}
		}
		s = sheetOf(t, "Lofts Projekt GmbH\n"+first+"\nRingstraße 12\n08010 Graz\nTel. 0316 44 18 20\n\nRechnung")
		if s.buyers()[s.rows[1][0]] {
			t.Errorf("%s, whom one may call, is the buyer", first)
		}
	}
}

// Given a line that begins with figures and a zero, then it is a telephone number where more figures follow, and no postal code.
func TestPostalCodesAreNoTelephone(t *testing.T) {
	for line, want := range map[string]bool{
		"08002 barcelona": false, "06116 halle (saale)": false, "0341 / 22 81 90": true, "0664-4418220": true, "0316 44 18 20": true,
	} {
		if got := withContact(line); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
