package reader

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

const (
	endEvery   = 200 * time.Millisecond
	endTimeout = 5 * time.Second
	maxEndings = 1000 // further statements end by their own limit of time
)

// ender ends statements that nobody waits for any more. Cancelling one in the driver would cost the server a connection,
// so it is killed from another one: all that are to end by one statement, again and again until they have ended, because
// the server may not have begun them yet.
type ender struct {
	conn Conn

	mu      sync.Mutex
	ending  map[string]struct{} // query ids
	running bool
}

// watch has the statement of this id end when the context does. The returned function must be called when it has ended.
func (e *ender) watch(ctx context.Context, id string) (ended func()) {
	noted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(noted)
		e.end(id)
	})
	return func() {
		if stop() {
			return
		}
		<-noted
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.ending, id)
	}
}

func (e *ender) end(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.ending) >= maxEndings {
		return
	}
	if e.ending == nil {
		e.ending = make(map[string]struct{})
	}
	e.ending[id] = struct{}{}
	if !e.running {
		e.running = true
		go e.run()
	}
}

// run kills until there is nothing left to kill.
func (e *ender) run() {
	for {
		e.mu.Lock()
		ids := slices.Collect(maps.Keys(e.ending))
		if len(ids) == 0 {
			e.running = false
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		e.kill(ids)
		time.Sleep(endEvery)
	}
}

// kill asks the server to end the statements. When that fails, they end by their own limit of time.
func (e *ender) kill(ids []string) {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	rows, err := e.conn.Query(ctx, "KILL QUERY WHERE query_id IN {ids:Array(String)} ASYNC", clickhouse.Named("ids", ids))
	if err != nil {
		return
	}
	for rows.Next() {
	}
	_ = rows.Close()
}
