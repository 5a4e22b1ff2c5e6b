package serving

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// Compressed lets answers be compressed, by what gzhttp has made, for those who don't weigh what isn't encoded above gzip and zstd: gzhttp
// itself knows no such weight.
func Compressed(compress func(http.Handler) http.HandlerFunc, next http.Handler) http.Handler {
	compressed := compress(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !wanted(strings.Join(r.Header.Values("Accept-Encoding"), ","), "gzip", "zstd") {
			w.Header().Set(gzhttp.HeaderNoCompression, "1")
		}
		compressed.ServeHTTP(w, r)
	})
}

// wanted reports whether an Accept-Encoding header names one of the encodings, and weighs what isn't encoded no higher, by its name or by *
// (RFC 9110, 12.5.3).
func wanted(acceptEncoding string, encodings ...string) bool {
	best := 0.0
	for _, encoding := range encodings {
		q, _ := weight(acceptEncoding, encoding)
		best = max(best, q)
	}
	plain, named := weight(acceptEncoding, "identity")
	if !named {
		plain, _ = weight(acceptEncoding, "*")
	}
	return best > 0 && best >= plain
}

// weight is that of a name in the header; 0 where it isn't there, and where its weight is none.
func weight(acceptEncoding, name string) (q float64, named bool) {
	for item := range strings.SplitSeq(acceptEncoding, ",") {
		encoding, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(encoding), name) {
			continue
		}
		value, weighed := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q=")
		if !weighed {
			return 1, true
		}
		q, _ = strconv.ParseFloat(value, 64)
		return q, true
	}
	return 0, false
}
