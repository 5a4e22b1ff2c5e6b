package api

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"tallyhouse/api/problem"
)

func TestExportsAreBoundedInAll(t *testing.T) {
	// Given as many exports as may run, each of another key
	s := &slots{}
	var leave []func()
	for i := range maxExports {
		left, err := s.enter(fmt.Sprint("key", i))
		if err != nil {
			t.Fatalf("export %d: %v", i, err)
		}
		leave = append(leave, left)
	}
	// When there is one more, then it is refused
	var p *problem.Error
	if _, err := s.enter("another"); !errors.As(err, &p) || p.Kind != problem.TooManyRequests || p.RetryAfter != exportRetry {
		t.Errorf("got %v", err)
	}
	// And one may begin for each that has ended, however often it says so.
	leave[0]()
	leave[0]()
	if _, err := s.enter("another"); err != nil {
		t.Error(err)
	}
	if _, err := s.enter("yet another"); err == nil {
		t.Error("a second one was let in")
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
