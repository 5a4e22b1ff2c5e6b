package mailbox

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// signer authenticates an application by its certificate instead of a secret: to each request for a token it adds what
// the certificate's key signed, anew (RFC 7523, 2.2). It makes the requests, too.
type signer struct {
	client, endpoint string
	key              *rsa.PrivateKey
	thumbprint       [sha256.Size]byte // of the certificate
}

const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionTime is how long what was signed is good for.
	assertionTime = 5 * time.Minute
	// maxForm bounds a request for a token, in bytes.
	maxForm = 64 << 10
)

// newSigner reads a PEM file with an RSA key and its certificate. Its error shows nothing of what is in it.
func newSigner(file, client, endpoint string) (*signer, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(content, content)
	if err != nil {
		return nil, fmt.Errorf("%s must hold a certificate and its key, in PEM: %w", file, err)
	}
	key, ok := pair.PrivateKey.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a key that isn't RSA", file)
	}
	return &signer{client, endpoint, key, sha256.Sum256(pair.Certificate[0])}, nil
}

// RoundTrip makes a request. To one for a token it adds the assertion.
func (s *signer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.String() == s.endpoint && r.Body != nil {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxForm))
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, fmt.Errorf("read the request for a token: %w", err)
		}
		assertion, err := s.assertion(time.Now())
		if err != nil {
			return nil, err
		}
		added := url.Values{"client_assertion_type": {assertionType}, "client_assertion": {assertion}}
		form := string(body) + "&" + added.Encode()
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(form)), int64(len(form))
		r.GetBody = nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

// assertion is signed as Microsoft Entra wants it: PS256, the certificate named by its SHA-256.
func (s *signer) assertion(now time.Time) (string, error) {
	header, err := json.Marshal(map[string]string{
		"alg": "PS256", "typ": "JWT", "x5t#S256": base64.RawURLEncoding.EncodeToString(s.thumbprint[:]),
	})
	claims, err2 := json.Marshal(map[string]any{
		"aud": s.endpoint, "iss": s.client, "sub": s.client, "jti": rand.Text(),
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(assertionTime).Unix(),
	})
	signed := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(signed))
	signature, err3 := rsa.SignPSS(rand.Reader, s.key, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
	if err := errors.Join(err, err2, err3); err != nil {
		return "", fmt.Errorf("sign an assertion: %w", err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
