package pdf

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"
)

// Bounds of one call into the library.
const (
	maxCall  = 1 << 20 // bytes of the file that it may read
	callCost = 100     // operations, besides those for the bytes read
	spotCost = 8       // operations for each place in a container, which is kept
)

// maxPacked bounds an object stream of the library's, in bytes unpacked: it unpacks the whole of it for each object.
const maxPacked = 256 << 10

// library reads objects by github.com/ledongthuc/pdf, the first parser of every
// file that it can open. It follows references by itself and hides them, keeps
// nothing, and panics on what it does not understand. So each place in a
// container is a Ref of our own making, resolved when asked for and kept; and a
// container that comes again, by whatever way, is the same object, so that
// walks can cut cycles. What the library cannot read, our own parser reads.
type library struct {
	source guarded
	spots  []spot
	read   map[Ref]Object
	same   map[uint64]Ref // where a dictionary, array or stream was met first, by a hash of what it holds
	first  map[Ref]Ref    // the same, by where it is met again
	seed   maphash.Seed
	root   Object // the catalog as our own parser names it
	unpack int    // the most bytes that it unpacks to find one object
}

// spot is one place in a container of the library's.
type spot struct {
	of    pdf.Value
	in    Ref    // the container's own spot; the trailer's is none
	key   string // of a dictionary
	index int    // of an array, else -1
}

// guarded is the file as the library sees it: every read is charged, and one
// call gets a limited number of bytes.
type guarded struct {
	*bytes.Reader
	charge func(bytes int) error
	left   int
}

func (g *guarded) ReadAt(p []byte, at int64) (int, error) {
	if g.left -= len(p); g.left < 0 {
		return 0, ErrBudget
	}
	if err := g.charge(len(p)); err != nil {
		return 0, err
	}
	return g.Reader.ReadAt(p, at)
}

// useLibrary lets the library read the file's objects, unless it refuses it or
// could be made to loop, recurse or ask for memory without bound by it.
func (f *File) useLibrary() {
	if f.mended || f.odd || f.crypt != nil {
		return
	}
	unpack, safe := f.safeObjectStreams()
	if !safe {
		return
	}
	l := &library{read: map[Ref]Object{}, same: map[uint64]Ref{}, first: map[Ref]Ref{}, seed: maphash.MakeSeed(),
		root: f.trailer["Root"], unpack: unpack}
	// It wants %%EOF within the last bytes; mail gateways append blanks and lines.
	end := bytes.LastIndex(f.data, []byte("%%EOF"))
	if end < 0 {
		return
	}
	end += len("%%EOF")
	l.source = guarded{Reader: bytes.NewReader(f.data[:end]), charge: f.charge, left: maxCall}
	reader, err := pdf.NewReader(&l.source, int64(end))
	if err != nil {
		return
	}
	f.library = l
	f.trailer["Root"] = l.place(spot{of: reader.Trailer(), key: "Root", index: -1})
}

// charge takes the operations that reading n bytes of syntax is worth.
func (f *File) charge(n int) error { return f.spend(int64(n/8 + 1)) }

// maxExtends bounds the chain of object streams that extend one another.
const maxExtends = 8

// safeObjectStreams reports whether every object stream is as the library takes
// for granted: it follows /Extends and streams within streams without bound,
// counts to whatever /N says, and waits for ever for the end of a hexadecimal
// string. It returns the size of the largest, unpacked.
func (f *File) safeObjectStreams() (largest int, safe bool) {
	checked := map[uint32]bool{}
	for _, p := range f.places {
		if p.stream == 0 || checked[p.stream] {
			continue
		}
		checked[p.stream] = true
		size, safe := f.safeObjectStream(p.stream, 0)
		if !safe {
			return 0, false
		}
		largest = max(largest, size)
	}
	return largest, true
}

// safeObjectStream checks one object stream and those that it extends.
func (f *File) safeObjectStream(number uint32, depth int) (size int, safe bool) {
	s := f.Stream(Ref{Number: number})
	if s == nil || f.places[number].stream != 0 || depth > maxExtends || s.Dict["DecodeParms"] != nil ||
		s.Dict["Length"] != int64(len(s.raw)) {
		return 0, false
	}
	below := 0
	for k, v := range s.Dict {
		further, isRef := v.(Ref)
		if !isRef {
			continue
		}
		if k != "Extends" {
			return 0, false
		}
		if below, safe = f.safeObjectStream(further.Number, depth+1); !safe {
			return 0, false
		}
	}
	body, err := f.Unpack(s, maxPacked)
	return below + len(body), err == nil && bytes.LastIndexByte(body, '<') <= bytes.LastIndexByte(body, '>') &&
		s.Dict["N"] == int64(len(f.packedIn(number)))
}

func (l *library) place(s spot) Ref {
	l.spots = append(l.spots, s)
	return Ref{Number: uint32(len(l.spots)), library: true}
}

