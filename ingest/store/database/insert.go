package database

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

// Batch is the data of an insert: the columns of an external table that the statement reads, one block. nil is no data.
type Batch []proto.InputColumn

// Insert runs a statement with the settings that the protocol relies on and returns how many rows it wrote, those of
// the views included; 0 when its conditions did not hold. After an error nobody knows whether it wrote.
func (s *Server) Insert(ctx context.Context, st Statement) (written uint64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	limit := st.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	// The bound lies behind the server's own: it ends a statement whose server is gone, not one that runs.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), limit+grace)
	defer stop()
	client, err := s.writers.acquire(ctx)
	if err != nil {
		return 0, err
	}
	q := ch.Query{
		Body:       st.SQL,
		QueryID:    st.ID,
		Parameters: parameters(st.Params),
		Settings:   settings(insertSettings(), limit),
		OnProgress: func(_ context.Context, p proto.Progress) error {
			written += p.WroteRows
			return nil
		},
	}
	if st.Batch != nil {
		q.ExternalTable, q.ExternalData = "batch", streamed(st.Batch)
	}
	err = client.Do(ctx, q)
	s.writers.release(client, err)
	return written, failed(err)
}

// Scan reads the blocks of a large result into columns that the caller gives and re-uses; each is called once per
// block. Where each fails it isn't called any more, and its error is returned when the result has been read to its end:
// the embedded engine bears few statements that are broken off.
func (s *Server) Scan(ctx context.Context, q Query, into proto.Results, each func() error) error {
	limit := q.Limit
	if limit == 0 {
		limit = 10 * time.Minute
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), limit+grace)
	defer stop()
	client, err := s.writers.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	var refused error
	err = client.Do(ctx, ch.Query{
		Body:       q.SQL,
		Parameters: parameters(q.Params),
		Settings:   settings(scanSettings(), limit),
		Result:     into,
		OnResult: func(context.Context, proto.Block) error {
			if refused == nil {
				refused = each()
			}
			return nil
		},
	})
	return cmp.Or(refused, failed(err))
}

func parameters(p Params) []proto.Parameter {
	all := make([]proto.Parameter, 0, len(p))
	for k, v := range p {
		all = append(all, proto.Parameter{Key: k, Value: "'" + quoteEscapes.Replace(v) + "'"})
	}
	return all
}

// writers are the connections of inserts, at most as many as inserts may run at a time. Nobody knows whether an insert wrote whose
// connection had ended before it, and what ends one mostly ends all: a server that is restarted, a balancer that ends what is quiet.
// So the idle ones go with one that fails, and none is used that was quiet for long.
type writers struct {
	options ch.Options
	slots   chan struct{}
	mu      sync.Mutex
	idle    []idleClient // the one that was used last at the end
}

type idleClient struct {
	*ch.Client
	since time.Time
}

// maxIdle is well below what servers and balancers bear: ClickHouse ends connections that were quiet for an hour unless told otherwise.
const maxIdle = 30 * time.Second

func newWriters(o Options, most int) *writers {
	return &writers{
		slots: make(chan struct{}, most),
		options: ch.Options{
			Address:          o.Addr,
			Database:         o.Database,
			User:             o.User,
			Password:         o.Password,
			Dialer:           &dialer{net.Dialer{Timeout: 3 * time.Second, KeepAlive: 15 * time.Second}, o.TLS},
			DialTimeout:      3 * time.Second,
			HandshakeTimeout: 5 * time.Second,
			ReadTimeout:      ch.NoTimeout, // each statement's context has a bound
			ClientName:       "tallyhouse",
		},
	}
}

func (w *writers) dial(ctx context.Context) (*ch.Client, error) {
	client, err := ch.Dial(ctx, w.options)
	if err != nil {
		return nil, fmt.Errorf("connect to ClickHouse at %s: %w", w.options.Address, failed(err))
	}
	return client, nil
}

func (w *writers) acquire(ctx context.Context) (*ch.Client, error) {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a connection to ClickHouse: %w", failed(ctx.Err()))
	}
	if client := w.takeIdle(); client != nil {
		return client, nil
	}
	client, err := w.dial(ctx)
	if err != nil {
		<-w.slots
	}
	return client, err
}

func (w *writers) takeIdle() *ch.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle) == 0 {
		return nil
	}
	last := w.idle[len(w.idle)-1]
	if time.Since(last.since) > maxIdle {
		w.closeIdle() // the others are older
		return nil
	}
	w.idle = w.idle[:len(w.idle)-1]
	return last.Client
}

// release gives a connection back; one whose statement failed is closed, and the idle ones with it unless the server said why.
func (w *writers) release(client *ch.Client, failed error) {
	defer func() { <-w.slots }()
	w.mu.Lock()
	defer w.mu.Unlock()
	if failed == nil && !client.IsClosed() {
		w.idle = append(w.idle, idleClient{client, time.Now()})
		return
	}
	_ = client.Close()
	if !ch.IsException(failed) {
		w.closeIdle()
	}
}

func (w *writers) closeIdle() {
	for _, client := range w.idle {
		_ = client.Close()
	}
	w.idle = nil
}

func (w *writers) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closeIdle()
	return nil
}
