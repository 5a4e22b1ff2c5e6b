// Package loopback knows which hosts are this machine: between it and itself nobody listens, so secrets may go there without
// encryption.
package loopback

import (
	"net"
	"net/url"
)

// Is reports whether a host, a name or an address without a port, is this machine.
func Is(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}

// TakesSecrets reports whether secrets may go to a URL: encrypted, or to this machine.
func TakesSecrets(u *url.URL) bool {
	return u.Hostname() != "" && (u.Scheme == "https" || u.Scheme == "http" && Is(u.Hostname()))
}
