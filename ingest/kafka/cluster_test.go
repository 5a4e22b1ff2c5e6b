package kafka_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// certificate is one for 127.0.0.1, and the authorities that know it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"},
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(own)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, authorities
}

// Given a broker that asks for TLS and a login, everything that is sent, asked and read gets through by each mechanism,
// and nothing without.
func TestConnectAuthenticatesBothClients(t *testing.T) {
	own, authorities := certificate(t)
	addrs := kafkatest.StartGuarded(t, kafkatest.Guarded{Certificate: own, Mechanisms: kafka.Mechanisms()})
	connect := func(t *testing.T, mechanism, user string) kafka.Cluster {
		c, err := kafka.Connect(kafka.Access{
			Addrs: addrs, TLS: &tls.Config{RootCAs: authorities}, SASL: mechanism, User: user, Password: kafkatest.Password,
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
