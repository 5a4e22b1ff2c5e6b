package message_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime/quotedprintable"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/mail/message"
)

// pdf is enough of a PDF for who goes by content. It has bytes that no text encoding leaves alone.
const pdf = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\r\n1 0 obj = \x00\xff\r\n%%EOF\n"

func b64(s string) string {
	e := base64.StdEncoding.EncodeToString([]byte(s))
	var lines []string
	for len(e) > 20 {
		lines, e = append(lines, e[:20]), e[20:]
	}
	return strings.Join(append(lines, e), "\r\n") + "\r\n"
}

func qp(s string) string {
	var b strings.Builder
	w := quotedprintable.NewWriter(&b)
	w.Binary = true
	_, _ = w.Write([]byte(s)) // a strings.Builder takes all
	_ = w.Close()
	return b.String()
}

// mail is a mail of a header and a body, with the line ends of the network.
func mail(header, body string) []byte {
	h := "From: a@b.example\nTo: p@x.example\nMessage-ID: <1@b.example>\nMIME-Version: 1.0\n" + header + "\n"
	return []byte(strings.ReplaceAll(h, "\n", "\r\n") + body)
}

func part(header, body string) string {
	return "--B\r\n" + strings.ReplaceAll(header, "\n", "\r\n") + "\r\n" + body + "\r\n"
}

func multipart(kind string, parts ...string) []byte {
	return mail("Content-Type: multipart/"+kind+"; boundary=B\n", "preamble\r\n"+strings.Join(parts, "")+"--B--\r\nepilogue")
}

var hello = part("Content-Type: text/plain\n", "Anbei unsere Rechnung.")

func attachment(header string) string {
	return part(header+"Content-Transfer-Encoding: base64\n", b64(pdf))
}

