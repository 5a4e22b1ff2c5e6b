package pdf

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// show writes an object with all that it leads to, however it was read.
func show(f *File, o Object, depth int, out *strings.Builder) {
	if depth > 9 || out.Len() > 4<<20 {
		return
	}
	switch v := f.Resolve(o).(type) {
	case Dict:
		out.WriteString("<<")
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, string(k))
		}
		sort.Strings(keys)
		for _, k := range keys {
			if k != "Parent" && k != "P" && f.Resolve(v[Name(k)]) != nil {
				fmt.Fprintf(out, "/%s ", k)
				show(f, v[Name(k)], depth+1, out)
			}
		}
		out.WriteString(">>")
	case Array:
		out.WriteString("[")
		for _, item := range v {
			show(f, item, depth+1, out)
		}
		out.WriteString("]")
	case *Stream:
		show(f, v.Dict, depth, out)
		data, filter, err := f.UnpackImage(v, 8<<20)
		fmt.Fprintf(out, "stream %x %s %v", data, filter.Name, err != nil)
	default:
		fmt.Fprintf(out, "%T %v ", v, v)
	}
}

// contentOf joins the content streams of a page.
func contentOf(f *File, p Page) (string, error) {
	var all []byte
	for part, err := range f.Content(p, 1<<20) {
		if err != nil {
			return "", err
		}
		all = append(all, part...)
	}
	return string(all), nil
}

// sees returns what a parser makes of a file: everything below its catalog.
func sees(t *testing.T, open func(context.Context, []byte, *Budget) (*File, error), data []byte) (string, *File) {
	t.Helper()
	f, err := open(context.Background(), data, NewBudget(256<<20, 40_000_000))
	if err != nil {
		return err.Error(), nil
	}
	var out strings.Builder
	show(f, f.Root(), 0, &out)
	return out.String(), f
}

// plain writes objects 1… with a correct table, as the library wants it.
func plain(objects ...string) []byte {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var table strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1,
		table.String(), len(objects)+1, at)
	return []byte(b.String())
}

const (
	catalog = "<< /Type /Catalog /Pages 2 0 R /AA 3 0 R >>"
	pages   = "<< /Type /Pages /Kids [4 0 R 4 0 R] /Count 2 /MediaBox [0 0 595.28 841.89] >>"
	page    = "<< /Type /Page /Parent 2 0 R /Contents [5 0 R 6 0 R] >>"
)

func content(dict, body string) string {
	return fmt.Sprintf("<< %s >>\nstream\n%s\nendstream", dict, body)
}

// Given files that both parsers understand, then they see the same.
func TestBothParsersSeeTheSame(t *testing.T) {
	document := pdftest.Document{
		Pages: []pdftest.Page{{Texts: []pdftest.Text{{X: 60, Y: 60, Text: "one"}}},
			{Texts: []pdftest.Text{{X: 60, Y: 60, Text: "zwei (2) \\ €"}}}},
		Attachments: []pdftest.Attachment{{Name: "factur-x.xml", Data: []byte("<x/>")}},
	}
	packed := document
	packed.ObjectStreams = true
	cases := map[string][]byte{
		"sample invoice": pdftest.Sample().PDF(),
		"table":          document.Bytes(),
		"object streams": packed.Bytes(),
		"blanks after":   append(document.Bytes(), bytes.Repeat([]byte("\r\n "), 300)...),
		"junk before":    append([]byte("mail gateway\r\n"), document.Bytes()...),
		"values": plain(catalog, pages,
			"<< /A [1 -2.5 .5 4. +7 true false null (a\\)\\101\\n) <48 656> /N#41me] /B << /C 7 0 R /D [7 0 R] >> /E 99 0 R >>", page,
			content("/Length 7 0 R", "BT (a) Tj ET"), content("/Length 12", "BT (b) Tj ET"), "12"),
		"filters": plain(catalog, pages, content("/Length 21 /Filter [/ASCIIHexDecode /RunLengthDecode]", "0161 62FE6380>       "), page,
			content("/Length 14 /Filter /DCTDecode", "no real pixels"),
			content("/Length 9 /Filter /LZWDecode", "\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01")),
		"cycles": plain("<< /Type /Catalog /Pages 2 0 R /AA 3 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R 4 0 R] /Count 900000000 >>",
			"<< /Next 3 0 R >>", page, content("/Length 1", "q"), content("/Length 1", "Q")),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			want, _ := sees(t, open, data)
			got, f := sees(t, Open, data)
			if f == nil || f.library == nil {
				t.Fatalf("the library does not read it: %s", got)
			}
			if got != want {
				t.Errorf("the library sees\n%s\nour parser\n%s", got, want)
			}
		})
	}
}

