package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"

	"tallyhouse/api/serving"
)

// operatorFlags say what is served on the metrics address beside the metrics.
type operatorFlags struct {
	pprof bool
}

func (f *operatorFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.pprof, "pprof", false, "serve Go's profiles at /debug/pprof/ on the metrics address")
}

// Bounds of the server of an operator's pages.
const (
	longestProfile    = 5 * time.Minute // a profile or trace that is being taken
	operatorPatience  = 10 * time.Second
	maxOperatorHeader = 32 << 10 // bytes
	metricsAtOnce     = 4        // requests for metrics that are worked on at the same time
)

// newRegistry is where a process's metrics are, those of Go and of the process itself among them.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// pages are /metrics and, when they are asked for, the profiles.
func (f operatorFlags) pages(from prometheus.Gatherer) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(from, promhttp.HandlerOpts{MaxRequestsInFlight: metricsAtOnce}))
	if f.pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// pagesWithHealth say beside that whether the process is alive and ready, and what is wrong.
func (f operatorFlags) pagesWithHealth(from prometheus.Gatherer, alive, ready func() error) *http.ServeMux {
	mux := f.pages(from)
	mux.HandleFunc("GET /healthz", health(alive))
	mux.HandleFunc("GET /readyz", health(ready))
	return mux
}

// health answers 200 when nothing is wrong, else 503 and what is.
func health(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := check(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}

// serve serves an operator's pages until the context ends.
func serve(ctx context.Context, listener net.Listener, log *slog.Logger, registry prometheus.Registerer, pages http.Handler) error {
	guard, err := serving.NewGuard("operator", log, registry, nil)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: guard.Handler(pages), MaxHeaderBytes: maxOperatorHeader, ReadHeaderTimeout: operatorPatience, ReadTimeout: operatorPatience,
		WriteTimeout: longestProfile, IdleTimeout: longestProfile, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	}
	return nil
}
