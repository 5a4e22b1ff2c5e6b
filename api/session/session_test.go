package session_test

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/sethvargo/go-retry"
	"pgregory.net/rapid"

	"tallyhouse/api/session"
	"tallyhouse/api/session/sessiontest"
)

const (
	patience = time.Minute // a bound for a hung test, not an assertion
	never    = time.Hour
)

var alice = session.User{Tenant: "acme", ID: "alice"}

// clock is a clock that a test sets on.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// verifier takes the issuer's tokens, and fetches its keys only when it is asked to.
func verifier(t testing.TB, trust session.Issuer, c *clock) *session.Verifier {
	t.Helper()
	v, err := session.NewVerifier(trust, c.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	v.Pace(never, never, patience)
	return v
}

func run(t testing.TB, v *session.Verifier) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { v.Run(ctx); close(done) }()
	t.Cleanup(func() { stop(); <-done })
}

// known waits until the keys have been fetched.
func known(t testing.TB, v *session.Verifier) {
	t.Helper()
	eventually(t, "the keys are known", func() bool { return !v.Fetched().IsZero() })
}

func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	err := retry.Do(t.Context(), retry.WithMaxDuration(patience, retry.NewConstant(time.Millisecond)), func(context.Context) error {
		if !happened() {
			return retry.RetryableError(errors.New("not yet"))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("it is still not so that %s", what)
	}
}

func want(t testing.TB, v *session.Verifier, token string, wanted error) {
	t.Helper()
	user, err := v.Verify(t.Context(), token)
	if !errors.Is(err, wanted) || (wanted == nil) != (user == alice) {
		t.Errorf("got %v, %v, want %v", user, err, wanted)
	}
}

func TestTokensOfEveryAlgorithmOfPublicKeys(t *testing.T) {
	shared := sessiontest.NewKey(t, "1", jose.RS256) // RSA keys take long to make
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
		jose.ES256, jose.ES384, jose.ES512, jose.EdDSA} {
		t.Run(string(algorithm), func(t *testing.T) {
			key := shared
			if key.Algorithm = algorithm; algorithm[1] != 'S' || algorithm[0] == 'E' {
				key = sessiontest.NewKey(t, "1", algorithm)
			}
			issuer := sessiontest.New(t, key)
			v := verifier(t, issuer.Trust(), &clock{})
			run(t, v)
			known(t, v)
			want(t, v, issuer.Token("acme", "alice"), nil)
		})
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	// Given an issuer with keys of all kinds, and a stranger who knows all that is public
	rsaKey := sessiontest.NewKey(t, "rsa", jose.RS256)
	ecKey, edKey := sessiontest.NewKey(t, "ec", jose.ES256), sessiontest.NewKey(t, "ed", jose.EdDSA)
	issuer := sessiontest.New(t, rsaKey, ecKey, edKey)
	v := verifier(t, issuer.Trust(), &clock{})
	run(t, v)
	known(t, v)
	claims := issuer.Claims("acme", "alice", nil)
	sign := func(k sessiontest.Key, changes map[string]any) string {
		return sessiontest.Sign(t, k, issuer.Claims("acme", "alice", changes), nil)
	}
	good := sign(rsaKey, nil)
	want(t, v, good, nil)
	want(t, v, sign(ecKey, nil), nil)
	want(t, v, sign(edKey, nil), nil)

	part := func(n int) string { return strings.Split(good, ".")[n] }
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	payload := encode(string(text))
	stranger := sessiontest.NewKey(t, "rsa", jose.RS256)
	public, err := json.Marshal(rsaKey.Public())
	if err != nil {
		t.Fatal(err)
	}
	strangerPublic := stranger.Public()
	secret := func(key []byte, algorithm jose.SignatureAlgorithm) string {
		return sessiontest.SignWith(t, jose.SigningKey{Algorithm: algorithm, Key: key}, text, map[jose.HeaderKey]any{"kid": "rsa"})
	}
	headers := func(k sessiontest.Key, header map[jose.HeaderKey]any) string {
		return sessiontest.Sign(t, k, claims, header)
	}
	other := rsaKey
	other.ID = "ec"
	weak := rsaKey
	weak.Algorithm = jose.PS256
	for name, token := range map[string]string{
		"empty":                                 "",
		"no token":                              "hello",
		"two parts":                             part(0) + "." + part(1),
		"four parts":                            good + "." + part(2),
		"as JSON":                               `{"payload":"` + payload + `","signatures":[]}`,
		"alg none":                              encode(`{"alg":"none","kid":"rsa"}`) + "." + payload + ".",
		"alg None":                              encode(`{"alg":"None","kid":"rsa"}`) + "." + payload + ".",
		"no alg":                                encode(`{"kid":"rsa"}`) + "." + payload + "." + part(2),
		"no signature":                          part(0) + "." + part(1) + ".",
		"another signature":                     part(0) + "." + part(1) + "." + strings.Split(sign(stranger, nil), ".")[2],
		"another payload":                       part(0) + "." + payload + "x." + part(2),
		"a stranger's key with a known id":      sign(stranger, nil),
		"HMAC with the public key":              secret(public, jose.HS256),
		"HMAC with its modulus":                 secret(rsaKey.Private.Public().(*rsa.PublicKey).N.Bytes(), jose.HS512),
		"a key of its own in the header":        headers(stranger, map[jose.HeaderKey]any{"jwk": strangerPublic}),
		"a URL of its own in the header":        headers(stranger, map[jose.HeaderKey]any{"jku": "http://127.0.0.1:1/keys"}),
		"the id of another key":                 headers(other, nil),
		"another algorithm than the key is for": headers(weak, nil),
		"a critical header that nobody knows":   headers(rsaKey, map[jose.HeaderKey]any{"crit": []string{"x"}, "x": 1}),
		"a logout token":                        headers(rsaKey, map[jose.HeaderKey]any{"typ": "logout+jwt"}),
		"a type that is no text":                headers(rsaKey, map[jose.HeaderKey]any{"typ": 1}),
		"very long":                             sign(rsaKey, map[string]any{"x": strings.Repeat("x", 8<<10)}),
		"claims twice":                          sessiontest.SignBytes(t, rsaKey, []byte(`{"sub":"bob",`+string(text)[1:]), nil),
		"claims in another case":                sessiontest.SignBytes(t, rsaKey, []byte(strings.ToUpper(string(text))), nil),
		"claims that are no object":             sessiontest.SignBytes(t, rsaKey, []byte(`"alice"`), nil),
		"encrypted":                             "e30.e30.e30.e30.e30",
	} {
		t.Run(name, func(t *testing.T) { want(t, v, token, session.ErrToken) })
	}
	for name, kind := range map[string]string{"JWT": "JWT", "an access token": "at+jwt", "in full": "application/at+jwt"} {
		t.Run("taken: "+name, func(t *testing.T) { want(t, v, headers(rsaKey, map[jose.HeaderKey]any{"typ": kind}), nil) })
	}
}

func TestClaimsDecideWhetherATokenIsTaken(t *testing.T) {
	// Given tokens that the issuer has signed, with claims that are in order and others
	key := sessiontest.NewKey(t, "1", jose.EdDSA)
	issuer := sessiontest.New(t, key)
	c := &clock{}
	v := verifier(t, issuer.Trust(), c)
	run(t, v)
	known(t, v)
	type values struct {
		claim          string
		taken, refused []any
	}
	now, leeway, far := func() int64 { return time.Now().Unix() }, int64(session.Leeway/time.Second), int64(1)<<61 // seconds
	claims := func() []values {
		return []values{
			{"iss", []any{issuer.URL()}, []any{nil, "", issuer.URL() + "/", strings.ToUpper(issuer.URL()), 1, []string{issuer.URL()}}},
			{"aud", []any{sessiontest.Audience, []string{"x", sessiontest.Audience}},
				[]any{nil, "", []string{}, "other", []any{sessiontest.Audience, 1}, sessiontest.Audience + " "}},
			{"exp", []any{now() + 60, now() - leeway + 10, float64(now()) + 5.5, far},
				[]any{nil, 0, -1, now() - leeway - 10, "2099", -far, json.Number("1e300")}},
			{"nbf", []any{nil, now() - 60, now() + leeway - 10, 0}, []any{now() + leeway + 10, far, "0", json.Number("1e300")}},
			{"iat", []any{nil, now() - 60, now() + leeway - 10}, []any{now() + leeway + 10, far, true}},
			{"sub", []any{"alice"}, []any{nil, "", 1}},
			{"tenant", []any{"acme"}, []any{nil, "", []string{"acme"}}}, // another one would be another user
		}
	}
	// When one is verified, then it is taken if and only if all of its claims are in order:
	verify := func(t interface {
		Helper()
		Fatal(...any)
		Fatalf(string, ...any)
	}, good bool, changes map[string]any) {
		t.Helper()
		text, err := json.Marshal(issuer.Claims("acme", "alice", changes))
		if err != nil {
			t.Fatal(err)
		}
		user, err := v.Verify(context.Background(), sessiontest.SignBytes(t, key, text, nil))
		if good && (err != nil || user != alice) || !good && !errors.Is(err, session.ErrToken) {
			t.Fatalf("%s: %v, %v", text, user, err)
		}
	}
	// each claim alone,
	for i, of := range claims() {
		for j := range of.taken {
			verify(t, true, map[string]any{of.claim: claims()[i].taken[j]})
		}
		for j := range of.refused {
			verify(t, false, map[string]any{of.claim: claims()[i].refused[j]})
		}
	}
	// and any combination.
	rapid.Check(t, func(t *rapid.T) {
		good, changes := true, map[string]any{}
		for _, of := range claims() {
			at := rapid.IntRange(0, len(of.taken)*3+len(of.refused)-1).Draw(t, of.claim) // more often than not what is taken
			if at < len(of.taken)*3 {
				changes[of.claim] = of.taken[at%len(of.taken)]
			} else {
				good, changes[of.claim] = false, of.refused[at-len(of.taken)*3]
			}
		}
		verify(t, good, changes)
	})
}

func TestATokenWithoutAKeyIDIsOfTheOnlyKey(t *testing.T) {
	rsaKey, ecKey := sessiontest.NewKey(t, "", jose.RS256), sessiontest.NewKey(t, "", jose.ES256)
	issuer := sessiontest.New(t, rsaKey, ecKey)
	v := verifier(t, issuer.Trust(), &clock{})
	run(t, v)
	known(t, v)
	claims := issuer.Claims("acme", "alice", nil)
	want(t, v, sessiontest.Sign(t, rsaKey, claims, nil), nil)
	want(t, v, sessiontest.Sign(t, ecKey, claims, nil), nil)
	issuer.Rotate(rsaKey, ecKey, sessiontest.NewKey(t, "", jose.RS256))
	if err := v.Know(); err != nil {
		t.Fatal(err)
	}
	want(t, v, sessiontest.Sign(t, rsaKey, claims, nil), session.ErrToken)
	want(t, v, sessiontest.Sign(t, ecKey, claims, nil), nil)
}

func TestRotatedKeysAreFetchedWhenTheyAreFirstNamed(t *testing.T) {
	// Given a verifier that knows the issuer's keys
	before, after := sessiontest.NewKey(t, "1", jose.ES256), sessiontest.NewKey(t, "2", jose.ES256)
	issuer := sessiontest.New(t, before)
	v := verifier(t, issuer.Trust(), &clock{})
	run(t, v)
	known(t, v)
	old := issuer.Token("acme", "alice")
	want(t, v, old, nil)
	// When the issuer signs by another key
	issuer.Rotate(after)
	// Then its tokens are taken at once, many at the same time too, for one fetch
	var all sync.WaitGroup
	token := issuer.Token("acme", "alice")
	for range 20 {
		all.Go(func() { want(t, v, token, nil) })
	}
	all.Wait()
	if n := issuer.Fetches(); n != 2 {
		t.Errorf("%d fetches", n)
	}
	// And those of the key that is gone are not.
	want(t, v, old, session.ErrToken)
}

func TestUnknownKeysHaveTheKeysFetchedSixTimesAMinute(t *testing.T) {
	// Given a verifier that knows the issuer's keys
	issuer := sessiontest.New(t, sessiontest.NewKey(t, "1", jose.ES256))
	c := &clock{}
	v := verifier(t, issuer.Trust(), c)
	run(t, v)
	known(t, v)
	forge := func(n int) {
		for i := range n {
			stranger := sessiontest.NewKey(t, fmt.Sprint("stranger", i), jose.ES256)
			want(t, v, sessiontest.Sign(t, stranger, issuer.Claims("acme", "alice", nil), nil), session.ErrToken)
		}
	}
	// When a stranger sends tokens of ever new keys
	forge(30)
	// Then the issuer is asked a few times
	if n := issuer.Fetches(); n != 1+6 {
		t.Errorf("%d fetches", n)
	}
	// And a minute later again.
	c.pass(time.Minute)
	forge(1)
	if n := issuer.Fetches(); n != 1+7 {
		t.Errorf("%d fetches", n)
	}
}

func TestKeysAreKeptWhileTheIssuerIsAway(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "away", http.StatusServiceUnavailable) },
		"a page":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!doctype html>") },
		"no keys":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"error":"away"}`) },
		"too many keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"keys":[{}`+strings.Repeat(",{}", 100)+`]}`)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys?again", http.StatusFound) },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"keys":[]}`)
		},
		"an answer without end": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat(" ", 64<<10))); err != nil {
					return
				}
			}
		},
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"headers without end": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Given a verifier that knows the issuer's keys, an hour to the end of their time
			issuer := sessiontest.New(t, sessiontest.NewKey(t, "1", jose.EdDSA))
			c := &clock{}
			v := verifier(t, issuer.Trust(), c)
			if err := v.Know(); err != nil {
				t.Fatal(err)
			}
			fetched := v.Fetched()
			v.Pace(never, never, 200*time.Millisecond)
			// When the issuer answers otherwise
			issuer.Answer(answer)
			if err := v.Know(); err == nil {
				t.Fatal("its answer was taken")
			}
			c.pass(23 * time.Hour)
			sign := func(user string) string {
				later := map[string]any{"exp": c.now().Add(10 * time.Hour).Unix()}
				return sessiontest.Sign(t, issuer.First(), issuer.Claims("acme", user, later), nil)
			}
			// Then tokens of the known keys are taken
			want(t, v, sign("alice"), nil)
			if !v.Fetched().Equal(fetched) {
				t.Error("the failure counts as fetched")
			}
			// And after a day no longer, until the issuer is back.
			c.pass(2 * time.Hour)
			want(t, v, sign("alice"), session.ErrNoKeys)
			issuer.Answer(nil)
			v.Pace(never, never, patience)
			if err := v.Know(); err != nil {
				t.Fatal(err)
			}
			want(t, v, sign("alice"), nil)
		})
	}
}

