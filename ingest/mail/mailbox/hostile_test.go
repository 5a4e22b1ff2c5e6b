package mailbox_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tallyhouse/ingest/mail/mailbox"
)

// answering starts a server that answers by the rules until a command has something in it, when instead it does as it likes.
func answering(t *testing.T, exists uint32, at string, instead func(c net.Conn, tag string)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go answer(c, exists, at, instead)
		}
	}()
	return "imap://u:p@" + l.Addr().String() + "/INBOX?tls=off"
}

func answer(c net.Conn, exists uint32, at string, instead func(c net.Conn, tag string)) {
	defer c.Close()
	fmt.Fprint(c, "* OK ready\r\n")
	for in := bufio.NewReader(c); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.Contains(command, at):
			instead(c, tag)
			return
		case strings.HasPrefix(command, "SELECT"):
			fmt.Fprintf(c, "* %d EXISTS\r\n* FLAGS ()\r\n* OK [PERMANENTFLAGS (\\*)] x\r\n* OK [UIDVALIDITY 1] x\r\n", exists)
		case strings.HasPrefix(command, "CAPABILITY"):
			fmt.Fprint(c, "* CAPABILITY IMAP4rev1 IDLE\r\n")
		}
		fmt.Fprintf(c, "%s OK done\r\n", tag)
	}
}

// Given a server that sends a line without an end, then the connection ends before much of it is kept, whoever waits for it.
func TestALineWithoutEndEndsTheConnection(t *testing.T) {
	for name, begin := range map[string]string{
		"a text":          "* OK ",
		"a quoted string": "* 1 FETCH (UID 1 BODY[] \"\r\n",
		"a mailbox":       "* LIST () \"/\" {999999999999}\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int64
			url := answering(t, 1, "IDLE", func(c net.Conn, _ string) {
				fmt.Fprint(c, "+ idling\r\n"+begin)
				for some := bytes.Repeat([]byte("A"), 64<<10); ; {
					n, err := c.Write(some)
					if sent.Add(int64(n)); err != nil {
						return
					}
				}
			})
			box, err := open(t, url)
			if err != nil {
				t.Fatal(err)
			}
			waited := make(chan error, 1)
			go func() { waited <- box.Wait(t.Context(), time.Hour) }()
			select {
			case err := <-waited:
				if err == nil || !strings.Contains(err.Error(), "the server sends") {
					t.Errorf("got %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%d MiB were sent, and the session waits", sent.Load()>>20)
			}
		})
	}
}

// Given a server that says it has billions of mails and then is silent, then it is given up as soon as any other; one that goes on
// telling of mails has the time that it needs.
func TestTheListEndsWhenItDoesNotComeOn(t *testing.T) {
	const timeout = time.Second
	quick := func(o *mailbox.Options) { o.Timeout = timeout }
	box, err := open(t, answering(t, 1<<32-1, "FETCH", func(c net.Conn, _ string) { _, _ = io.Copy(io.Discard, c) }), quick)
	if err != nil {
		t.Fatal(err)
	}
	listed := make(chan error, 1)
	go func() { listed <- box.List(t.Context(), 1, func(mailbox.Listed) {}) }()
	select {
	case err := <-listed:
		if err == nil || !strings.Contains(err.Error(), "no answer within") {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * timeout):
		t.Error("a silent server is waited for")
	}

	const mails = 10 * mailbox.Page
	box, err = open(t, answering(t, mails, "FETCH", func(c net.Conn, tag string) {
		for i := range mails {
			if i%mailbox.Page == 0 {
				time.Sleep(timeout / 2)
			}
			fmt.Fprintf(c, "* %d FETCH (UID %d FLAGS (\\Seen))\r\n", i+1, i+1)
		}
		fmt.Fprintf(c, "%s OK done\r\n", tag)
		_, _ = io.Copy(io.Discard, c)
	}), quick)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := box.List(t.Context(), 1, func(mailbox.Listed) { n++ }); err != nil || n != mails {
		t.Errorf("a slow server gave %d mails, %v", n, err)
	}
}

// Given a server that encrypts once it is asked to, then nothing of what it said before counts, and the bounds hold as well.
func TestSTARTTLSEncryptsAndIsBounded(t *testing.T) {
	hosts := httptest.NewTLSServer(nil)
	defer hosts.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hosts.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ greeting, consent, then, refused string }{
		"as it should":               {"* OK ready\r\n", "S1 OK go on\r\n", "", ""},
		"with a word before":         {"* OK ready\r\n", "* CAPABILITY IMAP4rev1\r\nS1 OK go on\r\n", "", ""},
		"known already":              {"* PREAUTH ready\r\n", "S1 OK go on\r\n", "", "STARTTLS: the server greets with"},
		"with more than its consent": {"* OK ready\r\n", "S1 OK go on\r\n* OK sneaked in\r\n", "", "STARTTLS: tls:"},
		"with words without an end":  {"* OK ready\r\n", strings.Repeat("* OK wait\r\n", 10_000), "", "STARTTLS: the server broke off"},
		"and sends without an end":   {"* OK ready\r\n", "S1 OK go on\r\n", strings.Repeat("A", 2<<20), "more than 1048576 bytes"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			clear, err := l.Accept()
			if err != nil {
				return
			}
			defer clear.Close()
			fmt.Fprint(clear, c.greeting)
			asked := make([]byte, len("S1 STARTTLS\r\n"))
			if _, err := io.ReadFull(clear, asked); err != nil {
				return
			}
			fmt.Fprint(clear, c.consent)
			secured := tls.Server(clear, hosts.TLS)
			if secured.Handshake() != nil {
				return
			}
			fmt.Fprint(secured, c.then)
			skipped := &skipping{Conn: secured}
			answer(skipped, 1, "NEVER", nil)
		}()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		_, err = open(t, "imap://u:p@127.0.0.1:"+port+"/INBOX?ca="+ca)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: got %v", name, err)
		}
		l.Close()
	}
}

// skipping is a connection that doesn't say its greeting.
type skipping struct {
	net.Conn
	greeted bool
}

func (s *skipping) Write(b []byte) (int, error) {
	if !s.greeted {
		s.greeted = true
		return len(b), nil
	}
	return s.Conn.Write(b)
}
