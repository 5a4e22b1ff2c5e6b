package page

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
)

// letter is a page in a form that suppliers use, and what is read of it: number, day of issue, due date, net, tax and gross.
type letter struct{ name, page, want string }

// Given letters whose numbers, days and sums stand in subjects, sentences, grids and lines of several parts, in the languages that are
// promised, then they are read.
func TestLettersOfManyForms(t *testing.T) {
	reader, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range manyLetters() {
		t.Run(l.name, func(t *testing.T) {
			_, got, _ := reader.Read(typed.Document(strings.TrimPrefix(l.page, "\n")), Own{})
			if line := brief(got); line != l.want {
				t.Errorf("\n got %s\nwant %s", line, l.want)
			}
		})
	}
}

func brief(f fields.Invoice) string {
	out := []string{}
	for _, v := range []*fields.Text{f.Number, f.Date, f.DueDate} {
		if v == nil {
			out = append(out, "-")
		} else {
			out = append(out, v.Value)
		}
	}
	for _, v := range []*fields.Amount{f.Net, f.Tax, f.Gross} {
		if v == nil {
			out = append(out, "-")
		} else {
			out = append(out, fmt.Sprint(v.Value))
		}
	}
	return strings.Join(out, " | ")
}

func manyLetters() []letter {
	return []letter{
		{"subject, german", `
Malerei Unterweger
Dorfstraße 8, 9500 Villach

Seepark Wohnbau GmbH
Ossiacher Zeile 39
9500 Villach

                                                            Villach, 12.3.2026
Betreff: Rechnung 44/26 / BVH Seepark

Innenanstrich Stiege 1                                          4.200,00
                                            netto             € 4.200,00
                                            20 % MwSt.        €   840,00
                                            Summe             € 5.040,00

Bitte um Überweisung innerhalb von 14 Tagen.
UID ATU72401554`, "44/26 | 2026-03-12 | 2026-03-26 | 420000 | 84000 | 504000"},
		{"subject, dutch", `
Bos Elektrotechniek B.V.
Havenweg 12, 3542 AB Utrecht

Wonen aan de Vecht B.V.
Kade 4
3511 AB Utrecht

Utrecht, 12 februari 2026

Betreft: factuur 26.0733 - project 1188

Elektra blok C                                     € 10.000,00
BTW 21%                                            €  2.100,00
Totaal                                             € 12.100,00

Gelieve te betalen binnen 30 dagen na factuurdatum, uiterlijk 14 maart 2026.
Btw-id NL857118420B01`, "26.0733 | 2026-02-12 | 2026-03-14 | 1000000 | 210000 | 1210000"},
		{"subject, italian", `
Studio Tecnico Ferri
Via Savona 9, 20144 Milano
P. IVA 03344180157

Immobiliare Olona S.p.A.
Corso Italia 5
20122 Milano

Milano, 3 marzo 2026

Oggetto: fattura n. 18/2026

Progetto esecutivo                                    5.000,00
Imponibile                                            5.000,00
IVA 22%                                               1.100,00
Totale fattura                                        6.100,00

Versamento entro il 02/04/2026 sul conto IT60 X054 2811 1010 0000 0123 456.`, "18/2026 | 2026-03-03 | 2026-04-02 | 500000 | 110000 | 610000"},
		{"subject, french", `
Atelier Morel SARL
14 rue des Lilas, 69003 Lyon

SCI du Parc
2 quai Perrache
69002 Lyon

Lyon, le 4 mai 2026

Objet : facture n° 2026-118

Maîtrise d'œuvre, phase APD                           8 000,00 €
Total HT                                              8 000,00 €
TVA 20 %                                              1 600,00 €
Total TTC                                             9 600,00 €

Merci de régler cette facture au plus tard le 03/06/2026.
TVA FR68804418820`, "2026-118 | 2026-05-04 | 2026-06-03 | 800000 | 160000 | 960000"},
		{"parcella, values above their labels", `
STUDIO
ing. Paolo Conti

31/26               9 aprile 2026             2.440,00 €
parcella            data                      totale

Cliente                                  Professionista
Naviglio Case S.r.l.                     Ing. Paolo Conti
Via Ripamonti 5                          Via Savona 97, 20144 Milano
20141 Milano                             P. IVA 03344180157

Collaudo statico                                      2.000,00
Imponibile IVA                                        2.000,00
IVA 22%                                                 440,00
Totale parcella                                       2.440,00`, "31/26 | 2026-04-09 | - | 200000 | 44000 | 244000"},
		{"two languages", `
Propre & Clair SRL
Chaussée de Mons 12, 1070 Bruxelles
TVA/BTW BE 0478.392.122

                         FACTURE / FACTUUR

N° / Nr.            Date / Datum         Échéance / Vervaldag     Client / Klant
2026/0418           28/02/2026           30/03/2026               C-1188

Nettoyage / Schoonmaak 02/2026                             500,00
Total HTVA / Totaal excl. BTW                              500,00
TVA/BTW 21%                                                105,00
À payer / Te betalen                                       605,00 EUR`, "2026/0418 | 2026-02-28 | 2026-03-30 | 50000 | 10500 | 60500"},
		{"figures in groups below a plain label", `
Donaustrom Vertrieb GmbH
Hauptplatz 1, 4020 Linz

Welser Bauträger GmbH
Ringstraße 4
4600 Wels

Ihre Kundennummer     Vertragskontonr.      Beleg               Datum
1004 7788             2200 418 901          94 418 733 12       29.01.2026

Jahresabrechnung Strom
Energie 7.118 kWh                                    EUR     900,00
Gesamt ohne USt.                                     EUR     900,00
20 % USt.                                            EUR     180,00
Rechnungsbetrag inkl. USt.                           EUR   1.080,00

Der Betrag ist am 12.02.2026 fällig.
UID ATU25811903`, "94 418 733 12 | 2026-01-29 | 2026-02-12 | 90000 | 18000 | 108000"},
		{"hungarian, sorszám, sums in thousands", `
SZÁMLA                                       Sorszám: DP26/0004418

Eladó neve, címe                             Vevő neve, címe
Torony Gép Zrt.                              Dombház Kft.
2040 Budaörs, Gyár utca 2.                   1117 Budapest, Fő út 27.
Adószám: 14188440-2-13                       Adószám: 26441885-2-43

Kelt: 2026. 03. 03. | Teljesítés: 2026. 02. 28. | Esedékesség: 2026. 04. 02. | Pénznem: HUF

Termék                      Mennyiség      Nettó          Áfa        Bruttó
Daru bérlet                 1 hó           1.240.000      334.800    1.574.800
Daruvezető                  168 óra        1.142.400      308.448    1.450.848
Összesen                                   2.382.400      643.248    3.025.648
                                    Fizetendő: 3.025.648 Ft`, "DP26/0004418 | 2026-03-03 | 2026-04-02 | 238240000 | 64324800 | 302564800"},
		{"romanian, series and number", `
Furnizor:                                              Cumpărător:
PAZA NORD S.R.L.                                       LAC RESIDENCE S.R.L.
CIF: RO29188477                                        CIF: RO40551823
Str. Vulturilor 98, București                          Calea Floreasca 1, București

                         FACTURĂ FISCALĂ
                         Seria / nr.: PN 4471
                         Data: 03/03/2026
                         Scadența: 18/03/2026

Servicii pază, februarie                    ore    100       10.000,00
Total fără TVA                                               10.000,00
TVA 21%                                                       2.100,00
Total de plată                                               12.100,00 lei`, "PN 4471 | 2026-03-03 | 2026-03-18 | 1000000 | 210000 | 1210000"},
		{"czech, č. beside the title, tax in a sentence", `
Faktura - daňový doklad                                  č. 260100099

Dodavatel:                                    Odběratel:
Výtahy Labe, spol. s r.o.                     SVJ Terasa 1188
Pouchovská 15, 500 03 Hradec Králové          Gočárova 18, 500 02 Hradec Králové
DIČ CZ45118825                                IČ 24418841

Variabilní symbol: 260100099                  Vystaveno: 1.4.2026
                                              Splatnost: 15.4.2026

Servis výtahů 1. čtvrtletí                                 12 640,00 Kč
12 %: základ 12 640,00, daň 1 516,80
                                     CELKEM K ÚHRADĚ: 14 156,80 CZK`, "260100099 | 2026-04-01 | 2026-04-15 | 1264000 | 151680 | 1415680"},
		{"slovak", `
Faktúra č. 2026041

Dodávateľ:                                    Odberateľ:
Čistota Plus s. r. o.                         Dunaj Reality a. s.
Hlavná 5, 811 01 Bratislava                   Prievozská 4, 821 09 Bratislava
IČ DPH SK2022316483                           IČO 51344271

Dátum vyhotovenia: 09.04.2026
Dátum dodania: 31.03.2026
Dátum splatnosti: 23.04.2026

Upratovanie 03/2026                                   1 000,00
Základ dane                                           1 000,00
DPH 23 %                                                230,00
Celkom s DPH                                          1 230,00 EUR`, "2026041 | 2026-04-09 | 2026-04-23 | 100000 | 23000 | 123000"},
		{"portuguese, n.º in a grid", `
Cerâmicas do Vouga, S.A.
Zona Industrial, Lote 18, 3025-041 Coimbra
NIF PT 509 441 882

Fatura N.º          Data               Vencimento
FT A/733            18-02-2026         20-03-2026

Azulejo branco                                        1.000,00
Total ilíquido                                        1.000,00
IVA 23%                                                 230,00
Total (EUR)                                           1.230,00`, "FT A/733 | 2026-02-18 | 2026-03-20 | 100000 | 23000 | 123000"},
		{"one line of several parts", `
Elbe Vertriebspartner GmbH
Bautzner Straße 133, 01099 Dresden

Hafen Immobilien GmbH
Prager Straße 10
01069 Dresden

Dresden, 05.03.2026 | Rechnung-Nr.: EV-26-0212 | Partner 118 | USt-IdNr. DE277401828

Vermittlung WE 2.04                                   7.800,00
Nettobetrag                                           7.800,00
zzgl. 19 % Umsatzsteuer                               1.482,00
Gesamtbetrag                                          9.282,00

Wir bitten um Ausgleich bis spätestens 19.03.2026 ohne jeden Abzug auf unser Konto.`, "EV-26-0212 | 2026-03-05 | 2026-03-19 | 780000 | 148200 | 928200"},
		{"title, number and day with dots between", `
bürofix
Rechnungsanschrift                    Bestelldaten
Neckar Projekt GmbH                   Bestellung 4418-8420-77 vom
Frau Haug                             02.02.2026
Neckarstr. 11                         Versand 05.02.2026
68159 Mannheim

Rechnung BF2026-044188 · 05.02.2026

Bürodrehstuhl                                         1.494,00
Summe ohne MwSt.                                      1.494,00
MwSt. 19 %                                              283,86
Rechnungssumme inkl. MwSt.                            1.777,86

Bitte überweisen Sie 1.777,86 € bis zum 19.02.2026.
bürofix GmbH · Lützner Str. 88 · 04177 Leipzig · USt-IdNr. DE305188292`, "BF2026-044188 | 2026-02-05 | 2026-02-19 | 149400 | 28386 | 177786"},
		{"invoice for a prepayment", `
Ennstal Therm GmbH
Gewerbepark 8, 8940 Liezen
UID ATU41902278

Chalet Errichtungs GmbH
Dorfplatz 3
8970 Schladming

Anzahlungsrechnung

Nummer:              AZ2600031
Ausstellungsdatum:   10.02.2026
Kundennummer:        22418

1. Anzahlung laut Zahlungsplan, 30 % der Auftragssumme
Anzahlung netto                  €               42.600,00
Umsatzsteuer (20,00%)            €                8.520,00
Anzahlungsbetrag                 €               51.120,00

Zahlbar netto Kassa bis 24.02.2026. Die Anzahlung wird in der Schlussrechnung berücksichtigt.`,
			"AZ2600031 | 2026-02-10 | 2026-02-24 | 4260000 | 852000 | 5112000"},
		{"invoice for a prepayment, french", `
Menuiserie Roche SARL
3 rue du Port, 44000 Nantes
TVA FR68804418820

FACTURE D'ACOMPTE N° FA-2026-12
Date : 02/03/2026

SCI Bellevue
8 quai de la Fosse, 44000 Nantes

Acompte 30 % à la commande
Acompte HT                                            3 000,00 €
TVA 20 %                                                600,00 €
Acompte TTC                                           3 600,00 €

À régler avant le 16/03/2026`, "FA-2026-12 | 2026-03-02 | 2026-03-16 | 300000 | 60000 | 360000"},
		{"final invoice less a prepayment", `
Ennstal Therm GmbH
Gewerbepark 8, 8940 Liezen
UID ATU41902278

Rechnung Nr. SR2600044
Datum: 10.06.2026

Heizung Chalets 1-6                                  10.000,00
Nettobetrag                                          10.000,00
20 % USt                                              2.000,00
Gesamtbetrag                                         12.000,00
abzüglich Anzahlung vom 10.02.2026                   -6.000,00
Restbetrag                                            6.000,00`, "SR2600044 | 2026-06-10 | - | 1000000 | 200000 | 1200000"},
		{"columns of all work, of earlier bills and of what is left", `
Tragwerk Ost ZT-Gesellschaft m.b.H.
Marktstraße 51, 6850 Dornbirn

Rheintal Bau AG                               Rechnungsdatum      02.04.2026
Bahnhofstraße 30                              Teilrechnung        25-733/TR03
6800 Feldkirch                                Unsere UID          ATU60277140
                                              Zahlungsziel        04.05.2026

                        Beträge in EUR       netto       20 % USt        brutto
Leistungsstand gesamt                    60.000,00      12.000,00     72.000,00
- TR 01 vom 14.11.2025                   20.000,00       4.000,00     24.000,00
- TR 02 vom 20.01.2026                   22.500,00       4.500,00     27.000,00
Rechnungssumme                           17.500,00       3.500,00     21.000,00`, "25-733/TR03 | 2026-04-02 | 2026-05-04 | 1750000 | 350000 | 2100000"},
		{"what is left, net", `
Ingenieurbüro Kaltbach PartG mbB
Hafenweg 26a, 48155 Münster
USt-IdNr. DE206619347

Aasee Projekt GmbH
Weseler Straße 111
48151 Münster

Rechnungs-Nr. 2407-AR07                       Münster, 13.04.2026

3. Abschlagsrechnung - Technische Ausrüstung

Zwischensumme                                        48.870,40 €
Nebenkosten 5 %                                       2.443,52 €
Honoraranspruch bisher, netto                        51.313,92 €
./. 1. und 2. Abschlagsrechnung, netto               24.000,00 €
verbleiben netto                                     27.313,92 €
19 % MwSt.                                            5.189,64 €
anzuweisender Betrag                                 32.503,56 €

Wir bitten um Anweisung bis 13.05.2026 auf das Konto DE89 4005 0150 0118 8440 21.`,
			"2407-AR07 | 2026-04-13 | 2026-05-13 | 2731392 | 518964 | 3250356"},
		{"polish row of totals with a cross", `
Warszawa, dnia 2026-01-31
                         FAKTURA VAT
                         FV/7/01/2026

Sprzedawca:                              Nabywca:
Studio Plus Sp. z o.o.                   Osiedle Deweloper S.A.
ul. Mińska 25, 03-808 Warszawa           al. Jerozolimskie 14, 02-305 Warszawa
NIP 525-271-83-66                        NIP 7010442884

Termin płatności: 2026-02-14

Lp.  Nazwa usługi         Ilość    Wartość netto   VAT      Kwota VAT    Wartość brutto
1    Kampania             1            14 500,00   23%       3 335,00         17 835,00
2    Sesja                2             3 700,00   23%         851,00          4 551,00
                          Razem        18 200,00 X           4 186,00         22 386,00
                          w tym        18 200,00 23%         4 186,00         22 386,00

Do zapłaty: 22 386,00 PLN`, "FV/7/01/2026 | 2026-01-31 | 2026-02-14 | 1820000 | 418600 | 2238600"},
		{"table of rates with its total, figures on the left", `
Parkhotel Garten GmbH
Schlossallee 14, 50321 Brühl
USt-ID DE143302873

Rechnung        RE-118801
Datum           26.02.26

Leistung                         Anz.    Einzel    Gesamt EUR
Übernachtung (7 %)                  3    129,00        387,00
Frühstück (19 %)                    3     16,00         48,00
Restaurant (19 %)                   1     20,80         20,80
                                 Endsumme EUR 455,80

MwSt-Satz     Brutto      Netto       MwSt-Betrag
7,00 %        387,00      361,68      25,32
19,00 %       68,80       57,82       10,98
Gesamt        455,80      419,50      36,30

Betrag dankend erhalten.`, "RE-118801 | 2026-02-26 | - | 41950 | 3630 | 45580"},
		{"a heading of what is free of tax", `
SPEDITION UNTERMEIER

Rechnungs-Nr          Re-Datum          Debitor          Blatt
26-20733              20.02.26          204188           1

Modulbau GmbH
Junkersstraße 20
93055 Regensburg

Transport Fertigteile                     4     695,00      2.780,00
Begleitfahrzeug                           4     280,00      1.120,00

steuerpflichtig         steuerfrei     MwSt%     MwSt-Betrag     Endbetrag EUR
3.900,00                0,00           19,00     741,00          4.641,00

Zahlbar innerhalb von 7 Tagen rein netto. Fällig: 27.02.26
USt-IdNr DE131884202`, "26-20733 | 2026-02-20 | 2026-02-27 | 390000 | 74100 | 464100"},
		{"fees, tax and expenses beside it", `
Brandner & Partner Rechtsanwälte OG
Getreidegasse 50, 5020 Salzburg
UID ATU55309179

Campus Entwicklungs GmbH
Kasernenstraße 1
5071 Wals

Salzburg, am 11. Februar 2026
Honorarnote HN 118/26

Honorar                                               2.890,00
20 % USt                                                578,00
Barauslagen USt-frei                                    156,80
Gesamtbetrag EUR                                      3.624,80`, "HN 118/26 | 2026-02-11 | - | - | 57800 | 362480"},
		{"debit, german", debited("Der Betrag wird nicht vor dem 7. Tag nach Zugang abgebucht, voraussichtlich am 13.03.2026."),
			"R-4418 | 2026-03-02 | 2026-03-13 | 10000 | 1900 | 11900"},
		{"debit over two lines", debited("SEPA-Lastschrift: Den Endbetrag von EUR 119,00 ziehen wir am 13.03.2026 mit der\nMandatsreferenz UT-11844 von Ihrem Konto ein."),
			"R-4418 | 2026-03-02 | 2026-03-13 | 10000 | 1900 | 11900"},
		{"day of a mandate", debited("SEPA-Lastschrift mit Mandat vom 13.03.2026."), "R-4418 | 2026-03-02 | - | 10000 | 1900 | 11900"},
		{"payment received", debited("Ihre Zahlung bis zum 13.03.2026 haben wir erhalten."), "R-4418 | 2026-03-02 | - | 10000 | 1900 | 11900"},
		{"discount in words that nobody knows", debited("Bei Bezahlung bis zum 13.03.2026 gewähren wir 2 % Treuebonus."),
			"R-4418 | 2026-03-02 | - | 10000 | 1900 | 11900"},
		{"condition", debited("Wir würden den Betrag dann zum 13.03.2026 per Lastschrift holen."), "R-4418 | 2026-03-02 | - | 10000 | 1900 | 11900"},
		{"terms and the day that they come to", debited("Zahlbar 30 Tage zum Monatsende, das ist der 30.04.2026."),
			"R-4418 | 2026-03-02 | 2026-04-30 | 10000 | 1900 | 11900"},
		{"next debit of another bill", debited("Der nächste Einzug erfolgt am 13.09.2026."), "R-4418 | 2026-03-02 | - | 10000 | 1900 | 11900"},
	}
}

