package mailbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"tallyhouse/schemas/loopback"
)

// provider is a service that hands out access tokens for mailboxes.
type provider struct {
	endpoint oauth2.Endpoint
	scopes   []string // of a user who has consented
	appScope string   // of an application by itself; "" where that isn't offered
}

// providers are those that are known by name; %s is the directory that a Microsoft mailbox belongs to.
var providers = map[string]provider{
	"google": {
		endpoint: oauth2.Endpoint{TokenURL: "https://oauth2.googleapis.com/token", DeviceAuthURL: "https://oauth2.googleapis.com/device/code"},
		scopes:   []string{"https://mail.google.com/"},
	},
	"microsoft": {
		endpoint: oauth2.Endpoint{
			TokenURL:      "https://login.microsoftonline.com/%s/oauth2/v2.0/token",
			DeviceAuthURL: "https://login.microsoftonline.com/%s/oauth2/v2.0/devicecode",
		},
		scopes:   []string{"https://outlook.office.com/IMAP.AccessAsUser.All", "offline_access"},
		appScope: "https://outlook.office365.com/.default",
	},
}

// oauth gets access tokens (RFC 6749): for a refresh token, or as an application by itself. Connections share it.
type oauth struct {
	clientID    string
	secretFile  string
	certFile    string // instead of a secret
	refreshFile string
	provider    string
	directory   string
	tokenURL    string
	deviceURL   string
	scope       string

	mutex   sync.Mutex
	token   *oauth2.Token
	refresh string // the newest one, while the file can't be written
}

// parameter takes one of the URL's; false for one that isn't its own.
func (o *oauth) parameter(name, value string) bool {
	to, known := map[string]*string{
		"client-id": &o.clientID, "client-secret-file": &o.secretFile, "client-certificate-file": &o.certFile,
		"refresh-token-file": &o.refreshFile, "provider": &o.provider, "directory": &o.directory,
		"token-url": &o.tokenURL, "device-url": &o.deviceURL, "scope": &o.scope,
	}[name]
	if known {
		*to = value
	}
	return known
}

// check completes the parameters; its error says what is wrong with them.
func (o *oauth) check() (wrong []error) {
	p, known := providers[o.provider]
	switch {
	case o.provider != "" && !known:
		wrong = append(wrong, fmt.Errorf("provider must be google or microsoft, not %q", o.provider))
	case o.provider == "" && o.tokenURL == "":
		wrong = append(wrong, errors.New("auth=oauth2 needs provider=google or microsoft, or token-url=URL"))
	case known:
		o.complete(p)
	}
	wrong = append(wrong, checkEndpoint("token-url", o.tokenURL), checkEndpoint("device-url", o.deviceURL))
	if o.clientID == "" {
		wrong = append(wrong, errors.New("auth=oauth2 needs client-id=ID"))
	}
	if o.secretFile != "" && o.certFile != "" {
		wrong = append(wrong, errors.New("client-secret-file and client-certificate-file exclude each other"))
	}
	if o.refreshFile == "" && (o.secretFile == "" && o.certFile == "" || known && p.appScope == "") {
		wrong = append(wrong, errors.New("auth=oauth2 needs refresh-token-file=FILE; "+
			"or, of an application by itself, client-secret-file=FILE or client-certificate-file=FILE"))
	}
	return wrong
}

// staysThere follows no redirect: a request for a token holds secrets, and would take them to wherever that says.
func staysThere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// checkEndpoint is nil when the application's secrets and the tokens may go to a URL, and when there is none.
func checkEndpoint(parameter, text string) error {
	u, err := url.Parse(text)
	if text == "" || err == nil && loopback.TakesSecrets(u) {
		return nil
	}
	return fmt.Errorf("%s must be a URL that begins with https:// (http:// only on this machine), not %q", parameter, text)
}

func (o *oauth) complete(p provider) {
	directory := o.directory
	if directory == "" {
		directory = "common"
	}
	fill := func(to *string, usual string) {
		if *to == "" {
			*to = strings.ReplaceAll(usual, "%s", directory)
		}
	}
	fill(&o.tokenURL, p.endpoint.TokenURL)
	fill(&o.deviceURL, p.endpoint.DeviceAuthURL)
	if o.refreshFile == "" {
		fill(&o.scope, p.appScope)
	} else {
		fill(&o.scope, strings.Join(p.scopes, " "))
	}
}

// tokenTime bounds each request for a token.
const tokenTime = 30 * time.Second

