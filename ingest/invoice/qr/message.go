package qr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// reader takes bits off bytes.
type reader struct {
	data []byte
	at   int
}

func (r *reader) left() int { return len(r.data)*8 - r.at }

// take reads n bits; false when there are no more.
func (r *reader) take(n int) (int, bool) {
	if r.left() < n {
		return 0, false
	}
	v := 0
	for range n {
		v = v<<1 | int(r.data[r.at/8]>>(7-r.at%8)&1)
		r.at++
	}
	return v, true
}

// Modes of the parts of a message.
const (
	modeEnd          = 0
	modeNumeric      = 1
	modeAlphanumeric = 2
	modeBytes        = 4
	modeCharset      = 7 // "extended channel interpretation"
)

// latin2 is the interpretation that Slovenian payment orders declare.
const latin2 = 4

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"

// message reads the parts of a message, one after the other.
func message(data []byte, version int) (string, error) {
	r := &reader{data: data}
	var out strings.Builder
	charset := 0
	for r.left() >= 4 {
		mode, _ := r.take(4)
		part, err := "", error(nil)
		switch mode {
		case modeEnd:
			return out.String(), nil
		case modeNumeric:
			part, err = r.digits(version)
		case modeAlphanumeric:
			part, err = r.letters(version)
		case modeBytes:
			part, err = r.text(version, charset)
		case modeCharset:
			var known bool
			if charset, known = r.take(8); !known || charset > 127 {
				err = errUnreadable
			}
		default:
			err = fmt.Errorf("mode %d: %w", mode, errUnreadable)
		}
		if err != nil {
			return "", err
		}
		out.WriteString(part)
	}
	return out.String(), nil
}

// count reads how long a part is; its width grows with the version.
func (r *reader) count(version, small, large int) (int, error) {
	width := small
	if version >= 10 {
		width = large
	}
	n, ok := r.take(width)
	if !ok {
		return 0, errUnreadable
	}
	return n, nil
}

func (r *reader) digits(version int) (string, error) {
	n, err := r.count(version, 10, 12)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for n > 0 {
		k := min(n, 3)
		v, ok := r.take([]int{0, 4, 7, 10}[k])
		digits := fmt.Sprintf("%0*d", k, v)
		if !ok || len(digits) > k {
			return "", errUnreadable
		}
		out.WriteString(digits)
		n -= k
	}
	return out.String(), nil
}

func (r *reader) letters(version int) (string, error) {
	n, err := r.count(version, 9, 11)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for n > 0 {
		k := min(n, 2)
		v, ok := r.take([]int{0, 6, 11}[k])
		if !ok || k == 1 && v >= 45 || v >= 45*45 {
			return "", errUnreadable
		}
		if k == 2 {
			out.WriteByte(alphanumeric[v/45])
		}
		out.WriteByte(alphanumeric[v%45])
		n -= k
	}
	return out.String(), nil
}

// text reads bytes: in the declared set of characters, else UTF-8, else Latin 1.
func (r *reader) text(version, charset int) (string, error) {
	n, err := r.count(version, 8, 16)
	if err != nil {
		return "", err
	}
	if r.left() < n*8 {
		return "", errUnreadable
	}
	raw := make([]byte, n)
	for i := range raw {
		v, _ := r.take(8)
		raw[i] = byte(v)
	}
	set := charmap.ISO8859_1
	switch {
	case charset == latin2:
		set = charmap.ISO8859_2
	case utf8.Valid(raw):
		return string(raw), nil
	}
	var out strings.Builder
	for _, b := range raw {
		out.WriteRune(set.DecodeByte(b))
	}
	return out.String(), nil
}
