package qr

import (
	"errors"
	"fmt"
	"math/bits"
)

// matrix is a symbol's modules, true where dark.
type matrix struct {
	size int
	dark []bool
}

func newMatrix(size int) matrix { return matrix{size, make([]bool, size*size)} }

func (m matrix) at(x, y int) bool { return m.dark[y*m.size+x] }

// Sizes of symbols.
const (
	smallest = 21
	largest  = 117 // version 25: what the rules of payments allow
)

// errUnreadable: what looked like a code is none, or is damaged beyond repair.
var errUnreadable = errors.New("no readable code")

// level is how much of a symbol serves to correct errors. The constants are those of its format bits.
type level int

const (
	medium level = iota
	low
	high
	quartile
)

// correction lists, by version, the codewords that correct a block and the number of blocks.
type correction struct{ words, blocks [25]int }

func (l level) correction() correction {
	switch l {
	case low:
		return correction{
			[25]int{7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26},
			[25]int{1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12}}
	case medium:
		return correction{
			[25]int{10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28},
			[25]int{1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21}}
	case quartile:
		return correction{
			[25]int{13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30, 28, 30, 30, 30, 30},
			[25]int{1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29}}
	}
	return correction{
		[25]int{17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28, 30, 24, 30, 30, 30},
		[25]int{1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35}}
}

// decode reads the text of a symbol.
func decode(m matrix) (string, error) {
	version := (m.size - 17) / 4
	l, mask, err := m.format()
	if err != nil {
		return "", err
	}
	data, err := corrected(m.codewords(version, mask), l, version)
	if err != nil {
		return "", err
	}
	return message(data, version)
}

// format reads the level and the mask, from that of its two copies which is less damaged.
func (m matrix) format() (level, int, error) {
	var first, second uint16
	set := func(to *uint16, i, x, y int) {
		if m.at(x, y) {
			*to |= 1 << i
		}
	}
	for i := range 15 {
		switch {
		case i < 6:
			set(&first, i, 8, i)
		case i < 8:
			set(&first, i, 8, i+1)
		case i == 8:
			set(&first, i, 7, 8)
		default:
			set(&first, i, 14-i, 8)
		}
		if i < 8 {
			set(&second, i, m.size-1-i, 8)
		} else {
			set(&second, i, 8, m.size-15+i)
		}
	}
	best, distance := 0, 4 // the code corrects three wrong bits
	for value := range 32 {
		word := uint16(formatWord(value))
		if d := min(bits.OnesCount16(word^first), bits.OnesCount16(word^second)); d < distance {
			best, distance = value, d
		}
	}
	if distance > 3 {
		return 0, 0, fmt.Errorf("format: %w", errUnreadable)
	}
	return level(best >> 3), best & 7, nil
}

// formatWord is the 15 bits that stand for five.
func formatWord(value int) int {
	rest := value
	for range 10 {
		rest = rest<<1 ^ (rest>>9)*0x537
	}
	return (value<<10 | rest) ^ 0x5412
}

// masked reports whether a mask turns a module around.
func masked(mask, x, y int) bool {
	switch mask {
	case 0:
		return (x+y)%2 == 0
	case 1:
		return y%2 == 0
	case 2:
		return x%3 == 0
	case 3:
		return (x+y)%3 == 0
	case 4:
		return (x/3+y/2)%2 == 0
	case 5:
		return x*y%2+x*y%3 == 0
	case 6:
		return (x*y%2+x*y%3)%2 == 0
	}
	return ((x+y)%2+x*y%3)%2 == 0
}

// alignments are the coordinates of the small squares of a version.
func alignments(version int) []int {
	if version == 1 {
		return nil
	}
	n := version/7 + 2
	step := (version*4 + n*2 + 1) / (n*2 - 2) * 2
	out := []int{6}
	for at := version*4 + 10 - (n-2)*step; len(out) < n; at += step {
		out = append(out, at)
	}
	return out
}

// holdsData reports which modules of a version hold codewords: those that no pattern and no word about the symbol takes.
func holdsData(version, size int) func(x, y int) bool {
	centres := alignments(version)
	taken := newMatrix(size)
	for _, cy := range centres {
		for _, cx := range centres {
			if cx == 6 && (cy == 6 || cy == size-7) || cx == size-7 && cy == 6 {
				continue
			}
			for y := cy - 2; y <= cy+2; y++ {
				for x := cx - 2; x <= cx+2; x++ {
					taken.dark[y*size+x] = true
				}
			}
		}
	}
	return func(x, y int) bool {
		switch {
		case x < 9 && y < 9, x >= size-8 && y < 9, x < 9 && y >= size-8, x == 6, y == 6:
			return false
		case version >= 7 && (x >= size-11 && y < 6 || y >= size-11 && x < 6):
			return false
		}
		return !taken.at(x, y)
	}
}

// codewords reads the bytes along the columns, two modules wide, up and down in turn from the right.
func (m matrix) codewords(version, mask int) []byte {
	data := holdsData(version, m.size)
	var out []byte
	current, n := byte(0), 0
	for right := m.size - 1; right >= 1; right -= 2 {
		if right == 6 {
			right = 5
		}
		for i := range m.size {
			y := i
			if (right+1)&2 == 0 {
				y = m.size - 1 - i
			}
			for _, x := range []int{right, right - 1} {
				if !data(x, y) {
					continue
				}
				current <<= 1
				if m.at(x, y) != masked(mask, x, y) {
					current |= 1
				}
				if n++; n%8 == 0 {
					out = append(out, current)
				}
			}
		}
	}
	return out
}

// corrected sorts the codewords into their blocks, mends each, and returns the data of all.
func corrected(words []byte, l level, version int) ([]byte, error) {
	c := l.correction()
	blocks, extra := c.blocks[version-1], c.words[version-1]
	short := len(words)/blocks - extra // data of the shorter blocks
	longer := len(words) % blocks      // blocks with one more
	all := make([][]byte, blocks)
	at := 0
	for i := range short + 1 {
		for b := range all {
			if i < short || b >= blocks-longer {
				all[b] = append(all[b], words[at])
				at++
			}
		}
	}
	for range extra {
		for b := range all {
			all[b] = append(all[b], words[at])
			at++
		}
	}
	var out []byte
	for _, block := range all {
		if err := mend(block, extra); err != nil {
			return nil, err
		}
		out = append(out, block[:len(block)-extra]...)
	}
	return out, nil
}
