package words

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Given the invoice of each language, then its words tell the language; those of a text in none, or too few, tell nothing.
func TestAnInvoicesWordsTellItsLanguage(t *testing.T) {
	languages, err := LoadLanguages()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "testdata", "languages", "*.txt"))
	if err != nil || len(files) < 17 {
		t.Fatalf("%d languages, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, page, _ := strings.Cut(string(text), "\n")
		if got, want := languages.Of(page), strings.TrimSuffix(filepath.Base(file), ".txt"); got != want {
			t.Errorf("the invoice of %s is in %q", want, got)
		}
	}
	for _, text := range []string{"", "4711 120.00 EUR", "Lorem ipsum dolor sit amet consectetur"} {
		if got := languages.Of(text); got != "" {
			t.Errorf("%q is in %q", text, got)
		}
	}
}
