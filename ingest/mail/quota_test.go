package mail

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"tallyhouse/ingest/mail/mailbox"
)

var morning = time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)

// Given a quota of two an hour, then a sender's mails are within it as long as no hour has more of them, in whatever order they are
// looked at.
func TestSendersHaveAQuotaOfAnHour(t *testing.T) {
	type mail struct {
		sender string
		uid    mailbox.UID
		at     time.Duration
		want   bool
	}
	for name, mails := range map[string][]mail{
		"as they arrive": {
			{"a", 1, 0, true}, {"a", 2, time.Minute, true}, {"a", 3, 2 * time.Minute, false}, {"b", 4, 2 * time.Minute, true},
			{"a", 2, 3 * time.Minute, true}, // seen again
			{"a", 5, 59 * time.Minute, false}, {"a", 6, 60 * time.Minute, true}, {"a", 7, 60 * time.Minute, false}, {"a", 8, 61 * time.Minute, true},
		},
		"those that wait since yesterday behind the new ones": {
			{"a", 8, 24 * time.Hour, true}, {"a", 9, 24 * time.Hour, true},
			{"a", 1, 0, true}, {"a", 2, time.Minute, true}, {"a", 3, 2 * time.Minute, false}, {"a", 4, 2 * time.Hour, true},
			{"a", 10, 24*time.Hour + time.Minute, false}, // the new ones still count
		},
		"between two others": {
			{"a", 1, 0, true}, {"a", 3, 61 * time.Minute, true}, {"a", 2, 30 * time.Minute, true}, // each hour has two
			{"a", 4, 31 * time.Minute, false},
		},
		"later ones first": {{"a", 3, 50 * time.Minute, true}, {"a", 2, 40 * time.Minute, true}, {"a", 1, 0, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var q quota
			for _, m := range mails {
				if got := q.use(m.sender, m.uid, morning.Add(m.at), 2); got != m.want {
					t.Errorf("mail %d of %s, %s later: %t", m.uid, m.sender, m.at, got)
				}
			}
		})
	}
	if q := (quota{}); !q.use("a", 1, morning, 0) {
		t.Error("no quota refuses")
	}
}

// Given a sender who writes all the time, and mails of days that are looked at beside the new ones, then no hour gets more than may be,
// and no more is remembered of them than is needed.
func TestNoHourHasMoreThanTheQuota(t *testing.T) {
	const most = 5
	var q quota
	within := map[time.Duration]int{} // by the minute
	uid := mailbox.UID(0)
	use := func(at time.Duration) {
		if uid++; q.use("a", uid, morning.Add(at), most) {
			within[at]++
		}
	}
	const year = 365 * 24 * time.Hour
	for i := range 3000 {
		old, now := time.Duration(i)*3*time.Minute, year+time.Duration(i)*time.Minute
		use(old + time.Duration(rand.N(20))*time.Minute)
		use(now)
	}
	for at := range within {
		n := 0
		for minute := range time.Duration(60) {
			n += within[at+minute*time.Minute]
		}
		if n > most {
			t.Fatalf("the hour from %s on has %d", at, n)
		}
	}
	if n := len(q.sent.look("a").mails); n > 6*most {
		t.Errorf("%d mails are remembered", n)
	}
}

// Given more senders than are counted, as who forges addresses has, then whoever sends meanwhile is still counted, and he alone is
// forgotten who has been silent for longest.
func TestAFloodOfSendersLiftsNobodysQuota(t *testing.T) {
	var q quota
	sends := func(sender string, uid int) bool { return q.use(sender, mailbox.UID(uid), morning, 1) }
	sends("busy", 1)
	sends("silent", 2)
	sends("quiet", 3)
	for i := range 3 * maxSenders {
		if i == maxSenders-3 {
			if q.sent.recent.Len() != maxSenders || sends("quiet", 4) || sends("busy", 5) || sends("silent", 6) {
				t.Fatalf("%d senders are counted, and one of those who used up what they may is not", q.sent.recent.Len())
			}
		}
		if sends(fmt.Sprint("forged", i), 1000+i); i%1000 == 0 && sends("busy", 7) {
			t.Fatalf("after %d others a sender has a new quota", i)
		}
	}
	if n := len(q.sent.of); n != maxSenders || q.sent.recent.Len() != n {
		t.Errorf("%d senders are counted", n)
	}
	if !sends("silent", 8) {
		t.Error("who was silent for longest is not forgotten")
	}
}

// Given time that senders' mails were read for, then it counts for half an hour at least and an hour at most, also while nothing is read,
// and a flood of others makes nobody's be forgotten who sends meanwhile.
func TestTimeThatWasSpentCountsForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s spent
		of := func(sender string) time.Duration {
			return s.all([]candidate{{sender: sender, mail: mailbox.Mail{UID: 1}}})[1]
		}
		s.add("a", time.Minute)
		time.Sleep(20 * time.Minute)
		s.add("a", time.Minute)
		s.add("busy", time.Minute)
		for i := range 3 * maxSenders {
			if s.add(fmt.Sprint("forged", i), time.Millisecond); i%1000 == 0 {
				s.add("busy", time.Millisecond)
			}
		}
		if d := of("busy"); d < time.Minute {
			t.Errorf("%s is remembered of who sends meanwhile", d)
		}
		if n := s.now.recent.Len(); n != maxSenders {
			t.Errorf("%d senders are remembered", n)
		}
		s.add("a", 2*time.Minute)
		time.Sleep(29 * time.Minute)
		if d := of("a"); d != 2*time.Minute {
			t.Errorf("%s is remembered of half an hour", d)
		}
		time.Sleep(31*time.Minute + time.Second)
		if d := of("a"); d != 0 {
			t.Errorf("%s is remembered of an hour ago", d)
		}
	})
}
