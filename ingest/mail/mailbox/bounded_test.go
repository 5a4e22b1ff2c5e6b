package mailbox

import (
	"fmt"
	"strings"
	"testing"
)

// followed gives how many bytes pass, in pieces of a length, and the error.
func followed(b []byte, piece int, literals int64) (passed int, err error) {
	var r response
	for len(b) > 0 && err == nil {
		n := min(piece, len(b))
		var good int
		good, err = r.follow(b[:n], literals)
		passed += good
		b = b[n:]
	}
	return passed, err
}

// Whatever a server sends in one response beside literals is bounded, and so are these; what it sends in many is not.
func TestResponsesAreBounded(t *testing.T) {
	long := strings.Repeat("x", longestResponse)
	lines := strings.Repeat("x\r\n", longestResponse/2)
	for _, c := range []struct{ name, sent, refused string }{
		{"many lines", lines, ""},
		{"a long line", "* OK " + long, "more than 1048576 bytes"},
		{"a long line of an answer", "T1 OK " + long, "more than 1048576 bytes"},
		{"a literal", "* 1 FETCH (UID 1 BODY[]<0> {100}\r\n" + strings.Repeat("x", 100) + ")\r\n" + lines, ""},
		{"literals of several mails", strings.Repeat("* 1 FETCH (BODY[] {100}\r\n"+strings.Repeat("\"", 100)+" UID 1)\r\n", 20), ""},
		{"a literal without a pause", "* 1 FETCH (BODY[] {100+}\r\n" + strings.Repeat("x", 100) + ")\r\n", ""},
		{"a literal that is too long", "* 1 FETCH (BODY[] {101}\r\n", "101 bytes where it was asked for 100"},
		{"one whose length overflows", "* 1 FETCH (BODY[] {99999999999999999999999999}\r\n", "bytes where it was asked for 100"},
		{"one with many zeros", "* 1 FETCH (BODY[] {" + strings.Repeat("0", 100) + "101}\r\n", "101 bytes where"},
		{"one with a blank behind", "* 1 FETCH (BODY[] {101} \n", "101 bytes where"},
		{"one of another response", "* LIST () \"/\" {101}\r\n", "101 bytes where"},
		{"several that are too long together", "* 1 FETCH (BODY[] {60}\r\n" + strings.Repeat("x", 60) + " BODY[TEXT] {60}\r\n", "120 bytes where"},
		{"literals without a length", "* 1 FETCH (" + strings.Repeat("X {0}\r\n", longestResponse/6), "more than 1048576 bytes"},
		{"a literal and a long line behind", "* 1 FETCH (BODY[] {1}\r\nx" + long, "more than 1048576 bytes"},
		{"a quoted string of many lines", "* 1 FETCH (BODY[] \"" + lines, "more than 1048576 bytes"},
		{"one with quotes in it", "* 1 FETCH (BODY[] \"\\\"" + lines, "more than 1048576 bytes"},
		{"a literal's length in quotes", "* LIST () \"/\" \"{101}\r\n\"\r\n" + lines, ""},
		{"a text with a quote", "* OK 7\" of rain\r\nT1 NO \"\r\n+ \"\r\n* bad \"\r\n" + lines, ""},
		{"a text that ends as a literal begins", "* OK {101}\r\nT1 OK {101}\r\n+ {101}\r\n" + lines, ""},
		{"what only begins as a text", "* OKAY \"" + lines, "more than 1048576 bytes"},
	} {
		for _, piece := range []int{7, 4096, len(c.sent)} {
			passed, err := followed([]byte(c.sent), piece, 100)
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) || err == nil && passed != len(c.sent) {
				t.Errorf("%s, in pieces of %d: %d bytes passed, %v", c.name, piece, passed, err)
			}
		}
	}
}

// However a response comes in pieces, the same of it passes.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{"* 1 FETCH (BODY[] {3}\r\nabc \"\\\"\r\n\" {9}\r\n", "* OK \"{4}\r\n* {2+}\r\n", "\r\n+ x\n* PREAUTH {1}\n"} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, sent []byte, piece int) {
		whole := fmt.Sprint(followed(sent, max(1, len(sent)), 8))
		if got := fmt.Sprint(followed(sent, min(max(1, piece), 1<<20), 8)); got != whole {
			t.Errorf("got %s, want %s", got, whole)
		}
	})
}
