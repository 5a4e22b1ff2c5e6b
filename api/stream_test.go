package api

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"tallyhouse/api/problem"
)

func TestExportsAreBoundedInAll(t *testing.T) {
	// Given as many exports as may run, each of another tenant
	s := &slots{}
	var leave []func()
	for i := range maxExports {
		place, err := s.enter(fmt.Sprint("tenant", i), "key")
		if err != nil {
			t.Fatalf("export %d: %v", i, err)
		}
		leave = append(leave, place.leave)
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

// Given exports in all places, of clients that take more and less, when somebody else asks for a place, then the slowest is ended if it
// was waited for long enough and takes next to nothing, and never one of who asks.
func TestWhoTakesNextToNothingKeepsNobodyWaiting(t *testing.T) {
	type client struct {
		tenant, key string
		waited      time.Duration
		pace        int64 // bytes a second
	}
	const long = 2 * exportPatience
	steady := client{"b", "key", long, 2 * exportPace}
	for name, c := range map[string]struct {
		running     []client
		tenant, key string
		ended       int // of the running ones; -1 none
	}{
		"the slowest of others": {[]client{steady, {"c", "1", long, 1000}, {"c", "2", long, 10}, {"d", "1", long, 100}}, "a", "key", 2},
		"nobody is slow":        {[]client{steady, steady, {"c", "1", long, exportPace}, {"d", "1", long, exportPace}}, "a", "key", -1},
		"nobody was slow for long": {[]client{steady, {"c", "1", exportPatience / 2, 10}, {"c", "2", time.Second, 0},
			{"d", "1", 0, 0}}, "a", "key", -1},
		"one's own tenant's": {[]client{{"c", "1", long, 10}, {"a", "1", long, 20}, {"a", "2", long, 40}, {"a", "3", long, 30}}, "a", "4", 1},
		"one's own":          {[]client{{"c", "1", long, 10}, {"a", "1", long, 20}, {"a", "1", long, 30}}, "a", "1", -1},
		"there is a place":   {[]client{{"c", "1", long, 10}, {"c", "2", long, 10}}, "a", "1", -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &slots{}
			var places []*place
			for _, r := range c.running {
				p, err := s.enter(r.tenant, r.key)
				if err != nil {
					t.Fatal(err)
				}
				p.waited, p.taken = r.waited, r.pace*int64(r.waited/time.Second)
				places = append(places, p)
			}
			_, _ = s.enter(c.tenant, c.key)
			for i, p := range places {
				if p.ended != (i == c.ended) {
					t.Errorf("number %d: ended %t", i, p.ended)
				}
			}
		})
	}
}

// Given an export that waits for its client, who was waited for long enough already, when somebody else finds no place, then it ends at
// once, and there is a place.
func TestAnExportThatWaitsForItsClientEndsForOthers(t *testing.T) {
	s := &slots{}
	for i := range maxExports - 1 {
		if _, err := s.enter(fmt.Sprint("tenant", i), "key"); err != nil {
			t.Fatal(err)
		}
	}
	slow, err := s.enter("slow", "key")
	if err != nil {
		t.Fatal(err)
	}
	slow.waited = exportPatience
	failed := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer slow.leave()
		to, part := slow.writer(w), make([]byte, exportBuffer)
		for {
			if _, err := to.Write(part); err != nil {
				failed <- err
				return
			}
		}
	}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	began := time.Now()
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		if time.Since(began) > exportStallTime {
			t.Fatal("the export never waits for its client")
		}
		slow.mu.Lock()
		waits = !slow.writing.IsZero() && time.Since(slow.writing) > 50*time.Millisecond
		slow.taken = 0 // what lies in buffers on the way
		slow.mu.Unlock()
	}

	if _, err := s.enter("another", "key"); err == nil {
		t.Error("there was a place")
	}
	select {
	case err := <-failed:
		if !errors.Is(err, errTooSlow) {
			t.Errorf("got %v", err)
		}
	case <-time.After(exportStallTime / 2):
		t.Fatal("the export goes on")
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := s.enter("another", "key"); err == nil {
			break
		} else if time.Since(begun) > exportRetry {
			t.Fatal(err)
		}
	}
}

// Given an export that was broken off because its client took too little, or nothing, then the log says so under its request.
func TestTheLogSaysWhyAnExportWasBrokenOff(t *testing.T) {
	for _, why := range []error{errTooSlow, os.ErrDeadlineExceeded} {
		var log bytes.Buffer
		s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
		r := httptest.NewRequest(http.MethodGet, "/export/v1/records.csv", nil)
		s.logRequest(r, &observation{requestID: "R1"}, statusClientGone, 0, 0, fmt.Errorf("an export was broken off: %w", why))
		if !strings.Contains(log.String(), "request=R1") || !strings.Contains(log.String(), why.Error()) {
			t.Errorf("%v: the log says %s", why, &log)
		}
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
