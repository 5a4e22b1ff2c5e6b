package text

import (
	"errors"
	"testing"
)

// tableBudget is a budget of font tables.
type tableBudget int

func (b *tableBudget) Spend(n int) error {
	if *b -= tableBudget(n); *b < 0 {
		return errors.New("spent")
	}
	return nil
}

// Given any CMap, then reading it ends within its budget, with no more entries than were paid for, and so does every
// look at it.
func FuzzCMap(f *testing.F) {
	for _, program := range []string{
		"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <0042> endbfchar",
		"1 beginbfrange <FFFF0000> <FFFFFFFF> <> <00> <FF> [<0041> /B] endbfrange",
		"1 begincidrange <0000> <FFFF> 1 endcidrange 1 begincidchar <07> 9 endcidchar",
	} {
		f.Add([]byte(program), "AB\x00")
	}
	f.Fuzz(func(t *testing.T, program []byte, shown string) {
		const operations = 1 << 16
		budget := tableBudget(operations)
		m := readCMap(program, &budget)
		m.sortRanges()
		if entries := len(m.text) + len(m.ranges); entries > operations/entryCost {
			t.Fatalf("%d entries for %d operations", entries, operations)
		}
		for len(shown) > 0 {
			c, n := m.next(shown, 2)
			if n <= 0 || n > len(shown) {
				t.Fatalf("a code of %d bytes of %d", n, len(shown))
			}
			m.cid(c)
			shown = shown[n:]
		}
	})
}

// Given a ToUnicode table in ranges of numbers, as some programs write it, then they are characters; what has a text of its own keeps it,
// and what no character is has none.
func TestRangesOfNumbersAreCharacters(t *testing.T) {
	budget := tableBudget(1 << 16)
	m := readCMap([]byte("1 begincidrange <0000> <FFFF> 0 endcidrange 1 beginbfchar <0042> <0058> endbfchar"), &budget)
	m.sortRanges()
	for c, want := range map[uint32]string{'I': "I", 0x20AC: "€", 'B': "X", 7: "", 0xD800: "", 0x10000: ""} {
		if got, ok := m.textOf(c); got != want || ok != (want != "") {
			t.Errorf("%#x is %q, %t; want %q", c, got, ok, want)
		}
	}
}

// Given any TrueType program, then its character map is read within the budget.
func FuzzTrueType(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00cmap\x00\x00\x00\x00\x00\x00\x00\x1C\xFF\xFF\xFF\xFF" +
		"\x00\x00\x00\x01\x00\x03\x00\x01\x00\x00\x00\x0C\x00\x0C\x00\x00\x00\x00\x00\x1C\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x00\x00\x00\x41\x00\x00\x00\x45\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, program []byte) {
		const operations = 1 << 16
		budget := tableBudget(operations)
		if texts := glyphTexts(program, &budget); len(texts) > operations/entryCost {
			t.Fatalf("%d glyphs for %d operations", len(texts), operations)
		}
	})
}

// Given a range of characters that ends at the last code there is, or that gives none, then reading it ends.
func TestRangesOfCharactersEnd(t *testing.T) {
	for _, program := range []string{
		"1 beginbfrange <FFFF0000> <FFFFFFFF> <> endbfrange",
		"1 beginbfrange <FFFFFFF0> <FFFFFFFF> [<0041>] endbfrange",
	} {
		budget := tableBudget(1 << 20)
		readCMap([]byte(program), &budget)
		if budget < 0 || budget == 1<<20 {
			t.Errorf("%s: %d operations are left", program, budget)
		}
	}
}

// Given marked content whose text to read aloud has other figures than it draws, then what is drawn is read; where the
// font doesn't say what it draws, the text is all there is.
func TestFiguresToReadAloudDoNotReplaceThoseDrawn(t *testing.T) {
	for _, c := range []struct{ actual, drawn, want string }{
		{"99", "7", "7"}, {"ffi", "x", "ffi"}, {"99", "", "99"}, {"", "7", ""},
	} {
		in := &interpreter{levels: []level{{actual: c.actual, replaced: true}}}
		if got := in.replace(c.drawn); got != c.want {
			t.Errorf("drawn %q with the text %q: %q, want %q", c.drawn, c.actual, got, c.want)
		}
	}
}
