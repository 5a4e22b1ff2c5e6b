package words

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
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
		{"фактура", "ФАКТУРА № 7", "faktura"}, {"дата", "Дата: 7", "data"}, {"фактура~№", "Фактура №7", "faktura #"},
		{"τιμολόγιο", "Τιμολόγιο 7", "timologio"}, {"λογαριασμός", "ΛΟΓΑΡΙΑΣΜΟΣ 7", "logariasmos"}, {"ευρώ", "12 ΕΥΡΩ", "eyrv"},
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

// Given letters of any script that invoices are in, then they are folded to Latin ones, one for each character.
func TestFolding(t *testing.T) {
	for text, want := range map[string]string{
		"Łódź, Århus, Œuvre, Straße 7": "lodz, arhus, ouvre, strase 7", "Žaļā, Õhtu, Įmonė, Üks": "zala, ohtu, imone, uks",
		"Ὁδὸς Ἑρμοῦ, ΐ ΰ ϊ":        "odos ermoy, i y i",
		"ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ": "abgdezhuiklmnjoprstyfxcv", "Πληρωτέο έως": "plhrvteo evs",
		"Щъркел, вьл, юни, яйце": "wyrkel, vxl, uni, qjce", "Ђорђе Њ Ї ґ №7": "dorde n i g #7",
		"UAB „Langai“ – 5 µm, 中": "uab ~langai~ - 5 ~m, ~",
	} {
		if got := Fold([]rune(text)); got != want || len(got) != len([]rune(text)) {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
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
		{"letter without counterpart", "[x]\nחשבון\n", "no counterpart"},
		{"letters in square brackets", "[x]\nr[12]\n", "(a|b)"},
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
		entry := rapid.OneOf(rapid.StringMatching(`\*?[a-c]{1,3}([ ~…][a-c(|]{0}[a-c]{1,3}\??)?\*?`),
			rapid.StringMatching(`([a-c]\.\?( \?)?){1,4}`)).Draw(t, "entry")
		text := rapid.StringMatching(`[a-d .,-]{0,30}`).Draw(t, "text")
		w, err := load(fstest.MapFS{"xx.txt": {Data: []byte("[x]\n" + entry + "\nabc~abc\n")}})
		if err != nil {
			t.Fatal(err)
		}
		p := w.Compile("<x>")
		for _, c := range slices.Concat(p.choices, p.parts) {
			if c.re().MatchString(text) && !c.possible(text) {
				t.Fatalf("%s matches %q, its filter %q does not", c.re(), text, c.need)
			}
		}
		found := p.index().possible(text)
		for i, c := range p.smallest() {
			if c.possible(text) != slices.Contains(found, i) {
				t.Fatalf("by the index %v of %d choices may match %q, by its filter %q the one at %d: %t",
					found, len(p.smallest()), text, c.need, i, c.possible(text))
			}
		}
		if p.MatchString(text) != (p.FindStringIndex(text) != nil) || p.MatchString(text) != (len(p.FindAllStringIndex(text, 5)) > 0) {
			t.Fatalf("%q in %q is found by one method and not by another", entry, text)
		}
	})
}

// Given an expression, then what every match of it needs are the longest literals that can be told, few of them.
func TestWhatEveryMatchNeeds(t *testing.T) {
	cases := []struct{ expression, want string }{
		{`\bab(c|de)?`, "[ab]"},
		{`a?bc|de`, "[bc de]"},
		{`(^|[ ,])s\.?r\.?o\.?($|[ ),.])`, "[s.r.o s.ro sr.o sro]"},
		{`e\.? ?u`, "[e u e. u e.u eu]"},
		{`a[bc]{2}d`, "[a]"},
		{`[a-z]+`, "[]"},
		{`ab|[a-z]`, "[]"},
		{`(?i)ab`, "[]"},
		{`a?b?`, "[]"},
	}
	for _, c := range cases {
		tree, err := syntax.Parse(c.expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		need := newSpeller().required(tree)
		slices.Sort(need)
		if got := fmt.Sprint(need); got != c.want {
			t.Errorf("%s needs %s, want %s", c.expression, got, c.want)
		}
	}
}

func TestMatchesDoNotOverlapAndTheLongestCounts(t *testing.T) {
	w := of(t, "[x]\ndue\ndue date\ndate\n")
	if got := fmt.Sprint(w.Compile("<x>").FindAllStringIndex("due date, date due", 8)); got != "[[0 8] [10 14] [15 18]]" {
		t.Errorf("matches %s", got)
	}
	// Where one match takes the beginning of another word's, that word counts further on.
	w = of(t, "[x]\nnet due on\ndue on due\n")
	if got := fmt.Sprint(w.Compile("(?:<x>)").FindAllStringIndex("net due on due on due", 8)); got != "[[0 10] [11 21]]" {
		t.Errorf("matches %s of words that overlap", got)
	}
}

// Given a pattern that asks for one of many words, then its parts match where the whole expression does, however often it is asked.
func TestPartsMatchAsTheWhole(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		file := "[x]\n" + strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-c]{2,4}( [a-c]{2}\??)?\*?`), 3, 6).Draw(t, "x"), "\n") +
			"\n[y]\nab\n(aa|bc) a\n"
		template := rapid.SampledFrom([]string{"<x>|<y> b", "^<x> b", `^\W*(?:<x>|c<=y>) ?a?$`, "<*x>( <y>)?", "(?:a|)<x*>",
			`(\d) <x>`}).Draw(t, "template")
		w, err := load(fstest.MapFS{"xx.txt": {Data: []byte(file)}})
		if err != nil {
			t.Fatal(err)
		}
		p := w.Compile(template)
		if p.parts != nil {
			taken++
		}
		for range 3 {
			text := rapid.StringMatching(`[1a-d ,-]{0,20}`).Draw(t, "text")
			want := p.choices[0].re().FindStringIndex(text)
			for range 2 {
				if got := p.FindStringIndex(text); !slices.Equal(got, want) || p.MatchString(text) != (want != nil) {
					t.Fatalf("%s is found in %q at %v, want %v", template, text, got, want)
				}
			}
			if got, all := p.FindAllStringIndex(text, 3), p.choices[0].re().FindAllStringIndex(text, 3); fmt.Sprint(got) != fmt.Sprint(all) {
				t.Fatalf("%s is found in %q at %v, want %v", template, text, got, all)
			}
		}
	})
	if taken == 0 {
		t.Error("no pattern was taken apart")
	}
}

// Given the words of all languages, then every part of every list can be compiled.
func TestEveryPartCompiles(t *testing.T) {
	w, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range w.Languages() {
		for section := range w.languages[language] {
			for _, c := range w.Compile("^(?:<*" + section + "*>) no").parts {
				c.re()
			}
		}
	}
}

// Given more texts than are remembered, asked for by several at once, then every answer is about its own text.
func TestAnswersAreAboutTheirTexts(t *testing.T) {
	var lengths recent[int]
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 4000 {
				text := strings.Repeat("a", i%1000)
				if got := lengths.of(text, func(s string) int { return len(s) }); got != len(text) {
					t.Errorf("%d letters are said to be %d", len(text), got)
				}
			}
		})
	}
	all.Wait()
	asked := 0
	for range 2 {
		lengths.of("once", func(string) int { asked++; return 4 })
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}
