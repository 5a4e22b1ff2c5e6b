package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"tallyhouse/api/problem"
)

// maxWaitingStatements bounds the statements of one key or user that wait. Those of requests are fewer: see limits.
const maxWaitingStatements = 64

// statementLimits bound the statements that run in the database at the same time.
type statementLimits struct {
	all, perTenant, perPrincipal int
}

// forThreads are the limits for a database with so many threads, and at most so many statements. A principal may keep all
// threads busy, and there is always room for one more statement of another principal, and for one of another tenant.
func forThreads(threads, most int) statementLimits {
	threads = max(threads, 2) // the two statements of a page run beside each other
	threads = max(1, min(threads, most-2))
	return statementLimits{all: threads + 2, perTenant: threads + 1, perPrincipal: threads}
}

// statementQueue decides whose statement is sent to the database next. Statements that outnumber its threads share these in
// small slices, each with the same right, so that who sends many gets most. Here they wait instead, and the tenant goes
// first whose statements have taken the least time, and within a tenant the principal (start-time fair queueing): how many
// statements a tenant sends, and how dear they are, makes no difference to how long another one waits.
type statementQueue struct {
	clock func() time.Time

	mu         sync.Mutex
	limits     statementLimits
	running    int
	spent      time.Duration // by the tenant that was chosen last, before that
	tenants    map[string]*spending
	principals map[[2]string]*spending // by tenant and principal
	waiting    []*statement            // in the order in which they came
}

// spending is what the statements of a tenant or principal take. It is forgotten when there are none.
type spending struct {
	running, waiting int
	spent            time.Duration // it begins with what the one had spent that was chosen last
	last             time.Duration // of a tenant: what its principal had spent that was chosen last
}

// statement is one that waits, or runs.
type statement struct {
	tenant    string
	principal [2]string
	turn      chan struct{} // closed when it may be sent
	began     time.Time
}

func newStatementQueue(limits statementLimits, clock func() time.Time) *statementQueue {
	return &statementQueue{clock: clock, limits: limits, tenants: make(map[string]*spending),
		principals: make(map[[2]string]*spending)}
}

// allow changes the limits.
func (q *statementQueue) allow(limits statementLimits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limits = limits
	q.next()
}

// enter waits until a statement may be sent, for as long as the context lasts. It is refused as problem.TooManyRequests when it waited in
// vain, or too many of the principal's wait already. Done must be called when the statement has ended.
func (q *statementQueue) enter(ctx context.Context, tenant, principal string) (done func(), err error) {
	s := &statement{tenant: tenant, principal: [2]string{tenant, principal}, turn: make(chan struct{})}
	q.mu.Lock()
	if q.tenants[s.tenant] == nil {
		q.tenants[s.tenant] = &spending{spent: q.spent}
	}
	of := q.tenants[s.tenant]
	if q.principals[s.principal] == nil {
		q.principals[s.principal] = &spending{spent: of.last}
	}
	if q.principals[s.principal].waiting >= maxWaitingStatements { // so there is one, and its tenant is known for it
		q.mu.Unlock()
		return nil, &problem.Error{Kind: problem.TooManyRequests, RetryAfter: retryAfter, Detail: "Too many statements wait already."}
	}
	of.waiting++
	q.principals[s.principal].waiting++
	q.waiting = append(q.waiting, s)
	q.next()
	q.mu.Unlock()
	select {
	case <-s.turn:
		return func() { q.end(s) }, nil
	case <-ctx.Done():
		q.end(s)
		return nil, waitedInVain()
	}
}

// next sends statements for as long as there is room. The lock is held.
func (q *statementQueue) next() {
	for q.running < q.limits.all {
		var s *statement
		for _, other := range q.waiting {
			if q.mayRun(other) && (s == nil || q.before(other, s)) {
				s = other
			}
		}
		if s == nil {
			return
		}
		q.waiting = slices.DeleteFunc(q.waiting, func(other *statement) bool { return other == s })
		tenant, principal := q.tenants[s.tenant], q.principals[s.principal]
		q.spent, tenant.last = max(q.spent, tenant.spent), max(tenant.last, principal.spent)
		q.running++
		for _, of := range []*spending{tenant, principal} {
			of.waiting--
			of.running++
		}
		s.began = q.clock()
		close(s.turn)
	}
}

func (q *statementQueue) mayRun(s *statement) bool {
	return q.tenants[s.tenant].running < q.limits.perTenant && q.principals[s.principal].running < q.limits.perPrincipal
}

// before reports whether a statement goes before another one that came earlier.
func (q *statementQueue) before(s, earlier *statement) bool {
	if s.tenant != earlier.tenant {
		return q.tenants[s.tenant].spent < q.tenants[earlier.tenant].spent
	}
	return q.principals[s.principal].spent < q.principals[earlier.principal].spent
}

// end takes out a statement that has ended, or waits no longer, and sends others.
func (q *statementQueue) end(s *statement) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiting, s)
	tenant, principal := q.tenants[s.tenant], q.principals[s.principal]
	for _, of := range []*spending{tenant, principal} {
		if at >= 0 {
			of.waiting--
			continue
		}
		of.running--
		of.spent += q.clock().Sub(s.began)
	}
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	} else {
		q.running--
	}
	if tenant.running+tenant.waiting == 0 {
		delete(q.tenants, s.tenant)
	}
	if principal.running+principal.waiting == 0 {
		delete(q.principals, s.principal)
	}
	q.next()
}
