package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tallyhouse/api/access"
	"tallyhouse/api/agents"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/serving"
	"tallyhouse/api/session"
	"tallyhouse/reader"
)

// serveData answers a request below /v0. The order of the checks is fixed: who does not get past one learns nothing of
// the next.
func (s *Server) serveData(ctx context.Context, r *http.Request, header http.Header, path string, seen *observation) (reply, error) {
	caller, err := s.identify(ctx, r, header, seen)
	if err != nil {
		return reply{}, err
	}
	if path == descriptionPath {
		seen.operation = "getDescription"
		return s.serveDescription(r)
	}
	operation, values, ok := s.routes.match(path)
	if !ok {
		return reply{}, &problem.Error{Kind: problem.NotFound, Detail: "There is no such path."}
	}
	seen.operation = operation.id
	if methods := operation.methods(); !slices.Contains(methods, r.Method) {
		return reply{}, &problem.Error{Kind: problem.MethodNotAllowed, Allow: methods}
	}
	c := &call{operation: operation, caller: caller, path: values, today: s.Today()}
	if err := c.parse(r.URL.RawQuery); err != nil {
		return reply{}, err
	}
	if operation.takes != nil {
		return s.receive(ctx, r, c)
	}
	if err := c.refused(); err != nil {
		return reply{}, err
	}
	if err := c.tooMany(); err != nil {
		return reply{}, err
	}
	out, err := s.work(ctx, c)
	return out, s.orAway(err)
}

// orAway says of a request that waited for its turn in vain that the database is away, where that is why: turns end when it
// answers.
func (s *Server) orAway(err error) error {
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Kind != problem.TooManyRequests {
		return err
	}
	if failed := s.database.failed(); failed != nil {
		return fmt.Errorf("%w: %w", reader.ErrAway, failed)
	}
	return err
}

// work is the part of a request that costs something: it waits for its turn, and has one limit of time for all.
func (s *Server) work(ctx context.Context, c *call) (out reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := s.admission.enter(ctx, c.caller.Tenant(), c.caller.Principal())
	if err != nil {
		return reply{}, err
	}
	defer func() {
		if out.admitted == nil {
			request.finish(0)
		}
	}()
	turn := s.turnOf(c.caller, c.caller.Principal(), request.wait)
	small, large := s.small.queued(turn), s.large.queued(turn)
	kept, err := s.lookForKept(ctx, c, large.reader)
	if err != nil {
		return reply{}, err
	}
	again := func() (reply, bool) {
		out, ok := kept.reply()
		if ok {
			out.admitted = request
			request.finish(len(out.body) + sendingOverhead)
		}
		return out, ok
	}
	if out, ok := again(); ok {
		return out, nil
	}
	c.standing, c.has = kept.standing, kept.inputs
	made := func() (err error) {
		var write writer
		c.share = small
		if err = reader.ErrTooLarge; !kept.large || c.has != (reader.Inputs{}) {
			out, write, err = s.attempt(ctx, c, nil)
		}
		if errors.Is(err, reader.ErrTooLarge) {
			if err := request.grow(ctx); err != nil {
				return err
			}
			c.share = large
			out, _, err = s.attempt(ctx, c, write)
		}
		return err
	}
	if err = made(); errors.Is(err, reader.ErrUnchanged) {
		kept.renew(c.has)
		if out, ok := again(); ok {
			return out, nil
		}
		c.has = reader.Inputs{} // it was dropped meanwhile
		err = made()
	}
	switch {
	case errors.Is(err, reader.ErrTooLarge):
		return reply{}, fmt.Errorf("%w: %w", errTooLarge, err)
	case errors.Is(err, context.DeadlineExceeded) && time.Duration(request.waited.Load()) > s.timeout/2:
		return reply{}, fmt.Errorf("%w: %w", waitedInVain(), err)
	case err != nil:
		return reply{}, err
	}
	kept.keep(&out, c.share.cuts, c.inputs)
	out.admitted = request
	request.finish(len(out.body) + sendingOverhead)
	return out, nil
}

// turnOf is how the statements of a request wait for their turn, as those of this principal of the caller's tenant. Waited
// hears how long each did; it may be nil.
func (s *Server) turnOf(caller *access.Caller, principal string, waited func(since time.Time)) reader.Turn {
	return func(ctx context.Context) (done func(), err error) {
		if waited != nil {
			defer waited(time.Now())
		}
		return s.statements.enter(ctx, caller.Tenant(), principal)
	}
}

// errTooLarge says that one thing, which cannot be cut, is larger than an answer may be.
var errTooLarge error = &problem.Error{Kind: problem.InternalError,
	Detail: "The answer is larger than one may be. Sending the request again will not help: ask for less, as far as the " +
		"operation has parameters for that."}

