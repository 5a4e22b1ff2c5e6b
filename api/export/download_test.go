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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Tallyhouse-Records")
		for _, line := range []string{`{"id":"R1"}`, `{"end":true}`} {
			_, _ = io.WriteString(w, line+"\n")
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("Tallyhouse-Records", "1")
	}))
	t.Cleanup(server.Close)
	d := &export.Download{API: server.URL, Key: "key", Format: export.NDJSON, Patience: patience}

	records, err := d.To(t.Context(), slowWriter{})

	if err != nil || records != 1 {
		t.Errorf("%d records, %v; want 1", records, err)
	}
}

type slowWriter struct{}

func (slowWriter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		time.Sleep(2 * patience)
	}
	return len(b), nil
}
