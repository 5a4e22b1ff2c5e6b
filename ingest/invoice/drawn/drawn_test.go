package drawn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// once has PDFium compiled once for all tests: that takes seconds.
var once = sync.OnceValue(func() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfig().WithCompilationCache(wazero.NewCompilationCache())
})

// Given pages that hold a black corner, as a picture or turned, then it is drawn where viewers show it, and nothing else is.
func TestPagesAreDrawnAsViewersShowThem(t *testing.T) {
	corner := pdftest.Picture{Width: 2, Height: 2, Gray: []byte{0, 255, 255, 255}}
	data := pdftest.Document{Pages: []pdftest.Page{{Picture: &corner}, {Picture: &corner, Rotate: 90}, {}}}.Bytes()
	f, err := Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, c := range []struct {
		width, height float64
		x, y          float64 // of the corner, in parts of the page; below zero: there is none
	}{{pdftest.Width, pdftest.Height, 0.25, 0.25}, {pdftest.Height, pdftest.Width, 0.75, 0.25}, {pdftest.Width, pdftest.Height, -1, -1}} {
		g, err := f.Page(t.Context(), i, c.width, c.height, 72)
		if err != nil {
			t.Fatal(err)
		}
		if g.Rect.Dx() != int(c.width) || g.Rect.Dy() != int(c.height) {
			t.Errorf("page %d is drawn as %v", i+1, g.Rect)
		}
		for _, at := range [][2]float64{{0.25, 0.25}, {0.75, 0.25}, {0.25, 0.75}, {0.75, 0.75}} {
			black := g.GrayAt(int(at[0]*c.width), int(at[1]*c.height)).Y < 128
			if black != (at == [2]float64{c.x, c.y}) {
				t.Errorf("page %d: black %v at %v, want it at %v %v", i+1, black, at, c.x, c.y)
			}
		}
	}
	for name, refused := range map[string]struct {
		index              int
		width, height, dpi float64
	}{
		"no such page":    {3, pdftest.Width, pdftest.Height, 72},
		"another size":    {0, pdftest.Height, pdftest.Width, 72},
		"too many pixels": {0, pdftest.Width, pdftest.Height, 2_000},
		"no pixels":       {0, 0, 0, 200},
	} {
		if _, err := f.Page(t.Context(), refused.index, refused.width, refused.height, refused.dpi); !errors.Is(err, ErrFailed) {
			t.Errorf("%s: error = %v, want ErrFailed", name, err)
		}
	}
}

func TestWhatIsNoPDFIsNotOpened(t *testing.T) {
	if _, err := open(t.Context(), []byte("no PDF"), once()); !errors.Is(err, ErrFailed) {
		t.Errorf("error = %v, want ErrFailed", err)
	}
}

// Given a page that takes very long to draw, when the time is over, then drawing ends.
func TestDrawingEndsWithItsTime(t *testing.T) {
	config := once()
	content := make([]byte, 0, 24<<20)
	for len(content) < 20<<20 {
		content = append(content, "0 0 595 842 re f* 0 842 m 9 9 300 900 595 0 c S\n"...)
	}
	f, err := open(t.Context(), pdftest.Document{Pages: []pdftest.Page{{}}}.Bytes(), config)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	f, err = open(ctx, onePage(content), config)
	if err == nil {
		defer f.Close()
		_, err = f.Page(ctx, 0, 595, 842, 200)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want the deadline", err)
	}
}

// onePage is a page of a content.
func onePage(content []byte) []byte {
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\n"+
		"endobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>\nendobj\n4 0 obj\n<< /Length %d >>\nstream\n%s\n"+
		"endstream\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%%%EOF", len(content), content)
}

func FuzzPage(f *testing.F) {
	for _, kind := range []string{"jpeg2000", "jbig2", "jbig2-symbols", "layers"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "scans", kind+".pdf"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	config := once()
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := open(t.Context(), data, config)
		if err != nil {
			return
		}
		if g, err := file.Page(t.Context(), 0, 595, 842, 72); err == nil && len(g.Pix) != 595*842 {
			t.Errorf("%d pixels", len(g.Pix))
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
}
