package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// Errors that Open returns, wrapped.
var (
	// ErrNotPDF: there is no %PDF header in the first bytes.
	ErrNotPDF = errors.New("file is no pdf")
	// ErrBroken: there is no usable cross-reference or catalog, or the end is cut off.
	ErrBroken = errors.New("pdf is broken")
	// ErrEncrypted: a password other than the empty one is needed.
	ErrEncrypted = errors.New("pdf is encrypted")
)

// headerWithin is where a %PDF header may start; mail gateways put junk before it.
const headerWithin = 1024

// tailWithin is where startxref must be, counted from the end.
const tailWithin = 4096

// maxObjects bounds the cross-reference table.
const maxObjects = 1 << 19

// maxNested bounds the objects that must be read to read another, such as the length of a stream.
const maxNested = 64

// itemCost is what an item of an array or dictionary costs in memory, in bytes of syntax that cost as many operations.
const itemCost = 32

// maxObjectStream bounds one unpacked object or cross-reference stream.
const maxObjectStream = 32 << 20

type place struct {
	offset int    // of the object in the file
	stream uint32 // number of the object stream it is in, else 0
	free   bool
}

// File is an open PDF. It is not safe for concurrent use.
type File struct {
	data    []byte
	places  map[uint32]place
	cache   map[uint32]Object
	loading map[uint32]bool
	packed  map[uint32]map[uint32][]byte // of each object stream, the bytes from an object on
	trailer Dict
	crypt   *crypt
	budget  *Budget
	spend   func(operations int64) error
	nested  int // objects being read to read others
	mended  bool
	odd     bool     // its cross-references are fit for our own parser alone
	library *library // nil: our own parser reads all objects
}

