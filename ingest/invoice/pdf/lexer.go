package pdf

import (
	"errors"
	"io"
	"strconv"
)

// maxDepth bounds nested arrays and dictionaries; real files stay below 20.
const maxDepth = 96

// maxItems bounds the items of all arrays and dictionaries that one lexer reads,
// so that a file cannot grow much beyond its bytes in memory.
const maxItems = 2 << 20

// dictItems is what a dictionary takes in memory besides its entries, in items.
const dictItems = 8

// ErrSyntax is returned for bytes that are no PDF object.
var ErrSyntax = errors.New("bytes are no pdf object")

// Lexer reads objects from bytes: a file's body or a content stream.
type Lexer struct {
	data []byte
	pos  int
	// refs says whether "1 0 R" is a reference (file) or three operands (content).
	refs  bool
	depth int
	items int // read so far, an object stands for several
}

// NewLexer reads a content stream: no references, keywords are operators.
func NewLexer(content []byte) *Lexer { return &Lexer{data: content} }

// Offset is where the lexer stands in its bytes.
func (l *Lexer) Offset() int { return l.pos }

// Next returns the next object or keyword; io.EOF at the end.
func (l *Lexer) Next() (Object, error) {
	l.skipSpace()
	if l.pos >= len(l.data) {
		return nil, io.EOF
	}
	switch c := l.data[l.pos]; c {
	case '/':
		l.pos++
		return l.name(), nil
	case '(':
		l.pos++
		return l.literal(), nil
	case '<':
		if l.peek(1) == '<' {
			l.pos += 2
			return l.dict()
		}
		l.pos++
		return l.hex(), nil
	case '[':
		l.pos++
		return l.array()
	case '>':
		if l.peek(1) == '>' {
			l.pos += 2
			return Keyword(">>"), nil
		}
		l.pos++
		return Keyword(">"), nil
	case ']', '{', '}', ')':
		l.pos++
		return Keyword(string(c)), nil
	}
	return l.word(), nil
}

func (l *Lexer) peek(n int) byte {
	if l.pos+n < len(l.data) {
		return l.data[l.pos+n]
	}
	return 0
}

func (l *Lexer) skipSpace() {
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		if c == '%' {
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
			continue
		}
		if !isSpace(c) {
			return
		}
		l.pos++
	}
}

func (l *Lexer) word() Object {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	w := l.data[start:l.pos]
	if n, ok := number(w); ok {
		if i, isInt := n.(int64); l.refs && isInt && i >= 0 && i <= 1<<31 {
			if ref, ok := l.reference(i); ok {
				return ref
			}
		}
		return n
	}
	switch string(w) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return Keyword(w)
}

// reference looks ahead for "generation R" behind an object number.
func (l *Lexer) reference(number int64) (Ref, bool) {
	p, gen, digits := l.pos, 0, 0
	for p < len(l.data) && isSpace(l.data[p]) {
		p++
	}
	for p < len(l.data) && l.data[p] >= '0' && l.data[p] <= '9' && digits < 5 {
		gen = gen*10 + int(l.data[p]-'0')
		p, digits = p+1, digits+1
	}
	if digits == 0 || gen > 65535 {
		return Ref{}, false
	}
	spaces := 0
	for p < len(l.data) && isSpace(l.data[p]) {
		p, spaces = p+1, spaces+1
	}
	if spaces == 0 || p >= len(l.data) || l.data[p] != 'R' {
		return Ref{}, false
	}
	if p+1 < len(l.data) && !isSpace(l.data[p+1]) && !isDelimiter(l.data[p+1]) {
		return Ref{}, false
	}
	l.pos = p + 1
	return Ref{Number: uint32(number), Generation: uint16(gen)}, true
}

// number is lenient as readers are: "--5", "5-3" and "+.5" occur in the wild.
func number(w []byte) (Object, bool) {
	if len(w) == 0 || len(w) > 64 {
		return nil, false
	}
	digits, dot, negative, i := 0, false, false, 0
	for i < len(w) && (w[i] == '+' || w[i] == '-') {
		negative = negative || w[i] == '-'
		i++
	}
	var whole int64
	scale, overflow := 1.0, false
	for ; i < len(w); i++ {
		switch c := w[i]; {
		case c >= '0' && c <= '9':
			digits++
			if whole > (1<<62)/10 {
				overflow = overflow || !dot
				continue // a fraction's further digits
			}
			whole = whole*10 + int64(c-'0')
			if dot {
				scale *= 10
			}
		case c == '.' && !dot:
			dot = true
		case c == '-' && digits > 0:
			i = len(w)
		default:
			return nil, false
		}
	}
	if digits == 0 && !dot {
		return nil, false
	}
	if overflow {
		f, err := strconv.ParseFloat(string(w), 64)
		return f, err == nil
	}
	if dot {
		f := float64(whole) / scale
		if negative {
			f = -f
		}
		return f, true
	}
	if negative {
		whole = -whole
	}
	return whole, true
}

func (l *Lexer) enter() error {
	if l.depth++; l.depth > maxDepth {
		return ErrSyntax
	}
	return nil
}

func (l *Lexer) array() (Object, error) {
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer func() { l.depth-- }()
	out := Array{}
	for {
		o, err := l.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if k, ok := o.(Keyword); ok {
			if k == "]" {
				return out, nil
			}
			if k == "endobj" || k == ">>" {
				return nil, ErrSyntax
			}
			continue
		}
		if l.items++; l.items > maxItems {
			return nil, ErrSyntax
		}
		out = append(out, o)
	}
}

func (l *Lexer) dict() (Object, error) {
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer func() { l.depth-- }()
	l.items += dictItems
	out := Dict{}
	for {
		key, err := l.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		name, ok := key.(Name)
		if !ok {
			if k, isWord := key.(Keyword); isWord && (k == ">>" || k == "endobj" || k == "stream") {
				return out, nil
			}
			continue
		}
		before := l.pos
		value, err := l.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if k, isWord := value.(Keyword); isWord {
			if k == ">>" {
				l.pos = before
			}
			continue
		}
		if l.items++; l.items > maxItems {
			return nil, ErrSyntax
		}
		out[name] = value
	}
}

// SkipInlineImage moves behind the EI that ends an inline image, whose
// dictionary and ID have been read.
func (l *Lexer) SkipInlineImage() {
	for p := l.pos; p+2 < len(l.data); p++ {
		if !isSpace(l.data[p]) || l.data[p+1] != 'E' || l.data[p+2] != 'I' {
			continue
		}
		if p+3 == len(l.data) || isSpace(l.data[p+3]) && plausibleAfterImage(l.data[p+3:]) {
			l.pos = p + 3
			return
		}
	}
	l.pos = len(l.data)
}

// plausibleAfterImage says whether printable content follows, so that an "EI"
// within the image's bytes is not taken for its end.
func plausibleAfterImage(b []byte) bool {
	for _, c := range b[:min(len(b), 12)] {
		if c > 126 || c < 32 && !isSpace(c) {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}
