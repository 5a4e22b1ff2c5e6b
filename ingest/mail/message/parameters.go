package message

import (
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Structured reads a field like Content-Type: its value in lower case, and its parameters by lower-case name, decoded.
// The library reads what is written by the rules; quotes that don't close, blanks in values without quotes and bytes
// outside ASCII are common in the names of attachments, and are read leniently.
func Structured(s string) (value string, parameters map[string]string) {
	s = s[:min(len(s), longestStructured)]
	// It knows no charset but UTF-8 behind a star (RFC 2231), and leaves a parameter in another one out.
	if value, parameters, err := mime.ParseMediaType(s); err == nil && ascii(s) && !strings.Contains(s, "*") {
		for name, v := range parameters {
			parameters[name] = text(v)
		}
		return value, parameters
	}
	return structuredLeniently(s)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func structuredLeniently(s string) (value string, parameters map[string]string) {
	pieces := splitOutsideQuotes(s)
	value = strings.ToLower(strings.TrimSpace(pieces[0]))
	if i := strings.IndexAny(value, " \t("); i >= 0 {
		value = value[:i]
	}
	parameters = map[string]string{}
	var long []segment
	for _, piece := range pieces[1:] {
		name, v, found := strings.Cut(piece, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !found || name == "" {
			continue
		}
		v = unquote(strings.TrimSpace(v))
		if base, rest, starred := strings.Cut(name, "*"); starred {
			if s, ok := newSegment(strings.TrimSpace(base), rest, v); ok && s.name != "" && len(long) < maxSegments {
				long = append(long, s)
			}
			continue
		}
		if _, known := parameters[name]; !known {
			parameters[name] = text(v)
		}
	}
	for name, v := range joined(long) {
		parameters[name] = v // goes before the plain one, which is for programs that don't know RFC 2231
	}
	return value, parameters
}

// splitOutsideQuotes splits at semicolons.
func splitOutsideQuotes(s string) []string {
	var all []string
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ';' && !quoted:
			all = append(all, s[from:i])
			from = i + 1
		}
	}
	return append(all, s[from:])
}

func unquote(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	s = strings.TrimSuffix(s[1:], `"`)
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		// A backslash before anything but a quote or another is one of a path.
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// segment is a piece of a parameter that goes over several, or has a charset (RFC 2231).
type segment struct {
	name    string
	number  int
	encoded bool
	value   string
}

const maxSegments = 200

// newSegment reads what stands behind a parameter's first star: nothing, a number, or a number and a star.
func newSegment(base, rest, value string) (segment, bool) {
	if rest == "" {
		return segment{base, 0, true, value}, true
	}
	digits, encoded := strings.CutSuffix(rest, "*")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return segment{}, false
	}
	return segment{base, n, encoded, value}, true
}

// joined puts the segments together, in the order of their numbers, and decodes them.
func joined(segments []segment) map[string]string {
	slices.SortStableFunc(segments, func(a, b segment) int { return a.number - b.number })
	of := map[string][]segment{}
	for _, s := range segments {
		of[s.name] = append(of[s.name], s)
	}
	all := map[string]string{}
	for name, pieces := range of {
		charset := ""
		var b []byte
		for i, s := range pieces {
			v := s.value
			if i == 0 && s.encoded {
				if parts := strings.SplitN(v, "'", 3); len(parts) == 3 {
					charset, v = parts[0], parts[2]
				}
			}
			if s.encoded {
				b = append(b, percentDecoded(v)...)
			} else {
				b = append(b, v...)
			}
		}
		if decoded, ok := decodeCharset(charset, b); ok && charset != "" {
			all[name] = decoded
		} else {
			all[name] = utf8Text(string(b))
		}
	}
	return all
}

func percentDecoded(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if high, low := hexDigit(s[i+1]), hexDigit(s[i+2]); high >= 0 && low >= 0 {
				b = append(b, byte(high<<4|low))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return b
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
