// Package message finds the PDFs and the e-invoices in a mail. Mails come from anybody's program: it takes what can be
// taken, recognizes files by their content alone, and bounds its work by Limits. Package go-message reads what is
// written by the rules; what it refuses is read leniently.
//
// Mails come from strangers, too: ReadSandboxed reads one where it can do no harm.
package message

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/einvoice"
	"tallyhouse/ingest/untrusted"
)

// Limits bound what is taken of one mail. The zero value of a field stands for its default.
type Limits struct {
	Parts int // of all kinds, in all depths; default 1000
	Depth int // multiparts and mails within each other; default 20
	Files int // PDFs and e-invoices; default 50
	// NoXML leaves out e-invoices that are XML alone.
	NoXML bool
	// Time bounds the reading of mails in a sandbox, those of one job together; default 10 s.
	Time time.Duration
	// Unpacked is how many bytes the zips of a mail may unpack to; default 64 MiB.
	Unpacked int
	// Of each header, of the mail and of its parts:
	HeaderBytes int // default 256 KiB
	Lines       int // default 10000
	Fields      int // default 2000
}

func (l Limits) withDefaults() Limits {
	if l.Parts == 0 {
		l.Parts = 1000
	}
	if l.Depth == 0 {
		l.Depth = 20
	}
	if l.Files == 0 {
		l.Files = 50
	}
	if l.Time == 0 {
		l.Time = 10 * time.Second
	}
	if l.Unpacked == 0 {
		l.Unpacked = 64 << 20
	}
	if l.HeaderBytes == 0 {
		l.HeaderBytes = 256 << 10
	}
	if l.Lines == 0 {
		l.Lines = 10_000
	}
	if l.Fields == 0 {
		l.Fields = 2000
	}
	return l
}

// Errors of Read, wrapped.
var (
	// ErrBroken: the mail has no header, or its structure cannot be followed and no file was found.
	ErrBroken = errors.New("the mail is broken")
	// ErrTooMany: more of something than Limits allow.
	ErrTooMany = errors.New("the mail is over the limits")
)

// File is one file of a mail that may be an invoice: a PDF, or an e-invoice that is XML alone.
type File struct {
	Name string // never empty, without directories
	Data []byte // may share memory with the mail
	XML  bool   // it is an e-invoice
}

// Mail is what a mail holds.
type Mail struct {
	MessageID string
	Files     []File
	// Missed says, for a person, why there is no file or what could not be followed.
	Missed string
}

// Read reads a mail. A structure that cannot be followed is an error only when no file was found.
func Read(raw []byte, limits Limits) (Mail, error) {
	w := walk{limits: limits.withDefaults()}
	h, body, err := w.header(withoutSeparator(raw))
	if err != nil {
		return Mail{}, fmt.Errorf("%w: %w", ErrTooMany, err)
	}
	if h.Empty() {
		return Mail{}, fmt.Errorf("%w: it has no header", ErrBroken)
	}
	if err := w.part(h, body, "text/plain", 0); err != nil {
		return Mail{}, err
	}
	m := Mail{MessageID: h.MessageID(), Files: w.files}
	switch {
	case len(w.files) == 0 && w.fault != "":
		return Mail{}, fmt.Errorf("%w: %s", ErrBroken, w.fault)
	case len(w.files) > 0:
		m.Missed = w.fault
	case w.claimed != "":
		m.Missed = w.claimed
	case limits.NoXML:
		m.Missed = fmt.Sprintf("none of its %d parts is a PDF", w.parts)
	default:
		m.Missed = fmt.Sprintf("none of its %d parts is a PDF or an e-invoice", w.parts)
	}
	return m, nil
}

// walk goes through the parts of a mail, outer before inner, in their order.
type walk struct {
	limits   Limits
	parts    int
	unpacked int // bytes, from zips
	inZip    bool
	zipName  string // of the zip that is open
	files    []File
	fault    string // the first thing that could not be followed
	claimed  string // the first part that calls itself an invoice and is none
}

func (w *walk) missed(format string, args ...any) {
	if w.fault == "" {
		w.fault = sentence(fmt.Sprintf(format, args...))
	}
}

// longestSentence bounds what is told about a mail, in characters: types and names are the mail's own.
const longestSentence = 500

// sentence is something told about a mail, for a person.
func sentence(s string) string { return untrusted.Cut(untrusted.Line(s), longestSentence) }

