package text_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/invoice/qr"
	"tallyhouse/ingest/invoice/text"
)

func mosaics(t *testing.T, data []byte) []text.Mosaic {
	t.Helper()
	budget := pdf.NewBudget(64<<20, 10_000_000)
	f, err := pdf.Open(context.Background(), data, budget)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.Pages(1)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := text.Read(context.Background(), f, budget, pages)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Pages[0].Mosaics
}

// Given a code as another program draws it, then its rectangles show it.
func TestRectanglesShowCodes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "codes", "*.pdf"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found := mosaics(t, data)
			if len(found) != 1 {
				t.Fatalf("%d mosaics", len(found))
			}
			if codes := qr.Find(found[0].Picture()); len(codes) != 1 || !strings.HasPrefix(codes[0], "BCD\n002\n1\nSCT\n") {
				t.Errorf("codes %q", codes)
			}
		})
	}
}

// Given rules, few rectangles, or very many, then nothing is taken for a code, and what is kept is bounded.
func TestRectanglesThatAreNoCode(t *testing.T) {
	for name, c := range map[string]struct {
		drawing string
		want    int
	}{
		"rules":                  {strings.Repeat("0 500 595 1 re f 50 0 1 842 re f ", 100), 0},
		"few":                    {strings.Repeat("100 100 5 5 re f ", 59), 0},
		"many at one place":      {strings.Repeat("100 100 5 5 re f ", 50_000), 0},
		"a page full of them":    {scattered(595, 842, 7), 0},
		"more than is looked at": {scattered(595, 842, 50), 16},
	} {
		if found := mosaics(t, pdftest.Document{Pages: []pdftest.Page{{Drawing: c.drawing}}}.Bytes()); len(found) != c.want {
			t.Errorf("%s: %d mosaics", name, len(found))
		}
	}
}

// scattered are squares all over a page, in groups so far apart.
func scattered(width, height, apart int) string {
	var out strings.Builder
	for y := 0; y < height; y += apart {
		for x := 0; x < width; x += apart {
			for n := range 61 {
				out.WriteString(at(x+n%8*4, y+n/8*4))
			}
		}
	}
	return out.String()
}

func at(x, y int) string { return fmt.Sprintf("%d %d 2 2 re f ", x, y) }
