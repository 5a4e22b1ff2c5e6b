// Package pdftest writes small PDFs for tests and samples: text at given
// places, pictures, an embedded e-invoice.
package pdftest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// Text is a line of Helvetica on a page; X and Y count in points from the
// page's upper left corner, Y to the baseline.
type Text struct {
	X, Y, Size float64
	Text       string
	Bold       bool
}

// Picture is an 8-bit gray picture. It fills the page, or is a square with its upper left corner at a place.
type Picture struct {
	Width, Height int
	Gray          []byte
	X, Y, Side    float64 // in points; without a side it fills the page
}

// Page is a page of A4.
type Page struct {
	Texts   []Text
	Picture *Picture
	Rotate  int
	// Drawing is content below the texts, in points from the page's lower left corner.
	Drawing string
}

// Attachment is an embedded file, associated with the document as an e-invoice
// is (PDF/A-3).
type Attachment struct {
	Name string
	Data []byte
	// Relationship is /AFRelationship; empty leaves it out.
	Relationship string
}

// Document is what a PDF holds.
type Document struct {
	Pages       []Page
	Attachments []Attachment
	// Metadata is the XMP packet; empty leaves it out.
	Metadata string
	// ToUnicode is what the fonts say that they show, a CMap; empty leaves it out.
	ToUnicode string
	// TrueType is the program of a further font, /F3, whose codes are the numbers of its glyphs; nil leaves it out.
	TrueType []byte
	// ObjectStreams packs objects and cross-references in streams (PDF 1.5).
	ObjectStreams bool
}

// A4 in points.
const (
	Width  = 595.0
	Height = 842.0
)

// writer numbers objects as they come.
type writer struct {
	objects [][]byte
}

func (w *writer) add(body string) int {
	w.objects = append(w.objects, []byte(body))
	return len(w.objects)
}

func (w *writer) reserve() int { return w.add("null") }

func (w *writer) set(number int, body string) { w.objects[number-1] = []byte(body) }

func (w *writer) stream(dict string, data []byte) int {
	packed := pack(data)
	return w.add(fmt.Sprintf("<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", dict, len(packed),
		packed))
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	// Writing to memory does not fail.
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// Bytes writes the PDF.
func (d Document) Bytes() []byte {
	w := &writer{}
	catalog, tree := w.reserve(), w.reserve()
	toUnicode := ""
	if d.ToUnicode != "" {
		toUnicode = fmt.Sprintf(" /ToUnicode %d 0 R", w.stream("", []byte(d.ToUnicode)))
	}
	regular := w.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding" + toUnicode + " >>")
	bold := w.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding" + toUnicode + " >>")
	fonts := fmt.Sprintf("/F1 %d 0 R /F2 %d 0 R", regular, bold)
	if d.TrueType != nil {
		fonts += fmt.Sprintf(" /F3 %d 0 R", w.trueType(d.TrueType, toUnicode))
	}
	var kids []string
	for _, p := range d.Pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", w.page(p, tree, fonts)))
	}
	w.set(tree, fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids)))
	extra := ""
	var names, files []string
	for _, a := range d.Attachments {
		file := w.stream("/Type /EmbeddedFile /Subtype /text#2Fxml", a.Data)
		relationship := ""
		if a.Relationship != "" {
			relationship = "/AFRelationship /" + a.Relationship
		}
		spec := w.add(fmt.Sprintf("<< /Type /Filespec /F (%s) /UF (%s) %s /EF << /F %d 0 R /UF %d 0 R >> >>", a.Name,
			a.Name, relationship, file, file))
		names = append(names, fmt.Sprintf("(%s) %d 0 R", a.Name, spec))
		files = append(files, fmt.Sprintf("%d 0 R", spec))
	}
	if len(names) > 0 {
		extra += fmt.Sprintf(" /Names << /EmbeddedFiles << /Names [%s] >> >> /AF [%s]", strings.Join(names, " "),
			strings.Join(files, " "))
	}
	if d.Metadata != "" {
		extra += fmt.Sprintf(" /Metadata %d 0 R", w.stream("/Type /Metadata /Subtype /XML", []byte(d.Metadata)))
	}
	w.set(catalog, fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R%s >>", tree, extra))
	if d.ObjectStreams {
		return w.packed(catalog)
	}
	return w.plain(catalog)
}

