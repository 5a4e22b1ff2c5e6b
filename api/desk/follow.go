package desk

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"tallyhouse/api/session"
	"tallyhouse/reader"
)

// Bounds of pages that follow what comes in, by server-sent events. Whoever is refused, or whose stream has ended, sees
// what is new when the page is loaded again; browsers connect again by themselves.
const (
	maxStreams         = 200
	maxStreamsOfTenant = 100
	maxStreamsOfOne    = 6
	streamLasts        = 10 * time.Minute // then the browser connects again, and access is asked anew
	streamLooks        = time.Second
	streamBeats        = 15 // looks without news, after which a comment shows that the connection is alive
	streamWriteLimit   = 20 * time.Second
)

// streams counts the pages that follow the inbox: of all people, of each tenant and of each person.
type streams struct {
	mu      sync.Mutex
	all     int
	tenants map[string]int
	of      map[[2]string]int // by tenant and user
}

// enter lets one more in; leave must be called when it ends.
func (s *streams) enter(tenant, user string) (leave func(), ok bool) {
	who := [2]string{tenant, user}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxStreams || s.tenants[tenant] >= maxStreamsOfTenant || s.of[who] >= maxStreamsOfOne {
		return nil, false
	}
	if s.of == nil {
		s.tenants, s.of = map[string]int{}, map[[2]string]int{}
	}
	s.all++
	s.tenants[tenant]++
	s.of[who]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.tenants[tenant]--; s.tenants[tenant] == 0 {
			delete(s.tenants, tenant)
		}
		if s.of[who]--; s.of[who] == 0 {
			delete(s.of, who)
		}
	}, true
}

// news is how far the inboxes have come. All pages share one look a moment, also one that failed; a page is told of its own tenant's
// inbox.
type news struct {
	looking singleflight.Group
	// What the last look found, and when it ended. They are changed by the look under way alone.
	at     time.Time
	all    reader.InboxStandings
	failed error
}

// lookForNews names how far a tenant's inbox has come. What is read for all waits for a turn of its own, which is nobody's.
func (d *Desk) lookForNews(ctx context.Context, tenant string) (string, error) {
	all, err := d.news.standings(ctx, func() (reader.InboxStandings, error) {
		return d.inbox.InboxStandings(d.api.As(context.Background(), session.User{}))
	})
	if err != nil {
		return "", err
	}
	own, err := d.inbox.InboxStanding(ctx, all, tenant)
	return "at " + own, err // never empty
}

// standings waits for the look that is under way, or for a new one where the last was too long ago. A look must be in nobody's context:
// who leaves doesn't end it for the others, and where one person's statements wait, not everybody's pages do.
func (n *news) standings(ctx context.Context, look func() (reader.InboxStandings, error)) (reader.InboxStandings, error) {
	looked := n.looking.DoChan("inboxes", func() (any, error) {
		if time.Since(n.at) >= streamLooks/2 {
			n.failed = reader.Together(func() (err error) { // a panic here would end the process
				n.all, err = look()
				return err
			})
			n.at = time.Now()
		}
		return n.all, n.failed
	})
	select {
	case <-ctx.Done():
		return reader.InboxStandings{}, fmt.Errorf("wait for how far the inboxes have come: %w", ctx.Err())
	case found := <-looked:
		return found.Val.(reader.InboxStandings), found.Err
	}
}

// followInbox tells a page when the inbox has changed since it was made, or since it was told before, until the browser leaves, the
// desk ends, or its time is over. It says nothing of what changed: the page asks for that as any.
func followInbox(v *visit) (answer, error) {
	if len(v.mailbox().ids) == 0 { // who sees no mails doesn't learn when some come
		return nil, errNotFound
	}
	leave, ok := v.desk.streams.enter(v.caller.Tenant(), v.session.UserID)
	if !ok {
		return nil, errTooMany
	}
	return raw(func(w http.ResponseWriter, r *http.Request) {
		defer leave()
		v.leave() // a stream is none of the pages that are made
		ctx, stop := context.WithTimeout(r.Context(), streamLasts)
		defer stop()
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "private, no-store")
		out := http.NewResponseController(w)
		send := func(text string) bool {
			if err := out.SetWriteDeadline(time.Now().Add(streamWriteLimit)); err != nil {
				return false
			}
			_, err := fmt.Fprint(w, text)
			return err == nil && out.Flush() == nil
		}
		seen := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since"))
		if !send(": here\n\n") {
			return
		}
		tick := time.NewTicker(streamLooks)
		defer tick.Stop()
		quiet := 0
		for {
			newest, err := v.desk.lookForNews(ctx, v.caller.Tenant())
			switch {
			case err != nil && ctx.Err() == nil: // the database is away for a moment
				quiet++
			case err != nil:
			case newest != seen:
				if !send("id: " + newest + "\nevent: changed\ndata: 1\n\n") {
					return
				}
				seen, quiet = newest, 0
			default:
				quiet++
			}
			if quiet >= streamBeats {
				if quiet = 0; !send(": still here\n\n") {
					return
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			case <-v.desk.ending:
				return
			}
		}
	}), nil
}
