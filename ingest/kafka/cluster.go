package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	kafkasasl "github.com/segmentio/kafka-go/sasl"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	kafkalog "tallyhouse/schemas/kafka"
)

// Access says how to reach a Kafka cluster.
type Access struct {
	Addrs    []string    // host:port of one broker or more; the others are found through them
	TLS      *tls.Config // nil: plain connections
	SASL     string      // one of Mechanisms; "" without authentication
	User     string
	Password string
}

// Mechanisms are the ways to authenticate that Access knows.
func Mechanisms() []string { return []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} }

// Cluster is a Kafka cluster as its two clients reach it: kafka-go for the workers' group, topics and everything that is
// sent, franz-go for everything that is read. It holds no connection but the transport's.
type Cluster struct {
	Addrs     []string
	Transport *Transport
	Dialer    *kafka.Dialer // for kafka-go's consumer group
	Reading   []kgo.Opt     // for every franz-go client
}

const (
	clientID    = "tallyhouse"
	dialTimeout = 5 * time.Second
)

// Connect prepares the clients; it does not dial yet.
func Connect(a Access) (Cluster, error) {
	if len(a.Addrs) == 0 {
		return Cluster{}, errors.New("connect to Kafka: no address given")
	}
	mechanism, err := a.mechanism()
	if err != nil {
		return Cluster{}, fmt.Errorf("connect to Kafka: %w", err)
	}
	dial := dial(a.TLS)
	c := Cluster{
		Addrs: a.Addrs,
		Transport: &Transport{kafka.Transport{
			Dial:        dial,
			ClientID:    clientID,
			DialTimeout: dialTimeout,
			// A new topic or leader is seen within this time; only our own topics are asked for.
			MetadataTTL:    time.Second,
			MetadataTopics: topicNames(),
		}},
		Dialer: &kafka.Dialer{DialFunc: dial, ClientID: clientID, Timeout: dialTimeout},
		Reading: []kgo.Opt{
			kgo.Dialer(dial),
			kgo.SeedBrokers(a.Addrs...),
			kgo.ClientID(clientID),
		},
	}
	if mechanism != nil {
		c.Transport.SASL, c.Dialer.SASLMechanism = adapted{mechanism}, adapted{mechanism}
		c.Reading = append(c.Reading, kgo.SASL(mechanism))
	}
	return c, nil
}

// Client is kafka-go's client. Every request needs a context with a deadline: nothing else reaches the socket.
func (c Cluster) Client() *kafka.Client {
	return &kafka.Client{Addr: c.Addr(), Transport: c.Transport, Timeout: requestTimeout}
}

// Addr is the cluster's address in kafka-go's form.
func (c Cluster) Addr() net.Addr { return kafka.TCP(c.Addrs...) }

// unreachable is the error when not even a first request is answered: it says what to do.
func (c Cluster) unreachable(err error) error {
	if cause := errors.Unwrap(err); cause != nil && strings.HasPrefix(err.Error(), "kafka.(*Client)") {
		err = cause // what stands before it is the library's own name of the call
	}
	return fmt.Errorf("ask Kafka at %s for its topics: %w; see that it runs there and takes this login, or name "+
		"another with --kafka-addr", strings.Join(c.Addrs, ","), err)
}

// Transport is kafka-go's, whose failures are Kafka's.
type Transport struct{ kafka.Transport }

// RoundTrip implements kafka-go's RoundTripper.
func (t *Transport) RoundTrip(ctx context.Context, addr net.Addr, request kafka.Request) (kafka.Response, error) {
	response, err := t.Transport.RoundTrip(ctx, addr, request)
	return response, kafkalog.Failed(err)
}

// Close ends the transport's idle connections.
func (c Cluster) Close() { c.Transport.CloseIdleConnections() }

func (a Access) mechanism() (sasl.Mechanism, error) {
	switch a.SASL {
	case "":
		return nil, nil
	case "PLAIN":
		return plain.Auth{User: a.User, Pass: a.Password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("unknown SASL mechanism %q; known are %v", a.SASL, Mechanisms())
}

// adapted lets kafka-go authenticate by franz-go's mechanisms, so that both clients do the same.
type adapted struct{ sasl.Mechanism }

var _ kafkasasl.Mechanism = adapted{}

// Start implements kafka-go's Mechanism.
func (a adapted) Start(ctx context.Context) (kafkasasl.StateMachine, []byte, error) {
	host := ""
	if m := kafkasasl.MetadataFromContext(ctx); m != nil {
		host = m.Host
	}
	s, first, err := a.Authenticate(ctx, host)
	return session{s}, first, err
}

type session struct{ sasl.Session }

// Next implements kafka-go's StateMachine.
func (s session) Next(_ context.Context, challenge []byte) (bool, []byte, error) {
	return s.Challenge(challenge)
}
