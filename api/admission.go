package api

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tallyhouse/api/problem"
)

// limits bound what the API works on at the same time.
type limits struct {
	running      int // requests
	perTenant    int // of them
	perPrincipal int // of them
	waiting      int // requests that wait, for each principal
	allWaiting   int // and of all together; of a tenant half as many
	large        int // requests with a large share, each of another tenant
	bytes        int // of bodies that are being sent; a tenant may have half of them, a principal a quarter
}

// retryAfter is what a refused request is told to wait for.
const retryAfter = time.Second

// admission decides which requests are worked on: a few at a time of each principal and tenant. The others wait, and
// tenants take turns, and principals within a tenant, so that nobody waits behind more than one request of each other.
// What a body takes while it is being sent counts too: who reads slowly has the less at a time.
type admission struct {
	limits limits

	mu      sync.Mutex
	running int
	large   int
	bytes   int
	waiting int
	tenants []*party    // the first is next
	growing []*admitted // that wait for a large share
	grown   int         // counts large shares
}

// party is a tenant, or one of its principals.
type party struct {
	name    string
	running int
	bytes   int
	large   bool            // of a tenant: one of its requests has a large share
	grown   int             // of a tenant: when it had one last, as admission.grown counts
	members []*party        // of a tenant; the first is next
	queue   []chan struct{} // of a principal: closed when it is its turn
}

// waiting is how many requests of a tenant wait.
func (p *party) waiting() (n int) {
	for _, m := range p.members {
		n += len(m.queue)
	}
	return n
}

func newAdmission(l limits) *admission { return &admission{limits: l} }

// member returns the party of this name, a new one at the end when there is none.
func member(of *[]*party, name string) *party {
	for _, p := range *of {
		if p.name == name {
			return p
		}
	}
	p := &party{name: name}
	*of = append(*of, p)
	return p
}

// enter waits until a request of the principal may be worked on, for as long as the context lasts. It is refused as
// problem.TooManyRequests when too many wait already, or it waited in vain.
func (a *admission) enter(ctx context.Context, tenant, principal string) (*admitted, error) {
	began := time.Now()
	a.mu.Lock()
	of := member(&a.tenants, tenant)
	by := member(&of.members, principal)
	if of.grown == 0 {
		of.grown = a.grown // whoever comes new has no right before others
	}
	if len(by.queue) >= a.limits.waiting || of.waiting() >= a.limits.allWaiting/2 || a.waiting >= a.limits.allWaiting {
		a.tidy()
		a.mu.Unlock()
		return nil, &problem.Error{Kind: problem.TooManyRequests, RetryAfter: retryAfter,
			Detail: "Too many requests are waiting already; those of one key or user, and of one tenant, are bounded."}
	}
	turn := make(chan struct{})
	by.queue = append(by.queue, turn)
	a.waiting++
	a.next()
	a.mu.Unlock()

	request := &admitted{admission: a, tenant: of, principal: by}
	select {
	case <-turn:
		request.wait(began)
		return request, nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	at := slices.Index(by.queue, turn)
	if at >= 0 {
		by.queue = slices.Delete(by.queue, at, at+1)
		a.waiting--
		a.tidy()
	}
	a.mu.Unlock()
	if at < 0 { // its turn came at the same time
		request.finish(0)
	}
	return nil, waitedInVain()
}

// next lets requests in for as long as there is room. The lock is held.
func (a *admission) next() {
	for a.running < a.limits.running && a.bytes < a.limits.bytes {
		tenant, principal, ok := a.pick()
		if !ok {
			return
		}
		turn := principal.queue[0]
		principal.queue = principal.queue[1:]
		a.waiting--
		a.running++
		tenant.running++
		principal.running++
		last(&a.tenants, tenant)
		last(&tenant.members, principal)
		close(turn)
	}
}

// nextLarge gives large shares for as long as there are any: to the tenant that has waited longest for one. The lock is
// held.
func (a *admission) nextLarge() {
	for a.large < a.limits.large {
		var next *admitted
		for _, r := range a.growing {
			if !r.tenant.large && (next == nil || r.tenant.grown < next.tenant.grown) {
				next = r
			}
		}
		if next == nil {
			return
		}
		a.growing = slices.DeleteFunc(a.growing, func(r *admitted) bool { return r == next })
		a.large++
		a.grown++
		next.large, next.tenant.large, next.tenant.grown = true, true, a.grown
		close(next.turn)
	}
}

// pick is whose turn it is.
func (a *admission) pick() (tenant, principal *party, ok bool) {
	for _, t := range a.tenants {
		if t.running >= a.limits.perTenant || t.bytes >= a.limits.bytes/2 {
			continue
		}
		for _, p := range t.members {
			if len(p.queue) > 0 && p.running < a.limits.perPrincipal && p.bytes < a.limits.bytes/4 {
				return t, p, true
			}
		}
	}
	return nil, nil, false
}

// last moves a party to the end.
func last(of *[]*party, p *party) {
	at := slices.Index(*of, p)
	*of = append(slices.Delete(*of, at, at+1), p)
}

// tidy forgets parties that have nothing to do here. The lock is held.
func (a *admission) tidy() {
	idle := func(p *party) bool {
		return p.running == 0 && p.bytes == 0 && len(p.queue) == 0 && len(p.members) == 0
	}
	for _, t := range a.tenants {
		t.members = slices.DeleteFunc(t.members, idle)
	}
	a.tenants = slices.DeleteFunc(a.tenants, idle)
}

// admitted is a request that is being worked on.
type admitted struct {
	admission         *admission
	tenant, principal *party
	waited            atomic.Int64  // ns; its statements wait, too, perhaps at the same time
	turn              chan struct{} // closed when it gets a large share
	large             bool
	worked            bool
	bytes             int
}

// wait counts the time since it began to wait for something.
func (r *admitted) wait(began time.Time) { r.waited.Add(int64(time.Since(began))) }

// grow waits until the request may have a large share, which it has until it is finished: few have one at the same time,
// and one of each tenant, so that nobody waits for the large ones of another. It is refused as enter is.
func (r *admitted) grow(ctx context.Context) error {
	a, began := r.admission, time.Now()
	defer func() { r.wait(began) }()
	a.mu.Lock()
	if r.large {
		a.mu.Unlock()
		return nil
	}
	r.turn = make(chan struct{})
	a.growing = append(a.growing, r)
	a.nextLarge()
	a.mu.Unlock()
	select {
	case <-r.turn:
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.growing = slices.DeleteFunc(a.growing, func(other *admitted) bool { return other == r })
	return waitedInVain()
}

func waitedInVain() error {
	return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: retryAfter,
		Detail: "The request waited for its turn in vain."}
}

// finish ends the work on the request and lets others in. Its body of so many bytes counts until it has been sent.
func (r *admitted) finish(bytes int) {
	if r == nil || r.worked {
		return
	}
	a := r.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	r.worked, r.bytes = true, bytes
	a.running--
	a.bytes += bytes
	for _, p := range []*party{r.tenant, r.principal} {
		p.running--
		p.bytes += bytes
	}
	if r.large {
		a.large--
		r.tenant.large = false
		a.nextLarge()
	}
	a.next()
	a.tidy()
}

// sent says that the body is no longer needed.
func (r *admitted) sent() {
	if r == nil {
		return
	}
	r.finish(0)
	a := r.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes -= r.bytes
	r.tenant.bytes -= r.bytes
	r.principal.bytes -= r.bytes
	r.bytes = 0
	a.next()
	a.tidy()
}
