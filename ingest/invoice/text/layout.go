package text

import (
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Gaps in parts of the font size.
const (
	wordGap = 0.16 // a wider gap parts words
	cellGap = 0.85 // a wider gap parts cells: columns, labels from values
)

// Word is text without a space inside.
type Word struct {
	Text   string
	X0, X1 float64
	Y      float64 // baseline from the page's top, in points
	Size   float64
	spaced bool // its letters were set far apart
}

// Cell is a run of words with ordinary spaces between them.
type Cell struct {
	Text   string
	X0, X1 float64
	Y      float64
	Size   float64
}

// Line is what stands on one baseline, from left to right.
type Line struct {
	Y     float64
	Cells []Cell
}

// lines sets the glyphs of a page in words, cells and lines.
func lines(upright []mark) []Line {
	return setLines(lower(splitWords(upright)))
}

// setLines sets words in cells and lines.
func setLines(words []Word) []Line {
	rows := group(words)
	out := make([]Line, 0, len(rows))
	for _, row := range rows {
		if cells := splitCells(closeUp(row)); len(cells) > 0 {
			out = append(out, Line{Y: row[0].Y, Cells: cells})
		}
	}
	return out
}

// quarter is the direction of writing of a mark, in quarters; slanted ones count as upright.
func quarter(m mark) int {
	dx, dy := m.endX-m.x, m.endY-m.y
	switch {
	case math.Abs(dy) <= 0.2*math.Abs(dx) && dx >= 0:
		return 0
	case math.Abs(dy) <= 0.2*math.Abs(dx):
		return 2
	case dy > 0:
		return 1
	}
	return 3
}

// slanted reports whether a mark runs along neither side of the page, as watermarks do.
func slanted(m mark) bool {
	dx, dy := math.Abs(m.endX-m.x), math.Abs(m.endY-m.y)
	return dy > 0.2*dx && dx > 0.2*dy
}

// mainDirection is that of most marks, in quarters.
func mainDirection(marks []mark, rotate int) int {
	var count [4]int
	for _, m := range marks {
		count[quarter(m)]++
	}
	main := rotate / 90 % 4
	for q, n := range count {
		if n > 2*count[main] {
			main = q
		}
	}
	return main
}

// aside are the lines that run across the main direction, as at the edge of a page.
func aside(marks []mark, box [4]float64, main int) []Line {
	across := slices.DeleteFunc(slices.Clone(marks), slanted)
	var out []Line
	for q := range 4 {
		if q != main {
			out = append(out, lines(turn(across, box, q))...)
		}
	}
	return out
}

// turn makes a direction of writing, in quarters, run left to right, y from the top, and drops glyphs of other directions and those off
// the page.
func turn(marks []mark, box [4]float64, main int) []mark {
	x0, y0, x1, y1 := math.Min(box[0], box[2]), math.Min(box[1], box[3]), math.Max(box[0], box[2]),
		math.Max(box[1], box[3])
	out := make([]mark, 0, len(marks))
	for _, m := range marks {
		if quarter(m) != main || m.size <= 0 || m.size > 2000 || m.x < x0-5 || m.x > x1+5 || m.y < y0-5 || m.y > y1+5 {
			continue
		}
		switch main {
		case 0:
			m.y, m.endY = y1-m.y, y1-m.endY
		case 1:
			m.x, m.y, m.endX, m.endY = m.y, m.x-x0, m.endY, m.endX-x0
		case 2:
			m.x, m.y, m.endX, m.endY = x1-m.x, m.y-y0, x1-m.endX, m.endY-y0
		case 3:
			m.x, m.y, m.endX, m.endY = y1-m.y, x1-m.x, y1-m.endY, x1-m.endX
		}
		out = append(out, m)
	}
	return out
}

// splitWords joins glyphs that follow each other, in the order shown.
func splitWords(marks []mark) []Word {
	var words []Word
	var text strings.Builder
	var current Word
	flush := func() {
		if current.Text = strings.TrimSpace(text.String()); current.Text != "" {
			words = append(words, current)
		}
		text.Reset()
	}
	for _, m := range marks {
		clean := cleanText(m.text)
		if strings.TrimSpace(clean) == "" {
			flush()
			continue
		}
		follows := text.Len() > 0 && math.Abs(m.y-current.Y) < 0.1*current.Size &&
			m.x-current.X1 < wordGap*m.size && m.x-current.X1 > -0.4*m.size &&
			math.Abs(m.size-current.Size) < 0.35*current.Size
		if !follows {
			flush()
			current = Word{X0: m.x, Y: m.y, Size: m.size, X1: m.x}
		}
		if strings.ContainsRune(clean, ' ') {
			// A glyph, or /ActualText, of several words.
			for i, part := range strings.Fields(clean) {
				if i > 0 {
					flush()
					current = Word{X0: m.x, Y: m.y, Size: m.size, X1: m.endX}
				}
				text.WriteString(part)
			}
		} else {
			text.WriteString(clean)
		}
		current.X1 = math.Max(current.X1, m.endX)
	}
	flush()
	return words
}

// lower brings small letters that are set high behind a word, as in "1er" and "no", down to its line. Figures set so are footnotes.
func lower(words []Word) []Word {
	const (
		longest  = 4    // letters
		smaller  = 0.98 // of the word's size
		least    = 0.15 // as high
		most     = 0.55
		touching = 0.25 // as near
	)
	for i := 1; i < len(words); i++ {
		w, before := &words[i], words[i-1]
		high, gap := (before.Y-w.Y)/before.Size, math.Abs(w.X0-before.X1)/before.Size
		letters := !strings.ContainsFunc(w.Text, func(r rune) bool { return !unicode.IsLower(r) })
		if letters && utf8.RuneCountInString(w.Text) <= longest && w.Size < smaller*before.Size && high > least && high < most && gap < touching {
			w.Y = before.Y
		}
	}
	return words
}

// cleanText maps ligatures, odd spaces and hyphens to plain characters.
func cleanText(s string) string {
	plain := true
	for _, r := range s {
		if r < 32 || r > 126 {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == 'ﬁ':
			out.WriteString("fi")
		case r == 'ﬂ':
			out.WriteString("fl")
		case r == 'ﬀ':
			out.WriteString("ff")
		case r == 'ﬃ':
			out.WriteString("ffi")
		case r == 'ﬄ':
			out.WriteString("ffl")
		case r == '\u00AD' || r == '\u2010' || r == '\u2011' || r == '\u2212':
			out.WriteByte('-')
		case r == '\u200B' || r == '\uFEFF' || r == '\uFFFD' || r == 0x2060:
		case unicode.IsSpace(r) || r < 32:
			out.WriteByte(' ')
		case r >= 0xE000 && r <= 0xF8FF: // private use: bullets and logos
			out.WriteRune('•')
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// group sets words in rows by their baselines, rows from top to bottom.
func group(words []Word) [][]Word {
	sort.SliceStable(words, func(i, k int) bool { return words[i].Y < words[k].Y })
	var rows [][]Word
	for _, w := range words {
		placed := false
		// Rows are in order of their baselines: only the last few can match.
		for i := len(rows) - 1; i >= 0 && i >= len(rows)-4 && !placed; i-- {
			row := rows[i]
			size := math.Min(w.Size, row[0].Size)
			if math.Abs(w.Y-row[0].Y) <= 0.35*size || math.Abs(w.Y-row[len(row)-1].Y) <= 0.2*size {
				rows[i] = append(row, w)
				placed = true
			}
		}
		if !placed {
			rows = append(rows, []Word{w})
		}
	}
	for _, row := range rows {
		sort.SliceStable(row, func(i, k int) bool { return row[i].X0 < row[k].X0 })
	}
	return rows
}

// splitCells joins the words of a row to cells. A word drawn twice at one place,
// as for bold print, counts once.
func splitCells(row []Word) []Cell {
	var cells []Cell
	var last Word
	var text strings.Builder // of the last cell
	end := func() {
		if len(cells) > 0 {
			cells[len(cells)-1].Text = text.String()
			text.Reset()
		}
	}
	for i, w := range row {
		if i > 0 {
			if w.Text == last.Text && math.Abs(w.X0-last.X0) < 0.25*w.Size {
				continue
			}
			gap, size := w.X0-last.X1, math.Max(math.Min(w.Size, last.Size), 1)
			c := &cells[len(cells)-1]
			if gap < cellGap*size || (w.spaced || last.spaced) && w.Size == last.Size && gap < spacedGap*size {
				if gap >= wordGap*size || gap < -0.4*size {
					text.WriteByte(' ')
				}
				text.WriteString(w.Text)
				c.X1 = math.Max(c.X1, w.X1)
				c.Size = math.Max(c.Size, w.Size)
				last = w
				continue
			}
		}
		end()
		cells = append(cells, Cell{Text: w.Text, X0: w.X0, X1: w.X1, Y: w.Y, Size: w.Size})
		text.WriteString(w.Text)
		last = w
	}
	end()
	return cells
}
