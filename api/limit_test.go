package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api"
	"tallyhouse/api/ratelimit"
	"tallyhouse/api/ratelimit/redistest"
)

// fiveAnHour is a limit whose window no test is long enough for.
var fiveAnHour = ratelimit.Policy{Events: 5, Window: time.Hour}

// limited lets the requests of the world go to one more instance, which has the limit and was not asked before.
func (w *world) limited(change ...func(*api.Options)) {
	w.Helper()
	_, w.url = w.start(append([]func(*api.Options){func(o *api.Options) { o.RateLimit = fiveAnHour }}, change...)...)
}

// counter is the sum of a metric's counters.
func counter(t testing.TB, from prometheus.Gatherer, name string) (sum float64) {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

func TestEveryRequestOfAKeyCountsWhateverItsAnswer(t *testing.T) {
	// Given a limit of five requests, and two keys
	w := adminWorld(t)
	w.user("U-guest", guestKey, "guest")
	w.known(guestKey)
	registry := prometheus.NewRegistry()
	w.limited(func(o *api.Options) { o.Metrics = registry })
	// When one of them is answered five times
	tag := ""
	for used, step := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v0/projects/P1", 200},
		{"GET", "/v0/projects/P1", 304},
		{"GET", "/v0/none", 404},
		{"POST", "/v0/projects", 405},
		{"GET", "/v0/records?x=1", 400},
	} {
		var header http.Header
		if step.status == 304 {
			header = http.Header{"If-None-Match": {tag}}
		}
		r := w.do(step.method, adminKey, step.path, header)
		tag = r.header.Get("ETag")
		if r.status != step.status {
			t.Fatalf("%s %s: %d %s", step.method, step.path, r.status, r.body)
		}
		// Then each answer says what is left, in the IETF's form
		if policy := r.header.Get("RateLimit-Policy"); policy != `"default";q=5;w=3600` {
			t.Errorf("RateLimit-Policy %q", policy)
		}
		if left := r.header.Get("RateLimit"); left != fmt.Sprintf(`"default";r=%d;t=3600`, 4-used) &&
			!strings.HasPrefix(left, fmt.Sprintf(`"default";r=%d;t=35`, 4-used)) {
			t.Errorf("RateLimit %q after %d", left, used+1)
		}
	}
	// And the sixth is refused, before its path is looked at, with the seconds until the first one is an hour ago
	for _, path := range []string{"/v0/projects/P1", "/v0/none", "/v0/openapi.json"} {
		r := w.get(adminKey, path).want(t, 429, "too-many-requests")
		wait, err := strconv.Atoi(r.header.Get("Retry-After"))
		if err != nil || wait < 1 || wait > 3600 || r.header.Get("RateLimit") != fmt.Sprintf(`"default";r=0;t=%d`, wait) {
			t.Errorf("Retry-After %q, RateLimit %q", r.header.Get("Retry-After"), r.header.Get("RateLimit"))
		}
	}
	if n := counter(t, registry, "tallyhouse_api_requests_limited_total"); n != 3 {
		t.Errorf("%v refused requests are counted", n)
	}
	// And wrong or missing tokens count for nobody, the other key has its own five, and public pages have no limit.
	for range 6 {
		w.get("pk_test_guest_wrong", "/v0/projects").want(t, 401, "invalid-credentials")
		w.get("", "/v0/projects").want(t, 401, "authentication-required")
		w.get("", "/healthz").want(t, 200, "")
		w.get("", "/openapi.json").want(t, 200, "")
	}
	for range 5 {
		w.get(guestKey, "/v0/projects").want(t, 200, "")
	}
	w.get(guestKey, "/v0/projects").want(t, 429, "too-many-requests")
}

