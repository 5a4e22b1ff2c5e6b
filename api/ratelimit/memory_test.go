package ratelimit_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/api/ratelimit"
)

// clock is a clock that a test sets.
type clock struct{ now atomic.Int64 }

func (c *clock) time() time.Time      { return time.Unix(1_800_000_000, c.now.Load()) }
func (c *clock) pass(d time.Duration) { c.now.Add(int64(d)) }

var perMinute = ratelimit.Policy{Events: 300, Window: time.Minute}

func take(t interface{ Fatal(...any) }, m *ratelimit.Memory, key string) ratelimit.Decision {
	d, err := m.Take(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNoWindowHoldsMoreThanThePolicyAllows(t *testing.T) {
	// Given events of some keys at random instants, with bursts, pauses, and instants at the very edge of the window
	rapid.Check(t, func(t *rapid.T) {
		policy := ratelimit.Policy{Events: rapid.IntRange(1, 6).Draw(t, "events"), Window: time.Second}
		now := &clock{}
		m := ratelimit.NewMemory(policy, 100, now.time)
		accepted := map[string][]time.Time{}
		within := func(key string) (count int, oldest time.Time) {
			for _, at := range slices.Backward(accepted[key]) {
				if now.time().Sub(at) >= policy.Window {
					break
				}
				count, oldest = count+1, at
			}
			return count, oldest
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now.pass(rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 100 * time.Millisecond, policy.Window - 1, policy.Window,
				policy.Window + 1}).Draw(t, "pause"))
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
			// When one is asked for
			before, _ := within(key)
			d := take(t, m, key)
			// Then it is accepted if and only if fewer than the most are in the window that ends now
			if d.Accepted != (before < policy.Events) {
				t.Fatalf("accepted %v with %d of %d in the window", d.Accepted, before, policy.Events)
			}
			if d.Accepted {
				accepted[key] = append(accepted[key], now.time())
			}
			after, oldest := within(key)
			// And the decision says what is left, and when the next one goes
			if d.Remaining != policy.Events-after || d.Next != oldest.Add(policy.Window).Sub(now.time()) {
				t.Fatalf("%+v with %d in the window, the oldest %s ago", d, after, now.time().Sub(oldest))
			}
		}
	})
}

func TestAskingInVainMakesNobodyWaitLonger(t *testing.T) {
	// Given a key that used all it has, evenly over 30 s
	now := &clock{}
	m := ratelimit.NewMemory(perMinute, 10, now.time)
	for range perMinute.Events {
		take(t, m, "key")
		now.pass(100 * time.Millisecond)
	}
	// When it asks again and again for the rest of the minute
	for range 300 {
		if d := take(t, m, "key"); d.Accepted {
			t.Fatalf("accepted after %s", now.time())
		}
		now.pass(100 * time.Millisecond)
	}
	// Then the minute after the first event is over as if it hadn't, and one goes for each that leaves
	for range 3 {
		if d := take(t, m, "key"); !d.Accepted || d.Remaining != 0 {
			t.Fatalf("%+v", d)
		}
		if d := take(t, m, "key"); d.Accepted || d.Next != 100*time.Millisecond {
			t.Fatalf("%+v", d)
		}
		now.pass(100 * time.Millisecond)
	}
}

func TestManyAtOnceGetNoMoreThanThePolicyAllows(t *testing.T) {
	// Given more goroutines than may pass, for two keys
	now := &clock{}
	m := ratelimit.NewMemory(perMinute, 10, now.time)
	var passed [2]atomic.Int64
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			if take(t, m, fmt.Sprint(i%2)).Accepted {
				passed[i%2].Add(1)
			}
		})
	}
	all.Wait()
	// Then of each key exactly as many pass
	for key := range passed {
		if n := passed[key].Load(); n != int64(perMinute.Events) {
			t.Errorf("key %d: %d passed", key, n)
		}
	}
}

func TestMemoryIsBoundedOverManyKeys(t *testing.T) {
	// Given room for 1,000 keys, and one that has used up what it may
	now := &clock{}
	m := ratelimit.NewMemory(ratelimit.Policy{Events: 2, Window: time.Minute}, 1000, now.time)
	use := func(key string) ratelimit.Decision { now.pass(time.Millisecond); return take(t, m, key) }
	use("busy")
	use("busy")
	// When 999 others come
	for i := range 999 {
		use(fmt.Sprint("other", i))
	}
	// Then it still is refused
	if use("busy").Accepted || m.Keys() != 1000 {
		t.Fatalf("%d keys", m.Keys())
	}
	// And with one more, the key that has been quiet for longest is forgotten, no other
	use("one more")
	if m.Keys() != 1000 || use("other1").Remaining != 0 {
		t.Errorf("%d keys", m.Keys())
	}
	if d := use("busy"); !d.Accepted {
		t.Errorf("%+v: it should have been forgotten", d)
	}
	// And when a minute has passed, one question is enough to forget all.
	now.pass(time.Minute)
	use("first of another minute")
	if m.Keys() != 1 {
		t.Errorf("%d keys a minute later", m.Keys())
	}
}

func TestAKeyTakesAsMuchMemoryAsItUses(t *testing.T) {
	// Given 10,000 keys with an event each, and one that used all it may
	now := &clock{}
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := heap()
	m := ratelimit.NewMemory(perMinute, 20_000, now.time)
	for i := range 10_000 {
		take(t, m, fmt.Sprint("key", i))
	}
	for range 1000 {
		take(t, m, "busy")
	}
	// Then they take less than 400 bytes each: room for 300 events each would be 2,400
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("%d bytes", grown)
	}
	runtime.KeepAlive(m)
}
