// Package ocr reads scanned pages by the tesseract program. The pictures are
// taken out of the PDF here, so that nothing but tesseract need be installed,
// and set on a canvas as the page places them: strips, rotations and flips need
// no care by then.
package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/text"
	"tallyhouse/ingest/process"
)

// Errors of Read, wrapped.
var (
	// ErrMissing: the program or one of its languages is not installed.
	ErrMissing = errors.New("tesseract is not installed")
	// ErrNoPicture: there is nothing to read on the pages.
	ErrNoPicture = errors.New("the pages hold neither text nor a picture")
	// ErrFailed: the pictures cannot be unpacked or tesseract ends with an error.
	ErrFailed = errors.New("the scan cannot be read")
)

// Options steer how tesseract is called. The zero value of a field stands for
// its default.
type Options struct {
	Tesseract string        // its path; default: tesseract in PATH
	Data      string        // directory of its language data; default: its own
	Languages string        // such as deu+eng; default: these and the pages' own
	Pages     int           // read at most; default 3: the first ones and the last
	Time      time.Duration // for all pages of a file; default 30 s
}

func (o Options) withDefaults() Options {
	if o.Tesseract == "" {
		o.Tesseract = "tesseract"
	}
	if o.Pages == 0 {
		o.Pages = 3
	}
	if o.Time == 0 {
		o.Time = DefaultTime
	}
	return o
}

// DefaultTime bounds the OCR of one file.
const DefaultTime = 30 * time.Second

// maxOutput bounds what tesseract may print for a page.
const maxOutput = 8 << 20

// dpi is the resolution pages are read at: enough for tesseract, and 4 million
// pixels for A4.
const dpi = 200

// Read reads the pictures of the given pages as text with its places. missing is the language that they are in where tesseract
// has no data of it: they are read in others then.
func Read(ctx context.Context, f *pdf.File, pages []pdf.Page, texts []text.Page, o Options) (
	doc text.Document, missing string, err error,
) {
	o = o.withDefaults()
	path, err := exec.LookPath(o.Tesseract)
	if err != nil {
		return doc, "", fmt.Errorf("looking for %s: %w", o.Tesseract, ErrMissing)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	f.Continue(ctx)
	scans, err := canvases(ctx, f, pages, texts, o)
	if err != nil {
		return doc, "", err
	}
	in, err := choose(ctx, path, o)
	if err != nil {
		return doc, "", err
	}
	for _, s := range scans {
		words, err := recognize(ctx, path, o.Data, in.codes, s.canvas)
		if err == nil && in.better(words) {
			// What was read in other languages is better than nothing where the time is over.
			if again, err := recognize(ctx, path, o.Data, in.codes, s.canvas); err == nil {
				words = again
			}
		}
		if err != nil && len(doc.Pages) > 0 && errors.Is(err, context.DeadlineExceeded) {
			break // what the time allowed is read
		}
		if err != nil {
			return doc, "", fmt.Errorf("reading page %d: %w", s.page.Number, err)
		}
		for _, w := range words {
			doc.Glyphs += len([]rune(w.Text))
		}
		doc.Pages = append(doc.Pages, text.FromWords(s.page.Number, s.page.Width, s.page.Height, words))
	}
	return doc, in.missing, nil
}

// Line reads a picture of a line of figures. Taken as a block of lines tesseract errs less than as a line alone.
func Line(ctx context.Context, o Options, picture *image.Gray, dpi int) (string, error) {
	o = o.withDefaults()
	path, err := exec.LookPath(o.Tesseract)
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", o.Tesseract, ErrMissing)
	}
	command := []string{path, "stdin", "stdout", "-l", "eng", "--dpi", strconv.Itoa(dpi), "--psm", "6"}
	if o.Data != "" {
		command = slices.Insert(command, 3, "--tessdata-dir", o.Data)
	}
	out, errorText, err := process.Run(ctx, process.Child{
		Command: command, Env: []string{"OMP_THREAD_LIMIT=1"}, Stdin: bytes.NewReader(pgm(picture)), MaxOutput: 4 << 10, MaxErrors: 4 << 10,
	})
	if err != nil {
		return "", fmt.Errorf("reading a line by tesseract: %s: %w: %w", strings.TrimSpace(errorText), err, ErrFailed)
	}
	return strings.TrimSpace(string(out)), nil
}

// Installed reports whether there is a tesseract.
func (o Options) Installed() bool {
	_, err := exec.LookPath(o.withDefaults().Tesseract)
	return err == nil
}

// recognize runs tesseract on a picture, given and taken through pipes.
func recognize(ctx context.Context, path, data string, languages []string, picture *image.Gray) ([]text.Word, error) {
	command := []string{path, "stdin", "stdout", "-l", strings.Join(languages, "+"), "--dpi", strconv.Itoa(dpi), "--psm", "4", "tsv"}
	if data != "" {
		command = slices.Insert(command, 3, "--tessdata-dir", data)
	}
	out, errorText, err := process.Run(ctx, process.Child{
		Command: command,
		Env:     []string{"OMP_THREAD_LIMIT=1"},
		Stdin:   bytes.NewReader(pgm(picture)), MaxOutput: maxOutput, MaxErrors: 4 << 10,
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("tesseract: %w", ctx.Err())
		}
		said := strings.TrimSpace(errorText)
		if strings.Contains(said, "loading language") || strings.Contains(said, "load any languages") {
			return nil, fmt.Errorf("languages %s: %w", strings.Join(languages, "+"), ErrMissing)
		}
		return nil, fmt.Errorf("tesseract: %s: %w", said, ErrFailed)
	}
	return parseTSV(string(out)), nil
}

func pgm(g *image.Gray) []byte {
	out := fmt.Appendf(nil, "P5\n%d %d\n255\n", g.Rect.Dx(), g.Rect.Dy())
	for y := range g.Rect.Dy() {
		out = append(out, g.Pix[y*g.Stride:y*g.Stride+g.Rect.Dx()]...)
	}
	return out
}

// minConfidence is tesseract's own, of 100, below which a word is noise.
const minConfidence = 25

// parseTSV reads tesseract's table: level, page, block, paragraph, line, word,
// left, top, width, height, confidence, text. Words stand on their line's foot.
func parseTSV(table string) []text.Word {
	const points = 72.0 / dpi
	var words []text.Word
	var lineTop, lineHeight float64
	for row := range strings.Lines(table) {
		cols := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(cols) < 12 {
			continue
		}
		n := func(i int) float64 {
			v, err := strconv.ParseFloat(cols[i], 64)
			if err != nil {
				return 0
			}
			return v
		}
		switch cols[0] {
		case "4":
			lineTop, lineHeight = n(7), n(9)
		case "5":
			word := strings.TrimSpace(cols[11])
			if word == "" || n(10) < minConfidence || strings.Trim(word, "|_-—~=.,'`‘’“”\"[]{}!") == "" {
				continue
			}
			size := min(lineHeight, 2*n(9)) * points
			foot := min(lineTop+lineHeight, n(7)+n(9)+0.25*n(9))
			words = append(words, text.Word{Text: word, X0: n(6) * points, X1: (n(6) + n(8)) * points, Y: foot * points, Size: size})
		}
	}
	return words
}
