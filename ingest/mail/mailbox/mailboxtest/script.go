// Package mailboxtest is an IMAP server that misbehaves as a test wants it to: it hangs up in the middle of a mail,
// falls silent, loses mails, changes UIDs. Nothing about it is right but what the tests need.
package mailboxtest

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
		s.HangUp()
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
	s.HangUp()
}

// HangUp ends all connections.
func (s *Server) HangUp() {
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

// conn is one connection.
type conn struct {
	*Server
	net.Conn
	in   *bufio.Reader
	told int // how many mails there are, as the client knows
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mutex.Lock()
		delete(s.conns, c)
		s.mutex.Unlock()
	}()
	k := &conn{Server: s, Conn: c, in: bufio.NewReader(c)}
	k.say("* OK ready")
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		s.mutex.Lock()
		s.log = append(s.log, command)
		s.mutex.Unlock()
		fault := s.Fault(command)
		switch {
		case fault == HangUp:
			return
		case fault == Stall:
			_, _ = k.in.ReadString('\n') // until the client gives up
			return
		case fault == Refuse:
			k.say(tag + " NO not now")
		case fault == Throttle:
			k.say("%s NO Request is throttled. Suggested Backoff Time: %d milliseconds", tag, ThrottleTime.Milliseconds())
		case !k.answer(tag, command, fault):
			return
		}
	}
}

func (c *conn) say(format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	_, _ = c.Write([]byte(format + "\r\n"))
}

// answer answers a command; false ends the connection.
func (c *conn) answer(tag, command string, fault Fault) bool {
	verb, rest, _ := strings.Cut(command, " ")
	if verb == "UID" {
		var more string
		more, rest, _ = strings.Cut(rest, " ")
		verb += " " + more
	}
	switch verb {
	case "CAPABILITY":
		caps := "IMAP4rev1"
		if !c.NoIdle {
			caps += " IDLE"
		}
		if c.Move {
			caps += " MOVE"
		}
		if c.UIDPlus {
			caps += " UIDPLUS"
		}
		if c.Token != "" {
			caps += " AUTH=XOAUTH2"
		}
		c.say("* CAPABILITY " + caps)
	case "LOGIN":
		if !strings.Contains(command, "secret") {
			c.say(tag + " NO wrong password")
			return true
		}
	case "AUTHENTICATE":
		mechanism, first, _ := strings.Cut(rest, " ")
		if first == "" {
			c.say("+ ")
			first, _ = c.in.ReadString('\n')
		}
		token, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(first))
		if want := "user=user\x01auth=Bearer " + c.Token + "\x01\x01"; mechanism != "XOAUTH2" || string(token) != want {
			c.say("+ " + base64.StdEncoding.EncodeToString([]byte(`{"status":"401"}`)))
			_, _ = c.in.ReadString('\n')
			c.say(tag + " NO wrong token")
			return true
		}
	case "SELECT":
		c.mutex.Lock()
		n, valid := len(c.mails), c.valid
		c.told = n
		c.mutex.Unlock()
		flags := `\Seen \Flagged \*`
		if c.NoKeywords {
			flags = `\Seen \Flagged`
		}
		c.say("* %d EXISTS\r\n* FLAGS (\\Seen)\r\n* OK [PERMANENTFLAGS (%s)] ok\r\n* OK [UIDVALIDITY %d] ok", n, flags, valid)
	case "IDLE":
		if c.NoIdle {
			c.say(tag + " BAD what?")
			return true
		}
		return c.idle(tag)
	case "UID SEARCH":
		c.say("* SEARCH" + c.search(rest))
	case "UID FETCH":
		if !c.fetch(rest, fault) {
			return false
		}
	case "UID STORE":
		c.store(rest)
	case "UID COPY", "UID MOVE":
		if verb == "UID MOVE" && !c.Move {
			c.say(tag + " BAD what?")
			return true
		}
		c.copy(rest)
		if verb == "UID MOVE" {
			c.expunge(rest, func(*Mail) bool { return true })
		}
	case "UID EXPUNGE":
		if !c.UIDPlus {
			c.say(tag + " BAD what?")
			return true
		}
		c.expunge(rest, func(m *Mail) bool { return slices.Contains(m.flags, `\Deleted`) })
	case "NOOP":
		c.tell()
	case "CREATE":
	default:
		c.say(tag + " BAD what?")
		return true
	}
	c.say(tag + " OK done")
	return true
}

// idle tells of new mail until the client has enough.
func (c *conn) idle(tag string) bool {
	c.say("+ idling")
	ended := make(chan bool, 1)
	go func() {
		line, err := c.in.ReadString('\n')
		ended <- err == nil && strings.HasPrefix(line, "DONE")
	}()
	for {
		news := c.tell()
		select {
		case <-news:
		case ok := <-ended:
			c.say(tag + " OK done")
			return ok
		}
	}
}

// tell tells of mails that the client doesn't know of, and gives a channel that is closed at the next one.
func (c *conn) tell() <-chan struct{} {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if n := len(c.mails); n != c.told {
		c.told = n
		c.say("* %d EXISTS", n)
	}
	return c.news
}

