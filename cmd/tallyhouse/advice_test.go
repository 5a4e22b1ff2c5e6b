package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	embeddedmail "tallyhouse/deploy/embedded/mail"
	"tallyhouse/deploy/embedded/servertest"
	"tallyhouse/deploy/embedded/tlstest"
	"tallyhouse/ingest/admin/registry/registrytest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
)

func expired(c *x509.Certificate) {
	c.NotAfter = time.Date(2021, time.January, 1, 0, 0, 0, 0, time.UTC)
}

func otherName(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"db.example.com"} }

// speaksTLS is a server that shakes hands, and no more.
func speaksTLS(t *testing.T, own tlstest.Certificate) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", own.Config())
	if err != nil {
		t.Fatal(err)
	}
	return servertest.On(t, listener, func(c net.Conn) {
		_ = c.(*tls.Conn).HandshakeContext(t.Context())
		_ = c.Close()
	})
}

// speaksFirst is a server that begins to talk, without TLS.
func speaksFirst(t *testing.T) string {
	t.Helper()
	return servertest.Start(t, func(c net.Conn) { _, _ = c.Write([]byte("220 mail.example.com ready\r\n")) })
}

// hangsUp is a server that ends every connection at once.
func hangsUp(t *testing.T) string {
	t.Helper()
	return servertest.Start(t, func(c net.Conn) { _ = c.Close() })
}

// refuses is an HTTP server that answers every request by this status, and returns its URL.
func refuses(t *testing.T, status int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(server.Close)
	return server.URL
}

