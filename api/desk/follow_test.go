package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tallyhouse/api/session"
	"tallyhouse/reader"
)

// hangingInbox answers how far the inboxes have come with a failure, after as long as a statement may take.
type hangingInbox struct {
	anyInbox
	asked  int
	inTurn bool // it was asked in somebody's turn
}

var errHangs = errors.New("the database hangs")

func (i *hangingInbox) InboxStandings(ctx context.Context) (reader.InboxStandings, error) {
	i.asked++
	i.inTurn = i.inTurn || ctx.Value(asKey{}) != (session.User{})
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
	}
	return reader.InboxStandings{}, errHangs
}

// Given a database that hangs, when many pages ask how far their inbox has come, then it is asked once for all of them, in nobody's turn;
// who leaves waits no longer and doesn't end it for the others, and those who come a moment later have the same answer at once.
func TestPagesThatFollowWaitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inbox, began := &hangingInbox{}, time.Now()
		d := &Desk{api: &walkedAPI{}, inbox: inbox}
		lasts := func(ctx context.Context, want error, after time.Duration) {
			t.Helper()
			if _, err := d.lookForNews(ctx, "demo"); !errors.Is(err, want) || time.Since(began) != after {
				t.Errorf("%v after %v, want %v after %v", err, time.Since(began), want, after)
			}
		}
		leaves, stop := context.WithTimeout(d.api.As(t.Context(), session.User{Tenant: "demo", ID: "ada"}), time.Second)
		defer stop()
		var pages sync.WaitGroup
		pages.Go(func() { lasts(leaves, context.DeadlineExceeded, time.Second) })
		synctest.Wait() // the one who leaves is the first
		for range 20 {
			pages.Go(func() { lasts(t.Context(), errHangs, 10*time.Second) })
		}
		pages.Wait()
		lasts(t.Context(), errHangs, 10*time.Second)
		if inbox.asked != 1 || inbox.inTurn {
			t.Errorf("the database was asked %d times, in the turn of somebody: %t", inbox.asked, inbox.inTurn)
		}

		// And after a moment it is asked anew.
		time.Sleep(streamLooks)
		lasts(t.Context(), errHangs, 21*time.Second)
	})
}

// Streams are bounded for each person, each tenant and for all; whoever leaves makes room.
func TestStreamsAreBounded(t *testing.T) {
	var s streams
	var leaving []func()
	enter := func(tenant, user string) bool {
		leave, ok := s.enter(tenant, user)
		if ok {
			leaving = append(leaving, leave)
		}
		return ok
	}
	for i := range maxStreamsOfOne + 1 {
		if ok := enter("demo", "ada"); ok != (i < maxStreamsOfOne) {
			t.Errorf("stream %d of a person enters: %t", i, ok)
		}
	}
	for i := maxStreamsOfOne; i <= maxStreamsOfTenant; i++ {
		if ok := enter("demo", fmt.Sprint("user", i)); ok != (i < maxStreamsOfTenant) {
			t.Errorf("stream %d of a tenant enters: %t", i, ok)
		}
	}
	for i := maxStreamsOfTenant; i < maxStreams; i++ {
		if !enter(fmt.Sprint("tenant", i), "ada") {
			t.Fatalf("stream %d is refused", i)
		}
	}
	if enter("acme", "late") {
		t.Error("one too many enters")
	}
	for _, leave := range leaving {
		leave()
	}
	if s.all != 0 || len(s.tenants) != 0 || len(s.of) != 0 || !enter("demo", "ada") {
		t.Errorf("%d streams of %d people of %d tenants are left", s.all, len(s.of), len(s.tenants))
	}
}
