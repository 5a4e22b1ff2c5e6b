package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/api"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// BenchmarkQuietTenant reports how long a quiet tenant waits for a page, alone and beside a noisy one, whose many clients
// ask without a pause and without minding that they are refused. The API's connections are those of the binary.
func BenchmarkQuietTenant(b *testing.B) {
	const records, noisyClients, quietRequests = 200_000, 100, 500
	w := newWorld(b)
	db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{clickhousetest.Engine(b).Addr()},
		Auth: clickhouse.Auth{Database: w.database}, MaxOpenConns: 48, MaxIdleConns: 48})
	w.must(err)
	defer db.Close()
	w.server, w.url = w.start(func(o *api.Options) { o.ClickHouse, o.Control, o.Log = db, w.db, nil })
	w.server.HoldRefused(time.Second)
	quiet, noisy := w.otherTenant("quiet"), w.otherTenant("noisy")
	for _, tenant := range []string{"quiet", "noisy"} {
		w.must(w.db.Exec(context.Background(), fmt.Sprintf(`INSERT INTO records (tenant, project, id, row_version, status, currency, net)
SELECT '%s', 'P1', leftPad(toString(number), 8, '0'), 1, 'paid', 'EUR', number FROM numbers(%d)`, tenant, records)))
	}
	w.must(w.db.Exec(context.Background(), "OPTIMIZE TABLE records FINAL"))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: noisyClients, DisableCompression: true}}
	ask := func(ctx context.Context, key, asked string) int {
		method, path, message := http.MethodGet, asked, ""
		if strings.HasPrefix(asked, "{") {
			method, path, message = http.MethodPost, "/mcp", asked
		}
		request, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(message))
		w.must(err)
		request.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}}
		answer, err := client.Do(request)
		if err != nil {
			return 0
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		return answer.StatusCode
	}
	wait := func() (p50, p99 time.Duration) {
		took := make([]time.Duration, quietRequests)
		for i := range took {
			began := time.Now()
			if status := ask(context.Background(), quiet, "/v0/records?limit=50"); status != http.StatusOK {
				b.Fatalf("the quiet tenant got %d", status)
			}
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		return took[quietRequests/2], took[quietRequests*99/100]
	}
	const count, page, budget, export = "/v0/records?count=true&status=paid", "/v0/records?limit=200", "/v0/projects/P1/budget",
		"/export/v1/records.ndjson"
	const tool = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listRecords","arguments":{"count":true}}}`
	for _, noise := range []struct {
		name string
		asks []string
	}{
		{"counts, pages and budgets", []string{count, page, budget}},
		{"counts", []string{count}},
		{"exports", []string{export}},
		{"tools", []string{tool}},
		{"all of them", []string{count, page, budget, export, tool}},
	} {
		b.Run(noise.name, func(b *testing.B) {
			for b.Loop() {
				wait() // the first requests find cold caches
				median, alone := wait()
				ctx, stop := context.WithCancel(context.Background())
				var making sync.WaitGroup
				for i := range noisyClients {
					making.Go(func() {
						for ctx.Err() == nil {
							if status := ask(ctx, noisy, noise.asks[i%len(noise.asks)]); status >= 500 {
								b.Errorf("the noisy tenant got %d", status)
							}
						}
					})
				}
				medianBeside, beside := wait()
				stop()
				making.Wait()
				for name, value := range map[string]time.Duration{"alone-p50-ms": median, "alone-p99-ms": alone,
					"beside-p50-ms": medianBeside, "beside-p99-ms": beside} {
					b.ReportMetric(float64(value.Microseconds())/1000, name)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(medianBeside)/float64(median), "p50-ratio")
				b.ReportMetric(float64(beside)/float64(alone), "p99-ratio")
			}
		})
	}
}
