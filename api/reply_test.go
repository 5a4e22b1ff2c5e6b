package api

import (
	"net/http"
	"testing"
	"time"

	"tallyhouse/api/problem"
)

// Given a refusal whose wait is over by the time it is told, or not a whole second, when it is answered, then clients are told to
// wait a whole second at least.
func TestARefusalTellsToWaitASecondAtLeast(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{0: "1", time.Millisecond: "1", 1500 * time.Millisecond: "2"} {
		header := http.Header{}

		problemReply(&problem.Error{Kind: problem.TooManyRequests, RetryAfter: wait}, header, "")

		if got := header.Get("Retry-After"); got != want {
			t.Errorf("after %s: Retry-After: %s, want %s", wait, got, want)
		}
	}
}
