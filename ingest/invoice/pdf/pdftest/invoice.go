package pdftest

import "fmt"

// Invoice is what the sample invoice says; amounts are as printed, dates too.
type Invoice struct {
	Title, Number                   string
	NumberLabel, DateLabel          string
	Date, DueLabel, Due             string
	Supplier, Street, City          string
	TaxIDLabel, TaxID               string
	Customer                        []string
	NetLabel, TaxLabel, GrossLabel  string
	Net, Tax, Gross                 string
	Terms                           string
	ItemLabels                      [4]string
	ItemText, ItemCount, ItemSingle string
}

// Sample is an Austrian invoice, which the README's walk-through mails.
func Sample() Invoice {
	return Invoice{
		Title: "RECHNUNG", NumberLabel: "Rechnungsnummer", Number: "2026-0417", DateLabel: "Rechnungsdatum",
		Date:     "17.04.2026",
		DueLabel: "Zahlbar bis", Due: "17.05.2026",
		Supplier: "Bauwerk Donau GmbH", Street: "Uferstraße 7", City: "1020 Wien", TaxIDLabel: "UID-Nr.",
		TaxID:    "ATU12345675",
		Customer: []string{"Wohnpark Nord Projekt GmbH", "z. Hd. Buchhaltung", "Am Tabor 3", "1020 Wien"},
		NetLabel: "Nettobetrag", TaxLabel: "USt. 20 %", GrossLabel: "Gesamtbetrag", Net: "12.400,00 €",
		Tax: "2.480,00 €", Gross: "14.880,00 €",
		Terms:      "Zahlbar innerhalb von 30 Tagen ohne Abzug.",
		ItemLabels: [4]string{"Bezeichnung", "Menge", "Einzelpreis", "Gesamt"},
		ItemText:   "Rohbau, Abschnitt 2", ItemCount: "1", ItemSingle: "12.400,00",
	}
}

// Page sets the invoice on a page as a letter: return address, window, block of
// labels, items, totals, foot.
func (v Invoice) Page() Page {
	var p Page
	at := func(x, y, size float64, text string) {
		if text != "" {
			p.Texts = append(p.Texts, Text{X: x, Y: y, Size: size, Text: text})
		}
	}
	at(60, 60, 14, v.Supplier)
	at(60, 120, 7, fmt.Sprintf("%s · %s · %s", v.Supplier, v.Street, v.City))
	for i, line := range v.Customer {
		at(60, 140+14*float64(i), 10, line)
	}
	p.Texts = append(p.Texts, Text{X: 60, Y: 250, Size: 18, Text: v.Title, Bold: true})
	for i, pair := range [][2]string{{v.NumberLabel, v.Number}, {v.DateLabel, v.Date}, {v.DueLabel, v.Due}} {
		at(340, 140+14*float64(i), 10, pair[0])
		if pair[0] != "" {
			at(460, 140+14*float64(i), 10, pair[1])
		}
	}
	for i, x := range []float64{60, 300, 370, 470} {
		at(x, 300, 10, v.ItemLabels[i])
		at(x, 318, 10, [4]string{v.ItemText, v.ItemCount, v.ItemSingle, v.ItemSingle}[i])
	}
	for i, pair := range [][2]string{{v.NetLabel, v.Net}, {v.TaxLabel, v.Tax}, {v.GrossLabel, v.Gross}} {
		if pair[0] != "" {
			at(340, 360+16*float64(i), 10, pair[0])
			at(470, 360+16*float64(i), 10, pair[1])
		}
	}
	at(60, 440, 10, v.Terms)
	at(60, 780, 8, v.Supplier)
	at(60, 790, 8, v.Street)
	at(60, 800, 8, v.City)
	if v.TaxID != "" {
		at(340, 780, 8, v.TaxIDLabel+" "+v.TaxID)
	}
	return p
}

// PDF is the invoice as a file of one page.
func (v Invoice) PDF() []byte { return Document{Pages: []Page{v.Page()}}.Bytes() }
