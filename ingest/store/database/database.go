// Package database connects the ingest to one ClickHouse server: queries by clickhouse-go, whole batches by ch-go on
// connections of their own. No statement is ever cancelled: after a cancelled insert nobody knows what was written, and
// cancelling statements in flight kills the embedded engine after some hundreds of times. The server bounds each
// statement by max_execution_time instead.
package database

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Options say which server to connect to, and as whom.
type Options struct {
	Addr     string // host:port, the native protocol. One server, never a list: fences and processes are a server's own
	Database string
	User     string
	Password string
	TLS      *tls.Config // nil: plain
}

// Params are the bound parameters of a statement, by name: {name:Type} in its text. A String that may hold anything
// goes through Text.
type Params map[string]string

// With returns p and more; later ones win.
func (p Params) With(more ...Params) Params {
	all := maps.Clone(p)
	if all == nil {
		all = Params{}
	}
	for _, m := range more {
		maps.Copy(all, m)
	}
	return all
}

// Query is a statement that reads.
type Query struct {
	SQL    string
	Params Params
	Limit  time.Duration // max_execution_time; 0 is 30 s
}

// Statement is a statement that writes. It may carry a batch, an external table by the name batch.
type Statement struct {
	SQL    string
	Params Params
	ID     string // the query id, by which it can be killed
	Batch  Batch
	Limit  time.Duration // max_execution_time; 0 is 30 s
}

// Error is a failure to reach ClickHouse, or its refusal: whoever tells it knows which server it is about.
type Error struct{ Cause error }

func (e *Error) Error() string { return e.Cause.Error() }

// Unwrap gives the failure itself.
func (e *Error) Unwrap() error { return e.Cause }

// failed marks a failure as ClickHouse's; nil stays nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}

// Server is a ClickHouse server.
type Server struct {
	options Options
	control clickhouse.Conn
	writers *writers
}

const (
	defaultLimit = 30 * time.Second
	// The server ends a statement at its limit; a client that waits a little longer learns of it.
	grace = 5 * time.Second
)

// Open prepares the connections; it does not dial yet. At most inserts statements that carry a batch run at a time.
func Open(o Options, inserts int) (*Server, error) {
	control, err := clickhouse.Open(&clickhouse.Options{
		Addr:         []string{o.Addr},
		Auth:         clickhouse.Auth{Database: o.Database, Username: o.User, Password: o.Password},
		TLS:          o.TLS,
		DialTimeout:  3 * time.Second,
		ReadTimeout:  time.Hour, // each statement has a bound of its own
		MaxOpenConns: 16,
		MaxIdleConns: 8,
		Settings:     controlSettings(),
	})
	if err != nil {
		return nil, fmt.Errorf("prepare connections to ClickHouse at %s: %w", o.Addr, err)
	}
	return &Server{options: o, control: control, writers: newWriters(o, inserts)}, nil
}

// Close ends the connections.
func (s *Server) Close() error {
	return errors.Join(s.control.Close(), s.writers.close())
}

// Name is the name of the database.
func (s *Server) Name() string { return s.options.Database }

// Addr is the server's address.
func (s *Server) Addr() string { return s.options.Addr }

// Ping reports whether the server answers.
func (s *Server) Ping(ctx context.Context) error {
	var one uint8
	return s.Row(ctx, Query{SQL: "SELECT 1", Limit: 5 * time.Second}, &one)
}

// Row reads the one row that the query returns.
func (s *Server) Row(ctx context.Context, q Query, into ...any) error {
	n := 0
	err := s.Rows(ctx, q, func(scan func(...any) error) error {
		n++
		return scan(into...)
	})
	if err == nil && n != 1 {
		return fmt.Errorf("%d rows where one was expected", n)
	}
	return err
}

// Rows reads what the query returns, row by row.
func (s *Server) Rows(ctx context.Context, q Query, each func(scan func(...any) error) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.bound(ctx, q.Params, q.Limit, "", func(ctx context.Context) error {
		rows, err := s.control.Query(ctx, q.SQL)
		if err != nil {
			return failed(err)
		}
		for rows.Next() {
			if err := each(rows.Scan); err != nil {
				return errors.Join(err, rows.Close())
			}
		}
		return failed(errors.Join(rows.Err(), rows.Close()))
	})
}

// Exec runs a statement that carries no batch, on the connections of the queries: fences and kills must not wait behind
// inserts.
func (s *Server) Exec(ctx context.Context, st Statement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.bound(ctx, st.Params, st.Limit, st.ID, func(ctx context.Context) error { return failed(s.control.Exec(ctx, st.SQL)) })
}

// bound runs a statement with its parameters and its limit, and ends it where the server doesn't.
func (s *Server) bound(ctx context.Context, p Params, limit time.Duration, id string, run func(context.Context) error) error {
	if limit == 0 {
		limit = defaultLimit
	}
	options := []clickhouse.QueryOption{
		clickhouse.WithParameters(clickhouse.Parameters(p)),
		clickhouse.WithSettings(clickhouse.Settings{"max_execution_time": seconds(limit)}),
	}
	if id != "" {
		options = append(options, clickhouse.WithQueryID(id))
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	silent := time.AfterFunc(limit+grace, stop) // no deadline: the driver would make it the server's limit
	err := run(clickhouse.Context(ctx, options...))
	if !silent.Stop() && err != nil {
		return fmt.Errorf("ClickHouse at %s did not answer within %s: %w", s.Addr(), limit+grace, err)
	}
	return err
}

func seconds(d time.Duration) int { return max(1, int(d.Seconds())) }
