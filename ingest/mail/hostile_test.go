package mail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/hostiletest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/mail/message/messagetest"
)

// dieOfKiller has the sandboxed reader of a test end at a mail with the word KILLER, as the first argument behind "read";
// the second one is a file to which it adds a line for each such case.
const dieOfKiller = "--die-of-killer"

// behave reads the input, does what the arguments say, and puts the input back. The sandbox executes this program a
// second time, with its request in the environment, and that one finds its input where the first one has left it.
func behave(args []string, in *os.File) error {
	if len(args) < 2 || len(os.Environ()) > 0 {
		return nil
	}
	input, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if args[0] == dieOfKiller && bytes.Contains(input, []byte("KILLER")) {
		notes, err := os.OpenFile(args[1], os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = notes.WriteString("x\n")
		return errors.Join(errors.New("killed"), err, notes.Close())
	}
	if args[0] == waitForTokens {
		if err := wait(input, args[1]); err != nil {
			return err
		}
	}
	again, err := os.OpenFile(fmt.Sprint(args[1], ".", os.Getpid()), os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = again.Write(input)
	if err == nil {
		_, err = again.Seek(0, io.SeekStart)
	}
	return errors.Join(err, unix.Dup2(int(again.Fd()), int(in.Fd())), os.Remove(again.Name()))
}

// mortal makes the reader die of killers, and gives how often it did.
func mortal(t *testing.T) (change func(*Intake), times func() int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	notes := t.TempDir() + "/notes"
	return func(in *Intake) { in.options.Reader.Sandbox.Command = []string{self, "read", dieOfKiller, notes} },
		func() int {
			content, _ := os.ReadFile(notes) // none yet
			return bytes.Count(content, []byte{'\n'})
		}
}

// invoiceBehind is the record of an invoice that came after a hostile mail.
type invoiceBehind struct{ mail, record string }

// Given the corpus of hostile mails in a mailbox and an invoice behind every few of them, then each invoice becomes a
// record, and each mail gets a mark without a connection, the reader or the worker ending.
func TestInvoicesBehindHostileMailsArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	hostile := messagetest.Mails("quartier@intake.example", 1<<20)
	var names []string // of all mails
	var behind []invoiceBehind
	for some := range slices.Chunk(hostile, 5) {
		for _, m := range some {
			s.Deliver(string(m.Raw))
			names = append(names, m.Name)
		}
		last := names[len(names)-1]
		file, id := invoiceUBL(fmt.Sprint("H", len(behind))), fmt.Sprint("behind-", len(behind))
		s.Deliver(string(testMail{to: "quartier@intake.example", id: id, files: []testFile{{"x.xml", file}}}.raw()))
		names = append(names, "the invoice behind "+last)
		behind = append(behind, invoiceBehind{last, recordOf(id, file)})
	}
	began := time.Now()
	o := scripted(t, s)
	o.Timeout = time.Minute
	in := w.intake([]mailbox.Options{o}, func(in *Intake) { in.options.Limits.Time = time.Minute })
	patiently(t, 5*time.Minute, "the invoices are read", func() error {
		stored := w.stored()
		for _, b := range behind {
			if state := stored[b.record]; state.version != versionRead || state.status != "completed" {
				return fmt.Errorf("the one behind %q is %+v", b.mail, state)
			}
		}
		return nil
	})
	t.Logf("the invoices behind %d hostile mails were read after %s", len(hostile), time.Since(began).Round(time.Millisecond))
	patiently(t, 5*time.Minute, "all mails have a mark", func() error { return unhandled(o) })
	if n := count(in.metrics.lost.WithLabelValues(o.String())); n != 0 {
		t.Errorf("%d connections were lost", n)
	}
	for i, flags := range s.Flags() {
		if strings.Contains(strings.Join(flags, " "), "Tried") {
			t.Errorf("%q was tried in vain: %v", names[i], flags)
		}
	}
}

// Given mails with hostile PDFs and an invoice behind each, then each invoice becomes a record and each mail is done, by
// what a file may cost its reader and not by the clock. It is a tenth of the corpus, of each kind some: package
// hostiletest reads all of it.
func TestInvoicesBehindHostilePDFsArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	var pdfs [][]byte
	for i, f := range hostiletest.PDFs() {
		if i%10 == 0 {
			pdfs = append(pdfs, f.Data)
		}
	}
	if len(pdfs) < 18 {
		t.Fatalf("there are %d hostile PDFs", len(pdfs))
	}
	var behind []string
	for mail := range slices.Chunk(pdfs, 5) {
		n := len(behind)
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("hostile-", n), pdfs: mail}.raw()))
		file, id := invoiceUBL(fmt.Sprint("H", n)), fmt.Sprint("behind-", n)
		s.Deliver(string(testMail{to: "quartier@intake.example", id: id, files: []testFile{{"x.xml", file}}}.raw()))
		behind = append(behind, recordOf(id, file))
	}
	o := scripted(t, s)
	o.Timeout = time.Minute
	in := w.intake([]mailbox.Options{o}, func(in *Intake) {
		in.options.Reader.NoOCR = true
		in.options.Reader.Limits = invoice.Limits{Operations: 500_000, Time: time.Hour}
	})
	patiently(t, 5*time.Minute, "the invoices are read", func() error {
		stored := w.stored()
		for i, id := range behind {
			if stored[id].version != versionRead || stored[id].status != "completed" {
				return fmt.Errorf("the one behind mail %d is %+v", i, stored[id])
			}
		}
		return nil
	})
	patiently(t, 5*time.Minute, "all mails are done", func() error { return allDone(s, 2*len(behind)) })
	if n := count(in.metrics.unread.WithLabelValues(string(invoice.Crashed))); n != 0 {
		t.Errorf("%d PDFs ended their reader", n)
	}
}

