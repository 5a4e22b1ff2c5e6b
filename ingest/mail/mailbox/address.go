// Package mailbox reads one mailbox of an IMAP server and marks the mails in it. It addresses mails by UID alone, waits
// for no answer longer than a bound, and loses nothing: a mail is removed only once its copy is in the folder of done
// ones.
package mailbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"tallyhouse/ingest/mail/login"
	"tallyhouse/schemas/loopback"
)

// Senders say who may send invoices to a mailbox. The zero value allows everybody.
type Senders struct {
	Allowed []string // addresses and domains, in lower case; empty: any
	// AuthServer is the name under which the mailbox's server writes Authentication-Results; mails without its
	// dmarc=pass are not allowed.
	AuthServer string
	PerHour    int // mails of a sender; 0: any number
	// Hops is how many servers of the mailbox's owner a mail passes, each of which writes a Received; default 1.
	Hops int
}

// Address is where a mailbox is and how to log in there. Its String has no password.
type Address struct {
	Host    string // host:port
	User    string
	Mailbox string
	Tenant  string // for whom its mails are; "" when the address doesn't say
	Senders Senders

	password     string
	passwordFile string
	bearer       bool   // log in by XOAUTH2: the password is an access token
	oauth        *oauth // which gives the token; nil: it's the password
	security     security
	tls          *tls.Config
}

type security uint8

const (
	implicitTLS  security = iota
	startTLS              // required, but on this machine
	noEncryption          // asked for
)

// ParseAddress reads an address like imaps://user:password@host:port/Mailbox?tenant=demo. Its error never shows it.
//
// imaps is TLS from the beginning, imap is STARTTLS. Parameters: tenant; auth=xoauth2; password-file=F, read at each
// login, so that a token can be renewed; auth=oauth2 with provider and others; ca=F, a PEM file with the authorities to
// trust instead of the system's; tls=off.
func ParseAddress(s string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil {
		return Address{}, errors.New("the mailbox is no URL like imaps://user:password@host/Mailbox " +
			"(characters such as @ / : % in user and password are written as %40 %2F %3A %25)")
	}
	a := Address{User: u.User.Username(), Mailbox: strings.TrimPrefix(u.Path, "/")}
	var wrong []error
	port := "993"
	switch u.Scheme {
	case "imaps":
	case "imap":
		port, a.security = "143", startTLS
	default:
		wrong = append(wrong, fmt.Errorf("its scheme must be imaps or imap, not %q", u.Scheme))
	}
	if given := u.Port(); given != "" {
		port = given
	}
	if u.Hostname() == "" {
		wrong = append(wrong, errors.New("it has no host"))
	}
	a.Host = net.JoinHostPort(u.Hostname(), port)
	if a.Mailbox == "" {
		a.Mailbox = "INBOX"
	}
	if a.User == "" {
		wrong = append(wrong, errors.New("it has no user"))
	}
	a.password, _ = u.User.Password()
	wrong = append(wrong, a.parameters(u.Query())...)
	if a.password == "" && a.passwordFile == "" && a.oauth == nil {
		wrong = append(wrong, errors.New("it has neither a password nor a password-file"))
	}
	for i, err := range wrong {
		if err != nil {
			wrong[i] = fmt.Errorf("mailbox %s: %w", a, err)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return Address{}, err
	}
	return a, nil
}

func (a *Address) parameters(query url.Values) (wrong []error) {
	a.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	tokens := &oauth{}
	for name := range query {
		value := query.Get(name)
		switch {
		case name == "tenant" && value != "":
			a.Tenant = value
		case name == "auth" && value == "xoauth2":
			a.bearer = true
		case name == "auth" && value == "oauth2":
			a.bearer, a.oauth = true, tokens
		case name == "auth" && value == "login":
		case name == "password-file" && value != "":
			a.passwordFile = value
			_, err := login.Password(value)
			wrong = append(wrong, err)
		case name == "allow" && value != "":
			for _, allowed := range query[name] {
				a.Senders.Allowed = append(a.Senders.Allowed, strings.ToLower(strings.TrimSpace(allowed)))
			}
		case name == "dmarc" && value != "":
			a.Senders.AuthServer = value
		case name == "per-hour":
			wrong = append(wrong, positive(name, value, &a.Senders.PerHour))
		case name == "hops":
			wrong = append(wrong, positive(name, value, &a.Senders.Hops))
		case name == "tls" && value == "off" && a.security == startTLS:
			a.security = noEncryption
		case name == "ca" && value != "":
			var err error
			a.tls.RootCAs, err = login.Authorities(value)
			wrong = append(wrong, err)
		case query.Get("auth") == "oauth2" && value != "" && tokens.parameter(name, value):
		default:
			wrong = append(wrong, fmt.Errorf("parameter %s must be one of tenant=ID, auth=login, xoauth2 or oauth2, "+
				"password-file=FILE, ca=FILE, tls=off (with imap), allow=ADDRESS or DOMAIN, dmarc=SERVER, per-hour=N, hops=N", name))
		}
	}
	if a.oauth != nil {
		wrong = append(wrong, tokens.check()...)
	}
	return wrong
}

func positive(name, value string, to *int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return fmt.Errorf("%s must be a number above zero, not %q", name, value)
	}
	*to = n
	return nil
}

// String is user@host:port/Mailbox.
func (a Address) String() string { return a.User + "@" + a.Host + "/" + a.Mailbox }

// GoString is String: a password is never printed.
func (a Address) GoString() string { return a.String() }

// secret is the password or token, read anew where it stands in a file or comes from a provider.
func (a Address) secret(ctx context.Context) (string, error) {
	if a.oauth != nil {
		return a.oauth.access(ctx)
	}
	if a.passwordFile == "" {
		return a.password, nil
	}
	return login.Password(a.passwordFile)
}

// local reports whether the server is on this machine.
func (a Address) local() bool {
	host, _, _ := net.SplitHostPort(a.Host)
	return loopback.Is(host)
}
