// Package einvoice reads the XML of electronic invoices, embedded in PDF/A-3 files
// or alone: CII (ZUGFeRD 2, Factur-X, XRechnung), ZUGFeRD 1, UBL Invoice and
// CreditNote, and ebInterface. Values are exact; what contradicts itself is refused.
package einvoice

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
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

// node is an element. Names are looked up without their namespaces, which differ between versions that mean the same.
type node struct {
	name     xml.Name
	text     []byte
	attrs    []xml.Attr
	children []*node
}

// format is the syntax that a root element begins, "" when it is none of an e-invoice. Names that only e-invoices have
// are enough; a root that is just called Invoice is many formats', so its namespace must say which.
func format(root xml.Name) Format {
	switch root.Local {
	case "CrossIndustryInvoice":
		return CII
	case "CrossIndustryDocument":
		return ZUGFeRD
	case "Invoice", "CreditNote":
		switch {
		case strings.HasPrefix(root.Space, "urn:oasis:names:specification:ubl:schema:xsd:"):
			return UBL
		case strings.HasPrefix(root.Space, "http://www.ebinterface.at/schema/") && root.Local == "Invoice":
			return EbInterface
		}
	}
	return ""
}

// Is reports whether data is XML whose root element is that of an e-invoice that Read knows.
func Is(data []byte) bool {
	const mostTokens = 64 // comments and the like before the root
	if !beginsAsXML(data) {
		return false
	}
	d := decoder(data)
	for range mostTokens {
		tok, err := d.next()
		if err != nil {
			return false
		}
		if root, ok := tok.(xml.StartElement); ok {
			return format(root.Name) != ""
		}
	}
	return false
}

// source gives a document to its decoder, which holds the attributes of an element all at once.
type source struct {
	data   *bufio.Reader
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
	s := &source{data: characters(data)}
	d := xml.NewDecoder(s)
	d.Strict = true
	d.Entity = map[string]string{}
	d.CharsetReader = declared(data)
	return document{d, s}
}

// parse reads the whole document; DTDs are refused, so entities cannot grow.
func parse(data []byte) (*node, error) {
	if err := checkEncoding(data); err != nil {
		return nil, err
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
			n := &node{name: t.Name, attrs: t.Attr}
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

// at follows a path of local names to the first match; nil when there is none.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		var next *node
		for _, c := range n.children {
			if c.name.Local == name {
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
		if c.name.Local == name {
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
