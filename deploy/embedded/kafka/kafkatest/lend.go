package kafkatest

import (
	"context"
	"os"
	"sync"
	"testing"

	"tallyhouse/deploy/embedded/kafka/apachetest"
)

// idle are the test binary's Apache Kafkas that no test has: a start takes seconds, so one serves many tests, one after
// the other. Only a package variable joins the tests of a binary. They end with it.
var idle struct {
	mu      sync.Mutex
	brokers []*apachetest.Broker
}

// lend gives a test an empty Apache Kafka until its end.
func lend(t testing.TB, jars string) Broker {
	t.Helper()
	b := idleOne()
	if b == nil {
		b = startOne(t, jars)
	}
	lent := &lent{Broker: b}
	t.Cleanup(func() { lent.giveBack(t) })
	return lent
}

func idleOne() *apachetest.Broker {
	idle.mu.Lock()
	defer idle.mu.Unlock()
	n := len(idle.brokers)
	if n == 0 {
		return nil
	}
	b := idle.brokers[n-1]
	idle.brokers = idle.brokers[:n-1]
	return b
}

func startOne(t testing.TB, jars string) *apachetest.Broker {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dir, err := os.MkdirTemp("", "kafkatest-")
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	b, err := apachetest.Start(ctx, apachetest.Options{Jars: jars, DataDir: dir, Addr: "127.0.0.1:0", Temporary: true})
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	return b
}

// lent is a broker that a test has for its time.
type lent struct {
	*apachetest.Broker
	mu      sync.Mutex
	stopped bool
}

// Stop implements Broker. What a test has stopped isn't lent again.
func (l *lent) Stop(ctx context.Context) error {
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	return l.Broker.Stop(ctx)
}

func (l *lent) giveBack(t testing.TB) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if t.Failed() {
		t.Logf("Apache Kafka's log ends:\n%s", l.Log())
	} else if err := l.Wipe(ctx); err == nil {
		idle.mu.Lock()
		defer idle.mu.Unlock()
		idle.brokers = append(idle.brokers, l.Broker)
		return
	}
	// One that can't be emptied, or that saw a test fail, may be in any state: the next test gets another.
	if err := l.Kill(); err != nil {
		t.Errorf("kafkatest: %v", err)
	}
}
