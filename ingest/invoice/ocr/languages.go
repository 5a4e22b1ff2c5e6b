package ocr

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/page/words"
	"tallyhouse/ingest/invoice/text"
	"tallyhouse/ingest/process"
)

// language is one that invoices are read in.
type language struct {
	words string // its file of words
	code  string // tesseract's name of it
	name  string
}

func languages() []language {
	return []language{
		{"bg", "bul", "Bulgarian"}, {"cs", "ces", "Czech"}, {"da", "dan", "Danish"}, {"de", "deu", "German"}, {"el", "ell", "Greek"},
		{"en", "eng", "English"}, {"es", "spa", "Spanish"}, {"et", "est", "Estonian"}, {"fi", "fin", "Finnish"}, {"fr", "fra", "French"},
		{"hr", "hrv", "Croatian"}, {"hu", "hun", "Hungarian"}, {"it", "ita", "Italian"}, {"lt", "lit", "Lithuanian"}, {"lv", "lav", "Latvian"},
		{"nl", "nld", "Dutch"}, {"no", "nor", "Norwegian"}, {"pl", "pol", "Polish"}, {"pt", "por", "Portuguese"}, {"ro", "ron", "Romanian"},
		{"sl", "slv", "Slovenian"}, {"sv", "swe", "Swedish"},
	}
}

// Lacking are the languages that invoices are read in and tesseract has no data of, by their names with tesseract's own.
func Lacking(ctx context.Context, o Options) ([]string, error) {
	o = o.withDefaults()
	path, err := exec.LookPath(o.Tesseract)
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", o.Tesseract, ErrMissing)
	}
	have, err := installed(ctx, path, o)
	if err != nil {
		return nil, err
	}
	var lacking []string
	for _, l := range languages() {
		if !slices.Contains(have, l.code) {
			lacking = append(lacking, l.name+" ("+l.code+")")
		}
	}
	return lacking, nil
}

// installed are the languages that tesseract has data of, by its own names.
func installed(ctx context.Context, path string, o Options) ([]string, error) {
	command := []string{path, "--list-langs"}
	if o.Data != "" {
		command = append(command, "--tessdata-dir", o.Data)
	}
	out, errorText, err := process.Run(ctx, process.Child{Command: command, MaxOutput: 16 << 10, MaxErrors: 4 << 10})
	if err != nil {
		return nil, fmt.Errorf("asking tesseract for its languages: %s: %w: %w", strings.TrimSpace(errorText), err, ErrFailed)
	}
	return strings.Fields(string(out)), nil
}

// tongues are the languages that the pages of a file are read in. Letters are told apart best by their own language, and
// few languages at a time are read fast: the first page is read in German and English, and what it says tells its own.
type tongues struct {
	codes     []string
	installed []string
	known     words.Languages
	settled   bool
	missing   string // the pages' own, of which tesseract has no data
}

// choose finds what the pages can be read in.
func choose(ctx context.Context, path string, o Options) (*tongues, error) {
	if o.Languages != "" {
		return &tongues{codes: strings.Split(o.Languages, "+"), settled: true}, nil
	}
	t := &tongues{codes: []string{"deu", "eng"}}
	have, err := installed(ctx, path, o)
	if err != nil {
		t.settled = true // reading tells what is wrong with tesseract
		return t, nil
	}
	t.installed = have
	t.codes = slices.DeleteFunc(t.codes, func(code string) bool { return !slices.Contains(have, code) })
	if len(t.codes) == 0 {
		for _, l := range languages() {
			if slices.Contains(have, l.code) {
				t.codes = []string{l.code}
				break
			}
		}
	}
	if len(t.codes) == 0 {
		return nil, fmt.Errorf("no language that invoices are read in: %w", ErrMissing)
	}
	if t.known, err = words.LoadLanguages(); err != nil {
		return nil, fmt.Errorf("telling languages apart: %w", err)
	}
	return t, nil
}

// better looks at what was read of a page, and reports whether it had better be read again, in its own language.
func (t *tongues) better(read []text.Word) bool {
	if t.settled {
		return false
	}
	var all []string
	for _, w := range read {
		all = append(all, w.Text)
	}
	own := t.known.Of(strings.Join(all, " "))
	i := slices.IndexFunc(languages(), func(l language) bool { return l.words == own })
	if i < 0 {
		return false // another page may tell
	}
	t.settled = true
	l := languages()[i]
	switch {
	case slices.Contains(t.codes, l.code):
		return false
	case !slices.Contains(t.installed, l.code):
		t.missing = l.name + " (" + l.code + ")"
		return false
	}
	t.codes = slices.Insert(t.codes, 0, l.code) // the first one settles what letters are likely
	return true
}
