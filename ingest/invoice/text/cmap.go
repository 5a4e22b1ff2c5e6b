package text

import (
	"sort"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"tallyhouse/ingest/invoice/pdf"
)

// maxCMapEntries bounds a CMap; no font has more glyphs than 65,536.
const maxCMapEntries = 1 << 17

// cmap maps character codes to text (ToUnicode) or to glyph ids (Encoding).
type cmap struct {
	spaces []codeSpace
	text   map[uint32]string
	ranges []cidRange
	budget spender
}

type codeSpace struct {
	low, high uint32
	length    int
}

type cidRange struct{ low, high, cid uint32 }

// entryCost is what an entry of a font's tables costs, in operations: it stays in memory.
const entryCost = 8

// spender takes operations off a file's budget; an error ends the work.
type spender interface{ Spend(operations int) error }

// readCMap reads what a CMap program defines by its begin… end… sections, as far as the budget allows.
func readCMap(program []byte, budget spender) *cmap {
	m := &cmap{text: map[uint32]string{}, budget: budget}
	if budget.Spend(len(program)/8) != nil {
		return m
	}
	l := pdf.NewLexer(program)
	var operands []pdf.Object
	for {
		o, err := l.Next()
		if err != nil {
			return m
		}
		word, isWord := o.(pdf.Keyword)
		if !isWord {
			if len(operands) < 1<<16 {
				operands = append(operands, o)
			}
			continue
		}
		switch word {
		case "endcodespacerange":
			for i := 0; i+1 < len(operands); i += 2 {
				low, n := code(operands[i])
				high, _ := code(operands[i+1])
				if n > 0 && n <= 4 && len(m.spaces) < 256 {
					m.spaces = append(m.spaces, codeSpace{low, high, n})
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(operands); i += 2 {
				low, _ := code(operands[i])
				m.set(low, operands[i+1], 0)
			}
		case "endbfrange":
			m.bfRanges(operands)
		case "endcidchar":
			for i := 0; i+1 < len(operands); i += 2 {
				low, _ := code(operands[i])
				m.addRange(low, low, operands[i+1])
			}
		case "endcidrange":
			for i := 0; i+2 < len(operands); i += 3 {
				low, _ := code(operands[i])
				high, _ := code(operands[i+1])
				m.addRange(low, high, operands[i+2])
			}
		}
		operands = operands[:0]
	}
}

func (m *cmap) addRange(low, high uint32, first pdf.Object) {
	cid, ok := first.(int64)
	if ok && len(m.ranges) < maxCMapEntries && m.budget.Spend(entryCost) == nil {
		m.ranges = append(m.ranges, cidRange{low, high, uint32(cid)})
	}
}

func (m *cmap) bfRanges(operands []pdf.Object) {
	for i := 0; i+2 < len(operands); i += 3 {
		low, _ := code(operands[i])
		high, _ := code(operands[i+1])
		if high < low || high-low > 0xFFFF {
			continue
		}
		list, isList := operands[i+2].(pdf.Array)
		count := high - low + 1
		if isList {
			count = min(count, uint32(len(list)))
		}
		for k := range count {
			if isList {
				m.set(low+k, list[k], 0)
			} else if !m.set(low+k, operands[i+2], k) {
				break
			}
		}
	}
}

// set gives a code its text: target, its last character that many further. It reports whether there is room for more.
func (m *cmap) set(c uint32, target pdf.Object, further uint32) bool {
	if len(m.text) >= maxCMapEntries || m.budget.Spend(entryCost) != nil {
		return false
	}
	switch v := target.(type) {
	case pdf.String:
		units := make([]uint16, 0, len(v)/2+1)
		if len(v) == 1 {
			units = append(units, uint16(v[0]))
		}
		for i := 0; i+1 < len(v) && i < 64; i += 2 {
			units = append(units, uint16(v[i])<<8|uint16(v[i+1]))
		}
		if len(units) == 0 {
			return true
		}
		units[len(units)-1] += uint16(further)
		m.text[c] = string(utf16.Decode(units))
	case pdf.Name:
		m.text[c] = glyphText(string(v))
	}
	return true
}

func code(o pdf.Object) (value uint32, length int) {
	s, _ := o.(pdf.String)
	for i := 0; i < len(s) && i < 4; i++ {
		value = value<<8 | uint32(s[i])
	}
	return value, len(s)
}

// textOf returns the text of a code. Some programs write ToUnicode tables in ranges of numbers, as encodings are: those are characters.
func (m *cmap) textOf(c uint32) (string, bool) {
	if t, ok := m.text[c]; ok {
		return t, true
	}
	cid, ok := m.inRange(c)
	if r := rune(cid); ok && cid >= ' ' && cid <= unicode.MaxRune && utf8.ValidRune(r) {
		return string(r), true
	}
	return "", false
}

// sortRanges prepares cid and textOf.
func (m *cmap) sortRanges() {
	sort.SliceStable(m.ranges, func(i, k int) bool { return m.ranges[i].low < m.ranges[k].low })
}

// cid returns the glyph id of a code, the code itself when no range has it.
func (m *cmap) cid(c uint32) uint32 {
	if cid, ok := m.inRange(c); ok {
		return cid
	}
	return c
}

// inRange returns what the ranges say of a code.
func (m *cmap) inRange(c uint32) (uint32, bool) {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].low > c })
	if i > 0 && c <= m.ranges[i-1].high {
		return m.ranges[i-1].cid + c - m.ranges[i-1].low, true
	}
	return 0, false
}

// next takes one code off s by the code space ranges.
func (m *cmap) next(s string, usual int) (c uint32, length int) {
	for n := 1; n <= 4 && n <= len(s); n++ {
		c = c<<8 | uint32(s[n-1])
		for _, space := range m.spaces {
			if space.length == n && c >= space.low && c <= space.high {
				return c, n
			}
		}
	}
	n := min(usual, len(s))
	c = 0
	for i := range n {
		c = c<<8 | uint32(s[i])
	}
	return c, n
}
