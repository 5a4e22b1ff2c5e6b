package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode/utf16"
)

// maxSections bounds the chain of incremental updates.
const maxSections = 512

// readReferences follows the cross-reference sections from offset on, newest
// first; the first entry for a number wins.
func (f *File) readReferences(offset int64) bool {
	seen := map[int64]bool{}
	queue := []int64{offset}
	for len(queue) > 0 && len(seen) < maxSections {
		at := queue[0]
		queue = queue[1:]
		if seen[at] || at < 0 || at >= int64(len(f.data)) {
			f.odd = true
			continue
		}
		seen[at] = true
		d, ok := f.section(int(at))
		if !ok {
			f.odd = true
			return len(seen) > 1 && len(f.places) > 0
		}
		for k, v := range d {
			if _, known := f.trailer[k]; !known {
				f.trailer[k] = v
			}
		}
		f.odd = f.odd || odd(d)
		if n, isInt := d["XRefStm"].(int64); isInt {
			queue = append(queue, n)
		}
		if n, isNumber := Number(d["Prev"]); isNumber {
			queue = append(queue, int64(n))
		}
	}
	return len(f.places) > 0
}

// odd reports whether the library must not see a section with this dictionary: it
// asks for memory as /Size and /Columns say, and knows no hybrid files.
func odd(d Dict) bool {
	if size, isInt := d["Size"].(int64); !isInt || size < 0 || size > maxObjects || d["XRefStm"] != nil {
		return true
	}
	params, isDict := d["DecodeParms"].(Dict)
	columns, isInt := params["Columns"].(int64)
	return d["DecodeParms"] != nil && (!isDict || !isInt || columns < 1 || columns > 64)
}

func (f *File) section(at int) (Dict, bool) {
	l := &Lexer{data: f.data, pos: at}
	l.skipSpace()
	if bytes.HasPrefix(f.data[min(l.pos, len(f.data)):], []byte("xref")) {
		l.pos += len("xref")
		return f.table(l)
	}
	return f.referenceStream(l.pos)
}

func (f *File) add(number int64, p place) bool {
	f.odd = f.odd || number > maxObjects
	if number < 0 || number > maxObjects<<4 || len(f.places) > maxObjects {
		f.odd = true
		return false
	}
	if _, known := f.places[uint32(number)]; !known {
		f.places[uint32(number)] = p
	}
	return true
}

func (f *File) table(l *Lexer) (Dict, bool) {
	for f.cancel() == nil {
		o, err := f.next(l)
		if err != nil {
			return nil, false
		}
		if o == Keyword("trailer") {
			l.refs = true
			d, err := f.next(l)
			dict, ok := d.(Dict)
			return dict, ok && err == nil
		}
		start, ok1 := o.(int64)
		count, err := f.next(l)
		n, ok2 := count.(int64)
		if err != nil || !ok1 || !ok2 || n < 0 || n > maxObjects {
			return nil, false
		}
		for i := range n {
			a, err1 := f.next(l)
			_, err2 := f.next(l)
			c, err3 := f.next(l)
			offset, isInt := a.(int64)
			if err1 != nil || err2 != nil || err3 != nil || !isInt {
				return nil, false
			}
			if c == Keyword("n") && !f.add(start+i, place{offset: int(offset)}) {
				return nil, false
			}
			if c == Keyword("f") && start+i != 0 {
				f.add(start+i, place{free: true})
			}
		}
	}
	return nil, false
}

func (f *File) referenceStream(at int) (Dict, bool) {
	l := &Lexer{data: f.data, pos: at}
	number, err := f.next(l)
	n, ok := number.(int64)
	if err != nil || !ok || n < 0 {
		return nil, false
	}
	o, ok := f.objectAt(at, Ref{Number: uint32(n)})
	s, isStream := o.(*Stream)
	if !ok || !isStream || f.Name(s.Dict["Type"]) != "XRef" {
		return nil, false
	}
	body, err := f.Unpack(s, maxObjectStream)
	if err != nil {
		return nil, false
	}
	var width [3]int
	for i, w := range f.Array(s.Dict["W"]) {
		n, isInt := w.(int64)
		if !isInt || n < 0 || n > 8 {
			return nil, false
		}
		if i < 3 {
			width[i] = int(n)
		}
	}
	size := width[0] + width[1] + width[2]
	if size == 0 {
		return nil, false
	}
	index := f.Array(s.Dict["Index"])
	if index == nil {
		index = Array{int64(0), f.Int(s.Dict["Size"], 0)}
	}
	for i := 0; i+1 < len(index); i += 2 {
		start, count := f.Int(index[i], -1), f.Int(index[i+1], -1)
		for k := int64(0); k < count && len(body) >= size; k++ {
			kind := int64(1)
			if width[0] > 0 {
				kind = bigEndian(body[:width[0]])
			}
			second := bigEndian(body[width[0] : width[0]+width[1]])
			body = body[size:]
			if f.cancel() != nil {
				return nil, false
			}
			switch kind {
			case 0:
				f.add(start+k, place{free: true})
			case 1:
				f.add(start+k, place{offset: int(second)})
			case 2:
				f.add(start+k, place{stream: uint32(second)})
			}
		}
	}
	return s.Dict, true
}

