package mailbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// errNoTLS says that the server refuses STARTTLS.
var errNoTLS = errors.New("the server refuses it")

// mostBeforeTLS bounds what a server says before it encrypts, in bytes.
const mostBeforeTLS = 16 << 10

// startedTLS goes over to TLS (RFC 9051, 6.2.1). The client could, but then its answers couldn't be bounded. What the server said
// in the clear counts for nothing, and nothing is read beyond its consent. The client misses the greeting, so it gets one.
func startedTLS(ctx context.Context, conn net.Conn, config *tls.Config) (net.Conn, error) {
	clear := &io.LimitedReader{R: conn, N: mostBeforeTLS}
	greeting, err := clearLine(clear)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(strings.ToUpper(greeting), "* OK") {
		return nil, fmt.Errorf("the server greets with %.100q", greeting)
	}
	const tag = "S1 "
	if _, err := io.WriteString(conn, tag+"STARTTLS\r\n"); err != nil {
		return nil, err
	}
	for {
		line, err := clearLine(clear)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(line, "* ") {
			continue
		}
		if !strings.HasPrefix(strings.ToUpper(line), tag+"OK") {
			return nil, fmt.Errorf("%w: %.100q", errNoTLS, line)
		}
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		return &greeted{secured, strings.NewReader("* OK encrypted\r\n")}, nil
	}
}

// clearLine reads a line byte by byte: what stands behind it is TLS's.
func clearLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", fmt.Errorf("the server broke off: %w", err)
		}
		if line = append(line, b[0]); b[0] == '\n' {
			return strings.TrimRight(string(line), "\r\n"), nil
		}
	}
}

// greeted is a connection whose greeting is there already.
type greeted struct {
	net.Conn
	greeting *strings.Reader
}

func (g *greeted) Read(p []byte) (int, error) {
	if g.greeting.Len() > 0 {
		return g.greeting.Read(p)
	}
	return g.Conn.Read(p)
}
