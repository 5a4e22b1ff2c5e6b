package pdftest

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// CrossIndustryInvoice holds what varies in an e-invoice of one item; empty
// values leave their element out or empty.
type CrossIndustryInvoice struct {
	Guideline, Number, TypeCode, Date     string
	Due                                   []string
	Supplier, TaxID, Currency             string
	LineNet, Price                        string
	Rate, Lines, Net, Tax, Gross, Payable string
}

// SampleCII is a valid Factur-X invoice with the sums of Sample.
func SampleCII() CrossIndustryInvoice {
	return CrossIndustryInvoice{
		Guideline: "urn:cen.eu:en16931:2017", Number: "FX-1", TypeCode: "380", Date: "20260417", Due: []string{"20260517"},
		Supplier: "Bauwerk Donau GmbH", TaxID: "ATU12345675", Currency: "EUR", LineNet: "12400.00", Price: "12400.00",
		Rate:  "20.00",
		Lines: "12400.00", Net: "12400.00", Tax: "2480.00", Gross: "14880.00", Payable: "14880.00",
	}
}

// CII writes the invoice as XML (UN/CEFACT Cross Industry Invoice).
func CII(c CrossIndustryInvoice) []byte {
	text := func(s string) string {
		var b bytes.Buffer
		// Writing to memory does not fail.
		_ = xml.EscapeText(&b, []byte(s))
		return b.String()
	}
	terms, registration := "", ""
	for _, d := range c.Due {
		terms += fmt.Sprintf(`<ram:SpecifiedTradePaymentTerms><ram:DueDateDateTime>
<udt:DateTimeString format="102">%s</udt:DateTimeString></ram:DueDateDateTime></ram:SpecifiedTradePaymentTerms>`, text(d))
	}
	if c.TaxID != "" {
		registration = fmt.Sprintf(`<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">%s</ram:ID>
</ram:SpecifiedTaxRegistration>`, text(c.TaxID))
	}
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
<rsm:ExchangedDocumentContext><ram:GuidelineSpecifiedDocumentContextParameter><ram:ID>%s</ram:ID>
</ram:GuidelineSpecifiedDocumentContextParameter></rsm:ExchangedDocumentContext>
<rsm:ExchangedDocument><ram:ID>%s</ram:ID><ram:TypeCode>%s</ram:TypeCode><ram:IssueDateTime>
<udt:DateTimeString format="102">%s</udt:DateTimeString></ram:IssueDateTime></rsm:ExchangedDocument>
<rsm:SupplyChainTradeTransaction>
<ram:IncludedSupplyChainTradeLineItem><ram:AssociatedDocumentLineDocument><ram:LineID>1</ram:LineID></ram:AssociatedDocumentLineDocument>
<ram:SpecifiedTradeProduct><ram:Name>Shell work</ram:Name></ram:SpecifiedTradeProduct>
<ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice>
<ram:ChargeAmount>%s</ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>
<ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">1</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>
<ram:SpecifiedLineTradeSettlement><ram:ApplicableTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode>
<ram:RateApplicablePercent>%s</ram:RateApplicablePercent></ram:ApplicableTradeTax><ram:SpecifiedTradeSettlementLineMonetarySummation>
<ram:LineTotalAmount>%s</ram:LineTotalAmount></ram:SpecifiedTradeSettlementLineMonetarySummation>
</ram:SpecifiedLineTradeSettlement></ram:IncludedSupplyChainTradeLineItem>
<ram:ApplicableHeaderTradeAgreement><ram:SellerTradeParty><ram:Name>%s</ram:Name>
<ram:PostalTradeAddress><ram:CountryID>AT</ram:CountryID></ram:PostalTradeAddress>%s</ram:SellerTradeParty>
<ram:BuyerTradeParty><ram:Name>Quartier Lindenhof GmbH</ram:Name>
<ram:PostalTradeAddress><ram:CountryID>AT</ram:CountryID></ram:PostalTradeAddress></ram:BuyerTradeParty>
</ram:ApplicableHeaderTradeAgreement>
<ram:ApplicableHeaderTradeSettlement><ram:InvoiceCurrencyCode>%s</ram:InvoiceCurrencyCode>
<ram:ApplicableTradeTax><ram:CalculatedAmount>%s</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>
<ram:BasisAmount>%s</ram:BasisAmount><ram:CategoryCode>S</ram:CategoryCode>
<ram:RateApplicablePercent>%s</ram:RateApplicablePercent></ram:ApplicableTradeTax>
%s<ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:LineTotalAmount>%s</ram:LineTotalAmount>
<ram:TaxBasisTotalAmount>%s</ram:TaxBasisTotalAmount><ram:TaxTotalAmount currencyID="%s">%s</ram:TaxTotalAmount>
<ram:GrandTotalAmount>%s</ram:GrandTotalAmount><ram:DuePayableAmount>%s</ram:DuePayableAmount>
</ram:SpecifiedTradeSettlementHeaderMonetarySummation></ram:ApplicableHeaderTradeSettlement>
</rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>
`, text(c.Guideline), text(c.Number), text(c.TypeCode), text(c.Date), text(c.Price), text(c.Rate), text(c.LineNet),
		text(c.Supplier), registration,
		text(c.Currency), text(c.Tax), text(c.Net), text(c.Rate), terms, text(c.Lines), text(c.Net), text(c.Currency),
		text(c.Tax), text(c.Gross), text(c.Payable))
}

// FacturXMetadata is the XMP packet by which a file says that it is Factur-X.
const FacturXMetadata = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#" fx:DocumentType="INVOICE"
fx:DocumentFileName="factur-x.xml" fx:Version="1.0" fx:ConformanceLevel="EN 16931"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
