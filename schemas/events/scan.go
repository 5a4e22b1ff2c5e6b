package events

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder walks over the text of one message. It keeps the first failure, and every reading function then returns at
// once; what encloses the failing value adds its name on the way out, so that paths cost nothing while all is well.
type decoder struct {
	text  string // the whole message; decoded strings are parts of it
	at    int    // the next byte
	topic Topic
	err   *Invalid

	// What follows is a Reader's alone.
	again  bool    // its memory is used again for the next message
	spares []spare // that memory, one for each type

	asWritten     bool   // so far the text of the data is the very one that Append would write
	data          string // that text
	dataAsWritten bool   // all of it is
}

// fail refuses the value being read.
func (d *decoder) fail(rule string, args ...any) { d.failAt("", rule, args...) }

// failAt refuses a member below the value being read.
func (d *decoder) failAt(member, rule string, args ...any) {
	if d.err == nil {
		d.err = &Invalid{Member: member, Rule: fmt.Sprintf(rule, args...)}
	}
}

// notJSON refuses a message that breaks the grammar.
func (d *decoder) notJSON(wanted string) {
	if d.at >= len(d.text) {
		d.fail("is not complete JSON: the text ends after %d bytes, expected %s", len(d.text), wanted)
		return
	}
	r, _ := utf8.DecodeRuneInString(d.text[d.at:])
	d.fail("is not JSON: byte %d is %q, expected %s", d.at, r, wanted)
}

// next is the byte at hand, 0 at the end.
func (d *decoder) next() byte {
	if d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}

// space steps over white space.
func (d *decoder) space() {
	if d.at < len(d.text) && d.text[d.at] > ' ' {
		return
	}
	d.longSpace()
}

func (d *decoder) longSpace() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
			d.asWritten = false
		default:
			return
		}
	}
}

// more reports whether another element of an object or array follows, and steps over what separates it.
func (d *decoder) more(closing byte, first bool) bool {
	if d.err != nil {
		return false
	}
	d.space()
	switch c := d.next(); {
	case c == closing:
		d.at++
		return false
	case first:
		return true
	case c == ',':
		d.at++
		d.space()
		return true
	}
	d.notJSON(fmt.Sprintf("a comma or %q", closing))
	return false
}

// member reads the name of an object's member and stops at its value.
func (d *decoder) member() (name string) {
	if d.next() != '"' {
		d.notJSON("the name of a member")
		return ""
	}
	name = d.characters()
	d.space()
	if d.err == nil && d.next() != ':' {
		d.notJSON("a colon")
		return ""
	}
	d.at++
	d.space()
	return name
}

// literal steps over null, true or false.
func (d *decoder) literal(word string) bool {
	if !strings.HasPrefix(d.text[d.at:], word) {
		d.notJSON(word)
		return false
	}
	d.at += len(word)
	return true
}

// wrongType refuses a value of another JSON type.
func (d *decoder) wrongType(want string) {
	switch c := d.next(); {
	case c == '{':
		d.fail("must be %s, not an object", want)
	case c == '[':
		d.fail("must be %s, not an array", want)
	case c == '"':
		d.fail("must be %s, not the string %s", want, quoted(d.characters()))
	case c == '-' || c >= '0' && c <= '9':
		d.fail("must be %s, not the number %s", want, clip(d.number()))
	case c == 't' && d.literal("true"), c == 'f' && d.literal("false"), c == 'n' && d.literal("null"):
		word := map[byte]string{'t': "true", 'f': "false", 'n': "null"}[c]
		d.fail("must be %s, not %s", want, word)
	default:
		d.notJSON("a value")
	}
}

// ordinary marks the bytes of a JSON string that neither end it nor are escaped.
var ordinary = ordinaryBytes()

