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
	request, err := http.NewRequestWithContext(context.WithValue(ctx, personKey{}, person), http.MethodGet, s.basePath+target, nil)
	if err != nil {
		return http.StatusBadRequest, nil
	}
	out := &recorder{header: make(http.Header)}
	s.ServeHTTP(out, request)
	return out.status, out.body
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
