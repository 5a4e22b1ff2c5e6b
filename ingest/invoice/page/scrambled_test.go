package page

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/page/typed"
)

// sampleLines are the lines of all sample pages.
func sampleLines(t testing.TB) (all []string) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample pages: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, page, _ := strings.Cut(string(text), "\n")
		all = append(all, strings.Split(page, "\n")...)
	}
	return all
}

// scrambled is a page of lines drawn from many pages. Some are cut where words stand, moved, or have another one's end.
func scrambled(lines []string, draw *rand.Rand) string {
	const longest = 60
	var page strings.Builder
	for range 1 + draw.IntN(longest) {
		line := lines[draw.IntN(len(lines))]
		switch draw.IntN(6) {
		case 0:
			line = line[:draw.IntN(len(line)+1)]
		case 1:
			line = strings.Repeat(" ", draw.IntN(40)) + strings.TrimLeft(line, " ")
		case 2:
			other := lines[draw.IntN(len(lines))]
			line = line[:draw.IntN(len(line)+1)] + other[draw.IntN(len(other)+1):]
		}
		page.WriteString(strings.ToValidUTF8(line, "") + "\n")
	}
	return page.String()
}

func TestAPageOfAnyLinesIsReadWithoutAFault(t *testing.T) {
	const pages = 300
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	lines := sampleLines(t)
	for seed := range uint64(pages) {
		page := scrambled(lines, rand.New(rand.NewPCG(seed, 1)))
		readWithoutAFault(t, reader, page)
	}
}

func FuzzPage(f *testing.F) {
	reader, err := preparedReader()
	if err != nil {
		f.Fatal(err)
	}
	lines := sampleLines(f)
	for seed := range uint64(40) {
		f.Add(scrambled(lines, rand.New(rand.NewPCG(seed, 2))))
	}
	f.Fuzz(func(t *testing.T, page string) {
		readWithoutAFault(t, reader, page)
	})
}

// readWithoutAFault reads a page, and tells the page that the reader panics on.
func readWithoutAFault(t *testing.T, reader *Reader, page string) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			t.Fatalf("%v, on the page\n%s", fault, page)
		}
	}()
	reader.Read(typed.Document(page), Own{})
}
