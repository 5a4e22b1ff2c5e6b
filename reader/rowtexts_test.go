package reader

import (
	"errors"
	"testing"
)

func FuzzCutRow(f *testing.F) {
	f.Add("\x01\x00\x00\x00\x00\x00\x00\x00a\x00\x00\x00\x00\x00\x00\x00\x00more")
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xffa")
	f.Fuzz(func(t *testing.T, rows string) {
		var a, b string
		rest, err := cutRow(rows, &a, &b)
		if err != nil && !errors.Is(err, errRowText) {
			t.Fatal(err)
		}
		if err == nil && (len(rows) != 2*lengthSize+len(a)+len(b)+len(rest) || rows[len(rows)-len(rest):] != rest) {
			t.Fatalf("%q is %q, %q and %q", rows, a, b, rest)
		}
	})
}