// Given objects that the library panics on or cuts short, then our parser reads just these.
func TestWhatTheLibraryCannotReadIsReadByOurs(t *testing.T) {
	data := plain(catalog, pages, "<< /A 7 0 R /B (fine) >>", page, content("/Length 3", "BT (whole) Tj ET"), content("/Length 1", "Q"),
		"<< /C (wrong \\q escape) /D --5 /K 8 0 R >>", "[1 2")
	want, _ := sees(t, open, data)
	got, f := sees(t, Open, data)
	if f == nil || f.library == nil {
		t.Fatalf("the library is not used: %s", got)
	}
	if got != want || !strings.Contains(got, "wrong q escape") || !strings.Contains(got, fmt.Sprintf("%x", "BT (whole) Tj ET")) {
		t.Errorf("read\n%s\nby our parser alone\n%s", got, want)
	}
}

// Given files that would make the library loop, recurse or ask for memory without end, then it never sees them.
func TestTheLibraryNeverSeesWhatHarmsIt(t *testing.T) {
	// packedIn writes a file whose object 3 is in object stream 4, with a cross-reference stream as entries say.
	with := func(objectStream, references, entries string) []byte {
		var b strings.Builder
		b.WriteString("%PDF-1.5\n")
		var at []int
		for i, o := range []string{"<< /Type /Catalog /Pages 2 0 R /AA 3 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>", objectStream} {
			at = append(at, b.Len())
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", []int{1, 2, 4}[i], o)
		}
		start := b.Len()
		row := func(kind, second, third int) string {
			return string([]byte{byte(kind), byte(second >> 8), byte(second), byte(third)})
		}
		if entries == "" {
			entries = row(0, 0, 0) + row(1, at[0], 0) + row(1, at[1], 0) + row(2, 4, 0) + row(1, at[2], 0) + row(1, start, 0)
		}
		fmt.Fprintf(&b, "5 0 obj\n<< /Type /XRef /Root 1 0 R %s /Length %d >>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF",
			references, len(entries), entries, start)
		return []byte(b.String())
	}
	object := func(extra, body string) string {
		return content(fmt.Sprintf("/Type /ObjStm %s /First 4 /Length %d", extra, len(body)), body)
	}
	const fit = "/Size 6 /W [1 2 1]"
	circle := plain(catalog, "<< /Type /Pages /Kids [] >>")
	circle = bytes.Replace(circle, []byte("/Root"), fmt.Appendf(nil, "/Prev %d /Root", bytes.Index(circle, []byte("xref"))), 1)
	cases := map[string]struct {
		data []byte
		used bool
	}{
		"all is well":                 {with(object("/N 1", "3 0 << /A <48> >>"), fit, ""), true},
		"open hexadecimal string":     {with(object("/N 1", "3 0 <48"), fit, ""), false},
		"more objects than there are": {with(object("/N 900000000000", "7 0 << >>"), fit, ""), false},
		"extends itself":              {with(object("/N 1 /Extends 4 0 R", "7 0 << >>"), fit, ""), false},
		"its length within itself":    {with(content("/Type /ObjStm /N 1 /First 4 /Length 3 0 R", "3 0 9"), fit, ""), false},
		"a stream within itself": {with(object("/N 1", "3 0 << >>"), fit,
			"\x00\x00\x00\x00\x01\x00\x09\x00\x01\x00\x44\x00\x02\x00\x04\x00\x02\x00\x04\x00"), false},
		"a size beyond memory": {with(object("/N 1", "3 0 << >>"), "/Size 90000000000 /W [1 2 1] /Index [0 6]", ""), false},
		"sizes one after the other": {with(object("/N 1", "3 0 << >>"), "/Size 6 /Size 90000000000 /W [1 2 1] /Index [0 6]", ""),
			false},
		"numbers beyond memory": {with(object("/N 1", "3 0 << >>"), "/Size 6 /W [1 2 1] /Index [0 5 80000000 1]", ""), false},
		"columns beyond memory": {with(object("/N 1", "3 0 << >>"), fit+" /DecodeParms << /Predictor 1 /Columns 90000000000 >>",
			""), false},
		"sections that point in circles": {circle, false},
		"a table from a great number on": {bytes.Replace(plain(catalog, "<< /Type /Pages /Kids [] >>"), []byte("trailer"),
			[]byte("80000000 1\n0000000009 00000 n \ntrailer"), 1), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, err := Open(context.Background(), c.data, NewBudget(1<<20, 100_000))
			if err != nil {
				if c.used {
					t.Fatal(err)
				}
				return
			}
			if used := f.library != nil; used != c.used {
				t.Errorf("the library is used: %v, want %v", used, c.used)
			}
			if f.Root() == nil {
				t.Error("the catalog is not read")
			}
		})
	}
}