func TestKnownKeysNeverWaitForTheIssuer(t *testing.T) {
	// Given an issuer that stops answering
	key := sessiontest.NewKey(t, "1", jose.EdDSA)
	issuer := sessiontest.New(t, key)
	v := verifier(t, issuer.Trust(), &clock{})
	run(t, v)
	known(t, v)
	hanging := make(chan struct{})
	var once sync.Once
	issuer.Answer(func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(hanging) })
		<-r.Context().Done()
	})
	// When a token of an unknown key makes it fetch
	ctx, stop := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	stranger := sessiontest.Sign(t, sessiontest.NewKey(t, "2", jose.EdDSA), issuer.Claims("acme", "alice", nil), nil)
	go func() {
		_, err := v.Verify(ctx, stranger)
		asked <- err
	}()
	<-hanging
	// Then tokens of known keys are taken meanwhile, and who waits for the fetch can leave.
	want(t, v, issuer.Token("acme", "alice"), nil)
	stop()
	if err := <-asked; !errors.Is(err, session.ErrToken) {
		t.Errorf("got %v", err)
	}
}

func TestWithdrawnKeysAreGoneWithTheNextFetch(t *testing.T) {
	// Given a verifier that fetches all the time
	issuer := sessiontest.New(t, sessiontest.NewKey(t, "1", jose.EdDSA))
	v := verifier(t, issuer.Trust(), &clock{})
	v.Pace(time.Millisecond, time.Millisecond, patience)
	run(t, v)
	known(t, v)
	token := issuer.Token("acme", "alice")
	want(t, v, token, nil)
	// When the issuer withdraws its only key
	issuer.Rotate()
	// Then its tokens are refused
	eventually(t, "the token is refused", func() bool {
		_, err := v.Verify(t.Context(), token)
		return errors.Is(err, session.ErrToken)
	})
}

