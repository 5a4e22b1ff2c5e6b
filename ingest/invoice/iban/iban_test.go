package iban

import (
	"strings"
	"testing"
)

func TestAccountsInTexts(t *testing.T) {
	cases := map[string]string{
		"IBAN AT61 1904 3002 3457 3201":                      "AT611904300234573201",
		"IBAN AT61 1904 3002 3457 3201 BIC BKAUATWW":         "AT611904300234573201",
		"CH4431999123000889012, DE89 3704 0044 0532 0130 00": "CH4431999123000889012 DE89370400440532013000",
		"AT611904300234573201 AT61 1904 3002 3457 3201":      "AT611904300234573201",
		"MT84 MALT 0110 0001 2345 MTLC AST0 01S":             "MT84MALT011000012345MTLCAST001S",
		"AT61 1904 3002 3457 3202":                           "",
		"AT62 1904 3002 3457 3201":                           "",
		"XAT61 1904":                                         "",
		"":                                                   "",
	}
	for text, want := range cases {
		if got := strings.Join(In(text), " "); got != want {
			t.Errorf("In(%q) = %q, want %q", text, got, want)
		}
	}
}
