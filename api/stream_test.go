package api

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"tallyhouse/api/problem"
)

func TestExportsAreBoundedInAll(t *testing.T) {
	// Given as many exports as may run, each of another tenant
	s := &slots{}
	var leave []func()
	for i := range maxExports {
		left, err := s.enter(fmt.Sprint("tenant", i), "key")
		if err != nil {
			t.Fatalf("export %d: %v", i, err)
		}
		leave = append(leave, left)
	}
	// When there is one more, then it is refused
	var p *problem.Error
	if _, err := s.enter("another", "key"); !errors.As(err, &p) || p.Kind != problem.TooManyRequests || p.RetryAfter != exportRetry {
		t.Errorf("got %v", err)
	}
	// And one may begin for each that has ended, however often it says so.
	leave[0]()
	leave[0]()
	if _, err := s.enter("another", "key"); err != nil {
		t.Error(err)
	}
	if _, err := s.enter("yet another", "key"); err == nil {
		t.Error("a second one was let in")
	}
}

func TestATenantLeavesAnExportToOthers(t *testing.T) {
	// Given exports of one tenant, each of another key, until there are no more for it
	s := &slots{}
	running := 0
	for i := range maxExports {
		if _, err := s.enter("greedy", fmt.Sprint("key", i)); err == nil {
			running++
		}
	}
	// Then another tenant may have one, whose key has the same name,
	if _, err := s.enter("other", "key0"); err != nil {
		t.Errorf("beside %d exports of another tenant: %v", running, err)
	}
	// And one key may not have all that its tenant may.
	s = &slots{}
	for running = 0; running < maxExports; running++ {
		if _, err := s.enter("greedy", "key"); err != nil {
			break
		}
	}
	if running != maxKeyExports {
		t.Errorf("one key has %d exports, want %d", running, maxKeyExports)
	}
}

func TestNobodyIsToldToComeBackTooEarly(t *testing.T) {
	for wait, want := range map[time.Duration]int64{
		0: 0, 1: 1, time.Second - 1: 1, time.Second: 1, time.Second + 1: 2, 1500 * time.Millisecond: 2, time.Hour: 3600,
	} {
		if got := seconds(wait); got != want {
			t.Errorf("%v: %d seconds, want %d", wait, got, want)
		}
	}
}
