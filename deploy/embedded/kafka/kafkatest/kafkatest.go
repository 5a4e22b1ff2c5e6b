// Package kafkatest gives tests a broker of their own: the embedded one, or Apache Kafka where TALLYHOUSE_TEST_KAFKA
// names the folder of its jars, as `make test-kafka` does. Tests don't know which it is.
//
// Under `make test-kafka` these meet the embedded broker all the same: the tests of deploy/embedded/kafka and of
// `tallyhouse dev`, whose subject it is, and packages that use Kafka only to fill ClickHouse.
package kafkatest

import (
	"context"
	"os"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/kafka"
	"tallyhouse/deploy/embedded/kafka/apachetest"
)

// Broker is a running broker.
type Broker interface {
	// Addr is the host:port that clients connect to.
	Addr() string
	// Stop ends the broker. Its data stay, for StartIn.
	Stop(context.Context) error
}

var (
	_ Broker = (*kafka.Broker)(nil)
	_ Broker = (*apachetest.Broker)(nil)
)

// patience bounds a start and a stop, also where several brokers start at once on a crowded machine.
const patience = 3 * time.Minute

// Start starts a broker on a free port, without topics, and stops it at the end of the test. The test fails when it
// doesn't start.
func Start(t testing.TB) Broker {
	t.Helper()
	if jars := apacheJars(); jars != "" {
		return lend(t, jars)
	}
	return StartIn(t, t.TempDir(), "127.0.0.1:0")
}

// StartIn starts a broker on the data in dir, as after a restart. A test that stops the broker and starts it again
// needs it.
func StartIn(t testing.TB, dir, addr string) Broker {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	broker, err := startIn(ctx, dir, addr)
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := broker.Stop(ctx); err != nil {
			t.Errorf("kafkatest: %v", err)
		}
	})
	return broker
}

func startIn(ctx context.Context, dir, addr string) (Broker, error) {
	if jars := apacheJars(); jars != "" {
		return apachetest.Start(ctx, apachetest.Options{Jars: jars, DataDir: dir, Addr: addr})
	}
	return kafka.Start(ctx, kafka.Options{DataDir: dir, Addr: addr})
}

// apacheJars is the folder with Apache Kafka's jars, "" for the embedded broker.
func apacheJars() string { return os.Getenv("TALLYHOUSE_TEST_KAFKA") }
