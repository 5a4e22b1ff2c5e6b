// Package smtptest is a mail server for tests: it wants TLS and a login, keeps what it takes, and refuses what a test wants.
package smtptest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"tallyhouse/deploy/embedded/tlstest"
)

const password = "correct horse"

// Letter is what the server took.
type Letter struct {
	From, To string // of the envelope
	Raw      []byte
}

// Server is the server. It starts to listen with Listen.
type Server struct {
	// URL is the server's address, as settings have it.
	URL string

	t       testing.TB
	addr    string
	tls     *tls.Config
	refuse  func(to string) error
	mutex   sync.Mutex
	letters []Letter
}

// New prepares a server at an address of its own, smtps or smtp with STARTTLS. Refuse is asked about each recipient.
func New(t testing.TB, scheme string, refuse func(to string) error) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, addr: l.Addr().String(), refuse: refuse}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	own, secret := tlstest.New(t, nil), filepath.Join(dir, "password")
	s.tls = own.Config()
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.URL = fmt.Sprintf("%s://robot@%s?password-file=%s&ca=%s", scheme, s.addr, secret, own.CA)
	return s
}

// Listen lets the server take mail from now on, until the test ends.
func (s *Server) Listen() {
	s.t.Helper()
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }))
	server.TLSConfig, server.Domain = s.tls, "smtp.example"
	if s.URL[:5] == "smtps" {
		l = tls.NewListener(l, s.tls)
	}
	done := make(chan struct{})
	go func() { _ = server.Serve(l); close(done) }()
	s.t.Cleanup(func() { _ = server.Close(); <-done })
}

// Letters are those that the server took, in order.
func (s *Server) Letters() []Letter {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]Letter{}, s.letters...)
}

// session is one conversation.
type session struct {
	server *Server
	in     bool
	letter Letter
}

func (*session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (c *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, given string) error {
		if user != "robot" || given != password {
			return smtp.ErrAuthFailed
		}
		c.in = true
		return nil
	}), nil
}

func (c *session) Mail(from string, _ *smtp.MailOptions) error {
	if !c.in {
		return smtp.ErrAuthRequired
	}
	c.letter = Letter{From: from}
	return nil
}

func (c *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.letter.To = to
	return c.server.refuse(to)
}

func (c *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if len(raw) == 0 {
		return errors.New("an empty mail")
	}
	c.letter.Raw = raw
	c.server.mutex.Lock()
	defer c.server.mutex.Unlock()
	c.server.letters = append(c.server.letters, c.letter)
	return nil
}

func (*session) Reset() {}

func (*session) Logout() error { return nil }
