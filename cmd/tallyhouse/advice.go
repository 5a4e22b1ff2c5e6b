package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/sr"

	"tallyhouse/api/desk/signin"
	"tallyhouse/api/export"
	"tallyhouse/api/session"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/originals"
	"tallyhouse/ingest/store/database"
	kafkalog "tallyhouse/schemas/kafka"
)

// isForGood reports whether a server answers in a way that waiting doesn't change.
func isForGood(err error) bool {
	return wrongPassword(err) || wrongCertificate(err) != ""
}

// outOfReach reports whether a server didn't answer, which may change.
func outOfReach(err error) bool {
	var network *net.OpError
	var notKafka *kafka.NotKafkaError
	if isForGood(err) || errors.As(err, &notKafka) {
		return false
	}
	return ended(err) || unanswered(err) || errors.As(err, &network)
}

// advice is what to do about a failure whose cause is outside of this program; "" when only the failure itself says so.
func advice(err error) string {
	var dns *net.DNSError
	var plain tls.RecordHeaderError
	var notKafka *kafka.NotKafkaError
	at := serverOf(err)
	named := at.flag
	switch what := wrongCertificate(err); {
	case what != "":
		return what
	case errors.Is(err, session.ErrOtherIssuer):
		return "write " + named + " to the letter as the issuer names itself: a slash at the end counts"
	case denied(err):
		return "the server refused who connects: check " + at.login
	case errors.Is(err, kafkago.UnsupportedSASLMechanism), errors.Is(err, kerr.UnsupportedSaslMechanism):
		return "the server doesn't take this way to log in: check --kafka-sasl, which is PLAIN where it isn't given"
	case wrongPassword(err):
		return "check the user and the password: " + at.login
	case exceptionOf(err, proto.ErrAccessDenied):
		return "grant it to the user: deploy/rights/clickhouse.sql has what each process needs, " +
			"and clickhouse-cluster.sql what it needs besides on several servers"
	case mayNot(err):
		return "allow it to the user: docs/security.md#rights has what each process needs"
	case exceptionOf(err, proto.ErrClusterDoesntExist):
		return "have <remote_servers> of every server name the cluster's shards, or check --cluster"
	case exceptionOf(err, proto.ErrNoZookeeper, proto.ErrNoElementsInConfig, proto.ErrQueryIsProhibited):
		return "replicas take a Keeper: have every server name it in <zookeeper> and itself in <macros>, with <distributed_ddl>, or say " +
			"--no-replicas where each shard is one server"
	case errors.As(err, &plain) && at.tls != "":
		return "the server doesn't speak TLS at this address: connect to its TLS port, or leave out " + at.tls
	case errors.As(err, &plain):
		return "the server doesn't speak TLS at this address: connect to its TLS port, or say so in " + named
	case errors.As(err, &dns):
		return fmt.Sprintf("no address is known of %q: check the name in %s", dns.Name, named)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: start the server, or check the port in " + named
	case errors.As(err, &notKafka) && notKafka.WantsTLS:
		return "connect with --kafka-tls"
	case errors.As(err, &notKafka):
		return "something else listens there: check the port in --kafka-addr"
	case ended(err) && at.tls != "":
		return "the server ends the connection: it may want TLS (" + at.tls + ") or a login (" + at.user + "), or have another port for " +
			"this; check " + named
	case ended(err):
		return "the server ends the connection: it may want TLS, or have another port for this; check " + named
	case unanswered(err) && at.tls != "":
		return "the server doesn't answer: check the address in " + named + ", whether it speaks TLS there (" + at.tls +
			"), and what lies between, like a firewall"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), unanswered(err):
		return "the server doesn't answer: check the address in " + named + ", and what lies between, like a firewall"
	case named == issuerFlag:
		return "see that an issuer is at this address: " + named + " with /.well-known/openid-configuration behind it leads to what " +
			"it says of itself"
	}
	return ""
}

// advising logs what to do beside a failure at a server that a flag names; Kafka and ClickHouse, which all of it needs, come back by
// themselves.
type advising struct{ slog.Handler }

// Handle implements slog.Handler.
func (h advising) Handle(ctx context.Context, r slog.Record) error {
	what := ""
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			if at := serverOf(err); at.flag != "" && at.tls == "" {
				what = advice(err)
			}
		}
		return what == ""
	})
	if what != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("do", what))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h advising) WithAttrs(all []slog.Attr) slog.Handler { return advising{h.Handler.WithAttrs(all)} }

// WithGroup implements slog.Handler.
func (h advising) WithGroup(name string) slog.Handler { return advising{h.Handler.WithGroup(name)} }

const issuerFlag = "--oidc-issuer"

// serverError is a failure at a server, with the flag that names it.
type serverError struct {
	flag  string
	login string // what says who connects
	cause error
	// Of Kafka and ClickHouse alone: the flags that say how to connect, and as whom.
	tls, authorities, user string
}