func ordinaryBytes() (marks [256]bool) {
	for c := range marks {
		marks[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return marks
}

// str reads a string.
func (d *decoder) str() string {
	if d.next() != '"' {
		d.wrongType("a string")
		return ""
	}
	return d.characters()
}

// characters reads a string from its opening quote on. It is a part of the message unless something in it is escaped.
func (d *decoder) characters() string {
	begin := d.at + 1
	text := d.text
	for i := begin; i < len(text); i++ {
		if ordinary[text[i]] {
			continue
		}
		switch text[i] {
		case '"':
			d.at = i + 1
			return text[begin:i]
		case '\\':
			return d.unescaped(begin, i)
		}
		d.at = i
		d.notJSON("an escaped control character")
		return ""
	}
	d.at = len(text)
	d.notJSON("the closing quote of a string")
	return ""
}

// unescaped reads the rest of a string that began at begin and has its first backslash at i.
func (d *decoder) unescaped(begin, i int) string {
	d.asWritten = false
	var out strings.Builder
	out.Grow(i - begin + 32)
	out.WriteString(d.text[begin:i])
	for i < len(d.text) {
		c := d.text[i]
		switch {
		case c == '"':
			d.at = i + 1
			return out.String()
		case c < ' ':
			d.at = i
			d.notJSON("an escaped control character")
			return ""
		case c != '\\':
			out.WriteByte(c)
			i++
			continue
		}
		d.at = i
		if i+1 >= len(d.text) {
			break
		}
		i += 2
		switch e := d.text[i-1]; e {
		case '"', '\\', '/':
			out.WriteByte(e)
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		case 'u':
			r, n := escapedRune(d.text[i:])
			if n == 0 {
				d.notJSON("an escape of four hexadecimal digits that is a character")
				return ""
			}
			out.WriteRune(r)
			i += n
		default:
			d.notJSON("a known escape")
			return ""
		}
	}
	d.at = len(d.text)
	d.notJSON("the closing quote of a string")
	return ""
}

// escapedRune reads what follows \u: one escape, or the two of a surrogate pair. n is 0 for half a pair, which is not a
// character.
func escapedRune(s string) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 4
	}
	if len(s) < 6 || s[4] != '\\' || s[5] != 'u' {
		return 0, 0
	}
	low, ok := hex4(s[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 10
}

func hex4(s string) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for i := range 4 {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// number reads the text of a number by JSON's grammar; the caller has seen a digit or a minus.
func (d *decoder) number() string {
	begin := d.at
	if d.next() == '-' {
		d.at++
	}
	whole := d.digits()
	if whole > 1 && d.text[d.at-whole] == '0' {
		d.at -= whole - 1
		d.notJSON("a number without leading zeros")
	}
	if d.err == nil && d.next() == '.' {
		d.at++
		d.digits()
	}
	if c := d.next(); d.err == nil && (c == 'e' || c == 'E') {
		d.at++
		if c := d.next(); c == '+' || c == '-' {
			d.at++
		}
		d.digits()
	}
	return d.text[begin:d.at]
}

// digits steps over at least one digit and returns how many there are.
func (d *decoder) digits() (n int) {
	for c := d.next(); c >= '0' && c <= '9'; c = d.next() {
		d.at++
		n++
	}
	if n == 0 && d.err == nil {
		d.notJSON("a digit")
	}
	return n
}

const deepest = 64 // levels of objects and arrays under ext

// skip steps over any JSON value.
func (d *decoder) skip(depth int) {
	if depth > deepest {
		d.fail("is nested deeper than %d levels", deepest)
		return
	}
	switch c := d.next(); {
	case c == '{':
		d.at++
		for first := true; d.more('}', first); first = false {
			if d.member(); d.err == nil {
				d.skip(depth + 1)
			}
		}
	case c == '[':
		d.at++
		for first := true; d.more(']', first); first = false {
			d.skip(depth + 1)
		}
	case c == '"':
		d.characters()
	case c == '-' || c >= '0' && c <= '9':
		d.number()
	case c == 't':
		d.literal("true")
	case c == 'f':
		d.literal("false")
	case c == 'n':
		d.literal("null")
	default:
		d.notJSON("a value")
	}
}