// Given a page tree that the library reads and that leads back to itself, then walks end after each page.
func TestCyclesAreCutInWhatTheLibraryReads(t *testing.T) {
	data := plain("<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles 3 0 R >> >>", "<< /Type /Pages /Kids [2 0 R 2 0 R 4 0 R] >>",
		"<< /Kids [3 0 R 3 0 R] >>", "<< /Type /Page /Parent 2 0 R >>")
	f, err := Open(context.Background(), data, NewBudget(1<<20, 100_000))
	if err != nil || f.library == nil {
		t.Fatalf("the library does not read it: %v", err)
	}
	if list, err := f.Pages(100); err != nil || len(list) != 1 {
		t.Errorf("%d pages, %v, want the one real page", len(list), err)
	}
	if a := f.Attachments(10); len(a) != 0 {
		t.Errorf("attachments = %v, want none", a)
	}
}

// Given a budget that is soon spent, then reading by the library ends as our own does.
func TestTheLibrarysReadingIsCharged(t *testing.T) {
	data := plain(catalog, pages, "("+strings.Repeat("x", 1<<20)+")", page, content("/Length 1", "q"), content("/Length 1", "Q"))
	budget := NewBudget(1<<20, 2_000)
	f, err := Open(context.Background(), data, budget)
	if err != nil || f.library == nil {
		t.Fatalf("the library does not read it: %v", err)
	}
	if o := f.Resolve(f.Root()["AA"]); o != nil || budget.Err() == nil {
		t.Errorf("%T was read, budget %v", o, budget.Err())
	}
}

// Given any file, then both parsers see the same content of its pages, wherever both can.
func FuzzBothParsers(f *testing.F) {
	f.Add(pdftest.Sample().PDF())
	f.Add(plain(catalog, pages, "<< /A [1 2.5 (x) <48>] >>", page, content("/Length 12", "BT (a) Tj ET"), content("/Length 1", "Q")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		a, err := open(context.Background(), data, NewBudget(4<<20, 500_000))
		if err != nil {
			return
		}
		b, err := Open(context.Background(), data, NewBudget(4<<20, 500_000))
		if err != nil || b.library == nil {
			return
		}
		pagesA, errA := a.Pages(5)
		pagesB, errB := b.Pages(5)
		if errA != nil || errB != nil {
			return
		}
		if len(pagesA) != len(pagesB) {
			t.Fatalf("our parser sees %d pages, the library %d", len(pagesA), len(pagesB))
		}
		for i := range pagesA {
			contentA, errA := contentOf(a, pagesA[i])
			contentB, errB := contentOf(b, pagesB[i])
			if errA == nil && errB == nil && contentA != contentB {
				t.Fatalf("page %d is %q to our parser and %q to the library", i+1, contentA, contentB)
			}
		}
	})
}