func TestPDFsAreFoundWhereverTheyAre(t *testing.T) {
	inner := string(multipart("mixed", hello, attachment("Content-Type: application/pdf; name=inner.pdf\n")))
	for _, c := range []struct {
		name  string
		mail  []byte
		names []string
	}{
		{"an attachment", multipart("mixed", hello, attachment("Content-Type: application/pdf; name=r.pdf\n")), []string{"r.pdf"}},
		{"two, in their order", multipart("mixed", attachment("Content-Type: application/pdf; name=1.pdf\n"), hello,
			attachment("Content-Type: application/pdf; name=2.pdf\n")), []string{"1.pdf", "2.pdf"}},
		{"of no telling type", multipart("mixed", hello,
			attachment("Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=\"r.pdf\"\n")), []string{"r.pdf"}},
		{"of a wrong type", multipart("mixed", hello, attachment("Content-Type: image/jpeg; name=photo.jpg\n")), []string{"photo.jpg"}},
		{"of a type that is none", multipart("mixed", hello, attachment("Content-Type: pdf; name=r.pdf\n")), []string{"r.pdf"}},
		{"of no type at all", multipart("mixed", hello, attachment("")), []string{"attachment-1.pdf"}},
		{"inline", multipart("mixed", hello,
			attachment("Content-Type: application/pdf\nContent-Disposition: inline; filename=r.pdf\n")), []string{"r.pdf"}},
		{"without a name", multipart("mixed", hello, attachment("Content-Type: application/pdf\n"),
			attachment("Content-Type: application/pdf\n")), []string{"attachment-1.pdf", "attachment-2.pdf"}},
		{"the whole mail", mail("Content-Type: application/pdf; name=r.pdf\nContent-Transfer-Encoding: base64\n", b64(pdf)), []string{"r.pdf"}},
		{"beside a page", multipart("related", hello,
			attachment("Content-Type: application/pdf; name=r.pdf\nContent-ID: <x>\n")), []string{"r.pdf"}},
		{"quoted-printable", multipart("mixed", hello,
			part("Content-Type: application/pdf; name=r.pdf\nContent-Transfer-Encoding: Quoted-Printable\n",
				qp(pdf))), []string{"r.pdf"}},
		{"as it is", multipart("mixed", hello,
			part("Content-Type: application/pdf; name=r.pdf\nContent-Transfer-Encoding: binary\n", pdf)), []string{"r.pdf"}},
		{"in a text part", multipart("mixed", hello, attachment("Content-Type: text/plain; name=r.pdf\n")), []string{"r.pdf"}},
		{"behind bytes that don't belong to it", multipart("mixed",
			part("Content-Type: application/pdf; name=r.pdf\n", strings.Repeat("x", 900)+pdf)), []string{"r.pdf"}},
		{"in a forwarded mail", multipart("mixed", hello, part("Content-Type: message/rfc822\n", inner)), []string{"inner.pdf"}},
		{"in a forwarded mail of no telling type", multipart("mixed", hello,
			part("Content-Type: application/octet-stream; name=mail.eml\nContent-Transfer-Encoding: base64\n",
				b64(inner))), []string{"inner.pdf"}},
		{"in a digest", mail("Content-Type: multipart/digest; boundary=D\n", "--D\r\n\r\n"+inner+"\r\n--D--\r\n"), []string{"inner.pdf"}},
		{"with boundaries that begin alike", mail("Content-Type: multipart/mixed; boundary=\"B\"\n",
			"--B\r\nContent-Type: multipart/mixed; boundary=\"BB\"\r\n\r\n--BB\r\nContent-Type: application/pdf; name=r.pdf\r\n\r\n"+pdf+"\r\n--BB--\r\n--B--\r\n"), []string{"r.pdf"}},
		{"with lines ended by LF alone", bytes.ReplaceAll(multipart("mixed", hello,
			attachment("Content-Type: application/pdf; name=r.pdf\n")), []byte("\r\n"), []byte("\n")), []string{"r.pdf"}},
		{"with blanks behind the boundary", bytes.ReplaceAll(multipart("mixed", hello,
			attachment("Content-Type: application/pdf; name=r.pdf\n")), []byte("--B\r\n"), []byte("--B \t\r\n")), []string{"r.pdf"}},
		{"without the closing boundary", bytes.ReplaceAll(multipart("mixed", hello,
			attachment("Content-Type: application/pdf; name=r.pdf\n")), []byte("--B--\r\nepilogue"), nil), []string{"r.pdf"}},
		{"with a line in the header that is none", bytes.Replace(multipart("mixed", hello,
			attachment("Content-Type: application/pdf; name=r.pdf\n")), []byte("MIME-Version"), []byte("this is no field\r\nMIME-Version"), 1), []string{"r.pdf"}},
		{"behind a mailbox file's separator", append([]byte("From a@b.example Sat Jan  3 01:05:34 1996\r\n"),
			multipart("mixed", attachment("Content-Type: application/pdf; name=r.pdf\n"))...), []string{"r.pdf"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := message.Read(c.mail, message.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range m.Files {
				names = append(names, p.Name)
				if got := bytes.TrimLeft(p.Data, "x"); strings.TrimRight(string(got),
					"\r\n") != strings.TrimRight(pdf, "\r\n") && c.name != "with lines ended by LF alone" {
					t.Errorf("%s holds %q", p.Name, got)
				}
			}
			if !slices.Equal(names, c.names) {
				t.Errorf("got %q, want %q", names, c.names)
			}
			if m.MessageID != "1@b.example" {
				t.Errorf("its Message-ID is %q", m.MessageID)
			}
		})
	}
}

func TestNamesAreReadInAnyWriting(t *testing.T) {
	for _, c := range []struct{ name, header, want string }{
		{"quoted", `Content-Disposition: attachment; filename="Rechnung 7; neu.pdf"`, "Rechnung 7; neu.pdf"},
		{"without quotes", `Content-Disposition: attachment; filename=Rechnung 7.pdf`, "Rechnung 7.pdf"},
		{"escaped", `Content-Disposition: attachment; filename="a \"b\".pdf"`, `a "b".pdf`},
		{"encoded word", `Content-Type: application/pdf; name="=?iso-8859-1?Q?Rechnung_M=E4rz.pdf?="`, "Rechnung März.pdf"},
		{"two encoded words", `Content-Type: application/pdf; name="=?utf-8?B?UmVjaG51bmcg?= =?utf-8?B?TcOkcnoucGRm?="`, "Rechnung März.pdf"},
		{"encoded word in Japanese", `Content-Type: application/pdf; name="=?iso-2022-jp?B?GyRCQEE1YT1xGyhCLnBkZg==?="`, "請求書.pdf"},
		{"percent in UTF-8", `Content-Disposition: attachment; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf`, "Rechnung März.pdf"},
		{"percent in Latin", `Content-Disposition: attachment; filename*=iso-8859-15'de'%A4uro.pdf`, "€uro.pdf"},
		{"percent in Cyrillic", `Content-Disposition: attachment; filename*=koi8-r''%F3%DE%C5%D4.pdf`, "Счет.pdf"},
		{"percent goes before plain", `Content-Disposition: attachment; filename="Maerz.pdf"; filename*=UTF-8''M%C3%A4rz.pdf`, "März.pdf"},
		{"in pieces",
			"Content-Disposition: attachment; filename*0*=UTF-8''Rechnung%20M%C3%A4;\n filename*1=\"rz 2026\"; filename*2*=%2Epdf", "Rechnung März 2026.pdf"},
		{"in pieces out of order", `Content-Disposition: attachment; filename*1="b.pdf"; filename*0="a"`, "ab.pdf"},
		{"raw UTF-8", "Content-Disposition: attachment; filename=\"M\xc3\xa4rz.pdf\"", "März.pdf"},
		{"raw Latin", "Content-Disposition: attachment; filename=\"M\xe4rz.pdf\"", "März.pdf"},
		{"a path", `Content-Disposition: attachment; filename="C:\Users\x\r.pdf"`, "r.pdf"},
		{"a way out", `Content-Disposition: attachment; filename="../../etc/r.pdf"`, "r.pdf"},
		{"control characters", "Content-Disposition: attachment; filename*=UTF-8''a%00%0Ab%E2%80%AE.pdf", "a b.pdf"},
		{"quote that doesn't close", `Content-Disposition: attachment; filename="r.pdf`, "r.pdf"},
		{"unknown charset", `Content-Disposition: attachment; filename*=klingon''r%C3%A4.pdf`, "rä.pdf"},
		{"nothing but a dot", `Content-Disposition: attachment; filename="."`, "attachment-1.pdf"},
		{"the longest", `Content-Disposition: attachment; filename="` + strings.Repeat("a", 500) + `.pdf"`,
			strings.Repeat("a", 189) + "…aaaaaa.pdf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := message.Read(multipart("mixed", attachment(c.header+"\n")), message.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Files) != 1 || m.Files[0].Name != c.want {
				t.Errorf("got %v, want %q", m.Files, c.want)
			}
		})
	}
}

