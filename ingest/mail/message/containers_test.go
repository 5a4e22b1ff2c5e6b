package message_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/mail/message"
)

type zipped struct {
	name    string
	content string
	method  uint16
}

func zipOf(t *testing.T, files ...zipped) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// der is an element of DER.
func der(tag byte, values ...string) string {
	v := strings.Join(values, "")
	if len(v) < 0x80 {
		return string([]byte{tag, byte(len(v))}) + v
	}
	return string([]byte{tag, 0x84, byte(len(v) >> 24), byte(len(v) >> 16), byte(len(v) >> 8), byte(len(v))}) + v
}

// indefinite is an element whose end is marked.
func indefinite(tag byte, values ...string) string {
	return string([]byte{tag, 0x80}) + strings.Join(values, "") + "\x00\x00"
}

const (
	oidSigned    = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
	oidEnveloped = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"
	oidData      = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01"
)

func signedDER(content string) string {
	return der(0x30, oidSigned, der(0xa0, der(0x30, der(0x02, "\x01"), der(0x31, der(0x30, "\x06\x01\x01", der(0x05))),
		der(0x30, oidData, der(0xa0, der(0x04, content))), der(0x31, "signers"))))
}

// signedBER is as programs write it that don't know the length before.
func signedBER(content string) string {
	var segments []string
	for piece := range slices.Chunk([]byte(content), 100) {
		segments = append(segments, der(0x04, string(piece)))
	}
	return indefinite(0x30, oidSigned, indefinite(0xa0, indefinite(0x30, der(0x02, "\x01"), indefinite(0x31, der(0x30,
		"\x06\x01\x01", der(0x05))),
		indefinite(0x30, oidData, indefinite(0xa0, indefinite(0x24, segments...))), der(0x31, "signers"))))
}

func tnefOf(attachments ...[2]string) string {
	attribute := func(kind uint32, value string) string {
		b := []byte{2}
		b = binary.LittleEndian.AppendUint32(b, kind)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
		return string(b) + value + "\x00\x00"
	}
	s := "\x78\x9f\x3e\x22\x01\x00" + attribute(0x00089006, "\x00\x00\x01\x00")
	for _, a := range attachments {
		s += attribute(0x00069002, "rendering") + attribute(0x00018010, a[0]+"\x00") + attribute(0x0006800f, a[1])
	}
	return s
}

func carrying(kind, content string) []byte {
	return multipart("mixed", hello, part("Content-Type: "+kind+"\nContent-Transfer-Encoding: base64\n",
		base64.StdEncoding.EncodeToString([]byte(content))))
}

func zipPart(name, content string) string {
	return part("Content-Type: application/zip; name="+name+"\nContent-Transfer-Encoding: base64\n", base64.StdEncoding.EncodeToString([]byte(content)))
}

