package page

import (
	"slices"
	"strings"
	"unicode"
)

// joints are what parts of a number are set apart by.
var joints = strings.NewReplacer(" ", "", "·", "")

const (
	fewestGroups = 2 // behind the first
	ofGroup      = 3 // figures of one behind letters: fewer may be a quantity
)

// parted is a text in words, as a number of several parts is read.
type parted struct {
	runes  []rune
	ends   []int // where each word ends
	words  []string
	before string // what stands before it
}

// partsOf splits what begins at an offset, as far as a number can reach.
func partsOf(r []rune, from int) parted {
	p := parted{runes: r, before: strings.TrimSpace(string(r[:from]))}
	for i := from; i < len(r) && i < from+longestNumber; {
		end := wordEnd(r, i)
		p.words, p.ends = append(p.words, string(r[i:end])), append(p.ends, end)
		for i = end; i < len(r) && unicode.IsSpace(r[i]); i++ {
		}
	}
	return p
}

// wordEnd is where the word that begins at an offset ends.
func wordEnd(r []rune, from int) int {
	for from < len(r) && !unicode.IsSpace(r[from]) {
		from++
	}
	return from
}

// word is one of the words without what sets it apart; "" behind the last.
func (p parted) word(i int) string {
	if i >= len(p.words) {
		return ""
	}
	return trimNumber(p.words[i])
}

// closed reports whether a word ends with a mark, so that what follows is something else.
func (p parted) closed(i int) bool { return p.word(i) != p.words[i] }

// groups counts the groups of so many figures and more from a word on, up to one that a mark ends; whole says that a mark or the
// text's end is behind them.
func (p parted) groups(i, figures int) (n int, whole bool) {
	for i+n < len(p.words) && len(p.word(i+n)) >= figures && allDigits(p.word(i+n)) {
		if n++; p.closed(i + n - 1) {
			return n, true
		}
	}
	return n, n > 0 && p.ends[i+n-1] == len(p.runes)
}

// inThousands reports whether so many groups behind a word are written with it as thousands are: of three figures each.
func (p parted) inThousands(last, groups int) bool {
	for i := range groups + 1 {
		if figures := len(p.word(last + i)); figures != ofGroup && (i > 0 || figures > ofGroup) {
			return false
		}
	}
	return groups > 0
}

// joined is where a number ends whose first word ends at an offset: prefixes stand apart from what they belong to, figures in groups, and
// what is behind a stroke or a middle dot; else nowhere.
func (v *vocabulary) joined(r []rune, from, end int, clear bool) int {
	p := partsOf(r, from)
	first := p.word(0)
	if end == len(r) || len(p.words) < 2 {
		return 0
	}
	last := 0
	switch {
	case isPrefix(first) && !v.invoiceTitleAlone.MatchString(foldText(first)) && hasDigit(p.word(1)) && v.numberShape.MatchString(p.word(1)):
		last = 1
	case clear && isPrefix(first) && slices.Contains(v.numberWords, strings.Trim(foldText(p.word(1)), ".:")) &&
		p.word(2) != "" && allDigits(p.word(2)):
		return p.ends[2] // "Seria TGC nr. 4471"
	case first == "" || p.closed(0) || !hasDigit(first):
		return 0
	}
	last += v.grouped(p, last, clear)
	if next := v.behindStroke(p, last, clear); next > last {
		last = next
		if n, whole := p.groups(last+1, ofGroup); whole && !p.closed(last) {
			last += n
		}
	}
	if next := last + 1; clear && !p.closed(last) && p.lastLetter(next) { // "1846/2026 W", as notaries sign theirs
		last = next
	}
	return p.ends[last]
}

// lastLetter reports whether a word is one letter that ends the text, or its part before a dash.
func (p parted) lastLetter(i int) bool {
	r := []rune(p.word(i))
	dash := i+1 < len(p.words) && (p.words[i+1] == "–" || p.words[i+1] == "-")
	return len(r) == 1 && unicode.IsLetter(r[0]) && (dash || p.ends[i] == len(p.runes))
}

// ofSeries is a number without the word that announces it behind its series: TGC 4471 is printed "Seria TGC nr. 4471".
func (v *vocabulary) ofSeries(value string) string {
	if w := strings.Fields(value); len(w) == 3 && slices.Contains(v.numberWords, strings.Trim(foldText(w[1]), ".:")) {
		return w[0] + " " + w[2]
	}
	return value
}

