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
