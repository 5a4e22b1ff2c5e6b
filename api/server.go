// Package api is the read API over HTTP (docs/api.md).
//
// An operation is a value: its path, its parameters, what it returns and how it is answered. Handlers return values;
// one place writes responses, one turns errors into problem documents, one keeps the order of the checks.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"tallyhouse/api/access"
	"tallyhouse/api/agents"
	"tallyhouse/api/cursor"
	"tallyhouse/api/feedback"
	"tallyhouse/api/pages"
	"tallyhouse/api/problem"
	"tallyhouse/api/ratelimit"
	"tallyhouse/api/serving"
	"tallyhouse/api/session"
	"tallyhouse/reader"
	"tallyhouse/schemas/asyncapi"
)

// Bounds of the HTTP server.
const (
	maxHeaderBytes    = 32 << 10
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	writeGrace        = 30 * time.Second // beyond the time that a query may take
	shutdownTimeout   = 20 * time.Second
	compressFrom      = 1024 // bytes
	retryEvery        = time.Second
	defaultRequests   = 16
	defaultThreads    = 2 // of the database, until it has said how many it has
	refusalPause      = time.Second
	maxWaiting        = 64        // requests of one key or user
	maxAllWaiting     = 1000      // requests
	maxBodies         = 256 << 20 // bytes of all bodies that are being sent
	sendingOverhead   = 1 << 20   // bytes that a response takes beside its body while it is being sent, most of them to compress it
	largeShares       = 2         // requests of different tenants
	pageShare         = 4         // how many pages of people are made, for each request that is worked on: most wait for those
	runningFiles      = 8         // files that people are sent at the same time, each of which is in memory
	smallBody         = 8 << 20   // bytes of a body with a small share
	maxPageBody       = 20 << 20  // bytes of a page, which is cut
	maxBody           = 64 << 20  // bytes of what cannot be cut
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

// patience is how long the HTTP server waits for its clients.
type patience struct {
	header, request time.Duration // from the first byte of a request until they have been read
	response        time.Duration // from then until the response has been read
	idle            time.Duration // for the next request on a connection
	stop            time.Duration // for responses, when it is to end
}

// StatementsPerRequest is how many statements of one request run at the same time at most.
const StatementsPerRequest = 3

// Server is the API. It answers as soon as it listens, and is ready when it knows who may see what.
type Server struct {
	small       share
	large       share
	control     *reader.Reader // on connections that no request waits for
	admission   *admission
	statements  *statementQueue
	most        int // statements at the same time, however many threads the database has
	refusals    refusals
	feedback    *feedback.Log     // nil without a sender
	sessions    *session.Verifier // nil without an issuer
	ratePolicy  ratelimit.Policy
	rates       RateStore // nil without a limit
	ratesAway   atomic.Bool
	logins      *ratelimit.Memory
	proxies     proxies
	access      *access.Follower
	cursors     *cursor.Ring
	database    probe
	check       func(context.Context) error
	operations  []operation
	routes      *routes
	exports     *routes
	slots       slots        // of exports
	agents      http.Handler // of messages
	messages    *admission   // of agents, beside that of the requests that their tools make
	pages       *admission   // of people, beside that of what they ask
	files       *admission   // that people are sent
	origins     []string     // whose pages may call the API
	description []byte       // the OpenAPI document
	events      []byte       // the AsyncAPI document
	environment string
	basePath    string
	timeout     time.Duration
	clock       func() time.Time
	patience    patience
	handler     http.Handler
	guard       *serving.Guard
	buffers     buffers
	kept        *keptAnswers
	metrics     *metrics
	log         *slog.Logger
}

// New makes the API; Run lets it work. All that is wrong with the options is reported at once.
func New(o Options) (*Server, error) {
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
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("the API cannot start: %w", err)
	}
	control := reader.New(o.Control, o.Control, o.QueryTimeout)
	requests := reader.New(o.ClickHouse, o.Control, o.QueryTimeout)
	s := &Server{
		small:   share{reader: requests.Small(), maxPage: smallBody, maxBody: smallBody},
		large:   share{reader: requests, maxPage: maxPageBody, maxBody: maxBody, cuts: true},
		control: control,
		admission: newAdmission(limits{running: o.Requests, perTenant: max(1, o.Requests*3/4), perPrincipal: max(1, o.Requests/4),
			waiting: maxWaiting, allWaiting: maxAllWaiting, large: largeShares, bytes: maxBodies}),
		statements:  newStatementQueue(forThreads(defaultThreads, o.Requests*StatementsPerRequest), time.Now),
		most:        o.Requests * StatementsPerRequest,
		refusals:    refusals{pause: refusalPause},
		ratePolicy:  o.RateLimit,
		logins:      ratelimit.NewMemory(ratelimit.Policy{Events: loginsPerMinute, Window: time.Minute}, maxCountedKeys, time.Now),
		proxies:     o.TrustedProxies,
		access:      access.NewFollower(control, o.Kafka, o.AccessGapsAccepted, o.Log),
		cursors:     cursor.FromStore(control),
		check:       o.Check,
		operations:  operations(),
		environment: o.Environment,
		basePath:    o.BasePath,
		timeout:     o.QueryTimeout,
		patience: patience{header: readHeaderTimeout, request: readTimeout, response: o.QueryTimeout + writeGrace,
			idle: idleTimeout, stop: shutdownTimeout},
		clock:   o.Clock,
		origins: o.CORSOrigins,
		messages: newAdmission(limits{running: max(1, o.Requests/agentShare), perTenant: max(1, o.Requests*3/4/agentShare),
			perPrincipal: max(1, o.Requests/4/agentShare), waiting: maxWaiting, allWaiting: maxAllWaiting, bytes: maxBodies / agentShare}),
		pages: newAdmission(limits{running: o.Requests * pageShare, perTenant: max(1, o.Requests*3/4) * pageShare,
			perPrincipal: max(1, o.Requests/4) * pageShare, waiting: maxWaiting, allWaiting: maxAllWaiting, bytes: maxBodies}),
		files: newAdmission(limits{running: runningFiles, perTenant: runningFiles * 3 / 4, perPrincipal: runningFiles / 4, waiting: maxWaiting,
			allWaiting: maxAllWaiting, bytes: maxBodies}),
		kept: newKeptAnswers(maxKept, maxKeptOfTenant),
		log:  o.Log,
	}
	var err error
	if o.Issuer != (session.Issuer{}) {
		if s.sessions, err = session.NewVerifier(o.Issuer, time.Now, o.Log); err != nil {
			return nil, err
		}
	}
	if o.Feedback != nil {
		s.feedback = feedback.NewLog(o.Kafka, o.Feedback, time.Now)
	}
	if s.ratePolicy.Events > 0 {
		if s.rates = o.RateStore; s.rates == nil {
			s.rates = ratelimit.NewMemory(s.ratePolicy, maxCountedKeys, time.Now)
		}
	}
	s.routes = newRoutes(s.operations)
	s.exports = newRoutes(exportOperations())
	if o.CursorKeyFile != "" {
		if s.cursors, err = cursor.FromFile(o.CursorKeyFile); err != nil {
			return nil, err
		}
	}
	if s.description, err = describe(s.operations, s.basePath, s.ratePolicy); err != nil {
		return nil, err
	}
	if s.events, err = asyncapi.Document(); err != nil {
		return nil, err
	}
	if s.metrics, err = newMetrics(o.Metrics, s.access, s.sessions); err != nil {
		return nil, fmt.Errorf("register the metrics of the API: %w", err)
	}
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.EnableZstd(true))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	if s.guard, err = serving.NewGuard("api", o.Log, o.Metrics, brokenOff); err != nil {
		return nil, err
	}
	s.agents = agents.Handler(s.agentTools(), pages.Version(), s.guard.Handler(s))
	s.handler = s.guard.Handler(s.cors(compress(s)))
	return s, nil
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
		wrong = append(wrong, fmt.Errorf("the environment must be test or live, not %q", o.Environment))
	}
	if err := o.Issuer.Validate(); err != nil {
		wrong = append(wrong, err)
	}
	if o.RateLimit.Events < 0 || o.RateLimit.Events > 0 && o.RateLimit.Window < time.Second {
		wrong = append(wrong, fmt.Errorf("the rate limit cannot be %d requests in %s", o.RateLimit.Events, o.RateLimit.Window))
	}
	if o.BasePath != "" &&
		(!strings.HasPrefix(o.BasePath, "/") || strings.HasSuffix(o.BasePath, "/") ||
			strings.ContainsAny(o.BasePath, "<>?#% ")) {
		wrong = append(wrong, fmt.Errorf("the base path must begin with a slash and not end with one, like /ledger, but is %q", o.BasePath))
	}
	if o.CursorKeyFile != "" {
		if _, err := cursor.FromFile(o.CursorKeyFile); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// Handler answers requests. It is the whole API; Run only lets it know what it needs, and listens.
func (s *Server) Handler() http.Handler { return s.handler }

// Ready is nil when requests can be answered, and says otherwise what is missing.
func (s *Server) Ready() error {
	_, err := s.access.Store()
	if !s.cursors.Loaded() {
		err = errors.Join(err, errors.New("the keys of cursors have not been loaded"))
	}
	return errors.Join(err, s.database.failed())
}

// Run serves on the listener until the context ends, then lets requests in flight finish.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.patience.header,
		ReadTimeout:       s.patience.request,
		WriteTimeout:      s.patience.response,
		IdleTimeout:       s.patience.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { s.Follow(ctx); return nil })
	work.Go(func() error { return serving.Until(ctx, server, listener, s.patience.stop) })
	return work.Wait()
}

