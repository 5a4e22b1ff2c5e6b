package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

func open(data []byte) (*pdf.File, error) {
	return pdf.Open(context.Background(), data, pdf.NewBudget(64<<20, 2_000_000))
}

func sample(objectStreams bool) []byte {
	d := pdftest.Document{Pages: []pdftest.Page{{Texts: []pdftest.Text{{X: 60, Y: 60, Text: "one"}}},
		{Texts: []pdftest.Text{{X: 60, Y: 60, Text: "two"}}}}, ObjectStreams: objectStreams}
	return d.Bytes()
}

func contents(t *testing.T, data []byte) []string {
	t.Helper()
	f, err := open(data)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	pages, err := f.Pages(10)
	if err != nil {
		t.Fatalf("walking pages: %v", err)
	}
	var out []string
	for _, p := range pages {
		var content []byte
		for part, err := range f.Content(p, 1<<20) {
			if err != nil {
				t.Fatalf("content: %v", err)
			}
			content = append(content, part...)
		}
		out = append(out, string(content))
	}
	return out
}

func TestPagesAreFoundHoweverTheFileIsKept(t *testing.T) {
	plain := sample(false)
	start := bytes.LastIndex(plain, []byte("startxref"))
	cases := map[string][]byte{
		"table":                plain,
		"object streams":       sample(true),
		"junk before header":   append([]byte("mail gateway\r\n"), plain...),
		"pdf 2.0":              bytes.Replace(plain, []byte("%PDF-1.7"), []byte("%PDF-2.0"), 1),
		"wrong startxref":      append(append([]byte{}, plain[:start]...), []byte("startxref\n7\n%%EOF\n")...),
		"wrong offsets":        bytes.Replace(plain, []byte("%PDF-1.7\n"), []byte("%PDF-1.7\n% a line more\n"), 1),
		"blanks after the end": append(append([]byte{}, plain...), bytes.Repeat([]byte{' '}, 500)...),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			got := contents(t, data)
			if len(got) != 2 || !strings.Contains(got[0], "(one) Tj") || !strings.Contains(got[1], "(two) Tj") {
				t.Errorf("pages = %q", got)
			}
		})
	}
}

func TestUnusableFilesAreRefusedWithAReason(t *testing.T) {
	plain := sample(false)
	cases := []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, pdf.ErrNotPDF},
		{"text", []byte("Dear customer"), pdf.ErrNotPDF},
		{"first half", plain[:len(plain)/2], pdf.ErrBroken},
		{"header and noise", append([]byte("%PDF-1.4\n"), bytes.Repeat([]byte{0x93, 0x11, 0xFE}, 400)...), pdf.ErrBroken},
		{"no catalog", []byte("%PDF-1.4\n1 0 obj\n<< /Type /Font >>\nendobj\nstartxref\n0\n%%EOF"), pdf.ErrBroken},
		{"nested arrays", nested(900_000), pdf.ErrBroken},
		{"password", []byte("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages" +
			" /Kids [] /Count 0 >>\nendobj\n3 0 obj\n<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4" +
			" /O (" + strings.Repeat("o", 32) + ") /U (" + strings.Repeat("u", 32) + ") >>\nendobj\ntrailer\n<<" +
			" /Root 1 0 R /Encrypt 3 0 R /ID [(x) (x)] >>\nstartxref\n0\n%%EOF"), pdf.ErrEncrypted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := open(c.data); !errors.Is(err, c.want) {
				t.Errorf("error = %v, want %v", err, c.want)
			}
		})
	}
}

func nested(n int) []byte {
	return []byte("%PDF-1.4\n1 0 obj\n" + strings.Repeat("[", n) + "\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n9\n%%EOF")
}

// given writes objects 1… as a file without a table, which is rebuilt.
func given(objects ...string) []byte {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b.WriteString("trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF")
	return []byte(b.String())
}

