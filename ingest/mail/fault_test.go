package mail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
)

// scripted is a mailbox of a server that misbehaves.
func scripted(t *testing.T, s *mailboxtest.Server) mailbox.Options {
	t.Helper()
	return mailbox.Options{Address: address(t, s.URL()), Timeout: time.Second, Poll: 50 * time.Millisecond}
}

// often makes a fault happen with the first commands that begin in a way, so many times.
func often(times int, prefix, contains string, fault mailboxtest.Fault) func(string) mailboxtest.Fault {
	var mutex sync.Mutex
	return func(command string) mailboxtest.Fault {
		mutex.Lock()
		defer mutex.Unlock()
		if times > 0 && strings.HasPrefix(command, prefix) && strings.Contains(command, contains) {
			times--
			return fault
		}
		return mailboxtest.None
	}
}

func allDone(s *mailboxtest.Server, n int) error {
	flags := s.Flags()
	if len(flags) != n {
		return fmt.Errorf("%d mails are there", len(flags))
	}
	for i, f := range flags {
		if !slices.Equal(f, []string{"$TallyhouseDone"}) {
			return fmt.Errorf("mail %d has the flags %v", i+1, f)
		}
	}
	return nil
}

// Given mails on a server with a fault, when the fault is over, then each mail is one record and has its mark.
func TestWhateverTheServerDoesEachMailBecomesOneRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	records := 0
	for _, c := range []struct {
		name  string
		fault func(string) mailboxtest.Fault
	}{
		{"no fault", nil},
		{"hangs up at the login", often(2, "LOGIN", "", mailboxtest.HangUp)},
		{"refuses the login for a while", often(2, "LOGIN", "", mailboxtest.Refuse)},
		{"is silent at the selection", often(1, "SELECT", "", mailboxtest.Stall)},
		{"is silent at the list", often(1, "UID FETCH", "(FLAGS UID)", mailboxtest.Stall)},
		{"is silent at the headers", often(1, "UID FETCH", "HEADER", mailboxtest.Stall)},
		{"is silent at a mail", often(1, "UID FETCH", "[]", mailboxtest.Stall)},
		{"is silent at IDLE", often(1, "IDLE", "", mailboxtest.Stall)},
		{"hangs up at IDLE", often(2, "IDLE", "", mailboxtest.HangUp)},
		{"breaks off in a header", often(1, "UID FETCH", "HEADER", mailboxtest.Cut)},
		{"breaks off in a mail", often(2, "UID FETCH", "[]", mailboxtest.Cut)},
		{"announces a gigabyte", often(2, "UID FETCH", "[]", mailboxtest.Lie)},
		{"tells of flags before the headers", often(1, "UID FETCH", "HEADER", mailboxtest.Chat)},
		{"tells of flags before a mail", often(1, "UID FETCH", "[]", mailboxtest.Chat)},
		{"hangs up at a claim", often(1, "UID STORE", "Reading", mailboxtest.HangUp)},
		{"hangs up at the mark", often(1, "UID STORE", "+FLAGS.SILENT ($TallyhouseDone", mailboxtest.HangUp)},
		{"refuses the mark", often(1, "UID STORE", "+FLAGS.SILENT ($TallyhouseDone", mailboxtest.Refuse)},
		{"hangs up at the claim's end", often(1, "UID STORE", "-FLAGS", mailboxtest.HangUp)},
	} {
		for _, idle := range []bool{true, false} {
			if !idle && c.name != "no fault" && c.name != "breaks off in a mail" {
				continue
			}
			t.Run(fmt.Sprint(c.name, " idle ", idle), func(t *testing.T) {
				s := mailboxtest.Start(t)
				s.NoIdle = !idle
				if c.fault != nil {
					s.Fault = c.fault
				}
				id := strings.ReplaceAll(t.Name(), "/", "-")
				s.Deliver(string(testMail{to: "quartier@intake.example", id: id + "1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
				in := w.intake([]mailbox.Options{scripted(t, s)})
				// And one that comes while the mailbox is watched.
				eventually(t, "the first is marked", func() error { return firstDone(s) })
				s.Deliver(string(testMail{to: "quartier@intake.example", id: id + "2", pdfs: [][]byte{invoicePDF("2")}}.raw()))
				records += 2
				w.settled(records)
				eventually(t, "all are marked and no claim is left", func() error { return settledMarks(s, 2) })
				in.end()
			})
		}
	}
	if err := w.sent().consistent(); err != nil {
		t.Error(err)
	}
}

func firstDone(s *mailboxtest.Server) error {
	if f := s.Flags(); len(f) == 0 || !slices.Contains(f[0], "$TallyhouseDone") {
		return fmt.Errorf("flags are %v", f)
	}
	return nil
}

// settledMarks takes a claim for nothing that stayed because the connection broke behind the mark.
func settledMarks(s *mailboxtest.Server, n int) error {
	for i, f := range s.Flags() {
		if !slices.Contains(f, "$TallyhouseDone") || slices.Contains(f, "$TallyhouseFailed") {
			return fmt.Errorf("mail %d of %d has the flags %v", i+1, n, f)
		}
	}
	return nil
}

// Given mails that are read, when the server gives all mails new UIDs and loses their marks, then they are read again
// and become no second record.
func TestNewUIDsMakeNoSecondRecord(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	const mails = 3
	for i := range mails {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i), pdfs: [][]byte{invoicePDF(fmt.Sprint(i))}}.raw()))
	}
	in := w.intake([]mailbox.Options{scripted(t, s)})
	w.settled(mails)
	eventually(t, "all are marked", func() error { return allDone(s, mails) })
	s.Renumber()
	eventually(t, "all are marked again", func() error { return allDone(s, mails) })
	w.settled(mails)
	if n := count(in.metrics.records.WithLabelValues(scripted(t, s).String(), "completed")); n != mails {
		t.Errorf("%d mails were counted as %d records", mails, n)
	}
	if n := count(in.metrics.validity.WithLabelValues(scripted(t, s).String())); n != 1 {
		t.Errorf("the change was counted %d times", n)
	}
	for id, all := range w.sent() {
		if len(all) != 3 {
			t.Errorf("record %s was sent %d times", id, len(all))
		}
	}
}

