package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"tallyhouse/api/agents"
	"tallyhouse/api/problem"
	"tallyhouse/api/resource"
	"tallyhouse/api/serving"
	"tallyhouse/reader"
)

// observation is what the log and the metrics say of a request.
type observation struct {
	requestID string
	operation string // "" when it was none
	principal string // tenant and key or user; "" before authentication
}

// statusClientGone stands in the log and the metrics for requests whose clients left before they were answered.
const statusClientGone = 499

// maxClientID bounds the id of a client that is written to the log.
const maxClientID = 100

// clientID is the id that a client gave its request, if it is sane.
func clientID(r *http.Request) string {
	id := r.Header.Get(serving.RequestID)
	if len(id) > maxClientID || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return ""
	}
	return id
}

// introduce sets the headers that every response has, and returns the id that it gave the request.
func (s *Server) introduce(header http.Header) (requestID string) {
	requestID = serving.NewRequestID()
	header.Set(serving.RequestID, requestID)
	header.Set("Link", "<"+s.basePath+`/v0/feedback>; rel="feedback"`)
	header.Set("X-Content-Type-Options", "nosniff")
	return requestID
}

// ServeHTTP gives every request an id and the headers that every response has, answers it, and logs what happened.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	header := w.Header()
	seen := &observation{requestID: s.introduce(header)}

	out, err := s.answer(r, header, seen)
	if err != nil {
		refused := problemOf(err)
		// What an agent's message asks for is held back with the message when that was refused itself.
		if m := agents.From(r.Context()); refused.Kind == problem.TooManyRequests && (m == nil || m.Refused == nil) {
			s.refusals.hold(r.Context())
		}
		out = problemReply(refused, header, seen.requestID)
	}
	if out.stream != nil {
		s.serveStream(w, r, out.stream, seen, began)
		return
	}
	s.reportBeyond(seen, out.beyond)
	status, size := s.respond(w, r, out)
	if err != nil && r.Context().Err() != nil {
		status = statusClientGone
	}
	took := time.Since(began)
	s.metrics.observe(seen.operation, status, took)
	s.logRequest(r, seen, status, size, took, err)
}

// reportBeyond logs and counts figures that could not be shown.
func (s *Server) reportBeyond(seen *observation, beyond resource.Beyond) {
	if beyond.Count == 0 {
		return
	}
	s.metrics.beyondRange(seen.operation, beyond.Count)
	s.log.Warn("figures beyond the range of amounts are null or left out", "request", seen.requestID, "operation", seen.operation,
		"figures", beyond.Count, "first", beyond.Member, "value", beyond.Value)
}

// answer calls the handler and turns a panic into an error.
func (s *Server) answer(r *http.Request, header http.Header, seen *observation) (out reply, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = s.panicked(seen, value)
		}
	}()
	out, err = s.serve(r.Context(), r, header, seen)
	if _, ok := errors.AsType[*reader.PanicError](err); ok {
		s.guard.Count()
	}
	return out, err
}

// panicked logs and counts a panic and makes an error of it.
func (s *Server) panicked(seen *observation, value any) error {
	s.guard.Report(seen.requestID, value)
	return &panicked{value}
}

// logRequest writes one line a request. Neither the query nor any header but the client's id goes into it, and what looks
// like a key or token is cut out of the rest: all of them may hold secrets by mistake.
func (s *Server) logRequest(r *http.Request, seen *observation, status, size int, took time.Duration, err error) {
	level, attributes := slog.LevelInfo, []slog.Attr{
		slog.String("request", seen.requestID), slog.String("method", forLog(r.Method)), slog.String("path", forLog(r.URL.Path)),
		slog.Int("status", status), slog.Int("bytes", size), slog.Duration("took", took), slog.String("from", s.from(r)),
	}
	if seen.operation != "" {
		attributes = append(attributes, slog.String("operation", seen.operation))
	}
	if seen.principal != "" {
		attributes = append(attributes, slog.String("principal", seen.principal))
	}
	if id := clientID(r); id != "" {
		attributes = append(attributes, slog.String("clientRequest", forLog(id)))
	}
	var p *problem.Error
	switch {
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
		attributes = append(attributes, slog.String("error", serving.WithoutSecrets(fmt.Sprint(err))))
	case errors.Is(err, errTooSlow), errors.Is(err, os.ErrDeadlineExceeded): // an export that was broken off for its client's sake
		attributes = append(attributes, slog.String("error", serving.WithoutSecrets(err.Error())))
	case errors.As(err, &p):
		attributes = append(attributes, slog.String("problem", p.Kind.Suffix))
	}
	s.log.LogAttrs(context.Background(), level, "request", attributes...)
}

// from is where a request came from, as the log shows it.
func (s *Server) from(r *http.Request) string {
	if len(s.proxies) == 0 {
		return r.RemoteAddr
	}
	return s.proxies.client(r).String()
}

// maxLogged bounds what a client sent and the log shows, in characters.
const maxLogged = 200

// forLog is a text of a client as the log shows it: without secrets, and not longer than what serves to find the request.
func forLog(text string) string {
	text = strings.ToValidUTF8(serving.WithoutSecrets(text), "\uFFFD")
	if utf8.RuneCountInString(text) <= maxLogged {
		return text
	}
	return string([]rune(text)[:maxLogged]) + "…"
}
