// Package login reads what the addresses of mail servers name: files with the password, and with the authorities that
// are trusted.
package login

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"
)

// Password reads the parameter password-file: all of the file but the ends of its last lines, as editors and mounted
// secrets have them.
func Password(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("password-file: %w", err)
	}
	password := strings.TrimRight(string(content), "\r\n")
	if password == "" {
		return "", fmt.Errorf("password-file: %s is empty", file)
	}
	return password, nil
}

// Authorities reads the parameter ca: certificates in PEM, which are trusted instead of the system's.
func Authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	all := x509.NewCertPool()
	if !all.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca: %s holds no PEM certificate", file)
	}
	return all, nil
}