func TestMailsWithoutAPDFSayWhatTheyHave(t *testing.T) {
	for _, c := range []struct {
		name, want string
		mail       []byte
	}{
		{"text", "none of its 1 parts is a PDF or an e-invoice", mail("", "Grüße")},
		{"XML invoice", "none of its 3 parts is a PDF or an e-invoice", multipart("mixed", hello,
			part("Content-Type: application/xml; name=xrechnung.xml\n", "<Invoice/>"))},
		{"calls itself a PDF", `part 3 (application/pdf, named "r.pdf") calls itself a PDF, but is none`,
			multipart("mixed", hello, part("Content-Type: application/pdf; name=r.pdf\n", "nothing"))},
		{"people write about PDFs", "none of its 1 parts is a PDF or an e-invoice", mail("Content-Type: text/plain\n", "Files begin with %PDF-1.7 you know")},
		{"the mark comes too late", "none of its 1 parts is a PDF or an e-invoice", mail("Content-Type: application/octet-stream\n",
			strings.Repeat("x", 1024)+pdf)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := message.Read(c.mail, message.Limits{})
			if err != nil || len(m.Files) != 0 || m.Missed != c.want {
				t.Errorf("got %q with %d PDFs, %v; want %q", m.Missed, len(m.Files), err, c.want)
			}
		})
	}
}

func TestMailsThatCannotBeFollowedAreRefused(t *testing.T) {
	deep := "Content-Type: application/pdf\r\n\r\n" + pdf
	for range 30 {
		deep = "From: x@y.example\r\nContent-Type: message/rfc822\r\n\r\n" + deep
	}
	many := make([]string, 60)
	for i := range many {
		many[i] = attachment(fmt.Sprintf("Content-Type: application/pdf; name=%d.pdf\n", i))
	}
	for _, c := range []struct {
		name, want string
		mail       []byte
		err        error
	}{
		{"nothing", "it has no header", nil, message.ErrBroken},
		{"no header", "it has no header", []byte("\r\n\r\n" + pdf), message.ErrBroken},
		{"no boundary", "has no boundary", mail("Content-Type: multipart/mixed\n", "--B\r\n\r\nx\r\n--B--\r\n"), message.ErrBroken},
		{"boundary that doesn't occur", "does not occur", mail("Content-Type: multipart/mixed; boundary=B\n", "x"), message.ErrBroken},
		{"cut off", "may be cut off", mail("Content-Type: multipart/mixed; boundary=B\n",
			part("Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n", "JV")), message.ErrBroken},
		{"unknown encoding", `"x-uuencode", which is not known`, multipart("mixed",
			part("Content-Type: application/pdf\nContent-Transfer-Encoding: x-uuencode\n", "begin 644 r.pdf")), message.ErrBroken},
		{"too deep", "more than 20 deep", []byte(deep), message.ErrTooMany},
		{"too many PDFs", "more than 50 PDFs", multipart("mixed", many...), message.ErrTooMany},
		{"too many parts", "more than 1000 parts", multipart("mixed", strings.Repeat("--B\r\n\r\nx\r\n", 1001)), message.ErrTooMany},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := message.Read(c.mail, message.Limits{})
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %v: ...%s...", err, c.err, c.want)
			}
		})
	}
}

