package mail

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2/imapclient"

	"tallyhouse/deploy/embedded/tlstest"
	"tallyhouse/ingest/mail/mailbox"
)

// dovecot is a real IMAP server of the distribution, with one user and an empty mailbox.
type dovecot struct {
	t           testing.TB
	plain, tls  int // ports
	certificate string
}

// startDovecot fails where Dovecot isn't installed: .ci/install does that. Settings are more lines of its
// configuration.
func startDovecot(t testing.TB, settings ...string) *dovecot {
	t.Helper()
	program, err := exec.LookPath("dovecot")
	if err != nil {
		program = "/usr/sbin/dovecot" // not in everybody's PATH
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatal("Dovecot is not installed: run .ci/install, or apt-get install dovecot-imapd")
	}
	dir, err := os.MkdirTemp("", "dovecot-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	own := tlstest.New(t, nil)
	d := &dovecot{t: t, plain: freePort(t), tls: freePort(t), certificate: own.CA}
	owner, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if owner.Uid == "0" { // it refuses to serve mails of root
		if owner, err = user.Lookup("nobody"); err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "home"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(dir, "home"), uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	config := strings.NewReplacer("DIR", dir, "PLAIN", strconv.Itoa(d.plain), "SECURE", strconv.Itoa(d.tls), "UID",
		owner.Uid, "GID", owner.Gid, "CERTIFICATE", own.CA, "SECRET", own.Key).Replace(dovecotConfig)
	if os.Getuid() != 0 {
		config += fmt.Sprintf("default_internal_user = %s\ndefault_login_user = %[1]s\n", owner.Username)
	}
	config += strings.Join(settings, "\n") + "\n"
	file := filepath.Join(dir, "dovecot.conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program, "-F", "-c", file)
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said strings.Builder
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGTERM)
		_ = server.Wait()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Logf("dovecot: %s\n%s", said.String(), log)
		}
	})
	eventually(t, "dovecot serves", func() error {
		c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", d.plain))
		if err == nil {
			c.Close()
		}
		return err
	})
	return d
}

const dovecotConfig = `
protocols = imap
listen = 127.0.0.1
base_dir = DIR/run
state_dir = DIR/state
log_path = DIR/log
mail_location = maildir:DIR/home/mail
first_valid_uid = 1
ssl = required
ssl_cert = <CERTIFICATE
ssl_key = <SECRET
service imap-login {
  chroot =
  inet_listener imap {
    port = PLAIN
  }
  inet_listener imaps {
    port = SECURE
    ssl = yes
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=UID gid=GID home=DIR/home
}
namespace inbox {
  inbox = yes
  separator = /
}
`

// freePort is a port for a server that is about to start, and none of those that systems give to whoever asks for any.
func freePort(t testing.TB) int {
	t.Helper()
	const first, last, tries = 10_000, 30_000, 100
	for range tries {
		port := first + mathrand.IntN(last-first)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			defer l.Close()
			return port
		}
	}
	t.Fatalf("none of %d ports is free", tries)
	return 0
}

func (d *dovecot) url(scheme string) string {
	port := d.plain
	if scheme == "imaps" {
		port = d.tls
	}
	return fmt.Sprintf("%s://invoices:secret@127.0.0.1:%d/INBOX?ca=%s", scheme, port, d.certificate)
}