// mailServer is an embedded mail server, and returns the URL of its mailbox.
func mailServer(t *testing.T) string {
	t.Helper()
	server, err := embeddedmail.Start(embeddedmail.Options{DataDir: t.TempDir(), IMAP: "127.0.0.1:0", SMTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	return server.URL()
}

// kafkaWithLogin is a broker that asks for a password. A wrong one it refuses as Apache Kafka does: kfake would only hang up.
func kafkaWithLogin(t *testing.T) string {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "tallyhouse", "right"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.ControlKey(int16(kmsg.SASLAuthenticate), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if given := request.(*kmsg.SASLAuthenticateRequest); strings.HasSuffix(string(given.SASLAuthBytes), "\x00right") {
			return nil, nil, false
		}
		refused := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		refused.ErrorCode = kerr.SaslAuthenticationFailed.Code
		return refused, nil, true
	})
	return c.ListenAddrs()[0]
}

// Each reason for which a server can't be used has its own message, which says what to do; passwords are not in it.
func TestWhatToDoAboutAServer(t *testing.T) {
	old := tlstest.New(t, expired)
	own := tlstest.New(t, nil)
	named := tlstest.New(t, otherName)
	nobody := free(t)
	mailbox := mailServer(t)
	protected := registrytest.Start(t)
	protected.User, protected.Password = "producer", "right"
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"Kafka: nothing listens": {
			args: []string{"topics", "--kafka-addr", nobody}, want: "nothing listens there: start the server, or check the port in --kafka-addr\n",
		},
		"Kafka: no such name": {
			args: []string{"topics", "--kafka-addr", "no-such-host.invalid:9092"},
			want: `no address is known of "no-such-host.invalid": check the name in --kafka-addr` + "\n",
		},
		"Kafka: an expired certificate": {
			args: []string{"topics", "--kafka-addr", speaksTLS(t, old), "--kafka-tls", "--kafka-tls-ca", old.CA},
			want: "certificate is valid from 2020-01-01 to 2021-01-01: renew it",
		},
		"Kafka: an unknown authority": {
			args: []string{"topics", "--kafka-addr", speaksTLS(t, own), "--kafka-tls"}, want: "in a PEM file, --kafka-tls-ca\n",
		},
		"Kafka: another server's certificate": {
			args: []string{"topics", "--kafka-addr", speaksTLS(t, named), "--kafka-tls", "--kafka-tls-ca", named.CA},
			want: `not for "127.0.0.1": connect by a name that it has (db.example.com)`,
		},
		"Kafka: no TLS": {
			args: []string{"topics", "--kafka-addr", speaksFirst(t), "--kafka-tls", "--kafka-tls-ca", own.CA},
			want: "leave out --kafka-tls\n",
		},
		"Kafka: something else": {
			args: []string{"topics", "--kafka-addr", strings.TrimPrefix(refuses(t, http.StatusBadRequest), "http://")},
			want: "something else listens there: check the port in --kafka-addr",
		},
		"Kafka: a login is asked for": {
			args: []string{"topics", "--kafka-addr", kafkaWithLogin(t)},
			want: "it may want TLS (--kafka-tls) or a login (--kafka-user), or have another port for this; check --kafka-addr\n",
		},
		"Kafka: a wrong password": {
			env:  map[string]string{"TALLYHOUSE_KAFKA_PASSWORD": "s3cret"},
			args: []string{"topics", "--kafka-addr", kafkaWithLogin(t), "--kafka-user", "tallyhouse"},
			want: "check the user and the password: --kafka-user and TALLYHOUSE_KAFKA_PASSWORD (or the file that TALLYHOUSE_KAFKA_PASSWORD_FILE names)\n",
		},
		"the API: nothing listens": {
			args: []string{"export", "--api", "http://" + nobody, "--key", "pk_test_k"}, want: "check the port in --api\n",
		},
		"the API: an expired certificate": {
			args: []string{"export", "--api", "https://" + speaksTLS(t, old), "--key", "pk_test_k"},
			want: "certificate is valid from 2020-01-01 to 2021-01-01: renew it",
		},
		"the API: an unknown authority": {
			args: []string{"export", "--api", "https://" + speaksTLS(t, own), "--key", "pk_test_k"},
			want: "add it to those of this system",
		},
		"the API: a key that it doesn't take": {
			args: []string{"export", "--api", refuses(t, http.StatusUnauthorized), "--key", "pk_test_s3cret"},
			want: "the server refused who connects: check --key",
		},
		"a registry: a wrong password": {
			env:  map[string]string{"TALLYHOUSE_REGISTRY_PASSWORD": "s3cret"},
			args: []string{"schemas", "publish", "--registry", protected.URL, "--registry-user", "producer"},
			want: "the server refused who connects: check --registry-user, --registry-password",
		},
		"a registry: no TLS": {
			args: []string{"schemas", "publish", "--registry", "https://" + speaksFirst(t)},
			want: "connect to its TLS port, or say so in --registry\n",
		},
		"a registry: an expired certificate": {
			args: []string{"schemas", "publish", "--registry", "https://" + speaksTLS(t, old)},
			want: "certificate is valid from 2020-01-01 to 2021-01-01: renew it",
		},
		"a registry: no such name": {
			args: []string{"schemas", "publish", "--registry", "http://no-such-host.invalid"},
			want: `no address is known of "no-such-host.invalid": check the name in --registry`,
		},
		"a mailbox: nothing listens": {
			env:  map[string]string{"TALLYHOUSE_IMAP": "imap://u:s3cret@" + nobody + "/INBOX?tls=off&tenant=demo"},
			args: []string{"mail", "failed"}, want: "check the port in --imap\n",
		},
		"a mailbox: a wrong password": {
			env:  map[string]string{"TALLYHOUSE_IMAP": strings.Replace(mailbox, ":demo@", ":s3cret@", 1) + "&tenant=demo"},
			args: []string{"mail", "failed"}, want: "the server refused who connects: check the user and the password",
		},
		"a mailbox: an expired certificate": {
			env:  map[string]string{"TALLYHOUSE_IMAP": "imaps://u:s3cret@" + speaksTLS(t, old) + "/INBOX?tenant=demo&ca=" + old.CA},
			args: []string{"mail", "failed"}, want: "certificate is valid from 2020-01-01 to 2021-01-01: renew it",
		},
		"a mailbox: an unknown authority": {
			env:  map[string]string{"TALLYHOUSE_IMAP": "imaps://u:s3cret@" + speaksTLS(t, own) + "/INBOX?tenant=demo"},
			args: []string{"mail", "failed"}, want: "as ca=FILE in --imap\n",
		},
		"a bucket: nothing listens": {
			env:  map[string]string{"TALLYHOUSE_ORIGINALS_S3": "http://KEY:s3cret@" + nobody + "/originals"},
			args: []string{"mail", "retry", "mail-1"}, want: "check the port in --originals-s3\n",
		},
		"a bucket: a wrong secret": {
			env: map[string]string{
				"TALLYHOUSE_ORIGINALS_S3": strings.Replace(refuses(t, http.StatusForbidden), "://", "://KEY:s3cret@", 1) + "/originals",
			},
			args: []string{"mail", "retry", "mail-1"}, want: "the server refused who connects: check KEY and SECRET in --originals-s3",
		},
		"a bucket: an expired certificate": {
			env:  map[string]string{"TALLYHOUSE_ORIGINALS_S3": "https://KEY:s3cret@" + speaksTLS(t, old) + "/originals"},
			args: []string{"mail", "retry", "mail-1"}, want: "certificate is valid from 2020-01-01 to 2021-01-01: renew it",
		},
		"ClickHouse: nothing listens": {
			args: []string{"verify", "--clickhouse-addr", nobody}, want: "check the port in --clickhouse-addr\n",
		},
		"ClickHouse: an expired certificate": {
			args: []string{"verify", "--clickhouse-addr", speaksTLS(t, old), "--clickhouse-tls", "--clickhouse-tls-ca", old.CA},
			want: "certificate is valid from 2020-01-01 to 2021-01-01: renew it",
		},
		"ClickHouse: an unknown authority": {
			args: []string{"verify", "--clickhouse-addr", speaksTLS(t, own), "--clickhouse-tls"}, want: "in a PEM file, --clickhouse-tls-ca\n",
		},
		"ClickHouse: no TLS": {
			args: []string{"verify", "--clickhouse-addr", speaksFirst(t), "--clickhouse-tls"}, want: "leave out --clickhouse-tls\n",
		},
		"ClickHouse: another protocol": {
			args: []string{"verify", "--clickhouse-addr", hangsUp(t)}, want: "it may want TLS (--clickhouse-tls) or a login (--clickhouse-user)",
		},
		"ClickHouse: a worker doesn't wait for a certificate to become valid": {
			args: []string{"ingest", "--clickhouse-addr", speaksTLS(t, old), "--clickhouse-tls", "--clickhouse-tls-ca", old.CA,
				"--metrics-addr", "127.0.0.1:0"},
			want: "renew it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := tallyhouse(t, c.env, "", c.args...)
			if o.code != exitFailed || !strings.Contains(o.err, "tallyhouse: what to do: ") || !strings.Contains(o.err, c.want) {
				t.Errorf("exit code %d, standard error says\n%swant %q", o.code, o.err, c.want)
			}
			if strings.Contains(o.err, "(*Client)") {
				t.Errorf("it names the call of a library: %s", o.err)
			}
			if strings.Contains(o.err, "s3cret") {
				t.Errorf("it shows a password: %s", o.err)
			}
			if lines := strings.Count("\n"+o.err, "\ntallyhouse: "); lines != 2 || o.out != "" {
				t.Errorf("it says more than what went wrong, and what to do: %s%s", o.out, o.err)
			}
		})
	}
}

