package serving

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// RequestID is the header that names a request, in its answer and in the log.
const RequestID = "X-Request-Id"

// NewRequestID is always fresh: a client's own id would let it forge another's trace.
func NewRequestID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Guard keeps a panic to the request that it happens in: it is logged and counted, and answered where nothing was answered yet. What
// was begun is broken off, so that nobody takes it for the whole.
type Guard struct {
	server string
	log    *slog.Logger
	panics *prometheus.CounterVec
	answer http.HandlerFunc
}

// NewGuard makes the guard of a server, as the log and the metrics call it. Answer says that something went wrong, by a page or a
// problem; without one that is a line of text. Servers of one process share the metric.
func NewGuard(server string, log *slog.Logger, metrics prometheus.Registerer, answer http.HandlerFunc) (*Guard, error) {
	panics := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tallyhouse_http_panics_total",
		Help: "Panics while requests were answered, by server (api, desk, operator). Each is a defect: the log has its stack.",
	}, []string{"server"})
	if err := metrics.Register(panics); err != nil {
		already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err)
		if !ok {
			return nil, fmt.Errorf("register the metric of panics: %w", err)
		}
		if panics, ok = already.ExistingCollector.(*prometheus.CounterVec); !ok {
			return nil, fmt.Errorf("register the metric of panics: %w", err)
		}
	}
	panics.WithLabelValues(server) // it is 0 before the first one
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "something went wrong here", http.StatusInternalServerError)
		}
	}
	return &Guard{server, log, panics, answer}, nil
}

// Handler guards a handler, and gives each request an id.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(RequestID, NewRequestID())
		watched := &watchedWriter{ResponseWriter: w}
		defer func() {
			value := recover()
			if value == nil {
				return
			}
			if value == http.ErrAbortHandler { // how handlers break an answer off themselves
				panic(value)
			}
			g.Report(w.Header().Get(RequestID), value)
			if watched.begun {
				panic(http.ErrAbortHandler)
			}
			for _, of := range []string{"Content-Length", "Content-Encoding", "ETag"} { // the answer that there won't be
				w.Header().Del(of)
			}
			g.answer(w, r)
		}()
		next.ServeHTTP(watched, r)
	})
}

// Report logs and counts a panic that was recovered from while the request was answered.
func (g *Guard) Report(requestID string, value any) {
	g.Count()
	g.log.Error("panic while answering", "server", g.server, "request", requestID, "panic", WithoutSecrets(fmt.Sprint(value)),
		"stack", string(debug.Stack()))
}

// Count counts a panic that became an error.
func (g *Guard) Count() { g.panics.WithLabelValues(g.server).Inc() }

// secret matches API keys, also with a percent escape left in them, and JSON Web Tokens.
var secret = regexp.MustCompile(`(?i)pk(_|%5f)[^/\s"'\x60]*|eyj[a-z0-9_-]+\.[^/\s"'\x60]*`)

// WithoutSecrets is a text for the log with what looks like a key or token cut out.
func WithoutSecrets(text string) string { return secret.ReplaceAllString(text, "[secret]") }

// watchedWriter knows whether anything was answered.
type watchedWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *watchedWriter) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK // others may follow one that informs
	w.ResponseWriter.WriteHeader(status)
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(b)
}

// Flush is for writers around this one, which look for it.
func (w *watchedWriter) Flush() {
	w.begun = true
	_ = http.NewResponseController(w.ResponseWriter).Flush() // the client may have left
}

// Unwrap lets http.ResponseController find what else the writer can do.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