// access gives an access token that is still good for a while.
func (o *oauth) access(ctx context.Context) (string, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.token.Valid() {
		return o.token.AccessToken, nil
	}
	token, err := o.fetch(ctx)
	if err != nil {
		return "", fmt.Errorf("get an access token of %s: %w", o.tokenURL, err)
	}
	o.token = token
	return token.AccessToken, nil
}

func (o *oauth) fetch(ctx context.Context) (*oauth2.Token, error) {
	config, ctx, err := o.client(ctx)
	if err != nil {
		return nil, err
	}
	if o.refreshFile == "" {
		c := clientcredentials.Config{ClientID: config.ClientID, ClientSecret: config.ClientSecret, Scopes: config.Scopes,
			TokenURL: config.Endpoint.TokenURL, AuthStyle: config.Endpoint.AuthStyle}
		return c.Token(ctx)
	}
	refresh := o.refresh
	if refresh == "" { // each time: commands use the file, too
		if refresh, err = readSecret(o.refreshFile); err != nil {
			return nil, fmt.Errorf("refresh-token-file: %w (tallyhouse mail login makes one)", err)
		}
	}
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	if err != nil {
		o.refresh = "" // the file may hold another one by now
		if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.ErrorCode == "invalid_grant" {
			return nil, fmt.Errorf("%w (tallyhouse mail login gets another refresh token)", err)
		}
		return nil, err
	}
	if token.RefreshToken != "" && token.RefreshToken != refresh {
		if o.refresh = ""; writeSecret(o.refreshFile, token.RefreshToken) != nil {
			o.refresh = token.RefreshToken // until this process ends
		}
	}
	return token, nil
}

// client is this application, as the provider knows it, and the context that its requests are made in.
func (o *oauth) client(ctx context.Context) (*oauth2.Config, context.Context, error) {
	config := &oauth2.Config{
		ClientID: o.clientID, Scopes: strings.Fields(o.scope),
		Endpoint: oauth2.Endpoint{TokenURL: o.tokenURL, DeviceAuthURL: o.deviceURL},
	}
	if o.provider != "" || o.certFile != "" {
		config.Endpoint.AuthStyle = oauth2.AuthStyleInParams // finding out costs a request
	}
	client := &http.Client{Timeout: tokenTime, CheckRedirect: staysThere}
	var err error
	if o.certFile == "" {
		if config.ClientSecret, err = readSecret(o.secretFile); err != nil {
			err = fmt.Errorf("client-secret-file: %w", err)
		}
	} else {
		if client.Transport, err = newSigner(o.certFile, o.clientID, o.tokenURL); err != nil {
			err = fmt.Errorf("client-certificate-file: %w", err)
		}
	}
	return config, context.WithValue(ctx, oauth2.HTTPClient, client), err
}

// refused forgets a token that the mailbox's server didn't take.
func (o *oauth) refused() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.token = nil
}

// ErrNoLogin says that a mailbox has no refresh token, which is all that a login makes.
var ErrNoLogin = errors.New("no person logs in to it: that takes auth=oauth2 with a refresh-token-file in its URL")

// Login has a person allow the access to the mailbox (RFC 8628) and keeps the refresh token in the file of the URL. It
// calls show with the page to open and the code to enter there, and waits until that is done.
func (a Address) Login(ctx context.Context, show func(page, code string)) error {
	if a.oauth == nil || a.oauth.refreshFile == "" || a.oauth.deviceURL == "" {
		return fmt.Errorf("log in to %s: %w", a, ErrNoLogin)
	}
	if err := a.oauth.login(ctx, show); err != nil {
		return fmt.Errorf("log in to %s: %w", a, err)
	}
	return nil
}

func (o *oauth) login(ctx context.Context, show func(page, code string)) error {
	config, ctx, err := o.client(ctx)
	if err != nil {
		return err
	}
	device, err := config.DeviceAuth(ctx)
	if err != nil {
		return err
	}
	show(device.VerificationURI, device.UserCode)
	token, err := config.DeviceAccessToken(ctx, device)
	if err != nil {
		return err
	}
	if token.RefreshToken == "" {
		return errors.New("the provider gave no refresh token")
	}
	return writeSecret(o.refreshFile, token.RefreshToken)
}

// readSecret reads a file's only line; "" is the secret of no file.
func readSecret(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	content, err := os.ReadFile(file)
	return strings.TrimSpace(string(content)), err
}

// writeSecret replaces a file, whole or not at all.
func writeSecret(file, secret string) error {
	next, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = next.WriteString(secret + "\n")
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
