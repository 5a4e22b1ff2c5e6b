package ocr

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"tallyhouse/ingest/invoice/page/words"
	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/invoice/text"
)

// scanOf draws lines of text as a picture of a page, as a scanner gives it.
func scanOf(lines ...string) pdftest.Picture {
	const w, h, zoom = 330, 467, 5
	small := image.NewGray(image.Rect(0, 0, w, h))
	for i := range small.Pix {
		small.Pix[i] = 255
	}
	for i, line := range lines {
		d := font.Drawer{Dst: small, Src: image.NewUniform(color.Black), Face: basicfont.Face7x13, Dot: fixed.P(20, 40+24*i)}
		d.DrawString(line)
	}
	big := make([]byte, w*zoom*h*zoom)
	for y := range h * zoom {
		for x := range w * zoom {
			big[y*w*zoom+x] = small.GrayAt(x/zoom, y/zoom).Y
		}
	}
	return pdftest.Picture{Width: w * zoom, Height: h * zoom, Gray: big}
}

func open(t *testing.T, data []byte) (*pdf.File, []pdf.Page, []text.Page) {
	t.Helper()
	budget := pdf.NewBudget(256<<20, 1_000_000)
	f, err := pdf.Open(context.Background(), data, budget)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := f.Pages(10)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := text.Read(context.Background(), f, budget, pages)
	if err != nil {
		t.Fatal(err)
	}
	return f, pages, doc.Pages
}

