// Package kafkatest gives tests a broker of their own.
package kafkatest

import (
	"context"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/kafka"
)

// Start starts a broker on a free port and an empty directory, and stops it at
// the end of the test. The test fails when it does not start.
func Start(t testing.TB) *kafka.Broker {
	t.Helper()
	return StartIn(t, t.TempDir(), "127.0.0.1:0")
}

// StartIn starts a broker on the data in dir, as after a restart.
func StartIn(t testing.TB, dir, addr string) *kafka.Broker {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	broker, err := kafka.Start(ctx, kafka.Options{DataDir: dir, Addr: addr})
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := broker.Stop(ctx); err != nil {
			t.Errorf("kafkatest: %v", err)
		}
	})
	return broker
}
