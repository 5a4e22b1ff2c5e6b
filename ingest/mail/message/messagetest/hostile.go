// Package messagetest makes mails as an attacker would send them.
package messagetest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
)

// Hostile is a mail that is made to hurt its reader.
type Hostile struct {
	Name string
	Raw  []byte
}

// mail is a mail to an address, of more header lines and a body.
func mail(to, header, body string) []byte {
	return []byte("From: Mallory <mallory@evil.example>\r\nTo: " + to + "\r\nSubject: Rechnung\r\nMIME-Version: 1.0\r\n" + header + "\r\n" + body)
}

func encoded(inner []byte) string {
	return "--B\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString(inner) + "\r\n--B--\r\n"
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
		"unknown encoding":           {"Content-Type: application/pdf\r\nContent-Transfer-Encoding: x-gzip\r\n", lines("x")},
	}
	bomb, long := archives(size)
	for name, content := range map[string]string{
		"a zip bomb":             bomb,
		"a zip of many files":    long,
		"nested BER":             strings.Repeat("\x30\x80", 100_000),
		"nested octet strings":   "\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80\x30\x80\x02\x01\x01\x31\x00\x30\x80\x06\x01\x01\xa0\x80" + strings.Repeat("\x24\x80", 100_000),
		"lengths that lie":       "\x30\x84\x7f\xff\xff\xff\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02",
		"TNEF that lies":         "\x78\x9f\x3e\x22\x00\x00\x02\x0f\x80\x06\x00\xff\xff\xff\xff",
		"TNEF of many":           "\x78\x9f\x3e\x22\x00\x00" + lines("\x02\x0f\x80\x06\x00\x00\x00\x00\x00\x00\x00"),
		"a zip's end and no zip": "PK\x03\x04" + lines("PK\x05\x06"),
	} {
		bodies[name] = [2]string{mixed,
			"--B\r\nContent-Type: application/pkcs7-mime\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString([]byte(content)) + "\r\n--B--\r\n"}
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
	for name, header := range headers {
		raw := mail(to, header, "hello")
		add(name, raw)
		add(name+", in a mail within", mail(to, mixed, encoded(raw)))
	}
	for name, b := range bodies {
		add(name, mail(to, b[0], b[1]))
	}
	for name, raw := range nested {
		add(name, raw)
	}
	return all
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
			"--B\r\nContent-Type: message/rfc822\r\n\r\n"+string(raw)+"\r\n--B\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7 nothing\r\n--B--\r\n")
	}
	return raw
}
