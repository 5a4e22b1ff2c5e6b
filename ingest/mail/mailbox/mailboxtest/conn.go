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
)

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
		c.say("* CAPABILITY " + c.capabilities())
	case "LOGIN":
		if !strings.Contains(command, "secret") {
			c.say(tag + " NO wrong password")
			return true
		}
	case "AUTHENTICATE":
		if !c.authenticates(rest) {
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

func (c *conn) capabilities() string {
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
	return caps
}

// authenticates takes a login by token and tells whether the token is right.
func (c *conn) authenticates(rest string) bool {
	mechanism, first, _ := strings.Cut(rest, " ")
	if first == "" {
		c.say("+ ")
		first, _ = c.in.ReadString('\n')
	}
	token, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(first))
	if want := "user=user\x01auth=Bearer " + c.Token + "\x01\x01"; mechanism != "XOAUTH2" || string(token) != want {
		c.say("+ " + base64.StdEncoding.EncodeToString([]byte(`{"status":"401"}`)))
		_, _ = c.in.ReadString('\n')
		return false
	}
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
		if !strings.Contains(rest, "BODY") || fault == Chat {
			c.say("* %d FETCH (UID %d FLAGS (%s))", sequence, m.UID, strings.Join(m.flags, " "))
		}
		if !strings.Contains(rest, "BODY") {
			return
		}
		section, body := "BODY[]<0>", m.Raw
		if strings.Contains(rest, "[HEADER]") {
			header, _, _ := strings.Cut(m.Raw, "\r\n\r\n")
			section, body = "BODY[HEADER]<0>", header+"\r\n\r\n"
		}
		body = body[:min(len(body), most(rest))]
		if fault == Short {
			body = body[:len(body)/2]
		}
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