// Given a mail that somebody removes while it is being read, then the others come in all the same.
func TestAMailThatGoesAwayMeanwhileStopsNobody(t *testing.T) {
	w := newWorld(t)
	for name, at := range map[string]string{"before its header": "HEADER", "before its body": "[]"} {
		t.Run(name, func(t *testing.T) {
			before := len(w.stored())
			s := mailboxtest.Start(t)
			s.Fault = often(1, "UID FETCH 1 ", at, mailboxtest.Expunge)
			s.Deliver(string(testMail{to: "quartier@intake.example", id: name + "1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
			in := w.intake([]mailbox.Options{scripted(t, s)})
			eventually(t, "it is gone", func() error {
				if n := len(s.Flags()); n != 0 {
					return fmt.Errorf("%d mails are there", n)
				}
				return nil
			})
			s.Deliver(string(testMail{to: "quartier@intake.example", id: name + "2", pdfs: [][]byte{invoicePDF("2")}}.raw()))
			w.settled(before + 1)
			eventually(t, "it is marked", func() error { return allDone(s, 1) })
			in.end()
		})
	}
}

// Given a mail at which the connection always breaks, then the mails behind it come in.
func TestAMailThatBreaksEveryConnectionHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	s.Fault = often(1<<30, "UID FETCH 1", "[]", mailboxtest.Cut) // alone or among others
	for i := range 3 {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i), pdfs: [][]byte{invoicePDF(fmt.Sprint(i))}}.raw()))
	}
	o := scripted(t, s)
	o.Timeout = 20 * time.Second
	in := w.intake([]mailbox.Options{o}, func(in *Intake) { in.options.Parallel = 1 })
	w.settled(2)
	if n := count(in.metrics.lost.WithLabelValues(scripted(t, s).String())); n != maxFetchFailures+1 {
		t.Errorf("%d connections were lost to it", n)
	}
}