func TestCyclesAreCut(t *testing.T) {
	f, err := open(given(
		"<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles 3 0 R >> >>",
		"<< /Type /Pages /Kids [2 0 R 2 0 R 4 0 R] /Count 900000000 >>",
		"<< /Kids [3 0 R 3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Contents 5 0 R >>",
		"5 0 R"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.Pages(100)
	if err != nil || len(pages) != 1 {
		t.Errorf("%d pages, %v, want the one real page", len(pages), err)
	}
	if a := f.Attachments(10); len(a) != 0 {
		t.Errorf("attachments = %v, want none", a)
	}
	if o := f.Resolve(pdf.Ref{Number: 5}); o != nil {
		t.Errorf("an object that is itself = %v, want null", o)
	}
}

func TestSectionsThatPointAtEachOtherEnd(t *testing.T) {
	data := []byte("%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF")
	if _, err := open(data); !errors.Is(err, pdf.ErrBroken) {
		t.Errorf("error = %v, want broken", err)
	}
}

func TestTooManyPagesAreToldWithTheFirstOnes(t *testing.T) {
	f, err := open(sample(false))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.Pages(1)
	if !errors.Is(err, pdf.ErrTooManyPages) || len(pages) != 1 {
		t.Errorf("%d pages, %v", len(pages), err)
	}
}

func TestUnpackedBytesAreBounded(t *testing.T) {
	bomb := pdftest.Document{Pages: []pdftest.Page{{}},
		Attachments: []pdftest.Attachment{{Name: "a.xml", Data: make([]byte, 3<<20)}}}.Bytes()
	f, err := open(bomb)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Unpack(f.Attachments(1)[0].Stream, 1<<20); !errors.Is(err, pdf.ErrBudget) {
		t.Errorf("error = %v, want the budget's", err)
	}
	budget := pdf.NewBudget(1<<20, 1_000_000)
	if f, err = pdf.Open(context.Background(), bomb, budget); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Unpack(f.Attachments(1)[0].Stream, 16<<20); !errors.Is(err, pdf.ErrBudget) || budget.Err() == nil {
		t.Errorf("error = %v, budget %v: the file's budget is spent", err, budget.Err())
	}
}

func TestWorkEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var objects []string
	for range 2000 {
		objects = append(objects, "<< >>")
	}
	if _, err := pdf.Open(ctx, given(objects...), pdf.NewBudget(1<<20, 1_000_000)); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}

func TestFiltersUnpack(t *testing.T) {
	cases := []struct{ name, dict, body, want string }{
		{"none", "", "plain", "plain"},
		{"hex", "/Filter /ASCIIHexDecode", "68656C6C6F>", "hello"},
		{"ascii85", "/Filter /ASCII85Decode", "87cURD]j~>", "Hello "},
		{"run length", "/Filter /RunLengthDecode", "\x01ab\xFEc\x80", "abccc"},
		{"lzw", "/Filter /LZWDecode", "\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01", "-----A---B"},
		{"two filters", "/Filter [/ASCIIHexDecode /RunLengthDecode]", "0161 62FE6380>", "abccc"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := open(given("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] >>",
				fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", c.dict, len(c.body), c.body)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Unpack(f.Stream(pdf.Ref{Number: 3}), 1<<20)
			if err != nil || string(got) != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestLexerIsAsLenientAsViewers(t *testing.T) {
	l := pdf.NewLexer([]byte(`(a\(b\)\101\q(c)) <48 65 6> -.5 +7 --3 /A#42c % comment
		[1 [2] (x)] << /K 1 /L [2] >> Tj`))
	want := []string{"a(b)Aq(c)", "He`", "-0.5", "7", "-3", "ABc", "[1 [2] x]", "map[K:1 L:[2]]", "Tj"}
	for i, w := range want {
		o, err := l.Next()
		if err != nil || fmt.Sprint(o) != w {
			t.Errorf("token %d = %v, %v, want %s", i, o, err, w)
		}
	}
}

func TestTextStrings(t *testing.T) {
	for in, want := range map[pdf.String]string{"\xFE\xFF\x00A\x20\xAC": "A€", "\xEF\xBB\xBFé": "é", "caf\xE9": "café"} {
		if got := pdf.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(sample(false))
	f.Add(sample(true))
	f.Add(nested(100))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := pdf.Open(context.Background(), data, pdf.NewBudget(4<<20, 50_000))
		if err != nil {
			return
		}
		pages, _ := file.Pages(5)
		for _, p := range pages {
			for _, err := range file.Content(p, 1<<20) {
				_ = err
			}
		}
		for _, a := range file.Attachments(3) {
			_, _ = file.Unpack(a.Stream, 1<<20)
		}
	})
}

func FuzzLexer(f *testing.F) {
	f.Add([]byte("BT /F1 12 Tf (a\\)b) Tj [(x) -20 <4142>] TJ ET"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := pdf.NewLexer(data)
		for n := 0; ; n++ {
			if _, err := l.Next(); err != nil {
				return
			}
			if n > len(data) {
				t.Fatal("the lexer does not advance")
			}
		}
	})
}
