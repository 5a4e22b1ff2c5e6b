package einvoice

import (
	"math/big"
	"strings"

	"tallyhouse/ingest/invoice/fields"
)

// ebInterfaceTypes are the codes of UNTDID 1001 for ebInterface's types of documents.
var ebInterfaceTypes = map[string]string{
	"Invoice": "380", "FinalSettlement": "380", "InvoiceForAdvancePayment": "386", "InvoiceForPartialDelivery": "326",
	"SelfBilling": "389", "CreditMemo": "381", "SubsequentCredit": "381", "SubsequentDebit": "383",
}

// readEbInterface reads the Austrian format, versions 3.0 to 6.1. It states the gross total and each rate's base and
// tax, which add up to net and tax. What is payable is left out: prepayments and what is settled for others are in it.
func readEbInterface(root *node) raw {
	biller := root.at("Biller")
	r := raw{
		format: EbInterface, guideline: root.name.Space,
		number: root.at("InvoiceNumber").value(), issued: root.at("InvoiceDate").value(),
		dueDay:   root.at("PaymentConditions", "DueDate").value(),
		kind:     root.attr("DocumentType"),
		currency: strings.TrimSpace(root.attr("InvoiceCurrency")),
		seller:   party{name: partyName(biller.at("Address", "Name"))},
		gross:    root.at("TotalGrossAmount").value(),
	}
	if code, known := ebInterfaceTypes[r.kind]; known {
		r.kind = code
	}
	if r.seller.name == "" {
		r.seller.name = partyName(biller.at("Contact", "Name"))
	}
	// A biller without a VAT id writes zeros.
	if id := biller.at("VATIdentificationNumber").value(); strings.Trim(id, "0") != "" {
		r.seller.vatID = id
	}
	taxes := root.at("Tax")
	for _, items := range [][]*node{taxes.all("TaxItem"), taxes.at("VAT").all("VATItem"), taxes.at("VAT").all("Item")} {
		for _, item := range items {
			r.breakdown = append(r.breakdown, r.ebInterfaceTax(item))
		}
	}
	if len(taxes.all("OtherTax")) == 0 { // else gross is more than net and VAT
		r.net, r.tax = r.breakdownTotals()
	}
	return r
}

// ebInterfaceTax reads the base and the tax of one rate, which are called otherwise from version 5.0 on. The tax may be
// missing; then the rate says it.
func (r raw) ebInterfaceTax(item *node) taxLine {
	first := func(names ...string) *node {
		for _, name := range names {
			if n := item.at(name); n != nil {
				return n
			}
		}
		return nil
	}
	percent := first("TaxPercent", "VATRate", "TaxRate")
	t := taxLine{
		category: percent.attr("TaxCategoryCode"), rate: percent.value(),
		base: first("TaxableAmount", "TaxedAmount").value(), tax: first("TaxAmount", "Amount").value(),
	}
	base, rate := decimal(t.base), decimal(t.rate)
	if t.tax == "" && base != nil && rate != nil {
		tax := new(big.Rat).Mul(base, rate)
		t.tax = tax.Quo(tax, big.NewRat(100, 1)).FloatString(fields.Exponent(r.currency))
	}
	return t
}

// breakdownTotals adds up the bases and the taxes of all rates; nothing where one of them is not stated.
func (r raw) breakdownTotals() (net, tax string) {
	bases, taxes := new(big.Rat), new(big.Rat)
	for _, t := range r.breakdown {
		b, v := decimal(t.base), decimal(t.tax)
		if b == nil || v == nil {
			return "", ""
		}
		bases.Add(bases, b)
		taxes.Add(taxes, v)
	}
	if len(r.breakdown) == 0 {
		return "", ""
	}
	return plain(bases), plain(taxes)
}

// plain writes a sum of decimals as short as it is exact: minor units have two decimals or none, and some versions allow
// four.
func plain(sum *big.Rat) string {
	const most = 4
	return strings.TrimSuffix(strings.TrimRight(sum.FloatString(most), "0"), ".")
}
