package api

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"tallyhouse/api/problem"
)

// waiting starts a request that waits for its turn.
func waiting(t *testing.T, a *admission, ctx context.Context, tenant, principal string) <-chan *admitted {
	t.Helper()
	before := a.count()
	in := make(chan *admitted, 1)
	go func() {
		request, err := a.enter(ctx, tenant, principal)
		if err != nil {
			request = nil
		}
		in <- request
	}()
	for a.count() == before && len(in) == 0 { // until it waits
	}
	return in
}

func (a *admission) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting
}

// enter lets a request in that does not have to wait.
func enter(t *testing.T, a *admission, tenant, principal string) *admitted {
	t.Helper()
	request, err := a.enter(context.Background(), tenant, principal)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

func (a *admission) idle(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running != 0 || a.waiting != 0 || a.bytes != 0 || a.large != 0 || len(a.growing) != 0 || len(a.tenants) != 0 {
		t.Errorf("when all is done, %d run, %d wait, %d bytes are sent, %d tenants are known", a.running, a.waiting, a.bytes, len(a.tenants))
	}
}

func TestNobodyWaitsBehindTheManyRequestsOfAnother(t *testing.T) {
	// Given a noisy key, of whose requests two are worked on and many wait
	a := newAdmission(limits{running: 3, perTenant: 3, perPrincipal: 2, waiting: 10, allWaiting: 100, bytes: 1000})
	ctx := context.Background()
	first, second := enter(t, a, "noisy", "key"), enter(t, a, "noisy", "key")
	var others []<-chan *admitted
	for range 5 {
		others = append(others, waiting(t, a, ctx, "noisy", "key"))
	}
	// When another asks, then it doesn't wait
	quiet := enter(t, a, "quiet", "key")
	// And when all is full, it waits behind one request of the noisy one, and not behind five.
	later := waiting(t, a, ctx, "quiet", "key")
	first.finish(0)
	(<-others[0]).finish(0)
	(<-later).finish(0)
	quiet.finish(0)
	second.finish(0)
	for _, other := range others[1:] {
		(<-other).finish(0)
	}
	a.idle(t)
}

func TestKeysOfATenantShareWhatTheTenantMayHave(t *testing.T) {
	a := newAdmission(limits{running: 4, perTenant: 3, perPrincipal: 2, waiting: 10, allWaiting: 100, bytes: 1000})
	var in []*admitted
	for _, key := range []string{"1", "2", "3"} {
		in = append(in, enter(t, a, "noisy", key))
	}
	fourth := waiting(t, a, context.Background(), "noisy", "4")
	in = append(in, enter(t, a, "quiet", "1"))
	in[0].finish(0)
	(<-fourth).finish(0)
	for _, request := range in[1:] {
		request.finish(0)
	}
	a.idle(t)
}

func TestTooManyWaitingRequestsAreRefused(t *testing.T) {
	// Given a key with as many waiting requests as it may have
	a := newAdmission(limits{running: 1, perTenant: 1, perPrincipal: 1, waiting: 2, allWaiting: 6, bytes: 1000})
	ctx, leave := context.WithCancel(context.Background())
	running := enter(t, a, "acme", "1")
	wait := []<-chan *admitted{waiting(t, a, ctx, "acme", "1"), waiting(t, a, ctx, "acme", "1")}
	refused := func(tenant, principal string) {
		t.Helper()
		_, err := a.enter(ctx, tenant, principal)
		var p *problem.Error
		if !errors.As(err, &p) || p.Kind != problem.TooManyRequests || p.RetryAfter <= 0 {
			t.Errorf("got %v", err)
		}
	}
	// Then one more is refused, and so is one of any key of a tenant of which half of all wait
	refused("acme", "1")
	wait = append(wait, waiting(t, a, ctx, "acme", "2"))
	refused("acme", "3")
	// But not one of another tenant, until too many wait in all
	for _, principal := range []string{"1", "1", "2"} {
		wait = append(wait, waiting(t, a, ctx, "globex", principal))
	}
	refused("initech", "1")
	// And those that leave make room.
	leave()
	for _, gone := range wait {
		if request := <-gone; request != nil {
			t.Error("one that left was let in")
		}
	}
	running.finish(0)
	a.idle(t)
}

func TestAllTogetherHaveABound(t *testing.T) {
	// Given as many requests of different tenants as may run, or as much as may be sent
	for name, full := range map[string]limits{
		"requests": {running: 2, perTenant: 9, perPrincipal: 9, waiting: 9, allWaiting: 9, bytes: 1000},
		"bodies":   {running: 9, perTenant: 9, perPrincipal: 9, waiting: 9, allWaiting: 9, bytes: 40},
	} {
		a := newAdmission(full)
		one, two := enter(t, a, "1", "key"), enter(t, a, "2", "key")
		if name == "bodies" {
			one.finish(20)
			two.finish(20)
		}
		// Then one more of a third waits.
		third := waiting(t, a, context.Background(), "3", "key")
		if len(third) > 0 {
			t.Errorf("%s: one more is let in", name)
		}
		one.sent()
		(<-third).finish(0)
		two.sent()
		a.idle(t)
	}
}

func TestBodiesThatAreBeingSentCount(t *testing.T) {
	// Given a key whose readers are slow: a quarter of all bytes waits to be read
	a := newAdmission(limits{running: 9, perTenant: 9, perPrincipal: 9, waiting: 9, allWaiting: 9, bytes: 100})
	slow := enter(t, a, "acme", "slow")
	slow.finish(25)
	// When it asks again, then it waits until they have read, and others don't
	next := waiting(t, a, context.Background(), "acme", "slow")
	other := enter(t, a, "acme", "other")
	other.finish(25)
	elsewhere := enter(t, a, "quiet", "key") // the tenant has half of it all now
	third := waiting(t, a, context.Background(), "acme", "third")
	if len(next) > 0 || len(third) > 0 {
		t.Error("a request was let in beyond what the bodies leave")
	}
	slow.sent()
	for _, request := range []*admitted{<-next, <-third, other, elsewhere} {
		request.sent()
	}
	a.idle(t)
}

// growing starts to wait for a large share.
func growing(t *testing.T, ctx context.Context, r *admitted) <-chan error {
	t.Helper()
	before := r.admission.wantLarge()
	has := make(chan error, 1)
	go func() { has <- r.grow(ctx) }()
	for r.admission.wantLarge() == before && len(has) == 0 { // until it waits
		runtime.Gosched()
	}
	return has
}

func (a *admission) wantLarge() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.growing)
}