// deliver puts a mail into the inbox.
func (d *dovecot) deliver(raw []byte) {
	d.t.Helper()
	authority, err := os.ReadFile(d.certificate)
	if err != nil {
		d.t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	c, err := imapclient.DialTLS(fmt.Sprint("127.0.0.1:", d.tls), &imapclient.Options{TLSConfig: &tls.Config{RootCAs: trusted}})
	if err != nil {
		d.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Login("invoices", "secret").Wait(); err != nil {
		d.t.Fatal(err)
	}
	appending := c.Append("INBOX", int64(len(raw)), nil)
	_, _ = appending.Write(raw) // Wait tells
	_ = appending.Close()
	if _, err := appending.Wait(); err != nil {
		d.t.Fatal(err)
	}
}

// A real server, both ways of encryption, both marks: mails that were there, that come while it is watched, that fail
// and that have no PDF.
func TestDovecot(t *testing.T) {
	w := newWorld(t)
	records := 0
	for _, c := range []struct{ name, scheme, folder string }{
		{"TLS and keywords", "imaps", ""},
		{"STARTTLS and a folder", "imap", "Tallyhouse/Done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := startDovecot(t)
			before := w.stored()
			o := mailbox.Options{Address: address(t, d.url(c.scheme)), DoneFolder: c.folder}
			pdf := invoicePDF(c.name)
			d.deliver(testMail{to: "quartier@intake.example", id: c.name + "1", pdfs: [][]byte{pdf}}.raw())
			in := w.intake([]mailbox.Options{o})
			records++
			w.settled(records)
			d.deliver(testMail{to: "quartier@intake.example, tower@intake.example", id: c.name + "2", pdfs: [][]byte{pdf, pdf}}.raw())
			d.deliver(testMail{to: "nobody@intake.example", id: c.name + "3", pdfs: [][]byte{pdf}}.raw())
			d.deliver(testMail{to: "quartier@intake.example", id: c.name + "4"}.raw())
			records += 4
			w.settled(records)
			marked(t, o, mailbox.Failed, 1)
			marked(t, o, mailbox.Ignored, 1)
			place := o
			if c.folder == "" {
				marked(t, o, mailbox.Done, 2)
			} else {
				place.Mailbox = c.folder
				eventually(t, "the done mails are in the folder", func() error {
					box, err := mailbox.Open(t.Context(), place)
					if err != nil {
						return err
					}
					defer box.Close()
					if all, err := box.On(t.Context(), time.Now()); err != nil || len(all) != 2 {
						return fmt.Errorf("%d are, %v", len(all), err)
					}
					return nil
				})
			}
			for id, h := range w.stored() {
				if _, known := before[id]; known {
					continue
				}
				if again, err := in.Retry(t.Context(), id); err != nil || again.Version != h.version+1 || again.Status != "completed" {
					t.Errorf("retry: got %+v, %v", again, err)
				}
				kept, err := in.Show(t.Context(), id)
				if err != nil || kept.Version != h.version+1 || kept.ProjectID.V != h.project {
					t.Fatalf("kept of %s is %+v, %v", id, kept, err)
				}
				document, _ := kept.Document()
				if got, err := in.Original(t.Context(), kept.TenantID, document.SHA256); err != nil || !bytes.Equal(got, pdf) {
					t.Errorf("of %d bytes %d come back, %v", len(pdf), len(got), err)
				}
			}
			w.everyReadRecordHasEvidence()
			in.end()
		})
	}
}

// withoutKeywords gives the address of a server that is Dovecot, but doesn't say that its mailboxes take keywords. That one
// is set all the same is an error.
func (d *dovecot) withoutKeywords() string {
	d.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", d.plain))
			if err != nil {
				client.Close()
				return
			}
			go func() {
				defer server.Close()
				commands := bufio.NewReader(client)
				for {
					command, err := commands.ReadString('\n')
					if strings.Contains(command, "$Tallyhouse") {
						d.t.Errorf("a keyword is set: %s", command)
					}
					if _, e := io.WriteString(server, command); e != nil || err != nil {
						return
					}
				}
			}()
			go func() {
				defer client.Close()
				lines := bufio.NewReader(server)
				for {
					line, err := lines.ReadString('\n')
					if strings.Contains(line, "[PERMANENTFLAGS (") {
						line = strings.Replace(line, ` \*)`, ")", 1)
					}
					if _, e := io.WriteString(client, line); e != nil || err != nil {
						return
					}
				}
			}()
		}
	}()
	return fmt.Sprintf("imap://invoices:secret@%s/INBOX?tls=off", l.Addr())
}