// Given a mail whose header can't be fetched, because the connection breaks at it or the server says nothing but its flags, then the
// mails that are asked for with it come in.
func TestAMailWithoutAHeaderHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	records := 0
	for name, fault := range map[string]mailboxtest.Fault{"cut": mailboxtest.Cut, "refused": mailboxtest.Refuse, "chat": mailboxtest.Chat} {
		t.Run(name, func(t *testing.T) {
			s := mailboxtest.Start(t)
			s.Fault = often(1<<30, "UID FETCH 1", "HEADER", fault) // alone or among others
			for i := range 3 {
				id := fmt.Sprint(name, i)
				s.Deliver(string(testMail{to: "quartier@intake.example", id: id, pdfs: [][]byte{invoicePDF(id)}}.raw()))
			}
			in := w.intake([]mailbox.Options{scripted(t, s)})
			records += 2
			w.settled(records)
			eventually(t, "they are marked", func() error { return doneOf(s, "", 2) })
			if n := count(in.metrics.lost.WithLabelValues(scripted(t, s).String())); n != maxFetchFailures+1 {
				t.Errorf("%d connections were lost to it", n)
			}
			if f := s.Flags()[0]; len(f) > 0 {
				t.Errorf("it has the flags %v", f)
			}
			in.end()
		})
	}
}

// Given a server that refuses to put a mail into the folder of done ones, as a full one does, then the others come in and are moved,
// and the mail is once there is room, as one record.
func TestAMarkThatIsRefusedHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	s.Move = true
	var room atomic.Bool
	s.Fault = func(command string) mailboxtest.Fault {
		if strings.HasPrefix(command, "UID MOVE 1 ") && !room.Load() {
			return mailboxtest.Refuse
		}
		return mailboxtest.None
	}
	o := scripted(t, s)
	o.DoneFolder = "Done"
	for i := range 3 {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i), pdfs: [][]byte{invoicePDF(fmt.Sprint(i))}}.raw()))
	}
	in := w.intake([]mailbox.Options{o}, func(in *Intake) {
		in.options.Parallel = 1
		in.timings.deferral, in.timings.refreshLeast, in.timings.refreshMost = time.Second, 500*time.Millisecond, time.Second
	})
	eventually(t, "the others are moved", func() error { return doneOf(s, "Done", 2) })
	if n := len(s.Flags()); n != 1 {
		t.Errorf("%d mails are left", n)
	}
	room.Store(true)
	eventually(t, "all are moved", func() error { return doneOf(s, "Done", 3) })
	w.settled(3)
	if n := count(in.metrics.lost.WithLabelValues(o.String())); n != 0 {
		t.Errorf("%d connections were lost to it", n)
	}
	if err := w.sent().consistent(); err != nil {
		t.Error(err)
	}
}

// Given a mail whose mark is refused again and again, then it is left alone, however often the mailbox is looked through.
func TestAMailWhoseMarkIsRefusedIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	s.Move = true
	var refused atomic.Int32
	s.Fault = func(command string) mailboxtest.Fault {
		if strings.HasPrefix(command, "UID MOVE 1 ") {
			refused.Add(1)
			return mailboxtest.Refuse
		}
		return mailboxtest.None
	}
	o := scripted(t, s)
	o.DoneFolder = "Done"
	deliver := func(id string) {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: id, pdfs: [][]byte{invoicePDF(id)}}.raw()))
	}
	deliver("m0")
	w.intake([]mailbox.Options{o}, func(in *Intake) {
		in.timings.refreshLeast, in.timings.refreshMost = 100*time.Millisecond, 200*time.Millisecond
	})
	eventually(t, "it is given up for now", func() error {
		if n := refused.Load(); n < maxFetchFailures {
			return fmt.Errorf("it was tried %d times", n)
		}
		return nil
	})
	for i := 1; i <= 3; i++ { // the mailbox is looked through for each
		deliver(fmt.Sprint("m", i))
		eventually(t, "the others are moved", func() error { return doneOf(s, "Done", i) })
	}
	if n := refused.Load(); n != maxFetchFailures {
		t.Errorf("it was tried %d times", n)
	}
}

