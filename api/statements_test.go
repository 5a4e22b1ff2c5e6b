package api

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tallyhouse/api/problem"
)

// sending is a queue of statements on a clock of its own.
type sending struct {
	*statementQueue
	*testing.T
	now  time.Time
	sent []string       // tenant and principal, in the order in which they were sent
	done map[int]func() // of statements that run, by their place in sent
}

func newSending(t *testing.T, limits statementLimits) *sending {
	s := &sending{T: t, now: time.Unix(0, 0), done: make(map[int]func())}
	s.statementQueue = newStatementQueue(limits, func() time.Time { return s.now })
	return s
}

// wants adds a statement and returns when it runs or waits.
func (s *sending) wants(ctx context.Context, tenant, principal string) (left <-chan error) {
	s.Helper()
	before := s.known()
	gone := make(chan error, 1)
	go func() {
		done, err := s.enter(ctx, tenant, principal)
		if err != nil {
			gone <- err
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done[len(s.sent)] = done
		s.sent = append(s.sent, tenant+"/"+principal)
	}()
	s.until(func() bool { return s.known() > before })
	return gone
}

func (s *sending) known() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running + len(s.waiting) + s.ended()
}

// ended is how many statements have ended. The lock is held.
func (s *sending) ended() int { return len(s.sent) - len(s.done) }

// until waits for what is bound to happen, and until all that were let in have been noted.
func (s *sending) until(happened func() bool) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		noted := s.running == len(s.done)
		s.mu.Unlock()
		if noted && happened() {
			return
		}
		if time.Now().After(deadline) {
			s.Fatal("nothing happens any more")
		}
	}
}

// ends lets a statement end after it ran for so long, and returns which ones were sent then.
func (s *sending) ends(which int, ran time.Duration) (next []string) {
	s.Helper()
	s.mu.Lock()
	s.now = s.now.Add(ran)
	done, before := s.done[which], len(s.sent)
	delete(s.done, which)
	s.mu.Unlock()
	done()
	s.until(func() bool { return true })
	return s.sent[before:]
}

// nothingIsLeft fails if anything is known of statements that have ended.
func (s *sending) nothingIsLeft() {
	s.Helper()
	if s.running != 0 || len(s.waiting) != 0 || len(s.tenants) != 0 || len(s.principals) != 0 {
		s.Errorf("when all have ended, %d run, %d wait, %d tenants and %d principals are known", s.running, len(s.waiting),
			len(s.tenants), len(s.principals))
	}
}

func TestAStatementOfAnotherFindsRoom(t *testing.T) {
	// Given a database of two threads, and a key that wants many statements at once
	s, ctx := newSending(t, forThreads(2, 48)), context.Background()
	for range 10 {
		s.wants(ctx, "noisy", "1")
	}
	// When another key of the tenant wants several, and then another tenant
	for range 3 {
		s.wants(ctx, "noisy", "2")
	}
	s.wants(ctx, "quiet", "1")
	// Then the first key has two, the second one finds room for one, and so does the other tenant, at once.
	if want := []string{"noisy/1", "noisy/1", "noisy/2", "quiet/1"}; !slices.Equal(s.sent, want) {
		t.Errorf("sent %q, want %q", s.sent, want)
	}
	for i := range 14 {
		s.ends(i, time.Second)
	}
	s.nothingIsLeft()
}

func TestManyThreadsTakeManyStatements(t *testing.T) {
	for _, test := range []struct{ threads, most, all, tenant, principal int }{
		{1, 48, 4, 3, 2}, // a page is two statements beside each other
		{2, 48, 4, 3, 2},
		{16, 48, 18, 17, 16},
		{64, 48, 48, 47, 46},
		{8, 3, 3, 2, 1},
	} {
		if got := forThreads(test.threads, test.most); got != (statementLimits{test.all, test.tenant, test.principal}) {
			t.Errorf("%d threads, at most %d statements: %+v", test.threads, test.most, got)
		}
	}
}

