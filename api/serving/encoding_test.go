package serving

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzhttp"
)

// Given a header Accept-Encoding, then what can be compressed is sent so only to who wants that, and no less than what isn't encoded.
func TestWeightsOfEncodings(t *testing.T) {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("text ", 1000)
	handler := Compressed(compress, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	packed := &Packed{packed: []byte("packed"), Plain: []byte("plain")}
	for accept, want := range map[string]struct{ compressed, packed string }{
		"gzip": {"gzip", "gzip"}, "zstd, gzip": {"zstd", "gzip"}, "gzip;q=0.1": {"gzip", "gzip"}, "GZIP;Q=0.5": {"gzip", "gzip"},
		"identity;q=1, gzip;q=0.5": {}, "gzip;q=0.5, identity": {}, "identity;q=0.5, gzip;q=0.5": {"gzip", "gzip"},
		"identity;q=0.5, gzip;q=0.4, zstd": {"zstd", ""}, "gzip;q=0.5, *": {}, "gzip, *;q=0.5": {"gzip", "gzip"}, "gzip, *;q=0": {"gzip", "gzip"},
		"identity;q=0, gzip;q=0.1": {"gzip", "gzip"}, "gzip;q=0": {}, "gzip;q=0, *": {}, "gzip;q=many": {}, "br": {}, "": {}, "identity": {},
		"gzip;q=0.5\nidentity": {}, // in two lines
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Accept-Encoding"] = strings.Split(accept, "\n")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		header := w.Header()
		if got := header.Get("Content-Encoding"); got != want.compressed || got == "" && w.Body.String() != text ||
			header.Get("Vary") != "Accept-Encoding" || header.Get(gzhttp.HeaderNoCompression) != "" {
			t.Errorf("%q: compressed by %q, want %q, headers %v", accept, got, want.compressed, header)
		}
		header = http.Header{}
		body := packed.Body(strings.ReplaceAll(accept, "\n", ","), header)
		if got := header.Get("Content-Encoding"); got != want.packed || (string(body) == "packed") != (got == "gzip") {
			t.Errorf("%q: sent %s by %q, want %q", accept, body, got, want.packed)
		}
	}
}
