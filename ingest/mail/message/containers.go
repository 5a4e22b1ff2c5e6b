package message

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"tallyhouse/ingest/invoice/einvoice"
)

// container is what a part holds that holds others.
type container uint8

const (
	none      container = iota
	zipFile             // by its content: a zip is never a PDF, though one may begin within its first bytes
	tnef                // winmail.dat, as Outlook sends
	signed              // S/MIME, the mail within its signature
	encrypted           // S/MIME
	packed              // an archive that isn't opened
)

var (
	zipMark  = []byte("PK\x03\x04")
	zipEnd   = []byte("PK\x05\x06")
	zipEntry = []byte("PK\x01\x02") // in the directory
	tnefMark = []byte{0x78, 0x9f, 0x3e, 0x22}
	rarMark  = []byte("Rar!\x1a\x07")
	szMark   = []byte("7z\xbc\xaf\x27\x1c")
)

// containerOf recognizes a container by its content, S/MIME by its type first.
func containerOf(kind, name string, data []byte) container {
	switch {
	case bytes.HasPrefix(data, zipMark), bytes.HasPrefix(data, zipEnd):
		return zipFile
	case bytes.HasPrefix(data, tnefMark):
		return tnef
	case bytes.HasPrefix(data, rarMark), bytes.HasPrefix(data, szMark):
		return packed
	}
	if kind != "application/pkcs7-mime" && kind != "application/x-pkcs7-mime" && !strings.HasSuffix(strings.ToLower(name), ".p7m") {
		return none
	}
	oid, ok := newBER(data).contentType()
	switch {
	case ok && bytes.Equal(oid, oidSignedData):
		return signed
	case ok && bytes.Equal(oid, oidEnvelopedData):
		return encrypted
	}
	return none
}

const (
	maxDirectory = 1 << 20 // bytes of a zip's directory, as it says
	maxEntries   = 16 << 10
	zipEndSize   = 22
	maxComment   = 1<<16 - 1
)

// open takes out what is in a container, at a depth.
func (w *walk) open(c container, name string, data []byte, depth int) error {
	switch c {
	case zipFile:
		return w.zip(name, data, depth)
	case tnef:
		return w.tnef(data, depth)
	default:
		return w.signed(name, data, depth)
	}
}

// zip takes the files out of a zip; one within another, however deep, is not opened.
func (w *walk) zip(name string, data []byte, depth int) error {
	if w.inZip {
		if !isDocument(data) || strings.HasSuffix(strings.ToLower(name), ".zip") {
			w.missed("the file %s of the zip %s is a zip itself, which is not opened", name, w.zipName)
		}
		return nil
	}
	tail := data[max(0, len(data)-zipEndSize-maxComment):]
	end := bytes.LastIndex(tail, zipEnd)
	if end < 0 || end+zipEndSize > len(tail) {
		w.missed("part %d (%s) is a zip that is cut off", w.parts, name)
		return nil
	}
	// The library reads all entries that stand behind each other, whatever number and bytes this says, and what a zip64 says.
	if n := bytes.Count(data, zipEntry); n > maxEntries {
		return fmt.Errorf("%w: the zip %s has %d entries, %d are allowed", ErrTooMany, name, n, maxEntries)
	}
	if binary.LittleEndian.Uint32(tail[end+12:]) > maxDirectory {
		return fmt.Errorf("%w: the directory of the zip %s has more than %d bytes", ErrTooMany, name, maxDirectory)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		w.missed("part %d (%s) is a zip that cannot be read: %s", w.parts, name, err)
		return nil
	}
	w.inZip, w.zipName = true, name
	defer func() { w.inZip = false }()
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if w.parts++; w.parts > w.limits.Parts {
			return fmt.Errorf("%w: it has more than %d parts", ErrTooMany, w.limits.Parts)
		}
		inner := cleanName(utf8Text(f.Name))
		const withPassword = 1
		if f.Flags&withPassword != 0 {
			w.missed("the file %s of the zip %s has a password", inner, name)
			continue
		}
		content, err := w.unpack(f)
		if err != nil {
			return err
		}
		if content == nil {
			w.missed("the file %s of the zip %s cannot be unpacked", inner, name)
			continue
		}
		if err := w.leaf("", inner, content, true, Header{}, depth); err != nil {
			return err
		}
	}
	return nil
}