// Given Kafka that asks for TLS and a login, then whoever is right comes in by each mechanism, and whoever isn't reads what to do.
func TestWhatToDoAboutKafkaWithTLSAndALogin(t *testing.T) {
	t.Parallel()
	own := tlstest.New(t, nil)
	old := tlstest.New(t, expired)
	addrs := kafkatest.StartGuarded(t, kafkatest.Guarded{Certificate: own.Certificate, Mechanisms: kafka.Mechanisms()},
		kafkatest.Guarded{Certificate: old.Certificate, Mechanisms: []string{"SCRAM-SHA-512"}},
		kafkatest.Guarded{Certificate: own.Certificate, Mechanisms: []string{"SCRAM-SHA-512"}})
	type login struct{ addr, ca, user, mechanism, want string }
	cases := map[string]login{
		"an expired certificate": {addrs[1], old.CA, kafkatest.User, "SCRAM-SHA-512", "from 2020-01-01 to 2021-01-01: renew it"},
		"an unknown authority":   {addrs[0], old.CA, kafkatest.User, "PLAIN", "signed by an authority that isn't known here"},
		"another mechanism":      {addrs[2], own.CA, kafkatest.User, "PLAIN", "check --kafka-sasl"},
		"no login":               {addrs[0], own.CA, "", "", "or a login (--kafka-user)"},
	}
	for _, mechanism := range kafka.Mechanisms() {
		cases["right, by "+mechanism] = login{addrs[0], own.CA, kafkatest.User, mechanism, ""}
		cases["a wrong password, by "+mechanism] = login{addrs[0], own.CA, kafkatest.OtherUser, mechanism, "check the user and the password"}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			args := []string{"topics", "--kafka-addr", c.addr, "--kafka-tls", "--kafka-tls-ca", c.ca}
			env := map[string]string{}
			if c.user != "" {
				env["TALLYHOUSE_KAFKA_PASSWORD"] = kafkatest.Password
				args = append(args, "--kafka-user", c.user, "--kafka-sasl", c.mechanism)
			}
			o := tallyhouse(t, env, "", args...)
			switch {
			case c.want == "" && o.code != exitDone:
				t.Errorf("exit code %d, standard error says\n%s", o.code, o.err)
			case c.want != "" && (o.code != exitFailed || !strings.Contains(o.err, c.want)):
				t.Errorf("exit code %d, standard error says\n%swant %q", o.code, o.err, c.want)
			}
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		o := tallyhouse(t, nil, "", "topics", "--kafka-addr", addrs[0])
		// Apache Kafka says that it wants TLS; the embedded broker hangs up, so it may want something else.
		certain, guessed := strings.Contains(o.err, "what to do: connect with --kafka-tls"), strings.Contains(o.err, "it may want TLS (--kafka-tls")
		if o.code != exitFailed || !certain && !guessed {
			t.Errorf("exit code %d, standard error says\n%s", o.code, o.err)
		}
	})
}

