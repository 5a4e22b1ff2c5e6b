package api

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
)

// routes find the operation of a path. They only find it: what it answers, and what other methods get, is decided in
// one place for all.
type routes struct {
	mux        *chi.Mux
	operations map[string]*operation // by path
}

func newRoutes(operations []operation) *routes {
	r := &routes{mux: chi.NewMux(), operations: map[string]*operation{}}
	for i := range operations {
		o := &operations[i]
		r.operations[o.path] = o
		r.mux.Get(o.path, http.NotFound)
	}
	return r
}

// match finds the operation of a path as it came over the wire, and the values of its path parameters, decoded once: a
// slash in an id travels as %2F. Paths are compared exactly: another case, a slash more or less is another path.
func (r *routes) match(escapedPath string) (*operation, map[string]string, bool) {
	found := chi.NewRouteContext()
	o := r.operations[r.mux.Find(found, http.MethodGet, escapedPath)]
	if o == nil {
		return nil, nil, false
	}
	values := make(map[string]string)
	for i, name := range found.URLParams.Keys {
		value, err := url.PathUnescape(found.URLParams.Values[i])
		if err != nil || value == "" || !utf8.ValidString(value) {
			return nil, nil, false
		}
		values[name] = value
	}
	return o, values, true
}

// parameter is the name in a {name} of a path.
func parameter(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}