func (l *library) spot(ref Ref) spot { return l.spots[ref.Number-1] }

// fromLibrary returns the object at a place of the library's.
func (f *File) fromLibrary(ref Ref) Object {
	l := f.library
	if o, known := l.read[ref]; known {
		return o
	}
	if f.nested >= maxNested || f.Spend(callCost+l.unpack/256) != nil {
		return nil
	}
	f.nested++
	defer func() { f.nested-- }()
	o, err := f.parse(ref)
	if err != nil && f.budget.Err() == nil {
		within := f.ours(ref)
		if indirect, isRef := within.(Ref); isRef {
			l.first[ref] = f.Place(indirect)
		}
		o = f.Resolve(within)
	}
	l.read[ref] = o
	return o
}

// parse has the library read what is at ref. Its panics are errors.
func (f *File) parse(ref Ref) (o Object, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			o, err = nil, fmt.Errorf("parsing object: %v", fault)
		}
	}()
	f.library.source.left = maxCall
	s := f.library.spot(ref)
	if s.index >= 0 {
		return f.convert(s.of.Index(s.index), ref)
	}
	return f.convert(s.of.Key(s.key), ref)
}

func (f *File) convert(v pdf.Value, ref Ref) (Object, error) {
	if o, ok := scalar(v); ok {
		return o, nil
	}
	if v.IsNull() {
		return nil, fmt.Errorf("reading object: nothing is there")
	}
	// The text shows references as they are, and where a stream's bytes begin.
	text := v.String()
	if err := f.charge(len(text)); err != nil {
		return nil, err
	}
	hash := maphash.String(f.library.seed, text)
	if first, known := f.library.same[hash]; known {
		f.library.first[ref] = first
		return f.library.read[first], nil
	}
	o, err := f.container(v, text, ref)
	if err == nil {
		f.library.same[hash] = ref
	}
	return o, err
}

func (f *File) container(v pdf.Value, text string, ref Ref) (Object, error) {
	// Without a reference within there is nothing to put off.
	item := func(s spot) (Object, error) { return f.library.place(s), f.Spend(spotCost) }
	if !strings.Contains(text, " R") {
		item = f.direct
	}
	if v.Kind() == pdf.Array {
		return array(v, ref, item)
	}
	d, err := dict(v, ref, item)
	if err != nil || v.Kind() != pdf.Stream {
		return d, err
	}
	offset, err := strconv.Atoi(text[strings.LastIndexByte(text, '@')+1:])
	if err != nil || offset < 0 || offset > len(f.data) {
		return nil, fmt.Errorf("finding a stream's bytes: %q is no place", text)
	}
	return &Stream{Dict: d, raw: f.body(offset, d), ref: ref}, nil
}

func array(v pdf.Value, in Ref, item func(spot) (Object, error)) (Object, error) {
	out := make(Array, v.Len())
	for i := range out {
		var err error
		if out[i], err = item(spot{of: v, in: in, index: i}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func dict(v pdf.Value, in Ref, item func(spot) (Object, error)) (Dict, error) {
	out := Dict{}
	for _, k := range v.Keys() {
		o, err := item(spot{of: v, in: in, key: k, index: -1})
		if err != nil {
			return nil, err
		}
		out[Name(k)] = o
	}
	return out, nil
}

// direct converts what is at s, which holds no reference.
func (f *File) direct(s spot) (Object, error) {
	if err := f.charge(itemCost); err != nil {
		return nil, err
	}
	v := s.of.Key(s.key)
	if s.index >= 0 {
		v = s.of.Index(s.index)
	}
	if o, ok := scalar(v); ok {
		return o, nil
	}
	switch v.Kind() {
	case pdf.Array:
		return array(v, Ref{}, f.direct)
	case pdf.Dict:
		if err := f.charge(dictItems * itemCost); err != nil {
			return nil, err
		}
		return dict(v, Ref{}, f.direct)
	}
	return nil, nil
}

func scalar(v pdf.Value) (Object, bool) {
	switch v.Kind() {
	case pdf.Bool:
		return v.Bool(), true
	case pdf.Integer:
		return v.Int64(), true
	case pdf.Real:
		return v.Float64(), true
	case pdf.String:
		return String(v.RawString()), true
	case pdf.Name:
		return Name(v.Name()), true
	}
	return nil, false
}

// ours returns, unresolved, what our own parser sees at a place of the library's.
func (f *File) ours(ref Ref) Object {
	s := f.library.spot(ref)
	if s.in == (Ref{}) {
		return f.library.root
	}
	switch c := f.Resolve(f.ours(s.in)).(type) {
	case Dict:
		return c[Name(s.key)]
	case *Stream:
		return c.Dict[Name(s.key)]
	case Array:
		if s.index >= 0 && s.index < len(c) {
			return c[s.index]
		}
	}
	return nil
}
