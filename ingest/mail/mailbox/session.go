package mailbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// UID addresses a mail for as long as the mailbox's UIDValidity stays.
type UID = imap.UID

// Options say which mailbox, and how its mails are marked.
type Options struct {
	Address
	// DoneFolder is where mails go whose records are written; "": they stay and get a keyword.
	DoneFolder string
	// Slot tells this worker from others that share the mailbox, 0 to Slots-1. Two may have the same one: then they
	// don't see each other's claims.
	Slot int
	// Timeout bounds each answer but that to a mail's body, which has more by its size; default 30 s.
	Timeout time.Duration
	// Poll is how often a server is asked that can't tell of new mail by itself (IDLE); default 15 s.
	Poll time.Duration
}

// Slots is the number of keywords that claims are told apart by.
const Slots = 8

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Poll == 0 {
		o.Poll = 15 * time.Second
	}
	return o
}

// ErrRefused is wrapped when waiting cannot help: the login, the mailbox or what it can do is wrong.
var ErrRefused = errors.New("see the mailbox's URL and rights")

// ErrLogin says which of these it is: the user, or the password or token.
var ErrLogin = fmt.Errorf("the login is refused: %w", ErrRefused)

// Session is a connection with the mailbox selected. Its methods may be called concurrently; commands go one after the
// other. After any error that isn't Refused it is of no use: close it.
type Session struct {
	// UIDValidity changes when the server gives its mails new UIDs.
	UIDValidity uint32

	options   Options
	client    *imapclient.Client
	conn      *boundedConn  // the client's
	commands  sync.Mutex    // held by whoever uses the connection, an IDLE too
	waiting   atomic.Int32  // commands that want it
	interrupt chan struct{} // full when one came
	news      chan struct{} // full when the server told of new mail
	idle      bool
	keywords  bool        // whether the mailbox takes keywords
	sizesOff  atomic.Bool // the server told a size that its mail doesn't have
	move      bool        // whether the server has MOVE; else mails are copied, and the one copied from is removed
}

// Open connects, logs in and selects the mailbox.
func Open(ctx context.Context, o Options) (*Session, error) {
	o = o.withDefaults()
	s := &Session{options: o, news: make(chan struct{}, 1), interrupt: make(chan struct{}, 1)}
	if err := s.open(ctx); err != nil {
		if s.client != nil {
			_ = s.client.Close()
		}
		return nil, &OpenError{o.Address, err}
	}
	return s, nil
}

// OpenError is why a mailbox can't be opened: its server is away, or refused what was asked of it.
type OpenError struct {
	Address Address
	Cause   error
}

func (e *OpenError) Error() string { return fmt.Sprintf("open mailbox %s: %v", e.Address, e.Cause) }

// Unwrap gives errors.Is and errors.As the cause.
func (e *OpenError) Unwrap() error { return e.Cause }

// Close ends the connection at once.
func (s *Session) Close() { _ = s.client.Close() }

func (s *Session) open(ctx context.Context) error {
	dialer := &net.Dialer{Timeout: s.options.Timeout}
	conn, err := dialer.DialContext(ctx, "tcp", s.options.Host)
	if err != nil {
		return err
	}
	if err := s.greet(ctx, conn); err != nil {
		return err
	}
	if err := s.login(ctx); err != nil {
		return err
	}
	return s.selectMailbox(ctx)
}

// greet makes the client, on an encrypted connection.
func (s *Session) greet(ctx context.Context, conn net.Conn) error {
	a := s.options.Address
	host, _, _ := net.SplitHostPort(a.Host)
	config := a.tls.Clone()
	config.ServerName = host
	options := &imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		// No commands in here: the client reads nothing meanwhile.
		Mailbox: func(data *imapclient.UnilateralDataMailbox) {
			if data.NumMessages != nil {
				s.Nudge()
			}
		},
	}}
	bounded := context.AfterFunc(ctx, func() { conn.Close() })
	defer bounded()
	if err := conn.SetDeadline(time.Now().Add(s.options.Timeout)); err != nil {
		return err
	}
	switch a.security {
	case implicitTLS:
		config.NextProtos = []string{"imap"}
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			conn.Close()
			return err
		}
		conn = secured
	case startTLS:
		secured, err := startedTLS(ctx, conn, config)
		if err == nil {
			conn = secured
			break
		}
		conn.Close()
		if !a.local() || !errors.Is(err, errNoTLS) {
			return fmt.Errorf("STARTTLS: %w (add ?tls=off to go without encryption)", err)
		}
		if conn, err = net.DialTimeout("tcp", a.Host, s.options.Timeout); err != nil {
			return err
		}
	}
	s.conn = newBoundedConn(conn)
	s.client = imapclient.New(s.conn, options)
	return s.do(ctx, "greeting", s.options.Timeout, s.client.WaitGreeting)
}

