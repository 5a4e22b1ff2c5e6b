package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	kafkalog "tallyhouse/schemas/kafka"
)

// Given a server that is started beside the worker, then the worker waits for it, whatever it asks; what the server answers is an answer.
func TestTheWorkerWaitsForServersThatStart(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		err   error
		waits bool
	}{
		"nothing listens yet, of ClickHouse": {&database.Error{Cause: dial}, true},
		"nothing listens yet, of Kafka":      {&kafkalog.Error{Cause: dial}, true},
		"it ends connections":                {fmt.Errorf("handshake: %w", io.EOF), true},
		"it says nothing":                    {&net.OpError{Op: "read", Err: context.DeadlineExceeded}, true},
		"no login":                           {&clickhouse.Exception{Code: 516}, false},
		"no such user of Kafka":              {kerr.SaslAuthenticationFailed, false},
		"not Kafka":                          {&kafka.NotKafkaError{}, false},
		"no schema":                          {migrate.ErrOutdated, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shell{log: slog.New(slog.DiscardHandler)}
			asked := 0

			err := s.await(t.Context(), "the server", func(context.Context) error {
				if asked++; asked == 2 {
					return nil
				}
				return test.err
			})

			if test.waits != (asked == 2) || test.waits != (err == nil) || !test.waits && !errors.Is(err, test.err) {
				t.Errorf("asked %d times: %v", asked, err)
			}
		})
	}
}
