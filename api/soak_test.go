package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tallyhouse/api"
)

// soaked is for how long make test lets the clients go on; TALLYHOUSE_SOAK says otherwise.
const soaked = 3 * time.Second

// soak is a number of clients of all kinds, who go on until their time is over.
type soak struct {
	*world
	s       *served
	until   context.Context
	answers [6]atomic.Int64 // by the first digit of their status
	clients sync.WaitGroup
}

// client does something again and again.
func (k *soak) client(do func(i int)) {
	k.clients.Go(func() {
		for i := 0; k.until.Err() == nil; i++ {
			do(i)
		}
	})
}

// ask sends a request and takes so many bytes of its answer, all where they are negative. A client may leave before it is
// answered.
func (k *soak) ask(ctx context.Context, method, key, path, body string, take int64) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+k.s.addr+path, strings.NewReader(body))
	if err != nil {
		k.Error(err)
		return
	}
	request.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() == nil {
			k.Errorf("%s: %v", path, err)
		}
		return
	}
	defer answer.Body.Close()
	k.answers[answer.StatusCode/100].Add(1)
	if answer.StatusCode >= 500 {
		k.Errorf("%s: %s", path, answer.Status)
	}
	if take >= 0 {
		_, err = io.CopyN(io.Discard, answer.Body, take)
	} else {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	switch {
	case err != nil && ctx.Err() == nil && take < 0:
		k.Errorf("%s broke off: %v", path, err)
	case err == nil && take < 0 && answer.StatusCode == 200 && strings.HasPrefix(path, "/export/") && len(answer.Trailer) > 0 &&
		answer.Trailer.Get("Tallyhouse-Records") == "":
		k.Errorf("%s came to its end, and does not say so", path)
	case answer.StatusCode == http.StatusTooManyRequests:
		select { // as it is told
		case <-time.After(100 * time.Millisecond):
		case <-k.until.Done():
		}
	}
}

// Mixed clients go on for a while: in the end nothing of them is left, nothing was a fault, and memory was bounded.
func TestMixedClientsForAWhile(t *testing.T) {
	// Given records that change, and clients who walk, ask, export, leave, read slowly, have wrong keys, and are agents
	lasts := soaked
	if text := os.Getenv("TALLYHOUSE_SOAK"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	w := large(t)
	quietKey := w.otherTenant("quiet")
	for i := range 300 {
		w.records(record{id: fmt.Sprint("S", i), project: "P1", nodes: []string{"none"}, nets: []int64{int64(i)}})
	}
	s := w.serve(func(*api.Server) {}, func(o *api.Options) { o.QueryTimeout = 5 * time.Minute }) // however slow the machine is
	w.get(adminKey, "/v0/projects").want(t, 200, "")
	http.DefaultClient.CloseIdleConnections()
	before := goleak.IgnoreCurrent()
	debug.FreeOSMemory()
	memoryBefore := memory(t, "VmRSS")
	w.must(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // the peak begins anew
	ctx, stop := context.WithTimeout(context.Background(), lasts)
	defer stop()
	k := &soak{world: w, s: s, until: ctx}
	always := context.Background()
	for range 2 {
		k.client(func(i int) {
			k.ask(always, "GET", adminKey, []string{"/v0/records?limit=100&count=true&fields=net", "/v0/records/S1",
				"/v0/records?status=paid&limit=200&fields=id"}[i%3], "", -1)
		})
		k.client(func(i int) {
			k.ask(always, "GET", quietKey, []string{"/v0/projects/P1/budget", "/v0/projects", "/v0/contracts"}[i%3], "", -1)
		})
		k.client(func(i int) {
			k.ask(always, "GET", adminKey, []string{"/export/v1/records.ndjson?fields=net", "/export/v1/records.parquet?fields=net,status",
				"/export/v1/records.csv?fields=net&dialect=excel-de"}[i%3], "", -1)
		})
		k.client(func(i int) { // leaves, before and after it is answered
			left, leave := context.WithTimeout(always, time.Duration(i%50)*time.Millisecond)
			defer leave()
			k.ask(left, "GET", adminKey, []string{largePage, "/export/v1/records.ndjson", "/v0/projects/P1/budget"}[i%3], "", -1)
		})
		k.client(func(i int) { // reads a little, and then nothing
			slow, leave := context.WithTimeout(always, time.Second)
			defer leave()
			k.ask(slow, "GET", adminKey, largePage, "", 1000)
			select {
			case <-slow.Done():
			case <-k.until.Done():
			}
		})
		k.client(func(i int) {
			k.ask(always, "GET", fmt.Sprintf("pk_test_wrong%d_x", i%7), "/v0/records", "", -1)
		})
		k.client(func(i int) {
			k.ask(always, "POST", quietKey, "/mcp", []string{recordMessage, pingMessage, "[]"}[i%3], -1)
		})
	}
	k.client(func(i int) {
		w.records(record{id: fmt.Sprint("S", i%300), project: "P1", nodes: []string{"none"}, nets: []int64{int64(i)}})
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	})
	// When their time is over
	k.clients.Wait()
	// Then each kind of answer was there but faults, and nothing is left
	w.eventually(time.Minute, "nothing is worked on", func() bool {
		requests, bytes := s.server.Working()
		return requests == 0 && bytes == 0
	})
	w.must(await(time.Minute, func() error {
		http.DefaultClient.CloseIdleConnections()
		// The embedded broker, and the clients that follow access, have a connection anew now and again.
		const broker, client = "github.com/twmb/franz-go/pkg/kfake.(*clientConn).", "github.com/twmb/franz-go/pkg/kgo.(*brokerCxn)."
		return goleak.Find(before, goleak.IgnoreAnyFunction(broker+"read"), goleak.IgnoreAnyFunction(broker+"write"),
			goleak.IgnoreAnyFunction(broker+"read.func1"), goleak.IgnoreAnyFunction(client+"handleResps"))
	}))
	took := memory(t, "VmHWM") - memoryBefore
	t.Logf("%s: %d answers, %d refused, %d faults, at most %d MB", lasts, k.answers[2].Load(), k.answers[4].Load(), k.answers[5].Load(), took)
	if k.answers[2].Load() == 0 || k.answers[4].Load() == 0 || k.answers[5].Load() > 0 || strings.Contains(w.log.String(), "status=5") {
		t.Errorf("the log has faults: %s", w.log.tail())
	}
	if took > 800 {
		t.Errorf("they took %d MB", took)
	}
}
