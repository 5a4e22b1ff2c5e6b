package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"tallyhouse/deploy/embedded/clickhouse"
	embeddedkafka "tallyhouse/deploy/embedded/kafka"
	embeddedmail "tallyhouse/deploy/embedded/mail"
)

// engines are the embedded servers that run.
type engines struct {
	database bool // whether ClickHouse is embedded
	stops    []func(context.Context) error
}

func (e *engines) stop() error {
	ctx, stop := context.WithTimeout(context.Background(), stopTimeout)
	defer stop()
	var errs []error
	for _, stop := range e.stops {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}

// startEngines starts what isn't given, at the same time, and notes where to connect to.
func (d *dev) startEngines(ctx context.Context, metrics prometheus.Registerer) (*engines, error) {
	e := &engines{}
	starting, starts := errgroup.WithContext(ctx)
	stops := make([]func(context.Context) error, 3)
	if d.env[variablePrefix+"CLICKHOUSE"] == "" {
		e.database = true
		starting.Go(func() error {
			engine, err := clickhouse.Start(starts, clickhouse.Options{
				DataDir: filepath.Join(d.dataDir, "clickhouse"), Addr: d.dbAddr, Log: d.log, Progress: d.err, Metrics: metrics,
			})
			if err != nil {
				return fmt.Errorf("start the embedded ClickHouse (--clickhouse-addr): %w", err)
			}
			stops[0] = engine.Stop
			d.external.clickhouse.addr = engine.Addr()
			return nil
		})
	}
	if d.env[variablePrefix+"KAFKA"] == "" {
		starting.Go(func() error {
			broker, err := embeddedkafka.Start(starts, embeddedkafka.Options{DataDir: filepath.Join(d.dataDir, "kafka"),
				Addr: d.kafkaAddr, Log: d.log})
			if err != nil {
				return fmt.Errorf("start the embedded broker (--kafka-addr): %w", err)
			}
			stops[1] = broker.Stop
			d.external.kafka.addr = broker.Addr()
			return nil
		})
	}
	if len(d.mail.boxes) == 0 {
		starting.Go(func() error {
			server, err := embeddedmail.Start(embeddedmail.Options{DataDir: filepath.Join(d.dataDir, "mail"),
				IMAP: d.imapAddr, SMTP: d.smtpAddr, Log: d.log})
			if err != nil {
				return fmt.Errorf("start the embedded mail server (--imap-addr, --smtp-addr): %w", err)
			}
			stops[2] = server.Stop
			d.mail.boxes = []string{server.URL()}
			d.smtp = server.SMTP()
			d.log.Info("invoices can be mailed to the projects' intake addresses", "smtp", d.smtp)
			return nil
		})
	}
	err := starting.Wait()
	for _, stop := range stops {
		if stop != nil {
			e.stops = append(e.stops, stop)
		}
	}
	return e, err
}
