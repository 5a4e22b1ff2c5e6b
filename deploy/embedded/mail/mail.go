// Package mail runs a mail server inside the process that starts it: SMTP that accepts mail for every address, and IMAP
// with the one mailbox that all of it is delivered to. It is for development: whoever reaches the SMTP port may send,
// and the password is no secret.
//
// Each mail is a file, on the disk before SMTP acknowledges it. At start the files are replayed into go-imap's memory
// server. Flags, folders and what else a mail program changes last as long as the server: the mail intake gives the
// same records for a mail that it reads again.
package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-smtp"

	"tallyhouse/deploy/embedded/supervise"
)

// User and Password open the mailbox.
const (
	User     = "demo"
	Password = "demo"
	// maxBytes is the largest mail that is accepted.
	maxBytes = 64 << 20

	maxRecipients  = 500
	maxConnections = 200 // of IMAP, and as many of SMTP
	inbox          = "INBOX"
	serviceName    = "embedded mail"
)

// Options say where mails are kept and where the servers listen. DataDir, IMAP and SMTP are required.
type Options struct {
	DataDir string       // one server at a time uses it
	IMAP    string       // host:port; port 0 takes a free one
	SMTP    string       // likewise
	Log     *slog.Logger // by default nothing is logged
}

// Server is a running mail server.
type Server struct {
	imap      *imapserver.Server
	smtp      *smtp.Server
	imapAddr  string
	smtpAddr  string
	unlock    func()
	listeners []net.Listener
	serving   sync.WaitGroup
	stop      sync.Once
}

// ErrDataDirInUse says that another mail server uses the data directory.
var ErrDataDirInUse = errors.New("the data directory is in use by another mail server")

// Start starts both servers; they accept connections when it returns. A taken port is a *supervise.PortTakenError, and
// leaves no data directory behind.
func Start(o Options) (_ *Server, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	imapListener, err := supervise.Listen(serviceName, o.IMAP, "--imap-addr")
	if err != nil {
		return nil, err
	}
	smtpListener, err := supervise.Listen(serviceName, o.SMTP, "--smtp-addr")
	if err != nil {
		return nil, errors.Join(err, imapListener.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, imapListener.Close(), smtpListener.Close())
		}
	}()
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: create the data directory: %w", serviceName, err)
	}
	unlock, free, err := supervise.TryLock(filepath.Join(o.DataDir, "tallyhouse.lock"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", serviceName, err)
	}
	if !free {
		return nil, fmt.Errorf("%s: %s: %w; end that one, or choose another directory with --data-dir DIR",
			serviceName, o.DataDir, ErrDataDirInUse)
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	user := imapmemserver.NewUser(User, Password)
	if err := user.Create(inbox, nil); err != nil {
		return nil, fmt.Errorf("%s: create the mailbox: %w", serviceName, err)
	}
	spool := &spool{dir: o.DataDir, user: user}
	if err := spool.replay(); err != nil {
		return nil, fmt.Errorf("%s: read the mails of %s: %w", serviceName, o.DataDir, err)
	}
	s := &Server{
		imap: newIMAP(user, o.Log), smtp: newSMTP(spool, o.Log),
		imapAddr: imapListener.Addr().String(), smtpAddr: smtpListener.Addr().String(),
		unlock: unlock, listeners: []net.Listener{imapListener, smtpListener},
	}
	// Both end without an error when they are stopped, and by nothing else.
	s.serving.Go(func() { _ = s.imap.Serve(imapListener) })
	s.serving.Go(func() { _ = s.smtp.Serve(smtpListener) })
	o.Log.Info("embedded mail serves", "imap", s.imapAddr, "data", o.DataDir)
	return s, nil
}

// URL is the mailbox for the intake of mail.
func (s *Server) URL() string {
	u := url.URL{
		Scheme: "imap", User: url.UserPassword(User, Password), Host: s.imapAddr, Path: "/" + inbox, RawQuery: "tls=off",
	}
	return u.String()
}

// SMTP is where mail is sent to, host:port.
func (s *Server) SMTP() string { return s.smtpAddr }

// Stop ends both servers, giving mails that are being sent a moment to arrive. What SMTP acknowledged is stored. Later
// calls do nothing.
func (s *Server) Stop(ctx context.Context) error {
	var err error
	s.stop.Do(func() {
		const moment = time.Second
		bounded, stop := context.WithTimeout(ctx, moment)
		defer stop()
		if s.smtp.Shutdown(bounded) != nil { // somebody holds a connection
			_ = s.smtp.Close()
		}
		err = s.imap.Close()
		for _, l := range s.listeners { // a server that was about to begin doesn't know its own yet
			_ = l.Close()
		}
		s.serving.Wait()
		s.unlock()
	})
	if err != nil {
		return fmt.Errorf("%s: stop: %w", serviceName, err)
	}
	return nil
}

func newIMAP(user *imapmemserver.User, log *slog.Logger) *imapserver.Server {
	var open atomic.Int64
	validity := uint32(time.Now().Unix()) // replayed mails have new UIDs
	return imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			if open.Add(1) > maxConnections {
				open.Add(-1)
				return nil, nil, &imap.Error{Type: imap.StatusResponseTypeBye, Text: "too many connections"}
			}
			return &session{user: user, validity: validity, closed: func() { open.Add(-1) }}, nil, nil
		},
		Caps: imap.CapSet{
			imap.CapIMAP4rev1: {}, imap.CapNamespace: {}, imap.CapUIDPlus: {}, imap.CapMove: {},
		},
		Logger: slog.NewLogLogger(log.Handler(), slog.LevelWarn), InsecureAuth: true,
	})
}

