package hostiletest

import (
	"bytes"
	"fmt"

	"tallyhouse/ingest/invoice"
)

// packed are streams that unpack to more than can be held, or that lie about how they are packed.
func packed() []PDF {
	zeros := make([]byte, 256<<20)
	blanks := bytes.Repeat([]byte(" "), 24<<20)
	content := func(dict string, data []byte) objects { return with(objects{6: stream(dict, data)}) }
	// Half a million rows of a byte each, of 32 colors in a million columns.
	predictor := "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors 32 /BitsPerComponent 16 /Columns 1048576 >>"
	predicted := objects{6: stream("", []byte(each(10, 2_000, func(n int) string { return fmt.Sprintf("/X%d Do ", n) })+letter()))}
	resources := each(10, 2_000, func(n int) string { return fmt.Sprintf("/X%d %d 0 R ", n, n) })
	predicted[3] = page("/XObject << " + resources + " >>")
	for n := 10; n < 2_000; n++ {
		predicted[n] = stream("/Subtype /Form "+predictor, flate([]byte("\x02q Q"), 1))
	}
	runs := bytes.Repeat([]byte{129, 0}, 2<<20)
	var all []PDF
	for _, c := range []struct {
		name   string
		reason invoice.Reason
		o      objects
	}{
		{"256 MiB of zeros", invoice.NoText, content("/Filter /FlateDecode", flate(zeros, 1))},
		{"zeros packed three times", invoice.NoText, content("/Filter [/FlateDecode /FlateDecode /FlateDecode]", flate(zeros, 3))},
		{"zeros packed by LZW", invoice.NoText, content("/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>", packLZW(zeros[:64<<20]))},
		{"runs", invoice.NoText, content("/Filter /RunLengthDecode", runs)},
		{"runs of runs", invoice.NoText, content("/Filter [/FlateDecode /RunLengthDecode]", flate(bytes.Repeat(runs, 8), 1))},
		{"zeros in five letters", invoice.NoText, content("/Filter /ASCII85Decode", bytes.Repeat([]byte("z"), 12<<20))},
		{"zeros as they are", invoice.NoText, content("", zeros[:12<<20])},
		{"eight filters of one stream each", invoice.NoText,
			content("/Filter ["+repeat("/ASCIIHexDecode ", 8)+"]", bytes.Repeat([]byte("30"), 1<<20))},
		{"nine filters", invoice.NoText, content("/Filter ["+repeat("/FlateDecode ", 9)+"]", flate([]byte("q"), 9))},
		{"half a million filters", invoice.NoText, content("/Filter ["+repeat("/Fl ", 500_000)+"]", []byte("x"))},
		{"a filter that is its own stream", invoice.NoText, content("/Filter 6 0 R", []byte("x"))},
		{"parameters that are their own stream", "", content("/Filter /FlateDecode /DecodeParms 6 0 R", flate([]byte(letter()), 1))},
		{"an unknown filter", invoice.NoText, content("/Filter /Explode", []byte("x"))},
		{"a filter of pictures for text", invoice.NoText, content("/Filter /JBIG2Decode", []byte("x"))},
		{"flate that is noise", invoice.NoText, content("/Filter /FlateDecode", bytes.Repeat([]byte{0x93, 0x55}, 5_000))},
		{"negative columns", "", content("/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns -1 >>", flate([]byte(letter()), 1))},
		{"huge rows of two bytes", "", with(predicted)},
		{"blanks a hundred times", invoice.TooMuchWork, with(objects{
			3:  "<< /Type /Page /Parent 2 0 R /Resources << >> /Contents [" + repeat("10 0 R ", 100) + "] >>",
			10: stream("/Filter /FlateDecode", flate(blanks, 1)),
		})},
		{"blanks as they are, 2,000 times", invoice.TooMuchWork, with(objects{
			3:  "<< /Type /Page /Parent 2 0 R /Resources << >> /Contents [" + repeat("10 0 R ", 2_000) + "] >>",
			10: stream("", blanks[:4<<20]),
		})},
	} {
		all = append(all, PDF{Name: c.name, Data: c.o.loose(""), Reason: c.reason})
	}
	return all
}

// objectStreamFile is a file with a stream 10 of objects, and a table that says which ones are in it.
func objectStreamFile(dict, body string, inside []int, more objects) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	rows := map[int][3]int{}
	o := with(more)
	o[10] = stream("/Type /ObjStm "+dict, []byte(body))
	for _, n := range inside {
		delete(o, n)
		rows[n] = [3]int{2, 10, 0}
	}
	for n, body := range o {
		rows[n] = [3]int{1, b.Len(), 0}
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	last := 11
	for n := range rows {
		last = max(last, n+1)
	}
	rows[last] = [3]int{1, b.Len(), 0}
	var table bytes.Buffer
	for n := range last + 1 {
		r := rows[n]
		table.Write([]byte{byte(r[0]), byte(r[1] >> 24), byte(r[1] >> 16), byte(r[1] >> 8), byte(r[1]), byte(r[2])})
	}
	start := b.Len()
	fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", last,
		stream(fmt.Sprintf("/Type /XRef /Size %d /W [1 4 1] /Root 1 0 R", last+1), table.Bytes()), start)
	return b.Bytes()
}

