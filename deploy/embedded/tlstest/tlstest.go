// Package tlstest gives tests certificates of servers at 127.0.0.1.
package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificate is a server's certificate, signed by itself.
type Certificate struct {
	tls.Certificate
	CA  string // the PEM file of the authority that signed it
	Key string // the PEM file of its key
}

// New makes a certificate, with whatever change a test wants before it is signed; nil for none.
func New(t testing.TB, change func(*x509.Certificate)) Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "server"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return Certificate{
		Certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		CA:          written(t, filepath.Join(dir, "ca.pem"), "CERTIFICATE", der),
		Key:         written(t, filepath.Join(dir, "key.pem"), "PRIVATE KEY", secret),
	}
}

// Config is a server's that shows the certificate.
func (c Certificate) Config() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c.Certificate}, MinVersion: tls.VersionTLS12}
}

// Trusting is a client's that trusts the certificate.
func (c Certificate) Trusting(t testing.TB) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(c.CA)
	authorities := x509.NewCertPool()
	if err != nil || !authorities.AppendCertsFromPEM(pem) {
		t.Fatalf("%s: %v", c.CA, err)
	}
	return &tls.Config{RootCAs: authorities}
}

func written(t testing.TB, path, kind string, der []byte) string {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, text, 0o644); err != nil { // a server may run as another user
		t.Fatal(err)
	}
	return path
}
