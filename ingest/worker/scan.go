package worker

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
)

// headScan loads heads by one scan of a state table, which may take minutes, and which nothing breaks off. Writers that have to end
// meanwhile don't wait for that: the scan keeps their heads, and they are closed when it is over.
type headScan struct {
	into       map[int32]*headLoader
	partitions uint32
	rows       atomic.Int64
	done       chan struct{} // closed at its end
	err        error         // of the scan, then
	closed     chan struct{} // when nothing of it is left
}

// lookStopped is how often a recovery that waits for a scan looks whether writers have to end.
const lookStopped = 50 * time.Millisecond

// scanInto starts a scan.
func scanInto(ctx context.Context, db Database, e *store.Entity, s *headScan, where string, params database.Params) {
	images := e.NewImages()
	query := database.Query{SQL: images.Select(false, where), Params: params, Limit: loadTimeout}
	s.done, s.closed = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.done)
		s.err = db.Scan(ctx, query, images.Results(), func() error {
			s.take(images)
			return nil
		})
	}()
}

// take takes a block in.
func (s *headScan) take(images *store.Images) {
	for i := range images.Rows() {
		row := images.Row(i)
		if row.Tenant == "" {
			if l := s.into[row.Partition]; l != nil {
				l.position = max(l.position, row.Version)
			}
			continue
		}
		l := s.into[int32(row.KeyHash%s.partitions)]
		if l == nil {
			continue // a row that this partition took before a resize: its id has moved to another
		}
		l.queue(images, i, row)
	}
	for _, l := range s.into {
		l.takeQueued(images)
	}
	s.rows.Add(int64(images.Rows()))
}

// end closes the heads that no writer has any more, once the scan is over.
func (s *headScan) end(log *slog.Logger) {
	defer close(s.closed)
	<-s.done
	for _, l := range s.into {
		if !l.left.Load() {
			continue
		}
		if err := l.heads.close(); err != nil {
			log.Warn("the memory of the heads was not given back", "error", err)
		}
	}
}

// awaitScan waits for a scan of this recovery's heads, and lets writers go that have to end meanwhile. It returns early where none is left.
func (r *recovery) awaitScan(s *headScan) {
	rows, told := int64(0), time.Now()
	r.awaitUnlessStopped(s.done, func() {
		for p, q := range r.members {
			if l := s.into[p]; l != nil && q.isStopped() {
				l.left.Store(true)
				q.w.heads = nil // the scan's from now on
			}
		}
		r.releaseStopped()
		if now := s.rows.Load(); now > rows && time.Since(told) > 5*time.Second {
			rows, told = now, time.Now()
			r.log.Info("loading heads", "topic", r.entity.Topic, "rows", rows)
			r.step(StepHeads)
		}
	})
	select {
	case <-s.done:
		s.end(r.log)
	default:
		go s.end(r.log)
	}
}

// awaitUnlessStopped waits for something as long as there are writers that wait for the recovery, and looks in between.
func (r *recovery) awaitUnlessStopped(done <-chan struct{}, look func()) {
	every := time.NewTicker(lookStopped)
	defer every.Stop()
	for len(r.members) > 0 {
		select {
		case <-done:
			return
		case <-every.C:
			look()
		}
	}
}