// objectStreams are streams of objects that hold themselves or lie about what they hold.
func objectStreams() []PDF {
	font := sample()[4]
	index := func(n int) string { return fmt.Sprintf("%d 0 ", n) }
	inside := func(dict, head, body string) []byte {
		return objectStreamFile(fmt.Sprintf("/First %d %s", len(head), dict), head+body, []int{4}, nil)
	}
	// Every object is a string that none closes: each reaches to the end.
	var numbers []int
	var heads, open bytes.Buffer
	for n := 20; n < 20_000; n++ {
		numbers = append(numbers, n)
		fmt.Fprintf(&heads, "%d %d ", n, open.Len())
		open.WriteString("(x ")
	}
	quadratic := objectStreamFile(fmt.Sprintf("/N %d /First %d", len(numbers), heads.Len()), heads.String()+open.String(), numbers,
		objects{2: "<< /Type /Pages /Kids [3 0 R " + each(20, 20_000, func(n int) string { return fmt.Sprintf("%d 0 R ", n) }) + "] >>"})
	chain := objects{}
	for n := 20; n < 20_000; n++ {
		chain[n] = stream(fmt.Sprintf("/Type /ObjStm /N 1 /First 4 /Extends %d 0 R", n+1), []byte("4 0 "+font))
	}
	extends := objectStreamFile("/N 1 /First 4 /Extends 20 0 R", "4 0 "+font, []int{4}, chain)
	return []PDF{
		{Name: "an object stream", Data: inside("/N 1", index(4), font)},
		{Name: "an object stream within itself", Data: objectStreamFile("/N 1 /First 5", "10 0 << /Type /ObjStm >>", []int{4, 10}, nil),
			Reason: invoice.NoText},
		{Name: "an object stream that extends itself", Data: inside("/N 1 /Extends 10 0 R", index(4), font)},
		{Name: "20,000 object streams that extend each other", Data: extends},
		{Name: "an object stream of 10^12 objects", Data: inside("/N 1000000000000", index(4), font), Reason: invoice.NoText},
		{Name: "an object stream of fewer than no objects", Data: inside("/N -1", index(4), font), Reason: invoice.NoText},
		{Name: "an object stream that begins beyond its end", Data: objectStreamFile("/N 1 /First 99999999", index(4)+font, []int{4}, nil),
			Reason: invoice.NoText},
		{Name: "objects beyond their stream", Data: inside("/N 2", "4 0 4 999999999999 ", font)},
		{Name: "an object stream whose length is in itself", Data: objectStreamFile("/N 1 /First 4 /Length 4 0 R", index(4)+font, []int{4}, nil)},
		{Name: "a hexadecimal string that none closes", Data: inside("/N 1", index(4), "<48"), Reason: invoice.NoText},
		{Name: "20,000 objects that end together", Data: quadratic, Reason: invoice.TooMuchWork},
		{Name: "an object stream that unpacks to 256 MiB",
			Data:   objectStreamFile("/N 1 /First 4 /Filter /FlateDecode", string(flate(make([]byte, 256<<20), 1)), []int{4}, nil),
			Reason: invoice.NoText},
	}
}

// encryption is by handlers that are unknown, that lie about their keys, or that need no password and hide nothing.
func encryption() []PDF {
	const o32, u48 = "/O (oooooooooooooooooooooooooooooooo)", "/U (uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu)"
	var all []PDF
	for _, c := range []struct {
		name, dict string
		reason     invoice.Reason
	}{
		{"nothing", "", invoice.Encrypted},
		{"an unknown handler", "/Filter /Adobe.PubSec /V 4", invoice.Encrypted},
		{"a handler that is itself", "/Filter 9 0 R", invoice.Encrypted},
		{"version 99", "/Filter /Standard /V 99 /R 99 " + o32 + u48, invoice.Encrypted},
		{"negative versions", "/Filter /Standard /V -1 /R -1 " + o32 + u48, invoice.Encrypted},
		{"a key of no length", "/Filter /Standard /V 2 /R 3 /Length 0 /P -4 " + o32 + u48, invoice.Encrypted},
		{"a key of negative length", "/Filter /Standard /V 2 /R 3 /Length -128 /P -4 " + o32 + u48, invoice.Encrypted},
		{"a key of 10^12 bits", "/Filter /Standard /V 2 /R 3 /Length 1000000000000 /P -4 " + o32 + u48, invoice.Encrypted},
		{"a key of 41 bits", "/Filter /Standard /V 2 /R 3 /Length 41 /P -4 " + o32 + u48, invoice.Encrypted},
		{"no owner", "/Filter /Standard /V 2 /R 3 /O () /U () /P -4", invoice.Encrypted},
		{"rights beyond all numbers", "/Filter /Standard /V 1 /R 2 /P 99999999999999999999 " + o32 + u48, invoice.Encrypted},
		{"filters in a circle", "/Filter /Standard /V 4 /R 4 /StmF /A /CF << /A 9 0 R >> " + o32 + u48, invoice.Encrypted},
		{"AES of 256 bits without keys", "/Filter /Standard /V 5 /R 6 /StmF /A /CF << /A << /CFM /AESV3 >> >> " + u48, invoice.Encrypted},
		{"AES of 256 bits with short keys", "/Filter /Standard /V 5 /R 6 /StmF /A /CF << /A << /CFM /AESV3 >> >> /UE (x) " + u48,
			invoice.Encrypted},
	} {
		o := with(objects{9: "<< " + c.dict + " >>"})
		all = append(all, PDF{Name: "encrypted by " + c.name, Data: o.loose("/Encrypt 9 0 R /ID [(x) (x)]"), Reason: c.reason})
	}
	return append(all,
		PDF{Name: "encrypted by a number", Data: sample().loose("/Encrypt 5"), Reason: invoice.Encrypted},
		PDF{Name: "encrypted by nobody", Data: sample().loose("/Encrypt 99 0 R"), Reason: invoice.Encrypted})
}