// trueType adds a composite font.
func (w *writer) trueType(program []byte, toUnicode string) int {
	file := w.stream(fmt.Sprintf("/Length1 %d", len(program)), program)
	descriptor := w.add(fmt.Sprintf("<< /Type /FontDescriptor /FontName /Program /Flags 32 /FontBBox [0 -200 1000 800]"+
		" /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 /FontFile2 %d 0 R >>", file))
	descendant := w.add(fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Program /CIDSystemInfo << /Registry (Adobe)"+
		" /Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /DW 560 /CIDToGIDMap /Identity >>", descriptor))
	return w.add(fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /Program /Encoding /Identity-H /DescendantFonts [%d 0 R]%s >>",
		descendant, toUnicode))
}

func (w *writer) page(p Page, tree int, fonts string) int {
	xobject := ""
	if p.Picture != nil {
		picture := w.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray"+
			" /BitsPerComponent 8", p.Picture.Width, p.Picture.Height), p.Picture.Gray)
		xobject = fmt.Sprintf("/XObject << /Im0 %d 0 R >>", picture)
	}
	body := w.stream("", p.Content())
	return w.add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %.0f %.0f] /Rotate %d /Resources <<"+
		" /Font << %s >> %s >> /Contents %d 0 R >>",
		tree, Width, Height, p.Rotate, fonts, xobject, body))
}

// Content is the page's content stream, with the fonts /F1 and /F2, which is bold, and the picture /Im0.
func (p Page) Content() []byte {
	var content bytes.Buffer
	if p.Picture != nil {
		width, height, x, y := Width, Height, 0.0, 0.0
		if side := p.Picture.Side; side > 0 {
			width, height, x, y = side, side, p.Picture.X, Height-p.Picture.Y-side
		}
		fmt.Fprintf(&content, "q %.2f 0 0 %.2f %.2f %.2f cm /Im0 Do Q\n", width, height, x, y)
	}
	if p.Drawing != "" {
		content.WriteString("q " + p.Drawing + " Q\n")
	}
	for _, t := range p.Texts {
		font := "F1"
		if t.Bold {
			font = "F2"
		}
		size := t.Size
		if size == 0 {
			size = 10
		}
		fmt.Fprintf(&content, "BT /%s %.2f Tf %.2f %.2f Td (%s) Tj ET\n", font, size, t.X, Height-t.Y, escape(t.Text))
	}
	return content.Bytes()
}

// escape writes text in WinAnsi; characters it lacks become question marks.
func escape(text string) string {
	var out strings.Builder
	for _, r := range text {
		b, ok := charmap.Windows1252.EncodeRune(r)
		switch {
		case !ok:
			out.WriteByte('?')
		case b == '(' || b == ')' || b == '\\':
			out.WriteByte('\\')
			out.WriteByte(b)
		case b < 32 || b > 126:
			fmt.Fprintf(&out, "\\%03o", b)
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}

const header = "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n"

func (w *writer) plain(catalog int) []byte {
	var out bytes.Buffer
	out.WriteString(header)
	offsets := make([]int, len(w.objects))
	for i, body := range w.objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(w.objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(w.objects)+1,
		catalog, start)
	return out.Bytes()
}

// packed puts all objects but streams into one object stream.
func (w *writer) packed(catalog int) []byte {
	var out, index, bodies bytes.Buffer
	out.WriteString(header)
	type place struct{ kind, second, third int }
	places := make([]place, len(w.objects)+3)
	container, n := len(w.objects)+1, 0
	for i, body := range w.objects {
		if bytes.Contains(body, []byte("\nstream\n")) {
			places[i+1] = place{1, out.Len(), 0}
			fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, body)
			continue
		}
		fmt.Fprintf(&index, "%d %d ", i+1, bodies.Len())
		places[i+1] = place{2, container, n}
		bodies.Write(body)
		bodies.WriteByte('\n')
		n++
	}
	places[container] = place{1, out.Len(), 0}
	data := pack(append(index.Bytes(), bodies.Bytes()...))
	fmt.Fprintf(&out, "%d 0 obj\n<< /Type /ObjStm /N %d /First %d /Filter /FlateDecode /Length %d >>\nstream\n%s\n"+
		"endstream\nendobj\n", container, n, index.Len(), len(data), data)
	start := out.Len()
	places[container+1] = place{1, start, 0}
	var table bytes.Buffer
	for _, p := range places[:container+2] {
		table.Write([]byte{byte(p.kind), byte(p.second >> 16), byte(p.second >> 8), byte(p.second),
			byte(p.third >> 8), byte(p.third)})
	}
	data = pack(table.Bytes())
	fmt.Fprintf(&out, "%d 0 obj\n<< /Type /XRef /Size %d /W [1 3 2] /Root %d 0 R /Filter /FlateDecode /Length %d >>\n"+
		"stream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", container+1, container+2, catalog, len(data), data, start)
	return out.Bytes()
}
