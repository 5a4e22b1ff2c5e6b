package signin_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"tallyhouse/api/desk/signin"
	"tallyhouse/api/session"
	"tallyhouse/api/session/sessiontest"
)

// provider is a small OpenID Connect provider: it signs in without asking, and checks what a provider must of the code flow with PKCE.
type provider struct {
	testing.TB
	server *httptest.Server
	key    sessiontest.Key
	claims func(map[string]any)               // changes the claims of the next ID token
	sign   func(claims map[string]any) string // instead of the provider's key
	code   func(query url.Values)             // changes what is sent back to the desk
	mu     sync.Mutex
	asked  url.Values // of the last sign-in
	// Of codes: what comes before one is answered, how many are asked about now, and were at most.
	slow           func()
	asking, atOnce atomic.Int64
}

const (
	clientID = "tallyhouse-desk"
	secret   = "of the desk"
)

func newProvider(t testing.TB) *provider {
	p := &provider{TB: t, key: sessiontest.NewKey(t, "one", jose.ES256), claims: func(map[string]any) {}, code: func(url.Values) {}, slow: func() {}}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(value); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": p.server.URL, "jwks_uri": p.server.URL + "/keys", "token_endpoint": p.server.URL + "/token",
			"authorization_endpoint": p.server.URL + "/authorize", "id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{p.key.Public()}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = r.URL.Query()
		if p.asked.Get("response_type") != "code" || p.asked.Get("client_id") != clientID || p.asked.Get("code_challenge_method") != "S256" {
			t.Errorf("the desk asks for %v", p.asked)
		}
		back := url.Values{"code": {"the-code"}, "state": {p.asked.Get("state")}}
		p.code(back)
		http.Redirect(w, r, p.asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		running := p.asking.Add(1)
		defer p.asking.Add(-1)
		for most := p.atOnce.Load(); running > most && !p.atOnce.CompareAndSwap(most, running); most = p.atOnce.Load() {
		}
		p.slow()
		p.mu.Lock()
		defer p.mu.Unlock()
		verifier := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		id, password, _ := r.BasicAuth()
		if r.PostFormValue("code") != "the-code" || id != clientID || password != url.QueryEscape(secret) ||
			base64.RawURLEncoding.EncodeToString(verifier[:]) != p.asked.Get("code_challenge") {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]any{"error": "invalid_grant"})
			return
		}
		now := time.Now()
		claims := map[string]any{"iss": p.server.URL, "aud": clientID, "sub": "ada", "tenant": "acme", "nonce": p.asked.Get("nonce"),
			"iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
		p.claims(claims)
		token := ""
		if p.sign != nil {
			token = p.sign(claims)
		} else {
			token = sessiontest.Sign(t, p.key, claims, nil)
		}
		answer(w, map[string]any{"access_token": "none of ours", "token_type": "Bearer", "id_token": token})
	})
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

// desk is the part of the desk that signs in, and who has come through.
type desk struct {
	server  *httptest.Server
	browser *http.Client
	mu      sync.Mutex
	user    session.User
	path    string
	err     error
}

func newDesk(t testing.TB, p *provider) *desk {
	cookies, err := signin.NewCookies([][]byte{signin.NewKey()}, false)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{}
	mux := http.NewServeMux()
	d.server = httptest.NewServer(mux)
	t.Cleanup(d.server.Close)
	way := signin.NewProvider(signin.Client{Issuer: p.server.URL, ID: clientID, Secret: secret}, d.server.URL, cookies)
	mux.HandleFunc("GET /start", func(w http.ResponseWriter, r *http.Request) {
		if err := way.Begin(w, r, r.URL.Query().Get("to")); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("GET "+signin.CallbackPath, func(w http.ResponseWriter, r *http.Request) {
		user, path, err := way.Finish(w, r)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.user, d.path, d.err = user, path, err
	})
	d.browser = newBrowser(t)
	return d
}

func newBrowser(t testing.TB) *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: time.Minute}
}

func get(t testing.TB, client *http.Client, address string) *http.Response {
	t.Helper()
	answer, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer
}

// Given a provider that knows a person, when they sign in, then the desk knows who they are and where they wanted to go; and the
// way back works once, in their browser alone.
func TestThePersonOfTheProviderSignsIn(t *testing.T) {
	p := newProvider(t)
	d := newDesk(t, p)
	back := get(t, d.browser, d.server.URL+"/start?to=/projects/pr-1/budget%3Flevel=budget").Request.URL
	if want := (session.User{Tenant: "acme", ID: "ada"}); d.err != nil || d.user != want || d.path != "/projects/pr-1/budget?level=budget" {
		t.Fatalf("%v goes on to %s: %v", d.user, d.path, d.err)
	}
	if p.asked.Get("nonce") == "" || p.asked.Get("state") == p.asked.Get("nonce") || !strings.Contains(p.asked.Get("scope"), "openid") {
		t.Errorf("the provider was asked %v", p.asked)
	}
	get(t, d.browser, back.String())
	if !errors.Is(d.err, signin.ErrSignIn) {
		t.Errorf("the way back works again: %v", d.err)
	}
	get(t, newBrowser(t), back.String())
	if !errors.Is(d.err, signin.ErrSignIn) {
		t.Errorf("the way back works in another browser: %v", d.err)
	}
}

