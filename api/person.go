package api

import (
	"context"
	"net/http"

	"tallyhouse/api/access"
	"tallyhouse/api/session"
	"tallyhouse/schemas/calendar"
)

// People who have signed in at another part of this process, like the desk, send no token: who they are stands in the context of
// the request, where nobody outside the process can write.

type personKey struct{}

// Ask answers GET target, like /v0/projects?..., for a person who has signed in, as if they had sent it with a session token: all
// that is checked of requests is checked of this one, and it counts as one. The body is that of the answer, whatever its status.
func (s *Server) Ask(ctx context.Context, person session.User, target string) (status int, body []byte) {
	request, err := http.NewRequestWithContext(s.As(ctx, person), http.MethodGet, s.basePath+target, nil)
	if err != nil {
		return http.StatusBadRequest, nil
	}
	out := &recorder{header: make(http.Header)}
	s.ServeHTTP(out, request)
	return out.status, out.body
}

// As is a context in which statements are sent for a person who has signed in: see Turn.
func (s *Server) As(ctx context.Context, person session.User) context.Context {
	return context.WithValue(ctx, personKey{}, person)
}

// Turn waits until a statement may be sent for the person of the context (As), as long as a request may take. It waits with those of
// the person's requests: what is read for a page takes no more of the database than what is read for an answer.
func (s *Server) Turn(ctx context.Context) (done func(), err error) {
	person, ok := ctx.Value(personKey{}).(session.User)
	if !ok { // this process's own
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
