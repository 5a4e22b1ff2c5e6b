package einvoice

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// utf16 is the encoding of a document whose characters have two bytes, by its byte order mark or its first characters
// (XML 1.0, appendix F); nil for all others.
func utf16(data []byte) encoding.Encoding {
	begins := func(with string) bool { return bytes.HasPrefix(data, []byte(with)) }
	switch {
	case begins("\xFE\xFF"), begins("\xFF\xFE"):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case begins("\x00<\x00"):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case begins("<\x00"):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

// beginsAsXML reports whether data may be XML: a quick look before it is parsed.
func beginsAsXML(data []byte) bool {
	head := bytes.TrimLeft(data[:min(len(data), 64)], "\xEF\xBB\xBF \r\n\t")
	return len(head) > 0 && head[0] == '<' || utf16(data) != nil
}

// characters gives the bytes of a document, those of UTF-16 as UTF-8.
func characters(data []byte) *bufio.Reader {
	if wide := utf16(data); wide != nil {
		return bufio.NewReader(transform.NewReader(bytes.NewReader(data), wide.NewDecoder()))
	}
	return bufio.NewReader(bytes.NewReader(data))
}

// declared gives the characters of a document that declares another encoding than UTF-8.
func declared(data []byte) func(name string, r io.Reader) (io.Reader, error) {
	return func(name string, r io.Reader) (io.Reader, error) {
		if isUTF8(strings.ToLower(name)) || utf16(data) != nil {
			return r, nil // as characters gives them
		}
		known, err := htmlindex.Get(name)
		if err != nil {
			known, err = ianaindex.IANA.Encoding(name)
		}
		if err != nil || known == nil {
			return nil, fmt.Errorf("unknown encoding %q", name)
		}
		return transform.NewReader(r, known.NewDecoder()), nil
	}
}

// isUTF8 reports whether what declares this encoding, in single bytes, is in UTF-8: programs write documents from
// strings that say that they are UTF-16.
func isUTF8(name string) bool {
	switch name {
	case "", "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "iso-10646-ucs-2", "unicode":
		return true
	}
	return false
}

// checkEncoding refuses bytes that are not in the encoding that they declare: names would be misread.
func checkEncoding(data []byte) error {
	if utf16(data) != nil {
		return nil
	}
	switch name := declaredEncoding(data); {
	case isUTF8(name) && !utf8.Valid(data):
		return fmt.Errorf("bytes are not in the declared encoding: %w", ErrFaulty)
	case !isUTF8(name) && looksUTF8(data):
		return fmt.Errorf("declared encoding %s, bytes in utf-8: %w", name, ErrFaulty)
	}
	return nil
}

func declaredEncoding(data []byte) string {
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
	beyond := bytes.ContainsFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
	return beyond && utf8.Valid(data)
}
