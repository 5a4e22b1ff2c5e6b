package mail_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/smtp"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"tallyhouse/deploy/embedded/mail"
	"tallyhouse/deploy/embedded/supervise"
)

func start(t *testing.T, dir string) *mail.Server {
	t.Helper()
	s, err := mail.Start(mail.Options{DataDir: dir, IMAP: "127.0.0.1:0", SMTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

func stop(t *testing.T, s *mail.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func login(t *testing.T, s *mail.Server, options *imapclient.Options) *imapclient.Client {
	t.Helper()
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	c, err := imapclient.DialInsecure(u.Host, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Login(mail.User, mail.Password).Wait(); err != nil {
		t.Fatal(err)
	}
	return c
}

func enter(t *testing.T, c *imapclient.Client, name string) *imap.SelectData {
	t.Helper()
	d, err := c.Select(name, nil).Wait()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func send(t *testing.T, s *mail.Server, raw string, to ...string) {
	t.Helper()
	if err := smtp.SendMail(s.SMTP(), nil, "a@b.example", to, []byte(raw)); err != nil {
		t.Fatal(err)
	}
}

// fetch gives the mails of the selected mailbox, by UID.
func fetch(t *testing.T, c *imapclient.Client) map[imap.UID]*imapclient.FetchMessageBuffer {
	t.Helper()
	var all imap.UIDSet
	all.AddRange(1, 0)
	whole := &imap.FetchItemBodySection{Peek: true}
	found, err := c.Fetch(all, &imap.FetchOptions{UID: true, Flags: true, InternalDate: true, RFC822Size: true,
		BodySection: []*imap.FetchItemBodySection{whole}}).Collect()
	if err != nil {
		t.Fatal(err)
	}
	of := map[imap.UID]*imapclient.FetchMessageBuffer{}
	for _, m := range found {
		of[m.UID] = m
	}
	return of
}

// Given mail for any address, then it lands in the one mailbox, byte by byte, with the recipients of its envelope
// before it.
func TestMailForAnyAddressLandsInTheMailbox(t *testing.T) {
	s := start(t, t.TempDir())
	raw := "Subject: x\r\nX-Folded: a\r\n\tb\r\n\r\n.a dot\r\n" + strings.Repeat("\xff\x00", 3000) + "\r\n"
	send(t, s, raw, "one@intake.example", "two@intake.example")
	c := login(t, s, nil)
	if d := enter(t, c, "INBOX"); d.NumMessages != 1 || !slices.Contains(d.PermanentFlags, imap.FlagWildcard) {
		t.Fatalf("got %+v", d)
	}
	m := fetch(t, c)[1]
	got := m.BodySection[0].Bytes
	trace, received, _ := strings.Cut(strings.TrimSuffix(string(got), raw), "Received: by localhost with SMTP; ")
	const traced = "Return-Path: <a@b.example>\r\nDelivered-To: one@intake.example\r\nDelivered-To: two@intake.example\r\n"
	if trace != traced || strings.Count(received, "\r\n") != 1 ||
		m.RFC822Size != int64(len(got)) || time.Since(m.InternalDate) > time.Minute {
		t.Errorf("got %q of %d bytes", m.BodySection[0].Bytes, m.RFC822Size)
	}
}

// Given accepted mails, when the server starts again, then each is in the mailbox as it arrived, under a new
// UIDVALIDITY where flags were lost.
func TestMailsOutliveTheServer(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	for i := range 3 {
		send(t, s, fmt.Sprintf("Subject: %d\r\n\r\nx\r\n", i), "p@intake.example")
	}
	c := login(t, s, nil)
	enter(t, c, "INBOX")
	before := fetch(t, c)
	stop(t, s)

	s = start(t, dir)
	c = login(t, s, nil)
	enter(t, c, "INBOX")
	after := fetch(t, c)
	for uid := range imap.UID(4) {
		if was, is := before[uid], after[uid]; uid > 0 && (!is.InternalDate.Equal(was.InternalDate) ||
			!bytes.Equal(is.BodySection[0].Bytes, was.BodySection[0].Bytes)) {
			t.Errorf("mail %d is %+v, was %+v", uid, is, was)
		}
	}
	if len(after) != 3 {
		t.Errorf("%d mails are there", len(after))
	}
}

// The intake and mail programs find mails by flags and days, mark them and move them.
func TestMailsAreFoundMarkedAndMoved(t *testing.T) {
	s := start(t, t.TempDir())
	for i := range 3 {
		send(t, s, fmt.Sprintf("Subject: %d\r\n\r\nx\r\n", i), "p@intake.example")
	}
	told := make(chan uint32, 10)
	other := login(t, s, &imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{Expunge: func(n uint32) { told <- n }}})
	enter(t, other, "INBOX")
	c := login(t, s, nil)
	enter(t, c, "INBOX")
	if err := c.Store(imap.UIDSetNum(2), &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true,
		Flags: []imap.Flag{"$TallyhouseDone", imap.FlagSeen}}, nil).Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Create("Done/2026", nil).Wait(); err != nil {
		t.Fatal(err)
	}
	moved, err := c.Move(imap.UIDSetNum(3), "Done/2026").Wait()
	if err != nil || moved.SourceUIDs.String() != "3" || moved.DestUIDs.String() != "1" {
		t.Fatalf("moved %+v, %v", moved, err)
	}
	if err := other.Noop().Wait(); err != nil {
		t.Fatal(err)
	}
	if n := <-told; n != 3 {
		t.Errorf("another client was told that mail %d went", n)
	}
	if flags := fetch(t, c)[2].Flags; len(flags) != 2 || !slices.Contains(flags, "$tallyhousedone") {
		t.Errorf("its flags are %v", flags)
	}
	for criteria, want := range map[*imap.SearchCriteria]string{
		{Flag: []imap.Flag{"$tallyhousedone"}}:                                           "2",
		{NotFlag: []imap.Flag{"$TallyhouseDone"}}:                                        "1",
		{Since: time.Now().Add(-48 * time.Hour), Before: time.Now().Add(48 * time.Hour)}: "1:2",
		{Since: time.Now().Add(48 * time.Hour)}:                                          "",
	} {
		d, err := c.UIDSearch(criteria, nil).Wait()
		if err != nil || d.All.String() != want {
			t.Errorf("%+v: got %v, %v, want %s", criteria, d.All, err, want)
		}
	}
	enter(t, c, "Done/2026")
	if m := fetch(t, c)[1]; m == nil || !strings.Contains(string(m.BodySection[0].Bytes), "Subject: 2") {
		t.Errorf("the moved mail is %+v", m)
	}
}

// What the IMAP server could not show is refused when it is sent.
func TestAMalformedHeaderIsRefused(t *testing.T) {
	s := start(t, t.TempDir())
	for _, raw := range []string{"Subject: x\r\nno field\r\n\r\nx\r\n", strings.Repeat("A: b\r\n", 200_000) + "\r\nx\r\n"} {
		err := smtp.SendMail(s.SMTP(), nil, "a@b.example", []string{"p@intake.example"}, []byte(raw))
		if refused := (*textproto.Error)(nil); !errors.As(err, &refused) || refused.Code != 554 {
			t.Errorf("%.40q: got %v", raw, err)
		}
	}
}

// Given a large mail whose lines end as those of files do here, as curl sends it, then it arrives: only its header is bounded.
func TestALargeMailOfALocalFileArrives(t *testing.T) {
	s := start(t, t.TempDir())
	conn, err := net.Dial("tcp", s.SMTP())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw := "Subject: a file\n\n" + strings.Repeat("a line\n", 300_000)
	if _, err := fmt.Fprintf(conn, "EHLO b.example\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<p@intake.example>\r\nDATA\r\n%s\r\n.\r\nQUIT\r\n",
		raw); err != nil {
		t.Fatal(err)
	}
	if answers, err := io.ReadAll(conn); err != nil || !strings.Contains(string(answers), "\r\n250 2.0.0 OK: queued\r\n") {
		t.Fatalf("got %q, %v", answers, err)
	}
	c := login(t, s, nil)
	enter(t, c, "INBOX")
	if m := fetch(t, c)[1]; m == nil || !strings.Contains(string(m.BodySection[0].Bytes), "Subject: a file") {
		t.Errorf("the mail is %+v", m)
	}
}

// Given a client in IDLE, when mail comes in, then it is told at once.
func TestNewMailIsTold(t *testing.T) {
	s := start(t, t.TempDir())
	told := make(chan uint32, 10)
	c := login(t, s,
		&imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{Mailbox: func(d *imapclient.UnilateralDataMailbox) {
			if d.NumMessages != nil {
				told <- *d.NumMessages
			}
		}}})
	enter(t, c, "INBOX")
	for n := range uint32(5) {
		idle, err := c.Idle()
		if err != nil {
			t.Fatal(err)
		}
		send(t, s, "Subject: x\r\n\r\n", "p@intake.example")
		if got := <-told; got != n+1 {
			t.Errorf("told of %d mails, want %d", got, n+1)
		}
		if err := errors.Join(idle.Close(), idle.Wait()); err != nil {
			t.Fatal(err)
		}
	}
}

// Given mail that comes ahead of IDLE and behind the command before, then IDLE tells of it.
func TestMailAheadOfIDLEIsTold(t *testing.T) {
	s := start(t, t.TempDir())
	told := make(chan uint32, 1)
	c := login(t, s,
		&imapclient.Options{UnilateralDataHandler: &imapclient.UnilateralDataHandler{Mailbox: func(d *imapclient.UnilateralDataMailbox) {
			if d.NumMessages != nil {
				told <- *d.NumMessages
			}
		}}})
	enter(t, c, "INBOX")
	send(t, s, "Subject: x\r\n\r\n", "p@intake.example")
	idle, err := c.Idle()
	if err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != 1 {
		t.Errorf("told of %d mails", got)
	}
	if err := errors.Join(idle.Close(), idle.Wait()); err != nil {
		t.Fatal(err)
	}
}

func TestAWrongPasswordIsRefused(t *testing.T) {
	s := start(t, t.TempDir())
	u, _ := url.Parse(s.URL())
	c, err := imapclient.DialInsecure(u.Host, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Login(mail.User, "guess").Wait(); err == nil {
		t.Error("it was taken")
	}
}

func TestTakenAddressesAndDirectoriesAreTold(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for flag, o := range map[string]mail.Options{
		"--imap-addr": {IMAP: l.Addr().String(), SMTP: "127.0.0.1:0"},
		"--smtp-addr": {IMAP: "127.0.0.1:0", SMTP: l.Addr().String()},
	} {
		o.DataDir = filepath.Join(t.TempDir(), "mail")
		_, err = mail.Start(o)
		if taken := (*supervise.PortTakenError)(nil); !errors.As(err, &taken) || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: got %v", flag, err)
		}
		if _, err := os.Stat(o.DataDir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a directory is left behind: %v", flag, err)
		}
	}
	dir := t.TempDir()
	start(t, dir)
	if _, err = mail.Start(mail.Options{DataDir: dir, IMAP: "127.0.0.1:0", SMTP: "127.0.0.1:0"}); !errors.Is(err, mail.ErrDataDirInUse) {
		t.Errorf("got %v", err)
	}
}
