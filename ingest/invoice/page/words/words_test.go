package words

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

// of returns words of one language.
func of(t *testing.T, file string) *Words {
	t.Helper()
	w, err := load(fstest.MapFS{"xx.txt": {Data: []byte(file)}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTheFilesOfAllLanguagesAreSound(t *testing.T) {
	w, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range w.Languages() {
		for section, entries := range w.languages[language] {
			if len(entries) == 0 {
				t.Errorf("%s: section %q is empty", language, section)
			}
			seen := map[string]bool{}
			for _, entry := range entries {
				if seen[entry] {
					t.Errorf("%s: section %q has %q twice", language, section, entry)
				}
				seen[entry] = true
			}
		}
	}
}

// The marks of entries, as en.txt explains them.
func TestEntriesAreFound(t *testing.T) {
	cases := []struct{ entry, text, want string }{
		{"facture", "la facture no 7", "facture"}, {"facture", "factures", ""}, {"facture", "refacture", ""},
		{"fällig", "FÄLLIG am", "fallig"}, {"straße", "Straße 7", "strase"}, {"n°", "n° 7", "no"},
		{"*rechnung", "Die Schluss-Rechnung", "schluss-rechnung"}, {"*rechnung", "rechnungen", ""},
		{"rechnungs*", "rechnungsbetrag 7", "rechnungsbetrag"},
		{"invoices?", "two invoices", "invoices"}, {"invoices?", "an invoice", "invoice"}, {"nr.?", "Nr. 7", "nr."},
		{"nr.?", "nr 7", "nr"}, {"nr.?", "nra", ""},
		{"(due|pay) date", "pay date", "pay date"}, {"(te )?betalen", "te betalen", "te betalen"},
		{"invoice~no", "invoice-no", "invoice-no"}, {"invoice~no", "invoiceno", "invoiceno"},
		{"invoice~no", "invoice (380) no", "invoice (380) no"},
		{"pay…by", "pay the whole sum by", "pay the whole sum by"}, {"pay…by", "pay 7 by", ""},
		{"N days", "in 30 days", "30 days"}, {"N days", "in 30days", "30days"}, {"net N", "net30", "net30"},
		{"^sum", "sum 7", "sum"}, {"^sum", "a sum", ""}, {"due$", "now due", "due"}, {"due$", "due now", ""},
		{"@", "me@example.org", "@"}, {"% ?with", "2 % with", "% with"}, {`net \(`, "net (7)", "net ("}, {"s.?a", "S.A.", "s.a"},
	}
	for _, c := range cases {
		w := of(t, "[x]\n"+c.entry+"\n")
		p := w.Compile("<x>")
		if err := w.Err(); err != nil {
			t.Errorf("%q: %v", c.entry, err)
			continue
		}
		folded, got := Fold([]rune(c.text)), ""
		if m := p.FindStringIndex(folded); m != nil {
			got = folded[m[0]:m[1]]
		}
		if got != c.want {
			t.Errorf("%q in %q found %q, want %q", c.entry, c.text, got, c.want)
		}
	}
}

func TestSectionsWithinPatterns(t *testing.T) {
	cases := []struct{ template, text, want string }{
		{"^<x> no", "invoice no", "invoice no"}, {"^<x> no", "an invoice no", ""}, {"<x>", "tax invoice", "tax invoice"},
		{"<x>|<y>", "memo or invoice", "memo"},
		{"^<*x>", "pre-invoice", "pre-invoice"}, {"<x*> 7", "invoices 7", "invoices 7"}, {"<=x>", "preinvoiced", "invoice"},
	}
	for _, c := range cases {
		w := of(t, "[x]\ninvoice\ntax invoice\n[y]\nmemo\n")
		p := w.Compile(c.template)
		got := ""
		if m := p.FindStringIndex(c.text); m != nil {
			got = c.text[m[0]:m[1]]
		}
		if got != c.want {
			t.Errorf("%q in %q found %q, want %q", c.template, c.text, got, c.want)
		}
	}
}

func TestFaultsOfFilesAreReported(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"unknown section", "[x]\na\n[z]\nb\n", `unknown section "z"`},
		{"capital", "[x]\nInvoice\n", "small letters"},
		{"letter without counterpart", "[x]\nсчёт\n", "no counterpart"},
		{"open bracket", "[x]\n(a|b\n", "compiling pattern"},
		{"missing section", "[y]\na\n", `no language has a section "x"`},
	}
	for _, c := range cases {
		w := of(t, c.file)
		w.Compile("<x>")
		if err := w.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want %q", c.name, err, c.want)
		}
	}
	for _, file := range []string{"a\n", "[x]\na\n[x]\nb\n"} {
		if _, err := load(fstest.MapFS{"xx.txt": {Data: []byte(file)}}); err == nil {
			t.Errorf("%q was loaded", file)
		}
	}
}

// Given any words and any text, then the filter before the expressions never hides a match.
func TestFiltersLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.StringMatching(`\*?[a-c]{1,3}([ ~…][a-c(|]{0}[a-c]{1,3}\??)?\*?`).Draw(t, "entry")
		text := rapid.StringMatching(`[a-d ,-]{0,30}`).Draw(t, "text")
		w, err := load(fstest.MapFS{"xx.txt": {Data: []byte("[x]\n" + entry + "\nabc~abc\n")}})
		if err != nil {
			t.Fatal(err)
		}
		p := w.Compile("<x>")
		for _, c := range p.choices {
			if c.re.MatchString(text) && !c.possible(text) {
				t.Fatalf("%s matches %q, its filter %q does not", c.re, text, c.need)
			}
		}
		if p.MatchString(text) != (p.FindStringIndex(text) != nil) || p.MatchString(text) != (len(p.FindAllStringIndex(text, 5)) > 0) {
			t.Fatalf("%q in %q is found by one method and not by another", entry, text)
		}
	})
}

func TestMatchesDoNotOverlapAndTheLongestCounts(t *testing.T) {
	w := of(t, "[x]\ndue\ndue date\ndate\n")
	if got := fmt.Sprint(w.Compile("<x>").FindAllStringIndex("due date, date due", 8)); got != "[[0 8] [10 14] [15 18]]" {
		t.Errorf("matches %s", got)
	}
}
