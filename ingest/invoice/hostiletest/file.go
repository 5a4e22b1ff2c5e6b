package hostiletest

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// objects are the objects of a file by their numbers. Those of an invoice are 1 to 6: catalog, tree of pages, page, its
// two fonts and its content.
type objects map[int]string

// sample is the sample invoice.
func sample() objects { return with(nil) }

// with is the sample invoice with some objects changed or added.
func with(changes objects) objects {
	out := objects{
		1: "<< /Type /Catalog /Pages 2 0 R >>",
		2: "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		3: page(""),
		4: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		5: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
		6: stream("", []byte(letter())),
	}
	maps.Copy(out, changes)
	return out
}

// letter is the content of the sample's page.
func letter() string { return string(pdftest.Sample().Page().Content()) }

// page is the invoice's page with further resources.
func page(resources string) string {
	return "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 6 0 R /Resources << " +
		"/Font << /F1 4 0 R /F2 5 0 R >> " + resources + " >> >>"
}

// shown are the invoice's objects with content before its own.
func shown(content, resources string, more objects) objects {
	out := with(objects{3: page(resources), 6: stream("", []byte(content+"\n"+letter()))})
	maps.Copy(out, more)
	return out
}

// stream is an object with bytes.
func stream(dict string, data []byte) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
}

// file writes the objects with a table of theirs.
func (o objects) file() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	table := map[int]int{}
	for _, n := range slices.Sorted(maps.Keys(o)) {
		table[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, o[n])
	}
	start := b.Len()
	b.WriteString("xref\n0 1\n0000000000 65535 f \n")
	for _, n := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(&b, "%d 1\n%010d 00000 n \n", n, table[n])
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", slices.Max(slices.Collect(maps.Keys(o)))+1, start)
	return b.Bytes()
}

// loose writes the objects without a table, which the reader must rebuild; trailer holds entries of the trailer.
func (o objects) loose(trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for _, n := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, o[n])
	}
	fmt.Fprintf(&b, "trailer\n<< /Root 1 0 R %s >>\nstartxref\n0\n%%%%EOF\n", trailer)
	return b.Bytes()
}

// flate packs data; from a reader's view, times times over.
func flate(data []byte, times int) []byte {
	for range times {
		var b bytes.Buffer
		z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
		if err != nil {
			return nil
		}
		// Writing to memory does not fail.
		_, _ = z.Write(data)
		_ = z.Close()
		data = b.Bytes()
	}
	return data
}

// packLZW packs data as TIFF and PDF do with /EarlyChange 0.
func packLZW(data []byte) []byte {
	var b bytes.Buffer
	w := lzw.NewWriter(&b, lzw.MSB, 8)
	// Writing to memory does not fail.
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// each joins what write says of the numbers from a to b-1.
func each(a, b int, write func(n int) string) string {
	var out strings.Builder
	for n := a; n < b; n++ {
		out.WriteString(write(n))
	}
	return out.String()
}
