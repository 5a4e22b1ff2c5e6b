package kafka_test

import (
	"context"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/deploy/embedded/tlstest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// Given a broker that asks for TLS and a login, everything that is sent, asked and read gets through by each mechanism,
// and nothing without.
func TestConnectAuthenticatesBothClients(t *testing.T) {
	own := tlstest.New(t, nil)
	addrs := kafkatest.StartGuarded(t, kafkatest.Guarded{Certificate: own.Certificate, Mechanisms: kafka.Mechanisms()})
	connect := func(t *testing.T, mechanism, user string) kafka.Cluster {
		c, err := kafka.Connect(kafka.Access{
			Addrs: addrs, TLS: own.Trusting(t), SASL: mechanism, User: user, Password: kafkatest.Password,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	for i, mechanism := range kafka.Mechanisms() {
		t.Run(mechanism, func(t *testing.T) {
			c := connect(t, mechanism, kafkatest.User)
			ensure(t, c, kafka.TopicSpec{Partitions: 1})
			m := kafkago.Message{Topic: string(events.Contractors), Key: []byte("demo/C1"), Value: []byte("{}")}
			if _, _, err := kafka.Send(context.Background(), c, m); err != nil {
				t.Fatal(err)
			}
			if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != i+1 {
				t.Errorf("%d messages", len(sent))
			}
			conn, err := c.Dialer.DialContext(context.Background(), "tcp", c.Addrs[0])
			if err != nil {
				t.Fatalf("the consumer group's dialer: %v", err)
			}
			conn.Close()
			if _, err := kafka.Partitions(context.Background(), connect(t, mechanism, kafkatest.OtherUser)); err == nil {
				t.Error("a wrong password is taken")
			}
		})
	}
	if _, err := kafka.Connect(kafka.Access{Addrs: addrs, SASL: "MD5"}); err == nil {
		t.Error("an unknown mechanism is taken")
	}
}
