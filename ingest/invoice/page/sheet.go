package page

import (
	"fmt"
	"math"
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
	"tallyhouse/ingest/invoice/page/words"
	"tallyhouse/ingest/invoice/text"
)

// item is a cell of a page with what the rules ask of it.
type item struct {
	page, row, col int // row counts through all pages
	x0, x1, y      float64
	size           float64
	runes          []rune
	folded         string // one byte per rune
	key            string // letters and digits alone, for comparison
	amounts        []amount
	dates          []date
	aside          bool // it runs across the page: its place is not known
}

func (it *item) text() string { return string(it.runes) }

// names reports whether the item holds a name, in its comparable form, or is a good part of it.
func (it *item) names(key string) bool {
	return strings.Contains(it.key, key) || len(it.key) >= 6 && strings.Contains(key, it.key)
}

// words reports whether the item holds a letter or digit.
func (it *item) words() bool {
	for i := range len(it.folded) {
		if c := it.folded[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return true
		}
	}
	return false
}

// sheet is a document as the rules see it: rows of items from top to bottom.
type sheet struct {
	*vocabulary
	rows    [][]*item
	heights []float64 // of the pages
	order   dateOrder
	prepaid bool         // the title says that it's an invoice for a prepayment
	lists   map[int]bool // rows that list other invoices
	twofold bool         // its sums stand in two currencies, side by side
	// signatures are the lines below how letters close.
	signatures []*item
	from, to   *item           // the labels of a pair over the parties
	median     float64         // size of the text
	widths     map[int]float64 // how far to the right the pages' texts go

	pages    map[int]text.Page // by number
	possible map[string][]possibility
	findings []fields.Finding

	weights model.Model
	// considered holds the candidates of the fields that weights decided on.
	considered map[string][]model.Candidate
}

// maxRows bounds the rows looked at; totals of long invoices stand at their
// end, so the middle is left out.
const maxRows = 4000

// maxRunes bounds a cell; paragraphs set in one line are shorter.
const maxRunes = 800

func newSheet(v *vocabulary, doc text.Document) *sheet {
	s := &sheet{vocabulary: v, pages: map[int]text.Page{}, possible: map[string][]possibility{},
		considered: map[string][]model.Candidate{}}
	total := 0
	lines := make([][]text.Line, len(doc.Pages))
	for i, p := range doc.Pages {
		lines[i] = centred(p.Lines)
		total += len(lines[i])
	}
	n := 0
	for i, p := range doc.Pages {
		s.heights = append(s.heights, p.Height)
		s.pages[p.Number] = p
		for _, line := range lines[i] {
			if n++; total > maxRows && n > maxRows/2 && n <= total-maxRows/2 {
				continue
			}
			row := s.newRow(p.Number, line)
			if len(row) > 0 {
				s.rows = append(s.rows, row)
			}
		}
	}
	s.median, s.widths = s.medianSize(), map[int]float64{}
	for _, row := range s.rows {
		for _, it := range row {
			s.widths[it.page] = max(s.widths[it.page], it.x1)
		}
	}
	s.wholeSums()
	s.brokenDays()
	s.swedishDays()
	s.order = orderOf(s.allDates(), s.american())
	s.prepaid = s.titlePrepaid()
	s.lists = s.listed()
	s.converted()
	s.signatures = s.closings()
	s.from, s.to = s.fromAndTo()
	return s
}

// newRow makes items of the cells of a line.
func (s *sheet) newRow(page int, line text.Line) []*item {
	var row []*item
	for _, c := range figuresApart(joinSpaced(unframed(line.Cells))) {
		it := &item{page: page, row: len(s.rows), col: len(row), x0: c.X0, x1: c.X1, y: c.Y, size: c.Size, runes: []rune(c.Text)}
		it.runes = it.runes[:min(len(it.runes), maxRunes)]
		it.folded = fold(it.runes)
		it.key = compact(it.folded)
		it.amounts = s.amounts(it.runes)
		it.dates = s.dates(it.folded)
		if it.words() || len(row) == 0 {
			row = append(row, it)
		}
	}
	return row
}

