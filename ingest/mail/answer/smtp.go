package answer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"tallyhouse/ingest/mail/login"
	"tallyhouse/schemas/loopback"
)

// Server is a mail server that takes answers, and how to log in there. Its String has no password.
type Server struct {
	host         string // host:port
	user         string
	passwordFile string
	implicit     bool // TLS from the beginning
	plain        bool // no encryption
	tls          *tls.Config
}

// parseServer reads an address like smtps://user@host:465?password-file=FILE. smtps is TLS from the beginning, smtp is
// STARTTLS; with tls=off there is no encryption, for a server that wants no login or is on this machine. ca=FILE names the
// authorities to trust instead of the system's.
func parseServer(s string) (Server, error) {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtps" && u.Scheme != "smtp" || strings.Trim(u.Path, "/") != "" {
		return Server{}, errors.New("smtp must be an address like smtps://user@smtp.example.com?password-file=FILE or smtp://... " +
			"(characters such as @ / : in the user are written as %40 %2F %3A)")
	}
	o := Server{user: u.User.Username(), implicit: u.Scheme == "smtps",
		tls: &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}}
	port := u.Port()
	switch {
	case port != "":
	case o.implicit:
		port = "465"
	default:
		port = "587"
	}
	o.host = net.JoinHostPort(u.Hostname(), port)
	var wrong []error
	if _, given := u.User.Password(); given {
		wrong = append(wrong, errors.New("smtp: the password belongs into a file, which password-file=FILE names"))
	}
	for name, values := range u.Query() {
		switch value := values[len(values)-1]; {
		case name == "password-file" && value != "":
			o.passwordFile = value
			_, err := o.password()
			wrong = append(wrong, err)
		case name == "ca" && value != "":
			if o.tls.RootCAs, err = login.Authorities(value); err != nil {
				wrong = append(wrong, fmt.Errorf("smtp: %w", err))
			}
		case name == "tls" && value == "off" && !o.implicit && (o.user == "" || loopback.Is(u.Hostname())):
			o.plain = true
		default:
			wrong = append(wrong, fmt.Errorf("smtp: parameter %s must be one of password-file=FILE, ca=FILE, tls=off (with smtp and without "+
				"a user, or on this machine)", name))
		}
	}
	if (o.user == "") != (o.passwordFile == "") {
		wrong = append(wrong, errors.New("smtp: user and password-file go together"))
	}
	return o, errors.Join(wrong...)
}

// String is host:port.
func (s Server) String() string { return s.host }

// password is read anew at each login, so that it can be renewed.
func (s Server) password() (string, error) {
	password, err := login.Password(s.passwordFile)
	if err != nil {
		return "", fmt.Errorf("smtp: %w", err)
	}
	return password, nil
}

// Bounds of a conversation with the server.
const (
	commandLimit = 20 * time.Second
	sendLimit    = time.Minute
)

// refusal says what a server thinks of one letter: others may fare better.
type refusal struct {
	error
	forGood bool
}

// Unwrap gives what the server said.
func (r *refusal) Unwrap() error { return r.error }

// send hands a letter to the server. The error is a *refusal where it is the letter's fault, any other where the server is
// away or takes nothing.
func (s Server) send(ctx context.Context, to string, letter []byte) (err error) {
	ctx, stop := context.WithTimeout(ctx, sendLimit)
	defer stop()
	c, err := s.dial(ctx)
	if err != nil {
		return fmt.Errorf("connect to the mail server %s: %w", s.host, err)
	}
	defer c.Close()
	if err := s.login(c); err != nil {
		return fmt.Errorf("log in at the mail server %s: %w", s.host, err)
	}
	// Nobody answers an answer (RFC 3834, 3.3): it has no address to return to.
	if err := c.Mail("", nil); err != nil {
		return fmt.Errorf("the mail server %s takes no mail with an empty return path: %w", s.host, err)
	}
	if err := c.Rcpt(to, nil); err != nil {
		return ofLetter(err)
	}
	w, err := c.Data()
	if err != nil {
		return ofLetter(err)
	}
	if _, err := w.Write(letter); err != nil {
		return fmt.Errorf("send a mail to the mail server %s: %w", s.host, err)
	}
	if err := w.Close(); err != nil {
		return ofLetter(err)
	}
	_ = c.Quit() // it has the letter
	return nil
}

func (s Server) dial(ctx context.Context) (*smtp.Client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.host)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	var c *smtp.Client
	switch {
	case s.implicit:
		c = smtp.NewClient(tls.Client(conn, s.tls))
	case s.plain:
		c = smtp.NewClient(conn)
	default:
		if c, err = smtp.NewClientStartTLS(conn, s.tls); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	c.CommandTimeout, c.SubmissionTimeout = commandLimit, commandLimit
	return c, nil
}

func (s Server) login(c *smtp.Client) error {
	if s.user == "" {
		return nil
	}
	password, err := s.password()
	if err != nil {
		return err
	}
	return c.Auth(sasl.NewPlainClient("", s.user, password))
}

// ofLetter is a refusal where the server answered, and went on to listen.
func ofLetter(err error) error {
	var said *smtp.SMTPError
	if !errors.As(err, &said) || said.Code == 421 {
		return err
	}
	return &refusal{err, said.Code >= 500}
}
