package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkQuietTenant reports how long a quiet tenant waits for a page, alone and beside a noisy one, whose many
// clients count, list and compute budgets without a pause.
func BenchmarkQuietTenant(b *testing.B) {
	const records, noisyClients, quietRequests = 200_000, 100, 500
	w := newWorld(b)
	quiet, noisy := w.otherTenant("quiet"), w.otherTenant("noisy")
	for _, tenant := range []string{"quiet", "noisy"} {
		w.must(w.db.Exec(context.Background(), fmt.Sprintf(`INSERT INTO records (tenant, project, id, row_version, status, currency, net)
SELECT '%s', 'P1', leftPad(toString(number), 8, '0'), 1, 'paid', 'EUR', number FROM numbers(%d)`, tenant, records)))
	}
	w.must(w.db.Exec(context.Background(), "OPTIMIZE TABLE records FINAL"))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: noisyClients, DisableCompression: true}}
	ask := func(ctx context.Context, key, path string) int {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
		w.must(err)
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := client.Do(request)
		if err != nil {
			return 0
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		return answer.StatusCode
	}
	wait := func() time.Duration {
		took := make([]time.Duration, quietRequests)
		for i := range took {
			began := time.Now()
			if status := ask(context.Background(), quiet, "/v0/records?limit=50"); status != http.StatusOK {
				b.Fatalf("the quiet tenant got %d", status)
			}
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		return took[quietRequests*99/100]
	}
	for b.Loop() {
		wait() // the first requests find cold caches
		alone := wait()
		ctx, stop := context.WithCancel(context.Background())
		var making sync.WaitGroup
		for i := range noisyClients {
			path := []string{"/v0/records?count=true&status=paid", "/v0/records?limit=200", "/v0/projects/P1/budget"}[i%3]
			making.Go(func() {
				for ctx.Err() == nil {
					if status := ask(ctx, noisy, path); status >= 500 {
						b.Errorf("the noisy tenant got %d", status)
					}
				}
			})
		}
		beside := wait()
		stop()
		making.Wait()
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(alone.Microseconds())/1000, "alone-p99-ms")
		b.ReportMetric(float64(beside.Microseconds())/1000, "beside-p99-ms")
		b.ReportMetric(float64(beside)/float64(alone), "ratio")
	}
}
