package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"tallyhouse/ingest/admin/verify"
)

// repeatedVerify is `tallyhouse verify --every`: it compares again and again, for whoever watches the metrics.
type repeatedVerify struct {
	every       time.Duration
	metricsAddr string
}

func (r *repeatedVerify) add(flags *pflag.FlagSet) {
	flags.DurationVar(&r.every, "every", 0, "go on, and compare again after this time; 0: once")
	listenFlag(flags, &r.metricsAddr, "metrics-addr", "127.0.0.1:9090", "with --every: where /metrics is served, host:port")
}

func (r *repeatedVerify) check() error {
	if r.every < 0 {
		return usageError{fmt.Errorf("--every must not be negative, but is %s", r.every)}
	}
	return nil
}

// verifyMetrics are what the last comparison found.
type verifyMetrics struct {
	drift, uncompared, completed, failed prometheus.Gauge
}

func newVerifyMetrics(r prometheus.Registerer) verifyMetrics {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "tallyhouse", Subsystem: "verify", Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	return verifyMetrics{
		drift:      gauge("drift", "Sums and positions that were not what they should be when they were last compared."),
		uncompared: gauge("uncompared_slices", "Slices of the tables that the last comparison left out, because writers were busy."),
		completed: gauge("completed_timestamp_seconds", "When the last comparison ended that compared everything, 0: none has "+
			"since the start."),
		failed: gauge("failed", "1 when the last comparison could not be made: the log says why."),
	}
}

func (m verifyMetrics) observe(reports []*verify.Report, err error, now time.Time) {
	if err != nil {
		m.failed.Set(1)
		return
	}
	var drift uint64
	uncompared := 0
	for _, r := range reports {
		drift += r.Drift()
		uncompared += r.Uncompared()
	}
	m.failed.Set(0)
	m.drift.Set(float64(drift))
	m.uncompared.Set(float64(uncompared))
	if uncompared == 0 {
		m.completed.Set(float64(now.Unix()))
	}
}

// run compares and serves the metrics until the context ends.
func (r *repeatedVerify) run(ctx context.Context, log *slog.Logger, once func(context.Context) ([]*verify.Report, error)) error {
	registry := newRegistry()
	metrics := newVerifyMetrics(registry)
	listener, err := listen("--metrics-addr", r.metricsAddr)
	if err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return serve(ctx, listener, log, registry, operatorFlags{}.pages(registry)) })
	work.Go(func() error {
		next := time.NewTicker(r.every)
		defer next.Stop()
		for {
			reports, err := once(ctx)
			if ctx.Err() != nil {
				return nil
			}
			metrics.observe(reports, err, time.Now())
			if found := errors.Join(err, verdict(reports)); found != nil {
				log.Error("verify", "error", found)
			} else {
				log.Info("verified: no drift")
			}
			select {
			case <-next.C:
			case <-ctx.Done():
				return nil
			}
		}
	})
	return work.Wait()
}
