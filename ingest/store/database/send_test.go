package database

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/deploy/embedded/servertest"
)

// batchOf is a batch of that many columns of 1 MiB.
func batchOf(columns int) (b Batch) {
	for i := range columns {
		column := new(proto.ColStr)
		for range 1024 {
			column.Append(strings.Repeat("x", 1024))
		}
		b = append(b, proto.InputColumn{Name: string(rune('a' + i)), Data: column})
	}
	return b
}

func TestABatchIsSentWithoutABufferOfItsSize(t *testing.T) {
	const columns = 16
	var sent [2]bytes.Buffer
	var buffers [2]proto.Buffer
	for i, b := range [][]proto.InputColumn{batchOf(columns), streamed(batchOf(columns))} {
		w := proto.NewWriter(&sent[i], &buffers[i])
		if err := (proto.Block{Columns: columns, Rows: 1024}).WriteBlock(w, proto.Version, b); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(sent[0].Bytes(), sent[1].Bytes()) {
		t.Error("something else is sent")
	}
	if kept := cap(buffers[1].Buf); kept > 4<<20 {
		t.Errorf("a buffer of %d bytes is kept for a batch of %d", kept, sent[1].Len())
	}
}

func TestAConnectionThatFailedToWriteWritesNothingMore(t *testing.T) {
	here, there := net.Pipe()
	c := &conn{Conn: here}
	if err := c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("nobody reads it")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := c.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(there)
		got <- all
	}()
	if _, err := c.Write([]byte("the rest")); err == nil {
		t.Error("it goes on after a write that failed")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if all := <-got; len(all) > 0 {
		t.Errorf("%q arrived", all)
	}
}

// Given a server that stops taking what is sent in the middle of a batch, then the insert fails and nothing is written.
func TestAnInsertIntoAServerThatStopsListeningEnds(t *testing.T) {
	t.Parallel()
	s := opened(t, 1)
	if err := s.Exec(t.Context(), Statement{SQL: "CREATE TABLE taken (a String) ENGINE = MergeTree ORDER BY a"}); err != nil {
		t.Fatal(err)
	}
	through, err := Open(Options{Addr: deaf(t, s.Addr(), 1<<20), Database: s.Name(), User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	if n, err := through.Insert(t.Context(), Statement{SQL: "INSERT INTO taken SELECT a FROM batch", Batch: batchOf(26), Limit: time.Second}); err == nil {
		t.Errorf("%d rows, no error", n)
	}
	var rows uint64
	if err := s.Row(t.Context(), Query{SQL: "SELECT count() FROM taken"}, &rows); err != nil || rows > 0 {
		t.Errorf("%d rows are there, %v", rows, err)
	}
}

// deaf is a way to a server that takes so many bytes and no more.
func deaf(t *testing.T, server string, takes int64) (addr string) {
	t.Helper()
	return servertest.Start(t, func(client net.Conn) {
		defer client.Close()
		to, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer to.Close()
		go func() { _, _ = io.CopyN(to, client, takes) }()
		_, _ = io.Copy(client, to) // until the server gives up
	})
}
