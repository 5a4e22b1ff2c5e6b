package database

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/ClickHouse/ch-go/proto"
)

// A batch is sent while it is encoded: else every connection would keep a buffer as large as its largest batch.

// sendAt is how many bytes are sent together.
const sendAt = 256 << 10

// streamed makes the columns of a batch send themselves.
func streamed(b Batch) []proto.InputColumn {
	columns := make([]proto.InputColumn, len(b))
	for i, c := range b {
		columns[i] = c
		_, prepares := c.Data.(proto.Preparable)
		_, hasState := c.Data.(proto.StateEncoder)
		if !prepares && !hasState {
			columns[i].Data = streamedColumn{c.Data}
		}
	}
	return columns
}

type streamedColumn struct{ proto.ColInput }

// WriteColumn implements proto.ColInput.
func (c streamedColumn) WriteColumn(w *proto.Writer) {
	c.ColInput.WriteColumn(w)
	enough := false
	w.ChainBuffer(func(b *proto.Buffer) { enough = len(b.Buf) >= sendAt })
	if enough {
		_, _ = w.Flush() // the connection remembers the error: what is written after it fails as well
	}
}

// dialer makes connections that write nothing more once a write has failed: what comes behind a hole in a batch could
// pass for the rest of it.
type dialer struct {
	net net.Dialer
	tls *tls.Config // nil: plain
}

// DialContext implements ch.Dialer.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := d.net.DialContext
	if d.tls != nil {
		dial = (&tls.Dialer{NetDialer: &d.net, Config: d.tls}).DialContext
	}
	c, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

type conn struct {
	net.Conn
	failed atomic.Pointer[error]
}

func (c *conn) Write(b []byte) (int, error) {
	if err := c.failed.Load(); err != nil {
		return 0, fmt.Errorf("an earlier write failed: %w", *err)
	}
	n, err := c.Conn.Write(b)
	if err != nil {
		c.failed.Store(&err)
	}
	return n, err
}