// PDFs arrive in zips, signatures and what Outlook makes of mails; a zip with one in it is no PDF itself.
func TestPDFsAreTakenOutOfContainers(t *testing.T) {
	inner := string(multipart("mixed", hello, attachment("Content-Type: application/pdf; name=r.pdf\n")))
	for _, c := range []struct {
		name   string
		mail   []byte
		names  []string
		missed string
	}{
		{"a stored zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"r.pdf", pdf, zip.Store})), []string{"r.pdf"}, ""},
		{"a deflated zip", carrying("application/octet-stream; name=a", zipOf(t, zipped{"dir/r.pdf", pdf,
			zip.Deflate}, zipped{"note.txt", "hello", zip.Deflate}, zipped{"../../s.pdf", pdf, zip.Store})),
			[]string{"r.pdf", "s.pdf"}, ""},
		{"a zip that calls itself a PDF", carrying("application/pdf; name=r.pdf", zipOf(t, zipped{"r.pdf", pdf,
			zip.Store})), []string{"r.pdf"}, ""},
		{"a zip in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"b.zip", zipOf(t, zipped{"r.pdf",
			pdf, zip.Store}), zip.Store})), nil, "the file b.zip of the zip a.zip is a zip itself"},
		{"an empty zip", carrying("application/zip; name=a.zip", zipOf(t)), nil, "none of its 3 parts is a PDF or an e-invoice"},
		{"a cut zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"r.pdf", pdf, zip.Store})[:60]), nil, "is a zip that is cut off"},
		{"signed", carrying("application/pkcs7-mime; smime-type=signed-data; name=smime.p7m", signedDER(inner)), []string{"r.pdf"}, ""},
		{"signed, of unknown length", carrying("application/x-pkcs7-mime; name=smime.p7m", signedBER(inner)), []string{"r.pdf"}, ""},
		{"signed, as a file", carrying("application/octet-stream; name=smime.p7m", signedDER(inner)), []string{"r.pdf"}, ""},
		{"encrypted", carrying("application/pkcs7-mime; smime-type=enveloped-data", der(0x30, oidEnveloped, der(0xa0,
			"secret"))), nil, "is encrypted (S/MIME)"},
		{"signed and cut", carrying("application/pkcs7-mime", signedDER(inner)[:80]), nil, "none of its 3 parts is a PDF or an e-invoice"},
		{"winmail.dat", carrying("application/ms-tnef; name=winmail.dat", tnefOf([2]string{"r.pdf", pdf},
			[2]string{"note.txt", "hello"}, [2]string{"s.pdf", pdf})), []string{"r.pdf", "s.pdf"}, ""},
		{"a cut winmail.dat", carrying("application/ms-tnef; name=winmail.dat", tnefOf([2]string{"r.pdf", pdf},
			[2]string{"s.pdf", pdf})[:150]), []string{"r.pdf"}, "winmail.dat that is cut off"},
		{"octet-stream", carrying("application/octet-stream", pdf), []string{"attachment-1.pdf"}, ""},
		{"a zip in winmail.dat", carrying("application/ms-tnef", tnefOf([2]string{"a.zip", zipOf(t, zipped{"r.pdf", pdf, zip.Deflate})})),
			[]string{"r.pdf"}, ""},
		{"winmail.dat in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"winmail.dat", tnefOf([2]string{"r.pdf", pdf}),
			zip.Store})), []string{"r.pdf"}, ""},
		{"a mail in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"rechnung.eml", inner, zip.Deflate})), []string{"r.pdf"}, ""},
		{"a signed PDF in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"r.pdf.p7m", signedDER(pdf), zip.Deflate},
			zipped{"s.pdf", pdf, zip.Store})), []string{"r.pdf", "s.pdf"}, ""},
		{"a signed mail in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"smime.p7m", signedBER(inner), zip.Deflate})),
			[]string{"r.pdf"}, ""},
		{"an encrypted file in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"r.pdf.p7m", der(0x30, oidEnveloped, der(0xa0,
			"secret")), zip.Store})), nil, "is encrypted (S/MIME)"},
		{"a signed zip", carrying("application/octet-stream; name=a.zip.p7m", signedDER(zipOf(t, zipped{"r.pdf", pdf, zip.Deflate}))),
			[]string{"r.pdf"}, ""},
		{"a mail in winmail.dat", carrying("application/ms-tnef", tnefOf([2]string{"x.eml", inner})), []string{"r.pdf"}, ""},
		{"a zip in a zip that isn't called so", carrying("application/zip; name=a.zip", zipOf(t, zipped{"rechnungen", zipOf(t, zipped{"r.pdf",
			pdf, zip.Store}), zip.Store})), nil, "the file rechnungen of the zip a.zip is a zip itself"},
		{"a zip in a mail in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"x.eml", string(carrying("application/zip; name=b.zip",
			zipOf(t, zipped{"r.pdf", pdf, zip.Store}))), zip.Store}, zipped{"s.pdf", pdf, zip.Store})), []string{"s.pdf"}, "the file b.zip of the zip a.zip"},
		{"a zip behind a zip", multipart("mixed", zipPart("a.zip", zipOf(t, zipped{"r.pdf", pdf, zip.Store})),
			zipPart("b.zip", zipOf(t, zipped{"s.pdf", pdf, zip.Store}))), []string{"r.pdf", "s.pdf"}, ""},
		{"an office document in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"x.docx", zipOf(t, zipped{"[Content_Types].xml",
			"", zip.Store}), zip.Store}, zipped{"x.odt", zipOf(t, zipped{"mimetype", "", zip.Store}), zip.Store})), nil, "none of its 5 parts is"},
		{"a file beside a zip in a zip", carrying("application/zip; name=a.zip", zipOf(t, zipped{"b.zip", zipOf(t), zip.Store},
			zipped{"r.pdf", pdf, zip.Store})), []string{"r.pdf"}, "the file b.zip of the zip a.zip is a zip itself"},
		{"a RAR archive", carrying("application/vnd.rar; name=a.rar", "Rar!\x1a\x07\x01\x00..."), nil, "(a.rar) is a RAR or 7z archive, which is not opened"},
		{"a 7z archive", carrying("application/octet-stream; name=a.7z", "7z\xbc\xaf\x27\x1c..."), nil, "(a.7z) is a RAR or 7z archive, which is not opened"},
		{"a RAR archive in a zip, beside a PDF", carrying("application/zip; name=a.zip", zipOf(t, zipped{"b.rar", "Rar!\x1a\x07\x00...", zip.Store},
			zipped{"r.pdf", pdf, zip.Store})), []string{"r.pdf"}, "(b.rar) is a RAR or 7z archive"},
		{"a signed PDF", carrying("application/octet-stream; name=r.pdf.p7m", signedDER(pdf)), []string{"r.pdf"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := message.Read(c.mail, message.Limits{})
			told := m.Missed
			if errors.Is(err, message.ErrBroken) {
				told = err.Error()
			} else if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range m.Files {
				names = append(names, p.Name)
				if string(p.Data) != pdf {
					t.Errorf("%s holds %q", p.Name, p.Data)
				}
			}
			if !slices.Equal(names, c.names) || !strings.Contains(told, c.missed) {
				t.Errorf("got %q, %q, want %q, %q", names, told, c.names, c.missed)
			}
		})
	}
}

