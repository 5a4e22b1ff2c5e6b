package message

import (
	"bytes"
	"io"
	"mime"
	"net/mail"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/text/encoding/charmap"
)

// Header is the header of a mail or of one of its parts, as written: unfolded, not decoded.
type Header struct {
	fields []field
}

type field struct{ name, value string }

// ReadHeader reads the header at the beginning of raw, which may be cut off in it, and gives what stands behind the blank line. It takes what
// can be taken: a line that is no field is passed over.
func ReadHeader(raw []byte) (h Header, body []byte) {
	rest := raw
	for first := true; len(rest) > 0; first = false {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		switch {
		case len(line) == 0:
			return h, rest
		case line[0] == ' ' || line[0] == '\t':
			if n := len(h.fields); n > 0 {
				h.fields[n-1].value += " " + strings.TrimSpace(string(line))
			}
		case first && (bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(">From "))):
			// the separator of mailbox files, which some programs leave in
		default:
			name, value, found := bytes.Cut(line, []byte{':'})
			name = bytes.TrimRight(name, " \t")
			if found && len(name) > 0 && !bytes.ContainsAny(name, " \t") {
				h.fields = append(h.fields, field{strings.ToLower(string(name)), strings.TrimSpace(string(value))})
			}
		}
	}
	return h, nil
}

// Empty tells whether there is no field at all.
func (h Header) Empty() bool { return len(h.fields) == 0 }

// All gives the values of every field of a name, in their order.
func (h Header) All(name string) []string {
	var all []string
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			all = append(all, f.value)
		}
	}
	return all
}

// Get gives the first value of a name, "" when there is none.
func (h Header) Get(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// Text is the first value of a name as a person reads it.
func (h Header) Text(name string) string { return text(h.Get(name)) }

// MessageID is the mail's identifier without its brackets, "" when there is none.
func (h Header) MessageID() string {
	id := h.Get("Message-ID")
	if _, after, ok := strings.Cut(id, "<"); ok {
		id, _, _ = strings.Cut(after, ">")
	}
	return strings.TrimSpace(id)
}

// Addresses gives the mail addresses in all fields of a name.
func (h Header) Addresses(name string) []string {
	var all []string
	parser := mail.AddressParser{WordDecoder: words()}
	for _, value := range h.All(name) {
		list, err := parser.ParseList(value)
		if err != nil { // not as the RFC wants it: whatever looks like an address
			all = append(all, addressLike.FindAllString(value, -1)...)
			continue
		}
		for _, a := range list {
			all = append(all, a.Address)
		}
	}
	return all
}

var addressLike = regexp.MustCompile(`[^\s<>()\[\]",;:\\]+@[^\s<>()\[\]",;:\\@]+`)

// words decodes encoded words (RFC 2047) in any charset.
func words() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: charset.Reader}
}

// text makes a header's value readable: encoded words decoded, bytes that are no UTF-8 taken as Windows' Latin letters.
func text(s string) string {
	if decoded, err := words().DecodeHeader(s); err == nil {
		s = decoded
	}
	return utf8Text(s)
}

func utf8Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	if decoded, err := charmap.Windows1252.NewDecoder().String(s); err == nil {
		return decoded
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// decodeCharset gives the text of bytes in a charset.
func decodeCharset(name string, b []byte) (string, bool) {
	r, err := charset.Reader(name, bytes.NewReader(b))
	if err != nil {
		return "", false
	}
	decoded, err := io.ReadAll(r)
	if err != nil {
		return "", false
	}
	return string(decoded), true
}
