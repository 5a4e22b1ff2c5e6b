package main

import (
	"math"
	"runtime/debug"
	"testing"
)

// Given what answers requests, when it starts, then it collects memory seldom and within a bound; what its environment says of
// either counts.
func TestWhatAnswersRequestsCollectsSeldomWithinABound(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	for name, tc := range map[string]struct {
		given   map[string]string
		percent int
		bytes   int64
	}{
		"nothing is given":    {nil, 400, answeringMemory},
		"GOGC is given":       {map[string]string{"GOGC": "100"}, 100, answeringMemory},
		"GOMEMLIMIT is given": {map[string]string{"GOMEMLIMIT": "off"}, 400, math.MaxInt64},
	} {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		s := &shell{env: tc.given}
		s.collectLess(answeringMemory)
		if bytes, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100); percent != tc.percent || bytes != tc.bytes {
			t.Errorf("%s: the heap grows by %d %%, up to %d bytes", name, percent, bytes)
		}
	}
}