// Follow keeps what the API knows up to date until the context ends. Run does it by itself.
func (s *Server) Follow(ctx context.Context) {
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { s.access.Run(ctx); return nil })
	work.Go(func() error { s.loadCursorKeys(ctx); return nil })
	work.Go(func() error { s.watchDatabase(ctx); return nil })
	if s.sessions != nil {
		work.Go(func() error { s.sessions.Run(ctx); return nil })
	}
	_ = work.Wait() // neither fails
}

// brokenOff answers a request where even what writes answers has failed.
func brokenOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", typeProblem)
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = w.Write((&problem.Error{Kind: problem.InternalError}).Append(nil, w.Header().Get(serving.RequestID))) // the client may have left
}

// probe is what the database said last, and whether it was ever found to be right.
type probe struct {
	mu    sync.Mutex
	last  error
	right bool
}

func (p *probe) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.right = err, p.right || err == nil
}

var errNotYetRight = errors.New("the database has not been found right yet")

// neverRight is nil once the database has been found right. Until then it may be another one than was meant, or one shard
// of several, and nothing that it says is an answer.
func (p *probe) neverRight() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.right {
		return nil
	}
	return errors.Join(errNotYetRight, p.last)
}

// failed is nil when the database was found right at the last look.
func (p *probe) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil && !p.right { // it was not looked at yet
		return errNotYetRight
	}
	return p.last
}

// watchDatabase asks the database whether it answers and can be read, again and again. Once it could be, requests are sent
// to it all the same: readiness alone hangs on this.
func (s *Server) watchDatabase(ctx context.Context) {
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		threads, err := s.control.Threads(ctx)
		if err != nil {
			err = fmt.Errorf("the database does not answer: %w", err)
		} else {
			s.statements.allow(forThreads(threads, s.most))
			err = s.check(ctx)
		}
		s.database.note(err)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (s *Server) loadCursorKeys(ctx context.Context) {
	_ = retry.Constant(ctx, retryEvery, func(ctx context.Context) error {
		err := s.cursors.Load(ctx)
		if err != nil {
			s.log.Warn("the keys of cursors could not be loaded", "error", err)
		}
		return retry.RetryableError(err)
	})
}
