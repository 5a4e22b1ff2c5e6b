package desk

import (
	"fmt"
	"testing"
)

// Streams are bounded for each person, each tenant and for all; whoever leaves makes room.
func TestStreamsAreBounded(t *testing.T) {
	var s streams
	var leaving []func()
	enter := func(tenant, user string) bool {
		leave, ok := s.enter(tenant, user)
		if ok {
			leaving = append(leaving, leave)
		}
		return ok
	}
	for i := range maxStreamsOfOne + 1 {
		if ok := enter("demo", "ada"); ok != (i < maxStreamsOfOne) {
			t.Errorf("stream %d of a person enters: %t", i, ok)
		}
	}
	for i := maxStreamsOfOne; i <= maxStreamsOfTenant; i++ {
		if ok := enter("demo", fmt.Sprint("user", i)); ok != (i < maxStreamsOfTenant) {
			t.Errorf("stream %d of a tenant enters: %t", i, ok)
		}
	}
	for i := maxStreamsOfTenant; i < maxStreams; i++ {
		if !enter(fmt.Sprint("tenant", i), "ada") {
			t.Fatalf("stream %d is refused", i)
		}
	}
	if enter("acme", "late") {
		t.Error("one too many enters")
	}
	for _, leave := range leaving {
		leave()
	}
	if s.all != 0 || len(s.tenants) != 0 || len(s.of) != 0 || !enter("demo", "ada") {
		t.Errorf("%d streams of %d people of %d tenants are left", s.all, len(s.of), len(s.tenants))
	}
}
