package einvoice_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"

	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// An e-invoice is recognized and read in the encoding that it begins in or declares.
func TestEncodingsAreRead(t *testing.T) {
	const supplier = "Müller & Söhne OG"
	c := pdftest.SampleCII()
	c.Supplier = supplier
	inUTF8 := pdftest.CII(c)
	declaring := func(name string, xml []byte) []byte { return bytes.Replace(xml, []byte("UTF-8"), []byte(name), 1) }
	bytesOf := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, xml := range map[string][]byte{
		"UTF-8":                             inUTF8,
		"UTF-8 with a byte order mark":      append([]byte("\xef\xbb\xbf"), inUTF8...),
		"UTF-8 without a declaration":       bytes.Replace(inUTF8, []byte(` encoding="UTF-8"`), nil, 1),
		"UTF-8 that calls itself utf8":      declaring("utf8", inUTF8),
		"UTF-8 that calls itself UTF-16":    declaring("utf-16", inUTF8),
		"UTF-16, big end first":             pdftest.UTF16(binary.BigEndian, inUTF8),
		"UTF-16, little end first":          pdftest.UTF16(binary.LittleEndian, inUTF8),
		"UTF-16, big end first, no mark":    pdftest.UTF16(binary.BigEndian, inUTF8)[2:],
		"UTF-16, little end first, no mark": pdftest.UTF16(binary.LittleEndian, inUTF8)[2:],
		"UTF-16 that calls itself UTF-8":    pdftest.UTF16(binary.LittleEndian, append([]byte("<!--UTF-8-->"), inUTF8[38:]...)),
		"ISO-8859-1":                        declaring("ISO-8859-1", bytesOf(charmap.ISO8859_1.NewEncoder().Bytes(inUTF8))),
		"ISO-8859-15":                       declaring("iso-8859-15", bytesOf(charmap.ISO8859_15.NewEncoder().Bytes(inUTF8))),
		"Windows-1252":                      declaring("windows-1252", bytesOf(charmap.Windows1252.NewEncoder().Bytes(inUTF8))),
		"Windows-1250":                      declaring("windows-1250", bytesOf(charmap.Windows1250.NewEncoder().Bytes(inUTF8))),
		"ISO-8859-2":                        declaring("ISO-8859-2", bytesOf(charmap.ISO8859_2.NewEncoder().Bytes(inUTF8))),
		"a code page of DOS":                declaring("IBM850", bytesOf(charmap.CodePage850.NewEncoder().Bytes(inUTF8))),
		"GB 18030":                          declaring("gb18030", bytesOf(simplifiedchinese.GB18030.NewEncoder().Bytes(inUTF8))),
	} {
		d, err := einvoice.Read(xml)
		if err != nil || !einvoice.Is(xml) || d.SupplierName.Value != supplier || d.Gross.Value != 1488000 {
			t.Errorf("%s: supplier %v, recognized %t, %v", name, d.SupplierName, einvoice.Is(xml), err)
		}
	}
	for name, xml := range map[string][]byte{
		"UTF-8 that calls itself ISO-8859-1":    declaring("ISO-8859-1", inUTF8),
		"ISO-8859-1 that calls itself UTF-16":   declaring("UTF-16", bytesOf(charmap.ISO8859_1.NewEncoder().Bytes(inUTF8))),
		"an unknown encoding":                   declaring("x-mine", inUTF8),
		"UTF-7":                                 declaring("utf-7", bytes.ReplaceAll(inUTF8, []byte("ü"), []byte("+APw-"))),
		"UTF-16 that is cut off":                pdftest.UTF16(binary.LittleEndian, inUTF8)[:2001],
		"UTF-16 with entities":                  pdftest.UTF16(binary.BigEndian, []byte(strings.Replace(string(inUTF8), "?>", `?><!DOCTYPE a>`, 1))),
		"a declaration of half of an attribute": []byte(`<?xml version="1.0" encoding=`),
	} {
		if _, err := einvoice.Read(xml); !errors.Is(err, einvoice.ErrFaulty) {
			t.Errorf("%s: error = %v, want a fault", name, err)
		}
	}
}
