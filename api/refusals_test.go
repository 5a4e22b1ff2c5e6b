package api

import (
	"context"
	"testing"
	"time"
)

func TestRefusalsThatAreHeldBackHaveABound(t *testing.T) {
	// Given as many refusals as are held back
	f := &refusals{pause: time.Hour}
	f.held.Store(maxHeld)
	// When there is one more, then it is answered at once, and nothing is left of it.
	f.hold(context.Background())
	if held := f.held.Load(); held != maxHeld {
		t.Errorf("%d are held back", held)
	}
}
