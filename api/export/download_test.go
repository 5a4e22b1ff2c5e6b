package export_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tallyhouse/api/export"
)

const patience = 200 * time.Millisecond

// Given an API that takes requests and never answers, when it is asked for the number of records or for an export, then both end.
func TestADownloadDoesNotWaitForAnAPIThatIsSilent(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	d := &export.Download{API: server.URL, Key: "key", Format: export.NDJSON, Patience: patience}

	ended := make(chan string, 2)
	go func() {
		total, ok := d.Total(t.Context())
		ended <- fmt.Sprint("total ", total, " ", ok)
		_, err := d.To(t.Context(), io.Discard)
		ended <- fmt.Sprint("export ", err)
	}()

	for _, want := range []string{"total 0 false", "nothing came for 200ms"} {
		select {
		case got := <-ended:
			if !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		case <-time.After(100 * patience):
			t.Fatalf("it still waits, want %q", want)
		}
	}
}

// Given an export whose taker is slower than the API may be, when it is downloaded, then it is whole: the API didn't keep anybody
// waiting.
func TestADownloadWaitsForWhoTakesIt(t *testing.T) {
	t.Parallel()
	taker := slowWriter{took: make(chan struct{}, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Tallyhouse-Records")
		_, _ = io.WriteString(w, `{"id":"R1"}`+"\n")
		_ = http.NewResponseController(w).Flush()
		select { // the rest comes once the beginning was taken, so that a download that is broken off meanwhile is never whole
		case <-taker.took:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, `{"end":true}`+"\n")
		w.Header().Set("Tallyhouse-Records", "1")
	}))
	t.Cleanup(server.Close)
	d := &export.Download{API: server.URL, Key: "key", Format: export.NDJSON, Patience: patience}

	records, err := d.To(t.Context(), taker)

	if err != nil || records != 1 {
		t.Errorf("%d records, %v; want 1", records, err)
	}
}

// slowWriter takes longer than the API may, and tells when it has taken something.
type slowWriter struct{ took chan struct{} }

func (w slowWriter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		time.Sleep(2 * patience)
		select {
		case w.took <- struct{}{}:
		default:
		}
	}
	return len(b), nil
}
