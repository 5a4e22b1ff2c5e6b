package hostiletest

import (
	"bytes"
	"fmt"

	"tallyhouse/ingest/invoice"
)

// references are files whose cross-references loop, lie or have no end.
func references() []PDF {
	good := sample().file()
	table := bytes.LastIndex(good, []byte("xref\n0 1"))
	var sections bytes.Buffer
	sections.Write(good[:bytes.LastIndex(good, []byte("startxref"))])
	at := table
	for range 20_000 {
		next := sections.Len()
		fmt.Fprintf(&sections, "xref\n0 0\ntrailer\n<< /Root 1 0 R /Size 7 /Prev %d >>\n", at)
		at = next
	}
	fmt.Fprintf(&sections, "startxref\n%d\n%%%%EOF\n", at)
	// 500 sections that all begin within one long comment.
	var comment bytes.Buffer
	comment.Write(good[:table])
	at = 0
	for range 500 {
		next := comment.Len()
		fmt.Fprintf(&comment, "xref\n0 0\ntrailer\n<< /Root 1 0 R /Size 7 /Prev %d /X (", at)
		at = next
	}
	comment.WriteString(repeat("x", 4<<20))
	fmt.Fprintf(&comment, "\nstartxref\n%d\n%%%%EOF\n", at)
	trailer := func(entries string) []byte { return bytes.Replace(good, []byte("/Root 1 0 R"), []byte(entries), 1) }
	at = bytes.LastIndex(good, []byte("startxref"))
	xrefStream := func(dict string, rows []byte) []byte {
		var b bytes.Buffer
		b.Write(good[:table])
		start := b.Len()
		fmt.Fprintf(&b, "9 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", stream("/Type /XRef /Root 1 0 R "+dict, rows), start)
		return b.Bytes()
	}
	return []PDF{
		{Name: "a section before itself", Data: trailer(fmt.Sprintf("/Root 1 0 R /Prev %d", table))},
		{Name: "20,000 sections", Data: sections.Bytes()},
		{Name: "500 sections with the same string", Data: comment.Bytes(), Reason: invoice.TooMuchWork},
		{Name: "a table that begins before the file", Data: append(bytes.Clone(good[:at]), "startxref\n-1\n%%EOF\n"...)},
		{Name: "a table beyond the file", Data: append(bytes.Clone(good[:at]), "startxref\n99999999999999999999\n%%EOF\n"...)},
		{Name: "a table that is its own end", Data: append(bytes.Clone(good[:at]), fmt.Sprintf("startxref\n%d\n%%%%EOF\n", at)...)},
		{Name: "a section of 10^12 objects", Data: bytes.Replace(good, []byte("xref\n0 1\n"), []byte("xref\n0 1000000000000\n"), 1)},
		{Name: "a section of fewer than no objects", Data: bytes.Replace(good, []byte("xref\n0 1\n"), []byte("xref\n0 -5\n"), 1)},
		{Name: "places that are all the same", Data: bytes.ReplaceAll(good, []byte("00000 n"), []byte("99999 n"))},
		{Name: "a stream of references of 10^18 objects", Data: xrefStream("/Size 1000000000000000000 /W [1 4 2]", make([]byte, 70))},
		{Name: "a stream of references of negative numbers",
			Data: xrefStream("/Size 7 /W [1 4 2] /Index [-5 10 -1 -1]", make([]byte, 70))},
		{Name: "a stream of references of wide fields", Data: xrefStream("/Size 7 /W [8 8 8 8 8 8]", make([]byte, 96))},
		{Name: "a stream of references of no width", Data: xrefStream("/Size 7 /W [0 0 0]", make([]byte, 96))},
		{Name: "a stream of references of huge columns",
			Data: xrefStream("/Size 7 /W [1 4 2] /DecodeParms << /Predictor 12 /Columns 999999999999 >>", make([]byte, 70))},
		{Name: "a catalog that is itself", Data: objects{1: "1 0 R"}.file(), Reason: invoice.Broken},
		{Name: "catalogs in a circle", Data: objects{1: "2 0 R", 2: "3 0 R", 3: "1 0 R"}.file(), Reason: invoice.Broken},
	}
}

