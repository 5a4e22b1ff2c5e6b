package kafkatest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/kafka/apachetest"
)

const (
	// User and Password are a login that guarded listeners take.
	User, Password = "tallyhouse", "right"
	// OtherUser has another password.
	OtherUser = "other"
)

// Guarded is a listener that asks for TLS and a login.
type Guarded struct {
	Certificate tls.Certificate
	Mechanisms  []string // of SASL
}

// StartGuarded starts what listens so, and returns the addresses.
func StartGuarded(t testing.TB, listeners ...Guarded) (addrs []string) {
	t.Helper()
	if jars := apacheJars(); jars != "" {
		return startApacheGuarded(t, jars, listeners)
	}
	for _, l := range listeners {
		addrs = append(addrs, startFakeGuarded(t, l))
	}
	return addrs
}

func startApacheGuarded(t testing.TB, jars string, listeners []Guarded) []string {
	t.Helper()
	o := apachetest.Options{Jars: jars, DataDir: t.TempDir(), Addr: "127.0.0.1:0"}
	for _, l := range listeners {
		key, err := x509.MarshalPKCS8PrivateKey(l.Certificate.PrivateKey)
		if err != nil {
			t.Fatalf("kafkatest: %v", err)
		}
		text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: l.Certificate.Certificate[0]})...)
		o.Guarded = append(o.Guarded, apachetest.Guarded{PEM: text, Mechanisms: l.Mechanisms,
			Passwords: map[string]string{User: Password, OtherUser: "another"}})
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	b, err := apachetest.Start(ctx, o)
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Apache Kafka's log ends:\n%s", b.Log())
		}
		if err := b.Kill(); err != nil {
			t.Errorf("kafkatest: %v", err)
		}
	})
	return b.Guarded()
}

func startFakeGuarded(t testing.TB, l Guarded) string {
	t.Helper()
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.EnableSASL(), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{l.Certificate}})}
	for _, mechanism := range l.Mechanisms {
		options = append(options, kfake.Superuser(mechanism, User, Password))
	}
	c, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	t.Cleanup(c.Close)
	refuseAsApacheKafka(c, l)
	return c.ListenAddrs()[0]
}

// refuseAsApacheKafka has a fake cluster refuse the other user, and other mechanisms, with an answer: by itself it hangs up.
func refuseAsApacheKafka(c *kfake.Cluster, l Guarded) {
	c.ControlKey(int16(kmsg.SASLHandshake), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := request.(*kmsg.SASLHandshakeRequest)
		if slices.Contains(l.Mechanisms, asked.Mechanism) {
			return nil, nil, false
		}
		refused := asked.ResponseKind().(*kmsg.SASLHandshakeResponse)
		refused.ErrorCode, refused.SupportedMechanisms = kerr.UnsupportedSaslMechanism.Code, l.Mechanisms
		return refused, nil, true
	})
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := request.(*kmsg.SASLAuthenticateRequest)
		if !strings.Contains(string(asked.SASLAuthBytes), OtherUser) {
			return nil, nil, false
		}
		refused := asked.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		refused.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return refused, nil, true
	})
}