func TestWhoseStatementsTookLeastTimeIsNext(t *testing.T) {
	for name, who := range map[string][2]string{"tenants": {"a/1", "b/1"}, "keys of a tenant": {"a/1", "a/2"}} {
		t.Run(name, func(t *testing.T) {
			// Given room for one statement, and two that want many: of the first each takes ten times as long
			s := newSending(t, statementLimits{1, 1, 1})
			for i := range 40 {
				of := who[i%2]
				s.wants(context.Background(), of[:1], of[2:])
			}
			// When they run
			count := make(map[string]int)
			for i := range 22 {
				took := map[string]time.Duration{who[0]: 10 * time.Second, who[1]: time.Second}[s.sent[i]]
				count[s.sent[i]]++
				s.ends(i, took)
			}
			// Then the second one sends ten times as many.
			if count[who[0]] != 2 || count[who[1]] != 20 {
				t.Errorf("sent %v", count)
			}
		})
	}
}

func TestWhoComesNewIsNeitherBeforeNorBehindAllOthers(t *testing.T) {
	// Given a tenant that has been busy alone for an hour
	s, ctx := newSending(t, statementLimits{1, 1, 1}), context.Background()
	for range 20 {
		s.wants(ctx, "old", "1")
	}
	for i := range 6 {
		s.ends(i, 10*time.Minute)
	}
	// When another one comes
	for range 10 {
		s.wants(ctx, "new", "1")
	}
	// Then it waits for the one that runs alone, and from then on they take turns: it doesn't make up for the hour.
	for i := 6; i < 12; i++ {
		s.ends(i, 10*time.Minute)
	}
	if want := []string{"old/1", "new/1", "old/1", "new/1", "old/1", "new/1"}; !slices.Equal(s.sent[6:12], want) {
		t.Errorf("sent %q, want %q", s.sent[6:12], want)
	}
}

func TestWhoNeverStopsAskingGetsAnEqualTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 3 {
		// Given tenants that always have statements waiting, however long each takes
		s, ctx := newSending(t, statementLimits{1, 1, 1}), context.Background()
		const tenants, statements, longest = 3, 30, 100
		for i := range tenants * statements {
			s.wants(ctx, fmt.Sprint(i%tenants), "1")
		}
		spent := make(map[string]time.Duration)
		// When many have run
		for i := range statements {
			took := time.Duration(1 + random.IntN(longest))
			spent[s.sent[i]] += took
			s.ends(i, took)
			// Then none has had more than another one but for the longest of its statements.
			for a, one := range spent {
				for b, other := range spent {
					if one-other > longest && len(spent) == tenants {
						t.Fatalf("round %d: %s has had %d, %s %d", round, a, one, b, other)
					}
				}
			}
		}
	}
}

func TestAStatementThatWaitsInVainLeavesNothing(t *testing.T) {
	// Given a statement that runs, and one that waits
	s := newSending(t, statementLimits{1, 1, 1})
	s.wants(context.Background(), "acme", "1")
	ctx, leave := context.WithCancel(context.Background())
	gone := s.wants(ctx, "other", "1")
	// When nobody wants it any more
	leave()
	// Then it is refused, and nothing is left of both.
	var p *problem.Error
	if err := <-gone; !errors.As(err, &p) || p.Kind != problem.TooManyRequests {
		t.Errorf("got %v", err)
	}
	s.ends(0, time.Second)
	s.nothingIsLeft()
}

func TestMoreThreadsLetMoreStatementsIn(t *testing.T) {
	s, ctx := newSending(t, forThreads(2, 48)), context.Background()
	for range 10 {
		s.wants(ctx, "acme", "1")
	}
	s.allow(forThreads(4, 48))
	s.until(func() bool { return len(s.sent) == 4 })
	for i := range 10 {
		s.ends(i, time.Second)
	}
	s.nothingIsLeft()
}
