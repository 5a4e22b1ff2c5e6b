package mail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"golang.org/x/sync/semaphore"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// waitForTokens has the sandboxed readers of a test wait, as the first argument behind "read"; the second one is the base of
// the names of the files by which they and the test speak with each other.
const waitForTokens = "--wait-for-tokens"

// The words in files at which readers wait.
const (
	waitsWord    = "%WAITS"    // for a token, which the test gives
	slowlyWord   = "%SLOWLY"   // for longer than a mail may take without being slow
	picturesWord = "%PICTURES" // as the first one, once pictures are read
)

// slowly is how long a reader waits at slowlyWord, and slowAfter when a mail is slow, in the tests below.
const (
	slowly    = 1500 * time.Millisecond
	slowAfter = time.Second
)

// wait is what a reader does before it reads its input. It notes that it begins.
func wait(input []byte, base string) error {
	light := bytes.Contains(input, []byte(`"Light":true`))
	for _, c := range []struct {
		word  string
		waits bool
	}{{waitsWord, true}, {slowlyWord, false}, {picturesWord, !light}} {
		if !bytes.Contains(input, []byte(c.word)) {
			continue
		}
		note, err := os.CreateTemp(filepath.Dir(base), "note"+c.word[1:]+map[bool]string{true: "-light-", false: "-"}[light])
		if err != nil {
			return err
		}
		if err := note.Close(); err != nil {
			return err
		}
		if c.word == slowlyWord {
			time.Sleep(slowly)
		}
		for c.waits && os.Remove(base+".token") != nil && !there(base+".free") {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readers are the sandboxed readers of a test, as they wait.
type readers struct {
	t    *testing.T
	base string
}

// waiting makes readers that wait. They end with the test.
func waiting(t *testing.T) readers {
	r := readers{t, filepath.Join(t.TempDir(), "readers")}
	t.Cleanup(r.letGo)
	return r
}

// change has an intake read by them.
func (r readers) change(in *Intake) {
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	in.options.Reader.Sandbox.Command = []string{self, "read", waitForTokens, r.base}
	in.options.Reader.Limits = invoice.Limits{Time: time.Hour}
	in.timings.slow = slowAfter
}

// began waits until so many have begun with a file that has a word, as light readings or not.
func (r readers) began(word string, light bool, n int) {
	r.t.Helper()
	kind := map[bool]string{true: "-light-", false: "-[0-9]"}[light]
	eventually(r.t, fmt.Sprintf("%d readers have begun with %s", n, word), func() error {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(r.base), "note"+word[1:]+kind+"*"))
		if err == nil && len(found) != n {
			err = fmt.Errorf("%d have", len(found))
		}
		return err
	})
}

// token has one of them go on.
func (r readers) token() {
	r.t.Helper()
	r.write(".token")
}

// letGo has all of them go on.
func (r readers) letGo() { r.write(".free") }

func (r readers) write(name string) {
	if err := os.WriteFile(r.base+name, nil, 0o600); err != nil {
		r.t.Error(err)
	}
}

// pdfWith is an invoice whose reader does what a word says.
func pdfWith(number, word string) []byte { return append(invoicePDF(number), "\n"+word+"\n"...) }

// from is a mail's source with another sender.
func (m testMail) from(sender string) string {
	return strings.Replace(string(m.raw()), "Supplier <supplier@b.example>", sender, 1)
}

// reads waits until a record was read.
func (w *world) reads(id string) {
	w.t.Helper()
	eventually(w.t, "record "+id+" is read", func() error {
		if state := w.stored()[id]; state.version != versionRead || state.status != "completed" {
			return fmt.Errorf("it is %+v", state)
		}
		return nil
	})
}

// Given mails of strangers whose files never come to an end, and two handlers, then an e-invoice that somebody else mails
// behind them becomes a record while they are being read, before one that is to become many; and all become theirs, once
// those files end.
func TestMailsThatTakeLongHoldNobodyUp(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	const strangers, files = 3, 5
	for i := range strangers {
		pdfs := [][]byte{pdfWith(fmt.Sprint(i), slowlyWord)}
		for n := range files - 1 {
			pdfs = append(pdfs, pdfWith(fmt.Sprint(i, "-", n), waitsWord))
		}
		m := testMail{to: "quartier@intake.example", id: fmt.Sprint("hangs-", i), pdfs: pdfs}
		s.Deliver(m.from(fmt.Sprintf("stranger-%d@evil.example", i)))
	}
	r := waiting(t)
	in := w.intake([]mailbox.Options{scripted(t, s)}, r.change)
	r.began(waitsWord, true, 1)
	file := invoiceUBL("E1")
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "e-invoice", files: []testFile{{"x.xml", file}}}.raw()))
	w.reads(recordOf("e-invoice", file))
	many := testMail{to: "quartier@intake.example, tower@intake.example", id: "many"}
	for i := range manyRecords/2 + 1 {
		many.files = append(many.files, testFile{fmt.Sprintf("%d.xml", i), invoiceUBL(fmt.Sprint("M", i))})
	}
	s.Deliver(string(many.raw()))
	eventually(t, "all but the first and the e-invoice wait", func() error {
		if n := count(in.metrics.slow.WithLabelValues(scripted(t, s).String())); n != strangers {
			return fmt.Errorf("%d do", n)
		}
		return nil
	})
	var read dto.Metric
	if err := in.metrics.reading.Write(&read); err != nil {
		t.Fatal(err)
	}
	if n, files := in.mails("done"), read.GetHistogram().GetSampleCount(); n != 1 || files != strangers+1 {
		t.Errorf("%d mails are done, %d files are read", n, files)
	}
	r.letGo()
	w.settled(strangers*files + 1 + 2*len(many.files))
	eventually(t, "all mails are done", func() error { return allDone(s, strangers+2) })
	if err := w.sent().consistent(); err != nil {
		t.Error(err)
	}
}

