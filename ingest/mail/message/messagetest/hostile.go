// Package messagetest makes mails as an attacker would send them.
package messagetest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Hostile is a mail that is made to hurt its reader.
type Hostile struct {
	Name string
	Raw  []byte
}

// mail is a mail to an address, of more header lines and a body.
func mail(to, header, body string) []byte {
	return []byte("From: Mallory <mallory@evil.example>\r\nTo: " + to + "\r\nSubject: Rechnung\r\nMIME-Version: 1.0\r\n" +
		header + "\r\n" + body)
}

func encoded(inner []byte) string {
	return "--B\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		base64.StdEncoding.EncodeToString(inner) + "\r\n--B--\r\n"
}

const mixed = "Content-Type: multipart/mixed; boundary=B\r\n"

// Mails gives the corpus: each fault in the mail itself and in a mail within it. Size is that of the large ones, in
// bytes.
func Mails(to string, size int) []Hostile {
	lines := func(line string) string { return strings.Repeat(line, size/len(line)) }
	headers := map[string]string{
		"folded lines":              "X: a\r\n" + lines(" b\r\n"),
		"lines folded by tabs":      "X: a\r\n" + lines("\tb\r\n"),
		"folded blanks":             "X: a\r\n" + lines(" \r\n"),
		"tiny fields":               lines("a:\r\n"),
		"fields without a name":     lines(":\r\n"),
		"no fields":                 lines("x\r\n"),
		"a long line":               "X: " + lines("x") + "\r\n",
		"a long name":               lines("x") + ": x\r\n",
		"no line end":               lines("x"),
		"carriage returns":          lines("\r"),
		"addresses":                 "Cc: " + lines("a@b.example,") + "\r\n",
		"nested comments":           "Cc: " + lines("(") + "\r\n",
		"groups":                    "Cc: " + lines("a:;") + "\r\n",
		"quotes":                    "Cc: " + lines(`"\"`) + "\r\n",
		"domain literals":           "Cc: x@" + lines("[") + "\r\n",
		"at signs":                  "Cc: " + lines("@") + "\r\n",
		"encoded words":             "Subject: " + lines("=?a?Q?") + "?=\r\n",
		"empty encoded words":       "Subject: " + lines("=?utf-8?B??= ") + "\r\n",
		"a long Message-ID":         "Message-ID: <" + lines("x") + ">\r\n",
		"parameters":                "Content-Type: application/pdf; " + lines("a=b; ") + "\r\n",
		"pieces of a parameter":     "Content-Type: application/pdf; " + lines("name*0=x; ") + "\r\n",
		"numbered pieces":           "Content-Type: application/pdf; " + lines("name*99999999*=x''y; ") + "\r\n",
		"percent signs":             "Content-Type: application/pdf; name*=utf-8''" + lines("%") + "\r\n",
		"quotes in a parameter":     "Content-Type: application/pdf; name=\"" + lines(`\"`) + "\r\n",
		"a long boundary":           "Content-Type: multipart/mixed; boundary=" + lines("B") + "\r\n",
		"a long transfer encoding":  "Content-Transfer-Encoding: " + lines("x") + "\r\n",
		"a name from right to left": "Content-Type: application/pdf; name*=utf-8''" + strings.Repeat("%E2%80%AE", 200) + "fdp.exe\r\n",
		"a name that climbs":        "Content-Disposition: attachment; filename=\"" + strings.Repeat("../", 5000) + "etc/passwd\"\r\n",
		"unicode line separators":   "Subject: " + lines("\u2028") + "\r\n",
		"bytes of no charset":       "Subject: " + lines("\xff\xfe") + "\r\n",
		"NULs":                      "Subject: " + lines("\x00") + "\r\n",
		"NULs in an address":        "Cc: a\x00b@c\x00.example, \x00\r\n",
		"words of changing charset": "Subject: " + lines("=?iso-2022-jp?B?GyRC?= =?hz-gb-2312?Q?~{?= =?utf-7?Q?+ADw-?= ") + "\r\n",
		"a word in UTF-16":          "Subject: =?utf-16?B?" + lines("/v8A") + "?=\r\n",
		"a word of no charset":      "Subject: =?" + lines("x") + "?Q?x?=\r\n",
		"senders":                   "From: " + lines("a@b.example,") + "\r\n",
		"two fields of a sender":    "From: boss@own.example\r\nFrom: office@bauwerk.example\r\n",
		"a sender within a name":    "From: \"boss@own.example\" <mallory@evil.example>\r\nSender: boss@own.example\r\n",
		"a forged envelope":         "Delivered-To: boss@own.example\r\nX-Original-To: tower@intake.example\r\nReceived: from own.example\r\n",
		"a forged verdict":          "Authentication-Results: mx.own.example; dmarc=pass\r\n",
		"comments in a verdict":     "Authentication-Results: mx.own.example; " + lines("(") + "dmarc=pass\r\n",
		"results without end":       "Authentication-Results: mx.own.example; " + lines("a=b;") + "\r\n",
		"a trace without end":       strings.Repeat("Received: from x by y\r\n", 1900),
		"a name of a device": "Content-Type: application/pdf; name=\"CON\"\r\n" +
			"Content-Disposition: attachment; filename=\"..\\\\..\\\\NUL\"\r\n",
		"a name of NULs":            "Content-Type: application/pdf; name*=utf-8''%00%00/%00..%00/x.pdf\r\n",
		"a name in pieces of Korea": "Content-Type: application/pdf; name*0*=iso-2022-kr''%1B%24%29C" + lines("%0E") + "\r\n",
		"two types":                 "Content-Type: text/plain\r\nContent-Type: multipart/mixed; boundary=B\r\n",
		"two boundaries":            "Content-Type: multipart/mixed; boundary=A; boundary=B\r\n",
		"a boundary of NULs":        "Content-Type: multipart/mixed; boundary=\"\x00\x00\"\r\n",
		"an answer to itself":       "Auto-Submitted: auto-generated\r\nIn-Reply-To: <x@evil.example>\r\nMessage-ID: <x@evil.example>\r\n",
	}
	part := "--B\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7\r\n"
	bodies := map[string][2]string{
		"false boundaries on a line": {mixed, "--B\r\n\r\n" + lines("--B--B")},
		"false boundaries":           {mixed, "--B\r\n\r\n" + lines("--Bx\r\n")},
		"boundaries":                 {mixed, lines("--B\r\n")},
		"closing boundaries":         {mixed, lines("--B--\r\n")},
		"boundaries of one letter":   {"Content-Type: multipart/mixed; boundary=-\r\n", lines("---\r\n")},
		"empty boundary":             {"Content-Type: multipart/mixed; boundary=\"\"\r\n", lines("--\r\n")},
		"PDFs":                       {mixed, strings.Repeat(part, 2000)},
		"tiny parts":                 {mixed, strings.Repeat("--B\r\n\r\n", 20_000)},
		"parts with folded headers":  {mixed, "--B\r\nX: a\r\n" + lines(" b\r\n")},
		"parts with tiny fields":     {mixed, "--B\r\n" + lines("a:\r\n")},
		"no end":                     {mixed, "--B\r\nContent-Type: text/plain\r\n\r\n" + lines("x")},
		"digest":                     {"Content-Type: multipart/digest; boundary=B\r\n", strings.Repeat("--B\r\n\r\na: b\r\n\r\n", 20_000)},
		"base64 of nothing":          {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n", lines("=")},
		"base64 of no alphabet":      {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n", lines("\x00")},
		"quoted equals signs":        {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: quoted-printable\r\n", lines("=")},
		"soft line breaks":           {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: quoted-printable\r\n", lines("=\r\n")},
		"blanks":                     {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: quoted-printable\r\n", lines(" ")},
		"a giant line of base64":     {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n", lines("JVBE")},
		"a mail elsewhere": {"Content-Type: message/external-body; access-type=local-file; name=\"/etc/passwd\"\r\n",
			"Content-Type: application/pdf\r\n\r\n"},
		"a piece of a mail": {"Content-Type: message/partial; number=1; total=2147483647; id=x\r\n",
			"Content-Type: application/pdf\r\n\r\n%PDF-1.7"},
		"an expanding XML": {"Content-Type: application/xml\r\n", laughs()},
		"an XML of files": {"Content-Type: application/xml\r\n",
			`<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>` + ubl + "<ID>&f;</ID></Invoice>"},
		"a deep XML":                {"Content-Type: application/xml\r\n", ubl + lines("<a>")},
		"an XML of attributes":      {"Content-Type: application/xml\r\n", "<Invoice " + lines(`a="b" `) + ">"},
		"an XML of namespaces":      {"Content-Type: application/xml\r\n", "<Invoice " + lines(`xmlns:a="b" `) + ">"},
		"an XML of comments":        {"Content-Type: application/xml\r\n", lines("<!---->") + ubl},
		"an XML without end":        {"Content-Type: application/xml\r\n", "<" + lines("x")},
		"an XML of another charset": {"Content-Type: application/xml\r\n", `<?xml version="1.0" encoding="utf-7"?>` + ubl + lines("+ADw-")},
		"unknown encoding":          {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: x-gzip\r\n", lines("x")},
	}
	bomb, long := archives(size)
	for name, content := range map[string]string{
		"a zip bomb":          bomb,
		"a zip of many files": long,
		"nested BER":          strings.Repeat("\x30\x80", 100_000),
		"nested octet strings": "\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80" +
			"\x30\x80\x02\x01\x01\x31\x00\x30\x80\x06\x01\x01\xa0\x80" +
			strings.Repeat("\x24\x80", 100_000),
		"lengths that lie":        "\x30\x84\x7f\xff\xff\xff\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02",
		"TNEF that lies":          "\x78\x9f\x3e\x22\x00\x00\x02\x0f\x80\x06\x00\xff\xff\xff\xff",
		"TNEF of many":            "\x78\x9f\x3e\x22\x00\x00" + lines("\x02\x0f\x80\x06\x00\x00\x00\x00\x00\x00\x00"),
		"a zip's end and no zip":  "PK\x03\x04" + lines("PK\x05\x06"),
		"a zip of one file often": overlapping(size, 400),
		"a zip that climbs":       zipped("../../../../etc/passwd", "C:\\\\x.pdf", "/dev/stdin", "a\x00b.pdf", strings.Repeat("../", 9999)+"x"),
		"a zip in a zip":          zipped("a.zip"),
		"nested TNEF":             nestedTNEF(50),
		"nested signatures":       nestedSignatures(50),
	} {
		bodies[name] = [2]string{mixed,
			"--B\r\nContent-Type: application/pkcs7-mime\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
				base64.StdEncoding.EncodeToString([]byte(content)) + "\r\n--B--\r\n"}
	}
	nested := map[string][]byte{
		"nested mails":      deep(to, 3000, "Content-Type: message/rfc822\r\n"),
		"nested multiparts": deepMultiparts(to, 3000),
		"nested base64":     deepBase64(to, 40),
		"nested PDFs":       deepAttachments(to, 15),
		"nothing at all":    {},
		"no header":         []byte("\r\n\r\n%PDF-1.7"),
		"zeros":             make([]byte, size),
	}
	var all []Hostile
	add := func(name string, raw []byte) { all = append(all, Hostile{name, raw}) }
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		raw := mail(to, headers[name], "hello")
		add(name, raw)
		add(name+", in a mail within", mail(to, mixed, encoded(raw)))
	}
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		add(name, mail(to, bodies[name][0], bodies[name][1]))
	}
	for _, name := range slices.Sorted(maps.Keys(nested)) {
		add(name, nested[name])
	}
	return all
}

// ubl is the beginning of an e-invoice.
const ubl = `<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">`

// laughs is an XML whose entities unfold to ten to the tenth of their size.
func laughs() string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE x [<!ENTITY a0 \"ha\">")
	for i := range 10 {
		fmt.Fprintf(&b, "<!ENTITY a%d \"%s\">", i+1, strings.Repeat(fmt.Sprintf("&a%d;", i), 10))
	}
	return b.String() + "]>" + ubl + "<ID>&a10;</ID></Invoice>"
}

// zipped is a zip of files that begin as PDFs and zips.
func zipped(names ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, NonUTF8: true})
		if err == nil {
			_, _ = f.Write([]byte("PK\x03\x04%PDF-1.7\n")) // into memory
		}
	}
	_ = w.Close()
	return b.String()
}

// overlapping is a zip whose directory names one large file so many times.
func overlapping(size, times int) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("x.pdf")
	if err == nil {
		_, _ = f.Write(append([]byte("%PDF-1.7\n"), make([]byte, size)...)) // into memory
	}
	_ = w.Close()
	const endSize = 22
	whole := b.Bytes()
	end := bytes.Clone(whole[len(whole)-endSize:])
	at := binary.LittleEndian.Uint32(end[16:])
	entry := whole[at : len(whole)-endSize]
	binary.LittleEndian.PutUint16(end[8:], uint16(times))
	binary.LittleEndian.PutUint16(end[10:], uint16(times))
	binary.LittleEndian.PutUint32(end[12:], uint32(times*len(entry)))
	return string(whole[:at]) + strings.Repeat(string(entry), times) + string(end)
}

