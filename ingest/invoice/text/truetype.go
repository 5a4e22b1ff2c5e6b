package text

import "encoding/binary"

// glyphTexts inverts the Unicode cmap of a TrueType program: glyph id to text.
// It serves composite fonts that carry no ToUnicode; nil when there is none. It
// ends where the budget does.
func glyphTexts(program []byte, budget spender) map[uint32]string {
	table := trueTypeTable(program, "cmap")
	if len(table) < 4 {
		return nil
	}
	out := map[uint32]string{}
	n := int(binary.BigEndian.Uint16(table[2:]))
	for i := 0; i < n && i < 64 && 4+8*i+8 <= len(table); i++ {
		record := table[4+8*i:]
		platform := binary.BigEndian.Uint16(record)
		offset := binary.BigEndian.Uint32(record[4:])
		if platform != 0 && platform != 3 || int64(offset)+16 > int64(len(table)) {
			continue
		}
		sub := table[offset:]
		switch binary.BigEndian.Uint16(sub) {
		case 4:
			readFormat4(sub, out, budget)
		case 12:
			readFormat12(sub, out, budget)
		}
	}
	return out
}

func trueTypeTable(program []byte, tag string) []byte {
	if len(program) < 12 {
		return nil
	}
	n := int(binary.BigEndian.Uint16(program[4:]))
	for i := 0; i < n && i < 64 && 12+16*i+16 <= len(program); i++ {
		entry := program[12+16*i:]
		if string(entry[:4]) != tag {
			continue
		}
		offset, length := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		if int64(offset) > int64(len(program)) {
			return nil
		}
		return program[offset:min(int64(offset)+int64(length), int64(len(program)))]
	}
	return nil
}

func keep(out map[uint32]string, glyph uint32, c uint32) {
	if c >= 0xF000 && c <= 0xF0FF {
		c -= 0xF000
	}
	if _, known := out[glyph]; !known && glyph != 0 && c >= 32 {
		out[glyph] = string(rune(c))
	}
}

func readFormat4(t []byte, out map[uint32]string, budget spender) {
	segments := int(binary.BigEndian.Uint16(t[6:])) / 2
	if 16+8*segments > len(t) {
		return
	}
	at := func(i int) int {
		if i+2 > len(t) {
			return 0
		}
		return int(binary.BigEndian.Uint16(t[i:]))
	}
	left := maxCMapEntries
	for s := range segments {
		end, start := at(14+2*s), at(16+2*segments+2*s)
		delta, rangeAt := at(16+4*segments+2*s), 16+6*segments+2*s
		offset := at(rangeAt)
		for c := start; c <= end && c < 0xFFFF && left > 0 && budget.Spend(entryCost) == nil; c++ {
			left--
			g := c + delta
			if offset != 0 {
				if g = at(rangeAt + offset + 2*(c-start)); g != 0 {
					g += delta
				}
			}
			keep(out, uint32(g&0xFFFF), uint32(c))
		}
	}
}

func readFormat12(t []byte, out map[uint32]string, budget spender) {
	n := int(binary.BigEndian.Uint32(t[12:]))
	left := maxCMapEntries
	for i := 0; i < n && i < 1<<16 && 16+12*i+12 <= len(t); i++ {
		group := t[16+12*i:]
		start, end, glyph := binary.BigEndian.Uint32(group), binary.BigEndian.Uint32(group[4:]),
			binary.BigEndian.Uint32(group[8:])
		for c := start; c >= start && c <= end && left > 0 && budget.Spend(entryCost) == nil; c++ {
			left--
			keep(out, glyph+c-start, c)
		}
	}
}
