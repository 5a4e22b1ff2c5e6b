package mail

import (
	"fmt"
	"slices"
	"strings"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
)

// maxHops is how many servers a mail may have passed: one that passed more goes in circles.
const maxHops = 50

// automatic gives the reason when a mail was written by a program that answers mails, and by nobody who sends invoices
// (RFC 3834, RFC 3464). Auto-generated alone is none: programs send invoices.
func automatic(h message.Header) string {
	if n := len(h.All("Received")); n > maxHops {
		return fmt.Sprintf("it passed %d servers, so it goes in circles", n)
	}
	if value, _ := message.Structured(h.Get("Auto-Submitted")); value == "auto-replied" {
		return "it is an automatic reply (Auto-Submitted: auto-replied)"
	}
	for _, field := range []string{"X-Autoreply", "X-Autorespond"} {
		if h.Get(field) != "" {
			return "it is an automatic reply (" + field + ")"
		}
	}
	if strings.EqualFold(strings.TrimSpace(h.Get("Precedence")), "auto_reply") {
		return "it is an automatic reply (Precedence: auto_reply)"
	}
	kind, parameters := message.Structured(h.Get("Content-Type"))
	if report := strings.ToLower(parameters["report-type"]); kind == "multipart/report" &&
		(report == "delivery-status" || report == "disposition-notification") {
		return "it is a report about another mail (" + report + ")"
	}
	return ""
}

// trusted is what the mailbox's own servers wrote: each puts its fields above those that were there.
func trusted(h message.Header, s mailbox.Senders) message.Header {
	return h.Above("Received", max(1, s.Hops))
}

// disallowed gives the reason when the sender of a mail may not send invoices.
func disallowed(h message.Header, s mailbox.Senders) string {
	from := h.Addresses("From")
	if (s.AuthServer != "" || len(s.Allowed) > 0) && !h.Whole("From") {
		return "its header is too long, or an address in From, so that not all senders are known"
	}
	if s.AuthServer != "" {
		if len(from) != 1 {
			return fmt.Sprintf("it has %d senders in From, so no verdict about one counts", len(from))
		}
		verdict := dmarc(h, s.AuthServer)
		if verdict.word != "pass" {
			return fmt.Sprintf("%s says dmarc=%s about the sender %s", s.AuthServer, verdict.word, from[0])
		}
		if !verdict.isAbout(from[0]) {
			return fmt.Sprintf("%s says dmarc=pass about %s, not about the sender %s", s.AuthServer, verdict.domain, from[0])
		}
	}
	if len(s.Allowed) == 0 {
		return ""
	}
	if len(from) == 0 {
		return "it names no sender in From"
	}
	for _, address := range from {
		if !allowed(address, s.Allowed) {
			return fmt.Sprintf("the sender %s is not among those that are allowed", address)
		}
	}
	return ""
}

// allowed reports whether an address is among addresses and domains.
func allowed(address string, among []string) bool {
	address, domain := inASCII(address), registered(address)
	return slices.ContainsFunc(among, func(one string) bool {
		one = inASCII(one)
		return one == address || one == domain
	})
}

// verdict is what a server found about the sender of a mail.
type verdict struct {
	word   string // "none" without one
	domain string // of the sender that was looked at; "" when the server doesn't say
}

// isAbout reports whether the verdict is about a sender: servers are known that look at the first address of several.
func (v verdict) isAbout(sender string) bool {
	return v.domain == "" || registered(v.domain) == registered(sender)
}

// vouched is what a server says of the one sender of a mail: "none" where there are several, or may be, or where it is about another.
func vouched(h message.Header, server string) string {
	from, v := h.Addresses("From"), dmarc(h, server)
	if len(from) != 1 || !h.Whole("From") || !v.isAbout(from[0]) {
		return "none"
	}
	return v.word
}

// dmarc is the verdict of a server in its topmost Authentication-Results (RFC 8601). A server takes away those that claim to be its
// own, and writes its own above what it was given.
func dmarc(h message.Header, server string) verdict {
	for _, value := range h.All("Authentication-Results") {
		results := strings.Split(bare(value), ";")
		name, _, _ := strings.Cut(strings.TrimSpace(results[0]), " ") // a version may follow
		if !strings.EqualFold(name, server) {
			continue
		}
		for _, result := range results[1:] {
			method, rest, _ := strings.Cut(strings.TrimSpace(result), "=")
			if strings.EqualFold(strings.TrimSpace(method), "dmarc") {
				return verdictOf(strings.Fields(rest))
			}
		}
		break
	}
	return verdict{word: "none"}
}

// verdictOf reads the word of a result, and its properties behind it.
func verdictOf(parts []string) (v verdict) {
	for i, part := range parts {
		name, value, _ := strings.Cut(strings.ToLower(part), "=")
		switch {
		case i == 0:
			v.word = strings.ToLower(part)
		case name == "header.from" && v.domain == "":
			v.domain = value
		}
	}
	return v
}

// bare drops comments and quoted strings: a sender chooses what stands in both, such as the address of the envelope.
func bare(s string) string {
	depth := 0
	quoted, escaped := false, false
	return strings.Map(func(r rune) rune {
		inside := depth > 0 || quoted
		switch {
		case escaped:
			escaped = false
		case r == '\\' && inside:
			escaped = true
		case quoted:
			quoted = r != '"'
		case r == '(':
			depth++
			return -1
		case r == ')' && depth > 0:
			depth--
		case r == '"' && depth == 0:
			quoted = true
			return -1
		}
		if inside {
			return -1
		}
		return r
	}, s)
}
