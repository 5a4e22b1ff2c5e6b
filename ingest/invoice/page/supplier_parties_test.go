package page

import (
	"slices"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given letters whose heads, feet and accounts name others beside the supplier, then he is stated, or nobody.
func TestOthersBesideTheSupplier(t *testing.T) {
	reader, err := NewReader()
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
		"an industrial estate": {`                        Ballybane Industrial Estate, Galway H91
tolan/civils            Tel 091 770 411

Invoice TC-C118-006
Date 06/08/2026

Drainage                                      94,120.50
Variations                                     5,441.58
Amount of this invoice (excl. VAT)            99,562.08
VAT                                                0.00

Tolan Civil Engineering Limited. Registered in Ireland No. 418822. VAT No. IE7487397M. Directors: P. Tolan
`, "Tolan Civil Engineering Limited"},
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
	} {
		if _, f, _ := reader.Read(typed.Document(c.page), Own{}); stated(f.SupplierName) != c.want {
			t.Errorf("%s: %q, want %q", name, stated(f.SupplierName), c.want)
		}
	}
}

// Given labels of sums in the head, on the left of them or above, then they are no names; a company's name is, whatever stands beside it.
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
