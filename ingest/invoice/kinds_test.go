package invoice_test

import (
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// Given documents that are laid out as invoices are, with numbers, dates, taxes and totals, but call
// themselves something else, then none is read as an invoice.
func TestOtherDocumentsOfBusinessAreRefused(t *testing.T) {
	titles := map[string][]string{
		"de": {"Angebot|Angebotsnummer", "Kostenvoranschlag|Nr.", "Auftragsbestätigung|Auftragsnummer", "Bestellung|Bestellnummer",
			"Lieferschein|Lieferschein-Nr.", "Mahnung|Mahnung Nr.", "Zahlungserinnerung|Kundennummer", "Kontoauszug|Kontonummer",
			"Proforma-Rechnung|Proforma Nr.", "Auftrag|Auftrags-Nr.",
			"Offerte|Offert-Nr.", "Mietvertrag|Vertragsnummer", "Reisekostenabrechnung|Personalnummer", "Gehaltsabrechnung|Personal-Nr.",
			"Vertragsangebot|Angebots-Nr.", "Bestellbestätigung|Bestell-Nr.", "Rücksendeschein|RMA-Nr.",
			"Saldenbestätigung|Konto-Nr.", "Kassenbericht|Bericht Nr.", "Zahlungsavis|Avis-Nr."},
		"en": {"Quotation|Quote No.", "Estimate|Estimate #", "Purchase Order|PO Number", "Order Confirmation|Order No.",
			"Delivery Note|Delivery note no.", "Statement of Account|Account number", "Payment Reminder|Customer No.",
			"Remittance Advice|Payment reference", "Pro forma invoice|Proforma No.", "Packing Slip|Shipment no.",
			"Sales Order|Sales order no.", "Payslip|Employee no.", "Service Agreement|Contract no.", "Bid|Bid number",
			"Work Order|Work order no."},
		"fr": {"Devis|Devis n°", "Bon de commande|Commande n°", "Bon de livraison|BL n°", "Relance|N° client",
			"Facture pro forma|Pro forma n°", "Confirmation de commande|Commande n°", "Relevé de compte|N° de compte",
			"Proposition commerciale|Proposition n°", "Bulletin de paie|Matricule"},
		"it": {"Preventivo|Preventivo n.", "Ordine|Ordine n.", "Documento di trasporto|DDT n.", "Sollecito di pagamento|Cliente n.",
			"Conferma d'ordine|Conferma n.", "Offerta|Offerta n.", "Estratto conto|Conto n.", "Fattura proforma|Proforma n."},
		"es": {"Presupuesto|Presupuesto nº", "Pedido|Pedido nº", "Albarán|Albarán nº", "Factura proforma|Proforma nº",
			"Orden de compra|Orden nº", "Recordatorio de pago|Cliente nº", "Nómina|Empleado nº", "Extracto de cuenta|Cuenta nº"},
	}
	for _, w := range wordings {
		for i, title := range titles[w.name] {
			name, number, _ := strings.Cut(title, "|")
			w.titles, w.numbers = []string{name}, []string{number}
			w.dates, w.dues = []string{map[string]string{"de": "Datum", "en": "Date", "fr": "Date", "it": "Data", "es": "Fecha"}[w.name]},
				[]string{""}
			for layout := range 3 {
				data, _ := w.variant(i, layout, true, false)
				if r := read(data, invoice.Options{}); r.Status != invoice.Failed || r.Reason != invoice.NotAnInvoice {
					t.Errorf("%s, layout %d: %s %s, %s", name, layout, r.Status, r.Reason, values(r))
				}
			}
		}
	}
}

// Given a title with number, place and day in one line, below the longer line of another paragraph, then it is a title and the number is read.
func TestATitleBelowALongLine(t *testing.T) {
	var p pdftest.Page
	for _, line := range []struct {
		y    float64
		text string
	}{
		{60, "Baszta Hotele S.A. · ul. Straszewskiego 19 · 31-101 Kraków"}, {72, "recepcja +48 12 430 00 00 · NIP: PL6762044186 · KRS 0000418827"},
		{120, "Dla: Nowa Huta Rewital Sp. z o.o., os. Centrum B 1, 31-927 Kraków, NIP 6783104427"},
		{132, "Pan Adam Nowak, pokój 214, pobyt 08.06.2026–10.06.2026, rezerwacja BK-7710442"},
		{152, "FAKTURA 1182/HB/06/2026, Kraków, dnia 10 czerwca 2026 r."}, {190, "2 × nocleg"},
		{210, "Razem brutto PLN 1 296,00"},
	} {
		p.Texts = append(p.Texts, pdftest.Text{X: 60, Y: line.y, Size: 9, Text: line.text})
	}
	r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{})
	if r.Status != invoice.OK || r.Number == nil || r.Number.Value != "1182/HB/06/2026" || r.Date == nil || r.Date.Value != "2026-06-10" {
		t.Errorf("%s %s: %s", r.Status, r.Detail, values(r))
	}
}

