package jsontext_test

import (
	"encoding/json"
	"testing"

	"tallyhouse/schemas/jsontext"
)

// FuzzAppendString: what AppendString writes is read as what encoding/json writes for the same string.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", `"\`, "\x00\x1f\x7f", "\b\f\n\r\t", "ä€😀", "\u2028\u2029\u202a", "a\xffb\xc3",
		"\xed\xa0\x80", "<&>", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		standard, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(standard, &want); err != nil {
			t.Fatal(err)
		}
		written := jsontext.AppendString([]byte("before"), s)
		if string(written[:6]) != "before" {
			t.Fatalf("%s does not follow what was there", written)
		}
		if err := json.Unmarshal(written[6:], &got); err != nil || got != want {
			t.Fatalf("%s reads as %q (%v), want %q", written[6:], got, err, want)
		}
	})
}

// Content hashes depend on every byte of the output.
func TestEscapesArePinned(t *testing.T) {
	for in, want := range map[string]string{
		"":                        `""`,
		"plain äöü €😀":            `"plain äöü €😀"`,
		`quote " and backslash \`: `"quote \" and backslash \\"`,
		"line\nfeed":              `"line\nfeed"`,
		"\x00\b\t\f\r\x1f":        `"\u0000\u0008\u0009\u000c\u000d\u001f"`,
		"\x7f\u2028\u2029</>&":    "\"\x7f\u2028\u2029</>&\"",
		"\xff and \xc3":           "\"\ufffd and \ufffd\"",
	} {
		if got := string(jsontext.AppendString(nil, in)); got != want {
			t.Errorf("%q is written as %s, want %s", in, got, want)
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	buf := make([]byte, 0, 256)
	for b.Loop() {
		jsontext.AppendString(buf, "Rechnung 2026/17 der Müller & Söhne Baugesellschaft")
	}
}