// isDocument reports whether a zip is what an office program makes (OPC, ODF), which is no container to anybody.
func isDocument(data []byte) bool {
	const fixed = 30 // bytes of an entry before its name
	return bytes.HasPrefix(data[min(fixed, len(data)):], []byte("mimetype")) || bytes.Contains(data, []byte("[Content_Types].xml"))
}

// unpack gives a file of a zip, nil when it is broken. What is unpacked of a mail is bounded.
func (w *walk) unpack(f *zip.File) ([]byte, error) {
	packed, err := f.Open()
	if err != nil {
		return nil, nil
	}
	defer packed.Close()
	left := w.limits.Unpacked - w.unpacked
	content, err := io.ReadAll(io.LimitReader(packed, int64(left)+1))
	w.unpacked += len(content)
	if len(content) > left {
		return nil, fmt.Errorf("%w: its zips unpack to more than %d bytes", ErrTooMany, w.limits.Unpacked)
	}
	if err != nil {
		return nil, nil
	}
	return content, nil
}

// Attributes of TNEF (MS-OXTNEF 2.1.3).
const (
	tnefAttachment = 0x00069002 // begins one
	tnefTitle      = 0x00018010
	tnefData       = 0x0006800f
)

// tnef takes what is attached in a winmail.dat.
func (w *walk) tnef(data []byte, depth int) error {
	const head, attribute, checksum = 6, 9, 2
	title := ""
	var content []byte
	take := func() error {
		defer func() { title, content = "", nil }()
		if content == nil {
			return nil
		}
		if w.parts++; w.parts > w.limits.Parts {
			return fmt.Errorf("%w: it has more than %d parts", ErrTooMany, w.limits.Parts)
		}
		return w.leaf("", cleanName(utf8Text(title)), content, true, Header{}, depth)
	}
	rest := data[min(head, len(data)):]
	for len(rest) >= attribute {
		kind, size := binary.LittleEndian.Uint32(rest[1:]), uint64(binary.LittleEndian.Uint32(rest[5:]))
		rest = rest[attribute:]
		if size > uint64(len(rest)) {
			break
		}
		value := rest[:size]
		rest = rest[min(len(rest), int(size)+checksum):]
		switch kind {
		case tnefAttachment:
			if err := take(); err != nil {
				return err
			}
		case tnefTitle:
			title = string(bytes.TrimRight(value, "\x00"))
		case tnefData:
			content = value
		}
	}
	if len(rest) > 0 {
		w.missed("part %d is a winmail.dat that is cut off", w.parts)
	}
	return take()
}

// signed takes what a signature is about: a mail's part, or a file as it is.
func (w *walk) signed(name string, data []byte, depth int) error {
	content, ok := newBER(data).signedContent()
	if !ok {
		w.missed("part %d is signed (S/MIME), and what it signs cannot be found", w.parts)
		return nil
	}
	inner := cleanName(withoutSuffix(name, ".p7m"))
	if beginsAsPDF(content) || einvoice.Is(content) {
		_, err := w.take("", inner, content)
		return err
	}
	if containerOf("", inner, content) != none {
		return w.leaf("", inner, content, true, Header{}, depth)
	}
	h, body, err := w.header(content)
	if err != nil { // plans are signed, too, and have no header
		w.missed("part %d (%s) is signed, and what it signs is no mail: %s", w.parts, name, err)
		return w.leaf("", inner, content, true, Header{}, depth)
	}
	return w.part(h, body, "text/plain", depth)
}

// withoutSuffix takes the end off a name, in whatever case.
func withoutSuffix(name, suffix string) string {
	if at := len(name) - len(suffix); at >= 0 && strings.EqualFold(name[at:], suffix) {
		return name[:at]
	}
	return name
}

// Object identifiers of CMS (RFC 5652), without their tag and length.
var (
	oidSignedData    = []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02}
	oidEnvelopedData = []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x03}
)