// Given a server that refuses to mark one of several mails without an invoice, alone or among them, then the others are marked, those
// behind them come in over the same connection, and the one is marked once the server does it.
func TestARefusedMarkOfOneMailHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	var willing atomic.Bool
	s.Fault = func(command string) mailboxtest.Fault {
		if strings.HasPrefix(command, "UID STORE 1") && strings.Contains(command, "+FLAGS.SILENT ($TallyhouseIgnored") && !willing.Load() {
			return mailboxtest.Refuse
		}
		return mailboxtest.None
	}
	o := scripted(t, s)
	for i := range 3 {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("none", i), text: "no invoice"}.raw()))
	}
	in := w.intake([]mailbox.Options{o}, func(in *Intake) {
		in.options.Parallel = 1
		in.timings.attempts, in.timings.deferral = 100*time.Millisecond, time.Second
		in.timings.refreshLeast, in.timings.refreshMost = 500*time.Millisecond, time.Second
	})
	marked(t, o, mailbox.Ignored, 2)
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "invoice", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	w.settled(1)
	if n := in.mails("ignored"); n != 2 {
		t.Errorf("%d mails are told to be ignored", n)
	}
	willing.Store(true)
	marked(t, o, mailbox.Ignored, 3)
	if n := count(in.metrics.lost.WithLabelValues(o.String())); n != 0 {
		t.Errorf("%d connections were lost to it", n)
	}
}

// Given a server that takes no claim of one mail, then the others come in over the same connection.
func TestARefusedClaimHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	s.Fault = often(1<<30, "UID STORE 1 ", "$TallyhouseReading", mailboxtest.Refuse)
	o := scripted(t, s)
	for i := range 3 {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i), pdfs: [][]byte{invoicePDF(fmt.Sprint(i))}}.raw()))
	}
	in := w.intake([]mailbox.Options{o}, func(in *Intake) { in.options.Parallel = 1 })
	w.settled(2)
	eventually(t, "the others are marked", func() error { return doneOf(s, "", 2) })
	if n := count(in.metrics.lost.WithLabelValues(o.String())); n != 0 {
		t.Errorf("%d connections were lost to it", n)
	}
}