// header reads the header of a mail or a part, within the limits; an error says which it is over.
func (w *walk) header(raw []byte) (Header, []byte, error) {
	block, body := splitHeader(raw)
	if len(block) > w.limits.HeaderBytes {
		return Header{}, nil, fmt.Errorf("a header has more than %d bytes", w.limits.HeaderBytes)
	}
	if n := bytes.Count(block, []byte{'\n'}); n > w.limits.Lines {
		return Header{}, nil, fmt.Errorf("a header has more than %d lines", w.limits.Lines)
	}
	h := readHeader(block, w.limits.Fields+1)
	if len(h.fields) > w.limits.Fields {
		return Header{}, nil, fmt.Errorf("a header has more than %d fields", w.limits.Fields)
	}
	return h, body, nil
}

func (w *walk) part(h Header, body []byte, usual string, depth int) error {
	if w.parts++; w.parts > w.limits.Parts {
		return fmt.Errorf("%w: it has more than %d parts", ErrTooMany, w.limits.Parts)
	}
	if err := w.within(depth); err != nil {
		return err
	}
	kind, parameters := Structured(h.Get("Content-Type"))
	if !strings.Contains(kind, "/") {
		kind = usual
	}
	if strings.HasPrefix(kind, "multipart/") {
		if boundary := parameters["boundary"]; boundary != "" {
			return w.multipart(body, boundary, kind, depth)
		}
		w.missed("part %d is of type %s, but has no boundary", w.parts, kind)
	}
	data, known := decoded(h.Get("Content-Transfer-Encoding"), body)
	name := fileName(h, parameters)
	return w.leaf(kind, name, data, known, h, depth)
}

// within bounds how deep parts are nested, those of containers among them.
func (w *walk) within(depth int) error {
	if depth > w.limits.Depth {
		return fmt.Errorf("%w: its parts are nested more than %d deep", ErrTooMany, w.limits.Depth)
	}
	return nil
}

// leaf takes a part that has no parts of its own, or what it holds: a mail, or another container.
func (w *walk) leaf(kind, name string, data []byte, known bool, h Header, depth int) error {
	if isMail := kind == "message/rfc822" || kind == "message/global"; isMail || strings.HasSuffix(strings.ToLower(name), ".eml") {
		inner, body, err := w.header(withoutSeparator(data))
		switch {
		case err != nil: // any file may be called so
			w.missed("part %d (%s) should be a mail, but none is read: %s", w.parts, name, err)
		case !inner.Empty():
			return w.part(inner, body, "text/plain", depth+1)
		case isMail:
			w.missed("part %d should be a mail, but has no header", w.parts)
		}
	}
	switch c := containerOf(kind, name, data); c {
	case zipFile, tnef, signed:
		if err := w.within(depth + 1); err != nil {
			return err
		}
		return w.open(c, name, data, depth+1)
	case encrypted:
		w.missed("part %d is encrypted (S/MIME)", w.parts)
		return nil
	case packed:
		w.missed("part %d (%s) is a RAR or 7z archive, which is not opened: send its files as they are, or in a zip", w.parts, name)
		return nil
	case none:
	}
	taken, err := w.take(kind, name, data)
	if taken || err != nil {
		return err
	}
	if !known {
		w.missed("part %d is encoded as %q, which is not known", w.parts, shortened(h.Get("Content-Transfer-Encoding"), 40))
	}
	return nil
}

// take takes a file that is a PDF or an e-invoice.
func (w *walk) take(kind, name string, data []byte) (bool, error) {
	if isPDF(kind, data) {
		return true, w.found(name, ".pdf", data)
	}
	if !w.limits.NoXML && einvoice.Is(data) {
		return true, w.found(name, ".xml", data)
	}
	if w.claimed == "" && (kind == "application/pdf" || strings.HasSuffix(strings.ToLower(name), ".pdf")) {
		w.claimed = sentence(fmt.Sprintf("part %d (%s, named %q) calls itself a PDF, but is none", w.parts, kind, name))
	}
	return false, nil
}

// found keeps a file.
func (w *walk) found(name, extension string, data []byte) error {
	if len(w.files) == w.limits.Files {
		return fmt.Errorf("%w: it has more than %d PDFs and e-invoices", ErrTooMany, w.limits.Files)
	}
	if name == "" {
		name = fmt.Sprintf("attachment-%d%s", len(w.files)+1, extension)
	}
	w.files = append(w.files, File{name, data, extension == ".xml"})
	return nil
}

