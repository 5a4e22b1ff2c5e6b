package kafka_test

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/servertest"
	"tallyhouse/deploy/embedded/tlstest"
	"tallyhouse/ingest/kafka"
)

// greets is what a server does whose first answer this is.
func greets(greeting string) func(net.Conn) {
	return func(c net.Conn) { _, _ = c.Write([]byte(greeting)) }
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
	overTLS, err := tls.Listen("tcp", "127.0.0.1:0", own.Config())
	if err != nil {
		t.Fatal(err)
	}
	const alert = "\x15\x03\x01\x00\x02\x02\x16" // of TLS
	for name, tc := range map[string]struct {
		addr     string
		tls      *tls.Config
		begins   string
		wantsTLS bool
	}{
		"HTTP":                       {addr: http.Listener.Addr().String(), begins: "HTTP"},
		"HTTP over TLS":              {addr: https.Listener.Addr().String(), tls: trusting, begins: "HTTP"},
		"a mail server":              {addr: servertest.Start(t, greets("220 mail.example.com ready\r\n")), begins: "220 "},
		"ClickHouse's own protocol":  {addr: servertest.Start(t, greets("\x02\x65\x00\x00\x00\x0dDB::Exception")), begins: "\x02\x65\x00\x00"},
		"a negative length":          {addr: servertest.Start(t, greets("\xff\xff\xff\xff\x00\x00\x00\x01")), begins: "\xff\xff\xff\xff"},
		"TLS":                        {addr: servertest.Start(t, greets(alert)), begins: "\x15\x03\x01\x00", wantsTLS: true},
		"what looks like TLS in TLS": {addr: servertest.On(t, overTLS, greets(alert)), tls: trusting, begins: "\x15\x03\x01\x00"},
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