// Tags of BER.
const (
	tagOctets   = 0x04
	tagOID      = 0x06
	tagSequence = 0x30
	tagContent  = 0xa0 // [0], explicit
	constructed = 0x20
)

// ber reads BER, whose lengths may be indefinite: encoding/asn1 reads DER alone, and mail programs write both.
type ber struct{ rest []byte }

func newBER(data []byte) *ber { return &ber{data} }

// contentType is that of a ContentInfo.
func (b *ber) contentType() ([]byte, bool) {
	info, ok := b.enter(tagSequence)
	if !ok {
		return nil, false
	}
	return info.value(tagOID)
}

// signedContent is the content that a SignedData carries.
func (b *ber) signedContent() ([]byte, bool) {
	info, ok := b.enter(tagSequence)
	ok = ok && info.skip() // its type
	data, ok := enterIf(ok, info, tagContent, tagSequence)
	ok = ok && data.skip() && data.skip() // version, digest algorithms
	content, ok := enterIf(ok, data, tagSequence)
	ok = ok && content.skip() // its type
	inner, ok := enterIf(ok, content, tagContent)
	if !ok {
		return nil, false
	}
	return inner.octets(0)
}

func enterIf(ok bool, b *ber, tags ...byte) (*ber, bool) {
	for _, tag := range tags {
		if !ok {
			return nil, false
		}
		b, ok = b.enter(tag)
	}
	return b, ok
}

// maxNesting bounds the nesting of octet strings.
const maxNesting = 4

// octets puts an octet string together, which may come in segments.
func (b *ber) octets(depth int) ([]byte, bool) {
	if depth > maxNesting || len(b.rest) == 0 {
		return nil, false
	}
	if b.rest[0] == tagOctets {
		return b.value(tagOctets)
	}
	segments, ok := b.enter(tagOctets | constructed)
	if !ok {
		return nil, false
	}
	var all []byte
	for len(segments.rest) > 0 && segments.rest[0] != 0 {
		segment, ok := segments.octets(depth + 1)
		if !ok {
			return nil, false
		}
		all = append(all, segment...)
	}
	return all, true
}

// head reads tag and length; an indefinite length is -1.
func (b *ber) head() (tag byte, length int, ok bool) {
	if len(b.rest) < 2 {
		return 0, 0, false
	}
	tag, first := b.rest[0], b.rest[1]
	b.rest = b.rest[2:]
	switch {
	case tag&0x1f == 0x1f: // tags of several bytes, which CMS doesn't have
		return 0, 0, false
	case first < 0x80:
		length = int(first)
	case first == 0x80:
		return tag, -1, tag&constructed != 0
	default:
		n := int(first & 0x7f)
		if n > 4 || n > len(b.rest) {
			return 0, 0, false
		}
		for _, c := range b.rest[:n] {
			length = length<<8 | int(c)
		}
		b.rest = b.rest[n:]
	}
	return tag, length, length <= len(b.rest)
}

// enter goes into an element of a tag. What stands behind one of indefinite length is left in it.
func (b *ber) enter(tag byte) (*ber, bool) {
	got, length, ok := b.head()
	if !ok || got != tag {
		return nil, false
	}
	if length < 0 {
		inner := &ber{b.rest}
		b.rest = nil // nothing behind it is needed
		return inner, true
	}
	inner := &ber{b.rest[:length]}
	b.rest = b.rest[length:]
	return inner, true
}

// value is that of an element of a tag.
func (b *ber) value(tag byte) ([]byte, bool) {
	got, length, ok := b.head()
	if !ok || got != tag || length < 0 {
		return nil, false
	}
	v := b.rest[:length]
	b.rest = b.rest[length:]
	return v, true
}

// skip passes over an element, one of indefinite length with all that is in it.
func (b *ber) skip() bool {
	for open := 0; ; {
		tag, length, ok := b.head()
		switch {
		case !ok:
			return false
		case length < 0:
			open++
		case tag == 0 && length == 0: // the end of one of indefinite length
			open--
		default:
			b.rest = b.rest[length:]
		}
		if open <= 0 {
			return true
		}
	}
}
