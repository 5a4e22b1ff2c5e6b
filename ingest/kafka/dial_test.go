package kafka_test

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/tlstest"
	"tallyhouse/ingest/kafka"
)

// greets is the address of a server whose first answer this is.
func greets(t *testing.T, greeting string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return greetOn(t, listener, greeting)
}

func greetOn(t *testing.T, listener net.Listener, greeting string) string {
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(greeting))
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return listener.Addr().String()
}

// Given a server of something else at the broker's address, or one that wants another kind of connection, then no client takes what it
// says for the lengths of an answer, each says what is there.
func TestWhatIsNotKafkaIsRefused(t *testing.T) {
	http := httptest.NewServer(nil)
	t.Cleanup(http.Close)
	own := tlstest.New(t, nil)
	trusting := own.Trusting(t)
	https := httptest.NewUnstartedServer(nil)
	https.TLS = own.Config()
	https.StartTLS()
	t.Cleanup(https.Close)
	for name, tc := range map[string]struct {
		addr     string
		tls      *tls.Config
		begins   string
		wantsTLS bool
	}{
		"HTTP":                       {addr: http.Listener.Addr().String(), begins: "HTTP"},
		"HTTP over TLS":              {addr: https.Listener.Addr().String(), tls: trusting, begins: "HTTP"},
		"a mail server":              {addr: greets(t, "220 mail.example.com ready\r\n"), begins: "220 "},
		"ClickHouse's own protocol":  {addr: greets(t, "\x02\x65\x00\x00\x00\x0dDB::Exception"), begins: "\x02\x65\x00\x00"},
		"a negative length":          {addr: greets(t, "\xff\xff\xff\xff\x00\x00\x00\x01"), begins: "\xff\xff\xff\xff"},
		"TLS":                        {addr: greets(t, "\x15\x03\x01\x00\x02\x02\x16"), begins: "\x15\x03\x01\x00", wantsTLS: true},
		"what looks like TLS in TLS": {addr: greetsOverTLS(t, own), tls: trusting, begins: "\x15\x03\x01\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := kafka.Connect(kafka.Access{Addrs: []string{tc.addr}, TLS: tc.tls})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			check := func(client string, err error) {
				t.Helper()
				var not *kafka.NotKafkaError
				if !errors.As(err, &not) {
					t.Fatalf("%s: %v", client, err)
				}
				if want := (kafka.NotKafkaError{Addr: tc.addr, Begins: [4]byte([]byte(tc.begins)), WantsTLS: tc.wantsTLS}); *not != want {
					t.Errorf("%s: %+v, want %+v", client, *not, want)
				}
			}
			_, err = kafka.Partitions(t.Context(), c)
			check("kafka-go's transport", err)
			_, err = c.Dialer.LookupPartitions(t.Context(), "tcp", tc.addr, "records")
			check("kafka-go's dialer", err)
			reading, err := kgo.NewClient(c.Reading...)
			if err != nil {
				t.Fatal(err)
			}
			defer reading.Close()
			check("franz-go", reading.Ping(t.Context()))
		})
	}
}

func greetsOverTLS(t *testing.T, own tlstest.Certificate) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", own.Config())
	if err != nil {
		t.Fatal(err)
	}
	return greetOn(t, listener, "\x15\x03\x01\x00\x02\x02\x16")
}
