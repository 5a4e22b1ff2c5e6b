package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"
)

// operatorFlags say what is served on the metrics address beside the metrics.
type operatorFlags struct {
	pprof bool
}

func (f *operatorFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.pprof, "pprof", false, "serve Go's profiles at /debug/pprof/ on the metrics address")
}

// longestProfile bounds a profile or trace that is being taken.
const longestProfile = 5 * time.Minute

// pages are /metrics and, when they are asked for, the profiles.
func (f operatorFlags) pages(from prometheus.Gatherer) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(from, promhttp.HandlerOpts{}))
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
func serve(ctx context.Context, listener net.Listener, pages http.Handler) error {
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: longestProfile}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	}
	return nil
}
