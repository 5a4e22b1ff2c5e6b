package session

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"tallyhouse/api/ratelimit"
)

const (
	refreshEvery   = 5 * time.Minute  // a key that the issuer withdrew is taken no longer than that
	retryEvery     = 15 * time.Second // after a failure
	fetchTimeout   = 5 * time.Second
	maxStale       = 24 * time.Hour // how long keys count while the issuer is away
	maxAnswerBytes = 1 << 20
	maxKeys        = 100
	maxWaiting     = 100 // tokens that wait for the issuer
	minRSABits     = 2048
	maxRSABits     = 8192 // a larger one costs too much to verify by
)

// unknownKeys is how often tokens that name an unknown key may have the keys fetched: anybody can send such tokens.
var unknownKeys = ratelimit.Policy{Events: 6, Window: time.Minute}

// keySet is what is known of the issuer's keys.
type keySet struct {
	issuer  Issuer
	client  *http.Client
	clock   func() time.Time
	refresh time.Duration
	retry   time.Duration
	budget  *ratelimit.Memory
	wanted  chan struct{} // wakes run
	waiting chan struct{} // has an entry for each token that waits
	log     *slog.Logger

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetched  time.Time     // zero when never
	failed   error         // of the last try
	fetches  int           // that are over
	pending  chan struct{} // closed when the next fetch is over; nil when nobody asked for it
	underWay chan struct{} // the same for the one that runs
}

func newKeySet(issuer Issuer, clock func() time.Time, log *slog.Logger) *keySet {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = 64 << 10
	transport.DisableKeepAlives = true // the next fetch is minutes away
	return &keySet{
		issuer: issuer,
		client: &http.Client{Transport: transport, Timeout: fetchTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects") }},
		clock: clock, refresh: refreshEvery, retry: retryEvery,
		budget: ratelimit.NewMemory(unknownKeys, 1, clock),
		wanted: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting),
		log:    log,
		failed: errors.New("they have not been fetched yet"),
	}
}

func (s *keySet) fetchedAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetched
}

// run fetches the keys until the context ends.
func (s *keySet) run(ctx context.Context) {
	for ctx.Err() == nil {
		pause := s.refresh
		s.begin()
		keys, err := s.fetch(ctx)
		if err != nil {
			pause = s.retry
			if ctx.Err() == nil {
				s.log.Warn("the keys of the issuer of session tokens could not be fetched", "error", &IssuerError{err})
			}
		}
		s.end(keys, err)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.wanted:
		}
		timer.Stop()
	}
}

func (s *keySet) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay, s.pending = s.pending, nil
}

// end takes what was fetched. After a failure the keys stay as they are.
func (s *keySet) end(keys []jose.JSONWebKey, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.keys, s.fetched = keys, s.clock()
	}
	s.failed = err
	s.fetches++
	if s.underWay != nil {
		close(s.underWay)
		s.underWay = nil
	}
}

// find returns the keys by which a token with this key id may be signed, and asks the issuer when it knows none.
func (s *keySet) find(ctx context.Context, id string, algorithm jose.SignatureAlgorithm) ([]jose.JSONWebKey, error) {
	found, known, err := s.lookUp(id, algorithm)
	for range 2 { // a fetch that runs already may be older than the key: then once more
		if len(found) > 0 {
			return found, nil
		}
		asked, anew := s.ask(ctx, known)
		if asked == nil {
			break
		}
		s.await(ctx, asked)
		if found, known, err = s.lookUp(id, algorithm); anew {
			break
		}
	}
	if err == nil && len(found) == 0 {
		err = refuse("the issuer has no key %q for %s", id, algorithm)
	}
	return found, err
}

// lookUp finds keys by their id, and says after how many fetches that was. A token that names none can only be of the
// one key there is for its algorithm. It is ErrNoKeys when nothing is known, or has been for too long.
func (s *keySet) lookUp(id string, algorithm jose.SignatureAlgorithm) (found []jose.JSONWebKey, known int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fetched.IsZero() || s.clock().Sub(s.fetched) > maxStale {
		return nil, s.fetches, fmt.Errorf("%w: %w", ErrNoKeys, s.failed)
	}
	for _, key := range s.keys {
		if (id == "" || key.KeyID == id) && suits(key, algorithm) {
			found = append(found, key)
		}
	}
	if id == "" && len(found) > 1 {
		return nil, s.fetches, nil
	}
	return found, s.fetches, nil
}

