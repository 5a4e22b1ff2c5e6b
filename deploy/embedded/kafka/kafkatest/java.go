package kafkatest

import (
	"context"
	"testing"

	"tallyhouse/deploy/embedded/kafka/apachetest"
)

// JavaProducer sends a message by Java's producer with these settings. Without Apache Kafka's jars there is none, and the test is skipped.
func JavaProducer(t testing.TB, addr, topic, value string, settings ...string) {
	t.Helper()
	jars := apacheJars()
	if jars == "" {
		t.Skip("it needs Java's producer: make test-kafka")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := apachetest.Produce(ctx, jars, addr, topic, value, settings...); err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
}
