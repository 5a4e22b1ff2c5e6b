// Package pdf reads the object structure of a PDF file held in memory:
// cross-references, objects, streams and their filters (ISO 32000-1, 7).
//
// Objects are parsed by github.com/ledongthuc/pdf (library.go) once our own
// reader of cross-references (xref.go) has found that the file cannot make it
// loop or eat memory. Encrypted, hybrid and damaged files, and single objects
// that the library cannot parse, are read by our own parser (file.go).
//
// Files are untrusted. Every read is charged to a Budget, nesting has a fixed
// depth, cycles are cut, and nothing panics: what cannot be read is null.
package pdf

// Object is one of nil, bool, int64, float64, String, Name, Keyword, Array,
// Dict, *Stream or Ref. Keyword occurs in content streams only.
type Object any

// String is the raw bytes of a PDF string, decrypted.
type String string

// Name is a PDF name without its slash.
type Name string

// Keyword is a bare word, such as a content operator.
type Keyword string

// Array is a PDF array; its items may be references.
type Array []Object

// Dict is a PDF dictionary; its values may be references.
type Dict map[Name]Object

// Ref points at an object to resolve: an indirect one by its number, or a place
// in a container that the library has read.
type Ref struct {
	Number     uint32
	Generation uint16
	library    bool
}

// Stream is a dictionary with bytes, still packed by its filters.
type Stream struct {
	Dict Dict
	raw  []byte
	ref  Ref
}

// ID identifies the stream's place in the file, for caches; a stream that is
// no indirect object has number 0.
func (s *Stream) ID() Ref { return s.ref }

// Number returns an integer or real as float64.
func Number(o Object) (float64, bool) {
	switch v := o.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
