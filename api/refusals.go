package api

import (
	"context"
	"sync/atomic"
	"time"
)

// maxHeld bounds the refusals that are held back; further ones are answered at once.
const maxHeld = 1000

// refusals holds back the answers to requests that came in haste (429). A client that asks again as soon as it is refused
// would otherwise keep a processor busy with refusals alone.
type refusals struct {
	pause time.Duration
	held  atomic.Int64
}

// hold waits for the pause, or until the client has left.
func (f *refusals) hold(ctx context.Context) {
	defer f.held.Add(-1)
	if f.held.Add(1) > maxHeld {
		return
	}
	over := time.NewTimer(f.pause)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
}
