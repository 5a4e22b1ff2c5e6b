package ratelimit_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sethvargo/go-retry"

	"tallyhouse/api/ratelimit"
	"tallyhouse/api/ratelimit/redistest"
)

// hourly has a window that no test is long enough for: what happens in it doesn't hang on how fast the machine is.
var hourly = ratelimit.Policy{Events: 5, Window: time.Hour}

const patience = time.Minute // a bound for a hung test, not an assertion

// open makes a store that waits for its answers: what was not answered may have been counted.
func open(t *testing.T, server *redistest.Server) *ratelimit.Redis {
	return openFor(t, server, patience)
}

func openFor(t *testing.T, server *redistest.Server, timeout time.Duration) *ratelimit.Redis {
	t.Helper()
	r, err := ratelimit.NewRedis(server.URL(), "limit:", hourly, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func ask(t *testing.T, r *ratelimit.Redis, key string) ratelimit.Decision {
	t.Helper()
	d, err := r.Take(t.Context(), key)
	if err != nil {
		t.Error(err)
	}
	return d
}

// putLog puts instants of the server's clock, so long ago, where the store keeps them.
func putLog(t *testing.T, server *redistest.Server, key string, ago ...time.Duration) {
	t.Helper()
	client := server.Client()
	now, err := client.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ago {
		if err := client.RPush(t.Context(), "limit:"+key, now.Add(-d).UnixMicro()).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInstancesShareOneWindow(t *testing.T) {
	// Given three instances on one server
	server := redistest.New(t)
	instances := []*ratelimit.Redis{open(t, server), open(t, server), open(t, server)}
	// When all are asked at the same time, far more often than they may accept
	var accepted, remaining atomic.Int64
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			if d := ask(t, instances[i%3], "key"); d.Accepted {
				accepted.Add(1)
				remaining.Add(int64(d.Remaining))
			} else if d.Next <= 0 || d.Next > hourly.Window {
				t.Errorf("refused for %s", d.Next)
			}
		})
	}
	all.Wait()
	// Then together they accept exactly as many as the policy says, and each of those saw another number remain
	if accepted.Load() != 5 || remaining.Load() != 4+3+2+1+0 {
		t.Errorf("%d accepted", accepted.Load())
	}
	// And another key has a window of its own.
	if d := ask(t, instances[0], "other"); !d.Accepted || d.Remaining != 4 {
		t.Errorf("%+v", d)
	}
}

func TestEventsLeaveTheWindowOneByOne(t *testing.T) {
	server := redistest.New(t)
	r := open(t, server)
	minutes := func(n ...int) (all []time.Duration) {
		for _, m := range n {
			all = append(all, time.Duration(m)*time.Minute)
		}
		return all
	}
	for name, c := range map[string]struct {
		ago       []time.Duration
		accepted  bool
		remaining int
		next      time.Duration // at most; and at least ten minutes less
	}{
		"nothing yet":                          {nil, true, 4, 60 * time.Minute},
		"room for one":                         {minutes(40, 30, 20, 10), true, 0, 20 * time.Minute},
		"all of it used":                       {minutes(50, 40, 30, 20, 10), false, 0, 10 * time.Minute},
		"two have left":                        {minutes(80, 61, 30, 20, 10), true, 1, 30 * time.Minute},
		"all have left":                        {minutes(90, 90, 90, 61, 61), true, 4, 60 * time.Minute},
		"the limit was higher before":          {minutes(59, 58, 57, 20, 10, 5, 4, 3), false, 0, 40 * time.Minute},
		"the clock was set back by 30 minutes": {minutes(20, 10, 0, -10, -30), false, 0, 10 * time.Minute},
		"and by more than the window":          {minutes(-10, -90), true, 3, 60 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			// Given events so long ago
			putLog(t, server, name, c.ago...)
			// When one more is asked for
			d := ask(t, r, name)
			// Then
			if d.Accepted != c.accepted || d.Remaining != c.remaining || d.Next > c.next || d.Next < c.next-10*time.Minute {
				t.Errorf("%+v, want %+v", d, c)
			}
		})
	}
}

func TestNothingStaysInRedisForLongerThanTheWindow(t *testing.T) {
	// Given a key that was used, also in vain
	server := redistest.New(t)
	r := open(t, server)
	for range 8 {
		ask(t, r, "key")
	}
	// Then the server will forget it by itself, and holds no more instants than the policy has events
	client := server.Client()
	left, err := client.PTTL(t.Context(), "limit:key").Result()
	if err != nil || left <= 0 || left > hourly.Window {
		t.Errorf("it stays for %s, %v", left, err)
	}
	if n, err := client.LLen(t.Context(), "limit:key").Result(); err != nil || n != 5 {
		t.Errorf("%d instants, %v", n, err)
	}
}

func TestAServerThatIsAwayIsAskedAgainSoon(t *testing.T) {
	for name, fault := range map[string]struct{ begin, end func(*redistest.Server) }{
		"killed":  {(*redistest.Server).Kill, (*redistest.Server).Start},
		"hanging": {(*redistest.Server).Freeze, (*redistest.Server).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Given a store that doesn't wait for long
			server := redistest.New(t)
			r := openFor(t, server, 100*time.Millisecond)
			// When its server goes
			fault.begin(server)
			// Then it says so
			if _, err := r.Take(t.Context(), "key"); !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Fatalf("got %v", err)
			}
			// And works again by itself when the server is back.
			fault.end(server)
			err := retry.Do(t.Context(), retry.WithMaxDuration(patience, retry.NewConstant(20*time.Millisecond)), func(ctx context.Context) error {
				_, err := r.Take(ctx, "key")
				return retry.RetryableError(err)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAWrongURLIsToldWithoutItsPassword(t *testing.T) {
	for _, url := range []string{"", "redis:6379", "http://user:s3cret@host", "redis://user:s3cret@host:6379/x",
		"redis://user:s3cret@host/%zz"} {
		r, err := ratelimit.NewRedis(url, "", hourly, patience)
		if err == nil {
			_ = r.Close()
			t.Errorf("%s is taken", url)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