// Given mails that another worker claims, when it is done with some of them, then of these nothing is remembered once all mails are
// looked at again, and the claim on the last one still ages.
func TestClaimsThatEndedAreForgotten(t *testing.T) {
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	for i := range 3 {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i)}.raw()))
	}
	other := o
	other.Slot = 1
	their, err := mailbox.Open(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	defer their.Close()
	for uid := range mailbox.UID(3) {
		if mine, err := their.Claim(t.Context(), uid+1, 0, false); err != nil || !mine {
			t.Fatalf("claim: %t, %v", mine, err)
		}
	}
	in, err := New(Options{Mailboxes: []mailbox.Options{o}, Shards: []*database.Server{databasetest.Migrated(t, 1)}, Log: testLog(t),
		Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	box, err := mailbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	w := &watch{Intake: in, box: o, name: o.String(), log: in.options.Log}
	our := &session{watch: w, box: box, busy: map[mailbox.UID]bool{}, since: map[mailbox.UID]seen{}, next: 1, queue: newQueue(&w.spent, 1)}
	look := func() map[mailbox.UID]seen {
		our.again = time.Time{}
		if err := our.lookAround(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := our.scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		return our.since
	}
	first := look()[3]
	if len(our.since) != 3 {
		t.Fatalf("claims are seen on %v", our.since)
	}
	if err := errors.Join(their.Mark(t.Context(), mailbox.Done, 1, 2), their.Tidy(t.Context(), mailbox.Done, 1, 2)); err != nil {
		t.Fatal(err)
	}
	if since := look(); len(since) != 1 || since[3] != first {
		t.Errorf("remembered are %v, first was %v", since, first)
	}
}

// Where a mailbox takes no keywords, mails must be moved, and an error says so.
func TestAMailboxWithoutKeywordsIsRefused(t *testing.T) {
	s := mailboxtest.Start(t)
	s.NoKeywords = true
	o := scripted(t, s)
	for folder, want := range map[string]string{"": "--mail-done folder", "Done": "MOVE or UIDPLUS"} {
		o.DoneFolder = folder
		if _, err := mailbox.Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("folder %q: got %v", folder, err)
		}
	}
}

// Given a server that lacks something, when mails can be marked in it all the same, then they become records and are
// marked; an ignored one stays.
func TestServersThatLackSomething(t *testing.T) {
	w := newWorld(t)
	records := 0
	for _, c := range []struct {
		name   string
		lacks  func(*mailboxtest.Server)
		folder string
	}{
		{"all that isn't needed", func(s *mailboxtest.Server) { s.NoIdle = true }, ""},
		{"UIDPLUS", func(s *mailboxtest.Server) { s.Move = true }, "Done"},
		{"MOVE", func(s *mailboxtest.Server) { s.UIDPlus = true }, "Done"},
		{"keywords and UIDPLUS", func(s *mailboxtest.Server) { s.NoKeywords, s.Move = true, true }, "Done"},
		{"keywords, IDLE and MOVE", func(s *mailboxtest.Server) { s.NoKeywords, s.NoIdle, s.UIDPlus = true, true, true }, "Done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mailboxtest.Start(t)
			c.lacks(s)
			o := scripted(t, s)
			o.DoneFolder = c.folder
			pdf := invoicePDF(c.name)
			s.Deliver(string(testMail{to: "quartier@intake.example", id: c.name + "1", pdfs: [][]byte{pdf}}.raw()))
			s.Deliver(string(testMail{to: "quartier@intake.example", id: c.name + "2", text: "no invoice"}.raw()))
			in := w.intake([]mailbox.Options{o})
			eventually(t, "the first is done", func() error { return doneOf(s, c.folder, 1) })
			s.Deliver(string(testMail{to: "quartier@intake.example", id: c.name + "3", pdfs: [][]byte{pdf}}.raw()))
			records += 2
			w.settled(records)
			eventually(t, "both are done", func() error { return doneOf(s, c.folder, 2) })
			marked(t, o, mailbox.Ignored, 1)
			var ignored []Listed
			if err := in.Ignored(t.Context(), func(l Listed) { ignored = append(ignored, l) }); err != nil || len(ignored) != 1 {
				t.Errorf("listed are %+v, %v", ignored, err)
			}
			in.end()
		})
	}
}

// doneOf tells unless so many mails have the mark of done ones.
func doneOf(s *mailboxtest.Server, folder string, want int) error {
	n := len(s.Moved())
	for _, flags := range s.Flags() {
		if slices.Contains(flags, "$TallyhouseDone") {
			n++
		}
	}
	if left := len(s.Flags()); n != want || folder != "" && left != 1 && want == 2 {
		return fmt.Errorf("%d are, %d are left", n, left)
	}
	return nil
}

// Given a server that can't copy a mail, then the mail isn't removed: it is lost otherwise.
func TestAMailThatCannotBeCopiedIsNotRemoved(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	s.UIDPlus = true
	s.Fault = often(2, "UID COPY", "", mailboxtest.Refuse)
	o := scripted(t, s)
	o.DoneFolder = "Done"
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	w.intake([]mailbox.Options{o})
	w.settled(1)
	eventually(t, "it is done", func() error { return doneOf(s, "", 1) })
	for i, command := range s.Log() {
		if strings.HasPrefix(command, "UID STORE") && strings.Contains(command, `\Deleted`) && len(s.Moved()) == 0 {
			t.Errorf("command %d removes what isn't copied", i)
		}
	}
	deletions := 0
	for _, command := range s.Log() {
		if strings.HasPrefix(command, "UID EXPUNGE") {
			deletions++
		}
	}
	if deletions != 1 {
		t.Errorf("it was removed %d times", deletions)
	}
}

// Given a server that throttles, then it is left alone for as long as it wants.
func TestAThrottlingServerIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	var mutex sync.Mutex
	var throttled time.Time
	throttle := often(1, "UID FETCH", "HEADER", mailboxtest.Throttle)
	s.Fault = func(command string) mailboxtest.Fault {
		mutex.Lock()
		defer mutex.Unlock()
		fault := throttle(command)
		switch {
		case fault == mailboxtest.Throttle:
			throttled = time.Now()
		case !throttled.IsZero() && strings.HasPrefix(command, "LOGIN") && time.Since(throttled) < mailboxtest.ThrottleTime:
			t.Errorf("it was asked again %s after it wanted to be left alone", time.Since(throttled))
		}
		return fault
	}
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	w.intake([]mailbox.Options{scripted(t, s)})
	w.settled(1)
	mutex.Lock()
	defer mutex.Unlock()
	if throttled.IsZero() {
		t.Error("it did not throttle")
	}
}

