package text

import (
	"sort"
	"unicode/utf16"

	"tallyhouse/ingest/invoice/pdf"
)

// maxCMapEntries bounds a CMap; no font has more glyphs than 65,536.
const maxCMapEntries = 1 << 17

// cmap maps character codes to text (ToUnicode) or to glyph ids (Encoding).
type cmap struct {
	spaces []codeSpace
	text   map[uint32]string
	ranges []cidRange
}

type codeSpace struct {
	low, high uint32
	length    int
}

type cidRange struct{ low, high, cid uint32 }

// readCMap reads what a CMap program defines by its begin… end… sections.
func readCMap(program []byte) *cmap {
	m := &cmap{text: map[uint32]string{}}
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
				if cid, ok := operands[i+1].(int64); ok && len(m.ranges) < maxCMapEntries {
					m.ranges = append(m.ranges, cidRange{low, low, uint32(cid)})
				}
			}
		case "endcidrange":
			for i := 0; i+2 < len(operands); i += 3 {
				low, _ := code(operands[i])
				high, _ := code(operands[i+1])
				if cid, ok := operands[i+2].(int64); ok && len(m.ranges) < maxCMapEntries {
					m.ranges = append(m.ranges, cidRange{low, high, uint32(cid)})
				}
			}
		}
		operands = operands[:0]
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
		for c := low; c <= high && len(m.text) < maxCMapEntries; c++ {
			if !isList {
				m.set(c, operands[i+2], c-low)
			} else if int(c-low) < len(list) {
				m.set(c, list[c-low], 0)
			}
		}
	}
}

func (m *cmap) set(c uint32, target pdf.Object, add uint32) {
	if len(m.text) >= maxCMapEntries {
		return
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
			return
		}
		units[len(units)-1] += uint16(add)
		m.text[c] = string(utf16.Decode(units))
	case pdf.Name:
		m.text[c] = glyphText(string(v))
	}
}

func code(o pdf.Object) (value uint32, length int) {
	s, _ := o.(pdf.String)
	for i := 0; i < len(s) && i < 4; i++ {
		value = value<<8 | uint32(s[i])
	}
	return value, len(s)
}

// sortRanges prepares cid.
func (m *cmap) sortRanges() {
	sort.SliceStable(m.ranges, func(i, k int) bool { return m.ranges[i].low < m.ranges[k].low })
}

// cid returns the glyph id of a code, the code itself when no range has it.
func (m *cmap) cid(c uint32) uint32 {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].low > c })
	if i > 0 && c <= m.ranges[i-1].high {
		return m.ranges[i-1].cid + c - m.ranges[i-1].low
	}
	return c
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
