// Package desk is the web application for people who mail invoices and look at figures (docs/desk.md): pages of HTML that the
// server writes, with little script.
//
// A screen is a route and a function from a visit to an answer; the visit knows who is there, what they may see and which language
// they read. Figures come from the API's own operations, asked in this process as the person who is signed in, so what somebody may
// not see in the API is not here either.
package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api/access"
	"tallyhouse/api/desk/confirmation"
	"tallyhouse/api/desk/language"
	"tallyhouse/api/desk/signin"
	"tallyhouse/api/ratelimit"
	"tallyhouse/api/serving"
	"tallyhouse/api/session"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/loopback"
)

// Bounds of the HTTP server.
const (
	maxHeaderBytes    = 32 << 10
	maxForm           = 1 << 20 // bytes of what a form sends
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = time.Minute
	idleTimeout       = 2 * time.Minute
	stopTimeout       = 20 * time.Second
	providerPause     = time.Minute // between questions to a provider that doesn't answer as it should
)

// API is what the desk needs of the read API (api.Server).
type API interface {
	// Ask answers GET target for a person who has signed in.
	Ask(ctx context.Context, person session.User, target string) (status int, body []byte)
	// Caller is the person and what they may see at this moment.
	Caller(person session.User) (*access.Caller, error)
	// Admit counts a request of the person in their rate limit and waits until it may be worked on, which it is until leave is called.
	// Of requests that hold a file in memory there are fewer. In the context that it returns, what is read of the database waits for
	// its turn among what is read for others, where Sources and Inbox do so. It is refused as problem.TooManyRequests.
	Admit(ctx context.Context, person session.User, holdsFile bool) (admitted context.Context, leave func(), err error)
	// As is a context in which what is read of the database waits for its turn as what is read for the person, where Sources and Inbox do
	// so; nobody has no tenant and no id.
	As(ctx context.Context, person session.User) context.Context
	// Today is the date in Vienna that figures are of at this moment.
	Today() calendar.Date
}

// Options say what the desk needs. API, Sources and URL are required, and a way to sign in.
type Options struct {
	API API
	// Sources are what figures are made of that the API doesn't list.
	Sources Sources
	// URL is the desk's address as browsers know it, like https://desk.example.com.
	URL string
	// Keys seal sessions: the first seals, all of them open. Without any, a key is drawn, and sessions end with the process.
	Keys [][]byte
	// Client is how the desk is known at an OpenID Connect provider.
	Client signin.Client
	// Codes sign in by codes that work once.
	Codes *signin.Codes
	// Inbox is what was read of mails; without one there is no inbox.
	Inbox Inbox
	// Originals are where mails and their files are kept; without them they can't be downloaded.
	Originals Originals
	// Publisher sends what people confirm of mails and ask for; without one there is neither.
	Publisher confirmation.Publisher
	// MaxAmount is the largest amount that is taken, in minor units; it is required beside a Publisher.
	MaxAmount int64
	// Clock is the machine's by default.
	Clock func() time.Time
	// Log and Metrics take what happens; by default nothing is kept.
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Validate reports all that is wrong with the options, the API and the sources apart.
func (o *Options) Validate() error {
	wrong := []error{o.Client.Validate()}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/"):
		wrong = append(wrong, fmt.Errorf("--desk-url must be a URL like https://desk.example.com, not %q", o.URL))
	case !loopback.TakesSecrets(u):
		wrong = append(wrong, fmt.Errorf("--desk-url must begin with https:// (http:// only on this machine), not %q", o.URL))
	}
	if o.Client == (signin.Client{}) && o.Codes == nil {
		wrong = append(wrong,
			errors.New("nobody can sign in at the desk: name a provider (--oidc-issuer) and the desk's client id there (--oidc-client-id)"))
	}
	if len(o.Keys) > 0 {
		_, err := signin.NewCookies(o.Keys, true)
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// Desk is the web application.
type Desk struct {
	api       API
	sources   Sources
	inbox     Inbox                  // nil without one
	originals Originals              // nil without them
	publisher confirmation.Publisher // nil without one
	asking    *ratelimit.Memory
	// confirmations take what people confirm; nil where nothing can be corrected.
	confirmations *confirmation.Service
	maxAmount     int64
	streams       streams
	news          news
	cookies       *signin.Cookies
	provider      *signin.Provider // nil without one
	codes         *signin.Codes    // nil without them
	languages     *language.Languages
	templates     *templates
	assets        *assets
	clock         func() time.Time
	log           *slog.Logger
	guard         *serving.Guard
	handler       http.Handler
	ending        chan struct{} // closed when the server is to end: what streams leaves then
}

// New makes the desk. All that is wrong with the options is reported at once.
func New(o Options) (*Desk, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("the desk cannot start: %w", err)
	}
	if len(o.Keys) == 0 {
		o.Keys = [][]byte{signin.NewKey()}
	}
	address, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("read the desk's address: %w", err)
	}
	d := &Desk{api: o.API, sources: o.Sources, inbox: o.Inbox, originals: o.Originals, publisher: o.Publisher, asking: newAskingRule(o.Clock),
		codes: o.Codes, clock: o.Clock, log: o.Log, ending: make(chan struct{})}
	if d.cookies, err = signin.NewCookies(o.Keys, address.Scheme == "https"); err != nil {
		return nil, err
	}
	if o.Inbox != nil && o.Publisher != nil {
		d.confirmations, d.maxAmount = confirmation.New(o.Inbox, o.Publisher, o.Clock), o.MaxAmount
	}
	if o.Client != (signin.Client{}) {
		d.provider = signin.NewProvider(o.Client, o.URL, d.cookies)
	}
	if d.languages, err = language.Load(); err != nil {
		return nil, err
	}
	if d.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	if d.templates, err = loadTemplates(d.languages, d.assets); err != nil {
		return nil, err
	}
	handler, err := d.routes(d.screens())
	if err != nil {
		return nil, err
	}
	if d.guard, err = serving.NewGuard("desk", o.Log, o.Metrics, d.apologize); err != nil {
		return nil, err
	}
	d.handler = d.guard.Handler(handler)
	return d, nil
}

// screens are all that people see after they have signed in.
func (d *Desk) screens() []route {
	return slices.Concat(d.figures(), d.mails(), d.requests())
}

// Handler answers requests.
func (d *Desk) Handler() http.Handler { return d.handler }

// Run serves on the listener until the context ends, then lets requests in flight finish.
func (d *Desk) Run(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	asking.Go(func() { d.askProvider(ctx) })
	defer asking.Wait()
	defer stop()
	server := &http.Server{
		Handler: d.handler, MaxHeaderBytes: maxHeaderBytes, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(d.ending) }))
	return serving.Until(ctx, server, listener, stopTimeout)
}

// askProvider asks the provider until it has answered once: so the log says what is wrong with it before somebody wants to sign in.
func (d *Desk) askProvider(ctx context.Context) {
	if d.provider == nil {
		return
	}
	again := time.NewTicker(providerPause)
	defer again.Stop()
	for {
		err := d.provider.Ask(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		d.log.Error("nobody can sign in: the provider can't be used", "error", err)
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}