// TestAScanIsReadWhereTesseractIs holds on every machine: with tesseract the
// words must come, without it the reason.
func TestAScanIsReadWhereTesseractIs(t *testing.T) {
	picture := scanOf("INVOICE NUMBER 4711", "TOTAL 120.00 EUR")
	f, pages, texts := open(t, pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes())
	doc, _, err := Read(context.Background(), f, pages, texts, Options{Languages: "eng"})
	if _, missing := exec.LookPath("tesseract"); missing != nil {
		if !errors.Is(err, ErrMissing) {
			t.Errorf("error = %v, want tesseract to be missing", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range doc.Pages[0].Lines {
		for _, c := range l.Cells {
			all = append(all, c.Text)
		}
	}
	text := strings.Join(all, "\n")
	if !strings.Contains(text, "4711") || !strings.Contains(text, "EUR") || len(doc.Pages[0].Lines) != 2 {
		t.Errorf("read %q", text)
	}
}

func TestMissingProgramsAndPicturesAreTold(t *testing.T) {
	picture := scanOf("X")
	f, pages, texts := open(t, pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes())
	if _, _, err := Read(context.Background(), f, pages, texts, Options{Tesseract: "no-such-program"}); !errors.Is(err, ErrMissing) {
		t.Errorf("error = %v, want missing", err)
	}
	f, pages, texts = open(t, pdftest.Document{Pages: []pdftest.Page{{}}}.Bytes())
	if _, _, err := Read(context.Background(), f, pages, texts, Options{Tesseract: "true"}); !errors.Is(err, ErrNoPicture) {
		t.Errorf("error = %v, want no picture", err)
	}
	f, pages, texts = open(t, pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes())
	if _, _, err := Read(context.Background(), f, pages, texts, Options{Tesseract: "false"}); !errors.Is(err, ErrFailed) {
		t.Errorf("error = %v, want failed", err)
	}
}

func TestPicturesStandUprightOnTheCanvas(t *testing.T) {
	// A black quarter in the picture's upper left corner; the page is turned.
	corner := pdftest.Picture{Width: 2, Height: 2, Gray: []byte{0, 255, 255, 255}}
	for rotate, want := range map[int][2]float64{0: {0.25, 0.25}, 90: {0.75, 0.25}, 180: {0.75, 0.75}, 270: {0.25, 0.75}} {
		f, pages, texts := open(t, pdftest.Document{Pages: []pdftest.Page{{Picture: &corner, Rotate: rotate}}}.Bytes())
		canvas, err := compose(f, pages[0], texts[0].Pictures)
		if err != nil {
			t.Fatal(err)
		}
		w, h := float64(canvas.Rect.Dx()), float64(canvas.Rect.Dy())
		for _, at := range [][2]float64{{0.25, 0.25}, {0.75, 0.25}, {0.25, 0.75}, {0.75, 0.75}} {
			black := canvas.GrayAt(int(at[0]*w), int(at[1]*h)).Y < 128
			if black != (at == want) {
				t.Errorf("rotated by %d: black %v at %v, want it at %v", rotate, black, at, want)
			}
		}
	}
}

func TestPicturesOfAllKindsAreUnpacked(t *testing.T) {
	var photo bytes.Buffer
	g := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range g.Pix[:32] {
		g.Pix[i] = 255
	}
	if err := jpeg.Encode(&photo, g, nil); err != nil {
		t.Fatal(err)
	}
	object := func(dict string, data []byte) []byte {
		return []byte("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages" +
			" /Kids [] >>\nendobj\n3 0 obj\n<< /Width 8 /Height 8 " + dict + " >>\nstream\n" + string(data) + "\n" +
			"endstream\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF")
	}
	half := func(white, black byte, n int) []byte {
		return append(bytes.Repeat([]byte{white}, n), bytes.Repeat([]byte{black}, n)...)
	}
	for name, data := range map[string][]byte{
		"jpeg":     object("/Filter /DCTDecode", photo.Bytes()),
		"gray":     object("/ColorSpace /DeviceGray /BitsPerComponent 8", half(255, 0, 32)),
		"rgb":      object("/ColorSpace /DeviceRGB /BitsPerComponent 8", half(255, 0, 96)),
		"cmyk":     object("/ColorSpace /DeviceCMYK /BitsPerComponent 8", half(0, 255, 128)),
		"one bit":  object("/ColorSpace /DeviceGray /BitsPerComponent 1", half(0xFF, 0, 4)),
		"inverted": object("/ColorSpace /DeviceGray /BitsPerComponent 1 /Decode [1 0]", half(0, 0xFF, 4)),
		"palette":  object("/ColorSpace [/Indexed /DeviceRGB 1 <000000FFFFFF>] /BitsPerComponent 4", half(0x11, 0, 16)),
		"fax": object("/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 8 /Rows 8 >>",
			[]byte{0xF2, 0x6A, 0x2F, 0xE0, 0x01, 0x00, 0x10}),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := pdf.Open(context.Background(), data, pdf.NewBudget(1<<20, 10_000))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(f, f.Stream(pdf.Ref{Number: 3}))
			if err != nil {
				t.Fatal(err)
			}
			if got.GrayAt(3, 1).Y < 200 || got.GrayAt(3, 6).Y > 50 {
				t.Errorf("above %d, below %d, want white above black", got.GrayAt(3, 1).Y, got.GrayAt(3, 6).Y)
			}
		})
	}
}

func FuzzPicture(f *testing.F) {
	f.Add("/Filter /DCTDecode", []byte{0xFF, 0xD8, 0xFF})
	f.Add("/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 8 >>", []byte{0x26, 0xA0})
	f.Add("/ColorSpace [/Indexed /DeviceRGB 1 <00>] /BitsPerComponent 4", []byte{1, 2})
	f.Fuzz(func(t *testing.T, dict string, data []byte) {
		file, err := pdf.Open(context.Background(),
			[]byte("%PDF-1.4\n1 0 obj\n<< /Pages 2 0 R /Type /Catalog >>\nendobj\n2 0 obj\n<< >>\nendobj\n3 0 obj\n<<"+
				" /Width 8 /Height 8 "+dict+" >>\nstream\n"+string(data)+"\nendstream\nendobj\ntrailer\n<<"+
				" /Root 1 0 R >>\nstartxref\n0\n%%EOF"), pdf.NewBudget(1<<20, 10_000))
		if err != nil {
			return
		}
		if s := file.Stream(pdf.Ref{Number: 3}); s != nil {
			_, _ = Decode(file, s)
		}
	})
}

// Given the languages that words of invoices are known in, then each is known by tesseract's name, too.
func TestScansAreReadInAllLanguagesOfInvoices(t *testing.T) {
	known, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	const forAll = "any" // words of no language
	for _, name := range known.Languages() {
		if name != forAll && !slices.ContainsFunc(languages(), func(l language) bool { return l.words == name }) {
			t.Errorf("tesseract's name of %s is missing", name)
		}
	}
}