// nestedTNEF is a winmail.dat in a winmail.dat, and so on.
func nestedTNEF(levels int) string {
	content := "%PDF-1.7 nothing"
	for range levels {
		b := []byte("\x78\x9f\x3e\x22\x01\x00\x02\x02\x90\x06\x00\x00\x00\x00\x00\x00\x00\x02\x0f\x80\x06\x00")
		b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
		content = string(b) + content + "\x00\x00"
	}
	return content
}

// nestedSignatures is a signed mail in a signed mail, and so on.
func nestedSignatures(levels int) string {
	content := "Content-Type: application/pdf\r\n\r\n%PDF-1.7 nothing"
	for range levels {
		der := func(tag byte, v string) string {
			return string([]byte{tag, 0x84, byte(len(v) >> 24), byte(len(v) >> 16), byte(len(v) >> 8), byte(len(v))}) + v
		}
		const oidData, oidSigned = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01", "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
		signed := der(0x30, oidSigned+der(0xa0, der(0x30, "\x02\x01\x01\x31\x00"+der(0x30, oidData+der(0xa0, der(0x04, content))))))
		content = "Content-Type: application/pkcs7-mime\r\nContent-Transfer-Encoding: binary\r\n\r\n" + signed
	}
	_, signed, _ := strings.Cut(content, "\r\n\r\n")
	return signed
}

