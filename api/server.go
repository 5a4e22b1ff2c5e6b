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
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/sethvargo/go-retry"
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
	lookWithin        = 3 * time.Second // whether the database answers
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
	reference   *pages.Reference
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
	o.setDefaults()
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("the API cannot start: %w", err)
	}
	s := newServer(o)
	for _, complete := range []func(Options) error{s.addSessions, s.addRates, s.addCursors, s.addDocuments, s.addHandlers} {
		if err := complete(o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// newServer has what takes the options as they are and cannot fail.
func newServer(o Options) *Server {
	control := reader.New(o.Control, o.Control, o.QueryTimeout)
	requests := reader.New(o.ClickHouse, o.Control, o.QueryTimeout)
	s := &Server{
		small:       share{reader: requests.Small(), maxPage: smallBody, maxBody: smallBody},
		large:       share{reader: requests, maxPage: maxPageBody, maxBody: maxBody, cuts: true},
		control:     control,
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
		exports:     newRoutes(exportOperations()),
		environment: o.Environment,
		basePath:    o.BasePath,
		timeout:     o.QueryTimeout,
		patience: patience{header: readHeaderTimeout, request: readTimeout, response: o.QueryTimeout + writeGrace,
			idle: idleTimeout, stop: shutdownTimeout},
		clock:   o.Clock,
		origins: o.CORSOrigins,
		log:     o.Log,
	}
	s.routes, s.kept = newRoutes(s.operations), newKeptAnswers(maxKept, maxKeptOfTenant, &s.buffers)
	s.admit(o.Requests)
	if o.Feedback != nil {
		s.feedback = feedback.NewLog(o.Kafka, o.Feedback, time.Now)
	}
	return s
}

// admit sets how many requests of each kind are let in at a time, of one tenant and of one key or user.
func (s *Server) admit(requests int) {
	ofTenant, ofPrincipal := max(1, requests*3/4), max(1, requests/4)
	s.admission = newAdmission(limits{running: requests, perTenant: ofTenant, perPrincipal: ofPrincipal,
		waiting: maxWaiting, allWaiting: maxAllWaiting, large: largeShares, bytes: maxBodies})
	s.messages = newAdmission(limits{running: max(1, requests/agentShare), perTenant: max(1, requests*3/4/agentShare),
		perPrincipal: max(1, requests/4/agentShare), waiting: maxWaiting, allWaiting: maxAllWaiting, bytes: maxBodies / agentShare})
	s.pages = newAdmission(limits{running: requests * pageShare, perTenant: ofTenant * pageShare,
		perPrincipal: ofPrincipal * pageShare, waiting: maxWaiting, allWaiting: maxAllWaiting, bytes: maxBodies})
	s.files = newAdmission(limits{running: runningFiles, perTenant: runningFiles * 3 / 4, perPrincipal: runningFiles / 4,
		waiting: maxWaiting, allWaiting: maxAllWaiting, bytes: maxBodies})
}

// addSessions takes session tokens, where there is an issuer.
func (s *Server) addSessions(o Options) (err error) {
	if o.Issuer != (session.Issuer{}) {
		s.sessions, err = session.NewVerifier(o.Issuer, time.Now, o.Log)
	}
	return err
}

// addRates counts requests, where there is a limit.
func (s *Server) addRates(o Options) error {
	if s.ratePolicy.Events == 0 {
		return nil
	}
	if s.rates = o.RateStore; s.rates == nil {
		s.rates = ratelimit.NewMemory(s.ratePolicy, maxCountedKeys, time.Now)
	}
	return nil
}

// addCursors takes the keys of cursors from a file, where there is one.
func (s *Server) addCursors(o Options) (err error) {
	if o.CursorKeyFile != "" {
		s.cursors, err = cursor.FromFile(o.CursorKeyFile)
	}
	return err
}

func (s *Server) addDocuments(Options) (err error) {
	if s.description, err = describe(s.operations, s.basePath, s.ratePolicy); err != nil {
		return err
	}
	if s.reference, err = pages.NewReference(); err != nil {
		return err
	}
	s.events, err = asyncapi.Document()
	return err
}

// addHandlers comes last: it wraps the whole of the server.
func (s *Server) addHandlers(o Options) (err error) {
	if s.metrics, err = newMetrics(o.Metrics, s.access, s.sessions); err != nil {
		return fmt.Errorf("register the metrics of the API: %w", err)
	}
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.EnableZstd(true))
	if err != nil {
		return fmt.Errorf("set up compression: %w", err)
	}
	if s.guard, err = serving.NewGuard("api", o.Log, o.Metrics, brokenOff); err != nil {
		return err
	}
	s.agents = agents.Handler(s.agentTools(), pages.Version(), s.guard.Handler(s))
	s.handler = s.guard.Handler(s.cors(serving.Compressed(compress, s)))
	return nil
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
		// Else net/http answers OPTIONS * by itself, without the headers that every response has.
		DisableGeneralOptionsHandler: true,
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
		threads, err := s.threads(ctx)
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

// threads asks the database for its threads; one that hangs is found to be away soon.
func (s *Server) threads(ctx context.Context) (int, error) {
	ctx, stop := context.WithTimeout(ctx, lookWithin)
	defer stop()
	return s.control.Threads(ctx)
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