func (e *serverError) Error() string { return e.cause.Error() }
func (e *serverError) Unwrap() error { return e.cause }

// serverOf names the flags of the server that a failure is about, none where it isn't known.
func serverOf(err error) *serverError {
	if at, ok := errors.AsType[*serverError](err); ok {
		return at
	}
	if open, ok := errors.AsType[*mailbox.OpenError](err); ok {
		return &serverError{flag: "--imap", login: "the user and the password or token in --imap, or in the file that it names", cause: open}
	}
	if issuer, ok := errors.AsType[*session.IssuerError](err); ok {
		return &serverError{
			flag: issuerFlag, login: "--oidc-client-id and --oidc-client-secret, and what the provider knows of this client", cause: issuer,
		}
	}
	if broker, ok := errors.AsType[*kafkalog.Error](err); ok {
		return connectedBy("kafka", broker)
	}
	if engine, ok := errors.AsType[*database.Error](err); ok {
		return connectedBy("clickhouse", engine)
	}
	return &serverError{cause: err}
}

// connectedBy names the flags of connectionFlags that begin with a server's name.
func connectedBy(server string, cause error) *serverError {
	flag := "--" + server
	password := variablePrefix + strings.ToUpper(server) + "_PASSWORD"
	return &serverError{
		flag: flag + "-addr", tls: flag + "-tls", authorities: flag + "-tls-ca", user: flag + "-user", cause: cause,
		login: flag + "-user and " + password + " (or the file that " + password + fileSuffix + " names)",
	}
}

// denied reports whether a server other than Kafka and ClickHouse refused who connects.
func denied(err error) bool {
	if answer, ok := errors.AsType[*sr.ResponseError](err); ok {
		return answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden
	}
	return errors.Is(err, signin.ErrClient) || errors.Is(err, mailbox.ErrLogin) || errors.Is(err, originals.ErrDenied) ||
		errors.Is(err, export.ErrKey)
}

// ended reports whether a server ended the connection.
func ended(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// unanswered reports whether a connection, or an answer, took too long.
func unanswered(err error) bool {
	var operation *net.OpError
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &operation) && operation.Timeout()
}

// wrongPassword reports whether a server refused who connects.
func wrongPassword(err error) bool {
	var native *ch.Exception
	var exception *driver.Exception
	switch {
	case errors.As(err, &native) && native.IsCode(proto.ErrAuthenticationFailed, proto.ErrRequiredPassword, proto.ErrWrongPassword):
		return true
	case errors.As(err, &exception) && (exception.Code == int32(proto.ErrAuthenticationFailed) ||
		exception.Code == int32(proto.ErrRequiredPassword) || exception.Code == int32(proto.ErrWrongPassword)):
		return true
	}
	return errors.Is(err, kafkago.SASLAuthenticationFailed) || errors.Is(err, kerr.SaslAuthenticationFailed)
}

// mayNot reports whether Kafka knows who connects, and doesn't let it do what was asked.
func mayNot(err error) bool {
	return slices.ContainsFunc([]error{
		kafkago.TopicAuthorizationFailed, kafkago.GroupAuthorizationFailed, kafkago.ClusterAuthorizationFailed,
		kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	}, func(refusal error) bool { return errors.Is(err, refusal) })
}

// exceptionOf reports whether ClickHouse answered with one of some exceptions.
func exceptionOf(err error, codes ...proto.Error) bool {
	if native, ok := errors.AsType[*ch.Exception](err); ok {
		return native.IsCode(codes...)
	}
	exception, ok := errors.AsType[*driver.Exception](err)
	return ok && slices.Contains(codes, proto.Error(exception.Code))
}

// wrongCertificate says what to do about a server's certificate; "" when there is nothing wrong with it.
func wrongCertificate(err error) string {
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	at := serverOf(err)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the server's certificate is valid from %s to %s: renew it, or set this machine's clock",
			invalid.Cert.NotBefore.UTC().Format("2006-01-02"), invalid.Cert.NotAfter.UTC().Format("2006-01-02"))
	case errors.As(err, &host):
		return fmt.Sprintf("the server's certificate is not for %q: connect by a name that it has (%s), or have it made for this one",
			host.Host, strings.Join(append(host.Certificate.DNSNames, addressesOf(host.Certificate)...), ", "))
	case errors.As(err, &authority) && at.flag == "--imap":
		return "the server's certificate is signed by an authority that isn't known here: give its certificate in a PEM file, " +
			"as ca=FILE in --imap"
	case errors.As(err, &authority) && at.authorities != "":
		return "the server's certificate is signed by an authority that isn't known here: give its certificate in a PEM file, " +
			at.authorities
	case errors.As(err, &authority):
		return "the server's certificate is signed by an authority that isn't known here: add it to those of this system (SSL_CERT_FILE)"
	case errors.As(err, &invalid):
		return "have the server's certificate made anew"
	}
	return ""
}

func addressesOf(c *x509.Certificate) (all []string) {
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}