// grouped counts the groups of figures that belong to the number behind one of its words.
func (v *vocabulary) grouped(p parted, last int, clear bool) int {
	if p.closed(last) || !hasDigit(p.word(last)) {
		return 0
	}
	if !allDigits(p.word(last)) || last > 0 { // letters in it or before it: "TK 6610 2210 885"
		n, whole := p.groups(last+1, ofGroup)
		if whole && (last > 0 && allDigits(p.word(last)) || clear) {
			return n
		}
		if all, whole := p.groups(last+1, 2); clear && n > 0 && whole && p.ends[last+all] == len(p.runes) { // "RE 704 118 26"
			return all
		}
		return 0
	}
	n, whole := p.groups(last+1, 1)
	if clear && whole && p.ends[last+n] == len(p.runes) {
		return n
	}
	n, whole = p.groups(last+1, ofGroup)
	labelled := strings.HasSuffix(p.before, ":") || p.inThousands(last, n) && v.invoiceTitleAlone.MatchString(foldText(p.before))
	alone := labelled && whole && p.ends[last+n] == len(p.runes) // "Rechnung: 118 826", "Rechnung 118 446"
	if alone || n > 0 && v.dayFollows(strings.TrimSpace(fold(p.runes[p.ends[last+n]:]))) {
		return n
	}
	n, whole = p.groups(last+1, 2)
	titled := n == 1 && whole && strings.HasSuffix(p.words[last+1], ":") // "Faktura 26 1187: Absteckung"
	if clear && n >= fewestGroups || titled {
		return n
	}
	return 0
}

// behindStroke is the last word of what a stroke ties to the number, or, with nothing else behind, a middle dot or, behind a prefix, a
// dash; else the one that was last. Days and sums are no part of it.
func (v *vocabulary) behindStroke(p parted, last int, clear bool) int {
	for last+2 < len(p.words) && !p.closed(last) {
		mark, next := p.word(last+1), p.word(last+2)
		figures := hasDigit(next) && v.numberShape.MatchString(next) && !v.looksLikeDate(next) && !v.withCents(next)
		ends := p.closed(last+2) || last+3 == len(p.words) && p.ends[last+2] == len(p.runes)
		stroke := mark == "/" && (clear || bareYear(next) || len(p.word(last)) > 2)
		dot := mark == "·" && clear && allDigits(next) && ends
		dash := (mark == "–" || mark == "-") && isPrefix(p.word(0)) && allDigits(next) && ends         // "HN 26 – 0419"
		counted := strings.HasSuffix(p.words[last+2], ".") && allDigits(next) && last+3 < len(p.words) // "/ 2. Zahlungsgesuch"
		if !figures || counted || !stroke && !dot && !dash {
			break
		}
		last += 2
	}
	return last
}

// brokenOff is the rest of a number that is broken at a hyphen at the end of its cell: the first word of the cell's next line, or the only
// one of a line below it that begins with a figure.
func (s *sheet) brokenOff(it *item, value string) string {
	text := strings.TrimRight(string(it.runes), " ")
	if !strings.HasSuffix(value, "-") || !strings.HasSuffix(text, value) || it.row+1 == len(s.rows) {
		return ""
	}
	const leading = 2.2
	for _, below := range s.rows[it.row+1] {
		if below.page != it.page || below.y-it.y > leading*maxFloat(it.size, 7) {
			continue
		}
		word := trimNumber(string(below.runes[:wordEnd(below.runes, 0)]))
		alone := len(word) == len(below.runes) && hasDigit(word[:1]) && below.x0 >= it.x0 && below.x0 < it.x1
		if absFloat(below.x0-it.x0) < 3 || alone {
			return word
		}
	}
	return ""
}

// withCents reports whether a text is a sum of money with its cents.
func (v *vocabulary) withCents(text string) bool {
	return slices.ContainsFunc(v.amounts([]rune(text)), func(a amount) bool { return a.decimals == 2 && a.end-a.start == len([]rune(text)) })
}

// secondOfTwo reports whether a label stands behind that of something else and a stroke: "Votre n° / notre n°".
func secondOfTwo(f found) bool {
	first, rest, two := strings.Cut(f.item.folded[:f.end], "/")
	label := strings.TrimLeft(strings.TrimSpace(f.item.folded[f.start:f.end]), "/ ")
	return two && hasLetters(first) && !hasDigit(first) && strings.TrimSpace(rest) == label
}

// behindFirst is where the second of two values begins that a stroke is between; 0 where there are not two.
func behindFirst(folded string) int {
	const stroke = " / "
	first, second, two := strings.Cut(folded, stroke)
	if !two || !hasDigit(second) || strings.Contains(second, stroke) {
		return 0
	}
	return len(first) + len(stroke)
}

// ofTwoThings reports whether a label announces something else behind a stroke: "Rechnungs-Nr. / Kunden-Nr."
func (s *sheet) ofTwoThings(f found) bool {
	rest := f.item.folded[f.end:]
	return saidTwice(rest) && !slices.Contains(s.numberWords, strings.Trim(rest, " ./:"))
}
