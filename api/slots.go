package api

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"tallyhouse/api/problem"
)

// Bounds of exports. Each holds one page in memory.
const (
	maxExports       = 4 // at the same time
	maxTenantExports = 3 // of them of one tenant
	maxKeyExports    = 2 // and of one key or user
	exportRetry      = 5 * time.Second
	exportBuffer     = 64 << 10
	exportStallTime  = time.Minute // within which a client takes one buffer
	// An export whose client was waited for that long and took less than that is ended when somebody else finds no place.
	exportPatience = 2 * time.Minute
	exportPace     = 64 << 10 // bytes a second
)

// slots bounds the exports that run at the same time: a client may read one for hours, so none of them, and no tenant with
// all of its keys, takes every place, and nobody keeps a place from others by taking next to nothing.
type slots struct {
	mu      sync.Mutex
	running map[*place]bool
}

// place is that of an export.
type place struct {
	of                *slots
	tenant, principal string

	mu      sync.Mutex
	control *http.ResponseController // once it is being sent
	writing time.Time                // since when a write lasts; zero while there is none
	waited  time.Duration            // for the client, in the writes before
	taken   int64                    // bytes
	ended   bool
}

// enter takes a place, or is refused as problem.TooManyRequests. When slow clients of others have all the places, the slowest loses
// its own, and whoever was refused finds it when asking again.
func (s *slots) enter(tenant, principal string) (*place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &place{of: s, tenant: tenant, principal: principal}
	var ofTenant, ofPrincipal int
	for other := range s.running {
		if other.tenant == tenant {
			ofTenant++
			if other.principal == principal {
				ofPrincipal++
			}
		}
	}
	switch {
	case ofPrincipal >= maxKeyExports:
	case ofTenant >= maxTenantExports:
		s.endSlowest(func(other *place) bool { return other.tenant == tenant && other.principal != principal })
	case len(s.running) >= maxExports:
		s.endSlowest(func(other *place) bool { return other.tenant != tenant })
	default:
		if s.running == nil {
			s.running = make(map[*place]bool)
		}
		s.running[p] = true
		return p, nil
	}
	return nil, &problem.Error{Kind: problem.TooManyRequests, RetryAfter: exportRetry,
		Detail: "Too many exports are running already; those of one key or user, and of one tenant, are bounded."}
}

// endSlowest ends the slowest of the exports that somebody else would have to wait for, if it is too slow for that.
func (s *slots) endSlowest(may func(*place) bool) {
	now := time.Now()
	var slowest *place
	least := float64(exportPace)
	for p := range s.running {
		if pace, known := p.pace(now); known && pace < least && may(p) {
			slowest, least = p, pace
		}
	}
	if slowest != nil {
		slowest.end()
	}
}

// leave gives the place back, once.
func (p *place) leave() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	delete(p.of.running, p)
}

// pace is how many bytes a second the client takes, as soon as it was waited for long enough to tell.
func (p *place) pace(now time.Time) (bytes float64, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := p.waited
	if !p.writing.IsZero() {
		waited += now.Sub(p.writing)
	}
	if waited < exportPatience || p.ended {
		return 0, false
	}
	return float64(p.taken) / waited.Seconds(), true
}

// end ends the export: a write that lasts fails, and so does the next one.
func (p *place) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.control != nil {
		_ = p.control.SetWriteDeadline(time.Now()) // where it can't be set, the write ends in its own time
	}
}

// errTooSlow says that an export was ended for others.
var errTooSlow = fmt.Errorf("its client took less than %d bytes a second, and others waited for its place", exportPace)

// begin allows for a write, with a time of its own.
func (p *place) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return errTooSlow
	}
	p.writing = time.Now()
	if err := p.control.SetWriteDeadline(p.writing.Add(exportStallTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// wrote notes what the client has taken.
func (p *place) wrote(n int, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waited += time.Since(p.writing)
	p.writing = time.Time{}
	p.taken += int64(n)
	if err != nil && p.ended {
		return errTooSlow
	}
	return err
}

// writer is what the export in this place is written to.
func (p *place) writer(to http.ResponseWriter) *steadyWriter {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.control = http.NewResponseController(to)
	return &steadyWriter{to: to, place: p}
}

// steadyWriter writes to a client for as long as it takes, if only it goes on taking: each buffer has a time of its own
// in place of the one that the server gives whole answers.
type steadyWriter struct {
	to      http.ResponseWriter
	place   *place
	written int64
}

func (w *steadyWriter) Write(b []byte) (int, error) {
	if err := w.place.begin(); err != nil {
		return 0, err
	}
	n, err := w.to.Write(b)
	w.written += int64(n)
	return n, w.place.wrote(n, err)
}
