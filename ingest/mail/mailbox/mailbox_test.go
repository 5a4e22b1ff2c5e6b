package mailbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
)

func TestAddressesAreReadAndNeverShowTheirPassword(t *testing.T) {
	for _, c := range []struct{ url, want, tenant string }{
		{"imaps://u:hush@mail.example", "u@mail.example:993/INBOX", ""},
		{"imap://u:hush@mail.example/Invoices/2026?tenant=demo", "u@mail.example:143/Invoices/2026", "demo"},
		{"imaps://a%40b.example:hu%2Fsh@mail.example:1993/Rechnungen%20neu?auth=xoauth2", "a@b.example@mail.example:1993/Rechnungen neu", ""},
		{"imap://u:hush@[::1]:1143/INBOX?tls=off", "u@[::1]:1143/INBOX", ""},
	} {
		a, err := mailbox.ParseAddress(c.url)
		if err != nil || a.String() != c.want || a.Tenant != c.tenant {
			t.Errorf("%s: got %s of tenant %q, %v", c.url, a, a.Tenant, err)
		}
		for _, shown := range []string{fmt.Sprint(a), fmt.Sprintf("%+v", a), fmt.Sprintf("%#v", a), fmt.Sprintf("%v", &a)} {
			if strings.Contains(shown, "hush") || strings.Contains(shown, "hu/sh") {
				t.Errorf("%s shows its password: %s", c.url, shown)
			}
		}
	}
}

func TestAddressesSayWhoMaySend(t *testing.T) {
	a, err := mailbox.ParseAddress("imaps://u:hush@h?allow=Bauwerk.example&allow=boss@b.example&dmarc=mx.own.example&per-hour=20&hops=2")
	if err != nil || fmt.Sprint(a.Senders) != "{[bauwerk.example boss@b.example] mx.own.example 20 2}" {
		t.Errorf("got %v, %v", a.Senders, err)
	}
}

func TestAWrongAddressIsRefusedWithoutShowingIt(t *testing.T) {
	for url, want := range map[string]string{
		"imaps://u:hush%ZZ@h":                      "no URL",
		"imaps://u:hush@h:port":                    "no URL",
		"pop3://u:hush@h":                          "scheme must be imaps or imap",
		"imaps://:hush@h":                          "no user",
		"imaps://u@h":                              "neither a password nor a password-file",
		"imaps://u@h/?password-file=gone":          "password-file: open gone:",
		"imaps://u@h/?password-file=" + os.DevNull: "password-file: " + os.DevNull + " is empty",
		"imaps://u:hush@/INBOX":                    "no host",
		"imaps://u:hush@h?tls=off":                 "parameter tls",
		"imaps://u:hush@h?tenent=demo":             "parameter tenent",
		"imaps://u:hush@h?ca=/nowhere.pem":         "ca:",
		"imaps://u:hush@h?per-hour=-1":             "per-hour must be a number above zero",
		"imaps://u:hush@h?hops=x":                  "hops must be a number above zero",
		"imaps://u:hush@h?allow=":                  "parameter allow",
		"pop3:///":                                 "has no host\nmailbox @:993/INBOX: it has no user\nmailbox",
	} {
		_, err := mailbox.ParseAddress(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want ...%s...", url, err, want)
		}
	}
}

