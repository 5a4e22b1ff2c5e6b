package mailbox_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
)

// identityProvider is an OAuth 2.0 server with one client, whose refresh tokens are good once.
type identityProvider struct {
	*httptest.Server
	mutex   sync.Mutex
	refresh string // the one that is good
	access  int    // how many access tokens were given
	polls   int    // of a device that waits
	expires int    // seconds
	// key is the client's, which then authenticates by what it signs; nil: by its secret.
	key  *x509.Certificate
	seen map[string]bool // identifiers of what was signed
	busy string          // Retry-After of an answer that refuses everything
	old  int             // refresh tokens that came after they were replaced
}

func startProvider(t *testing.T) *identityProvider {
	p := &identityProvider{refresh: "refresh-0", expires: 3600}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *identityProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_ = r.ParseForm()
	w.Header().Set("Content-Type", "application/json")
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.Form.Get("client_id"), r.Form.Get("client_secret")
	}
	refuse := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code})
	}
	grant := r.Form.Get("grant_type")
	authenticated := secret == "hush"
	if p.key != nil {
		authenticated = !basic && secret == "" && p.verified(r.Form.Get("client_assertion_type"), r.Form.Get("client_assertion"))
	}
	switch {
	case p.busy != "":
		w.Header().Set("Retry-After", p.busy)
		w.WriteHeader(http.StatusTooManyRequests)
	case id != "client" || !authenticated && r.URL.Path != "/device":
		refuse("invalid_client")
	case r.URL.Path == "/device":
		_ = json.NewEncoder(w).Encode(map[string]any{"device_code": "device", "user_code": "ABCD-EFGH",
			"verification_uri": "https://id.example/device", "expires_in": 60, "interval": 1})
	case grant == "urn:ietf:params:oauth:grant-type:device_code" && p.polls == 0:
		p.polls++
		refuse("authorization_pending")
	case grant == "refresh_token" && r.Form.Get("refresh_token") != p.refresh:
		p.old++
		refuse("invalid_grant")
	default:
		p.access++
		answer := map[string]any{"access_token": fmt.Sprint("access-", p.access), "token_type": "Bearer", "expires_in": p.expires}
		if grant != "client_credentials" {
			p.refresh = fmt.Sprint("refresh-", p.access)
			answer["refresh_token"] = p.refresh
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// verified reports whether what a client signed is as Microsoft Entra wants it, and new.
func (p *identityProvider) verified(kind, assertion string) bool {
	pieces := strings.Split(assertion, ".")
	if kind != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || len(pieces) != 3 {
		return false
	}
	var decoded [3][]byte
	for i, piece := range pieces {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(piece); err != nil {
			return false
		}
	}
	var header, claims map[string]any
	if json.Unmarshal(decoded[0], &header) != nil || json.Unmarshal(decoded[1], &claims) != nil {
		return false
	}
	sum := sha256.Sum256([]byte(pieces[0] + "." + pieces[1]))
	thumbprint := sha256.Sum256(p.key.Raw)
	key := p.key.PublicKey.(*rsa.PublicKey)
	number := func(name string) int64 { n, _ := claims[name].(float64); return int64(n) }
	now, id := time.Now().Unix(), fmt.Sprint(claims["jti"])
	ok := header["alg"] == "PS256" && header["typ"] == "JWT" &&
		header["x5t#S256"] == base64.RawURLEncoding.EncodeToString(thumbprint[:]) &&
		claims["iss"] == "client" && claims["sub"] == "client" && claims["aud"] == p.URL+"/token" && len(id) > 20 && !p.seen[id] &&
		number("nbf") <= now && number("exp") > now && number("exp") <= now+3600 &&
		rsa.VerifyPSS(key, crypto.SHA256, sum[:], decoded[2], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	p.seen[id] = true
	return ok
}

// giveCertificate makes a certificate for the client, which the provider knows from now on, and gives its file.
func (p *identityProvider) giveCertificate(t *testing.T, dir string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if p.key, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	p.seen = map[string]bool{}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "client.pem")
	content := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Given an application with a certificate instead of a secret, then what it signs gets it in by itself, renews its
// tokens and logs a person in.
func TestACertificateStandsForTheSecret(t *testing.T) {
	s, p, dir := mailboxtest.Start(t), startProvider(t), t.TempDir()
	file := p.giveCertificate(t, dir)
	url := func(more ...string) string {
		return oauthURL(t, s, p, dir, append(more, "client-certificate-file="+file)...)
	}
	s.Token = "access-1"
	if _, err := open(t, url()); err != nil {
		t.Errorf("by itself: %v", err)
	}
	refresh := filepath.Join(dir, "refresh")
	a, err := mailbox.ParseAddress(url("refresh-token-file=" + refresh))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Login(t.Context(), func(string, string) {}); err != nil {
		t.Fatalf("the login: %v", err)
	}
	s.Token = "access-3"
	if _, err := open(t, url("refresh-token-file="+refresh)); err != nil {
		t.Errorf("a renewal: %v", err)
	}
	if len(p.seen) < 3 {
		t.Errorf("%d assertions were used", len(p.seen))
	}
	p.giveCertificate(t, t.TempDir()) // another one
	if _, err := open(t, url()); err == nil {
		t.Error("a certificate that the provider doesn't know got in")
	}
	for content, want := range map[string]string{"": "client-certificate-file", "-----BEGIN hush-----": "must hold a certificate and its key"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, url()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("the file %q: %v", content, err)
		}
	}
}

// Given a provider that is asked too often, then its error says how long to leave it alone.
func TestAProviderMayThrottle(t *testing.T) {
	s, p := mailboxtest.Start(t), startProvider(t)
	for said, want := range map[string]time.Duration{"7": 7 * time.Second, "soon": 2 * time.Minute, "100000": time.Hour,
		"Thu, 01 Jan 1970 00:00:00 GMT": 0} {
		p.busy = said
		_, err := open(t, oauthURL(t, s, p, t.TempDir()))
		if got, ok := mailbox.Throttled(err); !ok || got != want {
			t.Errorf("Retry-After %s: got %s, %t of %v", said, got, ok, err)
		}
	}
}

// oauthURL is the mailbox with tokens of a provider, whose files are in a directory.
func oauthURL(t *testing.T, s *mailboxtest.Server, p *identityProvider, dir string, more ...string) string {
	t.Helper()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	q := url.Values{"auth": {"oauth2"}, "token-url": {p.URL + "/token"}, "device-url": {p.URL + "/device"},
		"client-id": {"client"}, "client-secret-file": {secret}}
	for _, m := range more {
		name, value, _ := strings.Cut(m, "=")
		if name == "client-certificate-file" {
			q.Del("client-secret-file")
		}
		q.Set(name, value)
	}
	return strings.Replace(s.URL(), ":secret", "", 1) + "&" + q.Encode()
}

// Given a refresh token, then access tokens are got for it, used until they end, and the refresh token that comes with
// one is kept.
func TestAccessTokensAreRenewed(t *testing.T) {
	s, p, dir := mailboxtest.Start(t), startProvider(t), t.TempDir()
	file := filepath.Join(dir, "refresh")
	if err := os.WriteFile(file, []byte("refresh-0"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := mailbox.ParseAddress(oauthURL(t, s, p, dir, "refresh-token-file="+file))
	if err != nil {
		t.Fatal(err)
	}
	connect := func() error {
		box, err := mailbox.Open(t.Context(), mailbox.Options{Address: a, Timeout: 5 * time.Second})
		if err == nil {
			box.Close()
		}
		return err
	}
	s.Token = "access-1"
	for range 2 {
		if err := connect(); err != nil {
			t.Fatal(err)
		}
	}
	if kept, _ := os.ReadFile(file); p.access != 1 || strings.TrimSpace(string(kept)) != "refresh-1" {
		t.Errorf("%d access tokens were got, and %q kept", p.access, kept)
	}
	s.Token = "access-2" // the server takes the first one no more
	if err := connect(); !errors.Is(err, mailbox.ErrRefused) {
		t.Errorf("an old token: %v", err)
	}
	if err := connect(); err != nil {
		t.Errorf("a new token: %v", err)
	}
	// Somebody logs in again, elsewhere.
	p.refresh = "another"
	s.Token = "access-3"
	_ = connect() // the token that was good until now
	if err := connect(); err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "tallyhouse mail login") {
		t.Errorf("a refresh token that is good no more: %v", err)
	}
	if err := os.WriteFile(file, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := connect(); err != nil {
		t.Errorf("the file's new one: %v", err)
	}
}

// Given a provider whose refresh tokens are good once, then a worker and a command that share their file never use one
// twice, which some providers take for a theft; and where the file can't be written, the worker goes on by itself.
func TestRefreshTokensAreUsedOnce(t *testing.T) {
	for name, sharers := range map[string]int{"refresh": 2, strings.Repeat("r", 250): 1} { // too long for a file beside it
		s, p, dir := mailboxtest.Start(t), startProvider(t), t.TempDir()
		p.expires = 1 // so each connection needs another
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("refresh-0"), 0o600); err != nil {
			t.Fatal(err)
		}
		var all []mailbox.Address
		for range sharers {
			a, err := mailbox.ParseAddress(oauthURL(t, s, p, dir, "refresh-token-file="+file))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, a)
		}
		for i := range 6 {
			s.Token = fmt.Sprint("access-", i+1)
			box, err := mailbox.Open(t.Context(), mailbox.Options{Address: all[i%sharers], Timeout: 5 * time.Second})
			if err != nil {
				t.Fatalf("connection %d of %d: %v", i, sharers, err)
			}
			box.Close()
		}
		if p.old != 0 {
			t.Errorf("%d tokens were used a second time by %d", p.old, sharers)
		}
	}
}

func TestAnApplicationGetsInByItself(t *testing.T) {
	s, p := mailboxtest.Start(t), startProvider(t)
	s.Token = "access-1"
	if _, err := open(t, oauthURL(t, s, p, t.TempDir())); err != nil {
		t.Error(err)
	}
}

// Given a person who allows the access, then the refresh token is kept, for its owner alone.
func TestALoginKeepsTheRefreshToken(t *testing.T) {
	s, p, dir := mailboxtest.Start(t), startProvider(t), t.TempDir()
	file := filepath.Join(dir, "refresh")
	a, err := mailbox.ParseAddress(oauthURL(t, s, p, dir, "refresh-token-file="+file))
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	if err := a.Login(t.Context(), func(page, code string) { shown = page + " " + code }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if kept, _ := os.ReadFile(file); err != nil || info.Mode().Perm() != 0o600 || string(kept) != "refresh-1\n" ||
		shown != "https://id.example/device ABCD-EFGH" {
		t.Errorf("kept is %q of mode %v, shown was %q, %v", kept, info, shown, err)
	}
	if plain, err := mailbox.ParseAddress(s.URL()); err != nil || !errors.Is(plain.Login(t.Context(), func(string,
		string) {
	}), mailbox.ErrNoLogin) {
		t.Error("a mailbox with a password was logged in to")
	}
}

// Given a provider that sends whoever asks for a token elsewhere, then nobody goes there: the request holds secrets.
func TestARequestForATokenGoesNowhereElse(t *testing.T) {
	s, dir := mailboxtest.Start(t), t.TempDir()
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token": "access", "token_type": "Bearer", "expires_in": 3600}`)
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		moved := httptest.NewServer(http.RedirectHandler(other.URL+"/token", status))
		t.Cleanup(moved.Close)
		file := filepath.Join(dir, "refresh")
		if err := os.WriteFile(file, []byte("refresh-0"), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := mailbox.ParseAddress(oauthURL(t, s, startProvider(t), dir, "refresh-token-file="+file, "token-url="+moved.URL+"/token"))
		if err != nil {
			t.Fatal(err)
		}
		s.Token = "access"
		box, err := mailbox.Open(t.Context(), mailbox.Options{Address: a, Timeout: 5 * time.Second})
		if err == nil {
			box.Close()
			t.Errorf("%d: a token came from elsewhere", status)
		}
	}
	if elsewhere > 0 {
		t.Errorf("%d requests went elsewhere", elsewhere)
	}
}

func TestWrongOAuthParametersAreRefused(t *testing.T) {
	const u = "imaps://u@h?auth=oauth2"
	for query, want := range map[string]string{
		"&client-id=c&refresh-token-file=f":                               "needs provider",
		"&provider=yahoo&client-id=c&refresh-token-file=f":                "provider must be",
		"&provider=google&refresh-token-file=f":                           "needs client-id",
		"&provider=google&client-id=c&client-secret-file=f":               "needs refresh-token-file",
		"&provider=microsoft&client-id=c":                                 "needs refresh-token-file",
		"&provider=microsoft&client-id=c&refresh-token-file=f&colour=red": "parameter colour",

		"&provider=microsoft&client-id=c&client-certificate-file=f":                      "",
		"&provider=google&client-id=c&client-certificate-file=f":                         "needs refresh-token-file",
		"&provider=microsoft&client-id=c&client-certificate-file=f&client-secret-file=s": "exclude each other",

		"&provider=microsoft&client-id=c&client-secret-file=f&directory=d": "",
		"&provider=google&client-id=c&refresh-token-file=f":                "",
		"&token-url=https://id.example&client-id=c&refresh-token-file=f":   "",

		"&token-url=http://id.example&client-id=c&refresh-token-file=f":                               "token-url must be a URL that begins with https://",
		"&token-url=id.example&client-id=c&refresh-token-file=f":                                      "token-url must be",
		"&token-url=http://127.0.0.1.id.example&client-id=c&refresh-token-file=f":                     "token-url must be",
		"&provider=google&token-url=http://id.example&client-id=c&refresh-token-file=f":               "token-url must be",
		"&token-url=https://id.example&device-url=http://id.example&client-id=c&refresh-token-file=f": "device-url must be",
		"&token-url=http://127.0.0.1:80&device-url=http://localhost&client-id=c&refresh-token-file=f": "",
	} {
		_, err := mailbox.ParseAddress(u + query)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", query, err, want)
		}
	}
	if _, err := mailbox.ParseAddress("imaps://u:hush@h?client-id=c"); err == nil {
		t.Error("a client-id without auth=oauth2 was taken")
	}
}

// One command that is refused is no reason to leave a server, unless it wants to be left alone; a quota is about what was to be stored.
func TestRefusalsOfOneCommandAreTold(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("move: %w", &imap.Error{Type: imap.StatusResponseTypeNo, Text: "not now"}), true},
		{&imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeOverQuota, Text: "the folder is full"}, true},
		{&imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeLimit, Text: "later"}, false},
		{&imap.Error{Type: imap.StatusResponseTypeBad, Text: "what?"}, false},
		{&imap.Error{Type: imap.StatusResponseTypeBye, Text: "good bye"}, false},
		{errors.New("the connection broke"), false},
	} {
		if got := mailbox.Refused(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

// Servers that want to be left alone say so in many ways.
func TestThrottlingIsRecognized(t *testing.T) {
	no := func(code imap.ResponseCode, text string) error {
		return fmt.Errorf("search: %w", &imap.Error{Type: imap.StatusResponseTypeNo, Code: code, Text: text})
	}
	for _, c := range []struct {
		err  error
		want time.Duration
	}{
		{no("", "Request is throttled. Suggested Backoff Time: 299915 milliseconds"), 299915 * time.Millisecond},
		{no("", "Server Busy. Backoff time: 30 seconds"), 30 * time.Second},
		{no("", "Suggested Backoff Time: 2000000000 milliseconds"), time.Hour},
		{no("THROTTLED", "slow down"), 2 * time.Minute},
		{no("UNAVAILABLE", "later"), 2 * time.Minute},
		{no("", "Too many simultaneous connections. (Failure)"), 2 * time.Minute},
		{no("AUTHENTICATIONFAILED", "wrong password"), 0},
		{errors.New("throttled"), 0},
	} {
		if got, ok := mailbox.Throttled(c.err); got != c.want || ok != (c.want > 0) {
			t.Errorf("%v: got %s, %t", c.err, got, ok)
		}
	}
}