func bigEndian(b []byte) int64 {
	var v int64
	for _, c := range b {
		v = v<<8 | int64(c)
	}
	return v
}

// mend rebuilds the cross-references from the bodies themselves, for files
// whose table is missing or wrong; a later body replaces an earlier one.
func (f *File) mend() error {
	if f.mended {
		return nil
	}
	f.mended = true
	trailer := f.trailer
	f.reset()
	var streams []uint32
	word := []byte("obj")
	for p := 0; ; {
		i := bytes.Index(f.data[p:], word)
		if i < 0 {
			break
		}
		at := p + i
		p = at + len(word)
		if at >= 3 && string(f.data[at-3:at]) == "end" {
			continue
		}
		if err := f.cancel(); err != nil {
			return err
		}
		start, number, ok := headerBefore(f.data, at)
		if !ok || len(f.places) > maxObjects {
			continue
		}
		f.places[number] = place{offset: start}
		window := f.data[p:min(p+400, len(f.data))]
		if bytes.Contains(window, []byte("/ObjStm")) {
			streams = append(streams, number)
		}
		if bytes.Contains(window, []byte("/XRef")) || bytes.Contains(window, []byte("/Catalog")) {
			f.mendTrailer(start, number)
		}
	}
	f.mendTrailers()
	for k, v := range trailer {
		if _, known := f.trailer[k]; !known {
			f.trailer[k] = v
		}
	}
	f.mendPacked(streams)
	if len(f.places) == 0 {
		return fmt.Errorf("rebuilding cross-references: no object found: %w", ErrBroken)
	}
	return nil
}

// mendPacked adds what lies in object streams and nowhere else.
func (f *File) mendPacked(streams []uint32) {
	for _, s := range streams {
		packed := f.packedIn(s)
		for _, number := range slices.Sorted(maps.Keys(packed)) {
			if _, known := f.places[number]; !known {
				f.places[number] = place{stream: s}
			}
			head := packed[number]
			if f.trailer["Root"] != nil || !bytes.Contains(head[:min(len(head), 200)], []byte("/Catalog")) {
				continue
			}
			if d, isDict := f.fromObjectStream(s, number).(Dict); isDict && d["Type"] == Name("Catalog") {
				f.trailer["Root"] = Ref{Number: number}
			}
		}
	}
}

func (f *File) mendTrailer(start int, number uint32) {
	o, _ := f.objectAt(start, Ref{Number: number})
	switch v := o.(type) {
	case *Stream:
		if v.Dict["Type"] == Name("XRef") {
			for k, value := range v.Dict {
				f.trailer[k] = value
			}
		}
	case Dict:
		if v["Type"] == Name("Catalog") && v["Pages"] != nil {
			f.trailer["Root"] = Ref{Number: number}
		}
	}
}

func (f *File) mendTrailers() {
	for p := 0; f.cancel() == nil; {
		i := bytes.Index(f.data[p:], []byte("trailer"))
		if i < 0 {
			return
		}
		p += i + len("trailer")
		l := &Lexer{data: f.data, pos: p, refs: true}
		if d, err := f.next(l); err == nil {
			if dict, ok := d.(Dict); ok {
				for k, v := range dict {
					f.trailer[k] = v
				}
			}
		}
	}
}

// headerBefore reads "12 0 " backwards from the word obj at at.
func headerBefore(data []byte, at int) (start int, number uint32, ok bool) {
	p := at
	back := func(match func(byte) bool, limit int) int {
		n := 0
		for p > 0 && n < limit && match(data[p-1]) {
			p, n = p-1, n+1
		}
		return n
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	if back(isSpace, 4) == 0 || back(digit, 5) == 0 || back(isSpace, 4) == 0 {
		return 0, 0, false
	}
	end := p
	if back(digit, 8) == 0 {
		return 0, 0, false
	}
	var n uint32
	for _, c := range data[p:end] {
		n = n*10 + uint32(c-'0')
	}
	return p, n, true
}

func utf16BE(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
	}
	return string(utf16.Decode(units))
}
