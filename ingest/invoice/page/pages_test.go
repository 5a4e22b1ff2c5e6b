package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
	"tallyhouse/ingest/invoice/text"
)

// Given pages in layouts of their own, construction invoices above all, with the values that stand on each in its
// first line, then these are read.
func TestPagesOfManyLayouts(t *testing.T) {
	eachTyped(t, "pages", func(t *testing.T, want string, kind Kind, got fields.Invoice) {
		if kind != Invoice || line(got) != want {
			t.Errorf("kind %d\n got %s\nwant %s", kind, line(got), want)
		}
	})
}

// eachTyped reads every typed page of a folder of testdata; want is its first line, what is to be read of it.
func eachTyped(t *testing.T, folder string, check func(t *testing.T, want string, kind Kind, got fields.Invoice)) {
	t.Helper()
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no typed pages in %s: %v", folder, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, lines, _ := strings.Cut(string(data), "\n")
			kind, got, _ := reader.Read(typed.Document(lines), Own{})
			check(t, want, kind, got)
		})
	}
}

// typedBill is an invoice of one supplier, numbered 2026-0417 and of 6 May 2026, without anything but what stands below its head: its
// items, sums and terms.
func typedBill(below string) text.Document {
	return typed.Document(`Bauwerk Studio GmbH
Hofgasse 3, 1010 Wien
UID: ATU33864707

Rechnung Nr. 2026-0417
Datum: 06.05.2026

` + below)
}
