// Package signin knows who has signed in at the desk (docs/desk.md#signing-in): by an OpenID Connect provider, or by a one-time code
// of `tallyhouse dev`. It keeps that in sealed cookies and nowhere else. What a person may see is not decided here but by
// tallyhouse/api/access, at each request.
package signin

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/securecookie"

	"tallyhouse/api/session"
)

const (
	// Lifetime is how long somebody stays signed in.
	Lifetime = 12 * time.Hour
	// flowLifetime bounds the time between the beginning of a sign-in and its end at the provider.
	flowLifetime = 10 * time.Minute
	// KeyBytes is the length of a key that seals cookies.
	KeyBytes = 32
	// maxKeys bounds the keys of a file: one seals, others still open.
	maxKeys = 10
)

// Session is a person who has signed in.
type Session struct {
	Tenant string    `json:"t"`
	UserID string    `json:"u"`
	Token  string    `json:"c"` // that every form of this session sends back
	Until  time.Time `json:"e"`
}

// User is whom the session is of.
func (s Session) User() session.User { return session.User{Tenant: s.Tenant, ID: s.UserID} }

// Sends reports whether a request brings the session's token, in the field csrf of its form or in the header X-CSRF-Token.
func (s Session) Sends(r *http.Request) bool {
	token := r.Header.Get("X-CSRF-Token")
	if token == "" {
		token = r.PostFormValue("csrf")
	}
	return s.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

// Cookies seals sessions into cookies and opens them.
type Cookies struct {
	sessions []securecookie.Codec
	flows    []securecookie.Codec
	secure   bool
}

// NewCookies seals by the first of the keys, and opens what any of them has sealed. secure cookies go over TLS alone.
func NewCookies(keys [][]byte, secure bool) (*Cookies, error) {
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, fmt.Errorf("%d keys cannot seal sessions: give 1 to %d", len(keys), maxKeys)
	}
	c := &Cookies{secure: secure}
	for i, key := range keys {
		if len(key) != KeyBytes {
			return nil, fmt.Errorf("key %d that seals sessions has %d bytes, not %d", i+1, len(key), KeyBytes)
		}
		of := func(purpose string, lifetime time.Duration) (securecookie.Codec, error) {
			derived, err := hkdf.Key(sha256.New, key, nil, "tallyhouse desk "+purpose, 2*KeyBytes)
			if err != nil {
				return nil, fmt.Errorf("derive the keys of cookies: %w", err)
			}
			codec := securecookie.New(derived[:KeyBytes], derived[KeyBytes:]).MaxAge(int(lifetime.Seconds()))
			return codec.SetSerializer(securecookie.JSONEncoder{}), nil
		}
		sessions, err := of("session", Lifetime)
		flows, err2 := of("sign-in", flowLifetime)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		c.sessions, c.flows = append(c.sessions, sessions), append(c.flows, flows)
	}
	return c, nil
}

// ParseKeys reads keys, one a line in hex.
func ParseKeys(text string) (keys [][]byte, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := hex.DecodeString(line)
		if err != nil || len(key) != KeyBytes {
			return nil, fmt.Errorf("a key that seals sessions must be %d bytes in hex, one a line", KeyBytes)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, fmt.Errorf("there must be 1 to %d keys that seal sessions, not %d", maxKeys, len(keys))
	}
	return keys, nil
}

// NewKey draws a key.
func NewKey() []byte {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// name is that of a cookie. Browsers take one with the prefix from this host alone, and over TLS.
func (c *Cookies) name(of string) string {
	if c.secure {
		return "__Host-tallyhouse-" + of
	}
	return "tallyhouse-" + of
}

const (
	sessionCookie = "session"
	flowCookie    = "signin"
)

// Begin lets the session of a person begin.
func (c *Cookies) Begin(w http.ResponseWriter, user session.User, now time.Time) error {
	s := Session{Tenant: user.Tenant, UserID: user.ID, Token: rand.Text(), Until: now.Add(Lifetime).UTC()}
	return c.set(w, sessionCookie, c.sessions, s, Lifetime)
}

// Read is the session that a request brings; false when it brings none that still counts.
func (c *Cookies) Read(r *http.Request, now time.Time) (s Session, ok bool) {
	ok = c.get(r, sessionCookie, c.sessions, &s) && s.Tenant != "" && s.UserID != "" && now.Before(s.Until)
	return s, ok
}

// End ends the session in this browser.
func (c *Cookies) End(w http.ResponseWriter) { c.remove(w, sessionCookie) }

func (c *Cookies) set(w http.ResponseWriter, of string, codecs []securecookie.Codec, value any, lifetime time.Duration) error {
	name := c.name(of)
	sealed, err := securecookie.EncodeMulti(name, value, codecs...)
	if err != nil {
		return fmt.Errorf("seal the cookie %s: %w", name, err)
	}
	http.SetCookie(w, c.cookie(name, sealed, int(lifetime.Seconds())))
	return nil
}

func (c *Cookies) get(r *http.Request, of string, codecs []securecookie.Codec, value any) bool {
	name := c.name(of)
	cookie, err := r.Cookie(name)
	return err == nil && securecookie.DecodeMulti(name, cookie.Value, value, codecs...) == nil
}

func (c *Cookies) remove(w http.ResponseWriter, of string) {
	http.SetCookie(w, c.cookie(c.name(of), "", -1))
}

func (c *Cookies) cookie(name, value string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: maxAge, Secure: c.secure, HttpOnly: true,
		SameSite: http.SameSiteLaxMode}
}
