package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"tallyhouse/api/problem"
)

// publicMethods are what the pages outside /v0 take.
var publicMethods = []string{http.MethodGet, http.MethodHead}

// serve finds out what a request is for.
func (s *Server) serve(ctx context.Context, r *http.Request, header http.Header, seen *observation) (reply, error) {
	path := r.URL.EscapedPath()
	inside, under := strings.CutPrefix(path, s.basePath)
	if under && (inside == "/v0" || strings.HasPrefix(inside, "/v0/")) {
		header.Set("Cache-Control", "private, no-cache")
		header.Add("Vary", "Authorization")
		return s.serveData(ctx, r, header, inside, seen)
	}
	// The public pages are found at the root too: a problem's type is a path from there.
	if under {
		if page, ok := s.publicPage(inside); ok {
			return s.servePublic(r, header, page)
		}
	}
	if page, ok := s.publicPage(path); ok {
		return s.servePublic(r, header, page)
	}
	return reply{}, &problem.Error{Kind: problem.NotFound, Detail: "There is no such page."}
}

func (s *Server) servePublic(r *http.Request, header http.Header,
	page func(r *http.Request, header http.Header) (reply, error)) (reply, error) {
	if !slices.Contains(publicMethods, r.Method) {
		return reply{}, &problem.Error{Kind: problem.MethodNotAllowed, Allow: publicMethods}
	}
	header.Set("Cache-Control", "no-cache")
	return page(r, header)
}

// publicPage finds a page that needs no token.
func (s *Server) publicPage(path string) (func(r *http.Request, header http.Header) (reply, error), bool) {
	switch path {
	case "/healthz":
		return s.health, true
	case "/readyz":
		return s.readiness, true
	case "/openapi.json":
		return s.publicDescription, true
	}
	if suffix, ok := strings.CutPrefix(path, "/problems/"); ok {
		if kind, ok := problem.Find(suffix); ok {
			return func(r *http.Request, header http.Header) (reply, error) {
				header.Add("Vary", "Accept")
				return explain(kind, r.Header.Get("Accept")), nil
			}, true
		}
	}
	return nil, false
}

func (s *Server) publicDescription(*http.Request, http.Header) (reply, error) {
	return reply{status: http.StatusOK, contentType: typeJSON, body: s.description, tagged: true}, nil
}

// health says that the process answers, whatever else is away.
func (s *Server) health(*http.Request, http.Header) (reply, error) {
	return reply{status: http.StatusOK, contentType: typeJSON, body: []byte(`{"status":"ok"}`)}, nil
}

// readiness reports whether requests can be answered. What is missing is in the log: this page is public.
func (s *Server) readiness(*http.Request, http.Header) (reply, error) {
	if err := s.Ready(); err != nil {
		s.log.Warn("not ready", "error", err)
		return reply{status: http.StatusServiceUnavailable, contentType: typeJSON,
			body: []byte(`{"status":"not ready"}`)}, nil
	}
	return reply{status: http.StatusOK, contentType: typeJSON, body: []byte(`{"status":"ready"}`)}, nil
}
