package loopback_test

import (
	"net/url"
	"testing"

	"tallyhouse/schemas/loopback"
)

// Given hosts, then those alone are this machine that can be no other one: a name or an address that looks like one of its own isn't.
func TestThisMachineIsNoOther(t *testing.T) {
	for _, host := range []string{"localhost", "127.0.0.1", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"} {
		if !loopback.Is(host) {
			t.Errorf("%s is another machine", host)
		}
	}
	for _, host := range []string{
		"", "localhost.evil.example", "localhost.", "127.0.0.1.evil.example", "127.0.0.1:80", "[::1]", "evil.example", "0.0.0.0", "::", "10.0.0.1",
		"128.0.0.1", "::2", "127.1", "2130706433", "0x7f.0.0.1", "::ffff:10.0.0.1", "fe80::1", "127.0.0.1@evil.example",
	} {
		if loopback.Is(host) {
			t.Errorf("%s is this machine", host)
		}
	}
}

// Given URLs, then secrets go only where they are encrypted, or where they don't leave this machine.
func TestWhereSecretsMayGo(t *testing.T) {
	for text, want := range map[string]bool{
		"https://id.example.com/token": true, "https://10.0.0.1:8443": true, "http://localhost:8080/token": true, "http://127.0.0.1/": true,
		"http://[::1]:80/": true, "http://id.example.com/token": false, "http://localhost.evil.example/": false,
		"http://127.0.0.1@evil.example/": false, "ftp://localhost/": false, "id.example.com/token": false,
		"https:///token": false, "https://:443/": false, "": false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := loopback.TakesSecrets(u); got != want {
			t.Errorf("%q takes secrets: %v", text, got)
		}
	}
}