func (c *conn) search(criteria string) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	words := strings.Fields(criteria)
	found := ""
	for _, m := range c.mails {
		match := true
		for i := 0; i < len(words); i++ {
			switch words[i] {
			case "UID":
				i++
				match = match && within(words[i], m.UID, c.next-1)
			case "KEYWORD":
				i++
				match = match && slices.Contains(m.flags, words[i])
			case "UNKEYWORD":
				i++
				match = match && !c.BlindSearch && !slices.Contains(m.flags, words[i])
			case "FLAGGED":
				match = match && slices.Contains(m.flags, `\Flagged`)
			case "UNFLAGGED":
				match = match && !slices.Contains(m.flags, `\Flagged`)
			}
		}
		if match {
			found += fmt.Sprint(" ", m.UID)
		}
	}
	return found
}

func within(set string, uid, last uint32) bool {
	for piece := range strings.SplitSeq(set, ",") {
		from, to, is := strings.Cut(piece, ":")
		if !is {
			to = from
		}
		number := func(s string) uint32 {
			if s == "*" {
				return last
			}
			n, _ := strconv.ParseUint(s, 10, 32) // what is no number matches nothing
			return uint32(n)
		}
		a, b := number(from), number(to)
		if uid >= min(a, b) && uid <= max(a, b) {
			return true
		}
	}
	return false
}

// each calls f with the mails of a command's set.
func (c *conn) each(rest string, f func(sequence int, m *Mail)) {
	set, _, _ := strings.Cut(rest, " ")
	for i, m := range c.mails {
		if within(set, m.UID, c.next-1) {
			f(i+1, m)
		}
	}
}

func (c *conn) copy(rest string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.each(rest, func(_ int, m *Mail) { c.moved = append(c.moved, m.Raw) })
}

// expunge removes mails of a command's set.
func (c *conn) expunge(rest string, which func(*Mail) bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	gone := map[*Mail]bool{}
	c.each(rest, func(sequence int, m *Mail) {
		if which(m) {
			c.say("* %d EXPUNGE", sequence-len(gone))
			gone[m] = true
		}
	})
	c.mails = slices.DeleteFunc(c.mails, func(m *Mail) bool { return gone[m] })
	c.told -= len(gone)
}

func (c *conn) fetch(rest string, fault Fault) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if fault == Expunge {
		c.each(rest, func(_ int, m *Mail) { m.UID = 0 })
		c.mails = slices.DeleteFunc(c.mails, func(m *Mail) bool { return m.UID == 0 })
		c.told = len(c.mails)
	}
	open := true
	c.each(rest, func(sequence int, m *Mail) {
		if !strings.Contains(rest, "BODY") {
			c.say("* %d FETCH (UID %d FLAGS (%s))", sequence, m.UID, strings.Join(m.flags, " "))
			return
		}
		section, body := "BODY[]<0>", m.Raw
		if strings.Contains(rest, "[HEADER]") {
			header, _, _ := strings.Cut(m.Raw, "\r\n\r\n")
			section, body = "BODY[HEADER]<0>", header+"\r\n\r\n"
		}
		body = body[:min(len(body), most(rest))]
		size := len(m.Raw)
		if m.Size > 0 {
			size = m.Size
		}
		announced := len(body)
		if fault == Lie {
			announced = 1 << 30
		}
		start := fmt.Sprintf("* %d FETCH (UID %d RFC822.SIZE %d FLAGS (%s) INTERNALDATE \"%s\" %s {%d}\r\n", sequence,
			m.UID, size, strings.Join(m.flags, " "),
			m.Arrived.Format("02-Jan-2006 15:04:05 -0700"), section, announced)
		if fault == Cut || fault == Lie {
			_, _ = c.Write([]byte(start + body[:len(body)/2]))
			open = false
			return
		}
		_, _ = c.Write([]byte(start + body + ")\r\n"))
	})
	return open
}

var partial = regexp.MustCompile(`<0\.(\d+)>`)

// most is how many bytes of a mail a command asks for.
func most(command string) int {
	asked := partial.FindStringSubmatch(command)
	if asked == nil {
		return math.MaxInt
	}
	n, _ := strconv.Atoi(asked[1]) // digits
	return n
}

var storing = regexp.MustCompile(`^\S+ ([+-])FLAGS(\.SILENT)? \(([^)]*)\)$`)

func (c *conn) store(rest string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	parts := storing.FindStringSubmatch(rest)
	if parts == nil {
		return
	}
	c.each(rest, func(sequence int, m *Mail) {
		for _, f := range strings.Fields(parts[3]) {
			m.flags = slices.DeleteFunc(m.flags, func(has string) bool { return has == f })
			if parts[1] == "+" {
				m.flags = append(m.flags, f)
			}
		}
		if parts[2] == "" {
			c.say("* %d FETCH (UID %d FLAGS (%s))", sequence, m.UID, strings.Join(m.flags, " "))
		}
	})
}