// maxAside bounds the lines at the edges of a page that are looked at.
const maxAside = 12

// addAside adds the lines of the first page that run across it, below all others: who issued it may be named there alone.
func (s *sheet) addAside() {
	const apart = 4 // sizes, so that no line belongs to the next
	p := s.pages[1]
	y := p.Height
	for _, line := range p.Aside[:min(len(p.Aside), maxAside)] {
		row := s.newRow(p.Number, line)
		for _, it := range row {
			y += apart * it.size / float64(len(row))
		}
		for _, it := range row {
			it.y, it.aside = y, true
		}
		if len(row) > 0 {
			s.rows = append(s.rows, row)
		}
	}
}

func (s *sheet) allDates() []date {
	var all []date
	for _, row := range s.rows {
		for _, it := range row {
			all = append(all, it.dates...)
		}
	}
	return all
}

// american reports whether the document comes from where months are written first: others have dollars, too, and no English.
func (s *sheet) american() bool {
	dollars, cues := 0, 0
	if !s.mentions(s.english) {
		return false
	}
	for _, row := range s.rows {
		for _, it := range row {
			for _, a := range it.amounts {
				switch a.currency {
				case "USD":
					dollars++
				case "":
				default:
					dollars--
				}
			}
			if s.americanCue.MatchString(it.folded) {
				cues++
			}
		}
	}
	return dollars > 0 || dollars == 0 && cues > 1
}

// right is the next item on the row with a letter or digit.
func (s *sheet) right(it *item) *item {
	row := s.rows[it.row]
	for i := it.col + 1; i < len(row); i++ {
		if row[i].words() {
			return row[i]
		}
	}
	return nil
}

// beside is the item to the right whose baseline is slightly lower, as when
// labels and values are set in different sizes.
func (s *sheet) beside(it *item) *item {
	for r := it.row + 1; r < len(s.rows) && r <= it.row+2; r++ {
		row := s.rows[r]
		if row[0].page != it.page || row[0].y-it.y > 0.8*it.size {
			return nil
		}
		for _, other := range row {
			if other.x0 >= it.x1 && other.words() {
				return other
			}
		}
	}
	return nil
}

// below returns the items under it, nearest first, within rows lines of its size.
func (s *sheet) below(it *item, lines float64) []*item {
	var out []*item
	for r := it.row + 1; r < len(s.rows) && len(out) < 4; r++ {
		row := s.rows[r]
		if row[0].page != it.page || row[0].y-it.y > lines*1.6*math.Max(it.size, 6) {
			break
		}
		for _, other := range row {
			if other.words() && aligned(it, other) {
				out = append(out, other)
			}
		}
	}
	return out
}

// largeBelow is the item of the next row under a label in a row of several that are set much larger than their labels, and further down
// for that; nil where there is none.
func (s *sheet) largeBelow(label *item) *item {
	const much, lines = 1.5, 3.5
	if label.row+1 == len(s.rows) || len(s.rows[label.row]) < 2 || len(s.rows[label.row+1]) != len(s.rows[label.row]) {
		return nil
	}
	it := s.rows[label.row+1][label.col]
	if it.page != label.page || !aligned(label, it) || it.size < much*label.size || it.y-label.y > lines*it.size {
		return nil
	}
	return it
}

// aligned reports whether two items stand in one column.
func aligned(a, b *item) bool {
	overlap := math.Min(a.x1, b.x1) - math.Max(a.x0, b.x0)
	return overlap > 0.4*math.Min(a.x1-a.x0, b.x1-b.x0) || math.Abs(a.x0-b.x0) < 4 || math.Abs(a.x1-b.x1) < 4
}

// lineStart is the first of the cells that stand close to one another before an item, as label and value, or two ids, of one line do.
func (s *sheet) lineStart(it *item) *item {
	const gap = 2.2 // sizes: columns are further apart
	for it.col > 0 {
		left := s.rows[it.row][it.col-1]
		if it.x0-left.x1 > gap*maxFloat(it.size, 7) {
			break
		}
		it = left
	}
	return it
}