// What a provider, or somebody on the way, sends otherwise than it must signs nobody in.
func TestWhatIsNotRightSignsNobodyIn(t *testing.T) {
	claim := func(name string, value any) func(*provider) {
		return func(p *provider) { p.claims = func(c map[string]any) { c[name] = value } }
	}
	for name, change := range map[string]func(*provider){
		"another nonce":     claim("nonce", "of another sign-in"),
		"no nonce":          claim("nonce", ""),
		"another client":    claim("aud", "somebody-else"),
		"another issuer":    claim("iss", "https://id.example.com"),
		"an expired token":  claim("exp", time.Now().Add(-time.Hour).Unix()),
		"no tenant":         claim("tenant", ""),
		"no person":         claim("sub", ""),
		"another state":     func(p *provider) { p.code = func(q url.Values) { q.Set("state", "of another sign-in") } },
		"another code":      func(p *provider) { p.code = func(q url.Values) { q.Set("code", "of another sign-in") } },
		"a refusal":         func(p *provider) { p.code = func(q url.Values) { q.Set("error", "access_denied") } },
		"a key of nobody's": func(p *provider) { p.signBy(sessiontest.NewKey(p, "one", jose.ES256)) },
		"a shared secret": func(p *provider) {
			p.signWith(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("s", 32))})
		},
		"no signature": func(p *provider) { p.sign = unsigned },
		"no token":     func(p *provider) { p.sign = func(map[string]any) string { return "" } },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			change(p)
			d := newDesk(t, p)
			get(t, d.browser, d.server.URL+"/start")
			if !errors.Is(d.err, signin.ErrSignIn) || d.user != (session.User{}) {
				t.Errorf("%v is signed in: %v", d.user, d.err)
			}
		})
	}
}

// Given a provider that doesn't answer as it should, then however many strangers want to sign in, it is asked once in a while; and one who
// leaves at once keeps nobody from signing in.
func TestAProviderThatIsAwayIsAskedOnceInAWhile(t *testing.T) {
	var asked atomic.Int64
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer away.Close()
	cookies, err := signin.NewCookies([][]byte{signin.NewKey()}, false)
	if err != nil {
		t.Fatal(err)
	}
	of := func(issuer string) *signin.Provider {
		return signin.NewProvider(signin.Client{Issuer: issuer, ID: clientID}, "http://localhost", cookies)
	}
	way, left := of(away.URL), make(chan error)
	for range 50 {
		go func() {
			left <- way.Begin(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/start", nil), "/")
		}()
	}
	for range 50 {
		if err := <-left; err == nil {
			t.Error("somebody is sent to it")
		}
	}
	if n := asked.Load(); n == 0 || n > 10 { // one, if the machine isn't too busy to come to all within seconds
		t.Errorf("it is asked %d times", n)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	way = of(newProvider(t).server.URL)
	_ = way.Begin(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/start", nil), "/")
	if err := way.Begin(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/start", nil), "/"); err != nil {
		t.Errorf("after one who has left nobody signs in: %v", err)
	}
}

// Given a provider that is slow to say what a code stands for, then it is asked about a few at a time.
func TestOnlySoManyCodesAreAskedAboutAtATime(t *testing.T) {
	const most = 16
	p := newProvider(t)
	arrived, answer := make(chan struct{}, 2*most), make(chan struct{})
	p.slow = func() { arrived <- struct{}{}; <-answer }
	d := newDesk(t, p)
	done := make(chan struct{})
	for range most + 5 {
		browser := newBrowser(t)
		browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.Path, "/authorize") {
				return http.ErrUseLastResponse
			}
			return nil
		}
		to, err := get(t, browser, d.server.URL+"/start").Location()
		if err != nil {
			t.Fatal(err)
		}
		back := d.server.URL + signin.CallbackPath + "?" + url.Values{"code": {"guess"}, "state": {to.Query().Get("state")}}.Encode()
		go func() {
			if answer, err := browser.Get(back); err == nil {
				answer.Body.Close()
			}
			done <- struct{}{}
		}()
	}
	for range most {
		<-arrived
	}
	if n := p.asking.Load(); n != most {
		t.Errorf("it is asked about %d codes at a time, want %d", n, most)
	}
	close(answer)
	for range most + 5 {
		<-done
	}
	if n := p.atOnce.Load(); n != most {
		t.Errorf("it was asked about %d codes at a time, want %d", n, most)
	}
}

func (p *provider) signBy(key sessiontest.Key) {
	p.sign = func(claims map[string]any) string { return sessiontest.Sign(p, key, claims, nil) }
}

func (p *provider) signWith(key jose.SigningKey) {
	p.sign = func(claims map[string]any) string {
		payload, err := json.Marshal(claims)
		if err != nil {
			p.Fatal(err)
		}
		return sessiontest.SignWith(p, key, payload, nil)
	}
}

func unsigned(claims map[string]any) string {
	payload, _ := json.Marshal(claims) // of plain values
	part := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	return part([]byte(`{"alg":"none"}`)) + "." + part(payload) + "."
}

// A path leads on within the desk, or to its first page.
func TestPathsStayWithinTheDesk(t *testing.T) {
	for path, want := range map[string]string{"/projects?a=b": "/projects?a=b", "": "/", "projects": "/", "//evil.example/": "/",
		"https://evil.example/": "/", `/\evil.example`: "/", "/\t/evil.example": "/", "javascript:alert(1)": "/",
		"/" + strings.Repeat("a", 3000): "/"} {
		if got := signin.LocalPath(path); got != want {
			t.Errorf("%.40q leads to %q, want %q", path, got, want)
		}
	}
}

// brings is a request with the cookies that an answer has set.
func brings(answer *httptest.ResponseRecorder) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, c := range answer.Result().Cookies() {
		r.AddCookie(c)
	}
	return r
}

