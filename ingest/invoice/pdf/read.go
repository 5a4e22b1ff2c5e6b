package pdf

import (
	"bytes"
	"errors"
)

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
