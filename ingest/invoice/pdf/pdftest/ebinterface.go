package pdftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// EbInterface is the invoice of SampleCII in Austria's format, version 6.1, with a number of its own.
func EbInterface(number string) []byte {
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<eb:Invoice xmlns:eb="http://www.ebinterface.at/schema/6p1/" GeneratingSystem="test" DocumentType="Invoice" InvoiceCurrency="EUR">
<eb:InvoiceNumber>%s</eb:InvoiceNumber><eb:InvoiceDate>2026-04-17</eb:InvoiceDate>
<eb:Biller><eb:VATIdentificationNumber>ATU12345675</eb:VATIdentificationNumber>
<eb:Address><eb:Name>Bauwerk Donau GmbH</eb:Name><eb:Town>Wien</eb:Town></eb:Address></eb:Biller>
<eb:Details><eb:ItemList><eb:ListLineItem><eb:Description>Rohbau</eb:Description><eb:Quantity Unit="C62">1</eb:Quantity>
<eb:UnitPrice>12400.00</eb:UnitPrice><eb:LineItemAmount>12400.00</eb:LineItemAmount></eb:ListLineItem></eb:ItemList></eb:Details>
<eb:Tax><eb:TaxItem><eb:TaxableAmount>12400.00</eb:TaxableAmount><eb:TaxPercent TaxCategoryCode="S">20</eb:TaxPercent>
<eb:TaxAmount>2480.00</eb:TaxAmount></eb:TaxItem></eb:Tax>
<eb:TotalGrossAmount>14880.00</eb:TotalGrossAmount><eb:PayableAmount>14880.00</eb:PayableAmount>
<eb:PaymentConditions><eb:DueDate>2026-05-17</eb:DueDate></eb:PaymentConditions></eb:Invoice>
`, number)
}

// UTF16 is a document of UTF-8 in UTF-16, with a byte order mark, and declared to be so.
func UTF16(order binary.AppendByteOrder, xml []byte) []byte {
	xml = bytes.Replace(xml, []byte("UTF-8"), []byte("UTF-16"), 1)
	b := order.AppendUint16(nil, '\ufeff')
	for _, unit := range utf16.Encode([]rune(string(xml))) {
		b = order.AppendUint16(b, unit)
	}
	return b
}
