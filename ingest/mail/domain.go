package mail

import (
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// A domain can be written in the letters of its language or in ASCII (RFC 5891). Mail programs and servers write either: both are the
// same domain, and addresses in it the same addresses.

// registered is the domain of an address, or a domain, as it is registered: in small letters of ASCII, where it can be written so.
func registered(address string) string {
	return spelled(domainOf(address), idna.ToASCII)
}

// inASCII is an address with its domain as it is registered, in small letters.
func inASCII(address string) string {
	domain := domainOf(address)
	return strings.ToLower(strings.TrimSuffix(address, domain)) + spelled(domain, idna.ToASCII)
}

// spellings are the ways to write an address in small letters, as a project may have it.
func spellings(address string) []string {
	domain := domainOf(address)
	all := []string{strings.ToLower(address)}
	for _, one := range []func(string) (string, error){idna.ToASCII, idna.ToUnicode} {
		s := strings.ToLower(strings.TrimSuffix(address, domain)) + spelled(domain, one)
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// spelled is a domain in small letters and another spelling, or as it is where that can't be.
func spelled(domain string, to func(string) (string, error)) string {
	domain = strings.ToLower(domain)
	if other, err := to(domain); err == nil {
		return other
	}
	return domain
}