// session is one IMAP connection: the memory server's, with a UIDVALIDITY of this start.
type session struct {
	*imapmemserver.UserSession // nil until the login
	user                       *imapmemserver.User
	validity                   uint32
	closed                     func()
}

// Login checks the password.
func (s *session) Login(name, password string) error {
	if err := s.user.Login(name, password); err != nil {
		return err
	}
	s.UserSession = imapmemserver.NewUserSession(s.user)
	return nil
}

// Close ends the connection.
func (s *session) Close() error {
	s.closed()
	return s.UserSession.Close()
}

// Select opens a mailbox.
func (s *session) Select(name string, o *imap.SelectOptions) (*imap.SelectData, error) {
	data, err := s.UserSession.Select(name, o)
	if err == nil {
		data.UIDValidity = s.validity
	}
	return data, err
}

// pollInterval is how soon a client in IDLE is told of new mail.
const pollInterval = 20 * time.Millisecond

// Idle tells of new mail. The memory server's own doesn't tell of what came after the command before and ahead of IDLE,
// until something else comes.
func (s *session) Idle(w *imapserver.UpdateWriter, stop <-chan struct{}) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if err := s.Poll(w, true); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-stop:
			return nil
		}
	}
}

func newSMTP(spool *spool, log *slog.Logger) *smtp.Server {
	var open atomic.Int64
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		if open.Add(1) > maxConnections {
			open.Add(-1)
			return nil, &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 7, 0}, Message: "too many connections"}
		}
		return &delivery{spool: spool, log: log, closed: func() { open.Add(-1) }}, nil
	}))
	s.Domain = "localhost"
	s.MaxMessageBytes, s.MaxRecipients = maxBytes, maxRecipients
	s.ReadTimeout, s.WriteTimeout = time.Minute, time.Minute
	s.MaxLineLength = 1 << 20 // binary PDFs have long lines
	s.EnableSMTPUTF8 = true
	s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	return s
}

// delivery is one SMTP connection.
type delivery struct {
	spool  *spool
	log    *slog.Logger
	closed func()
	from   string
	to     []string
}

// Reset forgets the mail that was begun.
func (d *delivery) Reset() { d.from, d.to = "", nil }

// Logout ends the connection.
func (d *delivery) Logout() error {
	d.closed()
	return nil
}

// Mail notes the sender.
func (d *delivery) Mail(from string, _ *smtp.MailOptions) error {
	d.from = from
	return nil
}

// Rcpt takes every recipient.
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.ContainsAny(to, "\r\n") {
		return &smtp.SMTPError{Code: 501, EnhancedCode: smtp.EnhancedCode{5, 1, 3}, Message: "the recipient has a line break"}
	}
	d.to = append(d.to, to)
	return nil
}

// Data stores the mail, below trace fields as a delivering server writes them: only it knows the recipients that aren't
// in To.
func (d *delivery) Data(r io.Reader) error {
	raw, err := io.ReadAll(io.MultiReader(strings.NewReader(d.trace()), r))
	if err != nil {
		return err
	}
	err = d.spool.deliver(raw)
	switch {
	case errors.Is(err, errUnreadable):
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: err.Error()}
	case err != nil:
		d.log.Error("a mail could not be stored", "error", err)
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "the mail could not be stored"}
	}
	d.log.Info("mail accepted", "to", d.to, "size", len(raw))
	return nil
}

func (d *delivery) trace() string {
	var lines strings.Builder
	fmt.Fprintf(&lines, "Return-Path: <%s>\r\n", d.from)
	for _, to := range d.to {
		fmt.Fprintf(&lines, "Delivered-To: %s\r\n", to)
	}
	fmt.Fprintf(&lines, "Received: by localhost with SMTP; %s\r\n", time.Now().Format(time.RFC1123Z))
	return lines.String()
}
