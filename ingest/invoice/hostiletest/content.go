package hostiletest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"tallyhouse/ingest/invoice"
)

// fonts are those with giant, faulty or circular tables. Each is used before the invoice's own.
func fonts() []PDF {
	simple := "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding %s >>"
	composite := "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding %s /DescendantFonts [<< /Subtype /CIDFontType2 %s >>] %s >>"
	used := func(font string, more objects) objects {
		o := shown("BT /F9 0 Tf (x) Tj ET", "", more)
		o[3] = fontPage("/F9 10 0 R")
		o[10] = font
		return o
	}
	toUnicode := func(program string) objects {
		return used(fmt.Sprintf(simple, "/ToUnicode 11 0 R"), objects{11: stream("/Filter /FlateDecode", flate([]byte(program), 1))})
	}
	encoding := func(program string) objects {
		return used(fmt.Sprintf(composite, "11 0 R", "", ""), objects{11: stream("", []byte(program))})
	}
	program := func(data []byte) objects {
		return used(fmt.Sprintf(composite, "/Identity-H", "/FontDescriptor << /FontFile2 11 0 R >>", ""), objects{11: stream("", data)})
	}
	sharing := func(font string, more objects) objects {
		o := shown(each(20, 5_000, func(n int) string { return fmt.Sprintf("BT /F%d 0 Tf (x) Tj ET\n", n) }), "", more)
		o[3] = fontPage(each(20, 5_000, func(n int) string { return fmt.Sprintf("/F%d %d 0 R ", n, n) }))
		for n := 20; n < 5_000; n++ {
			o[n] = strings.Replace(font, "/Font ", fmt.Sprintf("/Font /N %d ", n), 1)
		}
		return o
	}
	direct := shown(repeat("BT /F9 0 Tf ET ", 20_000), "", objects{11: stream("", []byte(repeat("<00> <00> <0041> ", 5_000)))})
	direct[3] = fontPage("/F9 " + fmt.Sprintf(simple, "/ToUnicode 11 0 R"))
	type3 := used("<< /Type /Font /Subtype /Type3 /FontMatrix [0 0 0 0 0 0] /FontBBox [0 0 0 0] /FirstChar 0 /LastChar 300 "+
		"/CharProcs << /x 11 0 R >> /Encoding << /Differences [120 /x] >> /Widths [1e99] /Resources << /Font << /F9 10 0 R >> >> >>",
		objects{11: stream("", []byte("BT /F9 1 Tf (x) Tj ET"))})
	full := "1 beginbfrange <0000> <FFFF> <0041> endbfrange 1 beginbfrange <00010000> <0001FFFF> <0041> endbfrange"
	var all []PDF
	for _, c := range []struct {
		name   string
		reason invoice.Reason
		o      objects
	}{
		{"ranges of characters that are none", invoice.TooMuchWork,
			toUnicode("1 beginbfrange " + repeat("<0000> <FFFF> <> ", 20_000) + "endbfrange")},
		{"a range to the last code", "", toUnicode("1 beginbfrange <FFFF0000> <FFFFFFFF> <> <FFFFFFFE> <FFFFFFFF> [] endbfrange")},
		{"a range that ends before it begins", "", toUnicode("1 beginbfrange <FFFF> <0000> <0041> endbfrange")},
		{"a million characters", "", toUnicode("1 beginbfchar " + repeat("<00> <0041> ", 500_000) + "endbfchar")},
		{"a table of characters that uses itself", "", used(fmt.Sprintf(simple, "/ToUnicode 11 0 R"),
			objects{11: stream("/UseCMap 11 0 R", []byte("/Self usecmap"))})},
		{"a table of characters that is the font", "", used(fmt.Sprintf(simple, "/ToUnicode 10 0 R"), nil)},
		{"an encoding of a million ranges", "", encoding("1 begincidrange " + repeat("<0000> <FFFFFFFF> 1 ", 300_000) + "endcidrange")},
		{"an encoding of codes without a length", "", encoding("1 begincodespacerange <> <> <0000000000> <FFFFFFFFFF> endcodespacerange")},
		{"an encoding that is the font", "", used(fmt.Sprintf(composite, "10 0 R", "", ""), nil)},
		{"widths of all codes, again and again", invoice.TooMuchWork,
			used(fmt.Sprintf(composite, "/Identity-H", "/W ["+repeat("0 65534 500 ", 100_000)+"]", ""), nil)},
		{"widths of codes beyond all numbers", "",
			used(fmt.Sprintf(composite, "/Identity-H", "/W [99999999999 [1 2] -5 -1 3 4294967295 [1 2]]", ""), nil)},
		{"half a million widths", "", used(fmt.Sprintf(simple, "/FirstChar -9999999999 /Widths ["+repeat("1 ", 500_000)+"]"), nil)},
		{"differences beyond all codes", "", used("<< /Type /Font /Subtype /Type1 /Encoding << /Differences [-9 /a 99999999999 /b "+
			repeat("/c ", 300_000)+"] >> >>", nil)},
		{"descendants that are the font", "", used("<< /Type /Font /Subtype /Type0 /DescendantFonts [10 0 R] /Encoding /Identity-H >>", nil)},
		{"a table of tables without end", "",
			program([]byte("\x00\x01\x00\x00\xFF\xFF\x00\x00\x00\x00\x00\x00" +
				repeat("cmap\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 64)))},
		{"a cmap of 2^32 groups", "", program(trueType(12))},
		{"a cmap of segments that overlap", "", program(trueType(4))},
		{"5,000 fonts that share a table", invoice.TooMuchWork,
			sharing(fmt.Sprintf(simple, "/ToUnicode 11 0 R"), objects{11: stream("", []byte(full))})},
		{"5,000 fonts that share a program", invoice.TooMuchWork,
			sharing(fmt.Sprintf(composite, "/Identity-H", "/FontDescriptor << /FontFile2 11 0 R >>", ""), objects{11: stream("", trueType(12))})},
		{"glyphs that show themselves", "", type3},
	} {
		all = append(all, both(c.name, c.reason, c.o)...)
	}
	return append(all, outcomes("a font of no object 20,000 times", "", invoice.TooMuchWork, direct)...)
}

// fontPage is the invoice's page with further fonts.
func fontPage(further string) string {
	return string(bytes.Replace([]byte(page("")), []byte("/F1 4 0 R"), []byte("/F1 4 0 R "+further), 1))
}

// trueType is a font program of a character map alone, of format 4 or 12, as large as it can be said to be.
func trueType(format uint16) []byte {
	var sub []byte
	add := func(v ...uint16) {
		for _, n := range v {
			sub = binary.BigEndian.AppendUint16(sub, n)
		}
	}
	add(format, 0xFFFF, 0, 0xFFFF)
	switch format {
	case 12:
		add(0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF)
		for range 10_000 {
			add(0, 0, 0xFFFF, 0xFFFF, 0, 1)
		}
	default:
		for range 130_000 {
			add(0xFFFE)
		}
	}
	out := []byte("\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00cmap\x00\x00\x00\x00\x00\x00\x00\x1C")
	out = binary.BigEndian.AppendUint32(out, 0xFFFFFFFF)
	return append(append(out, "\x00\x00\x00\x01\x00\x03\x00\x01\x00\x00\x00\x0C"...), sub...)
}

// operators are contents without end or measure.
func operators() []PDF {
	form := func(content, resources string) string {
		return stream("/Subtype /Form /BBox [0 0 595 842] /Resources << "+resources+" >>", []byte(content))
	}
	forms := objects{}
	for n := 10; n < 22; n++ {
		forms[n] = form(repeat("/Next Do ", 10), fmt.Sprintf("/XObject << /Next %d 0 R >>", n+1))
	}
	const self = "/XObject << /Self 10 0 R >>"
	groups := objects{}
	groups[10] = "<< /Type /OCMD /OCGs [" + repeat("11 0 R ", 200_000) + "] >>"
	var all []PDF
	for _, c := range []struct {
		name   string
		reason invoice.Reason
		o      objects
	}{
		{"a million states", "", shown(repeat("q ", 500_000)+repeat("Q ", 500_000), "", nil)},
		{"half a million levels", "", shown(repeat("/P BMC ", 500_000)+repeat("EMC ", 500_000), "", nil)},
		{"arrays a million deep", "", shown(repeat("[", 1_000_000)+" Tj", "", nil)},
		{"a million operands", "", shown(repeat("1 ", 1_000_000)+"m", "", nil)},
		{"a form that draws itself", "", shown("/Self Do", self, objects{10: form("/Self Do /Self Do", self)})},
		{"forms that draw each other", "", shown("/Self Do", self,
			objects{10: form("/Other Do", "/XObject << /Other 11 0 R >>"), 11: form("/Self Do /Self Do", self)})},
		{"ten forms in each of ten in each of ten …", invoice.TooMuchWork, shown("/Self Do", self, forms)},
		{"a string of 200,000 glyphs 200 times", invoice.TooMuchWork, shown("BT /F1 10 Tf "+repeat("/Self Do ", 200)+"ET", self,
			objects{10: form("("+repeat("\x01", 200_000)+") Tj", "/Font << /F1 4 0 R >>")})},
		{"half a million glyphs", invoice.TooMuchWork, shown("BT /F1 10 Tf -5.56 Tc 60 500 Td ("+repeat("8", 500_000)+") Tj ET", "", nil)},
		{"300,000 words at one place", invoice.NotAnInvoice,
			with(objects{6: stream("", []byte("BT /F1 10 Tf 50 500 Td "+repeat("(a) Tj 0 0 Td (b) Tj 0 0 Td ", 150_000)+"ET"))})},
		{"4,096 areas below 20,000 glyphs", "", shown(repeat("0 0 9 9 re f ", 4_096)+"BT /F1 1 Tf ("+repeat(" ", 20_000)+") Tj ET", "", nil)},
		{"layers of 200,000 groups 10,000 times", invoice.TooMuchWork,
			shown(repeat("/OC /L BDC EMC ", 10_000), "/Properties << /L 10 0 R >>", groups)},
		{"inline pictures without an end", invoice.NoText,
			shown("", "", objects{6: stream("", []byte(repeat("BI /W 1 ID ", 200_000)+letter()))})},
		{"an inline picture that holds its end", "", shown("BI /W 9 /H 9 ID \x00\x01 EI \xFF\xFE EI \x80 \nEI Q", "", nil)},
		{"an inline picture of 10^18 pixels", "", shown("BI /W 1000000000 /H 1000000000 /BPC 8 /CS /RGB ID x\nEI Q", "", nil)},
		{"a matrix of huge numbers", "",
			shown("q "+repeat("1e30 9 9 1e30 9 9 cm ", 1_000)+"999999999999 0 0 1 1 1 cm (x) Tj 1 1 1 1 re f Q", "", nil)},
		{"paths of 64 parts", "", shown(repeat(repeat("0 0 m 5 5 l ", 64)+"f ", 2_000), "", nil)},
		{"a page of 10^12 points", "",
			with(objects{3: "<< /Type /Page /MediaBox [-1000000000000 -1000000000000 1000000000000 1000000000000] /Contents 6 0 R " +
				"/Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> >>"})},
		{"a page turned by 10^18 degrees", "", with(objects{3: "<< /Type /Page /Rotate 999999999999999990 /MediaBox [0 0 595 842] " +
			"/Contents 6 0 R /Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> >>"})},
		{"scripts, programs and links", "", with(objects{1: "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert) >> " +
			"/AA << /WC << /S /Launch /F (/bin/sh) >> >> /URI << /Base (file:///etc/passwd) >> >>"})},
		{"content in another file", invoice.NoText,
			with(objects{6: "<< /F (/etc/passwd) /FFilter /FlateDecode /Length 0 >>\nstream\n\nendstream"})},
	} {
		all = append(all, PDF{Name: c.name, Data: c.o.file(), Reason: c.reason})
	}
	return all
}

// scans are pictures that are, or say they are, too large to be held, or that lie about how they are made.
func scans() []PDF {
	var all []PDF
	add := func(name, dict string, data []byte, media string, more objects) {
		o := with(objects{
			3:  "<< /Type /Page /Parent 2 0 R /MediaBox " + media + " /Contents 6 0 R /Resources << /XObject << /Im 10 0 R >> >> >>",
			6:  stream("", []byte("q 595 0 0 842 0 0 cm /Im Do Q")),
			10: stream("/Type /XObject /Subtype /Image "+dict, data),
		})
		for n, body := range more {
			o[n] = body
		}
		all = append(all, PDF{Name: "a picture " + name, Data: o.file(), Reason: invoice.OCRFailed, Scan: true})
	}
	const a4 = "[0 0 595 842]"
	gray := "/Width 20000 /Height 1000 /BitsPerComponent 8 /ColorSpace /DeviceGray "
	add("of 10^18 pixels", "/Width 1000000000 /Height 1000000000 /BitsPerComponent 8 /ColorSpace /DeviceRGB", []byte("x"), a4, nil)
	add("of 2^32 pixels", "/Width 65536 /Height 65536 /BitsPerComponent 1 /ColorSpace /DeviceGray", []byte("x"), a4, nil)
	add("of negative pixels", "/Width -5 /Height -5 /BitsPerComponent 8 /ColorSpace /DeviceGray", []byte("x"), a4, nil)
	add("of 20 million pixels", gray+"/Filter /FlateDecode", flate(make([]byte, 20_000_000), 1), a4, nil)
	add("of 200 bits", "/Width 9 /Height 9 /BitsPerComponent 200 /ColorSpace /DeviceGray", make([]byte, 81), a4, nil)
	add("of a palette of palettes", "/Width 9 /Height 9 /BitsPerComponent 8 /ColorSpace 11 0 R", make([]byte, 81), a4,
		objects{11: "[/Indexed 11 0 R 255 10 0 R]"})
	add("that is its own mask", "/Width 9 /Height 9 /BitsPerComponent 8 /ColorSpace /DeviceGray /SMask 10 0 R /Mask 10 0 R",
		make([]byte, 81), a4, nil)
	add("by fax of 65,536 columns", "/Width 65536 /Height 900 /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 65536 >>",
		make([]byte, 1_000), a4, nil)
	add("by fax of more columns than it has pixels",
		"/Width 900 /Height 65000 /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 65536 >>", make([]byte, 1_000), a4, nil)
	add("by fax of no columns", "/Width 9 /Height 9 /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 0 >>", make([]byte, 1_000), a4, nil)
	add("by fax of noise", "/Width 1728 /Height 30000 /Filter /CCITTFaxDecode", bytes.Repeat([]byte{0x35, 0xAC}, 300_000), a4, nil)
	add("by JPEG of 65,535 by 65,535", "/Width 9 /Height 9 /Filter /DCTDecode",
		[]byte("\xFF\xD8\xFF\xC0\x00\x11\x08\xFF\xFF\xFF\xFF\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xFF\xD9"), a4, nil)
	add("by JPEG of noise", "/Width 9 /Height 9 /Filter /DCTDecode", append([]byte("\xFF\xD8"), make([]byte, 100_000)...), a4, nil)
	const small = "/Width 900 /Height 900 /BitsPerComponent 1 /ColorSpace /DeviceGray "
	add("by JPEG 2000 of noise", small+"/Filter /JPXDecode", append(codestream(900, 900), make([]byte, 100_000)...), a4, nil)
	add("by JPEG 2000 of 60,000 by 60,000", small+"/Filter /JPXDecode", codestream(60_000, 60_000), a4, nil)
	add("by JBIG2 of 65,535 by 65,535", small+"/Filter /JBIG2Decode", bitmap(65_535, 65_535), a4, nil)
	add("by JBIG2 of 10^18 pixels", "/Width 1000000000 /Height 1000000000 /Filter /JBIG2Decode", []byte("x"), a4, nil)
	add("on a page of 10^12 points", gray, make([]byte, 100), "[0 0 1000000000000 1000000000000]", nil)
	add("on a page of no size", gray, make([]byte, 100), "[0 0 0 0]", nil)
	many := with(objects{
		3:  "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 6 0 R /Resources << /XObject << /Im 10 0 R >> >> >>",
		6:  stream("", []byte(repeat("q 595 0 0 842 0 0 cm /Im Do Q ", 20_000))),
		10: stream("/Type /XObject /Subtype /Image "+gray+"/Filter /FlateDecode", flate(make([]byte, 20_000_000), 1)),
	})
	large := with(objects{3: many[3], 6: stream("", []byte("q 595 0 0 842 0 0 cm /Im Do Q")),
		10: stream("/Type /XObject /Subtype /Image "+gray+"/Filter /FlateDecode", flate(make([]byte, 256<<20), 1))})
	return append(all,
		PDF{Name: "a picture 20,000 times", Data: many.file(), Reason: invoice.TooMuchWork, Scan: true},
		PDF{Name: "a picture of 256 MiB", Data: large.file(), Reason: invoice.TooMuchWork, Scan: true})
}

// codestream is the head of a JPEG 2000 of one gray component and one tile, with a part of that tile of nothing.
func codestream(width, height uint32) []byte {
	out := []byte("\xFF\x4F\xFF\x51\x00\x29\x00\x00")
	for _, v := range []uint32{width, height, 0, 0, width, height, 0, 0} {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	out = append(out, "\x00\x01\x07\x01\x01"...)
	out = append(out, "\xFF\x52\x00\x0C\x00\x00\x00\x01\x00\x05\x04\x04\x00\x01"...)
	out = append(out, "\xFF\x5C\x00\x13\x40\x40\x48\x48\x50\x48\x48\x50\x48\x48\x50\x48\x48\x50\x48\x48\x50"...)
	return append(out, "\xFF\x90\x00\x0A\x00\x00\x00\x00\x00\x00\x00\x01\xFF\x93"...)
}

// bitmap is a page of JBIG2 with one generic region of its size, of nothing.
func bitmap(width, height uint32) []byte {
	sides := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	out := append([]byte("\x00\x00\x00\x00\x30\x00\x01\x00\x00\x00\x13"), sides...)
	out = append(out, make([]byte, 11)...)
	out = append(out, "\x00\x00\x00\x01\x26\x00\x01\x00\x00\x00\x1A"...)
	out = append(out, sides...)
	return append(out, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\xFF\xFD\xFF\x02\xFE\xFE\xFE"...)
}