// archives are a zip that unpacks to a thousand times its size, and one of many files.
func archives(size int) (bomb, long string) {
	var b, l bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 100 {
		f, err := w.Create(fmt.Sprint(i, ".pdf"))
		if err == nil {
			_, _ = f.Write(append([]byte("%PDF-1.7\n"), make([]byte, size)...)) // into memory
		}
	}
	_ = w.Close()
	w = zip.NewWriter(&l)
	for i := range size / 100 {
		_, _ = w.Create(fmt.Sprint(i))
	}
	_ = w.Close()
	return b.String(), l.String()
}

func deep(to string, levels int, header string) []byte {
	return mail(to, header, strings.Repeat("From: x@y.example\r\n"+header+"\r\n", levels))
}

func deepMultiparts(to string, levels int) []byte {
	var body strings.Builder
	for i := range levels {
		fmt.Fprintf(&body, "--B%d\r\nContent-Type: multipart/mixed; boundary=B%d\r\n\r\n", i, i+1)
	}
	return mail(to, "Content-Type: multipart/mixed; boundary=B0\r\n", body.String())
}

// deepBase64 is a mail in a mail in a mail, each encoded: a few more levels would make it larger than any limit.
func deepBase64(to string, levels int) []byte {
	raw := mail(to, "", "x")
	for range levels {
		if len(raw) > 8<<20 {
			break
		}
		raw = mail(to, mixed, encoded(raw))
	}
	return raw
}

func deepAttachments(to string, levels int) []byte {
	raw := mail(to, "Content-Type: application/pdf\r\n", "%PDF-1.7 nothing")
	for range levels {
		raw = mail(to, mixed,
			"--B\r\nContent-Type: message/rfc822\r\n\r\n"+string(raw)+
				"\r\n--B\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7 nothing\r\n--B--\r\n")
	}
	return raw
}