// attempt answers the call within its share. It returns what writes the answer when only its body was too large: given to
// another attempt, that saves it from reading everything again. A list is read anew, because its page is then cut.
func (s *Server) attempt(ctx context.Context, c *call, write writer) (reply, writer, error) {
	if write == nil {
		if err := s.openCursor(ctx, c); err != nil {
			return reply{}, nil, err
		}
		var err error
		if write, err = c.operation.answer(ctx, s, c); err != nil {
			return reply{}, nil, err
		}
	}
	out, err := s.encode(write, c.maxBody)
	if c.operation.lists != "" {
		write = nil
	}
	return out, write, err
}

// parse reads the query strictly.
func (c *call) parse(raw string) error {
	values, wrong := query.Parse(raw, c.operation.params)
	for name, t := range c.operation.pathTypes {
		if _, reason := t.Parse(c.path[name]); reason != "" {
			wrong = append(wrong, problem.Parameter{Name: name, Reason: reason, Allowed: t.Allowed})
		}
	}
	if len(wrong) == 0 && c.operation.check != nil {
		wrong = c.operation.check(values)
	}
	if len(wrong) > 0 {
		return invalidQuery(wrong)
	}
	c.values = values
	return nil
}

func invalidQuery(wrong []problem.Parameter) error {
	return &problem.Error{Kind: problem.InvalidQuery,
		Detail: "The query of the request cannot be taken; errors lists why.", Parameters: wrong}
}

// identify finds who sent a request and counts it: these two checks go before all others, wherever a token is needed. It returns
// the caller also when there were too many requests.
func (s *Server) identify(ctx context.Context, r *http.Request, header http.Header, seen *observation) (*access.Caller, error) {
	caller, err := s.authenticate(ctx, r, seen)
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Kind == problem.InvalidCredentials {
		if limited := s.limitLogins(r); limited != nil {
			return nil, limited
		}
	}
	if err != nil {
		return nil, err
	}
	seen.principal = caller.Tenant() + "/" + caller.Principal()
	v, m := visitorOf(ctx), agents.From(ctx)
	switch {
	case m != nil && m.Refused != nil:
		err = m.Refused
	case m != nil, v != nil && v.counted.Swap(false): // the message or page that it was made for has been counted
	default:
		err = s.limitRate(ctx, caller, header)
	}
	return caller, err
}

// authenticate finds who sent a request: a person of this process (Ask), or by its one Authorization header. A token anywhere else
// is never read.
func (s *Server) authenticate(ctx context.Context, r *http.Request, seen *observation) (*access.Caller, error) {
	if v := visitorOf(ctx); v != nil {
		caller, err := s.Caller(v.User)
		if errors.Is(err, access.ErrCredentials) {
			return nil, &problem.Error{Kind: problem.InvalidCredentials}
		}
		return caller, err
	}
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 || len(headers) == 1 && (headers[0] == "" || strings.EqualFold(headers[0], "Bearer")) {
		return nil, &problem.Error{Kind: problem.AuthenticationRequired,
			Detail: "Send the header Authorization: Bearer <token>."}
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimLeft(token, " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, &problem.Error{Kind: problem.InvalidCredentials, Detail: "Send one header Authorization: Bearer <token>."}
	}
	if err := s.database.neverRight(); err != nil {
		return nil, err
	}
	store, err := s.access.Store()
	if err != nil {
		return nil, err
	}
	var caller *access.Caller
	if s.sessions == nil || strings.HasPrefix(token, access.KeyPrefix) {
		caller, err = store.CallerByKey(token, s.environment, time.Now())
	} else {
		caller, err = s.signedIn(ctx, store, token)
	}
	if errors.Is(err, access.ErrCredentials) || errors.Is(err, session.ErrToken) {
		s.log.Debug("a token gives no access", "request", seen.requestID, "reason", serving.WithoutSecrets(err.Error()))
		return nil, &problem.Error{Kind: problem.InvalidCredentials}
	}
	return caller, err
}

// signedIn finds the user whom a session token was issued for.
func (s *Server) signedIn(ctx context.Context, store *access.Store, token string) (*access.Caller, error) {
	user, err := s.sessions.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	return store.CallerByUser(user.Tenant, user.ID)
}

// problemOf is the one place where errors become problems: what is not a problem already is the service's own fault,
// and its text goes to the log alone.
func problemOf(err error) *problem.Error {
	var p *problem.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, reader.ErrNotFound):
		return &problem.Error{Kind: problem.NotFound}
	case errors.Is(err, reader.ErrAway):
		return &problem.Error{Kind: problem.InternalError, Detail: detailAway}
	case errors.Is(err, access.ErrUnconfirmed):
		return &problem.Error{Kind: problem.InternalError, Detail: detailUnconfirmed}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem.Error{Kind: problem.InternalError, Detail: detailSlow}
	}
	return &problem.Error{Kind: problem.InternalError}
}

// What a 500 says of why it is one, where the same request may be answered later.
const (
	detailAway        = "The database, or a part of it, is out of reach at the moment. Try again in a while."
	detailUnconfirmed = "Who may see what cannot be confirmed at the moment, and until then nothing is answered. Try again in a while."
	detailSlow        = "The request took longer than it may. Try again in a while, or ask for less."
)

// panicked is a panic of a handler as an error.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }
