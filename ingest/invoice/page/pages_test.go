package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// Given pages in layouts of their own, construction invoices above all, with the values that stand on each in its
// first line, then these are read.
func TestPagesOfManyLayouts(t *testing.T) {
	reader, err := NewReader()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "pages", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, lines, _ := strings.Cut(string(data), "\n")
			kind, got, _ := reader.Read(typed.Document(lines), Own{})
			if kind != Invoice || line(got) != want {
				t.Errorf("kind %d\n got %s\nwant %s", kind, line(got), want)
			}
		})
	}
}