// ask returns what is closed when the keys have been fetched again since so many fetches: by a fetch of its own, or by
// one that others asked for. It is nil when that happened too often lately.
func (s *keySet) ask(ctx context.Context, known int) (asked <-chan struct{}, anew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fetches > known:
		over := make(chan struct{})
		close(over)
		return over, false
	case s.pending != nil:
		return s.pending, true
	case s.underWay != nil:
		return s.underWay, false
	}
	if d, _ := s.budget.Take(ctx, ""); !d.Accepted {
		return nil, false
	}
	s.pending = make(chan struct{})
	select {
	case s.wanted <- struct{}{}:
	default:
	}
	return s.pending, true
}

// await waits until what was asked for is done, for as long as one answer of the issuer may take; not when many wait
// already.
func (s *keySet) await(ctx context.Context, asked <-chan struct{}) {
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return
	}
	ctx, stop := context.WithTimeout(ctx, s.client.Timeout)
	defer stop()
	select {
	case <-asked:
	case <-ctx.Done():
	}
}

// fetch asks the issuer for its keys.
func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	from := s.issuer.KeysURL
	if from == "" {
		var err error
		if from, err = s.discover(ctx); err != nil {
			return nil, err
		}
	}
	answer, err := s.get(ctx, from)
	if err != nil {
		return nil, err
	}
	keys, err := parseKeys(answer)
	if err != nil {
		return nil, fmt.Errorf("read the key set of %s: %w", from, err)
	}
	return keys, nil
}

// discover finds the URL of the keys in the issuer's OpenID configuration.
func (s *keySet) discover(ctx context.Context) (string, error) {
	from := strings.TrimSuffix(s.issuer.URL, "/") + "/.well-known/openid-configuration"
	answer, err := s.get(ctx, from)
	if err != nil {
		return "", err
	}
	var configuration struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(answer, &configuration); err != nil {
		return "", fmt.Errorf("read the configuration of %s: %w", from, err)
	}
	if configuration.Issuer != s.issuer.URL {
		return "", fmt.Errorf("read the configuration of %s: %w: %.200q", from, ErrOtherIssuer, configuration.Issuer)
	}
	return configuration.KeysURL, safe("jwks_uri of "+from, configuration.KeysURL)
}

func (s *keySet) get(ctx context.Context, from string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the issuer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask the issuer: %s answers %s", from, answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, fmt.Errorf("ask the issuer: %w", err)
	}
	if len(body) > maxAnswerBytes {
		return nil, fmt.Errorf("ask the issuer: %s answers more than %d bytes", from, maxAnswerBytes)
	}
	return body, nil
}

// parseKeys reads a JSON Web Key Set (RFC 7517). Keys that no token can be verified by are left out: those of kinds that
// are not known, for encryption, too short, secret.
func parseKeys(text []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys *[]json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	switch {
	case set.Keys == nil:
		return nil, errors.New("it has no keys")
	case len(*set.Keys) > maxKeys:
		return nil, fmt.Errorf("it has %d keys, more than %d", len(*set.Keys), maxKeys)
	}
	usable := []jose.JSONWebKey{}
	for _, member := range *set.Keys {
		var key jose.JSONWebKey
		if err := json.Unmarshal(member, &key); err != nil || !key.Valid() || key.Use != "" && key.Use != "sig" {
			continue
		}
		for _, algorithm := range algorithms {
			if suits(key, algorithm) {
				usable = append(usable, key)
				break
			}
		}
	}
	return usable, nil
}

// suits reports whether signatures of the algorithm can be verified by the key: public, of the right kind and size, and
// not meant for another algorithm.
func suits(key jose.JSONWebKey, algorithm jose.SignatureAlgorithm) bool {
	if key.Algorithm != "" && key.Algorithm != string(algorithm) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		bits := public.N.BitLen()
		return (strings.HasPrefix(string(algorithm), "RS") || strings.HasPrefix(string(algorithm), "PS")) &&
			bits >= minRSABits && bits <= maxRSABits
	case *ecdsa.PublicKey:
		return public.Curve == curveOf(algorithm)
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	}
	return false
}

// curveOf is the curve of an ECDSA algorithm, nil for others.
func curveOf(algorithm jose.SignatureAlgorithm) elliptic.Curve {
	switch algorithm {
	case jose.ES256:
		return elliptic.P256()
	case jose.ES384:
		return elliptic.P384()
	case jose.ES512:
		return elliptic.P521()
	}
	return nil
}