func TestManyRequestsAtOnceOfAKeyGetNoMoreThanItsLimit(t *testing.T) {
	// Given two instances that count together
	w := adminWorld(t)
	server := redistest.New(t)
	urls := make([]string, 2)
	for i := range urls {
		store, err := ratelimit.NewRedis(server.URL(), "test:", fiveAnHour, time.Minute)
		w.must(err)
		t.Cleanup(func() { _ = store.Close() })
		w.limited(func(o *api.Options) { o.RateStore = store })
		urls[i] = w.url
	}
	// When both are asked at once
	answers := make(chan response, 40)
	var asking sync.WaitGroup
	for i := range cap(answers) {
		asking.Go(func() {
			request, err := http.NewRequest(http.MethodGet, urls[i%2]+"/v0/projects", nil)
			w.must(err)
			request.Header.Set("Authorization", "Bearer "+adminKey)
			answers <- w.roundTrip(request)
		})
	}
	asking.Wait()
	close(answers)
	// Then they answer five of them together, and refuse the others
	count := map[int]int{}
	for r := range answers {
		count[r.status]++
	}
	if count[200] != 5 || count[429] != 35 {
		t.Errorf("answers by status: %v", count)
	}
}

func TestWithoutRedisRequestsPassUncounted(t *testing.T) {
	// Given an instance that counts in Redis, and a key that has used its limit
	w := adminWorld(t)
	server := redistest.New(t)
	store, err := ratelimit.NewRedis(server.URL(), "test:", fiveAnHour, time.Minute)
	w.must(err)
	t.Cleanup(func() { _ = store.Close() })
	registry := prometheus.NewRegistry()
	w.limited(func(o *api.Options) { o.RateStore, o.Metrics = store, registry })
	for range 5 {
		w.get(adminKey, "/v0/projects").want(t, 200, "")
	}
	w.get(adminKey, "/v0/projects").want(t, 429, "too-many-requests")
	// When Redis goes
	server.Kill()
	// Then requests pass, without a word about limits, counted, and the log says so once
	for range 8 {
		if r := w.get(adminKey, "/v0/projects").want(t, 200, ""); r.header.Get("RateLimit") != "" {
			t.Errorf("RateLimit %q", r.header.Get("RateLimit"))
		}
	}
	if n := counter(t, registry, "tallyhouse_api_rate_limit_uncounted_total"); n != 8 {
		t.Errorf("%v uncounted requests", n)
	}
	if n := strings.Count(w.log.String(), "the rate limit cannot be counted"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
	w.get("", "/readyz").want(t, 200, "")
	// And when it is back, they are counted again.
	server.Start()
	w.eventually(readyWithin, "requests are counted", func() bool { return w.get(adminKey, "/v0/projects").header.Get("RateLimit") != "" })
	w.eventually(readyWithin, "and refused", func() bool { return w.get(adminKey, "/v0/projects").status == 429 })
	if !strings.Contains(w.log.String(), "the rate limit is counted again") {
		t.Error("the log does not say so")
	}
}

func TestAnAddressMaySendSixtyWrongTokens(t *testing.T) {
	// Given an instance behind a proxy, with an hour instead of a minute: no test is as long
	w := adminWorld(t)
	server, url := w.start(func(o *api.Options) {
		o.RateLimit = ratelimit.Policy{Events: 1000, Window: time.Hour}
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	server.CountLoginsFor(time.Hour)
	w.url = url
	from := func(address, key string) response {
		return w.do(http.MethodGet, key, "/v0/projects", http.Header{"X-Forwarded-For": {address}})
	}
	// When an address sends sixty wrong tokens, however it dresses itself up
	for i := range 60 {
		from(fmt.Sprintf("10.9.9.%d, 192.0.2.1", i), "pk_test_admin_wrong"+strconv.Itoa(i)).want(t, 401, "invalid-credentials")
	}
	// Then further ones are refused
	r := from("192.0.2.1", "pk_test_admin_wrong").want(t, 429, "too-many-requests")
	if wait, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || wait < 1 || wait > 3600 {
		t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
	}
	// And valid ones pass, and other addresses may send wrong ones, too.
	from("192.0.2.1", adminKey).want(t, 200, "")
	from("192.0.2.1", "").want(t, 401, "authentication-required")
	from("192.0.2.2", "pk_test_admin_wrong").want(t, 401, "invalid-credentials")
}