func TestAFaultBesideAPDFIsToldAndCostsNothing(t *testing.T) {
	m, err := message.Read(multipart("mixed", part("Content-Type: multipart/alternative\n", "x"),
		attachment("Content-Type: application/pdf; name=r.pdf\n")), message.Limits{})
	if err != nil || len(m.Files) != 1 || !strings.Contains(m.Missed, "has no boundary") {
		t.Errorf("got %d PDFs, %q, %v", len(m.Files), m.Missed, err)
	}
}

func TestAddressesAreFoundInWhateverIsWritten(t *testing.T) {
	for value, want := range map[string][]string{
		"p@x.example": {"p@x.example"},
		"Bau <p@x.example>, \"Q, R\" <q@y.example>":             {"p@x.example", "q@y.example"},
		"=?utf-8?Q?B=C3=BCro?= <p@x.example>":                   {"p@x.example"},
		"Team: p@x.example, q@y.example;":                       {"p@x.example", "q@y.example"},
		"undisclosed-recipients:;":                              nil,
		"<p@x.example> (Project), broken < q@y.example":         {"p@x.example", "q@y.example"},
		"Projekt [7] <p@x.example>":                             {"p@x.example"},
		"not <decoy@z.example> \"p@x.example\" <real@x.example": {"decoy@z.example", "p@x.example", "real@x.example"},
		"\"decoy@z.example\" <p@x.example>":                     {"p@x.example"},
	} {
		h := message.ReadHeader([]byte("To: " + value + "\r\n\r\n"))
		if got := h.Addresses("to"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

func TestEncodingsAreUndoneByteByByte(t *testing.T) {
	for _, c := range []struct{ name, encoding, body, want string }{
		{"padding in the middle", "base64", "JVBERi0=MS43", "%PDF-1.7"},
		{"padding missing", "base64", "JVBERi0xLjc", "%PDF-1.7"},
		{"characters of no alphabet", "base64", "JVB ERi\x00\r\n0x!Ljc=", "%PDF-1.7"},
		{"soft line break", "quoted-printable", "%PD=\r\nF-1.7", "%PDF-1.7"},
		{"equals sign alone", "quoted-printable", "%PDF-1.7 a=b=4", "%PDF-1.7 a=b=4"},
		{"blanks at a line's end", "quoted-printable", "%PDF-1.7 \t\r\nx", "%PDF-1.7\r\nx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := message.Read(mail("Content-Type: application/pdf\nContent-Transfer-Encoding: "+c.encoding+"\n", c.body), message.Limits{})
			if err != nil || len(m.Files) != 1 || string(m.Files[0].Data) != c.want {
				t.Errorf("got %.300v, %v, want %q", m.Files, err, c.want)
			}
		})
	}
}

// Whatever comes, reading ends within the limits, and gives the same again: ids rest on it.
func FuzzRead(f *testing.F) {
	f.Add(multipart("mixed", hello, attachment("Content-Type: application/pdf; name=r.pdf\n")))
	f.Add(multipart("mixed", part("Content-Type: message/rfc822\n", string(multipart("related", attachment("")))), "--B--\r\n--B\r\n"))
	f.Add(mail("Content-Type: multipart/mixed; boundary=\"B\n", "--B\r\n\r\n--B--"))
	f.Add(mail("Content-Type: application/pdf; name*0*=x'y'%; name*1=\"\nContent-Transfer-Encoding: quoted-printable\n", "=\r\n=3"))
	f.Add(carrying("application/pkcs7-mime", signedBER("From: a@b.example\r\nContent-Type: application/pdf\r\n\r\n"+pdf)))
	f.Add(carrying("application/ms-tnef", tnefOf([2]string{"r.pdf", pdf})))
	f.Add(carrying("application/zip", "PK\x03\x04"+pdf+"PK\x05\x06"+strings.Repeat("\x00", 18)))
	limits := message.Limits{Parts: 50, Depth: 5, Files: 5}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := message.Read(raw, limits)
		again, err2 := message.Read(raw, limits)
		if (err == nil) != (err2 == nil) || len(m.Files) != len(again.Files) {
			t.Fatal("read twice, it differs")
		}
		if len(m.Files) > limits.Files {
			t.Fatalf("%d PDFs", len(m.Files))
		}
		for i, p := range m.Files {
			if !p.XML && !bytes.Contains(p.Data[:min(1024, len(p.Data))], []byte("%PDF-")) || p.Name == "" ||
				len([]rune(p.Name)) > 200 || strings.ContainsAny(p.Name, "/\x00\n") {
				t.Fatalf("%q is no PDF", p.Name)
			}
			if !bytes.Equal(p.Data, again.Files[i].Data) || p.Name != again.Files[i].Name {
				t.Fatal("read twice, it differs")
			}
		}
		for _, field := range []string{"To", "Cc"} {
			_ = message.ReadHeader(raw).Addresses(field)
		}
	})
}
