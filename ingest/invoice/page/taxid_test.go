package page

import (
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given pages with the tax ids of two parties, that nothing but where each stands tells apart, then the supplier's is stated: the one under
// his name, beside its label or behind another id, below a gap, too; the one of whom an agent bills for; and the one among the particulars
// below whom to ask.
func TestTheIDOfTwoParties(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const sums = `

Nájem lešení                                                        1 000,00
Základ daně                                                         1 000,00
DPH 21 %                                                              210,00
Celkem                                                              1 210,00`
	for name, c := range map[string]struct{ page, want string }{
		"two ids in one row below a gap": {`Faktura - daňový doklad                                 číslo: 250900041
Dodavatel:                              Odběratel:
Projekce Vysočina s.r.o.                Rezidence Nad Řekou a.s.
Husova 418/27                           Na Poříčí 1067/25
586 01 Jihlava                          110 00 Praha 1


IČ: 04182731  DIČ: CZ04182731           IČ: 27501833  DIČ: CZ27501833

Datum vystavení: 30. 9. 2026` + sums, "CZ04182731"},
		"whom an agent bills for": {`                                             Domus Hausverwaltung GmbH
domus                                        Mariahilfer Straße 196, 1150 Wien
                                             www.domus.example



Optik Kratochwil e.U.
Thaliastraße 41
1160 Wien

Zinsvorschreibung / Dauerrechnung
im Namen und auf Rechnung der Eigentümer: WEG-Miteigentümergemeinschaft Thaliastraße 41, UID
ATU12345675

Rechnungsnummer: DR-4101-002 | Datum: 10.12.2026` + sums + `

Hausverwaltung: Domus Hausverwaltung GmbH, FN 301122x HG Wien, UID ATU33864707`, "ATU12345675"},
		"among the particulars below whom to ask": {`Grünraum Sutter AG
Wiesenweg 3, 3600 Thun

Aaretal Immobilien AG
Bälliz 40
3600 Thun

Rechnung RE-02317
Datum                24.04.2026
Ansprechpartner      Simone Sutter
MWST-Nr.             CHE-315.772.082 MWST` + sums, "CHE315772082"},
		"in the sender's line over the buyer's address": {`Adria Nadzor
ADRIA NADZOR d.o.o., Riva 8, 51000 Rijeka · OIB: 48177209364 · IBAN HR83 2402 0061 1008 8441 7
Karst Invest GmbH                                      Mjesto i vrijeme izdavanja: Rijeka, 30.09.2026. 14:22
Wiener Platz 7                                         Datum isporuke: 30.09.2026.
8020 Graz, Austrija                                    Dospijeće: 15.10.2026.
PDV ID: ATU12345675                                    Poziv na broj: HR99 412-2026

Račun br. 412/1/1` + sums, "48177209364"},
		"in the line of whom the letter is for, above the supplier's below the sums": {`                    ZIRMHOF
                    Alpine Retreat
Gast: Hr. Baumgartner, Zi. 204
Lofts GmbH, Mozartgasse 14, A-4020 Linz, UID ATU67312044
` + billedWork + `


Zirmhof KG · Rittner Straße 40, 39100 Bozen · MwSt.-Nr. 02811900212`, "02811900212"},
		"below a gap in the seller's block, the buyer's over his name": {`FAKTURA - daňový doklad č.                                     250900041
Dodavatel:                             Variabilní symbol:      250900041

Projekce Vysočina s.r.o.               Objednávka č.:          OBJ-118
Husova 418/27
586 01 Jihlava                         Odběratel:           IČ: 27501833
                                                            DIČ: CZ27501833

IČ:  04182731
DIČ: CZ04182731                        Rezidence Nad Řekou a.s.
Zapsáno v OR KS Brno, vložka 31884     Na Poříčí 1067/25
                                       110 00 Praha 1

Datum vystavení: 30. 9. 2026` + sums, "CZ04182731"},
		"under which an authority knows who pays": {`MARKTGEMEINDE UNTERWALD
Bauamt - Abgaben
4020 Unterwald, Hauptplatz 3

Lofts GmbH
Mozartgasse 14
4020 Linz

Aktenzeichen            Abgabenkonto            Bescheid-Nr.            Datum
131-9/2026              00518 440 / 07          B 2026/118              30.09.2026

GEBÜHRENBESCHEID

Benützung der Straße                                                1.000,00
Gebühr gesamt EUR                                                   1.000,00

Marktgemeinde Unterwald, IBAN AT61 1904 3002 3457 3201`, ""},
		"in the line of another company": {`Nevenka Škarica-Bulić
javna bilježnica
Domovinskog rata 880
21000 Split
OIB 77571752162
Marjan Rezidencije d.o.o., Split, OIB 38286703272

Račun br. 1877-1-2
Split, 16.03.2026.` + sums, "77571752162"},
	} {
		_, f, _ := reader.Read(typed.Document(c.page), Own{})
		if got := stated(f.SupplierTaxID); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Given the supplier's national number in the block below his name and the buyer's VAT id in a form, then the former is the supplier's;
// where words say whose the latter is, where it stands below the name, too, or where two do, nothing is changed.
func TestTheIDBelowTheName(t *testing.T) {
	const name = "Azulejos La Plana, S.L."
	for title, c := range map[string]struct {
		page   string
		behalf bool
		want   string
	}{
		"in the form alone": {name + `
Ctra. de Onda 12, 12110 L'Alcora
N.I.F.: B04291332



N.I.F.             AGENTE
ATU35404816        14 EXPORT`, false, "B04291332"},
		"of whom an agent bills for": {name + `
Ctra. de Onda 12, 12110 L'Alcora
N.I.F.: B04291332



N.I.F.             AGENTE
ATU35404816        14 EXPORT`, true, "ATU35404816"},
		"below the name, too": {name + `
Ctra. de Onda 12, 12110 L'Alcora
N.I.F.: B04291332
VAT ATU35404816`, false, "ATU35404816"},
		"two below the name": {name + `
Ctra. de Onda 12, 12110 L'Alcora
N.I.F.: B04291332
N.I.F.: B04291340



N.I.F.             AGENTE
ATU35404816        14 EXPORT`, false, "ATU35404816"},
	} {
		s := sheetOf(t, c.page)
		var all []identified
		best := -1
		for _, row := range s.rows {
			for _, it := range row {
				for _, id := range s.idsIn(it, nil) {
					if id.id.value == "ATU35404816" {
						best, id.behalf = len(all), c.behalf
					}
					all = append(all, id)
				}
			}
		}
		if best < 0 || len(all) < 2 {
			t.Fatalf("%s: ids %+v", title, all)
		}
		if got := all[s.underName(all, best, Key(name))].id.value; got != c.want {
			t.Errorf("%s: %s, want %s", title, got, c.want)
		}
	}
}

// Given the likeliest id in a line that begins with another company, then the one id in a line that begins with the supplier's name is his;
// where several are there, or none, or the likeliest stands elsewhere, nothing is changed.
func TestTheIDInTheSuppliersLine(t *testing.T) {
	const name, other = "Berger Bau GmbH", "Lofts AG, Seegasse 1, 4020 Linz, UID ATU35404816"
	for lines, want := range map[string]string{
		other + "\nBerger Bau GmbH · Hof 3 · UID ATU62338170":                                     "ATU62338170",
		other + "\nBerger Bau GmbH · UID ATU62338170\nBerger Bau GmbH, Filiale · UID ATU12345675": "ATU35404816",
		other + "\nBerger Bau GmbH · Hof 3\nUID ATU62338170":                                      "ATU35404816",
		"Unsere UID ATU35404816\nBerger Bau GmbH · Hof 3 · UID ATU62338170":                       "ATU35404816",
		"Berger Bau GmbH, UID ATU35404816\nBerger Bau GmbH · Hof 3 · UID ATU62338170":             "ATU35404816",
	} {
		s := sheetOf(t, lines)
		var all []identified
		for _, row := range s.rows {
			all = append(all, s.idsIn(row[0], nil)...)
		}
		if len(all) < 2 {
			t.Fatalf("%q: ids %+v", lines, all)
		}
		if got := all[s.inLine(all, 0, Key(name))].id.value; got != want {
			t.Errorf("%q: %s, want %s", lines, got, want)
		}
	}
}

// Given a label of tax ids alone on its line, then the id right below it is what it says; what stands below with a label of its own, or is
// more than an id, isn't.
func TestAnIDBelowItsLabel(t *testing.T) {
	for below, want := range map[string]string{"ATU62338170": "ATU62338170", "UTR 44718 02216": "", "ATU62338170 und mehr davon": "", "Bauleiter": ""} {
		s := sheetOf(t, "Rametsteiner GmbH\nUID\n"+below)
		got := s.idUnder(s.rows[1][0], s.vatShape)
		if (got != nil) != (want != "") {
			t.Errorf("%q: found %t, want %q", below, got != nil, want)
		}
	}
}

// Given the buyer's id below a gap under his address, alone or below his number at a register, then it is his; what else stands there isn't.
func TestTheBuyersIDBehindAGap(t *testing.T) {
	const party = "DODAVATEL                 ODBĚRATEL\nTomáš Novák               Lofty s.r.o.\nHusova 4                  Jateční 32\n" +
		"586 01 Jihlava            360 01 Karlovy Vary\n\n\n"
	for below, want := range map[string]bool{
		"IČ: 07182643              IČ: 17403880\nNeplátce DPH              DIČ: CZ17403880":  true,
		"Neplátce DPH              DIČ: CZ17403880":                                          true,
		"Neplátce DPH              Datum splatnosti":                                         false,
		"\n\nNeplátce DPH              DIČ: CZ17403880":                                      false,
		"Husova 4                  Adresa: Na Poříčí 7\nNeplátce DPH              Splatnost": false,
	} {
		s := sheetOf(t, party+below)
		last := s.rows[len(s.rows)-1]
		if got := s.buyers()[last[len(last)-1]]; got != want {
			t.Errorf("%q: %t, want %t", below, got, want)
		}
	}
	s := sheetOf(t, "Novák s.r.o., Husova 4, 586 01 Jihlava\nLofty s.r.o.\nJateční 32\n360 01 Karlovy Vary\n\n\nDIČ: CZ17403880")
	windowed := map[*item]bool{}
	s.column(s.rows[0][0], windowed)
	if last := s.rows[len(s.rows)-1][0]; windowed[last] || !windowed[s.rows[3][0]] {
		t.Error("what stands behind a gap below a window is the buyer's, or nothing in it")
	}
}

// idBelowName is the tax id in the second row of a page, "" for none.
func idBelowName(t *testing.T, lines string) (id string) {
	t.Helper()
	s := sheetOf(t, lines)
	for _, c := range s.idsIn(s.rows[1][0], map[*item]bool{}) {
		id = c.id.value
	}
	return id
}

// Given a Spanish tax id without a label, then it is one by its check, alone between a company's name and its address.
func TestASpanishIDWithoutALabel(t *testing.T) {
	for lines, want := range map[string]string{
		"Azulejos La Plana, S.L.\nB98274616\nC/ Sorní 22, entlo.\nValencia":        "B98274616",
		"Azulejos La Plana, S.L.\nB98274615\nC/ Sorní 22, entlo.\nValencia":        "", // its check is another
		"Azulejos La Plana, S.L.\nPedido B98274616\nC/ Sorní 22, entlo.\nValencia": "",
		"Factura\nB98274616\nC/ Sorní 22, entlo.\nValencia":                        "",
		"Azulejos La Plana, S.L.\nB98274616\n17/10/2025":                           "",
	} {
		if got := idBelowName(t, lines); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given an id below its label among the particulars, rows of an address between them, then what stands beside it says nothing of whose it is.
func TestAnIDBelowItsLabelBesideAnAddress(t *testing.T) {
	s := sheetOf(t, `Lofts Ireland DAC
Attention: Accounts Payable
Unit 6, Grange Yard
D07 XK42             VAT Number
IRELAND              IE3417028CH`)
	last := s.rows[len(s.rows)-1]
	buyers := s.buyers()
	if ids := s.idsIn(last[1], buyers); !buyers[last[0]] || len(ids) != 1 || ids[0].score <= ofBuyer || ids[0].kind != "labelled vat id" {
		t.Errorf("%+v", ids)
	}
}

// Given five figures behind the label of a tax id, then they are one where the page says that it is of Liechtenstein.
func TestTheFiveFiguresOfLiechtenstein(t *testing.T) {
	for lines, want := range map[string]string{
		"Eschner Bau AG, FL-9491 Ruggell\nMWST-Nr. 52 417":               "52417",
		"Eschner Bau AG, T +423 555 14 00\nHonorar (MWST-Nr. 52 417)":    "52417",
		"IBAN LI79 0880 1000 0246 1044 0\nMWST-Nr.       52417":          "52417",
		"Eschner Bau AG, CH-9470 Buchs\nMWST-Nr. 52 417":                 "",
		"Eschner Bau AG, FL-9491 Ruggell\nMWST-Nr. 52 4171":              "",
		"Eschner Bau AG, FL-9491 Ruggell\nMWST-Nr. 52 417.50":            "",
		"Eschner Bau AG, FL-9491 Ruggell\nMWST 52 417 CHF, Kunde 52 417": "",
	} {
		if got := idBelowName(t, lines); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given a tax id in a clause that says that no tax is charged, then it is likely that of who pays the tax himself, and less likely the
// supplier's than one beside a label; in a clause of its own it isn't.
func TestAnIDInWordsOfNoTax(t *testing.T) {
	for line, less := range map[string]bool{
		"Btw verlegd naar NL819047259B01":                               true,
		"Übergang der Steuerschuld auf ATU12345675":                     true,
		"UID-Nr. ATU12345675":                                           false,
		"Steuerfreie innergemeinschaftliche Lieferung; UID ATU12345675": false,
	} {
		s := sheetOf(t, line)
		ids := s.idsIn(s.rows[0][0], nil)
		if len(ids) != 1 || (ids[0].score < 0.9) != less {
			t.Errorf("%q: %+v", line, ids)
		}
	}
}
