package desk

import "testing"

// Streams are bounded for each person and for all; whoever leaves makes room.
func TestStreamsAreBounded(t *testing.T) {
	var s streams
	var leaving []func()
	enter := func(who string) bool {
		leave, ok := s.enter(who)
		if ok {
			leaving = append(leaving, leave)
		}
		return ok
	}
	for i := range maxStreamsOfOne + 1 {
		if ok := enter("demo/ada"); ok != (i < maxStreamsOfOne) {
			t.Errorf("stream %d of a person enters: %t", i, ok)
		}
	}
	n := maxStreamsOfOne
	for ; n < maxStreams; n++ {
		if !enter("demo/" + string(rune('0'+n))) {
			t.Fatalf("stream %d is refused", n)
		}
	}
	if enter("demo/late") {
		t.Error("one too many enters")
	}
	for _, leave := range leaving {
		leave()
	}
	if s.all != 0 || len(s.of) != 0 || !enter("demo/ada") {
		t.Errorf("%d streams of %d people are left", s.all, len(s.of))
	}
}
