package database

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

// Batch is the data of an insert: the columns of an external table that the statement reads, one block. nil is no data.
type Batch []proto.InputColumn

// insertSettings are the settings that the protocol relies on (docs/architecture.md): a batch becomes one block in the state table and
// one in each view, the state table first; nothing is deduplicated, merged on the way or ignored.
func insertSettings() map[string]string {
	const unlimited = "100000000" // rows: above rows x contributions of the largest batch
	return map[string]string{
		"async_insert":                                         "0",
		"max_threads":                                          "1",
		"max_insert_threads":                                   "1",
		"parallel_view_processing":                             "0",
		"use_strict_insert_block_limits":                       "0",
		"max_block_size":                                       unlimited,
		"max_insert_block_size":                                unlimited,
		"min_insert_block_size_rows":                           unlimited,
		"min_insert_block_size_rows_for_materialized_views":    unlimited,
		"min_insert_block_size_bytes":                          "0",
		"min_insert_block_size_bytes_for_materialized_views":   "0",
		"preferred_block_size_bytes":                           "0",
		"wait_for_part_commit_in_dependent_materialized_views": "1",
		"deduplicate_insert":                                   "disable",
		"deduplicate_insert_select":                            "disable",
		"optimize_on_insert":                                   "0",
		"materialized_views_ignore_errors":                     "0",
		"join_use_nulls":                                       "0",
		"final":                                                "0",
		"date_time_overflow_behavior":                          "throw",
		"receive_timeout":                                      "5",
	}
}

// Insert runs a statement with the settings that the protocol relies on and returns how many rows it wrote, those of the views
// included; 0 when its conditions did not hold. After an error nobody knows whether it wrote.
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
		Settings:   settings(limit),
		OnProgress: func(_ context.Context, p proto.Progress) error {
			written += p.WroteRows
			return nil
		},
	}
	if st.Batch != nil {
		q.ExternalTable, q.ExternalData = "batch", st.Batch
	}
	err = client.Do(ctx, q)
	s.writers.release(client, err)
	return written, err
}

// Scan reads the blocks of a large result into columns that the caller gives and re-uses; each is called once per block.
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
	return client.Do(ctx, ch.Query{
		Body:       q.SQL,
		Parameters: parameters(q.Params),
		Settings: []ch.Setting{ch.SettingInt("max_execution_time", seconds(limit)), ch.SettingInt("max_threads", 2),
			ch.SettingInt("max_block_size", 8192)},
		Result:   into,
		OnResult: func(context.Context, proto.Block) error { return each() },
	})
}

func settings(limit time.Duration) []ch.Setting {
	all := make([]ch.Setting, 0, 32)
	for k, v := range insertSettings() {
		all = append(all, ch.Setting{Key: k, Value: v, Important: true})
	}
	return append(all, ch.Setting{Key: "max_execution_time", Value: strconv.Itoa(seconds(limit)), Important: true})
}

func parameters(p Params) []proto.Parameter {
	all := make([]proto.Parameter, 0, len(p))
	for k, v := range p {
		all = append(all, proto.Parameter{Key: k, Value: "'" + quoteEscapes.Replace(v) + "'"})
	}
	return all
}

// writers are the connections of inserts, at most as many as inserts may run at a time.
type writers struct {
	options ch.Options
	slots   chan struct{}
	mu      sync.Mutex
	idle    []*ch.Client
}

func newWriters(o Options, most int) *writers {
	return &writers{
		slots: make(chan struct{}, most),
		options: ch.Options{
			Address:          o.Addr,
			Database:         o.Database,
			User:             o.User,
			Password:         o.Password,
			TLS:              o.TLS,
			Dialer:           &net.Dialer{Timeout: 3 * time.Second, KeepAlive: 15 * time.Second},
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
		return nil, fmt.Errorf("connect to ClickHouse at %s: %w", w.options.Address, err)
	}
	return client, nil
}

func (w *writers) acquire(ctx context.Context) (*ch.Client, error) {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a connection to ClickHouse: %w", ctx.Err())
	}
	w.mu.Lock()
	if n := len(w.idle); n > 0 {
		client := w.idle[n-1]
		w.idle = w.idle[:n-1]
		w.mu.Unlock()
		return client, nil
	}
	w.mu.Unlock()
	client, err := w.dial(ctx)
	if err != nil {
		<-w.slots
	}
	return client, err
}

// put gives a connection back; one whose statement failed is closed, whatever the failure was.
func (w *writers) release(client *ch.Client, failed error) {
	if failed != nil || client.IsClosed() {
		_ = client.Close()
	} else {
		w.mu.Lock()
		w.idle = append(w.idle, client)
		w.mu.Unlock()
	}
	<-w.slots
}

func (w *writers) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, client := range w.idle {
		_ = client.Close()
	}
	w.idle = nil
	return nil
}
