// Package mailboxtest is an IMAP server that misbehaves as a test wants it to: it hangs up in the middle of a mail,
// falls silent, loses mails, changes UIDs. Nothing about it is right but what the tests need.
package mailboxtest

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Fault is what goes wrong with one command.
type Fault uint8

// The faults.
const (
	None     Fault = iota
	HangUp         // the connection ends instead of an answer
	Stall          // no answer comes, the connection stays
	Cut            // the connection ends in the middle of a mail's literal
	Expunge        // the mails of the command are gone, as if somebody had removed them just before
	Refuse         // the answer is NO
	Throttle       // the answer is NO, and to come back after ThrottleTime
	Lie            // the literal is announced with a length that nobody asked for
	Short          // half of the mail is given as if it were all
	Chat           // the flags of each mail are told before the answer, as when another client changes them
)

// ThrottleTime is how long the server wants to be left alone.
const ThrottleTime = 700 * time.Millisecond

// Mail is one of the mailbox.
type Mail struct {
	UID     uint32
	Raw     string
	Arrived time.Time
	Size    int // what the server says; 0: the truth
	flags   []string
}

// Server is the server with its one mailbox.
type Server struct {
	// What the server can do, set before it is used.
	NoIdle, NoKeywords bool
	Move, UIDPlus      bool
	BlindSearch        bool // a search for missing keywords finds nothing, as Gmail's is said to
	// Token is what XOAUTH2 takes.
	Token string
	// Fault is asked about every command, like "UID FETCH 7 (...)".
	Fault func(command string) Fault

	addr  string
	mutex sync.Mutex
	mails []*Mail
	next  uint32
	valid uint32
	log   []string
	moved []string // mails that were moved or copied to another folder
	conns map[net.Conn]bool
	news  chan struct{} // closed at new mail
}

// Start starts a server, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{addr: l.Addr().String(), next: 1, valid: 1, conns: map[net.Conn]bool{}, news: make(chan struct{}),
		Fault: func(string) Fault { return None }}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mutex.Lock()
			s.conns[c] = true
			s.mutex.Unlock()
			open.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.hangUp()
		open.Wait()
	})
	return s
}

// URL is the mailbox.
func (s *Server) URL() string { return "imap://user:secret@" + s.addr + "/INBOX?tls=off" }

// Deliver adds a mail.
func (s *Server) Deliver(raw string) { s.DeliverAt(time.Now(), raw) }

// DeliverAt puts a mail into the mailbox as one that arrived at an instant.
func (s *Server) DeliverAt(arrived time.Time, raw string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.mails = append(s.mails, &Mail{UID: s.next, Raw: raw, Arrived: arrived.Truncate(time.Second)})
	s.next++
	close(s.news)
	s.news = make(chan struct{})
}

// Renumber gives all mails new UIDs, without their keywords, as a server does that was restored, and ends all
// connections.
func (s *Server) Renumber() {
	s.mutex.Lock()
	s.valid++
	s.next += 100
	for _, m := range s.mails {
		m.UID, m.flags = s.next, nil
		s.next++
	}
	s.mutex.Unlock()
	s.hangUp()
}

// Remove takes a mail out of the mailbox.
func (s *Server) Remove(uid uint32) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.mails = slices.DeleteFunc(s.mails, func(m *Mail) bool { return m.UID == uid })
}

// hangUp ends all connections.
func (s *Server) hangUp() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Flags are the keywords of each mail, sorted.
func (s *Server) Flags() [][]string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all [][]string
	for _, m := range s.mails {
		flags := slices.Clone(m.flags)
		slices.Sort(flags)
		all = append(all, flags)
	}
	return all
}

// Moved are the mails that are in another folder now.
func (s *Server) Moved() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.moved)
}

// Log are the commands that came.
func (s *Server) Log() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.log)
}