// debited is an invoice that ends with a sentence on how it is paid.
func debited(sentence string) string {
	return `
Serverhalle GmbH
Rechenzentrumsring 1, 08223 Falkenstein
USt-ID DE812917304

Hafen Lofts GmbH                     Rechnungsnr.:      R-4418
Grasbrook 9                          Rechnungsdatum:    02.03.2026
20457 Hamburg

Server                                                  100,00 €
Nettobetrag                                             100,00 €
USt. 19 %                                                19,00 €
Rechnungsbetrag                                         119,00 €

` + sentence
}

// Given an invoice of 2 March 2026 that says in the words of its language until when to pay, or when the sum is taken from the account,
// then that is its due date.
func TestDueDatesOfSentencesInManyLanguages(t *testing.T) {
	reader, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	for sentence, want := range map[string]string{
		"Please settle this invoice no later than 30 April 2026.":          "2026-04-30",
		"Prosimy o uregulowanie należności najpóźniej do dnia 30.04.2026.": "2026-04-30",
		"Znesek nakažite najkasneje do 30. 4. 2026.":                       "2026-04-30",
		"Molimo da podmirite račun najkasnije do 30.04.2026.":              "2026-04-30",
		"Uhraďte prosím nejpozději do 30.4.2026.":                          "2026-04-30",
		"Rogamos efectúen la transferencia a más tardar el 30/04/2026.":    "2026-04-30",
		"Agradecemos a transferência até ao dia 30/04/2026.":               "2026-04-30",
		"Beløbet betales senest den 30.04.2026.":                           "2026-04-30",
		"Votre compte sera débité le 30/03/2026.":                          "2026-03-30",
		"Het bedrag wordt omstreeks 30-03-2026 automatisch afgeschreven.":  "2026-03-30",
		"L'importo sarà addebitato il 30/03/2026 sul Vostro conto.":        "2026-03-30",
	} {
		_, got, _ := reader.Read(typed.Document(strings.TrimPrefix(debited(sentence), "\n")), Own{})
		if got.DueDate == nil || got.DueDate.Value != want {
			t.Errorf("%s: due %v, want %s", sentence, got.DueDate, want)
		}
	}
}