// Given mails of many strangers of which each one's file hangs, and one handler, then the mail of a sender of whom people have
// confirmed an invoice goes next, and strangers lose nothing.
func TestAKnownSenderGoesBeforeStrangers(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	const strangers = 5
	for i := range strangers {
		m := testMail{to: "quartier@intake.example", id: fmt.Sprint("hangs-", i), pdfs: [][]byte{pdfWith(fmt.Sprint(i), waitsWord)}}
		s.Deliver(m.from(fmt.Sprintf("stranger-%d@evil.example", i)))
	}
	confirmed := readingOfSupplier("Bauwerk Donau GmbH", "", "", "uma")
	confirmed.Mail.From = events.Some("Known@B.example")
	w.send(events.Readings, "r1", confirmed)
	eventually(t, "the sender is known", func() error {
		d := directory{[]*database.Server{w.db}}
		known, err := d.knownSenders(t.Context(), tenant, []string{"known@b.example", "stranger-0@evil.example"})
		if err == nil && (!known["known@b.example"] || len(known) != 1) {
			err = fmt.Errorf("known are %v", known)
		}
		return err
	})
	r := waiting(t)
	looked := make(chan struct{}, 1)
	w.intake([]mailbox.Options{scripted(t, s)}, r.change, func(in *Intake) {
		in.options.Parallel = 1
		in.observe = func(s step) {
			if s == stepKnown {
				looked <- struct{}{}
			}
		}
	})
	r.began(waitsWord, true, 1)
	file := invoicePDF("known")
	m := testMail{to: "quartier@intake.example", id: "known", pdfs: [][]byte{file}}
	s.Deliver(m.from("Known <known@b.example>"))
	select {
	case <-looked:
	case <-time.After(testTimeout):
		t.Fatal("nobody looked at the mail")
	}
	r.token()
	w.reads(recordOf("known", file))
	r.letGo()
	w.settled(strangers + 1)
	eventually(t, "all mails are done", func() error { return allDone(s, strangers+1) })
}

// Given two scans, then pictures are read of one at a time, and a mail without any doesn't wait for them.
func TestPicturesAreReadOfOneFileAtATime(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	picture := pdftest.Picture{Width: 8, Height: 8, Gray: make([]byte, 64)}
	scan := append(pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes(), "\n"+picturesWord+"\n"...)
	r := waiting(t)
	for i := range 2 {
		m := testMail{to: "quartier@intake.example", id: fmt.Sprint("scan-", i), pdfs: [][]byte{append(scan, fmt.Sprint("%", i)...)}}
		s.Deliver(m.from(fmt.Sprintf("stranger-%d@b.example", i)))
	}
	in := w.intake([]mailbox.Options{scripted(t, s)}, r.change, func(in *Intake) {
		in.options.Parallel, in.pictures = 3, semaphore.NewWeighted(1)
	})
	r.began(picturesWord, true, 2)
	r.began(picturesWord, false, 1)
	file := invoicePDF("1")
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{file}}.raw()))
	w.reads(recordOf("m1", file))
	r.began(picturesWord, false, 1)
	if n := in.mails("done"); n != 1 {
		t.Errorf("%d mails are done", n)
	}
	r.token()
	r.began(picturesWord, false, 2)
	r.token()
	w.settled(3)
}