// Open reads the structure of data; objects are read when asked for, by the
// library (see library) or, where it cannot, by our own parser. Work is charged
// to budget and ends with ctx.
func Open(ctx context.Context, data []byte, budget *Budget) (*File, error) {
	f, err := open(ctx, data, budget)
	if err != nil {
		return nil, err
	}
	f.useLibrary()
	if err := f.budget.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

func open(ctx context.Context, data []byte, budget *Budget) (*File, error) {
	start := bytes.Index(data[:min(len(data), headerWithin)], []byte("%PDF-"))
	if start < 0 {
		return nil, fmt.Errorf("reading header: %w", ErrNotPDF)
	}
	data = data[start:]
	f := &File{data: data, budget: budget}
	f.Continue(ctx)
	f.reset()
	tail := data[max(0, len(data)-tailWithin):]
	at := bytes.LastIndex(tail, []byte("startxref"))
	if at < 0 && !bytes.Contains(tail, []byte("%%EOF")) {
		return nil, fmt.Errorf("reading trailer: the end is missing: %w", ErrBroken)
	}
	ok := false
	if at >= 0 {
		l := &Lexer{data: tail, pos: at + len("startxref")}
		if offset, err := l.Next(); err == nil {
			if n, isInt := offset.(int64); isInt {
				ok = f.readReferences(n)
			}
		}
	}
	if err := f.budget.Err(); err != nil {
		return nil, err
	}
	if !ok {
		if err := f.mend(); err != nil {
			return nil, err
		}
	}
	if err := f.openCrypt(); err != nil {
		return nil, err
	}
	if !f.hasPages() {
		// Rebuilding once more finds what encrypted object streams hid before.
		f.mended = false
		if err := f.mend(); err != nil {
			return nil, err
		}
	}
	if err := f.budget.Err(); err != nil {
		return nil, err
	}
	if !f.hasPages() {
		return nil, fmt.Errorf("reading catalog: no page tree: %w", ErrBroken)
	}
	return f, nil
}

func (f *File) reset() {
	f.places, f.cache, f.loading, f.packed = map[uint32]place{}, map[uint32]Object{}, map[uint32]bool{},
		map[uint32]map[uint32][]byte{}
	f.trailer = Dict{}
}

// cancel takes one operation and reports whether the work is over.
func (f *File) cancel() error { return f.spend(1) }

// Continue has further work end with ctx, and no more with the context that the file was opened with.
func (f *File) Continue(ctx context.Context) {
	f.spend = func(n int64) error { return f.budget.Spend(ctx, n) }
}

// Spend takes n operations off the file's budget; an error ends the work.
func (f *File) Spend(n int) error { return f.spend(int64(n)) }

// next reads an object or keyword, charged by its bytes and by what it holds: places in a file may lead to the same
// bytes again and again.
func (f *File) next(l *Lexer) (Object, error) {
	from, items := l.pos, l.items
	o, err := l.Next()
	if spent := f.charge(l.pos - from + itemCost*(l.items-items)); spent != nil {
		return nil, spent
	}
	return o, err
}

func (f *File) hasPages() bool { return f.Dict(f.Root()["Pages"]) != nil }

// Data is the file itself, from its header on.
func (f *File) Data() []byte { return f.data }

// Root is the document catalog, nil when there is none.
func (f *File) Root() Dict { return f.Dict(f.trailer["Root"]) }

// Resolve follows references to the object itself; cycles and objects that
// cannot be read are null.
func (f *File) Resolve(o Object) Object {
	for range 16 {
		ref, ok := o.(Ref)
		if !ok {
			return o
		}
		if ref.library {
			return f.fromLibrary(ref)
		}
		o = f.object(ref)
	}
	return nil
}

// Place is one and the same for all references that lead to the same object.
func (f *File) Place(ref Ref) Ref {
	if !ref.library {
		return Ref{Number: ref.Number}
	}
	f.Resolve(ref)
	if first, known := f.library.first[ref]; known {
		return first
	}
	return ref
}

// Dict resolves o to a dictionary, a stream's included; nil when it is none.
func (f *File) Dict(o Object) Dict {
	switch v := f.Resolve(o).(type) {
	case Dict:
		return v
	case *Stream:
		return v.Dict
	}
	return nil
}

// Array resolves o to an array; nil when it is none.
func (f *File) Array(o Object) Array {
	a, _ := f.Resolve(o).(Array)
	return a
}

// Name resolves o to a name; empty when it is none.
func (f *File) Name(o Object) Name {
	n, _ := f.Resolve(o).(Name)
	return n
}

// Stream resolves o to a stream; nil when it is none.
func (f *File) Stream(o Object) *Stream {
	s, _ := f.Resolve(o).(*Stream)
	return s
}

// Int resolves o to an integer, missing when it is none.
func (f *File) Int(o Object, missing int64) int64 {
	switch v := f.Resolve(o).(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return missing
}

// Float resolves o to a number, missing when it is none.
func (f *File) Float(o Object, missing float64) float64 {
	if v, ok := Number(f.Resolve(o)); ok {
		return v
	}
	return missing
}

func (f *File) object(ref Ref) Object {
	if o, ok := f.cache[ref.Number]; ok {
		return o
	}
	if f.loading[ref.Number] || f.nested >= maxNested || f.cancel() != nil {
		return nil
	}
	f.nested++
	defer func() { f.nested-- }()
	f.loading[ref.Number] = true
	defer delete(f.loading, ref.Number)
	p, known := f.places[ref.Number]
	if !known || p.free {
		return nil
	}
	var o Object
	if p.stream != 0 {
		o = f.fromObjectStream(p.stream, ref.Number)
	} else {
		var ok bool
		if o, ok = f.objectAt(p.offset, ref); !ok && !f.mended {
			// The table lies about this object: trust the bodies instead.
			if f.mend() == nil {
				if p, known = f.places[ref.Number]; known && p.stream == 0 {
					o, _ = f.objectAt(p.offset, ref)
				} else if known {
					o = f.fromObjectStream(p.stream, ref.Number)
				}
			}
		}
	}
	f.cache[ref.Number] = o
	return o
}

// objectAt reads "number generation obj ... endobj" at offset.
func (f *File) objectAt(offset int, ref Ref) (Object, bool) {
	if offset < 0 || offset >= len(f.data) {
		return nil, false
	}
	l := &Lexer{data: f.data, pos: offset}
	n, err1 := f.next(l)
	g, err2 := f.next(l)
	k, err3 := f.next(l)
	if err1 != nil || err2 != nil || err3 != nil || k != Keyword("obj") || n != int64(ref.Number) {
		return nil, false
	}
	if gen, ok := g.(int64); ok {
		ref.Generation = uint16(gen)
	}
	l.refs = true
	o, err := f.next(l)
	if err != nil {
		return nil, errors.Is(err, ErrSyntax)
	}
	if d, ok := o.(Dict); ok {
		if body, isStream := f.streamBody(l, d); isStream {
			if f.crypt != nil {
				f.crypt.strings(ref, d)
			}
			return &Stream{Dict: d, raw: body, ref: ref}, true
		}
	}
	if _, ok := o.(Keyword); ok {
		return nil, true
	}
	if f.crypt != nil {
		o = f.crypt.strings(ref, o)
	}
	return o, true
}

// streamBody returns the bytes behind the dictionary that l has just read.
func (f *File) streamBody(l *Lexer, d Dict) ([]byte, bool) {
	l.skipSpace()
	if !bytes.HasPrefix(l.data[min(l.pos, len(l.data)):], []byte("stream")) {
		return nil, false
	}
	p := l.pos + len("stream")
	if p < len(l.data) && l.data[p] == '\r' {
		p++
	}
	if p < len(l.data) && l.data[p] == '\n' {
		p++
	}
	return f.body(p, d), true
}

// body returns the bytes of the stream that begins at p. A wrong /Length is
// mended by looking for endstream.
func (f *File) body(p int, d Dict) []byte {
	length := f.Int(d["Length"], -1)
	if length >= 0 && length <= int64(len(f.data)-p) {
		end := p + int(length)
		after := f.data[end:min(end+20, len(f.data))]
		if bytes.HasPrefix(bytes.TrimLeft(after, "\r\n \t"), []byte("endstream")) {
			return f.data[p:end]
		}
	}
	end := bytes.Index(f.data[p:], []byte("endstream"))
	if end < 0 {
		end = len(f.data) - p
	}
	if f.charge(end) != nil {
		return nil
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(f.data[p:p+end], []byte("\n")), []byte("\r"))
}

func (f *File) fromObjectStream(stream, number uint32) Object {
	body, found := f.packedIn(stream)[number]
	if !found {
		return nil
	}
	o, err := f.next(&Lexer{data: body, refs: true})
	if _, isWord := o.(Keyword); err != nil || isWord {
		return nil
	}
	return o
}

// packedIn returns, by number, the bytes from each object of an object stream on.
func (f *File) packedIn(stream uint32) map[uint32][]byte {
	packed, ok := f.packed[stream]
	if !ok {
		packed = f.unpackObjects(stream)
		f.packed[stream] = packed
	}
	return packed
}

func (f *File) unpackObjects(stream uint32) map[uint32][]byte {
	s := f.Stream(Ref{Number: stream})
	if s == nil || f.Name(s.Dict["Type"]) != "ObjStm" {
		return nil
	}
	body, err := f.Unpack(s, maxObjectStream)
	if err != nil {
		return nil
	}
	n, first := f.Int(s.Dict["N"], 0), f.Int(s.Dict["First"], 0)
	if n < 0 || n > maxObjects || first < 0 || first > int64(len(body)) {
		return nil
	}
	l := NewLexer(body[:first])
	out := map[uint32][]byte{}
	for range n {
		number, err1 := f.next(l)
		offset, err2 := f.next(l)
		a, ok1 := number.(int64)
		b, ok2 := offset.(int64)
		if err1 != nil || err2 != nil || !ok1 || !ok2 {
			break
		}
		if a < 0 || a > maxObjects<<4 || b < 0 || first+b > int64(len(body)) {
			continue
		}
		if _, known := out[uint32(a)]; !known {
			out[uint32(a)] = body[first+b:]
		}
	}
	return out
}

// Text returns a text string as UTF-8 (7.9.2): UTF-16 or UTF-8 with a mark,
// PDFDocEncoding (read as Latin-1) otherwise.
func Text(s String) string {
	b := []byte(s)
	switch {
	case len(b) >= 2 && b[0] == 0xFE && b[1] == 0xFF:
		return utf16BE(b[2:])
	case len(b) >= 2 && b[0] == 0xFF && b[1] == 0xFE:
		for i := 2; i+1 < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
		return utf16BE(b[2:])
	case bytes.HasPrefix(b, []byte{0xEF, 0xBB, 0xBF}):
		return string(b[3:])
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}