// Given a mail that ends its reader each time, then it is tried three times and set aside: a restart does not try it
// again, an operator can have it tried, and the other mails come in.
func TestAMailThatEndsItsReaderIsSetAsideAfterThreeAttempts(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "killer", text: "KILLER", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m2", pdfs: [][]byte{invoicePDF("2")}}.raw()))
	change, times := mortal(t)
	in := w.intake([]mailbox.Options{o}, change)
	w.settled(1)
	marked(t, o, mailbox.Done, 1)
	marked(t, o, mailbox.Failed, 1)
	const together = 1 // the first reading is with the others
	if n := times(); n != together+mailbox.MaxAttempts {
		t.Errorf("it was read %d times", n)
	}
	in.end()

	again := w.intake([]mailbox.Options{o}, change)
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m3", pdfs: [][]byte{invoicePDF("3")}}.raw()))
	w.settled(2)
	if n := times(); n != together+mailbox.MaxAttempts {
		t.Errorf("after a restart it was read %d times", n)
	}
	var failed []Listed
	if err := again.Failed(t.Context(), func(l Listed) { failed = append(failed, l) }); err != nil ||
		len(failed) != 1 || !strings.Contains(failed[0].Reason, "begun 3 times") {
		t.Fatalf("listed are %+v, %v", failed, err)
	}
	again.end()

	if err := again.Release(t.Context(), failed[0].ID); err != nil {
		t.Fatal(err)
	}
	w.intake([]mailbox.Options{o}) // with a better reader
	w.settled(3)
	marked(t, o, mailbox.Failed, 0)
	marked(t, o, mailbox.Done, 3)
}

// Given a mail at which the worker itself died in each of three attempts, then it is set aside without another one.
func TestAMailAtWhichTheWorkerDiedIsSetAside(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	for tried := range mailbox.MaxAttempts {
		box, err := mailbox.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if mine, err := box.Claim(t.Context(), 1, tried+1, false); err != nil || !mine {
			t.Fatalf("the claim: %t, %v", mine, err)
		}
		box.Close()
	}
	w.intake([]mailbox.Options{o})
	marked(t, o, mailbox.Failed, 1)
	if n := len(w.sent()); n != 0 {
		t.Errorf("%d records were sent", n)
	}
}

// Given a flood of mails that are no invoices, then they are decided in bulk: the commands grow with the pages, not
// with the mails. After a restart none of them is read again.
func TestAFloodIsDecidedInBulk(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Timeout = 20 * time.Second
	const each = 300
	for i := range each {
		s.Deliver(string(testMail{to: "nobody@intake.example", id: fmt.Sprint("a", i), pdfs: [][]byte{invoicePDF("1")}}.raw()))
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("b", i), text: "Buy this."}.raw()))
	}
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	in := w.intake([]mailbox.Options{o})
	w.settled(1)
	marked(t, o, mailbox.Failed, each)
	marked(t, o, mailbox.Ignored, each)
	in.end()
	const perPage = 10
	if n, pages := len(s.Log()), 2*each/mailbox.Page+1; n > pages*perPage {
		t.Errorf("%d commands for %d pages of mails", n, pages)
	}
	bodies := func() (n int) {
		for _, command := range s.Log() {
			if strings.Contains(command, "BODY.PEEK[]") {
				n++
			}
		}
		return n
	}
	before := bodies()
	w.intake([]mailbox.Options{o})
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m2", pdfs: [][]byte{invoicePDF("2")}}.raw()))
	w.settled(2)
	if n := bodies() - before; n > 1 {
		t.Errorf("after a restart mails were read %d times", n)
	}
}

// Given a mail at which a worker works for longer than a claim counts, then the claim is renewed, and another worker that
// watches the mailbox meanwhile leaves the mail alone.
func TestAClaimIsRenewedWhileItsWorkLasts(t *testing.T) {
	t.Parallel()
	const counts = 5 * time.Second // a claim that isn't renewed, to the second worker
	w := newWorld(t)
	w.deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw(), "quartier@intake.example")
	working, finish, taken := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w.intake([]mailbox.Options{w.box()}, func(in *Intake) {
		in.timings.claims = counts / 20 // so it is renewed, too, in time for the second one however slow the machine is
		in.observe = func(s step) {
			if s == stepFetched {
				close(working)
				select {
				case <-finish:
				case <-t.Context().Done():
				}
			}
		}
	})
	select {
	case <-working:
	case <-time.After(testTimeout):
		t.Fatal("the mail is not read")
	}
	second := w.box()
	second.Slot = 1
	other := w.intake([]mailbox.Options{second}, func(in *Intake) {
		in.timings.claims = counts
		in.observe = func(s step) {
			if s == stepClaimed {
				close(taken)
			}
		}
	})
	eventually(t, "the second worker watches", func() error {
		if n := count(other.metrics.connects.WithLabelValues(second.String())); n == 0 {
			return errors.New("it doesn't")
		}
		return nil
	})
	select {
	case <-taken:
		t.Error("the second worker took the mail while the first one worked on it")
	case <-time.After(2 * counts):
	}
	close(finish)
	w.settled(1)
	marked(t, w.box(), mailbox.Done, 1)
}
