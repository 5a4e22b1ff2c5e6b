package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"tallyhouse/api/access"
	"tallyhouse/api/session"
	"tallyhouse/schemas/calendar"
)

// People who have signed in at another part of this process, like the desk, send no token: who they are stands in the context of
// the request, where nobody outside the process can write.

type personKey struct{}

// visitor is the person of a request at another part of the process.
type visitor struct {
	session.User
	// counted says that the request is in their rate limit already: what it asks for first is not counted once more.
	counted atomic.Bool
}

func visitorOf(ctx context.Context) *visitor {
	v, _ := ctx.Value(personKey{}).(*visitor)
	return v
}

// Ask answers GET target, like /v0/projects?..., for a person who has signed in, as if they had sent it with a session token: all
// that is checked of requests is checked of this one, and it counts as one. The body is that of the answer, whatever its status.
func (s *Server) Ask(ctx context.Context, person session.User, target string) (status int, body []byte) {
	if v := visitorOf(ctx); v == nil || v.User != person {
		ctx = s.As(ctx, person)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.basePath+target, nil)
	if err != nil {
		return http.StatusBadRequest, nil
	}
	out := &recorder{header: make(http.Header)}
	s.ServeHTTP(out, request)
	return out.status, out.body
}

// As is a context in which statements are sent for a person who has signed in: see Turn.
func (s *Server) As(ctx context.Context, person session.User) context.Context {
	return context.WithValue(ctx, personKey{}, &visitor{User: person})
}

// Admit counts a request of a person who has signed in at another part of the process, and waits until it may be worked on: a few at a
// time of each person and tenant, fewer of those that hold a file in memory. Until leave is called, which is when the answer has been
// sent, it is one of them. In the context that it returns, which is As, the first question (Ask) is not counted once more. It is refused
// as problem.TooManyRequests.
func (s *Server) Admit(ctx context.Context, person session.User, holdsFile bool) (admitted context.Context, leave func(), err error) {
	caller, err := s.Caller(person)
	if err != nil {
		return nil, nil, err
	}
	if err := s.limitRate(ctx, caller, http.Header{}); err != nil {
		s.refusals.hold(ctx)
		return nil, nil, err
	}
	among := s.pages
	if holdsFile {
		among = s.files
	}
	waiting, stop := context.WithTimeout(ctx, s.timeout)
	defer stop()
	request, err := among.enter(waiting, caller.Tenant(), caller.Principal())
	if err != nil {
		return nil, nil, err
	}
	v := &visitor{User: person}
	v.counted.Store(true)
	return context.WithValue(ctx, personKey{}, v), sync.OnceFunc(func() { request.finish(0) }), nil
}

// Turn waits until a statement may be sent for the person of the context (As), as long as a request may take. It waits with those of
// the person's requests: what is read for a page takes no more of the database than what is read for an answer.
func (s *Server) Turn(ctx context.Context) (done func(), err error) {
	person := visitorOf(ctx)
	if person == nil { // this process's own
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.statements.enter(ctx, person.Tenant, access.PrincipalOf(person.ID))
}

// Today is the date in Vienna that figures are of at this moment.
func (s *Server) Today() calendar.Date { return calendar.ViennaDate(s.clock()) }

// Caller is a person who has signed in, and what they may see at this moment. access.ErrCredentials when there is no such active
// user, access.ErrUnconfirmed when that is not certain; another error until the database has been found right once.
func (s *Server) Caller(person session.User) (*access.Caller, error) {
	if err := s.database.neverRight(); err != nil {
		return nil, err
	}
	store, err := s.access.Store()
	if err != nil {
		return nil, err
	}
	return store.CallerByUser(person.Tenant, person.ID)
}
