package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"tallyhouse/api/pages"
	"tallyhouse/api/problem"
)

// publicMethods are what the pages outside /v0 take.
var publicMethods = []string{http.MethodGet, http.MethodHead}

// serve finds out what a request is for.
func (s *Server) serve(ctx context.Context, r *http.Request, header http.Header, seen *observation) (reply, error) {
	header.Set("Cache-Control", "no-cache") // a cache must not repeat what answers another request, and has its id
	path := r.URL.EscapedPath()
	inside, under := strings.CutPrefix(path, s.basePath)
	if under && (inside == "/v0" || strings.HasPrefix(inside, "/v0/")) {
		header.Set("Cache-Control", "private, no-cache")
		header.Add("Vary", "Authorization")
		return s.serveData(ctx, r, header, inside, seen)
	}
	if under && inside == agentsPath {
		header.Set("Cache-Control", "private, no-store")
		header.Add("Vary", "Authorization")
		return s.serveAgents(ctx, r, header, seen)
	}
	if under && strings.HasPrefix(inside, "/export/") {
		header.Set("Cache-Control", "private, no-store")
		header.Add("Vary", "Authorization")
		return s.serveExport(ctx, r, header, inside, seen)
	}
	// The public pages are found at the root too: a problem's type is a path from there.
	if under && inside == "" {
		inside = "/"
	}
	if under {
		if page, ok := s.publicPage(inside); ok {
			return s.servePublic(r, header, page)
		}
	}
	if page, ok := s.publicPage(path); ok {
		return s.servePublic(r, header, page)
	}
	return reply{}, &problem.Error{Kind: problem.NotFound,
		Detail: "There is no such page; " + s.basePath + "/docs tells of those that there are."}
}

func (s *Server) servePublic(r *http.Request, header http.Header,
	page func(r *http.Request, header http.Header) (reply, error)) (reply, error) {
	if !slices.Contains(publicMethods, r.Method) {
		return reply{}, &problem.Error{Kind: problem.MethodNotAllowed, Allow: publicMethods}
	}
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
	case "/asyncapi.json":
		return s.publicEvents, true
	case "/changelog":
		return negotiated(pages.Changelog), true
	case "/problems":
		return negotiated(pages.Problems), true
	case "/":
		return s.begin, true
	}
	if suffix, ok := strings.CutPrefix(path, "/problems/"); ok {
		if kind, ok := problem.Find(suffix); ok {
			return negotiated(func(accept string) (pages.Page, error) { return pages.Problem(kind, accept) }), true
		}
	}
	if inside, ok := strings.CutPrefix(path, "/docs"); ok && pages.OfReference(inside) {
		return func(r *http.Request, header http.Header) (reply, error) {
			return pageReply(header)(s.reference.Page(inside, strings.Join(r.Header.Values("Accept-Encoding"), ",")))
		}, true
	}
	return nil, false
}

// begin leads who opens the API's address in a browser to the reference.
func (s *Server) begin(_ *http.Request, header http.Header) (reply, error) {
	header.Set("Location", s.basePath+"/docs")
	return reply{status: http.StatusFound}, nil
}

// negotiated is a page that comes in the form that the Accept header likes best.
func negotiated(page func(accept string) (pages.Page, error)) func(*http.Request, http.Header) (reply, error) {
	return func(r *http.Request, header http.Header) (reply, error) {
		header.Add("Vary", "Accept")
		return pageReply(header)(page(strings.Join(r.Header.Values("Accept"), ",")))
	}
}

// pageReply is a page as a reply, with its headers.
func pageReply(header http.Header) func(pages.Page, error) (reply, error) {
	return func(p pages.Page, err error) (reply, error) {
		for name, values := range p.Header {
			header[name] = append(header[name][:0:0], values...)
		}
		return reply{status: http.StatusOK, contentType: p.Header.Get("Content-Type"), body: p.Body, tagged: true}, err
	}
}

func (s *Server) publicDescription(*http.Request, http.Header) (reply, error) {
	return reply{status: http.StatusOK, contentType: typeJSON, body: s.description, tagged: true}, nil
}

// publicEvents is the AsyncAPI document: what applications send.
func (s *Server) publicEvents(*http.Request, http.Header) (reply, error) {
	return reply{status: http.StatusOK, contentType: typeJSON, body: s.events, tagged: true}, nil
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
