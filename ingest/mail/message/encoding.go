package message

import (
	"bytes"
	"strings"
)

// decoded undoes a Content-Transfer-Encoding. What it cannot make sense of it passes over: a fault in one line must not
// cost an invoice. known is false for an encoding that isn't known; the body is then given as it is.
func decoded(encoding string, body []byte) (b []byte, known bool) {
	name, _, _ := strings.Cut(encoding, ";")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "base64":
		return base64Decoded(body), true
	case "quoted-printable":
		return quotedPrintableDecoded(body), true
	case "", "7bit", "8bit", "binary":
		return body, true
	}
	return body, false
}

// base64Decoded passes over what isn't in the alphabet. Padding ends a group of four, not the text: some programs
// encode piece by piece.
func base64Decoded(body []byte) []byte {
	out := make([]byte, 0, len(body)/4*3+3)
	var bits uint32
	n := 0 // characters of the group
	flush := func() {
		switch n {
		case 2:
			out = append(out, byte(bits>>4))
		case 3:
			out = append(out, byte(bits>>10), byte(bits>>2))
		}
		bits, n = 0, 0
	}
	for _, c := range body {
		v := base64Digit(c)
		if v < 0 {
			if c == '=' {
				flush()
			}
			continue
		}
		bits = bits<<6 | uint32(v)
		if n++; n == 4 {
			out = append(out, byte(bits>>16), byte(bits>>8), byte(bits))
			bits, n = 0, 0
		}
	}
	flush()
	return out
}

func base64Digit(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}

// quotedPrintableDecoded keeps an equals sign that encodes nothing.
func quotedPrintableDecoded(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		line, rest, ended := bytes.Cut(body, []byte{'\n'})
		body = rest
		end := ""
		if ended {
			end = "\n"
		}
		if cut, ok := bytes.CutSuffix(line, []byte{'\r'}); ok && ended {
			line, end = cut, "\r\n"
		}
		line = bytes.TrimRight(line, " \t") // blanks at a line's end were added on the way
		if cut, soft := bytes.CutSuffix(line, []byte{'='}); soft {
			line, end = cut, ""
		}
		for i := 0; i < len(line); i++ {
			if line[i] == '=' && i+2 < len(line) {
				if high, low := hexDigit(line[i+1]), hexDigit(line[i+2]); high >= 0 && low >= 0 {
					out = append(out, byte(high<<4|low))
					i += 2
					continue
				}
			}
			out = append(out, line[i])
		}
		out = append(out, end...)
	}
	return out
}