// Given a broker that answers no more while a record is on its way, when the intake is told to end, then it ends within moments.
func TestTheIntakeEndsThoughKafkaIsSilent(t *testing.T) {
	w := newWorld(t)
	silent, frozen := w.freezing()
	s := mailboxtest.Start(t)
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	sending := make(chan struct{})
	in := w.intake([]mailbox.Options{scripted(t, s)}, func(in *Intake) {
		in.options.Cluster = silent
		in.observe = func(at step) {
			if at == stepQueued {
				frozen.Store(true)
				close(sending)
			}
		}
	})
	<-sending
	time.Sleep(300 * time.Millisecond) // so that the next version is on its way
	endsSoon(t, in.end)
}

// Given a server whose search for missing keywords finds nothing, then the mails without a mark are found all the same.
func TestOpenMailsAreFoundWithoutASearch(t *testing.T) {
	w := newWorld(t)
	s := mailboxtest.Start(t)
	s.BlindSearch = true
	s.Deliver(string(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{invoicePDF("1")}}.raw()))
	w.intake([]mailbox.Options{scripted(t, s)})
	w.settled(1)
	eventually(t, "it is marked", func() error { return allDone(s, 1) })
}

// Given something that mail needs away, then the mail waits without a mark, and comes in when it is back.
func TestMailsWaitForWhatIsAway(t *testing.T) {
	t.Parallel()
	for _, away := range []struct {
		what string
		// take takes it away from the intake, before it starts, and gives what brings it back
		take func(w *world, in *Intake) (giveBack func())
	}{
		{"clickhouse", func(w *world, in *Intake) func() {
			valve := clickhousetest.NewValve(w.t, w.where.Addr)
			valve.Turn(true)
			in.directory = directory{[]*database.Server{openDatabase(w.t, database.Options{Addr: valve.Addr(),
				Database: w.where.Database, User: "default"})}}
			return func() { valve.Turn(false) }
		}},
		{"kafka", func(w *world, in *Intake) func() {
			in.timings.sending = time.Second // it waits when a try has failed
			addr := w.broker.Addr()
			if err := w.broker.Stop(context.Background()); err != nil {
				w.t.Fatal(err)
			}
			return func() { kafkatest.StartIn(w.t, w.brokerDir, addr) }
		}},
		{"reader", func(w *world, in *Intake) func() {
			program := filepath.Join(w.t.TempDir(), "tallyhouse")
			in.options.Reader.Sandbox.Command = []string{program, "read", "--isolated"}
			return func() {
				this, err := os.Executable()
				if err == nil {
					err = os.Symlink(this, program)
				}
				if err != nil {
					w.t.Fatal(err)
				}
			}
		}},
	} {
		t.Run(away.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var giveBack func()
			in := w.intake([]mailbox.Options{w.box()}, func(in *Intake) { giveBack = away.take(w, in) })
			pdf := invoicePDF("1")
			w.deliver(testMail{to: "quartier@intake.example", id: "m1", pdfs: [][]byte{pdf}}.raw(), "quartier@intake.example")
			eventually(t, "the mail waits", func() error {
				if count(in.metrics.waits.WithLabelValues(away.what)) == 0 {
					return errors.New("it doesn't")
				}
				return nil
			})
			if err := unhandled(w.box()); err == nil {
				t.Error("the mail is marked though it isn't handled")
			}
			giveBack()
			if _, ok := w.settled(1)[recordOf("m1", pdf)]; !ok {
				t.Error("another record came in")
			}
			marked(t, w.box(), mailbox.Done, 1)
		})
	}
}