// provider is an OpenID Connect provider that takes no client's secret, and says of itself that it is this issuer, "" for its address.
func provider(t *testing.T, own tlstest.Certificate, issuer string) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.TLS = own.Config()
	server.StartTLS()
	t.Cleanup(server.Close)
	answer := func(w http.ResponseWriter, status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"issuer": cmp.Or(issuer, server.URL), "authorization_endpoint": server.URL + "/authorize",
			"token_endpoint": server.URL + "/token", "jwks_uri": server.URL + "/keys"})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		http.Redirect(w, r, asked.Get("redirect_uri")+"?code=c&state="+asked.Get("state"), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
	})
	server.Config.Handler = mux
	return server.URL
}

// Given a desk whose provider can't be used, then its log says so by itself, or of the client's secret when somebody signs in, and for
// each reason what to do.
func TestWhatToDoAboutTheProviderOfTheDesk(t *testing.T) {
	t.Parallel()
	old := tlstest.New(t, expired)
	own := tlstest.New(t, nil)
	other := tlstest.New(t, nil)
	right := provider(t, own, "")
	for name, c := range map[string]struct {
		issuer, want string
		signsIn      bool
	}{
		"nothing listens":         {issuer: "https://" + free(t), want: "check the port in --oidc-issuer"},
		"an expired certificate":  {issuer: provider(t, old, ""), want: "certificate is valid from 2020-01-01 to 2021-01-01: renew it"},
		"an unknown authority":    {issuer: provider(t, other, ""), want: "add it to those of this system (SSL_CERT_FILE)"},
		"another issuer's name":   {issuer: provider(t, own, "https://id.example.com/"), want: "write --oidc-issuer to the letter"},
		"no issuer":               {issuer: right + "/no-issuer", want: "--oidc-issuer with /.well-known/openid-configuration behind it"},
		"a wrong client's secret": {issuer: right, want: "check --oidc-client-id and --oidc-client-secret", signsIn: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, log := deskProcess(t, own.CA, c.issuer)
			if c.signsIn {
				signIn(t, url, own)
			}
			for log.Scan() {
				var line struct{ Msg, Error, Do string }
				if err := json.Unmarshal(log.Bytes(), &line); err != nil {
					t.Fatalf("%v: %s", err, log.Bytes())
				}
				if strings.Contains(log.Text(), "s3cret") {
					t.Errorf("it shows a secret: %s", log.Text())
				}
				if strings.Contains(line.Do, c.want) {
					return
				}
				if line.Do != "" {
					t.Errorf("it says what to do: %s", log.Text())
				}
			}
			t.Errorf("it never says %q: %v", c.want, log.Err())
		})
	}
}