func open(t *testing.T, url string, change ...func(*mailbox.Options)) (*mailbox.Session, error) {
	t.Helper()
	a, err := mailbox.ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	o := mailbox.Options{Address: a, Timeout: 5 * time.Second, Poll: 20 * time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	s, err := mailbox.Open(t.Context(), o)
	if err == nil {
		t.Cleanup(s.Close)
	}
	return s, err
}

// A token is read anew at each login, so that it can be renewed beside a running worker.
func TestATokenIsReadAtEachLogin(t *testing.T) {
	s := mailboxtest.Start(t)
	s.Token = "second"
	file := filepath.Join(t.TempDir(), "token")
	url := strings.Replace(s.URL(), ":secret", "", 1) + "&auth=xoauth2&password-file=" + file
	for token, works := range map[string]bool{"first\n": false, "second\n": true} {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := open(t, url)
		if (err == nil) != works {
			t.Errorf("token %q: %v", token, err)
		}
		if !works && !errors.Is(err, mailbox.ErrRefused) {
			t.Errorf("token %q: got %v", token, err)
		}
	}
}

// Without encryption nothing is sent to a server elsewhere, unless that was asked for: the server here offers no
// STARTTLS, and is taken for local alone.
func TestAServerWithoutSTARTTLSIsTakenOnThisMachineAlone(t *testing.T) {
	s := mailboxtest.Start(t)
	if _, err := open(t, strings.Replace(s.URL(), "?tls=off", "", 1)); err != nil {
		t.Errorf("on this machine: %v", err)
	}
	for _, command := range s.Log() {
		if strings.HasPrefix(command, "STARTTLS") {
			return
		}
	}
	t.Errorf("STARTTLS was not tried: %q", s.Log())
}

// Mails come page by page, by UID, with what is needed of them; larger ones than allowed are recognized without being
// read.
func TestMailsAreReadByUID(t *testing.T) {
	s := mailboxtest.Start(t)
	const mails = mailbox.Page + 10
	for i := range mails {
		s.Deliver(fmt.Sprintf("Subject: %d\r\n\r\n%s", i, strings.Repeat("x", i)))
	}
	box, err := open(t, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	var uids []mailbox.UID
	err = box.List(t.Context(), 5, func(l mailbox.Listed) { uids = append(uids, l.UID) })
	if err != nil || len(uids) != mails-4 || uids[0] != 5 {
		t.Fatalf("got %v, %v", uids, err)
	}
	if _, err := box.Mails(t.Context(), uids); err == nil {
		t.Error("more than a page was asked for and given")
	}
	got, err := box.Mails(t.Context(), uids[:mailbox.Page])
	if err != nil || len(got) != mailbox.Page {
		t.Fatalf("%d mails, %v", len(got), err)
	}
	m := got[0]
	if string(m.Header) != "Subject: 4\r\n\r\n" || m.Size != int64(len("Subject: 4\r\n\r\nxxxx")) || time.Since(m.Arrived) > time.Minute {
		t.Errorf("got %+v", m)
	}
	if body, err := box.Body(t.Context(), m, 100); err != nil || string(body) != "Subject: 4\r\n\r\nxxxx" {
		t.Errorf("got %q, %v", body, err)
	}
	if _, err := box.Body(t.Context(), m, 17); !errors.Is(err, mailbox.ErrTooLarge) {
		t.Errorf("a byte too large: %v", err)
	}
	if body, err := box.Body(t.Context(), m, 18); err != nil || len(body) != 18 {
		t.Errorf("just small enough: %q, %v", body, err)
	}
	if _, err := box.Body(t.Context(), mailbox.Mail{UID: 9999}, 100); !errors.Is(err, mailbox.ErrGone) {
		t.Errorf("a mail that isn't there: %v", err)
	}
	err = box.List(t.Context(), mails+1, func(l mailbox.Listed) { t.Errorf("behind the last: %v", l) })
	if err != nil {
		t.Error(err)
	}
}

// A server that announces more than it was asked for is left at once: what it says is never made room for.
func TestWhatNobodyAskedForIsNotTaken(t *testing.T) {
	for _, of := range []string{"HEADER", "[]"} {
		s := mailboxtest.Start(t)
		s.Deliver("Subject: x\r\n\r\nx")
		s.Fault = func(command string) mailboxtest.Fault {
			if strings.HasPrefix(command, "UID FETCH") && strings.Contains(command, of) {
				return mailboxtest.Lie
			}
			return mailboxtest.None
		}
		box, err := open(t, s.URL())
		if err != nil {
			t.Fatal(err)
		}
		if of == "HEADER" {
			_, err = box.Mails(t.Context(), []mailbox.UID{1})
		} else {
			_, err = box.Body(t.Context(), mailbox.Mail{UID: 1, Size: 10}, 100)
		}
		if err == nil || !strings.Contains(err.Error(), "bytes where it was asked for") {
			t.Errorf("%s: %v", of, err)
		}
	}
}

// Given a server that tells of flags which others change before it answers, then a mail's header and body are those of the answer;
// and one that answers nothing else is not taken for one whose mail is empty.
func TestFlagsThatAreToldMeanwhileAreNoAnswer(t *testing.T) {
	s := mailboxtest.Start(t)
	s.Deliver("Subject: 1\r\n\r\nx")
	s.Deliver("Subject: 2\r\n\r\ny")
	var chats atomic.Int32
	s.Fault = func(command string) mailboxtest.Fault {
		if strings.HasPrefix(command, "UID FETCH") && chats.Add(-1) >= 0 {
			return mailboxtest.Chat
		}
		return mailboxtest.None
	}
	box, err := open(t, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	chats.Store(1)
	mails, err := box.Mails(t.Context(), []mailbox.UID{1, 2})
	if err != nil || len(mails) != 2 || string(mails[0].Header) != "Subject: 1\r\n\r\n" || mails[1].Size != 15 {
		t.Fatalf("got %+v, %v", mails, err)
	}
	chats.Store(1)
	bodies, err := box.Bodies(t.Context(), mails, 100)
	if err != nil || len(bodies) != 2 || string(bodies[2]) != "Subject: 2\r\n\r\ny" {
		t.Errorf("got %v, %v", bodies, err)
	}
	chats.Store(100)
	if mails, err := box.Mails(t.Context(), []mailbox.UID{1}); err == nil {
		t.Errorf("got %+v", mails)
	}
	if body, err := box.Body(t.Context(), mails[0], 100); err == nil || errors.Is(err, mailbox.ErrGone) {
		t.Errorf("got %q, %v", body, err)
	}
}

// While a session waits, other commands get their turn, and new mail ends the waiting.
func TestCommandsInterruptTheWaiting(t *testing.T) {
	for _, idle := range []bool{true, false} {
		s := mailboxtest.Start(t)
		s.NoIdle = !idle
		s.Deliver("Subject: 1\r\n\r\n")
		box, err := open(t, s.URL(), func(o *mailbox.Options) { o.Poll = time.Hour })
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 1)
		go func() { waited <- box.Wait(t.Context(), time.Hour) }()
		for range 20 {
			if err := box.Mark(t.Context(), mailbox.Done, 1); err != nil {
				t.Fatalf("idle %t: %v", idle, err)
			}
		}
		select {
		case err := <-waited:
			t.Fatalf("idle %t: the waiting ended with %v", idle, err)
		default:
		}
		if idle {
			s.Deliver("Subject: 2\r\n\r\n")
		} else {
			box.Nudge()
		}
		if err := <-waited; err != nil {
			t.Fatalf("idle %t: %v", idle, err)
		}
	}
}

// Given more mails than a command of bounded length can name, when they are given back, then several commands name them.
func TestManyMailsAreGivenBackInPieces(t *testing.T) {
	s := mailboxtest.Start(t)
	const mails = 2*mailbox.Page + 1
	var uids []mailbox.UID
	for i := range 2 * mails {
		s.Deliver("Subject: x\r\n\r\n")
		if i%2 == 0 {
			uids = append(uids, mailbox.UID(i+1))
		}
	}
	box, err := open(t, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := box.GiveBack(t.Context(), uids...); err != nil {
		t.Fatal(err)
	}
	stores := 0
	for _, command := range s.Log() {
		if strings.HasPrefix(command, "UID STORE") {
			stores++
		}
		if len(command) > 1000 {
			t.Errorf("a command has %d bytes", len(command))
		}
	}
	if stores != 3 {
		t.Errorf("%d commands", stores)
	}
}

// Given a server that gives half of a mail as if it were all, then it is asked again: half an invoice would be failed for good. Where
// it gives no more each time, the mail is taken as it is; and one that has its end is not asked for again, whatever size the server told.
func TestAMailThatIsCutShortIsAskedForAgain(t *testing.T) {
	multipart := "Content-Type: multipart/mixed; boundary=B\r\n\r\n" + strings.Repeat("--B\r\n\r\nx\r\n", 20) + "--B--\r\n"
	single := "Subject: x\r\n\r\n" + strings.Repeat("ab", 25) + "\r\n"
	halves := "Subject: x\r\n\r\n" + strings.Repeat("a", 12) + "\r\n" + strings.Repeat("b", 26) + "\r\n" // of which the first ends with a line
	lines := "Subject: x\n\nno end of a line"
	for _, c := range []struct {
		name, raw  string
		told       int // 0: the truth
		cuts, asks int
	}{
		{"whole", multipart, 0, 0, 1},
		{"cut once", multipart, 0, 1, 2},
		{"cut each time", multipart, 0, 100, 3},
		{"a single part, cut twice", single, 0, 2, 3},
		{"a single part, cut at the end of a line", halves, 0, 1, 2},
		{"a single part, cut at the end of a line each time", halves, 0, 100, 3},
		{"whole, of a wrong size", multipart, 2 * len(multipart), 0, 1},
		{"of a wrong size and cut by its sender", multipart[:100], 101, 0, 3},
		{"larger than told", multipart[:100], 99, 0, 1},
		{"with ends of lines of one byte that are counted as two", lines, len(lines) + 2, 0, 1},
	} {
		for _, alone := range []bool{true, false} {
			s := mailboxtest.Start(t)
			s.Deliver(c.raw)
			box, err := open(t, s.URL(), func(o *mailbox.Options) { o.Timeout = time.Second })
			if err != nil {
				t.Fatal(err)
			}
			mails, err := box.Mails(t.Context(), []mailbox.UID{1})
			if err != nil {
				t.Fatal(err)
			}
			if c.told > 0 {
				mails[0].Size = int64(c.told)
			}
			var asked atomic.Int32
			s.Fault = func(string) mailboxtest.Fault {
				if int(asked.Add(1)) <= c.cuts {
					return mailboxtest.Short
				}
				return mailboxtest.None
			}
			var body []byte
			if alone {
				body, err = box.Body(t.Context(), mails[0], 1000)
			} else {
				var bodies map[mailbox.UID][]byte
				bodies, err = box.Bodies(t.Context(), mails, 1000)
				body = bodies[1]
			}
			want := c.raw
			if c.cuts >= c.asks {
				want = want[:len(want)/2]
			}
			if err != nil || string(body) != want || int(asked.Load()) != c.asks {
				t.Errorf("%s, alone %t: asked %d times, got %d of %d bytes, %v", c.name, alone, asked.Load(), len(body), len(want), err)
			}
		}
	}
}

// Given a server that tells wrong sizes of all its mails, then it is asked again for the first whose end can't be told, and for no other.
func TestAServerWhoseSizesAreWrongIsAskedAgainOnce(t *testing.T) {
	s := mailboxtest.Start(t)
	const mails = 3
	for range mails {
		s.Deliver("Subject: x\r\n\r\nab\r\n")
	}
	box, err := open(t, s.URL(), func(o *mailbox.Options) { o.Timeout = time.Second })
	if err != nil {
		t.Fatal(err)
	}
	all, err := box.Mails(t.Context(), []mailbox.UID{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	before := len(s.Log())
	for _, m := range all {
		m.Size += 10
		if _, err := box.Body(t.Context(), m, 1000); err != nil {
			t.Error(err)
		}
	}
	if n := len(s.Log()) - before; n != mails+2 {
		t.Errorf("it was asked %d times for %d mails", n, mails)
	}
}
