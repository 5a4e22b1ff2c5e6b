package kafka

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

const keepAlive = 15 * time.Second

// dial connects to a broker, with TLS if there is a configuration. All clients use it, so that what answers there and isn't Kafka is
// refused before a client takes its bytes for lengths.
func dial(config *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}
	connect := plain.DialContext
	if config != nil {
		connect = (&tls.Dialer{NetDialer: plain, Config: config}).DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := connect(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &answered{Conn: conn, encrypted: config != nil}, nil
	}
}

// largestFirstAnswer bounds the first answer of a connection, in bytes: what a broker knows, or where topics are. It begins with its
// length in four bytes; text of another protocol, a TLS alert and ClickHouse's packets would be longer.
const largestFirstAnswer = 1<<24 - 1

// answered is a connection that looks at the length of the first answer: kafka-go believes any, and takes gigabytes for what an
// HTTP server says. One goroutine reads at a time, as clients of Kafka do.
type answered struct {
	net.Conn
	encrypted bool
	begun     bool
	length    [4]byte
	unread    []byte // of length
	err       error
}

// Read implements net.Conn.
func (c *answered) Read(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.begin()
	}
	if c.err != nil {
		return 0, c.err
	}
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

func (c *answered) begin() {
	if _, c.err = io.ReadFull(c.Conn, c.length[:]); c.err != nil {
		return
	}
	c.unread = c.length[:]
	if binary.BigEndian.Uint32(c.length[:]) > largestFirstAnswer {
		const alert, version = 0x15, 0x03 // of a TLS record, RFC 8446 section 5.1
		wantsTLS := !c.encrypted && c.length[0] == alert && c.length[1] == version
		c.err = &NotKafkaError{Addr: c.RemoteAddr().String(), Begins: c.length, WantsTLS: wantsTLS}
	}
}

// NotKafkaError is the answer of a server that isn't a broker, or wants TLS where there is none.
type NotKafkaError struct {
	Addr     string
	Begins   [4]byte // the answer
	WantsTLS bool
}

// Error implements error.
func (e *NotKafkaError) Error() string {
	if e.WantsTLS {
		return e.Addr + " wants TLS"
	}
	return fmt.Sprintf("%s isn't a Kafka broker: its answer begins with %q", e.Addr, e.Begins[:])
}
