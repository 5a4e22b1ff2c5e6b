package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/api/cursor"
	"tallyhouse/api/feedback"
	"tallyhouse/api/ratelimit"
	"tallyhouse/api/session"
	"tallyhouse/reader"
)

// Options say what the API needs. ClickHouse, Kafka and Environment are required.
type Options struct {
	// ClickHouse is a connection with the database of the tables set. Its read timeout bounds what a dead server can hold
	// up, and should be somewhat longer than QueryTimeout.
	ClickHouse reader.Conn
	// Control are connections for what must not wait for requests: health, access, the keys of cursors, and ending
	// statements; ClickHouse by default.
	Control reader.Conn
	// Requests is how many requests are worked on at the same time, each with up to StatementsPerRequest statements; 16 by
	// default. A quarter of them may be of one key or user, three quarters of one tenant.
	Requests int
	// Kafka are the options of a client of the cluster whose topics decide about access.
	Kafka []kgo.Opt
	// Feedback puts what clients say about the API on its topic; without it that is answered by 500.
	Feedback feedback.Sender
	// Check says why the database cannot be read by this binary, nil when it can; without it the database only has to
	// answer.
	Check func(context.Context) error
	// Environment is test or live: keys of the other one do not work.
	Environment string
	// BasePath goes before every path, like /ledger; "" for none.
	BasePath string
	// CORSOrigins may call the API from a browser; none by default.
	CORSOrigins []string
	// CursorKeyFile holds the keys that seal cursors; without it they are kept in the database.
	CursorKeyFile string
	// Issuer is whose session tokens are taken beside API keys; none by default.
	Issuer session.Issuer
	// RateLimit is how many requests of a key or user are answered in any window of time; without it there is no limit, of
	// failed logins neither.
	RateLimit ratelimit.Policy
	// RateStore counts the requests; in memory by default. It must have been made for RateLimit.
	RateStore RateStore
	// TrustedProxies are the networks of proxies that say in X-Forwarded-For where a request came from.
	TrustedProxies []netip.Prefix
	// QueryTimeout bounds the work on a request, its waiting and all its statements; 10 s by default.
	QueryTimeout time.Duration
	// Clock decides what today and the current month are in calculations, and nothing else; the machine's by default.
	Clock func() time.Time
	// AccessGapsAccepted is the instant up to which lost changes of users, memberships, keys and projects have been seen to;
	// gaps that were found later are a reason to answer nothing (docs/api.md#keys-and-access).
	AccessGapsAccepted time.Time
	// Log and Metrics take what happens; by default nothing is kept.
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

func (o *Options) setDefaults() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.QueryTimeout == 0 {
		o.QueryTimeout = 10 * time.Second
	}
	if o.Control == nil {
		o.Control = o.ClickHouse
	}
	if o.Requests == 0 {
		o.Requests = defaultRequests
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Check == nil {
		o.Check = func(context.Context) error { return nil }
	}
}

func (o *Options) validate() error {
	wrong := []error{o.Validate()}
	if o.ClickHouse == nil {
		wrong = append(wrong, errors.New("a connection to ClickHouse is missing"))
	}
	if len(o.Kafka) == 0 {
		wrong = append(wrong, errors.New("the options of the Kafka client are missing"))
	}
	return errors.Join(wrong...)
}

// Validate reports all that is wrong with the options, connections apart.
func (o *Options) Validate() error {
	var wrong []error
	if o.Environment != "test" && o.Environment != "live" {
		wrong = append(wrong, fmt.Errorf("--environment must be test or live, not %q", o.Environment))
	}
	if err := o.Issuer.Validate(); err != nil {
		wrong = append(wrong, err)
	}
	if o.RateLimit.Events < 0 {
		wrong = append(wrong, fmt.Errorf("--rate-limit must not be negative, but is %d", o.RateLimit.Events))
	}
	if o.RateLimit.Events > 0 && o.RateLimit.Window < time.Second {
		wrong = append(wrong, fmt.Errorf("the window of the rate limit must be a second at least, not %s", o.RateLimit.Window))
	}
	if o.BasePath != "" &&
		(!strings.HasPrefix(o.BasePath, "/") || strings.HasSuffix(o.BasePath, "/") ||
			strings.ContainsAny(o.BasePath, "<>?#% ")) {
		wrong = append(wrong, fmt.Errorf("--base-path must be like /ledger: a slash in front, none at the end, "+
			"none of <>?#%% and no space; not %q", o.BasePath))
	}
	for _, origin := range o.CORSOrigins {
		if u, err := url.Parse(origin); origin != "*" && (err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin) {
			wrong = append(wrong, fmt.Errorf("--cors-origin must be an origin like https://app.example.com, or *, not %q", origin))
		}
	}
	if o.CursorKeyFile != "" {
		if _, err := cursor.FromFile(o.CursorKeyFile); err != nil {
			wrong = append(wrong, fmt.Errorf("--cursor-key-file: %w", err))
		}
	}
	return errors.Join(wrong...)
}
