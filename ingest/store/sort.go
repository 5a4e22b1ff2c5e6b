package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// sorting puts the rows of a block in the order of tenant, project and id. There are fewer projects than rows: they are
// sorted by themselves, and the rows by the ranks of theirs and by 8 bytes of the id, which mostly decide. It keeps its
// memory.
type sorting struct {
	order             []uint32
	rows              []sortedRow
	tenants, projects ranks
}

type sortedRow struct {
	belongs uint64 // ranks of tenant and project
	id      uint64 // the first bytes in which ids differ
	row     uint32
}

// sort returns the block's rows in their order, without those that are gone.
func (s *sorting) sort(b *Block) []uint32 {
	slices.Sort(b.gone)
	gone, shared := b.gone, s.rank(b)
	s.rows, s.order = s.rows[:0], s.order[:0]
	for i := range b.rows {
		if len(gone) > 0 && gone[0] == i {
			gone = gone[1:]
			continue
		}
		id := textOf(b.id.values.row(i))
		s.rows = append(s.rows, sortedRow{
			belongs: uint64(s.tenants.of(i))<<32 | uint64(s.projects.of(i)), id: prefix(id[min(shared, len(id)):]), row: i,
		})
	}
	slices.SortFunc(s.rows, func(x, y sortedRow) int {
		if x.belongs != y.belongs {
			return cmp.Compare(x.belongs, y.belongs)
		}
		if x.id != y.id {
			return cmp.Compare(x.id, y.id)
		}
		return bytes.Compare(textOf(b.id.values.row(x.row)), textOf(b.id.values.row(y.row)))
	})
	for i := range s.rows {
		s.order = append(s.order, s.rows[i].row)
	}
	return s.order
}

// rank ranks tenants and projects, and returns how many bytes all ids begin with alike.
func (s *sorting) rank(b *Block) (shared int) {
	s.tenants.reset()
	s.projects.reset()
	var first []byte
	for i := range b.rows {
		s.tenants.see(b.tenant, i)
		s.projects.see(b.project, i)
		id := textOf(b.id.values.row(i))
		switch {
		case len(id) == 0: // a position row's
		case first == nil:
			first, shared = id, len(id)
		default:
			shared = min(shared, len(id))
			for n := range id[:shared] {
				if id[n] != first[n] {
					shared = n
					break
				}
			}
		}
	}
	s.tenants.sort()
	s.projects.sort()
	return shared
}

// prefix is a text's first 8 bytes as a number that compares like them.
func prefix(text []byte) uint64 {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64(text)
	}
	var padded [8]byte
	copy(padded[:], text)
	return binary.BigEndian.Uint64(padded[:])
}

// ranks are the places of a column's texts among each other.
type ranks struct {
	byText map[string]uint32 // the number of each, in the order in which they come
	texts  []string          // by number
	rows   []uint32          // the number that each row has
	sorted []uint32          // numbers
	ranks  []uint32          // by number
}

func (r *ranks) reset() {
	if r.byText == nil {
		r.byText = map[string]uint32{}
	}
	clear(r.byText)
	r.texts, r.rows = r.texts[:0], r.rows[:0]
}

// see takes in the next row.
func (r *ranks) see(w *wire, row uint32) {
	text := textOf(w.values.row(row))
	if last := len(r.rows) - 1; last >= 0 && r.texts[r.rows[last]] == string(text) {
		r.rows = append(r.rows, r.rows[last])
		return
	}
	number, ok := r.byText[string(text)]
	if !ok {
		number = uint32(len(r.texts))
		own := string(text)
		r.byText[own] = number
		r.texts = append(r.texts, own)
	}
	r.rows = append(r.rows, number)
}

func (r *ranks) sort() {
	r.sorted = r.sorted[:0]
	for number := range r.texts {
		r.sorted = append(r.sorted, uint32(number))
	}
	slices.SortFunc(r.sorted, func(a, b uint32) int { return strings.Compare(r.texts[a], r.texts[b]) })
	r.ranks = slices.Grow(r.ranks[:0], len(r.texts))[:len(r.texts)]
	for rank, number := range r.sorted {
		r.ranks[number] = uint32(rank)
	}
}

func (r *ranks) of(row uint32) uint32 { return r.ranks[r.rows[row]] }

// textOf is a text without its length in front.
func textOf(sent []byte) []byte {
	for i, c := range sent {
		if c < 0x80 {
			return sent[i+1:]
		}
	}
	return nil
}
