// Package mail runs a mail server inside the process that starts it: an SMTP door that takes mail for every address, and an IMAP server with the one mailbox
// in which all of it lands. It is for development: who reaches the door may send, and the password is no secret.
//
// What the door has acknowledged is on the file system and survives a kill; so do the mails' keywords and folders.
package mail

import (
	"bytes"
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
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-smtp"

	"tallyhouse/deploy/embedded/supervise"
)

// User and Password open the mailbox.
const (
	User     = "demo"
	Password = "demo"
	// MaxBytes is the largest mail that the door takes.
	MaxBytes = 64 << 20

	maxRecipients = 500
	serviceName   = "embedded mail"
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
	store     *store
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

// Start starts both servers; they accept connections when it returns. A taken port is a *supervise.PortTakenError.
func Start(o Options) (_ *Server, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: create the data directory: %w", serviceName, err)
	}
	unlock, free, err := supervise.TryLock(filepath.Join(o.DataDir, "tallyhouse.lock"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", serviceName, err)
	}
	if !free {
		return nil, fmt.Errorf("%s: %s: %w; end that one, or choose another directory with --data-dir DIR", serviceName, o.DataDir, ErrDataDirInUse)
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	kept, err := openStore(o.DataDir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", serviceName, err)
	}
	imapListener, err := listen(o.IMAP, "--imap-addr")
	if err != nil {
		return nil, err
	}
	smtpListener, err := listen(o.SMTP, "--smtp-addr")
	if err != nil {
		return nil, errors.Join(err, imapListener.Close())
	}
	logger := slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn)
	s := &Server{store: kept, imapAddr: imapListener.Addr().String(), smtpAddr: smtpListener.Addr().String(), unlock: unlock, listeners: []net.Listener{imapListener, smtpListener}}
	s.imap = imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return &session{store: kept}, nil, nil
		},
		Caps:   imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapNamespace: {}, imap.CapUIDPlus: {}, imap.CapMove: {}},
		Logger: logger, InsecureAuth: true,
	})
	s.smtp = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &delivery{store: kept, log: o.Log}, nil }))
	s.smtp.Domain = "localhost"
	s.smtp.MaxMessageBytes, s.smtp.MaxRecipients = MaxBytes, maxRecipients
	s.smtp.ReadTimeout, s.smtp.WriteTimeout = time.Minute, time.Minute
	s.smtp.MaxLineLength = 1 << 20 // binary PDFs have long lines
	s.smtp.EnableSMTPUTF8 = true
	s.smtp.ErrorLog = logger
	// Both end, without a word, when they are stopped; nothing else ends them.
	s.serving.Go(func() { _ = s.imap.Serve(imapListener) })
	s.serving.Go(func() { _ = s.smtp.Serve(smtpListener) })
	o.Log.Info("embedded mail serves", "imap", s.imapAddr, "smtp", s.smtpAddr, "data", o.DataDir)
	return s, nil
}

func listen(addr, flag string) (net.Listener, error) {
	definite, err := supervise.ListenAddr(serviceName, addr, flag)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", definite)
	if err != nil {
		return nil, fmt.Errorf("%s: listen: %w; choose another address with %s HOST:PORT", serviceName, err, flag)
	}
	return l, nil
}

// URL is the mailbox for the intake of mail.
func (s *Server) URL() string {
	u := url.URL{Scheme: "imap", User: url.UserPassword(User, Password), Host: s.imapAddr, Path: "/" + inbox, RawQuery: "tls=off"}
	return u.String()
}

// SMTP is where mail is taken in, host:port.
func (s *Server) SMTP() string { return s.smtpAddr }

// Stop ends both servers, mails that are being given in first, for a moment. What the door acknowledged is stored. Later calls do nothing.
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

// delivery is one connection at the door.
type delivery struct {
	store *store
	log   *slog.Logger
	from  string
	to    []string
}

// Reset forgets the mail that was begun.
func (d *delivery) Reset() { d.from, d.to = "", nil }

// Logout has nothing to free.
func (d *delivery) Logout() error { return nil }

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

// Data stores the mail, with its recipients in Delivered-To: nobody else knows them when they aren't in To.
func (d *delivery) Data(r io.Reader) error {
	var mail bytes.Buffer
	fmt.Fprintf(&mail, "Return-Path: <%s>\r\n", d.from)
	for _, to := range d.to {
		fmt.Fprintf(&mail, "Delivered-To: %s\r\n", to)
	}
	if _, err := mail.ReadFrom(r); err != nil {
		return err
	}
	uid, err := d.store.deliver(mail.Bytes(), time.Now())
	if err != nil {
		d.log.Error("a mail could not be stored", "error", err)
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "the mail could not be stored"}
	}
	d.log.Info("mail taken in", "uid", uid, "to", d.to, "size", mail.Len())
	return nil
}
