package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/mail"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"github.com/emersion/go-message/textproto"
	"golang.org/x/text/encoding/charmap"
)

// Header is the header of a mail or of one of its parts, as written: unfolded, not decoded.
type Header struct {
	fields []field
	cut    bool // others may follow
}

type field struct{ name, value string }

// ReadHeader reads the header at the beginning of raw, which may be cut off in it. It takes what can be taken, within
// the default limits: a line that is no field is passed over.
func ReadHeader(raw []byte) Header {
	raw = withoutSeparator(raw)
	limits := Limits{}.withDefaults()
	raw = raw[:min(len(raw), limits.HeaderBytes)]
	block, _ := splitHeader(raw)
	h := readHeader(block, limits.Fields)
	h.cut = len(block) == len(raw) || len(h.fields) == limits.Fields
	return h
}

// splitHeader gives the header at the beginning of a mail or a part, and the body behind its blank line.
func splitHeader(raw []byte) (block, body []byte) {
	for at := 0; at < len(raw); {
		end := bytes.IndexByte(raw[at:], '\n')
		if end < 0 {
			break
		}
		if line := raw[at : at+end]; len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			return raw[:at], raw[at+end+1:]
		}
		at += end + 1
	}
	return raw, nil
}

// withoutSeparator cuts off the first line of mailbox files, which some programs leave in.
func withoutSeparator(raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte("From ")) && !bytes.HasPrefix(raw, []byte(">From ")) {
		return raw
	}
	_, rest, _ := bytes.Cut(raw, []byte{'\n'})
	return rest
}

// readHeader reads at most so many fields. The library reads what is written by the rules; what it refuses is read
// leniently.
func readHeader(block []byte, most int) Header {
	read, err := textproto.ReadHeader(bufio.NewReader(bytes.NewReader(block)))
	if err != nil && !errors.Is(err, io.EOF) {
		return readLeniently(block, most)
	}
	var h Header
	for f := read.Fields(); f.Next() && len(h.fields) < most; {
		h.fields = append(h.fields, field{strings.ToLower(f.Key()), strings.TrimSpace(f.Value())})
	}
	return h
}

func readLeniently(block []byte, most int) Header {
	var h Header
	var value bytes.Buffer // of the last field: its lines are joined in one go
	end := func() {
		if n := len(h.fields); n > 0 && value.Len() > 0 {
			h.fields[n-1].value = strings.TrimSpace(value.String())
		}
		value.Reset()
	}
	for len(block) > 0 {
		var line []byte
		line, block, _ = bytes.Cut(block, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			value.WriteByte(' ')
			value.Write(bytes.TrimSpace(line))
			continue
		}
		name, rest, found := bytes.Cut(line, []byte{':'})
		name = bytes.TrimRight(name, " \t")
		if !found || len(name) == 0 || bytes.ContainsAny(name, " \t") {
			continue
		}
		end()
		if len(h.fields) == most {
			return h
		}
		h.fields = append(h.fields, field{name: strings.ToLower(string(name))})
		value.Write(rest)
	}
	end()
	return h
}

// Empty reports whether there is no field at all.
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

// Above gives the fields above the n-th field of a name, counted from the top; none when there are fewer.
func (h Header) Above(name string, n int) Header {
	for i, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			if n--; n == 0 {
				return Header{fields: h.fields[:i]}
			}
		}
	}
	return Header{}
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

// MessageID is the mail's identifier without its brackets, "" when there is none or it is longer than a line may be. Each byte that isn't
// of UTF-8 is U+FFFD, as whoever reads it from the sandbox has it: one mail has one identifier, of one length, wherever it is taken from.
func (h Header) MessageID() string {
	id := h.Get("Message-ID")
	if _, after, ok := strings.Cut(id, "<"); ok {
		id, _, _ = strings.Cut(after, ">")
	}
	if id = string([]rune(strings.TrimSpace(id))); len(id) > longestID {
		return ""
	}
	return id
}

// longestID is what fits on a line of a mail.
const longestID = 998

// Bounds of what is read of one value, in bytes: the standard library's parsers are slow with hostile ones.
const (
	longestAddresses  = 64 << 10
	longestStructured = 16 << 10
	longestText       = 4 << 10
)

// longestAddress is that of a mail address, in bytes (RFC 5321, 4.5.3.1): what is longer is none.
const longestAddress = 64 + 1 + 255

// Addresses gives the mail addresses in all fields of a name.
func (h Header) Addresses(name string) []string {
	all, _ := h.addresses(name)
	return all
}

// Whole reports whether Addresses gives every address of a name: none is too long, and none can stand behind what was read.
func (h Header) Whole(name string) bool {
	_, whole := h.addresses(name)
	return whole
}

func (h Header) addresses(name string) (all []string, whole bool) {
	whole = !h.cut
	add := func(address string) {
		if len(address) <= longestAddress {
			all = append(all, address)
		} else {
			whole = false
		}
	}
	parser := mail.AddressParser{WordDecoder: words()}
	for _, value := range h.All(name) {
		if len(value) > longestAddresses {
			value, whole = value[:longestAddresses], false
		}
		list, err := parser.ParseList(value)
		if err != nil { // not as the RFC wants it: whatever looks like an address
			for _, address := range addressLike.FindAllString(value, -1) {
				add(address)
			}
			continue
		}
		for _, a := range list {
			add(a.Address)
		}
	}
	return all, whole
}

var addressLike = regexp.MustCompile(`[^\s<>()\[\]",;:\\]+@[^\s<>()\[\]",;:\\@]+`)

// words decodes encoded words (RFC 2047) in any charset.
func words() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: charset.Reader}
}

// text makes a header's value readable: encoded words decoded, bytes that are no UTF-8 taken as Windows' Latin letters.
func text(s string) string {
	s = s[:min(len(s), longestText)]
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