// multipart goes through the parts between the boundaries.
func (w *walk) multipart(body []byte, boundary, kind string, depth int) error {
	usual := "text/plain"
	if kind == "multipart/digest" {
		usual = "message/rfc822"
	}
	b := boundaries{delimiter: []byte("--" + boundary), rest: body}
	if !b.next() {
		w.missed("part %d is of type %s, but its boundary does not occur", w.parts, kind)
		return nil
	}
	for !b.closed {
		ended := b.next()
		if !ended {
			if len(bytes.TrimSpace(b.before)) == 0 {
				break
			}
			w.missed("part %d ends without its closing boundary: the mail may be cut off", w.parts)
		}
		h, inner, err := w.header(b.before)
		if err != nil { // it is left out, as one that isn't what it says: the others are read
			w.missed("the part behind part %d is not read: %s", w.parts, err)
			h, inner = Header{}, nil
		}
		if err := w.part(h, inner, usual, depth+1); err != nil {
			return err
		}
		if !ended {
			break
		}
	}
	return nil
}

// Ending is what the last bytes of a mail say of its end.
type Ending uint8

// The endings.
const (
	Ends      Ending = iota // it is whole
	LacksEnd                // it is visibly cut off: its multipart isn't closed, or it ends within a line
	MayLackIt               // it is no multipart, and ends with a line: one that is cut there can't be told from a shorter one
)

// EndingOf looks at a mail's end, and at no more than that: it isn't run in the sandbox.
func EndingOf(header, whole []byte) Ending {
	kind, parameters := Structured(ReadHeader(header).Get("Content-Type"))
	boundary := parameters["boundary"]
	switch {
	case strings.HasPrefix(kind, "multipart/") && boundary != "":
		if bytes.Contains(whole, []byte("\n--"+boundary+"--")) {
			return Ends
		}
		return LacksEnd
	case bytes.HasSuffix(whole, []byte{'\n'}):
		return MayLackIt
	}
	return LacksEnd
}

// boundaries finds the lines that separate the parts of a multipart.
type boundaries struct {
	delimiter []byte
	rest      []byte
	before    []byte // what stood before the boundary found last; all of it when there was none
	closed    bool   // the boundary found last was the closing one
}

func (b *boundaries) next() bool {
	for at := 0; at < len(b.rest); {
		line, after := b.rest[at:], len(b.rest)
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line, after = line[:end], at+end+1
		}
		if tail, found := bytes.CutPrefix(line, b.delimiter); found {
			tail, closing := bytes.CutPrefix(tail, []byte("--"))
			if len(bytes.TrimSpace(tail)) == 0 {
				before := bytes.TrimSuffix(b.rest[:at], []byte{'\n'})
				b.before = bytes.TrimSuffix(before, []byte{'\r'})
				b.rest, b.closed = b.rest[after:], closing
				return true
			}
		}
		at = after
	}
	b.before, b.rest = b.rest, nil
	return false
}

var pdfMark = []byte("%PDF-")

// markWithin is how many of the first bytes may hold the mark.
const markWithin = 1 << 10

// isPDF goes by content: the mark of a PDF within the first KiB. In a text it must stand at the beginning: people write
// about PDFs, too.
func isPDF(kind string, data []byte) bool {
	if strings.HasPrefix(kind, "text/") {
		return beginsAsPDF(data)
	}
	return bytes.Contains(data[:min(len(data), markWithin)], pdfMark)
}

func beginsAsPDF(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), markWithin)], "\xef\xbb\xbf \t\r\n"), pdfMark)
}

const longestName = 200 // characters

// fileName is the name of an attachment as a person reads it, "" when it has none.
func fileName(h Header, parameters map[string]string) string {
	_, disposition := Structured(h.Get("Content-Disposition"))
	for _, name := range []string{disposition["filename"], parameters["name"]} {
		if name = cleanName(name); name != "" {
			return name
		}
	}
	return ""
}

// cleanName takes directories and what can't be seen from a name; "" when nothing is left. A right-to-left mark could make
// an .exe look like a .pdf.
func cleanName(name string) string {
	name = strings.TrimSpace(path.Base("/" + strings.ReplaceAll(untrusted.Line(name), `\`, "/")))
	if name == "/" || name == "." || name == ".." {
		return ""
	}
	return shortened(name, longestName)
}

// shortened keeps the end of a name, where its type stands.
func shortened(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	const end = 10
	return string(r[:most-end-1]) + "…" + string(r[len(r)-end:])
}