// A real server that lacks what others have: without keywords, or IDLE, MOVE or UIDPLUS, mails become records and are
// marked all the same, and one that isn't an invoice is listed.
func TestADovecotThatLacksSomething(t *testing.T) {
	w := newWorld(t)
	records := 0
	for _, c := range []struct{ name, has, folder string }{
		{"IDLE, MOVE and UIDPLUS", "IMAP4rev1", ""},
		{"IDLE and MOVE", "IMAP4rev1 UIDPLUS", "Tallyhouse"},
		{"UIDPLUS and keywords", "IMAP4rev1 IDLE MOVE", "Tallyhouse"},
		{"keywords, IDLE and MOVE", "IMAP4rev1 UIDPLUS", "Tallyhouse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := startDovecot(t, "imap_capability = "+c.has)
			url := d.url("imaps")
			if strings.Contains(c.name, "keywords") {
				url = d.withoutKeywords()
			}
			o := mailbox.Options{Address: address(t, url), DoneFolder: c.folder, Poll: 50 * time.Millisecond}
			d.deliver(testMail{to: "quartier@intake.example", id: c.name + "1", pdfs: [][]byte{invoicePDF("1")}}.raw())
			in := w.intake([]mailbox.Options{o})
			records++
			w.settled(records)
			d.deliver(testMail{to: "quartier@intake.example", id: c.name + "2", pdfs: [][]byte{invoicePDF("2")}}.raw())
			d.deliver(testMail{to: "quartier@intake.example", id: c.name + "3"}.raw())
			records++
			w.settled(records)
			marked(t, o, mailbox.Ignored, 1)
			if c.folder == "" {
				marked(t, o, mailbox.Done, 2)
			} else {
				eventually(t, "nothing is open", func() error { return unhandled(o) })
				o.Mailbox, o.DoneFolder = c.folder, "Other"
				eventually(t, "the done mails are in the folder", func() error { return holds(o, 2) })
			}
			var ignored []Listed
			if err := in.Ignored(t.Context(), func(l Listed) { ignored = append(ignored, l) }); err != nil || len(ignored) != 1 {
				t.Errorf("listed are %+v, %v", ignored, err)
			}
			in.end()
		})
	}
}