func TestWithoutKeysNothingCanBeSaid(t *testing.T) {
	// Given an issuer that has not been there since the start
	issuer := sessiontest.New(t, sessiontest.NewKey(t, "1", jose.EdDSA))
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusBadGateway) })
	v := verifier(t, issuer.Trust(), &clock{})
	v.Pace(never, time.Millisecond, patience)
	run(t, v)
	want(t, v, issuer.Token("acme", "alice"), session.ErrNoKeys)
	// When it comes, then its tokens are taken.
	issuer.Answer(nil)
	known(t, v)
	want(t, v, issuer.Token("acme", "alice"), nil)
}

func TestTheConfigurationSaysWhereTheKeysAre(t *testing.T) {
	// Given an issuer of which nothing but its URL is known
	issuer := sessiontest.New(t, sessiontest.NewKey(t, "1", jose.EdDSA))
	trust := session.Issuer{URL: issuer.URL(), Audience: sessiontest.Audience}
	v := verifier(t, trust, &clock{})
	run(t, v)
	known(t, v)
	want(t, v, issuer.Token("acme", "alice"), nil)
	// And another issuer's configuration is not taken.
	trust.URL += "/"
	if err := verifier(t, trust, &clock{}).Know(); err == nil || !strings.Contains(err.Error(), "it is of another issuer") {
		t.Errorf("got %v", err)
	}
}

