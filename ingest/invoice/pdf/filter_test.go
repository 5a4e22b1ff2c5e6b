package pdf

import (
	"context"
	"errors"
	"testing"
)

// Given any bytes, filters and parameters, then unpacking ends within its bound and the budget's.
func FuzzFilters(f *testing.F) {
	for _, filter := range []string{"/FlateDecode", "/LZWDecode", "/ASCII85Decode", "/ASCIIHexDecode", "/RunLengthDecode", "[/A85 /Fl /LZW]"} {
		f.Add("<< /Filter "+filter+" >>", []byte("x\x9c\x03\x00\x00\x00\x00\x01"))
	}
	f.Add("<< /Filter /Fl /DecodeParms << /Predictor 15 /Columns 3 /Colors 4 >> >>", []byte("x\x9c\x03\x00\x00\x00\x00\x01"))
	f.Add("<< /Filter /LZW /DecodeParms << /EarlyChange 0 /Predictor 2 >> >>", []byte("\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01"))
	f.Fuzz(func(t *testing.T, dict string, data []byte) {
		o, err := (&Lexer{data: []byte(dict)}).Next()
		d, isDict := o.(Dict)
		if err != nil || !isDict {
			return
		}
		const most, all = 1 << 16, 1 << 18
		file := &File{data: data, budget: NewBudget(all, 100_000)}
		file.Continue(context.Background())
		file.reset()
		out, image, err := file.UnpackImage(&Stream{Dict: d, raw: data}, most)
		if err == nil && image.Name == "" && len(out) > most {
			t.Fatalf("%d bytes, more than %d", len(out), most)
		}
		if file.budget.bytes < 0 && !errors.Is(err, ErrBudget) {
			t.Fatalf("the budget is spent, error %v", err)
		}
	})
}

// Given any dictionary of encryption and any bytes, then a file is opened, refused or read without a fault.
func FuzzCrypt(f *testing.F) {
	f.Add("<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O (oooooooooooooooooooooooooooooooo) /U (uuuuuuuuuuuuuuuu) >>", []byte("id"))
	f.Add("<< /Filter /Standard /V 5 /R 6 /StmF /A /CF << /A << /CFM /AESV3 >> >> /U <00> /UE <00> >>", []byte("0123456789abcdef"))
	f.Fuzz(func(t *testing.T, dict string, data []byte) {
		o, err := (&Lexer{data: []byte(dict)}).Next()
		if err != nil {
			return
		}
		file := &File{data: data, budget: NewBudget(1<<20, 100_000)}
		file.Continue(context.Background())
		file.reset()
		file.trailer = Dict{"Encrypt": o, "ID": Array{String(data)}}
		if err := file.openCrypt(); err != nil && !errors.Is(err, ErrEncrypted) {
			t.Fatalf("error %v", err)
		}
		for mode := range modeAES256 + 1 {
			c := &crypt{key: append(make([]byte, 32), data...)[:32], mode: mode}
			if out := c.stream(Ref{Number: 7}, data); len(out) > len(data) {
				t.Fatalf("%d bytes of %d", len(out), len(data))
			}
		}
	})
}
