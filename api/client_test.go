package api

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestAClientsAddressIsWhatTrustedProxiesSay(t *testing.T) {
	trusted := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		proxies   proxies
		peer      string
		forwarded []string
		client    string
	}{
		"no proxy":                         {nil, "192.0.2.7:80", nil, "192.0.2.7"},
		"no trusted proxy":                 {nil, "192.0.2.7:80", []string{"198.51.100.1"}, "192.0.2.7"},
		"a stranger who says so":           {trusted, "192.0.2.7:80", []string{"10.0.0.1"}, "192.0.2.7"},
		"a proxy":                          {trusted, "10.0.0.1:80", []string{"192.0.2.7"}, "192.0.2.7"},
		"a proxy that says nothing":        {trusted, "10.0.0.1:80", nil, "10.0.0.1"},
		"two proxies":                      {trusted, "10.0.0.1:80", []string{"192.0.2.7, 10.0.0.2"}, "192.0.2.7"},
		"two headers":                      {trusted, "10.0.0.1:80", []string{"192.0.2.7", "10.0.0.2"}, "192.0.2.7"},
		"what the client put in front":     {trusted, "10.0.0.1:80", []string{"198.51.100.1, 10.0.0.9, 192.0.2.7"}, "192.0.2.7"},
		"all of them proxies":              {trusted, "10.0.0.1:80", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"with a port":                      {trusted, "10.0.0.1:80", []string{"192.0.2.7:4711"}, "192.0.2.7"},
		"IPv6":                             {trusted, "[fd00::1]:80", []string{"2001:db8::7"}, "2001:db8::7"},
		"IPv6 with a port":                 {trusted, "[fd00::1]:80", []string{"[2001:db8::7]:4711"}, "2001:db8::7"},
		"IPv6 in brackets":                 {trusted, "[fd00::1]:80", []string{"[2001:db8::7]"}, "2001:db8::7"},
		"IPv4 written as IPv6":             {trusted, "[::ffff:10.0.0.1]:80", []string{"::ffff:192.0.2.7"}, "192.0.2.7"},
		"nonsense ends it":                 {trusted, "10.0.0.1:80", []string{"192.0.2.7, unknown, 10.0.0.2"}, "10.0.0.2"},
		"a header that a client has empty": {trusted, "10.0.0.1:80", []string{""}, "10.0.0.1"},
		"no address at all":                {trusted, "@", []string{"192.0.2.7"}, "invalid IP"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
			if got := c.proxies.client(r).String(); got != c.client {
				t.Errorf("got %s, want %s", got, c.client)
			}
		})
	}
}

func TestOneNetworkIsOneStranger(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::1%eth0": "2001:db8:1:2::/64",
	} {
		if got := network(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}
