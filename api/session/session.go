// Package session verifies session tokens: JSON Web Tokens of one issuer (OpenID Connect), signed by keys that the issuer
// publishes and rotates (docs/api.md#session-tokens). It knows nothing of users: it says who the issuer says somebody is.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"tallyhouse/schemas/loopback"
)

const (
	// maxTokenBytes bounds what is parsed.
	maxTokenBytes = 8 << 10
	// leeway is how far the issuer's clock may be from this one.
	leeway = 30 * time.Second
)

var (
	// ErrToken says that a token is not a valid one of the issuer.
	ErrToken = errors.New("not a valid session token")
	// ErrNoKeys says that the keys of the issuer are not known, so that no token can be verified.
	ErrNoKeys = errors.New("the keys of the issuer of session tokens are not known")
	// ErrOtherIssuer says that an issuer's OpenID configuration is of another one.
	ErrOtherIssuer = errors.New("it is of another issuer")
)

// IssuerError is a failure at an OpenID Connect issuer: it can't be asked, or answers something else than it should.
type IssuerError struct{ Cause error }

func (e *IssuerError) Error() string { return e.Cause.Error() }

// Unwrap gives the cause.
func (e *IssuerError) Unwrap() error { return e.Cause }

// Issuer says whose tokens are taken. The zero value takes none.
type Issuer struct {
	URL      string // as tokens name it in iss
	Audience string // that tokens must name in aud
	KeysURL  string // of its JSON Web Key Set; "" to find it by the issuer's OpenID configuration
}

// Validate reports all that is wrong. Keys come by TLS or from this machine: whoever can change them on their way can
// sign tokens.
func (i Issuer) Validate() error {
	if i == (Issuer{}) {
		return nil
	}
	var wrong []error
	switch {
	case i.URL == "":
		wrong = append(wrong, errors.New("--oidc-issuer is missing: whose session tokens are taken"))
	case i.KeysURL == "":
		wrong = append(wrong, safe("--oidc-issuer", i.URL))
	}
	if i.Audience == "" {
		wrong = append(wrong, errors.New("--oidc-audience is missing: for whom session tokens must be"))
	}
	if i.KeysURL != "" {
		wrong = append(wrong, safe("--oidc-jwks-url", i.KeysURL))
	}
	return errors.Join(wrong...)
}

// safe is an error when what a URL leads to could be changed on its way.
func safe(what, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%s must be a URL like https://id.example.com/, not %q", what, text)
	}
	if !loopback.TakesSecrets(u) {
		return fmt.Errorf("%s must begin with https:// (http:// only on this machine), not %q", what, text)
	}
	return nil
}

// User is whom a token was issued for.
type User struct{ Tenant, ID string }

// Verifier verifies the tokens of an issuer. Run keeps its keys up to date.
type Verifier struct {
	issuer Issuer
	keys   *keySet
	clock  func() time.Time
}

// NewVerifier makes a verifier that knows no keys yet. The clock is the machine's, but for tests.
func NewVerifier(issuer Issuer, clock func() time.Time, log *slog.Logger) (*Verifier, error) {
	if err := issuer.Validate(); err != nil {
		return nil, err
	}
	return &Verifier{issuer: issuer, keys: newKeySet(issuer, clock, log), clock: clock}, nil
}

// Run fetches the issuer's keys, now and again and when a token names a new one, until the context ends.
func (v *Verifier) Run(ctx context.Context) { v.keys.run(ctx) }

// Fetched is when the issuer's keys were fetched last; the zero time when never.
func (v *Verifier) Fetched() time.Time { return v.keys.fetchedAt() }

// algorithms are those of public keys: a token that is signed by a shared secret, or not at all, is none of ours.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256,
	jose.ES384, jose.ES512, jose.EdDSA}

// claims are the members of a token that count.
type claims struct {
	jwt.Claims
	Tenant string `json:"tenant"`
}

// Verify returns whom a token was issued for. ErrToken when it is not a valid one of the issuer, ErrNoKeys when that
// cannot be found out. It may wait for the issuer when a token names a key that is not known.
func (v *Verifier) Verify(ctx context.Context, token string) (User, error) {
	if len(token) > maxTokenBytes {
		return User{}, refuse("it has %d bytes", len(token))
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return User{}, refuse("it cannot be read: %w", err)
	}
	header := parsed.Headers[0]
	if err := kindOf(header); err != nil {
		return User{}, err
	}
	candidates, err := v.keys.find(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm))
	if err != nil {
		return User{}, err
	}
	for _, key := range candidates {
		var c claims
		if err = parsed.Claims(key.Key, &c.Claims, &c); err == nil {
			return v.check(c)
		}
	}
	return User{}, refuse("no key of the issuer has signed it: %w", err)
}

// kindOf refuses what the same issuer signs for another purpose, like a logout token.
func kindOf(header jose.Header) error {
	kind, given := header.ExtraHeaders[jose.HeaderType]
	text, isText := kind.(string)
	text = strings.TrimPrefix(strings.ToLower(text), "application/")
	if given && (!isText || !slices.Contains([]string{"jwt", "at+jwt"}, text)) {
		return refuse("its type is %v", kind)
	}
	return nil
}

// check looks at what a token of the issuer says.
func (v *Verifier) check(c claims) (User, error) {
	now := v.clock()
	switch {
	case c.Issuer != v.issuer.URL:
		return User{}, refuse("its issuer is %q", c.Issuer)
	case !c.Audience.Contains(v.issuer.Audience):
		return User{}, refuse("its audience is %q", c.Audience)
	case c.Expiry == nil:
		return User{}, refuse("it does not say when it expires")
	case !now.Before(c.Expiry.Time().Add(leeway)):
		return User{}, refuse("it expired at %s", c.Expiry.Time().UTC())
	case c.NotBefore != nil && now.Add(leeway).Before(c.NotBefore.Time()):
		return User{}, refuse("it is valid from %s on", c.NotBefore.Time().UTC())
	case c.IssuedAt != nil && now.Add(leeway).Before(c.IssuedAt.Time()):
		return User{}, refuse("it was issued at %s, in the future", c.IssuedAt.Time().UTC())
	case c.Subject == "" || c.Tenant == "":
		return User{}, refuse("it names no sub or no tenant")
	}
	return User{Tenant: c.Tenant, ID: c.Subject}, nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrToken, fmt.Errorf(format, args...))
}
