package pdf

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
)

// maxFilters bounds the chain of filters of one stream.
const maxFilters = 8

// errImageFilter is returned with the bytes unpacked so far when a stream ends
// in an image filter (DCTDecode, JPXDecode, CCITTFaxDecode, JBIG2Decode).
var errImageFilter = errors.New("stream is packed by an image filter")

// ImageFilter names the image filter left to apply and its parameters.
type ImageFilter struct {
	Name   Name
	Params Dict
}

// Unpack returns the stream's bytes, at most limit of them; longer streams
// give an error wrapping ErrBudget. Damaged data gives what could be unpacked.
func (f *File) Unpack(s *Stream, limit int64) ([]byte, error) {
	data, image, err := f.UnpackImage(s, limit)
	if err == nil && image.Name != "" {
		return nil, fmt.Errorf("unpacking stream %d: %w", s.ref.Number, errImageFilter)
	}
	return data, err
}

// UnpackImage is Unpack for images: it stops before an image filter and names it.
func (f *File) UnpackImage(s *Stream, limit int64) ([]byte, ImageFilter, error) {
	if err := f.budget.Err(); err != nil {
		return nil, ImageFilter{}, err
	}
	data := s.raw
	if f.crypt != nil && s.ref.Number != 0 && f.Name(s.Dict["Type"]) != "XRef" {
		if err := f.charge(len(data)); err != nil {
			return nil, ImageFilter{}, err
		}
		data = f.crypt.stream(s.ref, data)
	}
	names, params := f.filters(s)
	if len(names) > maxFilters {
		return nil, ImageFilter{}, fmt.Errorf("unpacking stream %d: %d filters: %w", s.ref.Number, len(names),
			ErrBudget)
	}
	for i, name := range names {
		var err error
		most := min(limit, f.budget.bytes)
		switch name {
		case "FlateDecode", "Fl":
			data, err = f.inflate(data, most)
		case "LZWDecode", "LZW":
			early := int64(1)
			if v, ok := f.Resolve(params[i]["EarlyChange"]).(int64); ok {
				early = v
			}
			data, err = lzw(data, early != 0, most)
		case "ASCII85Decode", "A85":
			data, err = ascii85(data, most)
		case "ASCIIHexDecode", "AHx":
			l := NewLexer(data)
			data = []byte(l.hex())
		case "RunLengthDecode", "RL":
			data, err = runLength(data, most)
		case "Crypt":
		case "DCTDecode", "DCT", "JPXDecode", "CCITTFaxDecode", "CCF", "JBIG2Decode":
			return data, ImageFilter{Name: name, Params: params[i]}, nil
		default:
			return nil, ImageFilter{}, fmt.Errorf("unpacking stream %d: unknown filter %q", s.ref.Number, name)
		}
		if err == nil {
			err = f.budget.unpacked(int64(len(data)))
		} else if most < limit && errors.Is(err, ErrBudget) {
			err = f.budget.unpacked(most + 1)
		}
		if err != nil {
			return nil, ImageFilter{}, fmt.Errorf("unpacking stream %d: %w", s.ref.Number, err)
		}
		if name == "FlateDecode" || name == "Fl" || name == "LZWDecode" || name == "LZW" {
			data = f.unpredict(data, params[i])
		}
	}
	if int64(len(data)) > limit {
		return nil, ImageFilter{}, fmt.Errorf("unpacking stream %d: %d bytes: %w", s.ref.Number, len(data), ErrBudget)
	}
	return data, ImageFilter{}, nil
}

func (f *File) filters(s *Stream) (names []Name, params []Dict) {
	filter, param := first(f.Resolve(s.Dict["Filter"]), f.Resolve(s.Dict["F"])),
		first(f.Resolve(s.Dict["DecodeParms"]), f.Resolve(s.Dict["DP"]))
	switch v := filter.(type) {
	case Name:
		return []Name{v}, []Dict{f.Dict(param)}
	case Array:
		list := f.Array(param)
		for i, item := range v {
			names = append(names, f.Name(item))
			var p Dict
			if i < len(list) {
				p = f.Dict(list[i])
			}
			params = append(params, p)
		}
	}
	return names, params
}

func first(a, b Object) Object {
	if a != nil {
		return a
	}
	return b
}

// readBounded reads all that can be read, an error after the first byte being
// the end of usable data, and refuses more than limit bytes. It holds little more
// than it returns: a buffer that doubles would hold three times as much.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	const smallest, largest = 4 << 10, 4 << 20
	var parts [][]byte
	total := int64(0)
	for size := smallest; ; size = min(2*size, largest) {
		part := make([]byte, size)
		n, err := io.ReadFull(r, part)
		if total += int64(n); total > limit {
			return nil, ErrBudget
		}
		parts = append(parts, part[:n])
		switch {
		case err == nil:
		case total == 0 && err != io.EOF:
			return nil, err
		case len(parts) == 1:
			return part[:n], nil
		default:
			return bytes.Join(parts, nil), nil
		}
	}
}

