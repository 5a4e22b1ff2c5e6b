package loopback_test

import (
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
