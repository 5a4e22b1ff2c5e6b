package api

import (
	"time"

	"tallyhouse/api/query"
	"tallyhouse/api/ratelimit"
)

// OperationIDs lists what the router serves.
func OperationIDs() []string {
	var ids []string
	for _, o := range operations() {
		ids = append(ids, o.id)
	}
	return ids
}

// Description is the OpenAPI document without a base path, with the limit that is the default.
func Description() ([]byte, error) {
	return describe(operations(), "", ratelimit.Policy{Events: 300, Window: time.Minute})
}

// CursorBehind makes the cursor that a page ending with the id would have, for the request with this path, query and
// key.
func (s *Server) CursorBehind(path, raw, key, id string) (string, error) {
	store, err := s.access.Store()
	if err != nil {
		return "", err
	}
	caller, err := store.CallerByKey(key, s.environment, time.Now())
	if err != nil {
		return "", err
	}
	operation, names, _ := s.routes.match(path)
	values, _ := query.Parse(raw, operation.params)
	c := &call{operation: operation, caller: caller, path: names, values: values}
	return s.cursors.Seal(rankedPlace("", id), c.binding())
}

// CountLoginsFor counts wrong tokens in another window.
func (s *Server) CountLoginsFor(window time.Duration) {
	s.logins = ratelimit.NewMemory(ratelimit.Policy{Events: loginsPerMinute, Window: window}, maxCountedKeys, time.Now)
}

// Wait lets the HTTP server wait so long, instead of as long as it does: see patience.
func (s *Server) Wait(header, request, response, idle, stop time.Duration) {
	s.patience = patience{header: header, request: request, response: response, idle: idle, stop: stop}
}

// Working says how many requests are worked on or wait, and how many bytes of bodies are being sent.
func (s *Server) Working() (requests, bytes int) {
	a := s.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running + a.waiting, a.bytes
}

// Large says how many requests have a large share.
func (s *Server) Large() int {
	a := s.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.large
}

// HoldRefused holds back each answer to a request too many for so long.
func (s *Server) HoldRefused(pause time.Duration) { s.refusals.pause = pause }

// Held says how many such answers are held back.
func (s *Server) Held() int { return int(s.refusals.held.Load()) }

// MayRun says how many statements of a database with so many threads run at the same time: in all, of a tenant, and of a
// principal; and how many run now.
func (s *Server) MayRun() (all, tenant, principal, running int) {
	q := s.statements
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.limits.all, q.limits.perTenant, q.limits.perPrincipal, q.running
}

// Messages says how many messages of agents are worked on, and how many wait.
func (s *Server) Messages() (running, waiting int) {
	a := s.messages
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running, a.waiting
}

// ForgetKept forgets the answers that are kept, so that the next ones are made anew.
func (s *Server) ForgetKept() {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	for _, of := range s.kept.tenants {
		for of.used.Len() > 0 {
			s.kept.drop(of, of.used.Back())
		}
		s.kept.tidy(of)
	}
}
