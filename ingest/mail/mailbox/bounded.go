package mailbox

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"slices"
	"sync/atomic"
)

// longestResponse bounds the bytes of one response of a server, its literals apart. The longest that is asked for is a search's, of
// ten bytes for each mail of three days.
const longestResponse = 1 << 20

// boundedConn is a connection that ends at a response which is longer than anything that was asked for: the client keeps whatever
// comes until a line or a quoted string ends, and makes room for whatever a literal is said to have.
type boundedConn struct {
	net.Conn
	literals atomic.Int64 // bytes that the literals of a response may have together
	response response
	err      error // after which nothing is read
}

func newBoundedConn(conn net.Conn) *boundedConn {
	c := &boundedConn{Conn: conn}
	c.literals.Store(headerBytes)
	return c
}

// expect says how many bytes the literals of a response may have from now on.
func (c *boundedConn) expect(n int64) { c.literals.Store(n) }

// Read gives what is within the bounds, and then the error.
func (c *boundedConn) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.Conn.Read(p)
	good, bad := c.response.follow(p[:n], c.literals.Load())
	if bad != nil {
		c.err = bad
		return good, bad
	}
	return n, err
}

// response follows the response that a server sends, as the client does: where it is in doubt, the response goes on.
type response struct {
	head    []byte // the first bytes, by which isText knows a text
	size    int    // bytes so far, without literals
	literal int64  // bytes of the literal that are still to come
	total   int64  // bytes of all its literals
	quoted  bool   // within a quoted string, which the client reads beyond the end of a line
	escaped bool   // behind a backslash within one
	count   counting
	told    int64 // bytes that the literal is said to have
}

// counting is how far the announcement of a literal has come: {n}, or {n+}, at the end of a line.
type counting uint8

const (
	noLiteral counting = iota
	digits             // behind the brace
	announced          // all but the end of the line
)

// follow goes through bytes of a connection. Those before an error are within the bounds.
func (r *response) follow(b []byte, literals int64) (good int, err error) {
	for i := 0; i < len(b); {
		if r.literal > 0 {
			n := min(r.literal, int64(len(b)-i))
			r.literal -= n
			i += int(n)
			continue
		}
		if r.size++; r.size > longestResponse {
			return i, fmt.Errorf("the server sends a response of more than %d bytes", longestResponse)
		}
		if len(r.head) < longestStatus {
			r.head = append(r.head, b[i])
		}
		if r.next(b[i]); b[i] == '\n' && !r.quoted {
			if r.count != announced {
				*r = response{head: r.head[:0]}
			} else if err := r.begin(literals); err != nil {
				return i, err
			}
		}
		i++
	}
	return len(b), nil
}

// next follows a byte outside of literals.
func (r *response) next(c byte) {
	switch {
	case r.escaped:
		r.escaped = false
	case r.quoted:
		r.escaped = c == '\\'
		r.quoted = c != '"'
	case c == '"':
		r.quoted, r.count = !r.isText(), noLiteral
	case c == '{' && !r.isText():
		r.count, r.told = digits, 0
	case r.count == digits && c >= '0' && c <= '9':
		if r.told = r.told*10 + int64(c-'0'); r.told > math.MaxInt32 {
			r.told = math.MaxInt32 // more than any may have
		}
	case r.count == digits && c == '+':
	case r.count == digits && c == '}':
		r.count = announced
	case r.count == announced && (c == ' ' || c == '\r' || c == '\n'):
	default:
		r.count = noLiteral
	}
}

// begin begins a literal.
func (r *response) begin(literals int64) error {
	if r.total += r.told; r.total > literals {
		return fmt.Errorf("the server sends %d bytes where it was asked for %d", r.total, literals)
	}
	r.literal, r.count = r.told, noLiteral
	return nil
}

// The responses that are a text, in which quotes and braces mean nothing, beside those that don't begin with a star.
var statuses = [][]byte{[]byte("* OK"), []byte("* NO"), []byte("* BAD"), []byte("* BYE"), []byte("* PREAUTH")}

// longestStatus has the byte behind it, too.
const longestStatus = len("* PREAUTH ")

func (r *response) isText() bool {
	return r.head[0] != '*' || slices.ContainsFunc(statuses, func(status []byte) bool {
		n := len(status)
		return len(r.head) > n && bytes.EqualFold(r.head[:n], status) && bytes.IndexByte([]byte(" \r\n"), r.head[n]) >= 0
	})
}