// label is a wording that announces a value.
type label struct {
	pattern *words.Pattern
	weight  float64
	rule    string
	below   bool // the value may stand under it
	several bool // it may announce several values
}

// found is a label met on the sheet.
type found struct {
	item  *item
	start int // of the label in the item
	end   int
	label label
}

// each calls f for every place a label stands. Labels later in the list do not
// match where an earlier one has.
func (s *sheet) each(labels []label, f func(found)) {
	for _, row := range s.rows {
		for _, it := range row {
			var taken [][]int
			for _, l := range labels {
				for _, m := range l.pattern.FindAllStringIndex(it.folded, 8) {
					if !overlaps(taken, m) {
						taken = append(taken, m)
						f(found{item: it, start: m[0], end: m[1], label: l})
					}
				}
			}
			s.eachBroken(labels, it, f)
		}
	}
}

// eachBroken calls f for a label that is broken over two lines of its cell, "Final date for" above "payment": its value stands beside.
func (s *sheet) eachBroken(labels []label, it *item, f func(found)) {
	const longest = 30
	below := s.lineBelow(it)
	if below == nil || below.row != it.row+1 || len(it.folded) > longest || len(below.folded) > longest || s.right(it) == nil ||
		hasDigit(it.folded) || hasDigit(below.folded) || strings.Contains(it.folded, ":") {
		return
	}
	both := it.folded + " " + below.folded
	for _, l := range labels {
		if m := l.pattern.FindStringIndex(both); m != nil && m[0] == 0 && m[1] == len(both) {
			f(found{item: it, start: 0, end: len(it.folded), label: l})
			return
		}
	}
}

func overlaps(taken [][]int, m []int) bool {
	for _, t := range taken {
		if m[0] < t[1] && t[0] < m[1] {
			return true
		}
	}
	return false
}

// place is where a value may stand: in an item from an offset on.
type place struct {
	item  *item
	from  int
	where string // it stands, seen from its label
}

// places lists where the value of a label may stand, likeliest first: behind it
// in its item, in the item to the right, under it.
func (s *sheet) places(f found) []place {
	from := pastRemark(f.item.folded, f.end)
	rest := strings.Trim(f.item.folded[from:], " :.#*-~")
	if rest != "" && !strings.HasPrefix(rest, "(") && !saidTwice(rest) {
		return []place{{f.item, from, "behind"}}
	}
	var out []place
	if r := s.right(f.item); r != nil {
		out = append(out, place{r, 0, "right"})
	}
	if r := s.beside(f.item); r != nil {
		out = append(out, place{r, 0, "beside"})
	}
	if f.label.below {
		under := s.below(f.item, 2.2)
		if large := s.largeBelow(f.item); len(under) == 0 && large != nil {
			under = []*item{large}
		}
		for i, b := range under {
			out = append(out, place{b, 0, fmt.Sprintf("below %d", min(i, 2))})
		}
	}
	return out
}

// pastRemark is where a label's words in parentheses end, as in "Faktura cislo (VS): 7" or "Date (dd/mm/yyyy): 1/2/2026"; without
// such words, where it looks for them.
func pastRemark(folded string, from int) int {
	const longest = 40
	behind := folded[from:]
	at := len(behind) - len(strings.TrimLeft(behind, " .:"))
	if !strings.HasPrefix(behind[at:], "(") {
		return from
	}
	end := strings.IndexByte(behind[at:], ')') + 1
	if end == 0 || end > longest || hasDigit(behind[at:at+end]) {
		return from
	}
	return from + at + end
}

// saidTwice reports whether what follows a label is the same in another language, as in "N° / Nr.", or a second label.
func saidTwice(rest string) bool {
	rest = strings.TrimLeft(rest, " .:")
	return strings.HasPrefix(rest, "/") && hasLetters(rest) && !hasDigit(rest) && len(rest) <= maxLabelled/2
}

func (s *sheet) evidence(it *item, rule string, confidence float64) fields.Evidence {
	text := it.text()
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160])
	}
	return fields.Evidence{Page: it.page, Text: text, Rule: rule, Confidence: math.Round(confidence*100) / 100,
		Box: s.box(it), Label: s.label(it)}
}
