package untrusted_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tallyhouse/ingest/untrusted"
)

func TestLinesHaveNothingThatCannotBeSeen(t *testing.T) {
	for s, want := range map[string]string{
		"Müller & Söhne":                    "Müller & Söhne",
		"  a\r\n\tb\u2028c\u00a0d ":         "a b c d",
		"a\x00b\x1b[31mc\u202ed\u200be":     "ab[31mcde",
		"\xff\xfea\xc3":                     "a",
		"\u00ad\ufeff":                      "",
		"עברית 東京":                          "עברית 東京",
		strings.Repeat(" \x00", 1000) + "x": "x",
	} {
		if got := untrusted.Line(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{{"äöü", 3, "äöü"}, {"äöü", 2, "äö…"}, {"äöü", 0, "…"}, {"", 0, ""}} {
		if got := untrusted.Cut(c.s, c.most); got != c.want {
			t.Errorf("%d of %q: got %q, want %q", c.most, c.s, got, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x00\r\n\u202e\xff b")
	f.Fuzz(func(t *testing.T, s string) {
		line := untrusted.Line(s)
		if !utf8.ValidString(line) || strings.IndexFunc(line, unicode.IsControl) >= 0 || untrusted.Line(line) != line {
			t.Fatalf("got %q", line)
		}
		if n := utf8.RuneCountInString(untrusted.Cut(line, 10)); n > 11 {
			t.Fatalf("%d characters are left", n)
		}
	})
}