// Given a mail whose files take longer than a mail may, then e-invoices are read first, and those that are left fail and say
// so; when somebody has one of them read again, it is read first.
func TestTheTimeOfAMailIsBounded(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	pdfs := [][]byte{invoicePDF("1"), invoicePDF("2")}
	m := testMail{to: "quartier@intake.example", id: "m1", pdfs: pdfs, files: []testFile{{"x.xml", invoiceUBL("3")}}}
	s.Deliver(string(m.raw()))
	in := w.intake([]mailbox.Options{scripted(t, s)}, func(in *Intake) { in.timings.mail = time.Nanosecond })
	stored := w.settled(3)
	xml := identity{tenant, "P1", "m1", 0, sha256.Sum256(m.files[0].content)}.id()
	last := identity{tenant, "P1", "m1", 1, sha256.Sum256(pdfs[1])}.id()
	if stored[xml].status != "completed" || stored[last].status != "failed" {
		t.Errorf("the e-invoice is %+v, the last PDF %+v", stored[xml], stored[last])
	}
	if n := count(in.metrics.unread.WithLabelValues(string(invoice.Timeout))); n != len(pdfs) {
		t.Errorf("%d files were left", n)
	}
	again, err := in.Retry(t.Context(), last)
	if err != nil || again.Status != "completed" {
		t.Errorf("read again it is %+v, %v", again, err)
	}
}

// Given a request that has a record read again whose file never comes to an end, then what others ask for is done meanwhile.
func TestARecordThatIsReadAgainKeepsNoOtherRequestWaiting(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	o.Senders.Allowed = []string{"b.example"}
	const to = "quartier@intake.example"
	broken := append([]byte("%PDF-1.7\nnothing that could be read\n"), waitsWord...)
	s.Deliver(testMail{to: to, id: "m1", pdfs: [][]byte{broken}}.withSubject("a@b.example", "broken"))
	s.Deliver(testMail{to: to, id: "m2", pdfs: [][]byte{invoicePDF("2")}}.withSubject("x@evil.example", "stranger"))
	s.Deliver(testMail{to: to, id: "m3", pdfs: [][]byte{invoicePDF("3")}}.withSubject("y@new.example", "new"))
	r := waiting(t)
	w.intake([]mailbox.Options{o}, r.change)
	r.began(waitsWord, true, 1)
	r.token()
	w.shows("P1|failed|broken|broken", "P1|quarantined|sender-not-allowed|stranger", "P1|quarantined|sender-not-allowed|new")
	w.settled(1) // the reading shows before the record is written, which can't be read again until then
	again := w.asks(request(events.RequestRetry, w.told("broken")))
	r.began(waitsWord, true, 2)
	w.answered(w.asks(request(events.RequestRelease, w.told("stranger"))), events.OutcomeGivenBack)
	w.asks(ruling(events.RequestAllow, "y@new.example"))
	w.settled(3)
	if got := w.answers(again); got != nil {
		t.Errorf("the first request was answered with %v", got)
	}
	r.token()
	w.answered(again, events.OutcomeReadAgain)
}

// Given mails of strangers that arrived in the very second in which a record's mail did, when the record is read again, then
// no other mail is opened.
func TestARecordThatIsReadAgainOpensNoStrangersMail(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	arrived := time.Now()
	for i := range 5 {
		s.DeliverAt(arrived, testMail{to: "quartier@intake.example", id: fmt.Sprint("stranger-", i)}.from("x@evil.example"))
	}
	unread := []byte("%PDF-1.7\nnothing that could be read")
	s.DeliverAt(arrived, string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{unread}}.raw()))
	in := w.intake([]mailbox.Options{scripted(t, s)})
	w.settled(1)
	marked(t, scripted(t, s), mailbox.Ignored, 5)
	bodies := func() (n int) {
		for _, command := range s.Log() {
			n += strings.Count(command, "BODY.PEEK[]")
		}
		return n
	}
	before := bodies()
	eventually(t, "it is read again", func() error {
		_, err := in.Retry(context.Background(), recordOf("m1", unread))
		return err
	})
	if n := bodies() - before; n != 1 {
		t.Errorf("%d mails were opened", n)
	}
}