// trees are pages and names in circles, too deep, too wide and too many.
func trees() []PDF {
	deep := objects{2: "<< /Type /Pages /Kids [10 0 R 3 0 R] >>"}
	for n := 10; n < 20_000; n++ {
		deep[n] = fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", n+1)
	}
	diamonds := objects{2: "<< /Type /Pages /Kids [10 0 R 3 0 R] >>"}
	for n := 10; n < 50; n++ {
		diamonds[n] = fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R %d 0 R << /Kids [%d 0 R] >>] >>", n+1, n+1, n+1)
	}
	many := objects{2: "<< /Type /Pages /Kids [3 0 R " + each(10, 30_000, func(n int) string { return fmt.Sprintf("%d 0 R ", n) }) + "] >>"}
	for n := 10; n < 30_000; n++ {
		many[n] = fmt.Sprintf("<< /Type /Page /N %d >>", n)
	}
	chain := objects{6: "<< /Length 10 0 R >>\nstream\nq Q\nendstream"}
	for n := 10; n < 100_000; n++ {
		chain[n] = fmt.Sprintf("<< /Length %d 0 R >>\nstream\n1\nendstream", n+1)
	}
	names := func(tree string, more objects) objects {
		o := sample()
		o[1] = "<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles 10 0 R >> >>"
		o[10] = tree
		for n, body := range more {
			o[n] = body
		}
		return o
	}
	var all []PDF
	all = append(all, both("kids that are their parents", "", with(objects{2: "<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] >>"}))...)
	all = append(all, both("20,000 levels of pages", "", with(deep))...)
	all = append(all, both("a tree that doubles 40 times", "", with(diamonds))...)
	all = append(all, both("one page 500,000 times", "", with(objects{2: "<< /Type /Pages /Kids [" + repeat("3 0 R ", 500_000) + "] >>"}))...)
	all = append(all, both("30,000 pages", invoice.TooManyPages, with(many))...)
	all = append(all, both("lengths of lengths of lengths", invoice.NoText, with(chain))...)
	all = append(all, both("names in a circle", "", names("<< /Kids [10 0 R 10 0 R] /Names [(a) 10 0 R] >>", nil))...)
	all = append(all, both("half a million files that are none", "", names("<< /Names ["+repeat("(a) 4 0 R ", 250_000)+"] >>", nil))...)
	return all
}

// nesting is of arrays, dictionaries, strings, comments and numbers.
func nesting() []PDF {
	var all []PDF
	for _, c := range []struct {
		name, body string
		reason     invoice.Reason
	}{
		{name: "arrays", body: repeat("[", 1_000_000)},
		{name: "closed arrays", body: repeat("[", 200_000) + repeat("]", 200_000)},
		{name: "dictionaries", body: repeat("<</A", 500_000)},
		{name: "closed dictionaries", body: repeat("<</A ", 100_000) + repeat(">>", 100_000)},
		{name: "strings", body: repeat("(", 2_000_000)},
		{name: "a hexadecimal string without end", body: "<" + repeat("4", 2_000_000)},
		{name: "a comment without end", body: "%" + repeat("x", 2_000_000)},
		{name: "a name without end", body: "/" + repeat("x#41", 500_000)},
		{name: "half a million dictionaries", body: "[" + repeat("<</A 1>>", 500_000) + "]", reason: invoice.TooMuchWork},
		{name: "a million arrays", body: "[" + repeat("[]", 1_000_000) + "]", reason: invoice.TooMuchWork},
	} {
		// The names are read first of all.
		o := with(objects{1: "<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles 10 0 R >> /AF 10 0 R >>", 10: c.body})
		all = append(all, both("nested "+c.name, c.reason, o)...)
	}
	return all
}

// numbers are objects, lengths and numbers that are too large, too many or not there.
func numbers() []PDF {
	many := with(nil)
	for n := 10; n < 300_000; n++ {
		many[n] = "1"
	}
	endless := sample()
	for n := 10; n < 20_000; n++ {
		endless[n] = "<< /Length 9 >>\nstream\nx"
	}
	overlapping := bytes.Buffer{}
	overlapping.WriteString("%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj 2 0 obj << /Type /Pages /Kids [")
	overlapping.WriteString(each(10, 20_000, func(n int) string { return fmt.Sprintf("%d 0 R ", n) }) + "] >> endobj\n")
	overlapping.WriteString(each(10, 20_000, func(n int) string { return fmt.Sprintf("%d 0 obj [", n) }))
	overlapping.WriteString(repeat("0 ", 500_000) + "\ntrailer << /Root 1 0 R >>\nstartxref\n0\n%%EOF\n")
	length := func(l string) string { return "<< /Length " + l + " >>\nstream\n" + letter() + "\nendstream" }
	all := []PDF{
		{Name: "300,000 objects", Data: many.file()},
		{Name: "300,000 objects, without a table", Data: many.loose("")},
		{Name: "20,000 streams without an end", Data: endless.loose(""), Reason: ""},
		{Name: "20,000 objects one within the other", Data: overlapping.Bytes(), Reason: invoice.TooMuchWork},
		{Name: "numbers of 400,000 digits", Data: shown("q "+repeat("9", 400_000)+" 0 0 "+repeat(".5", 200_000)+" cm Q", "", nil).file()},
		{Name: "numbers beyond all ranges", Data: shown("q 1e999 99999999999999999999999 -99999999999999999999 1 0 0 cm Q", "", nil).file()},
		{Name: "object numbers beyond all ranges", Data: with(objects{3: page("/X 99999999999 0 R /Y 4294967296 0 R /Z 1 99999 R")}).file()},
	}
	for name, l := range map[string]string{"negative": "-5", "beyond the file": "999999999", "beyond all numbers": "9999999999999999999999",
		"none": "null", "a string": "(x)", "its own stream's": "6 0 R"} {
		all = append(all, both("length that is "+name, "", with(objects{6: length(l)}))...)
	}
	return all
}
