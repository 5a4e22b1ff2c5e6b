package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// cells takes objects apart into the cells of their columns. It reads what the API's encoder writes: JSON without blanks,
// with plain names.
type cells struct {
	root   node
	values [][]byte // JSON by column, nil where there is no value
}

// node is a member of the objects: a column, or an object with members.
type node struct {
	name    string
	column  int
	members []*node
}

func newCells(columns []Column) *cells {
	c := &cells{values: make([][]byte, len(columns))}
	for i, column := range columns {
		at := &c.root
		for part := range strings.SplitSeq(column.Name, ".") {
			at = at.member(part)
		}
		at.column = i
	}
	return c
}

// member finds a member, or adds it.
func (n *node) member(name string) *node {
	if m := n.find(name); m != nil {
		return m
	}
	m := &node{name: name}
	n.members = append(n.members, m)
	return m
}

func (n *node) find(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// take sets the cells to those of an object, and keeps parts of it. Members that are no column are an error: nothing is
// left out silently.
func (c *cells) take(object []byte) error {
	clear(c.values)
	rest, err := c.object(object, &c.root)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%.20q follows the object", rest)
	}
	if err != nil {
		return fmt.Errorf("take an object apart: %w", err)
	}
	return nil
}

func (c *cells) object(b []byte, of *node) (rest []byte, err error) {
	if len(b) == 0 || b[0] != '{' {
		return nil, fmt.Errorf("%.20q is no object", b)
	}
	b = b[1:]
	for next := 0; len(b) > 0; next++ {
		if b[0] == '}' {
			return b[1:], nil
		}
		if b[0] == ',' {
			b = b[1:]
		}
		end := bytes.IndexByte(b[min(1, len(b)):], '"') + 1
		if end < 1 || len(b) < end+2 || b[0] != '"' || b[end+1] != ':' {
			return nil, fmt.Errorf("%.20q is no member", b)
		}
		name := b[1:end]
		b = b[end+2:]
		var at *node
		if next < len(of.members) && of.members[next].name == string(name) { // mostly in their order
			at = of.members[next]
		} else if at = of.find(string(name)); at == nil {
			return nil, fmt.Errorf("%q is no column", name)
		}
		if len(at.members) > 0 && len(b) > 0 && b[0] == '{' {
			if b, err = c.object(b, at); err != nil {
				return nil, err
			}
			continue
		}
		size := valueSize(b)
		if size == 0 {
			return nil, fmt.Errorf("%.20q is no value", b)
		}
		value := b[:size]
		b = b[size:]
		switch {
		case string(value) == "null": // all cells below it stay empty
		case len(at.members) > 0:
			return nil, fmt.Errorf("%.20q is no object", value)
		default:
			c.values[at.column] = value
		}
	}
	return nil, errors.New("an object without an end")
}

// valueSize is how long the value is that b begins with; 0 when it has no end.
func valueSize(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) {
				return 0
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// text is the text that a JSON string says; of a string without escapes it is a part of it.
func text(value []byte) ([]byte, error) {
	if len(value) < 2 || value[0] != '"' {
		return nil, fmt.Errorf("%.20q is no text", value)
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner, nil
	}
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return nil, err
	}
	return []byte(s), nil
}
