package einvoice

// term is what EN 16931 calls a business term (BT) or a group of them (BG): the same content in both syntaxes.
type term struct {
	name     string // as messages call it
	cii, ubl string // where it stands, from the root, or from the group that it is looked up in (see node.find)
}

// Where most of CII's elements stand.
const (
	ciiAgreement  = "SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement/"
	ciiDelivery   = "SupplyChainTradeTransaction/ApplicableHeaderTradeDelivery/"
	ciiSettlement = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement/"
	ciiSeller     = ciiAgreement + "SellerTradeParty/"
	ciiBuyer      = ciiAgreement + "BuyerTradeParty/"
	ciiTotals     = ciiSettlement + "SpecifiedTradeSettlementHeaderMonetarySummation/"
	ciiLine       = "SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem"
	ciiLineOf     = "SpecifiedLineTradeSettlement/"
	ublSeller     = "AccountingSupplierParty/Party/"
	ublBuyer      = "AccountingCustomerParty/Party/"
	ublTotals     = "LegalMonetaryTotal/"
	ublLine       = "InvoiceLine|CreditNoteLine"
	ublVAT        = "TaxScheme/ID=VAT"
)

// terms are those that rules are about, by EN 16931-1; where they stand is from CEN/TS 16931-3-2 (UBL) and 3-3 (CII). A term of a
// group that may come several times is looked up from an element of that group.
var terms = map[string]term{
	"BT-1":  {"invoice number", "ExchangedDocument/ID", "ID"},
	"BT-2":  {"issue date", "ExchangedDocument/IssueDateTime/DateTimeString[@format=102]", "IssueDate"},
	"BT-3":  {"type code", "ExchangedDocument/TypeCode", "InvoiceTypeCode|CreditNoteTypeCode"},
	"BT-5":  {"currency", ciiSettlement + "InvoiceCurrencyCode", "DocumentCurrencyCode"},
	"BT-6":  {"currency of the tax", ciiSettlement + "TaxCurrencyCode", "TaxCurrencyCode"},
	"BT-7":  {"tax point date", ciiSettlement + "ApplicableTradeTax/TaxPointDate", "TaxPointDate"},
	"BT-8":  {"code of the tax point date", ciiSettlement + "ApplicableTradeTax/DueDateTypeCode", "InvoicePeriod/DescriptionCode"},
	"BT-9":  {"due date", ciiSettlement + "SpecifiedTradePaymentTerms/DueDateDateTime", "DueDate|PaymentMeans/PaymentDueDate"},
	"BT-10": {"buyer reference", ciiAgreement + "BuyerReference", "BuyerReference"},
	"BT-20": {"payment terms", ciiSettlement + "SpecifiedTradePaymentTerms/Description", "PaymentTerms/Note"},
	"BT-24": {"specification", "ExchangedDocumentContext/GuidelineSpecifiedDocumentContextParameter/ID", "CustomizationID"},

	"BG-3":  {"preceding invoice", ciiSettlement + "InvoiceReferencedDocument", "BillingReference"},
	"BT-25": {"number of a preceding invoice", "IssuerAssignedID", "InvoiceDocumentReference/ID"},

	"BT-27": {"seller's name", ciiSeller + "Name", ublSeller + "PartyLegalEntity/RegistrationName"},
	"BT-29": {"seller's identifier", ciiSeller + "ID|" + ciiSeller + "GlobalID", ublSeller + "PartyIdentification/ID"},
	"BT-30": {"seller's registration", ciiSeller + "SpecifiedLegalOrganization/ID", ublSeller + "PartyLegalEntity/CompanyID"},
	"BT-31": {"seller's VAT id", ciiSeller + "SpecifiedTaxRegistration/ID[@schemeID=VA]",
		ublSeller + "PartyTaxScheme[" + ublVAT + "]/CompanyID"},
	"BT-32": {"seller's tax number", ciiSeller + "SpecifiedTaxRegistration/ID[@schemeID=FC]", ublSeller + "PartyTaxScheme/CompanyID"},
	"BT-34": {"seller's electronic address", ciiSeller + "URIUniversalCommunication/URIID", ublSeller + "EndpointID"},
	"BG-5":  {"seller's address", ciiSeller + "PostalTradeAddress", ublSeller + "PostalAddress"},
	"BT-37": {"seller's city", "CityName", "CityName"},
	"BT-38": {"seller's post code", "PostcodeCode", "PostalZone"},
	"BT-40": {"seller's country", "CountryID", "Country/IdentificationCode"},
	"BG-6":  {"seller's contact", ciiSeller + "DefinedTradeContact", ublSeller + "Contact"},
	"BT-41": {"contact's name", "PersonName|DepartmentName", "Name"},
	"BT-42": {"contact's telephone", "TelephoneUniversalCommunication/CompleteNumber", "Telephone"},
	"BT-43": {"contact's mail address", "EmailURIUniversalCommunication/URIID", "ElectronicMail"},

	"BT-44": {"buyer's name", ciiBuyer + "Name", ublBuyer + "PartyLegalEntity/RegistrationName"},
	"BT-47": {"buyer's registration", ciiBuyer + "SpecifiedLegalOrganization/ID", ublBuyer + "PartyLegalEntity/CompanyID"},
	"BT-48": {"buyer's VAT id", ciiBuyer + "SpecifiedTaxRegistration/ID[@schemeID=VA]",
		ublBuyer + "PartyTaxScheme[" + ublVAT + "]/CompanyID"},
	"BT-49": {"buyer's electronic address", ciiBuyer + "URIUniversalCommunication/URIID", ublBuyer + "EndpointID"},
	"BG-8":  {"buyer's address", ciiBuyer + "PostalTradeAddress", ublBuyer + "PostalAddress"},
	"BT-52": {"buyer's city", "CityName", "CityName"},
	"BT-53": {"buyer's post code", "PostcodeCode", "PostalZone"},
	"BT-55": {"buyer's country", "CountryID", "Country/IdentificationCode"},

	"BG-10": {"payee", ciiSettlement + "PayeeTradeParty", "PayeeParty"},
	"BT-59": {"payee's name", "Name", "PartyName/Name"},

	"BG-11": {"tax representative", ciiAgreement + "SellerTaxRepresentativeTradeParty", "TaxRepresentativeParty"},
	"BT-62": {"tax representative's name", "Name", "PartyName/Name"},
	"BT-63": {"tax representative's VAT id", "SpecifiedTaxRegistration/ID[@schemeID=VA]", "PartyTaxScheme[" + ublVAT + "]/CompanyID"},
	"BG-12": {"tax representative's address", "PostalTradeAddress", "PostalAddress"},
	"BT-69": {"tax representative's country", "PostalTradeAddress/CountryID", "PostalAddress/Country/IdentificationCode"},

	"BT-72": {"day of delivery", ciiDelivery + "ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString",
		"Delivery/ActualDeliveryDate"},
	"BG-14": {"invoicing period", ciiSettlement + "BillingSpecifiedPeriod", "InvoicePeriod"},
	"BT-73": {"beginning of the period", "StartDateTime", "StartDate"},
	"BT-74": {"end of the period", "EndDateTime", "EndDate"},
	"BG-15": {"address of delivery", ciiDelivery + "ShipToTradeParty/PostalTradeAddress", "Delivery/DeliveryLocation/Address"},
	"BT-77": {"city of delivery", "CityName", "CityName"},
	"BT-78": {"post code of delivery", "PostcodeCode", "PostalZone"},
	"BT-80": {"country of delivery", "CountryID", "Country/IdentificationCode"},

	"BG-16": {"payment instructions", ciiSettlement + "SpecifiedTradeSettlementPaymentMeans", "PaymentMeans"},
	"BT-81": {"code of the payment means", "TypeCode", "PaymentMeansCode"},
	"BG-17": {"account to pay to", "PayeePartyCreditorFinancialAccount", "PayeeFinancialAccount"},
	"BT-84": {"number of the account to pay to",
		"PayeePartyCreditorFinancialAccount/IBANID|PayeePartyCreditorFinancialAccount/ProprietaryID", "PayeeFinancialAccount/ID"},
	"BG-18": {"payment card", "ApplicableTradeSettlementFinancialCard", "CardAccount"},
	"BT-87": {"number of the payment card", "ApplicableTradeSettlementFinancialCard/ID", "CardAccount/PrimaryAccountNumberID"},
	"BT-89": {"mandate of the direct debit", ciiSettlement + "SpecifiedTradePaymentTerms/DirectDebitMandateID",
		"PaymentMeans/PaymentMandate/ID"},
	"BT-90": {"creditor's identifier", ciiSettlement + "CreditorReferenceID",
		ublSeller + "PartyIdentification/ID[@schemeID=SEPA]|PayeeParty/PartyIdentification/ID[@schemeID=SEPA]"},
	"BT-91": {"account to be debited", ciiSettlement + "SpecifiedTradeSettlementPaymentMeans/PayerPartyDebtorFinancialAccount/IBANID",
		"PaymentMeans/PaymentMandate/PayerFinancialAccount/ID"},

	"BG-20": {"allowance", ciiSettlement + "SpecifiedTradeAllowanceCharge[ChargeIndicator/Indicator=false]",
		"AllowanceCharge[ChargeIndicator=false]"},
	"BG-21": {"charge", ciiSettlement + "SpecifiedTradeAllowanceCharge[ChargeIndicator/Indicator=true]",
		"AllowanceCharge[ChargeIndicator=true]"},
	"BG-27": {"allowance of a line", ciiLine + "/" + ciiLineOf + "SpecifiedTradeAllowanceCharge[ChargeIndicator/Indicator=false]",
		"InvoiceLine/AllowanceCharge[ChargeIndicator=false]|CreditNoteLine/AllowanceCharge[ChargeIndicator=false]"},
	"BG-28": {"charge of a line", ciiLine + "/" + ciiLineOf + "SpecifiedTradeAllowanceCharge[ChargeIndicator/Indicator=true]",
		"InvoiceLine/AllowanceCharge[ChargeIndicator=true]|CreditNoteLine/AllowanceCharge[ChargeIndicator=true]"},
	// The terms of all four, by the numbers of the first.
	"BT-92": {"amount", "ActualAmount", "Amount"},
	"BT-93": {"base amount", "BasisAmount", "BaseAmount"},
	"BT-95": {"VAT category", "CategoryTradeTax[TypeCode=VAT]/CategoryCode", "TaxCategory[" + ublVAT + "]/ID"},
	"BT-96": {"VAT rate", "CategoryTradeTax/RateApplicablePercent", "TaxCategory/Percent"},
	"BT-97": {"reason or its code", "Reason|ReasonCode", "AllowanceChargeReason|AllowanceChargeReasonCode"},

	"BT-106": {"sum of the lines", ciiTotals + "LineTotalAmount", ublTotals + "LineExtensionAmount"},
	"BT-107": {"sum of the allowances", ciiTotals + "AllowanceTotalAmount", ublTotals + "AllowanceTotalAmount"},
	"BT-108": {"sum of the charges", ciiTotals + "ChargeTotalAmount", ublTotals + "ChargeTotalAmount"},
	"BT-109": {"net total", ciiTotals + "TaxBasisTotalAmount", ublTotals + "TaxExclusiveAmount"},
	"BT-110": {"tax total", ciiTotals + "TaxTotalAmount", "TaxTotal/TaxAmount"},
	"BT-112": {"gross total", ciiTotals + "GrandTotalAmount", ublTotals + "TaxInclusiveAmount"},
	"BT-113": {"prepaid amount", ciiTotals + "TotalPrepaidAmount", ublTotals + "PrepaidAmount"},
	"BT-114": {"rounding", ciiTotals + "RoundingAmount", ublTotals + "PayableRoundingAmount"},
	"BT-115": {"payable amount", ciiTotals + "DuePayableAmount", ublTotals + "PayableAmount"},

	"BG-23":  {"VAT breakdown", ciiSettlement + "ApplicableTradeTax", "TaxTotal/TaxSubtotal"},
	"BT-116": {"taxable amount", "BasisAmount", "TaxableAmount"},
	"BT-117": {"tax", "CalculatedAmount", "TaxAmount"},
	"BT-118": {"VAT category", ".[TypeCode=VAT]/CategoryCode", "TaxCategory[" + ublVAT + "]/ID"},
	"BT-119": {"VAT rate", ".[TypeCode=VAT]/RateApplicablePercent", "TaxCategory[" + ublVAT + "]/Percent"},
	"BT-120": {"reason of the exemption", "ExemptionReason|ExemptionReasonCode",
		"TaxCategory/TaxExemptionReason|TaxCategory/TaxExemptionReasonCode"},

	"BG-24":  {"supporting document", ciiAgreement + "AdditionalReferencedDocument", "AdditionalDocumentReference"},
	"BT-122": {"reference of the supporting document", "IssuerAssignedID", "ID"},
	"BT-125": {"attachment", "AttachmentBinaryObject", "Attachment/EmbeddedDocumentBinaryObject"},

	"BG-25":  {"line", ciiLine, ublLine},
	"BT-126": {"identifier", "AssociatedDocumentLineDocument/LineID", "ID"},
	"BT-129": {"quantity", "SpecifiedLineTradeDelivery/BilledQuantity", "InvoicedQuantity|CreditedQuantity"},
	"BT-130": {"unit of the quantity", "SpecifiedLineTradeDelivery/BilledQuantity/@unitCode",
		"InvoicedQuantity/@unitCode|CreditedQuantity/@unitCode"},
	"BT-131": {"net amount", ciiLineOf + "SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount", "LineExtensionAmount"},
	"BT-146": {"net price", "SpecifiedLineTradeAgreement/NetPriceProductTradePrice/ChargeAmount", "Price/PriceAmount"},
	"BT-148": {"gross price", "SpecifiedLineTradeAgreement/GrossPriceProductTradePrice/ChargeAmount", "Price/AllowanceCharge/BaseAmount"},
	"BT-151": {"VAT category", ciiLineOf + "ApplicableTradeTax[TypeCode=VAT]/CategoryCode",
		"Item/ClassifiedTaxCategory[" + ublVAT + "]/ID"},
	"BT-152": {"VAT rate", ciiLineOf + "ApplicableTradeTax/RateApplicablePercent", "Item/ClassifiedTaxCategory/Percent"},
	"BT-153": {"item's name", "SpecifiedTradeProduct/Name", "Item/Name"},
	"BT-157": {"item's standard identifier", "SpecifiedTradeProduct/GlobalID", "Item/StandardItemIdentification/ID"},
	"BT-158": {"item's classification", "SpecifiedTradeProduct/DesignatedProductClassification/ClassCode",
		"Item/CommodityClassification/ItemClassificationCode"},
	"BT-159": {"item's country of origin", "SpecifiedTradeProduct/OriginTradeCountry/ID", "Item/OriginCountry/IdentificationCode"},
	"BG-26": {"period of a line", ciiLine + "/" + ciiLineOf + "BillingSpecifiedPeriod",
		"InvoiceLine/InvoicePeriod|CreditNoteLine/InvoicePeriod"},
	"BG-32": {"attribute of an item", ciiLine + "/SpecifiedTradeProduct/ApplicableProductCharacteristic",
		"InvoiceLine/Item/AdditionalItemProperty|CreditNoteLine/Item/AdditionalItemProperty"},
	"BT-160": {"attribute's name", "Description", "Name"},
	"BT-161": {"attribute's value", "Value", "Value"},
}