func TestLargeSharesAreFew(t *testing.T) {
	// Given a tenant with many large requests
	a := newAdmission(limits{running: 9, perTenant: 9, perPrincipal: 9, waiting: 9, allWaiting: 9, large: 2, bytes: 1000})
	ctx := context.Background()
	one, two, three := enter(t, a, "noisy", "1"), enter(t, a, "noisy", "2"), enter(t, a, "noisy", "3")
	quiet, other := enter(t, a, "quiet", "1"), enter(t, a, "other", "1")
	if err := one.grow(ctx); err != nil {
		t.Fatal(err)
	}
	// Then it has it as often as it asks
	if again := growing(t, ctx, one); len(again) != 1 {
		t.Fatal("a request with a large share waits for one")
	}
	second := growing(t, ctx, two)
	gone, leave := context.WithCancel(ctx)
	third := growing(t, gone, three)
	// Then the next of it waits, though a share is left, and another tenant doesn't
	if err := quiet.grow(ctx); err != nil || len(second) > 0 {
		t.Fatalf("the quiet tenant: %v; the noisy one has a second large share: %t", err, len(second) > 0)
	}
	// And when there is none left, whoever had none yet goes before it
	next := growing(t, ctx, other)
	if len(next) > 0 {
		t.Fatal("a third large share is given")
	}
	one.finish(0)
	if err := <-next; err != nil || len(second) > 0 {
		t.Fatalf("the other tenant: %v; the noisy one was before it: %t", err, len(second) > 0)
	}
	// And one that waits in vain is refused, and leaves no trace.
	leave()
	var p *problem.Error
	if err := <-third; !errors.As(err, &p) || p.Kind != problem.TooManyRequests {
		t.Errorf("one that waited in vain: %v", err)
	}
	quiet.finish(0)
	if err := <-second; err != nil {
		t.Error(err)
	}
	for _, r := range []*admitted{two, three, other} {
		r.finish(0)
	}
	a.idle(t)
}