// Mails take turns by what their senders' took, strangers behind senders whom people know; one that turned out to be slow
// takes a place of its own, and what there is no room for is left for later.
func TestWhoseTurnItIs(t *testing.T) {
	var s spent
	q := newQueue(&s, 1)
	mail := func(uid int, sender string) candidate {
		return candidate{mail: mailbox.Mail{UID: mailbox.UID(uid), Size: smallMail + 1}, sender: sender}
	}
	takes := func(want ...mailbox.UID) {
		t.Helper()
		got, err := q.take(t.Context())
		var uids []mailbox.UID
		for _, c := range got {
			uids = append(uids, c.mail.UID)
		}
		if err != nil || !slices.Equal(uids, want) {
			t.Fatalf("taken are %v, %v; want %v", uids, err, want)
		}
	}
	known := mail(4, "known")
	known.known = true
	s.add("busy", 2*time.Second)
	s.add("known", time.Minute)
	q.add([]candidate{mail(1, "busy"), mail(2, "quiet"), mail(3, "quiet"), known})
	takes(4)
	takes(2)
	s.add("quiet", 3*time.Second)
	takes(1)
	takes(3)

	s.add("known", ahead)
	q.add([]candidate{known, mail(5, "stranger")})
	takes(5) // a sender whom people know has no more than his share
	takes(4)

	if left := q.putBack(mail(6, "slow")); left != nil {
		t.Errorf("left are %v", left)
	}
	large := mail(7, "slow")
	large.mail.Size = largeMail + 1
	q.add([]candidate{large})
	takes(6)
	s.add("slow", time.Hour)
	q.add([]candidate{mail(8, "slow")})
	takes(8) // the other slow one has no place
	ended, stop := context.WithCancel(t.Context())
	stop()
	if some, err := q.take(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("taken are %v, %v", some, err)
	}
	q.endSlow()
	takes(7)
	q.endSlow()

	var flood []candidate
	for i := range mostQueued + 3 {
		flood = append(flood, mail(100+i, "flood"))
	}
	s.add("flood", time.Second)
	if left := q.add(append(flood, mail(9, "last"))); len(left) != 4 || left[3] != mailbox.UID(100+mostQueued+2) {
		t.Errorf("left are %v", left)
	}
	takes(9)
	if q.wants() || q.again() != nil {
		t.Error("there is room though nothing was taken")
	}
	for i := range mostQueued / 2 {
		takes(mailbox.UID(100 + i))
	}
	if page := q.again(); !q.wants() && len(page) != 4 {
		t.Errorf("again are %v", page)
	}
}

// Small mails are opened together, strangers' and others' apart, up to a page and so many bytes; once much was opened that
// waits, one by one.
func TestSmallMailsAreOpenedTogether(t *testing.T) {
	q := newQueue(&spent{}, 1)
	var some []candidate
	for i := range mailbox.Page + 10 {
		some = append(some, candidate{mail: mailbox.Mail{UID: mailbox.UID(i + 1), Size: 10}, known: i%2 == 0})
	}
	q.add(some)
	sizes := func(want int, known bool) {
		t.Helper()
		got, err := q.take(t.Context())
		if err != nil || len(got) != want || got[0].known != known {
			t.Fatalf("taken are %d, %v", len(got), err)
		}
	}
	sizes(len(some)/2, true)
	sizes(len(some)/2, false)
	for i := range some[:20] {
		some[i].mail.Size, some[i].known = smallMail, false
	}
	q.add(some[:20])
	sizes(smallMails/smallMail, false)
	opened := candidate{mail: mailbox.Mail{UID: 1000}, sender: "x", read: &content{raw: make([]byte, mostOpened+1)}}
	q.spent.add("x", time.Hour)
	q.reopen([]candidate{opened})
	sizes(1, false)
	if got, err := q.take(t.Context()); err != nil || len(got) != 1 || got[0].opensWithOthers() {
		t.Errorf("taken are %d mails, %v", len(got), err)
	}
}
