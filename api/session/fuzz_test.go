package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"tallyhouse/api/session"
	"tallyhouse/api/session/sessiontest"
)

// FuzzVerify looks for a text that is taken though the issuer did not sign what it says.
func FuzzVerify(f *testing.F) {
	rsaKey, edKey := sessiontest.NewKey(f, "rsa", jose.RS256), sessiontest.NewKey(f, "ed", jose.EdDSA)
	issuer := sessiontest.New(f, rsaKey, edKey)
	v := verifier(f, issuer.Trust(), &clock{})
	if err := v.Know(); err != nil {
		f.Fatal(err)
	}
	claims := issuer.Claims("acme", "alice", nil)
	signed := map[string]bool{}
	for _, key := range []sessiontest.Key{rsaKey, edKey} {
		token := sessiontest.Sign(f, key, claims, map[jose.HeaderKey]any{"typ": "JWT"})
		signed[token[:strings.LastIndex(token, ".")]] = true
		f.Add(token)
	}
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		ctx, stop := context.WithCancel(t.Context())
		stop() // nobody waits for unknown keys
		user, err := v.Verify(ctx, token)
		if err == nil && (user != alice || !signed[token[:max(0, strings.LastIndex(token, "."))]]) {
			t.Fatalf("%q is taken for %v", token, user)
		}
		if err != nil && !errors.Is(err, session.ErrToken) {
			t.Fatalf("%q: %v", token, err)
		}
	})
}

// FuzzParseKeys looks for key sets that cannot be read without harm.
func FuzzParseKeys(f *testing.F) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.ES512, jose.EdDSA} {
		text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{sessiontest.NewKey(f, "1", algorithm).Public()}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := session.ParseKeys(text)
		if err != nil && n > 0 {
			t.Fatalf("%d keys, and %v", n, err)
		}
	})
}
