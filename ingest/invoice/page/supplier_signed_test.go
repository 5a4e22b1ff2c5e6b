package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/model"
	"tallyhouse/ingest/invoice/page/typed"
)

// Given letters whose suppliers are found by where they sign, by what public bodies are called, by words set one below the other, or by
// what stands below their names, then these are read.
func TestWhoSignsAndWhoIsDescribed(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	const buyer = `
Seeblick Wohnbau GmbH
Uferweg 4
5310 Mondsee
`
	for name, c := range map[string]struct{ letter, want string }{
		"an agency's letterhead, the company signs": {`
                              Generalagentur Mondsee-Land
                              Peter Odermatt
                              Seestraße 8, 5310 Mondsee
` + buyer + body + `
Freundliche Grüße

Helvia Versicherungs-Gesellschaft AG, Hauptsitz Bundesgasse 20, 1010 Wien
`, "Helvia Versicherungs-Gesellschaft AG"},
		"a municipality over its department, which is printed again": {`
Einwohnergemeinde Niederbühl
Bauverwaltung
Dorfstraße 2, 3427 Niederbühl, Tel. 032 677 20 40
` + buyer + body + `
Freundliche Grüße
Bauverwaltung
`, "Einwohnergemeinde Niederbühl"},
		"a council": {`
Planning and Building Control
Mendip District Council
Cannards Grave Road, Shepton Mallet BA4 5BT
` + buyer + body + `
Yours sincerely
Mendip District Council
`, "Mendip District Council"},
		"a name in one word a line, and whole below the sums": {`
núria
casals
ferrer
arquitecta
Carrer de la Riera 17
08301 Mataró
tel. 937 55 81 20
` + buyer + body + `
Núria Casals Ferrer
`, "Núria Casals Ferrer"},
		"what a company does, below it": {`
                    Gallagher Nolan LLP
                   SOLICITORS & NOTARIES
          14 Eyre Square, Galway | Tel. 091 441 820
` + buyer + body, "Gallagher Nolan LLP"},
		"who issues a bill for himself, under a label of two roles": {`
Seeblick Wohnbau GmbH
Uferweg 4, 5310 Mondsee
UID ATU33864707

GUTSCHRIFT
Abrechnung im Gutschriftverfahren, ausgestellt durch den Leistungsempfänger

Leistender Unternehmer / Gutschriftempfänger
Özdemir Gebäudeservice GmbH
Wiener Straße 255
4020 Linz
UID: ATU12345675
` + body, "Özdemir Gebäudeservice GmbH"},
		"who issues a bill for himself, his name over two lines": {`
Seeblick Wohnbau GmbH · Uferweg 4 · 5310 Mondsee

Immobilienbüro
Carsten Wendehorst e.K.
Louisenstraße 118
61348 Bad Homburg

Ihre USt-IdNr.: ATU12345675

Gutschrift (Abrechnung durch den Leistungsempfänger)
` + body + `






Seeblick Wohnbau GmbH · FN 118223 k · UID ATU33864707 · IBAN AT61 1904 3002 3457 3201
`, "Immobilienbüro Carsten Wendehorst e.K."},
		"a firm of brothers over two lines": {`
VETROLEGNO SERRAMENTI
di F.lli Tosetto S.n.c.
Via dell'Artigianato 22, 35010 Vigonza
P.IVA IT00743110157
` + buyer + body, "VETROLEGNO SERRAMENTI di F.lli Tosetto S.n.c."},
		"a person over what she does, signed with another title": {`
dipl.-ing. judith thalhammer
Architektin · Neubaugasse 55/8 · 1070 Wien · 01/522 41 88 · atelier@thalhammer-arch.example
` + buyer + body + `
Mit freundlichen Grüßen
DI Judith Thalhammer
`, "DI Judith Thalhammer"},
		"the full name at the foot over two lines, a short form on the sender's line": {`
Steinbrenner GmbH & Co. KG · Dieselstraße 40 · 4020 Linz
` + buyer + body + strings.Repeat("\n", 40) + `Steinbrenner Hoch- und Tiefbau     Tel. 0911 97 60 2-0            Sparkasse Linz
GmbH & Co. KG                      office@steinbrenner.example    IBAN AT61 1904 3002 3457 3201
Dieselstraße 40, 4020 Linz         FN 11207 a LG Linz             UID ATU12345675
`, "Steinbrenner Hoch- und Tiefbau GmbH & Co. KG"},
		"who alone has a tax id and a register, beside whom the letter is for": {`
                         Vieux-Port Wohnbau GmbH
Filéo pro                Uferweg 4
                         5310 Mondsee

Nr. 2026-118             Rechnung 2026-118
                         Datum 12.03.2026

                         Beratung März 2026                      1.000,00
Filéo Entreprises AG
Hauptstraße 45           Summe netto                             1.000,00
1010 Wien                20 % USt                                  200,00
FN 118223 k HG Wien      Rechnungsbetrag                         1.200,00
UID ATU12345675
`, "Filéo Entreprises AG"},
		"a bank broken over two lines names nobody": {`
                              Dr. Holger Wiesenthal
                              An der Lahn 14
                              4400 Steyr
                              Telefon 06421 / 970 44
` + buyer + body + `
Bitte überweisen Sie den Betrag binnen zwei Wochen auf mein Konto bei der Volksbank
Mittelhessen, IBAN AT61 1904 3002 3457 3201.
Mit freundlichen Grüßen
Wiesenthal
`, "Dr. Holger Wiesenthal"},
	} {
		if got := supplierIn(reader, c.letter); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// supplierIn is the supplier's name that is stated of a letter; "" where none is.
func supplierIn(reader *Reader, letter string) string {
	_, f, _ := reader.Read(typed.Document(letter), Own{})
	if f.SupplierName == nil {
		return ""
	}
	return f.SupplierName.Value
}

// Given letters with a company's trade below its name, and with a bank's name broken over two lines, then neither is a candidate.
func TestWhatIsNoNameOfASupplier(t *testing.T) {
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for letter, name := range map[string]string{
		"Gallagher Nolan LLP\nSOLICITORS & NOTARIES\n14 Eyre Square, Galway\n" + body:                                    "SOLICITORSNOTARIES",
		"Adress\nBygglogg Sverige AB\nKungsbron 18\n111 22 Stockholm\n" + body:                                           "ADRESSBYGGLOGGSVERIGEAB",
		"Número #     118\nThalhammer OG\n" + body:                                                                       "NUMERO",
		"Deventer Beton\nKade 4\n7411 AB Deventer\n" + body:                                                              "7411ABDEVENTER",
		"T H A L H A M M E R\nPartnerschaft von Steuerberatern\n" + body:                                                 "PARTNERSCHAFTVONSTEUERBERATERN",
		body + "\nSitz Kempten\nPR 318 AG Kempten\nUSt-IdNr. DE129274202":                                                "PR318AGKEMPTEN",
		body + "\nBitte überweisen Sie auf mein Konto bei der Volksbank\nMittelhessen, IBAN AT61 1904 3002 3457 3201.\n": "MITTELHESSEN",
	} {
		for _, c := range reader.Considered(typed.Document(letter), Own{})["supplierName"] {
			if c.Key == name {
				t.Errorf("%s is a candidate", name)
			}
		}
	}
}

// Given a letter of an agency's whose name is likeliest by its place alone, then the company that signs is stated in its place; and the
// person who signs is in place of what the person does.
func TestWhoSignsIsStatedInstead(t *testing.T) {
	s := sheetOf(t, "Generalagentur Mondsee\n\nFreundliche Grüße\n\nHelvia Versicherung AG")
	s.weights = model.Model{"supplierName": {Weights: map[string]int{"rule " + ruleLetterhead + " first line": 9000}}}
	if got, _ := s.rankedNames(Own{}, map[*item]bool{}, nil); got == nil || got.name != "Helvia Versicherung AG" {
		t.Errorf("the supplier is %+v", got)
	}
	s = sheetOf(t, "DI Judith Thalhammer\nArchitektin")
	all := []named{
		{name: "Architektin", whole: "A", it: s.rows[1][0], ties: map[tie]bool{tieHead: true}},
		{name: "DI Judith Thalhammer", whole: "P", it: s.rows[0][0], ties: map[tie]bool{tieSigned: true, tieHead: true}},
	}
	if got := s.insteadOf(&all[0], all, nil); got != 1 {
		t.Errorf("stated is %d, want the person", got)
	}
	all = []named{
		{name: "di judith thalhammer", whole: "S", it: s.rows[0][0], ties: map[tie]bool{tieSigned: true, tieHead: true}},
		{name: "DI Judith Thalhammer", whole: "P", it: s.rows[0][0], rule: ruleSigned, ties: map[tie]bool{tieSigned: true, tieHead: true}},
	}
	if got := s.insteadOf(&all[0], all, nil); got != 1 {
		t.Errorf("stated is %d, want the signature's spelling", got)
	}
	if all[0].name = "Ing. Judith Thalhammer"; s.insteadOf(&all[0], all, nil) != -1 {
		t.Error("a head in capitals is spelled as it is signed")
	}
}

// Given a person with titles in the head, then a signature by his own hand is his, and no other's.
func TestByOnesOwnHand(t *testing.T) {
	for signature, want := range map[string]bool{
		"DI Dr. Marlene Obwexer eh.": true, "Marlene Obwexer e. h.": true, "Marlene Obwexer m.p.": true, "Marlene Obwexer": true,
		"Marlene Wieser eh.": false, "eh.": false,
	} {
		s := sheetOf(t, "Dipl.-Ing. Dr. techn. Marlene Obwexer\n\nMit freundlichen Grüßen\n\n"+signature)
		head := s.rows[0][0]
		if got := s.signs(named{name: head.text(), key: head.key}, s.rows[2][0]); got != want {
			t.Errorf("%q: it is his %v, want %v", signature, got, want)
		}
	}
}

// Given how letters close in each language, then what stands below is a signature; below other lines nothing is.
func TestSignatures(t *testing.T) {
	for closing, want := range map[string]int{
		"Mit freundlichen Grüßen": 1, "Freundliche Grüsse": 1, "Hochachtungsvoll": 1, "Yours sincerely,": 1, "Kind regards": 1, "Cordialement": 1,
		"Mit hanseatischem Gruß": 1, "Mit vorzüglicher Hochachtung": 1, "Mit der Rechnung kommt ein Gruß von uns allen": 0,
		"Cordiali saluti": 1, "Atentamente,": 1, "Met vriendelijke groet,": 1, "Z poważaniem": 1, "S pozdravem": 1, "Lep pozdrav": 1,
		"S poštovanjem": 1, "Tisztelettel": 1, "Com os melhores cumprimentos": 1, "Cu stimă": 1, "Med vänlig hälsning": 1, "Med venlig hilsen": 1,
		"Med vennlig hilsen": 1, "Ystävällisin terveisin": 1,
		"Grüße aus Wien senden wir Ihnen": 0, "Bankverbindung": 0,
	} {
		s := newSheet(testVocabulary(t), typed.Document(closing+"\n\nFranz Berger\n"))
		if got := len(s.signatures); got != want {
			t.Errorf("%q: %d signatures, want %d", closing, got, want)
		}
	}
}
