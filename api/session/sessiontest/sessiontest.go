// Package sessiontest is an issuer of session tokens for tests: it signs them, and serves its keys over HTTP.
package sessiontest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"tallyhouse/api/session"
)

// Audience is whom the issuer's tokens are for.
const Audience = "tallyhouse-test"

// Key is a key pair by which tokens are signed.
type Key struct {
	ID        string
	Algorithm jose.SignatureAlgorithm
	Private   crypto.Signer
}

// Public is the key as an issuer publishes it.
func (k Key) Public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: string(k.Algorithm), Use: "sig"}
}

// NewKey makes a key pair for the algorithm.
func NewKey(t testing.TB, id string, algorithm jose.SignatureAlgorithm) Key {
	t.Helper()
	k := Key{ID: id, Algorithm: algorithm}
	var err error
	switch algorithm {
	case jose.ES256:
		k.Private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		k.Private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		k.Private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case jose.EdDSA:
		_, k.Private, err = ed25519.GenerateKey(rand.Reader)
	default:
		k.Private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Issuer serves its keys at URL + "/keys", and says so in its OpenID configuration.
type Issuer struct {
	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex
	keys    []Key
	answer  http.HandlerFunc // instead of the keys
	fetches int
}

// New starts an issuer with these keys. It signs by the first.
func New(t testing.TB, keys ...Key) *Issuer {
	i := &Issuer{t: t, keys: keys}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keys", i.serveKeys)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL(), i.URL()+"/keys")
	})
	i.server = httptest.NewServer(mux)
	t.Cleanup(i.server.Close)
	return i
}

// URL is the issuer's name and address.
func (i *Issuer) URL() string { return i.server.URL }

// Trust is how somebody says that they take the issuer's tokens.
func (i *Issuer) Trust() session.Issuer {
	return session.Issuer{URL: i.URL(), Audience: Audience, KeysURL: i.URL() + "/keys"}
}

// Rotate replaces all keys.
func (i *Issuer) Rotate(keys ...Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Answer lets the issuer answer something else than its keys; nil ends that.
func (i *Issuer) Answer(instead http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = instead
}

// Fetches is how often the keys were asked for.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

func (i *Issuer) serveKeys(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.fetches++
	instead := i.answer
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range i.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	i.mu.Unlock()
	if instead != nil {
		instead(w, r)
		return
	}
	if err := json.NewEncoder(w).Encode(set); err != nil {
		i.t.Error(err)
	}
}

// Claims are those of a token for a user that is valid for an hour; changes are set over them, nil takes one away.
func (i *Issuer) Claims(tenant, user string, changes map[string]any) map[string]any {
	now := time.Now()
	all := map[string]any{"iss": i.URL(), "aud": Audience, "sub": user, "tenant": tenant, "iat": now.Unix(),
		"exp": now.Add(time.Hour).Unix()}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// Token is a token for a user, signed by the issuer's first key.
func (i *Issuer) Token(tenant, user string) string {
	i.t.Helper()
	return Sign(i.t, i.First(), i.Claims(tenant, user, nil), nil)
}

// First is the key that the issuer signs by.
func (i *Issuer) First() Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0]
}

// failer is a test or a property of one.
type failer interface {
	Helper()
	Fatal(args ...any)
}

// Sign makes a token of claims by a key, with more members of its header.
func Sign(t failer, key Key, claims map[string]any, header map[jose.HeaderKey]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return SignBytes(t, key, payload, header)
}

// SignBytes signs any payload.
func SignBytes(t failer, key Key, payload []byte, header map[jose.HeaderKey]any) string {
	t.Helper()
	private := jose.JSONWebKey{Key: key.Private, KeyID: key.ID}
	return SignWith(t, jose.SigningKey{Algorithm: key.Algorithm, Key: private}, payload, header)
}

// SignWith signs any payload with any key, a secret one too.
func SignWith(t failer, key jose.SigningKey, payload []byte, header map[jose.HeaderKey]any) string {
	t.Helper()
	signer, err := jose.NewSigner(key, &jose.SignerOptions{ExtraHeaders: header})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}
