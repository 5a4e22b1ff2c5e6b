// Package einvoice reads the XML of electronic invoices, embedded in PDF/A-3 files
// or alone: CII (ZUGFeRD 2, Factur-X, XRechnung), ZUGFeRD 1 and UBL Invoice
// and CreditNote. Values are exact; what contradicts itself is refused.
package einvoice

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Errors of Read, wrapped.
var (
	// ErrNoInvoice: the XML is well-formed but no invoice that is known here.
	ErrNoInvoice = errors.New("xml is no known invoice")
	// ErrFaulty: the XML is an invoice and broken, contradictory or incomplete.
	ErrFaulty = errors.New("e-invoice is faulty")
)

// Bounds of one XML document.
const (
	maxDepth    = 64
	maxElements = 400_000
	maxText     = 64 << 10
	// maxAttributes bounds the attributes of an element, counted by equals signs between two tokens.
	maxAttributes = 10_000
)

// node is an element with local names only; namespaces differ between versions
// that mean the same.
type node struct {
	name     string
	space    string
	text     []byte
	attrs    []xml.Attr
	children []*node
}

// Is reports whether the root element is that of an invoice that Read knows.
func Is(data []byte) bool {
	d := decoder(data)
	for range 64 {
		tok, err := d.next()
		if err != nil {
			return false
		}
		if start, ok := tok.(xml.StartElement); ok {
			switch start.Name.Local {
			case "CrossIndustryInvoice", "CrossIndustryDocument", "Invoice", "CreditNote":
				return true
			}
			return false
		}
	}
	return false
}

// source gives a document to its decoder, which holds the attributes of an element all at once.
type source struct {
	data   *bytes.Reader
	equals int // signs since the last token
}

func (s *source) ReadByte() (byte, error) {
	c, err := s.data.ReadByte()
	if err == nil && c == '=' {
		if s.equals++; s.equals > maxAttributes {
			return 0, errAttributes
		}
	}
	return c, err
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.data.Read(p)
	if s.equals += bytes.Count(p[:n], []byte("=")); s.equals > maxAttributes {
		return 0, errAttributes
	}
	return n, err
}

var errAttributes = fmt.Errorf("an element has more than %d attributes", maxAttributes)

// document is a decoder with bounded tokens.
type document struct {
	*xml.Decoder
	source *source
}

// next returns the next token.
func (d document) next() (xml.Token, error) {
	d.source.equals = 0
	return d.Token()
}

func decoder(data []byte) document {
	s := &source{data: bytes.NewReader(data)}
	d := xml.NewDecoder(s)
	d.Strict = true
	d.Entity = map[string]string{}
	d.CharsetReader = func(charset string, r io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "utf-8", "us-ascii", "ascii":
			return r, nil
		case "iso-8859-1", "latin1", "windows-1252", "iso-8859-15":
			return &latin1{r: r}, nil
		}
		return nil, fmt.Errorf("unknown charset %q", charset)
	}
	return document{d, s}
}

// latin1 turns single bytes into UTF-8. Invoices use it for letters alone, where
// its variants agree, except the euro sign, which no field here holds.
type latin1 struct {
	r    io.Reader
	left []byte
}

func (l *latin1) Read(p []byte) (int, error) {
	if len(l.left) == 0 {
		var buf [512]byte
		n, err := l.r.Read(buf[:])
		for _, c := range buf[:n] {
			l.left = utf8.AppendRune(l.left, rune(c))
		}
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

// parse reads the whole document; DTDs are refused, so entities cannot grow.
func parse(data []byte) (*node, error) {
	if declared := declaredCharset(data); (declared == "" || declared == "utf-8") && !utf8.Valid(data) {
		return nil, fmt.Errorf("bytes are not in the declared encoding: %w", ErrFaulty)
	} else if declared != "" && declared != "utf-8" && looksUTF8(data) {
		return nil, fmt.Errorf("declared encoding %s, bytes in utf-8: %w", declared, ErrFaulty)
	}
	d := decoder(data)
	var root *node
	var stack []*node
	elements := 0
	for {
		tok, err := d.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFaulty, err)
		}
		switch t := tok.(type) {
		case xml.Directive:
			return nil, fmt.Errorf("document type declaration is not allowed: %w", ErrFaulty)
		case xml.StartElement:
			if elements++; elements > maxElements || len(stack) >= maxDepth {
				return nil, fmt.Errorf("too many or too deep elements: %w", ErrFaulty)
			}
			n := &node{name: t.Name.Local, space: t.Name.Space, attrs: t.Attr}
			if len(stack) == 0 {
				if root != nil {
					return nil, fmt.Errorf("two root elements: %w", ErrFaulty)
				}
				root = n
			} else {
				parent := stack[len(stack)-1]
				parent.children = append(parent.children, n)
			}
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) > 0 {
				n := stack[len(stack)-1]
				if len(n.text)+len(t) <= maxText {
					n.text = append(n.text, t...)
				}
			}
		}
	}
	if root == nil || len(stack) > 0 {
		return nil, fmt.Errorf("document ends early: %w", ErrFaulty)
	}
	return root, nil
}

func declaredCharset(data []byte) string {
	head := strings.ToLower(string(data[:min(len(data), 200)]))
	_, rest, ok := strings.Cut(head, "encoding=")
	if !ok || len(rest) < 2 {
		return ""
	}
	value, _, _ := strings.Cut(rest[1:], string(rest[0]))
	return value
}

// looksUTF8 reports whether bytes beyond ASCII form UTF-8 throughout.
func looksUTF8(data []byte) bool {
	beyond := false
	for _, c := range data {
		if c >= 0x80 {
			beyond = true
			break
		}
	}
	return beyond && utf8.Valid(data)
}

// at follows a path of local names to the first match; nil when there is none.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		var next *node
		for _, c := range n.children {
			if c.name == name {
				next = c
				break
			}
		}
		n = next
	}
	return n
}

// all returns the children of a name.
func (n *node) all(name string) []*node {
	var out []*node
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.name == name {
			out = append(out, c)
		}
	}
	return out
}

func (n *node) value() string {
	if n == nil {
		return ""
	}
	return strings.Join(strings.Fields(string(n.text)), " ")
}

func (n *node) attr(name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