// Given other documents as other countries call them, then they are refused by their titles, whatever else is on the page.
func TestOtherDocumentsOfOtherLanguagesAreRefused(t *testing.T) {
	w := wordings[slices.IndexFunc(wordings, func(w wording) bool { return w.name == "en" })]
	w.numbers = []string{"No."}
	for i, title := range []string{"Offerte", "Opdrachtbevestiging", "Aanmaning", "Oferta", "Potwierdzenie zamówienia",
		"Upomnienie", "Cenová nabídka", "Dodací list", "Upomínka", "Árajánlat", "Szállítólevél", "Fizetési felszólítás",
		"Ponudba", "Dobavnica", "Opomin", "Ponuda", "Otpremnica", "Opomena", "Orçamento", "Extrato de conta", "Deviz",
		"Extras de cont", "Orderbekräftelse", "Betalningspåminnelse", "Tilbud", "Rykker", "Purring", "Tarjous", "Maksumuistutus"} {
		w.titles = []string{title}
		for layout := range 3 {
			data, _ := w.variant(i, layout, true, false)
			if r := read(data, invoice.Options{}); r.Status != invoice.Failed || r.Reason != invoice.NotAnInvoice {
				t.Errorf("%s, layout %d: %s %s, %s", title, layout, r.Status, r.Reason, values(r))
			}
		}
	}
}

// Given bills whose titles nobody knows, then they are invoices where they carry all that an invoice has, and ask to be paid.
func TestBillsOfUnknownTitles(t *testing.T) {
	unknown := map[string]string{"de": "Zettel", "en": "Levy", "fr": "Mémoire", "it": "Notula", "es": "Minuta"}
	for _, w := range wordings {
		title, ok := unknown[w.name]
		if !ok {
			continue
		}
		w.titles, w.numbers = []string{title}, []string{"Nr.", "No."}
		for layout := range 3 {
			data, want := w.variant(layout, layout, true, false)
			if r := read(data, invoice.Options{}); values(r) != want {
				t.Errorf("%s, layout %d: %s %s\n got %s\nwant %s", title, layout, r.Status, r.Reason, values(r), want)
			}
		}
	}
}

// Given credit notes as five countries call them, then the sums are negative.
func TestCreditNotesOfFiveLanguages(t *testing.T) {
	titles := map[string][]string{
		"de": {"Gutschrift|Gutschriftsnummer", "Rechnungskorrektur|Korrektur-Nr.", "Stornorechnung|Storno-Nr.",
			"Gutschrift|Gutschrift Nr.", "Korrekturrechnung|Rechnungsnummer", "Stornorechnung|Rechnungsnummer"},
		"en": {"Credit Note|Credit Note No.", "CREDIT NOTE|Credit note number", "Credit Memo|" +
			"Credit Memo #", "Credit Invoice|Invoice No."},
		"fr": {"Avoir|Avoir n°", "AVOIR|N° d'avoir", "Facture d'avoir|Facture n°", "Note de crédit|Note de crédit n°"},
		"it": {"Nota di credito|Nota di credito n.", "NOTA DI CREDITO|Numero documento", "Nota credito|Nota credito n."},
		"es": {"Factura rectificativa|Factura nº", "Abono|Abono nº", "Nota de crédito|Nota de crédito nº",
			"FACTURA RECTIFICATIVA|Factura rectificativa nº"},
	}
	for _, w := range wordings {
		for i, title := range titles[w.name] {
			name, number, _ := strings.Cut(title, "|")
			w.titles, w.numbers, w.dues, w.terms = []string{name}, []string{number}, []string{""}, []string{""}
			for layout := range 3 {
				data, want := w.variant(i, layout, true, false)
				parts := strings.Split(want, " | ")
				parts[2] = "-"
				for k := 6; k < 9; k++ {
					parts[k] = "-" + parts[k]
				}
				r := read(data, invoice.Options{})
				if got := values(r); got != strings.Join(parts, " | ") {
					t.Errorf("%s %s, layout %d: %s %s\n got %s\nwant %s", name, number, layout, r.Status, r.Reason, got,
						strings.Join(parts, " | "))
				}
			}
		}
	}
}
