package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"tallyhouse/api/session"
)

const (
	// CallbackPath is where the provider sends people back to.
	CallbackPath = "/signin/callback"
	// providerTimeout bounds each question to the provider.
	providerTimeout = 10 * time.Second
	// askAgain is how long a provider that didn't answer as it should isn't asked again: strangers may want to sign in, too.
	askAgain = 5 * time.Second
	// maxExchanges bounds the codes that the provider is asked about at the same time.
	maxExchanges  = 16
	maxReturnPath = 2000 // bytes
)

var (
	// ErrSignIn says that somebody could not be signed in.
	ErrSignIn = errors.New("the sign-in has failed")
	// ErrClient says that the provider doesn't take the desk for the client that it says it is.
	ErrClient = errors.New("the provider doesn't take the desk's client id and secret")

	errBusy = errors.New("too many people sign in at this moment")
)

// Client is how the desk is known at an OpenID Connect provider. The zero value signs nobody in.
type Client struct {
	Issuer string // as tokens name it in iss
	ID     string // of this client, as tokens name it in aud
	Secret string // "" for a public client, which PKCE alone protects
}

// Validate reports all that is wrong.
func (c Client) Validate() error {
	if c == (Client{}) {
		return nil
	}
	var wrong []error
	if c.ID == "" {
		wrong = append(wrong, errors.New("--oidc-client-id is missing: the desk's client id at the provider"))
	}
	if err := (session.Issuer{URL: c.Issuer, Audience: "desk"}).Validate(); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// Provider signs people in by the authorization code flow with PKCE.
type Provider struct {
	client  Client
	desk    string // its address
	cookies *Cookies
	http    *http.Client

	mu       sync.Mutex
	found    *oidc.Provider // nil until it has answered once
	failed   error          // why it hasn't, the last time that it was asked
	failedAt time.Time

	exchanges chan struct{} // one for each that is under way
}

// NewProvider makes a provider for a desk at an address. It asks nothing until somebody signs in.
func NewProvider(client Client, desk string, cookies *Cookies) *Provider {
	return &Provider{client: client, desk: strings.TrimSuffix(desk, "/"), cookies: cookies,
		http: &http.Client{Timeout: providerTimeout}, exchanges: make(chan struct{}, maxExchanges)}
}

// Name is the provider's host, as people know it.
func (p *Provider) Name() string {
	u, err := url.Parse(p.client.Issuer)
	if err != nil {
		return p.client.Issuer
	}
	return u.Hostname()
}

// flow is a sign-in that has begun.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Return   string `json:"r"`
}

// discover asks the provider where its endpoints are, once. Whoever waits while it is asked has the same answer, and who leaves
// meanwhile doesn't keep others from it.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.failed != nil && time.Since(p.failedAt) < askAgain {
		return nil, p.failed
	}
	ctx, stop := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), p.http), providerTimeout)
	defer stop()
	found, err := oidc.NewProvider(ctx, p.client.Issuer)
	if other, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok {
		err = fmt.Errorf("%w: %.100q", session.ErrOtherIssuer, other.Discovered)
	}
	if err != nil {
		p.failed = &session.IssuerError{Cause: fmt.Errorf("ask %s for its OpenID configuration: %w", p.client.Issuer, answered(err))}
		p.failedAt = time.Now()
		return nil, p.failed
	}
	p.found = found
	return found, nil
}

// Ask asks the provider for its configuration, unless it has answered before: what is wrong with it, or with the way there.
func (p *Provider) Ask(ctx context.Context) error {
	_, err := p.discover(ctx)
	return err
}

// answered cuts a failure short that holds an answer, which may be a page of anybody's; where there was none it is as it was.
func answered(err error) error {
	const told = 200 // bytes
	if _, ok := errors.AsType[*url.Error](err); ok || len(err.Error()) <= told {
		return err
	}
	return fmt.Errorf("%.*s", told, err.Error())
}

func (p *Provider) oauth(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: p.client.ID, ClientSecret: p.client.Secret, Endpoint: found.Endpoint(),
		RedirectURL: p.desk + CallbackPath, Scopes: []string{oidc.ScopeOpenID, "profile"}}
}

// Begin sends somebody to the provider. When they come back they go on to the path.
func (p *Provider) Begin(w http.ResponseWriter, r *http.Request, path string) error {
	found, err := p.discover(r.Context())
	if err != nil {
		return err
	}
	f := flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Return: LocalPath(path)}
	if err := p.cookies.set(w, flowCookie, p.cookies.flows, f, flowLifetime); err != nil {
		return err
	}
	target := p.oauth(found).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier))
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

// algorithms are those of public keys: an ID token that is signed by a shared secret, or not at all, is refused.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384,
	oidc.ES512, oidc.EdDSA}

// Finish is whom the provider has sent back, and the path that they go on to. ErrSignIn when that is nobody who has begun here.
func (p *Provider) Finish(w http.ResponseWriter, r *http.Request) (user session.User, path string, err error) {
	refuse := func(format string, args ...any) (session.User, string, error) {
		return session.User{}, "", fmt.Errorf("%w: %w", ErrSignIn, fmt.Errorf(format, args...))
	}
	var f flow
	begun := p.cookies.get(r, flowCookie, p.cookies.flows, &f)
	p.cookies.remove(w, flowCookie) // it works once
	query := r.URL.Query()
	switch {
	case !begun:
		return refuse("it has not begun in this browser, or too long ago")
	case subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(f.State)) != 1:
		return refuse("its state is another one")
	case query.Get("error") != "":
		return refuse("the provider says %.100q", query.Get("error"))
	}
	found, err := p.discover(r.Context())
	if err != nil {
		return session.User{}, "", err
	}
	ctx := oidc.ClientContext(r.Context(), p.http)
	waiting, stop := context.WithTimeout(ctx, providerTimeout)
	defer stop()
	select {
	case p.exchanges <- struct{}{}:
		defer func() { <-p.exchanges }()
	case <-waiting.Done():
		return session.User{}, "", errBusy
	}
	token, err := p.oauth(found).Exchange(ctx, query.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return session.User{}, "", noTokens(err)
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := found.Verifier(&oidc.Config{ClientID: p.client.ID, SupportedSigningAlgs: algorithms}).Verify(ctx, raw)
	if err != nil {
		return refuse("the ID token is not taken: %w", err)
	}
	var claims struct {
		Tenant string `json:"tenant"`
	}
	switch err := verified.Claims(&claims); {
	case err != nil:
		return refuse("the ID token cannot be read: %w", err)
	case subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(f.Nonce)) != 1:
		return refuse("the ID token has another nonce")
	case verified.Subject == "" || claims.Tenant == "":
		return refuse("the ID token names no sub or no tenant")
	}
	return session.User{Tenant: claims.Tenant, ID: verified.Subject}, f.Return, nil
}

// noTokens says what is wrong where the provider gives no tokens for a code: the code, the desk as its client, or the provider.
func noTokens(err error) error {
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case ok && (answer.Response.StatusCode == http.StatusUnauthorized || answer.ErrorCode == "invalid_client" ||
		answer.ErrorCode == "unauthorized_client"):
		err = ErrClient
	case ok && answer.Response.StatusCode < http.StatusInternalServerError:
		return fmt.Errorf("%w: the code is not taken: %w", ErrSignIn, answered(err))
	}
	return &session.IssuerError{Cause: fmt.Errorf("ask the provider for tokens: %w", answered(err))}
}

// LocalPath is the path when it leads to a page of the desk, else that of its first page.
func LocalPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsAny(path, "\\\r\n\t") || len(path) > maxReturnPath {
		return "/"
	}
	return path
}
