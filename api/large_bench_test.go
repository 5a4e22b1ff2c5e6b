package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tallyhouse/schemas/events"
)

// BenchmarkLargeRecords reports how much memory of this process, API and client, lists of 14 records with labels of 9 MB
// take at most, beyond what it had before.
func BenchmarkLargeRecords(b *testing.B) {
	const tenants = 4
	w := newWorld(b)
	keys := make([]string, tenants)
	for i := range keys {
		keys[i] = w.otherTenant(fmt.Sprint("tenant", i))
		w.must(w.db.Exec(context.Background(), fmt.Sprintf(`INSERT INTO records (tenant, project, id, row_version, workflow_step)
SELECT 'tenant%d', 'P1', toString(number), 1, repeat(repeat('x', 1000), 9000) FROM numbers(14) SETTINGS max_block_size = 1`, i)))
	}
	for name, by := range map[string][]string{
		"one request": keys[:1], "four requests of one key": {keys[0], keys[0], keys[0], keys[0]},
		"four requests of four tenants": keys,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				debug.FreeOSMemory()
				before := memory(b, "VmRSS")
				w.must(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // the peak begins anew
				var asking sync.WaitGroup
				for _, key := range by {
					asking.Go(func() { w.readAll(key, "/v0/records?limit=200") })
				}
				asking.Wait()
				b.ReportMetric(float64(memory(b, "VmHWM")-before), "peak-MB")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// otherTenant makes a tenant with a project P1, and returns a key of its admin.
func (w *world) otherTenant(name string) (key string) {
	w.Helper()
	key = "pk_test_" + name + "_secret"
	w.send(events.Users, name, "U", &events.User{Name: "U", Active: true})
	w.send(events.Memberships, name, "M", &events.Membership{UserID: "U", Scope: events.Scope{Tenant: true}, Role: "admin"})
	w.keyOf(name, "U", key, func(*events.Key) {})
	w.send(events.Projects, name, "P1", &events.Project{Name: "P1", Currency: "EUR"})
	w.seen(key, "P1")
	return key
}

// readAll walks a list, without keeping or checking more than its cursors. A request that is refused because too many
// wait is sent again.
func (w *world) readAll(key, path string) {
	for cursor := ""; ; {
		request, err := http.NewRequest(http.MethodGet, w.url+path+cursor, nil)
		w.must(err)
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := http.DefaultClient.Do(request)
		w.must(err)
		end := &tail{}
		_, err = io.Copy(end, answer.Body)
		w.must(err)
		answer.Body.Close()
		if answer.StatusCode == http.StatusTooManyRequests {
			continue
		}
		if answer.StatusCode != http.StatusOK {
			w.Fatalf("%s: %s\n%s", answer.Status, end.kept, w.log.tail())
		}
		_, next, _ := strings.Cut(string(end.kept), `"nextCursor":"`)
		next, _, more := strings.Cut(next, `"`)
		if !more {
			return
		}
		cursor = "&cursor=" + next
	}
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-1000):]...)
	t.kept = append([]byte(nil), t.kept[max(0, len(t.kept)-1000):]...)
	return len(p), nil
}

// memory is a figure of this process, in MB.
func memory(t testing.TB, name string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), name+":")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes / 1000
}