func cookiesOf(t *testing.T, secure bool, keys ...[]byte) *signin.Cookies {
	t.Helper()
	c, err := signin.NewCookies(keys, secure)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Given a session, then it is in its sealed cookie, for as long as it lasts, by the keys that are known.
func TestSessionsAreSealedAndEnd(t *testing.T) {
	old, key, now := signin.NewKey(), signin.NewKey(), time.Now()
	user := session.User{Tenant: "acme", ID: "ada-lovelace"}
	begun := httptest.NewRecorder()
	if err := cookiesOf(t, true, old).Begin(begun, user, now); err != nil {
		t.Fatal(err)
	}
	set := begun.Header().Get("Set-Cookie")
	for _, want := range []string{"__Host-", "Secure", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie lacks %s: %s", want, set)
		}
	}
	value := begun.Result().Cookies()[0].Value
	if raw, err := base64.URLEncoding.DecodeString(value); err != nil || strings.Contains(string(raw), "lovelace") {
		t.Errorf("the cookie tells who it is of: %q, %v", raw, err)
	}
	s, ok := cookiesOf(t, true, key, old).Read(brings(begun), now)
	if !ok || s.User() != user || len(s.Token) < 20 {
		t.Errorf("after the keys have changed the session is %v, %v", s, ok)
	}
	if _, ok := cookiesOf(t, true, key).Read(brings(begun), now); ok {
		t.Error("a session of a key that is gone counts")
	}
	if _, ok := cookiesOf(t, true, old).Read(brings(begun), now.Add(signin.Lifetime)); ok {
		t.Error("a session counts after its end")
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	changed := []byte(value)
	changed[len(changed)/2] ^= 1
	r.AddCookie(&http.Cookie{Name: "__Host-tallyhouse-session", Value: string(changed)})
	if _, ok := cookiesOf(t, true, old).Read(r, now); ok {
		t.Error("a session that was changed counts")
	}
}

// A form sends the token of its session, in its body or in a header; nothing else counts.
func TestFormsSendTheTokenOfTheirSession(t *testing.T) {
	s := signin.Session{Token: "the-token"}
	form := func(token string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/?csrf=the-token", strings.NewReader(url.Values{"csrf": {token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r
	}
	header := form("")
	header.Header.Set("X-CSRF-Token", "the-token")
	if !s.Sends(form("the-token")) || !s.Sends(header) {
		t.Error("a form of the session is refused")
	}
	if s.Sends(form("")) || s.Sends(form("another")) || (signin.Session{}).Sends(form("")) {
		t.Error("a form of no session, or of another one, is taken")
	}
}

// A code works once, and the next one is told.
func TestACodeWorksOnce(t *testing.T) {
	user := session.User{Tenant: "demo", ID: "ada"}
	var next string
	codes := signin.NewCodes(user, func(code string) { next = code })
	first := codes.Code()
	if _, ok := codes.Take("another"); ok || next != "" {
		t.Error("another code works")
	}
	if got, ok := codes.Take(first); !ok || got != user || next == "" || next != codes.Code() {
		t.Errorf("the code is of %v, %v; the next one is %q", got, ok, next)
	}
	if _, ok := codes.Take(first); ok {
		t.Error("a code works twice")
	}
}

func TestKeysAreRead(t *testing.T) {
	line := strings.Repeat("ab", signin.KeyBytes)
	keys, err := signin.ParseKeys(line + "\n\n" + line + "\n")
	if err != nil || len(keys) != 2 || len(keys[0]) != signin.KeyBytes {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	for _, wrong := range []string{"", "ab", line + "cd", "xy" + line[2:], strings.Repeat(line+"\n", 11)} {
		if _, err := signin.ParseKeys(wrong); err == nil {
			t.Errorf("%.20q... is taken", wrong)
		}
	}
}