// XML is an invoice by its root element, whatever it is called and wherever it is; other XML is none.
func TestEInvoicesAreFoundByTheirRoot(t *testing.T) {
	const ubl = `<?xml version="1.0"?><!-- by a program --><Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>`
	const note = `<u:CreditNote xmlns:u="urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2"/>`
	const cii = "\xef\xbb\xbf" + `<?xml version="1.0" encoding="ISO-8859-1"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"/>`
	for _, c := range []struct {
		name, kind, content string
		want                []string
	}{
		{"UBL", "application/xml; name=xrechnung.xml", ubl, []string{"xrechnung.xml"}},
		{"a credit note", "text/plain", note, []string{"attachment-1.xml"}},
		{"CII of another charset", "application/octet-stream; name=x.bin", cii, []string{"x.bin"}},
		{"in a zip", "application/zip; name=a.zip", zipOf(t, zipped{"x.xml", ubl, zip.Deflate}, zipped{"r.pdf", pdf, zip.Store}),
			[]string{"x.xml", "r.pdf"}},
		{"in winmail.dat", "application/ms-tnef", tnefOf([2]string{"x.xml", cii}), []string{"x.xml"}},
		{"signed", "application/pkcs7-mime; name=x.xml.p7m", signedBER(ubl), []string{"x.xml"}},
		{"of no namespace", "application/xml; name=x.xml", "<Invoice/>", nil},
		{"of another namespace", "application/xml; name=x.xml", `<Invoice xmlns="urn:another"/>`, nil},
		{"a page", "text/html", "<html>Invoice</html>", nil},
		{"an invoice within", "application/xml", "<a>" + note + "</a>", nil},
		{"broken", "application/xml", "<Invoice xmlns='urn:oasis:names", nil},
	} {
		raw := carrying(c.kind, c.content)
		m, err := message.Read(raw, message.Limits{})
		var got []string
		for _, f := range m.Files {
			if got = append(got, f.Name); f.XML == (string(f.Data) == pdf) {
				t.Errorf("%s: %s is taken for the other kind", c.name, f.Name)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
		if none, err := message.Read(raw, message.Limits{NoXML: true}); err != nil || len(none.Files) > 1 ||
			len(none.Files) == 1 && none.Files[0].XML {
			t.Errorf("%s: without XML got %v, %v", c.name, none.Files, err)
		}
	}
}

// Containers that hold others are opened as deep as parts are nested.
func TestNestedContainersAreBounded(t *testing.T) {
	tnef, signed, mails := pdf, "Content-Type: application/pdf\r\n\r\n"+pdf, "Content-Type: application/pdf\r\n\r\n"+pdf
	file, name := pdf, "r.pdf"
	for range 30 {
		file, name = signedDER(file), name+".p7m"
		mails = "Content-Type: application/octet-stream; name=x.eml\r\n\r\n" + mails
		tnef = tnefOf([2]string{"winmail.dat", tnef})
		signed = "Content-Type: application/pkcs7-mime\r\n\r\n" + signedDER(signed)
	}
	for name, raw := range map[string][]byte{
		"winmail.dat": carrying("application/ms-tnef", tnef), "signatures": []byte("From: a@b.example\r\n" + signed),
		"mails in a zip": carrying("application/zip", zipOf(t, zipped{"x.eml", mails, zip.Store})),
		"signed files":   carrying("application/octet-stream; name="+name, file),
	} {
		m, err := message.Read(raw, message.Limits{})
		if !errors.Is(err, message.ErrTooMany) || !strings.Contains(err.Error(), "more than 20 deep") {
			t.Errorf("%s: %d files, %v", name, len(m.Files), err)
		}
	}
}

// What containers unpack to is bounded.
func TestContainersAreBounded(t *testing.T) {
	bomb := zipOf(t, zipped{"r.pdf", pdf + strings.Repeat("\x00", 3<<20), zip.Deflate})
	var many []zipped
	for i := range 2000 {
		many = append(many, zipped{fmt.Sprint(i), "", zip.Store})
	}
	long := make([]zipped, 300)
	for i := range long {
		long[i] = zipped{strings.Repeat("x", 60_000) + fmt.Sprint(i), "", zip.Store}
	}
	for name, c := range map[string]struct{ content, want string }{
		"a bomb":            {bomb, "unpack to more than 1048576 bytes"},
		"many files":        {zipOf(t, many...), "more than 1000 parts"},
		"a large directory": {zipOf(t, long...), "directory of the zip"},
		"a bomb of many": {zipOf(t, slices.Repeat([]zipped{{"r.pdf", pdf + strings.Repeat("\x00", 1<<19),
			zip.Deflate}}, 5)...), "unpack to more than 1048576 bytes"},
		"a mail of 60 in it": {zipOf(t, slices.Repeat([]zipped{{"r.pdf", pdf, zip.Deflate}}, 60)...), "more than 50 PDFs"},
	} {
		if m, err := message.Read(carrying("application/zip", c.content),
			message.Limits{Unpacked: 1 << 20}); !errors.Is(err, message.ErrTooMany) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d PDFs, %v, want %q", name, len(m.Files), err, c.want)
		}
	}
}

// What is attached in a winmail.dat are parts of the mail, of which it has no more than are allowed.
func TestTheAttachmentsOfAWinmailAreBounded(t *testing.T) {
	many := slices.Repeat([][2]string{{"a.txt", "x"}}, 1000)
	m, err := message.Read(carrying("application/ms-tnef", tnefOf(many...)), message.Limits{})
	if !errors.Is(err, message.ErrTooMany) || !strings.Contains(err.Error(), "more than 1000 parts") {
		t.Errorf("%d attachments give %+v, %v", len(many), m, err)
	}
}

// A zip has more entries than are allowed, whatever its end says of their number and size: directories are no parts, and the
// library reads all that stand behind each other, and what a zip64 says.
func TestTheDirectoryOfAZipIsBoundedByWhatIsThere(t *testing.T) {
	for _, entries := range []int{20_000, 70_000} { // the latter need a zip64
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i := range entries {
			if _, err := w.Create(fmt.Sprint(i, "/")); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		content := b.Bytes()
		end := bytes.LastIndex(content, []byte("PK\x05\x06"))
		const size = 12
		binary.LittleEndian.PutUint32(content[end+size:], 100)
		m, err := message.Read(carrying("application/zip", string(content)), message.Limits{})
		want := fmt.Sprint("has ", entries, " entries, 16384 are allowed")
		if !errors.Is(err, message.ErrTooMany) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d entries: %v, %v", entries, m.Missed, err)
		}
	}
}

// Given an invoice beside a file that is called a mail or is signed, and is no mail, then the invoice is read and the other told of:
// what a header is bounded by is about mails.
func TestAFileThatIsNoMailCostsTheInvoiceNothing(t *testing.T) {
	invoice := attachment("Content-Type: application/pdf; name=rechnung.pdf\n")
	binary := strings.Repeat("AC1032-drawing--", 20<<10)
	lines := strings.Repeat("AC1032\n", 11_000)
	fields := strings.Repeat("a:b\n", 3000)
	file := func(header, content string) string {
		return part(header+"Content-Transfer-Encoding: base64\n", base64.StdEncoding.EncodeToString([]byte(content)))
	}
	const stream = "Content-Type: application/octet-stream; name="
	for name, c := range map[string]struct{ odd, told string }{
		"a signed plan":              {file(stream+"plan.dwg.p7m\n", signedDER(binary)), "(plan.dwg.p7m) is signed, and what it signs is no mail: a header has"},
		"one of many lines":          {file(stream+"plan.dwg.P7M\n", signedBER(lines)), "(plan.dwg.P7M) is signed, and what it signs is no mail: a header has"},
		"one of what is like fields": {file(stream+"plan.dwg.p7m\n", signedDER(fields)), "(plan.dwg.p7m) is signed, and what it signs is no mail: a header has"},
		"an archive called a mail":   {file(stream+"archiv.eml\n", binary), "(archiv.eml) should be a mail"},
		"one of that type":           {file("Content-Type: message/rfc822; name=archiv\n", binary), "(archiv) should be a mail"},
		"a part of a long header":    {part("X: "+binary+"\n", pdf), "the part behind part"},
	} {
		for i, raw := range [][]byte{multipart("mixed", hello, invoice, c.odd), multipart("mixed", hello, c.odd, invoice)} {
			m, err := message.Read(raw, message.Limits{})
			if err != nil || len(m.Files) != 1 || m.Files[0].Name != "rechnung.pdf" || !strings.Contains(m.Missed, c.told) {
				t.Errorf("%s, %d: got %d files, %q, %v", name, i, len(m.Files), m.Missed, err)
			}
		}
	}
	signed := file(stream+"rechnung.pdf.P7M\n", signedDER(pdf))
	if m, err := message.Read(multipart("mixed", hello, signed), message.Limits{}); err != nil || len(m.Files) != 1 || m.Files[0].Name != "rechnung.pdf" {
		t.Errorf("a signed PDF gives %v, %v", m.Files, err)
	}
}