// Given a real server without keywords, then the star stands for every mark, the lists say which it is, and a mail whose
// star is taken away is handled as any: nothing keeps that it was released, so quarantine ends by allowing its sender.
func TestADovecotWithoutKeywords(t *testing.T) {
	w := newWorld(t)
	d := startDovecot(t)
	url := d.withoutKeywords()
	const known = "quartier@intake.example"
	options := func(allow string) mailbox.Options {
		return mailbox.Options{Address: address(t, url+allow), DoneFolder: "Tallyhouse"}
	}
	o := options("&allow=elsewhere.example&allow=supplier@b.example")
	stranger := bytes.Replace(testMail{to: known, id: "stranger", pdfs: [][]byte{invoicePDF("1")}}.raw(),
		[]byte("supplier@b.example"), []byte("stranger@b.example"), 1)
	for _, raw := range [][]byte{
		stranger,
		testMail{to: "late@intake.example", id: "late", pdfs: [][]byte{invoicePDF("2")}}.raw(),
		testMail{to: known, id: "letter"}.raw(),
		testMail{to: known, id: "killer", text: "KILLER", pdfs: [][]byte{invoicePDF("3")}}.raw(),
		testMail{to: known, id: "starred", pdfs: [][]byte{invoicePDF("4")}}.raw(),
	} {
		d.deliver(raw)
	}
	person, err := mailbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := person.Mark(t.Context(), mailbox.Failed, 5); err != nil { // which is a star here
		t.Fatal(err)
	}
	person.Close()

	change, times := mortal(t)
	looksOften := func(in *Intake) {
		change(in)
		in.timings.refreshLeast, in.timings.refreshMost = 100*time.Millisecond, 200*time.Millisecond
	}
	in := w.intake([]mailbox.Options{o}, looksOften)
	eventually(t, "nothing is open", func() error { return unhandled(o) })
	lists := func(in *Intake, want string) (ids map[string]string) {
		t.Helper()
		ids = map[string]string{}
		got := ""
		for _, list := range []func(context.Context, func(Listed)) error{in.Quarantined, in.Ignored, in.Failed} {
			if err := list(t.Context(), func(l Listed) {
				ids[l.MessageID] = l.ID
				got += l.MessageID + ": " + l.Reason[:min(len(l.Reason), 20)] + "\n"
			}); err != nil {
				t.Fatal(err)
			}
			got += "--\n"
		}
		if got != want {
			t.Errorf("listed are\n%swant\n%s", got, want)
		}
		return ids
	}
	const quarantine, ignored = "stranger: the sender stranger@\n--\n", "letter: none of its 2 parts \n--\n"
	ids := lists(in.Intake, quarantine+ignored+"late: no project has an in\nkiller: mail: the process en\nstarred: it is flagged, by a \n--\n")
	if n := times(); n != 1+mailbox.MaxAttempts+3 {
		t.Errorf("the mail that ends its reader was read %d times: together, alone, by each list", n)
	}

	if err := in.Release(t.Context(), ids["stranger"]); !errors.Is(err, errNotKept) {
		t.Errorf("release of the quarantined mail: %v", err)
	}
	w.project("P7", "late@intake.example")
	lists(in.Intake, quarantine+ignored+"late: it is flagged, by a \nkiller: mail: the process en\nstarred: it is flagged, by a \n--\n")
	before := times()
	for _, id := range []string{"late", "killer", "starred", "letter"} {
		if err := in.Release(t.Context(), ids[id]); err != nil {
			t.Errorf("release of %s: %v", id, err)
		}
	}
	w.settled(2)
	eventually(t, "it was tried as often again", func() error {
		if n := times() - before; n != 1+mailbox.MaxAttempts {
			return fmt.Errorf("%d times", n)
		}
		return nil
	})
	eventually(t, "nothing is open", func() error { return unhandled(o) })
	in.end()

	o = options("&allow=b.example")
	in = w.intake([]mailbox.Options{o}, func(in *Intake) {
		in.timings.refreshLeast, in.timings.refreshMost = 100*time.Millisecond, 200*time.Millisecond
	})
	for _, id := range []string{"stranger", "killer"} {
		if err := in.Release(t.Context(), ids[id]); err != nil {
			t.Errorf("release of %s: %v", id, err)
		}
	}
	w.settled(4)
	eventually(t, "nothing is open", func() error { return unhandled(o) })
	lists(in.Intake, "--\n"+ignored+"--\n")
	if err := in.Release(t.Context(), ids["stranger"]); !errors.Is(err, errNotListed) {
		t.Errorf("release of a done mail: %v", err)
	}
}

// holds tells unless a folder has so many mails.
func holds(o mailbox.Options, want int) error {
	box, err := mailbox.Open(context.Background(), o)
	if err != nil {
		return err
	}
	defer box.Close()
	there := 0
	if err := box.List(context.Background(), 1, func(mailbox.Listed) { there++ }); err != nil || there != want {
		return fmt.Errorf("%d are, %v", there, err)
	}
	return nil
}

// A server whose certificate isn't trusted gets no password; a wrong password is told as such, and not shown.
func TestDovecotsCertificateAndAnswerToAPasswordAreChecked(t *testing.T) {
	d := startDovecot(t, "auth_failure_delay = 0")
	wrong := strings.Replace(d.url("imaps"), ":secret@", ":hush@", 1)
	if _, err := mailbox.Open(t.Context(), mailbox.Options{Address: address(t, wrong)}); !errors.Is(err, mailbox.ErrLogin) ||
		strings.Contains(err.Error(), "hush") {
		t.Errorf("a wrong password: %v", err)
	}
	url, _, _ := strings.Cut(d.url("imaps"), "?")
	if _, err := mailbox.Open(t.Context(), mailbox.Options{Address: address(t, url)}); err == nil ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
}
