package invoice_test

import (
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// scanned is the page of a language, whose first line is what is to be read of it, as a scanner gives it in 200 dpi.
func scanned(t *testing.T, language string) (picture pdftest.Picture, want string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("page", "testdata", "languages", language+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 9.5, DPI: 200})
	if err != nil {
		t.Fatal(err)
	}
	const width, height = 1653, 2339
	paper := image.NewGray(image.Rect(0, 0, width, height))
	for i := range paper.Pix {
		paper.Pix[i] = 255
	}
	want, page, _ := strings.Cut(string(data), "\n")
	cell := regexp.MustCompile(`\S+(?: \S+)*`)
	for i, line := range strings.Split(page, "\n") {
		for _, at := range cell.FindAllStringIndex(line, -1) {
			d := font.Drawer{Dst: paper, Src: image.Black, Face: face, Dot: fixed.P(100+17*len([]rune(line[:at[0]])), 120+42*i)}
			d.DrawString(line[at[0]:at[1]])
		}
	}
	return pdftest.Picture{Width: width, Height: height, Gray: paper.Pix}, want
}

// patient is OCR on a machine that has much else to do.
func patient() ocr.Options { return ocr.Options{Time: 5 * time.Minute} }

// Given scans in German, in Slovenian and in French, then each is read in its own language, accents of names and all.
func TestScansAreReadInTheirOwnLanguage(t *testing.T) {
	for _, language := range []string{"de", "sl", "fr"} {
		t.Run(language, func(t *testing.T) {
			picture, want := scanned(t, language)
			r := read(pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes(), invoice.Options{OCR: patient()})
			if values(r) != want || len(r.Findings) > 0 {
				t.Errorf("%s %s %+v\n got %s\nwant %s", r.Status, r.Detail, r.Findings, values(r), want)
			}
		})
	}
}

// Given a scan in Slovenian and a tesseract that has German and English alone, then it is read by them, and a finding says
// what is missing.
func TestALanguageThatTesseractLacksIsAFinding(t *testing.T) {
	list, err := exec.Command("tesseract", "--list-langs").Output()
	if err != nil {
		t.Fatalf("tesseract is needed, as .ci/install installs it: %v", err)
	}
	found := regexp.MustCompile(`"(.*)"`).FindSubmatch(list)
	if found == nil {
		t.Fatalf("no directory of languages in %q", list)
	}
	data := t.TempDir()
	for _, name := range []string{"deu.traineddata", "eng.traineddata", "configs"} {
		if err := os.Symlink(filepath.Join(string(found[1]), name), filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
	o := patient()
	o.Data = data
	picture, _ := scanned(t, "sl")
	r := read(pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes(), invoice.Options{OCR: o})
	if r.Gross == nil || r.Gross.Value != 122000 {
		t.Errorf("%s %s, gross %+v", r.Status, r.Detail, r.Gross)
	}
	if len(r.Findings) != 1 || r.Findings[0].Rule != "ocr-language" || !strings.Contains(r.Findings[0].Message, "Slovenian (slv)") {
		t.Errorf("findings %+v", r.Findings)
	}
	lacking, err := ocr.Lacking(t.Context(), o)
	if all := strings.Join(lacking, ", "); err != nil || strings.Contains(all, "German") || !strings.Contains(all, "Slovenian (slv)") {
		t.Errorf("lacking %q, %v", all, err)
	}
}

// Given a scan on which something was stamped as text, be it a word or some lines, then the scan is read.
func TestAStampDoesNotStopOCR(t *testing.T) {
	picture, want := scanned(t, "de")
	for name, lines := range map[string][]string{
		"a word": {"BEZAHLT"},
		"some lines": {"Eingegangen am 21.04.2026, 09:14 Uhr", "Wohnpark Nord Projekt GmbH, Buchhaltung", "Archiv 2026/000123/A, Seite 1 von 1",
			"Kostenstelle 4711, geprüft: __________"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pdftest.Page{Picture: &picture}
			for i, line := range lines {
				p.Texts = append(p.Texts, pdftest.Text{X: 330, Y: 700 + 12*float64(i), Size: 9, Text: line})
			}
			r := read(pdftest.Document{Pages: []pdftest.Page{p}}.Bytes(), invoice.Options{OCR: patient()})
			if values(r) != want {
				t.Errorf("%s %s\n got %s\nwant %s", r.Status, r.Detail, values(r), want)
			}
		})
	}
}