func (s *Session) login(ctx context.Context) error {
	secret, err := s.options.secret(ctx)
	if err != nil {
		return err
	}
	err = s.do(ctx, "login", s.options.Timeout, func() error {
		if s.client.State() != imap.ConnStateNotAuthenticated {
			return nil // the server knows who we are
		}
		if s.options.bearer {
			return s.client.Authenticate(&xoauth2{s.options.User, secret})
		}
		return s.client.Login(s.options.User, secret).Wait()
	})
	if refused := (*imap.Error)(nil); errors.As(err, &refused) {
		if s.options.oauth != nil {
			s.options.oauth.refused()
		}
		return fmt.Errorf("%w: %w", err, ErrLogin)
	}
	return err
}

func (s *Session) selectMailbox(ctx context.Context) error {
	var selected *imap.SelectData
	err := s.do(ctx, "select", s.options.Timeout, func() (err error) {
		selected, err = s.client.Select(s.options.Mailbox, nil).Wait()
		return err
	})
	if refused := (*imap.Error)(nil); errors.As(err, &refused) {
		return fmt.Errorf("%w: %w", err, ErrRefused)
	}
	if err != nil {
		return err
	}
	s.UIDValidity = selected.UIDValidity
	s.keywords = slices.Contains(selected.PermanentFlags, imap.FlagWildcard)
	var caps imap.CapSet
	if err := s.do(ctx, "capability", s.options.Timeout, func() error {
		if caps = s.client.Caps(); caps == nil {
			return errors.New("the server does not tell what it can do")
		}
		return nil
	}); err != nil {
		return err
	}
	s.idle = caps.Has(imap.CapIdle)
	if s.options.DoneFolder == "" {
		if !s.keywords {
			return fmt.Errorf("it takes no keywords, so done mails can't be marked: have them moved with --mail-done folder: %w", ErrRefused)
		}
		return nil
	}
	s.move = caps.Has(imap.CapMove)
	if !s.move && !caps.Has(imap.CapUIDPlus) {
		return fmt.Errorf("the server can't move mails (MOVE or UIDPLUS): mark them with --mail-done keyword: %w", ErrRefused)
	}
	return s.do(ctx, "create", s.options.Timeout, func() error {
		err := s.client.Create(s.options.DoneFolder, nil).Wait()
		if refused := (*imap.Error)(nil); errors.As(err, &refused) {
			return nil // it is there; if it isn't, the first move says so
		}
		return err
	})
}

// do runs a command when no other runs.
func (s *Session) do(ctx context.Context, what string, limit time.Duration, command func() error) error {
	return s.doOn(ctx, what, limit, func(func()) error { return command() })
}

// doOn is do for a command that may take long in all.
func (s *Session) doOn(ctx context.Context, what string, limit time.Duration, command func(comesOn func()) error) error {
	s.waiting.Add(1)
	select { // ends an IDLE
	case s.interrupt <- struct{}{}:
	default:
	}
	s.commands.Lock()
	s.waiting.Add(-1)
	defer s.commands.Unlock()
	return s.runOn(ctx, what, limit, command)
}

// run runs a command and ends the connection when it takes too long or the context ends: the client itself waits
// forever.
func (s *Session) run(ctx context.Context, what string, limit time.Duration, command func() error) error {
	return s.runOn(ctx, what, limit, func(func()) error { return command() })
}

// runOn runs a command that may take long in all, as long as it comes on: limit begins anew with each sign of that.
func (s *Session) runOn(ctx context.Context, what string, limit time.Duration, command func(comesOn func()) error) error {
	bounded, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := time.AfterFunc(limit, func() { stop(fmt.Errorf("no answer within %s", limit)) })
	defer over.Stop()
	release := context.AfterFunc(bounded, func() { _ = s.client.Close() })
	err := command(func() { over.Reset(limit) })
	if !release() {
		return fmt.Errorf("%s: %w", what, context.Cause(bounded))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// xoauth2 logs in with an access token, as Google and Microsoft want it.
type xoauth2 struct{ user, token string }

// Start gives the whole of it at once.
func (x *xoauth2) Start() (mechanism string, first []byte, err error) {
	return "XOAUTH2", []byte("user=" + x.user + "\x01auth=Bearer " + x.token + "\x01\x01"), nil
}

// Next answers the server's account of a failure, which it gives before it refuses.
func (x *xoauth2) Next([]byte) ([]byte, error) { return []byte{}, nil }