func (f *File) inflate(data []byte, limit int64) ([]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	data = bytes.TrimLeft(data, "\r\n")
	if z, err := zlib.NewReader(bytes.NewReader(data)); err == nil {
		return readBounded(z, limit)
	}
	if len(data) > 2 {
		if out, err := readBounded(flate.NewReader(bytes.NewReader(data[2:])), limit); err == nil {
			return out, nil
		}
	}
	return readBounded(flate.NewReader(bytes.NewReader(data)), limit)
}

// unpredict undoes the PNG and TIFF predictors (7.4.4.4), in place.
func (f *File) unpredict(data []byte, params Dict) []byte {
	predictor := f.Int(params["Predictor"], 1)
	if predictor < 2 {
		return data
	}
	colors, bits, columns := f.Int(params["Colors"], 1), f.Int(params["BitsPerComponent"], 8),
		f.Int(params["Columns"], 1)
	if colors < 1 || colors > 32 || bits < 1 || bits > 16 || columns < 1 || columns > 1<<20 {
		return data
	}
	pixel := int(max(1, colors*bits/8))
	row := min(int((colors*bits*columns+7)/8), len(data)) // a longer row than there are bytes is cut off
	if predictor == 2 {
		if bits == 8 {
			for start := 0; start+row <= len(data); start += row {
				for i := start + pixel; i < start+row; i++ {
					data[i] += data[i-pixel]
				}
			}
		}
		return data
	}
	out := data[:0] // every row leaves a byte out: what is written is read before
	line, previous := make([]byte, row), make([]byte, row)
	for len(data) > 1 {
		kind, n := data[0], min(row, len(data)-1)
		clear(line[copy(line, data[1:1+n]):])
		data = data[1+n:]
		unfilter(kind, line, previous, pixel)
		out = append(out, line[:n]...)
		line, previous = previous, line
	}
	return out
}

func unfilter(kind byte, line, previous []byte, pixel int) {
	for i := range line {
		var left, corner byte
		if i >= pixel {
			left, corner = line[i-pixel], previous[i-pixel]
		}
		switch kind {
		case 1:
			line[i] += left
		case 2:
			line[i] += previous[i]
		case 3:
			line[i] += byte((int(left) + int(previous[i])) / 2)
		case 4:
			line[i] += paeth(left, previous[i], corner)
		}
	}
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	pa, pb, pc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	if pa <= pb && pa <= pc {
		return a
	}
	if pb <= pc {
		return b
	}
	return c
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

func ascii85(data []byte, limit int64) ([]byte, error) {
	out := make([]byte, 0, len(data)*4/5+4)
	var group [5]byte
	n := 0
	flush := func(count int) {
		for i := count; i < 5; i++ {
			group[i] = 84
		}
		var v uint32
		for _, d := range group {
			v = v*85 + uint32(d)
		}
		word := []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
		out = append(out, word[:count-1]...)
	}
	for _, c := range data {
		if int64(len(out)) > limit {
			return nil, ErrBudget
		}
		if c == '~' {
			break
		}
		switch {
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case c >= '!' && c <= 'u':
			group[n] = c - '!'
			if n++; n == 5 {
				flush(5)
				n = 0
			}
		}
	}
	if n > 1 {
		flush(n)
	}
	return out, nil
}

func runLength(data []byte, limit int64) ([]byte, error) {
	var out []byte
	for i := 0; i < len(data) && data[i] != 128; {
		n := int(data[i])
		i++
		if n < 128 {
			end := min(i+n+1, len(data))
			out = append(out, data[i:end]...)
			i = end
		} else if i < len(data) {
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
		if int64(len(out)) > limit {
			return nil, ErrBudget
		}
	}
	return out, nil
}

// lzw unpacks PDF's variable-width LZW (7.4.4), most significant bit first.
func lzw(data []byte, early bool, limit int64) ([]byte, error) {
	const clear, end, maxCodes = 256, 257, 4096
	table := make([][]byte, 258, maxCodes)
	for i := range 256 {
		table[i] = []byte{byte(i)}
	}
	var out, previous []byte
	var bits uint32
	have, width, ahead := 0, 9, 0
	if early {
		ahead = 1
	}
	for _, c := range data {
		bits = bits<<8 | uint32(c)
		have += 8
		if have < width {
			continue
		}
		have -= width
		code := int(bits>>have) & (1<<width - 1)
		switch {
		case code == end:
			return out, nil
		case code == clear:
			table, width, previous = table[:258], 9, nil
			continue
		}
		var entry []byte
		switch {
		case code < len(table) && (code < 256 || code > end):
			entry = table[code]
		case code == len(table) && previous != nil:
			entry = append(append([]byte{}, previous...), previous[0])
		default:
			return out, nil
		}
		out = append(out, entry...)
		if int64(len(out)) > limit {
			return nil, ErrBudget
		}
		if previous != nil && len(table) < maxCodes {
			table = append(table, append(append(make([]byte, 0, len(previous)+1), previous...), entry[0]))
		}
		previous = entry
		for width < 12 && len(table)+ahead >= 1<<width {
			width++
		}
	}
	return out, nil
}
