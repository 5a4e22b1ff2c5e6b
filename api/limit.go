package api

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"tallyhouse/api/access"
	"tallyhouse/api/problem"
	"tallyhouse/api/ratelimit"
)

const (
	// maxCountedKeys bounds the keys and users, and the addresses, whose requests are counted in memory.
	maxCountedKeys = 100_000
	// loginsPerMinute is how many wrong tokens an address may send; a valid one always passes.
	loginsPerMinute = 60
)

// RateStore counts requests; a ratelimit.Memory or ratelimit.Redis. An error lets the request pass.
type RateStore interface {
	Take(ctx context.Context, key string) (ratelimit.Decision, error)
}

// limitRate counts a request of the caller, says in the header what is left (draft-ietf-httpapi-ratelimit-headers), and
// refuses it as problem.TooManyRequests when nothing is. A store that does not answer lets it pass: the limit protects
// the service from haste, and must not become a reason for it to be away.
func (s *Server) limitRate(ctx context.Context, caller *access.Caller, header http.Header) error {
	if s.rates == nil {
		return nil
	}
	decision, err := s.rates.Take(ctx, caller.Tenant()+"/"+caller.Principal())
	if err != nil {
		if ctx.Err() == nil {
			s.metrics.uncounted.Inc()
			if !s.ratesAway.Swap(true) {
				s.log.Warn("the rate limit cannot be counted: requests pass without a limit", "error", err)
			}
		}
		return nil
	}
	if s.ratesAway.Swap(false) {
		s.log.Info("the rate limit is counted again")
	}
	header.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=%d`, s.ratePolicy.Events, seconds(s.ratePolicy.Window)))
	header.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, decision.Remaining, seconds(decision.Next)))
	if decision.Accepted {
		return nil
	}
	s.metrics.refused.WithLabelValues("rate").Inc()
	return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: decision.Next,
		Detail: fmt.Sprintf("At most %d requests in any %d seconds are answered.", s.ratePolicy.Events, seconds(s.ratePolicy.Window))}
}

// seconds are whole seconds, rounded up: after them the time is over.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// limitLogins counts a request whose token was wrong, and refuses further ones of its address when there were too many.
// They are counted by each instance for itself: what strangers send is kept nowhere else.
func (s *Server) limitLogins(r *http.Request) error {
	if s.rates == nil {
		return nil
	}
	decision, _ := s.logins.Take(r.Context(), network(s.proxies.client(r)))
	if decision.Accepted {
		return nil
	}
	s.metrics.refused.WithLabelValues("login").Inc()
	return &problem.Error{Kind: problem.TooManyRequests, RetryAfter: decision.Next,
		Detail: "Too many tokens that give no access came from this address."}
}

// network is what counts as one stranger: an IPv4 address, or the 64 bits of an IPv6 address that one network has.
func network(a netip.Addr) string {
	if a.Is6() {
		if prefix, err := a.WithZone("").Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return a.String()
}

// proxies are the networks of proxies whose word about the client's address is taken.
type proxies []netip.Prefix

// client is the address that a request came from. What X-Forwarded-For says is believed from its end, for as long as a
// trusted proxy says so: whatever a client put in front of it means nothing.
func (p proxies) client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trusted(at); i-- {
		hop, ok := address(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		at = hop
	}
	return at
}

// address reads an address with or without a port, as proxies write them.
func address(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.Unmap(), true
	}
	a, err := netip.ParseAddrPort(text)
	return a.Addr().Unmap(), err == nil
}

func (p proxies) trusted(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}