func TestOnlyKeysThatTokensCanBeVerifiedByAreKept(t *testing.T) {
	good := sessiontest.NewKey(t, "good", jose.RS256).Public()
	set := func(keys ...any) []byte {
		text, err := json.Marshal(map[string]any{"keys": keys})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	rsaOf := func(bits int) map[string]string {
		n := []byte(strings.Repeat("\xff", bits/8))
		return map[string]string{"kty": "RSA", "e": "AQAB", "n": base64.RawURLEncoding.EncodeToString(n)}
	}
	encryption, private := good, jose.JSONWebKey{Key: sessiontest.NewKey(t, "", jose.ES256).Private, KeyID: "private"}
	encryption.Use = "enc"
	for name, key := range map[string]any{
		"symmetric":       map[string]string{"kty": "oct", "k": "c2VjcmV0", "kid": "good", "alg": "HS256"},
		"for encryption":  encryption,
		"private":         private,
		"of 512 bits":     rsaOf(512),
		"of 16,384 bits":  rsaOf(16384),
		"unknown":         map[string]string{"kty": "new"},
		"not on a curve":  map[string]string{"kty": "EC", "crv": "P-256", "x": "AQ", "y": "AQ"},
		"no object":       1,
		"null":            nil,
		"for another use": map[string]string{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "use": "x"},
	} {
		if n, err := session.ParseKeys(set(key, good)); n != 1 || err != nil {
			t.Errorf("with a key that is %s: %d keys, %v", name, n, err)
		}
	}
}

func TestWhatIsTrustedMustBeSafe(t *testing.T) {
	for _, good := range []session.Issuer{
		{},
		{URL: "https://id.example.com/", Audience: "a"},
		{URL: "https://id.example.com/tenant", Audience: "a", KeysURL: "https://keys.example.com/jwks?x=1"},
		{URL: "http://127.0.0.1:8081", Audience: "a"},
		{URL: "http://localhost:8081", Audience: "a", KeysURL: "http://[::1]:8081/keys"},
		{URL: "any-name", Audience: "a", KeysURL: "https://keys.example.com/"},
	} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for _, bad := range []session.Issuer{
		{URL: "https://id.example.com/"},
		{Audience: "a"},
		{KeysURL: "https://keys.example.com/"},
		{URL: "http://id.example.com/", Audience: "a"},
		{URL: "https://id.example.com/", Audience: "a", KeysURL: "http://keys.example.com/"},
		{URL: "https://id.example.com/", Audience: "a", KeysURL: "file:///keys"},
		{URL: "https://id.example.com/", Audience: "a", KeysURL: "https://user:password@keys.example.com/"},
		{URL: "id.example.com", Audience: "a"},
	} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
