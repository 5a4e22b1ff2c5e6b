package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/schemas/events"
)

// message is what one line of a file says. Its parts lie in the line.
type message struct {
	topic events.Topic
	key   []byte
	value []byte // nil: null
}

// parse reads one line: an object of topic, key and value. Only the value's extent is found here; events.Decode
// validates it.
func parse(line []byte) (message, error) {
	l := scanner{rest: line}
	var m message
	var seen [3]bool
	if !l.take('{') {
		return m, fmt.Errorf(`must be an object {"topic", "key", "value"}, but begins with %s`, l.here())
	}
	for first := true; !l.take('}'); first = false {
		if !first && !l.take(',') {
			return m, fmt.Errorf("holds no JSON: %s instead of a comma or the closing brace", l.here())
		}
		name, err := l.text()
		if err != nil {
			return m, err
		}
		if !l.take(':') {
			return m, fmt.Errorf("holds no JSON: %s instead of a colon", l.here())
		}
		i := slices.Index(members[:], string(name))
		if i < 0 {
			return m, fmt.Errorf("%q is not a member of a line; members are %s", clip(string(name)), strings.Join(members[:], ", "))
		}
		if seen[i] {
			return m, fmt.Errorf("%s appears twice", name)
		}
		seen[i] = true
		switch i {
		case 0:
			var topic []byte
			topic, err = l.text()
			m.topic = events.Topic(topic)
		case 1:
			m.key, err = l.text()
		case 2:
			m.value, err = l.value()
		}
		if err != nil {
			return m, fmt.Errorf("%s: %w", members[i], err)
		}
	}
	for i, there := range seen {
		if !there {
			return m, fmt.Errorf("%s is missing", members[i])
		}
	}
	if l.space(); len(l.rest) > 0 {
		return m, fmt.Errorf("holds no JSON: %s follows the closing brace", l.here())
	}
	return m, nil
}

var members = [...]string{"topic", "key", "value"}

// scanner walks over one line.
type scanner struct{ rest []byte }

func (l *scanner) space() { l.rest = bytes.TrimLeft(l.rest, " \t\r") }

func (l *scanner) take(c byte) bool {
	if l.space(); len(l.rest) == 0 || l.rest[0] != c {
		return false
	}
	l.rest = l.rest[1:]
	return true
}

// here quotes the text at this place, for messages.
func (l *scanner) here() string {
	if l.space(); len(l.rest) == 0 {
		return "the end"
	}
	return fmt.Sprintf("%q", clip(string(l.rest[:min(len(l.rest), 4*longestEcho)])))
}

const longestEcho = 40 // characters of a line in a message

func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > longestEcho {
			return s[:i] + "..."
		}
	}
	return s
}

// text reads a string.
func (l *scanner) text() ([]byte, error) {
	if l.space(); len(l.rest) == 0 || l.rest[0] != '"' {
		return nil, fmt.Errorf("must be a string, but begins with %s", l.here())
	}
	n := stringLength(l.rest)
	if n < 0 {
		return nil, errors.New("holds no JSON: a string has no end")
	}
	quoted := l.rest[:n]
	l.rest = l.rest[n:]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : n-1], nil
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, fmt.Errorf("holds no JSON: %w", err)
	}
	return []byte(s), nil
}

// stringLength is the length of the string that text begins with, quotes included; -1 when it has no end.
func stringLength(text []byte) int {
	for i := 1; ; i++ {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			return -1
		}
		i += quote
		escapes := 0
		for text[i-1-escapes] == '\\' { // ends at the opening quote
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// value finds the extent of a value: up to the comma or brace that belongs to the line's object.
func (l *scanner) value() ([]byte, error) {
	l.space()
	depth := 0
	for i := 0; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '"':
			n := stringLength(l.rest[i:])
			if n < 0 {
				return nil, errors.New("holds no JSON: a string has no end")
			}
			i += n - 1
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && (c == ',' || c == '}'):
			v := bytes.TrimRight(l.rest[:i], " \t\r")
			l.rest = l.rest[i:]
			if string(v) == "null" {
				return nil, nil
			}
			return v, nil
		}
	}
	return nil, errors.New("holds no JSON: it has no end")
}