// deskProcess is a desk in a process of its own, which trusts the authorities of a file, and its log. Its servers are away.
func deskProcess(t *testing.T, ca, issuer string) (url string, log *bufio.Scanner) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const endsWithin = 2 * time.Minute // a desk that says nothing
	ctx, stop := context.WithTimeout(t.Context(), endsWithin)
	at, nobody := free(t), free(t)
	cmd := exec.CommandContext(ctx, program, "desk", "--desk-addr", at, "--desk-url", "http://"+at, "--metrics-addr", "127.0.0.1:0",
		"--oidc-issuer", issuer, "--oidc-client-id", "desk", "--kafka-addr", nobody, "--clickhouse-addr", nobody)
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+ca, "TALLYHOUSE_OIDC_CLIENT_SECRET=s3cret")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	return "http://" + at, bufio.NewScanner(stderr)
}

// signIn signs in at a desk, as soon as it listens, and doesn't come through.
func signIn(t *testing.T, desk string, own tlstest.Certificate) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: own.Trusting(t)}}
	defer browser.CloseIdleConnections()
	ctx, stop := context.WithTimeout(t.Context(), startsWithin)
	defer stop()
	err = until(ctx, func() error {
		answer, err := browser.Get(desk + "/signin/start")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode != http.StatusBadGateway {
				t.Errorf("who signs in gets %s", answer.Status)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ClickHouse's answer to a wrong password, as both of its clients give it: the embedded engine, which has no passwords, ends
// when it has to refuse one.
func TestWhatToDoAboutAPasswordOfClickHouse(t *testing.T) {
	const refused = 516
	for name, err := range map[string]error{
		"for questions": &clickhouse.Exception{Code: refused, Message: "Authentication failed"},
		"for inserts":   &ch.Exception{Code: refused, Message: "Authentication failed"},
	} {
		err := fmt.Errorf("ask ClickHouse: %w", &database.Error{Cause: err})
		if !strings.Contains(advice(err), ": --clickhouse-user and TALLYHOUSE_CLICKHOUSE_PASSWORD (") || !isForGood(err) {
			t.Errorf("%s: %q, for good: %t", name, advice(err), isForGood(err))
		}
	}
	if err := (&clickhouse.Exception{Code: 241, Message: "Memory limit exceeded"}); advice(err) != "" || isForGood(err) {
		t.Errorf("another failure: %q, for good: %t", advice(err), isForGood(err))
	}
}

// Given a server that knows no such cluster, or has no Keeper for one with replicas, when tables are to be made on all its servers,
// then it is said what they take. The embedded engine runs no statement ON CLUSTER, so what servers without a Keeper answer is
// given by its code.
func TestWhatToDoAboutACluster(t *testing.T) {
	addr, name := clickhousetest.Database(t)
	env := map[string]string{"TALLYHOUSE_CLICKHOUSE": addr, "TALLYHOUSE_CLICKHOUSE_DATABASE": name}
	if got := tallyhouse(t, env, "", "migrate", "--cluster", "main"); got.code != exitFailed || !strings.Contains(got.err, "<remote_servers>") {
		t.Errorf("without the cluster: %+v", got)
	}
	for code, want := range map[int32]string{139: "<zookeeper>", 225: "<macros>", 392: "--no-replicas", 241: ""} {
		if got := advice(&clickhouse.Exception{Code: code}); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("exception %d: %q", code, got)
		}
	}
}

// A configuration that can't be right is refused with all its faults at once, wherever they come from.
func TestAllFaultsOfAConfigurationAreToldAtOnce(t *testing.T) {
	empty := file(t, "empty", "")
	env := map[string]string{
		"TALLYHOUSE_FRESHNESS": "soon", "TALLYHOUSE_RATE_LIMIT": "many", "TALLYHOUSE_LOG_FORMAT": "xml",
		"TALLYHOUSE_KAFKA_PASSWORD_FILE": "there-is-none", "TALLYHOUSE_CLICKHOUSE_PASSWORD_FILE": empty,
		"TALLYHOUSE_KAFKA_USER": "u",
	}
	connections := []string{
		`--log-format must be text, json or auto, not "xml"`, "TALLYHOUSE_KAFKA_PASSWORD_FILE", "there-is-none", "is empty: " + empty,
		"--kafka-user needs --kafka-password", `--clickhouse-addr must be host:port,..., but has "nowhere"`,
	}
	for command, c := range map[string]struct {
		args, want []string
	}{
		"desk": {
			[]string{"--clickhouse-addr", "nowhere", "--desk-url", "http://desk.example.com", "--desk-key-file", "no-keys",
				"--oidc-client-id", "desk", "--redis-url", "redis", "--mail-max-amount", "0", "--originals-s3", "https://s3.example.com"},
			append([]string{"TALLYHOUSE_RATE_LIMIT", "--desk-url must begin with https://", "--desk-key-file: ", "--redis-url", "--mail-max-amount",
				"--originals-s3: ", "--oidc-issuer is missing"}, connections...),
		},
		"ingest": {
			[]string{"--clickhouse-addr", "nowhere", "--group", "", "--imap", "ftp://x", "--mail-done", "burnt", "--mail-max-bytes", "0",
				"--mail-max-pdfs", "0", "--mail-poll", "0s", "--originals-s3", "s3.example.com", "--tesseract", "no-program"},
			append([]string{"TALLYHOUSE_FRESHNESS", "--group must not be empty", "--imap, number 1", `not "burnt"`, "--mail-max-bytes must",
				"--mail-max-pdfs must", "--mail-poll must", "--originals-s3: ", "--tesseract: "}, connections...),
		},
		"api": {
			[]string{"--clickhouse-addr", "nowhere", "--now", "today", "--environment", "prod", "--base-path", "ledger", "--trusted-proxy",
				"me,you", "--redis-url", "redis", "--access-gaps-accepted", "yes", "--oidc-issuer", "http://id.example.com",
				"--cursor-key-file", "no-keys", "--cors-origin", "https://app.example.com,app.example.com,https://app.example.com/x"},
			append([]string{"TALLYHOUSE_RATE_LIMIT", "--now must be", `--environment must be test or live, not "prod"`, "--base-path", `not "me"`, `not "you"`, "--redis-url",
				"--access-gaps-accepted", "--oidc-issuer must begin with https://", "--oidc-audience is missing", "--cursor-key-file: ",
				`--cors-origin must be an origin like https://app.example.com, or *, not "app.example.com"`, `not "https://app.example.com/x"`}, connections...),
		},
	} {
		t.Run(command, func(t *testing.T) {
			o := tallyhouse(t, env, "", append([]string{command}, c.args...)...)
			if o.code != exitUsage || o.out != "" {
				t.Errorf("exit code %d, %q", o.code, o.out)
			}
			for _, want := range c.want {
				if !strings.Contains(o.err, want) {
					t.Errorf("standard error says\n%swant %s", o.err, want)
				}
			}
		})
	}
}

// A secret is read from the file that its variable with _FILE names, without the line's end; both at once is a fault.
func TestSecretsAreReadFromFiles(t *testing.T) {
	broker := kafkaWithLogin(t)
	secret := file(t, "password", "right\n")
	env := map[string]string{
		"TALLYHOUSE_KAFKA": broker, "TALLYHOUSE_KAFKA_USER": "tallyhouse", "TALLYHOUSE_KAFKA_PASSWORD_FILE": secret,
	}
	if o := tallyhouse(t, env, "", "topics"); o.code != exitDone {
		t.Errorf("%+v", o)
	}
	env["TALLYHOUSE_KAFKA_PASSWORD"] = "right"
	if o := tallyhouse(t, env, "", "topics"); o.code != exitUsage || !strings.Contains(o.err, "leave one of them out") {
		t.Errorf("%+v", o)
	}
}
