package api

import (
	"net/http"
	"slices"
)

// cors lets pages of the given origins call the API from a browser. Preflights are answered before authentication:
// browsers send no token with them. Without origins it does nothing.
func (s *Server) cors(next http.Handler) http.Handler {
	if len(s.origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin == "" || !s.allowed(origin) {
			next.ServeHTTP(w, r)
			return
		}
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Expose-Headers", "x-request-id, Link, ETag, Retry-After, RateLimit, RateLimit-Policy")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			s.introduce(header)
			header.Set("Access-Control-Allow-Methods", "GET, POST")
			header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-None-Match, X-Request-Id, "+
				"Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
			header.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowed reports whether pages of the origin may call the API.
func (s *Server) allowed(origin string) bool {
	return slices.Contains(s.origins, origin) || slices.Contains(s.origins, "*")
}
