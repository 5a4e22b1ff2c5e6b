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
