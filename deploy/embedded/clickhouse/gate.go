package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/sethvargo/go-retry"
)

// gate stands between an engine and its clients, in the engine's own process.
// The engine aborts where a client resets its connection, as systems do for one
// that is killed before it has read an answer. Behind the gate every connection
// ends in order: the engine reads the end of what the client said, and all that
// it answers is taken from it.
type gate struct{ engine string } // host:port

// lastWords is how long a client may take to end its half of a connection whose
// other half the engine has ended.
const lastWords = time.Second

// newGate chooses the engine's own port, which is none of those that systems give
// to whoever asks for any: a client could be given it before the engine listens.
func newGate() (*gate, error) {
	const first, last, tries = 10_000, 30_000, 100
	for range tries {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first))))
		if err == nil {
			return &gate{engine: listener.Addr().String()}, listener.Close()
		}
	}
	return nil, fmt.Errorf("find a port for the engine: none of %d between %d and %d is free", tries, first, last)
}

// open listens at addr as soon as the engine does, and passes connections on. It
// returns only with an error: the gate stays open as long as the process.
func (g *gate) open(addr string) error {
	pauses := retry.WithCappedDuration(50*time.Millisecond, retry.NewExponential(2*time.Millisecond))
	err := retry.Do(context.Background(), pauses, func(context.Context) error { // whoever starts the process has a bound
		engine, err := net.Dial("tcp", g.engine)
		if err != nil {
			return retry.RetryableError(err)
		}
		return engine.Close()
	})
	if err != nil {
		return fmt.Errorf("reach the engine: %w", err)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for the engine's clients: %w", err)
	}
	for {
		client, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept the engine's clients: %w", err)
		case err != nil: // no file descriptor is free, or the client has left already
			time.Sleep(10 * time.Millisecond)
		default:
			go g.pass(client.(*net.TCPConn))
		}
	}
}

// pass passes on what a client and the engine say until both have ended. The
// engine bounds how many connections there are.
func (g *gate) pass(client *net.TCPConn) {
	defer client.Close()
	dialed, err := net.Dial("tcp", g.engine)
	if err != nil {
		return // the engine ends: so does its process
	}
	engine := dialed.(*net.TCPConn)
	defer engine.Close()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = io.Copy(engine, client)
		_ = engine.CloseWrite()
	}()
	if _, err := io.Copy(client, engine); err != nil {
		_, _ = io.Copy(io.Discard, engine)
	}
	_ = client.CloseWrite()
	_ = client.SetReadDeadline(time.Now().Add(lastWords))
	<-asked
}
