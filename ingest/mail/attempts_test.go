package mail

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
)

// largeOf is a mail that is read alone.
func largeOf(id string) string {
	text := strings.Repeat("text and more\r\n", 2*smallMail/15)
	return string(testMail{to: "quartier@intake.example", id: id, text: text, pdfs: [][]byte{invoicePDF("1")}}.raw())
}

// Given a sound mail, when its worker is ended in each of more readings than may break off, before the mail is fetched or while it is read,
// then none of them counts and the mail becomes its record.
func TestEndsOfTheWorkerAreNoAttempts(t *testing.T) {
	t.Parallel()
	for _, at := range []step{stepClaimed, stepTried} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := mailboxtest.Start(t)
			s.Deliver(largeOf("m1"))
			for range mailbox.MaxAttempts + 1 {
				reached := make(chan struct{}, 10)
				in := w.intake([]mailbox.Options{scripted(t, s)}, func(in *Intake) {
					in.observe = func(st step) {
						if st == at {
							reached <- struct{}{}
							time.Sleep(300 * time.Millisecond) // it is ended meanwhile
						}
					}
				})
				select {
				case <-reached:
				case <-time.After(testTimeout):
					t.Fatalf("the mail isn't %s: %v", at, s.Flags())
				}
				in.end()
				if flags := fmt.Sprint(s.Flags()); strings.Contains(flags, "Tried") {
					t.Errorf("an attempt is counted: %s", flags)
				}
			}
			w.intake([]mailbox.Options{scripted(t, s)})
			w.settled(1)
			eventually(t, "marked", func() error { return allDone(s, 1) })
		})
	}
}

// Given a sound mail, when the connection breaks more often than readings may break off, while the mail is fetched or while it is read, then
// none of that counts and the mail becomes its record.
func TestBrokenConnectionsAreNoAttempts(t *testing.T) {
	t.Parallel()
	const times = mailbox.MaxAttempts + 1
	for name, fault := range map[string]func(string) mailboxtest.Fault{
		"fetching": often(times, "UID FETCH 1 ", "BODY.PEEK[]", mailboxtest.Cut),
		"counting": often(times, "UID STORE 1 ", "$TallyhouseTried", mailboxtest.HangUp),
		"reading":  often(times, "UID STORE 1 ", "$TallyhouseBeat", mailboxtest.HangUp),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := mailboxtest.Start(t)
			s.Fault = fault
			s.Deliver(largeOf("m1"))
			var readings atomic.Int64
			in := w.intake([]mailbox.Options{scripted(t, s)}, func(in *Intake) {
				in.timings.deferral, in.timings.refreshLeast, in.timings.refreshMost = time.Second, 500*time.Millisecond, time.Second
				in.timings.claims = 600 * time.Millisecond
				in.observe = func(st step) {
					if st == stepTried && readings.Add(1) <= times && name == "reading" {
						time.Sleep(time.Second) // the claim is renewed meanwhile, and the connection breaks
					}
				}
			})
			w.settled(1)
			eventually(t, "marked", func() error { return allDone(s, 1) })
			if n := count(in.metrics.lost.WithLabelValues(in.options.Mailboxes[0].String())); n < times {
				t.Errorf("%d connections broke", n)
			}
		})
	}
}

// Given a mail at whose reading the worker is killed three times, then it is set aside without another reading.
func TestAMailWhoseReadingKillsTheWorkerIsSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := mailboxtest.Start(t)
	s.Deliver(largeOf("m1"))
	for n := range mailbox.MaxAttempts {
		runUntilDead(t, childWork{Kafka: w.cluster.Addrs[0], ClickHouse: w.where.Addr, Database: w.where.Database, Originals: w.originals,
			Mailbox: s.URL(), DieAt: stepTried, DieAfter: 1})
		if flags := fmt.Sprint(s.Flags()); !strings.Contains(flags, fmt.Sprint("Tried", n+1)) {
			t.Errorf("after %d deaths the flags are %s", n+1, flags)
		}
	}
	w.intake([]mailbox.Options{scripted(t, s)})
	marked(t, scripted(t, s), mailbox.Failed, 1)
	if n := len(w.sent()); n != 0 {
		t.Errorf("%d records were sent", n)
	}
}
