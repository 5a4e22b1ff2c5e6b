package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/sethvargo/go-retry"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"tallyhouse/api"
	"tallyhouse/api/desk"
	"tallyhouse/api/ratelimit"
	"tallyhouse/api/session"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
)

const (
	queryTimeout       = 10 * time.Second // of one request to the API
	apiRequests        = 16               // that are worked on at the same time
	controlConnections = 4                // for what must not wait for requests
	rateWindow         = time.Minute
	rateTimeout        = 250 * time.Millisecond // of a question to Redis, which a request waits for
	readyPoll          = 50 * time.Millisecond
)

// apiFlags are what the API needs to know beside its servers.
type apiFlags struct {
	addr, metricsAddr string
	now               string
	environment       string
	basePath          string
	corsOrigins       []string
	cursorKeyFile     string
	gapsAccepted      string
	rateLimit         int
	redisURL          string
	trustedProxies    []string
	issuer            session.Issuer
	operator          operatorFlags
	timeout           time.Duration // of one request; 0: queryTimeout. It is no flag.
}

func (f *apiFlags) add(flags *pflag.FlagSet) {
	f.addAnswering(flags)
	listenFlag(flags, &f.addr, "api-addr", "127.0.0.1:8080", "where the API listens, host:port")
	flags.StringVar(&f.environment, "environment", "test", "test or live: keys of the other environment do not work")
	flags.StringVar(&f.basePath, "base-path", "", "path in front of all others, like /ledger")
	flags.StringSliceVar(&f.corsOrigins, "cors-origin", nil, "origins whose pages may call the API from a browser (default: none)")
	flags.StringVar(&f.issuer.URL, "oidc-issuer", "",
		"issuer whose session tokens are taken, as in their iss, like https://id.example.com/ (default: API keys alone)")
	flags.StringVar(&f.issuer.Audience, "oidc-audience", "", "audience that session tokens must be for, as in their aud")
	flags.StringVar(&f.issuer.KeysURL, "oidc-jwks-url", "",
		"where the issuer publishes its keys (default: as its /.well-known/openid-configuration says)")
	flags.StringSliceVar(&f.trustedProxies, "trusted-proxy", nil,
		"networks of proxies, like 10.0.0.0/8, whose X-Forwarded-For says where a request came from (default: none)")
}

// addAnswering adds the flags that count wherever its operations are answered, also to the desk.
func (f *apiFlags) addAnswering(flags *pflag.FlagSet) {
	listenFlag(flags, &f.metricsAddr, "metrics-addr", "127.0.0.1:9090", "where /metrics is served, host:port")
	f.operator.add(flags)
	flags.StringVar(&f.now, "now", "", "instant that fixes today and the current month, like 2026-05-12T09:00:00Z (default: the clock)")
	flags.StringVar(&f.cursorKeyFile, "cursor-key-file", "",
		"file with the keys that seal cursors, one a line in hex, the first seals (default: kept in the database)")
	flags.IntVar(&f.rateLimit, "rate-limit", 300, "requests of a key or user in any 60 seconds; 0 for no limit")
	flags.StringVar(&f.redisURL, "redis-url", "",
		"Redis that counts requests for several instances, redis://user:password@host:6379/0 or rediss:// (default: each counts its own)")
	flags.StringVar(&f.gapsAccepted, "access-gaps-accepted", "",
		"instant up to which lost changes of users, memberships, keys and projects have been seen to (default: none may be lost)")
}

func apiCommand(s *shell) *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:     "api",
		GroupID: groupRun,
		Short:   "Run the read API",
		Long: "Runs the read API. It listens at once; it is ready, and says so on standard output and at /readyz, when it knows all users,\n" +
			"memberships, keys and projects up to the end of their topics.",
		Example: "  tallyhouse api --api-addr 0.0.0.0:8080 --environment live",
		Args:    none,
	}
	f.add(cmd.Flags())
	from := connectionFlags(cmd.Flags())
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.check() }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := from.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		s.collectLess(answeringMemory)
		registry := newRegistry()
		return s.runAPI(cmd.Context(), f, servers, registry, func(addr string) { fmt.Fprintf(s.out, "ready api=http://%s\n", addr) })
	}
	return cmd
}

// check reports all that is wrong with the flags.
func (f *apiFlags) check() error {
	options := f.options()
	_, err := fixedClock(f.now)
	wrong := []error{err, options.Validate()}
	_, err = f.acceptedUpTo()
	wrong = append(wrong, err)
	_, err = f.proxies()
	wrong = append(wrong, err)
	counted := *f
	counted.rateLimit = max(1, f.rateLimit) // the URL is checked even where no limit asks for it
	_, closeRates, err := counted.rates(counted.limit())
	if err == nil {
		closeRates()
	}
	return errors.Join(append(wrong, err)...)
}

// options are those of the API that the flags say as they are.
func (f *apiFlags) options() api.Options {
	return api.Options{
		Environment: f.environment, BasePath: f.basePath, CORSOrigins: f.corsOrigins, CursorKeyFile: f.cursorKeyFile,
		Issuer: f.issuer, RateLimit: f.limit(),
	}
}

func (f *apiFlags) limit() ratelimit.Policy {
	return ratelimit.Policy{Events: f.rateLimit, Window: rateWindow}
}

// acceptedUpTo is the instant up to which lost changes of access have been seen to.
func (f *apiFlags) acceptedUpTo() (at time.Time, err error) {
	if f.gapsAccepted == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, f.gapsAccepted); err != nil {
		return at, usageError{fmt.Errorf("--access-gaps-accepted must be an instant like 2026-05-12T09:00:00Z, not %q", f.gapsAccepted)}
	}
	return at, nil
}

// openAPI is the API on its servers, with what it stands on. It answers once its Run or Follow has what it needs.
type openAPI struct {
	*api.Server
	inbox    desk.Inbox
	sources  desk.Sources
	flags    apiFlags
	registry *prometheus.Registry
	log      *slog.Logger
	closers  []func()
}

// close lets go what the API stands on.
func (a *openAPI) close() {
	for _, closer := range slices.Backward(a.closers) {
		closer()
	}
}

// openAPI makes the API. Its caller closes it.
func (s *shell) openAPI(f apiFlags, servers servers, registry *prometheus.Registry) (_ *openAPI, err error) {
	a := &openAPI{flags: f, registry: registry, log: s.log}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	clock, err := fixedClock(f.now)
	if err != nil {
		return nil, err
	}
	gapsAccepted, err := f.acceptedUpTo()
	if err != nil {
		return nil, err
	}
	rates, closeRates, err := f.rates(f.limit())
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, closeRates)
	trusted, err := f.proxies()
	if err != nil {
		return nil, err
	}
	timeout := cmp.Or(f.timeout, queryTimeout)
	db, err := a.connect(servers, timeout, apiRequests*api.StatementsPerRequest)
	if err != nil {
		return nil, err
	}
	control, err := a.connect(servers, timeout, controlConnections)
	if err != nil {
		return nil, err
	}
	shards, err := servers.databases()
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func() { closeAll(shards) })
	o := f.options()
	o.ClickHouse, o.Control, o.Requests, o.QueryTimeout = db, control, apiRequests, timeout
	o.Kafka, o.Feedback, o.Check = servers.kafka.Reading, feedbackTopic{servers.kafka}, readable(shards)
	o.AccessGapsAccepted, o.RateStore, o.TrustedProxies = gapsAccepted, rates, trusted
	o.Clock, o.Log, o.Metrics = clock, s.log, registry
	if a.Server, err = api.New(o); err != nil {
		return nil, usageError{err}
	}
	kept := desk.OpenReader(db, control, timeout, a.Server.Turn)
	a.inbox, a.sources = kept, kept
	return a, nil
}

// connect opens connections to ClickHouse, which close lets go.
func (a *openAPI) connect(servers servers, timeout time.Duration, connections int) (clickhouse.Conn, error) {
	options := servers.reading()
	options.ReadTimeout = timeout + 5*time.Second
	options.MaxOpenConns, options.MaxIdleConns = connections, connections
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("connect to ClickHouse: %w", err)
	}
	a.closers = append(a.closers, func() { _ = conn.Close() }) // nothing is under way any more
	return conn, nil
}

// run answers at the address of its flags, and serves the registry's metrics, until the context ends. ready is called once, with
// the address that it listens on.
func (a *openAPI) run(ctx context.Context, ready func(addr string)) error {
	listener, err := listen("--api-addr", a.flags.addr)
	if err != nil {
		return err
	}
	metrics, err := listen("--metrics-addr", a.flags.metricsAddr)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return a.Run(ctx, listener) })
	work.Go(func() error { return serve(ctx, metrics, a.log, a.registry, a.flags.operator.pages(a.registry)) })
	work.Go(func() error {
		if a.awaitReady(ctx) == nil {
			ready(listener.Addr().String())
		}
		return nil
	})
	return work.Wait()
}

// awaitReady waits until requests can be answered; an error when the context ends before.
func (a *openAPI) awaitReady(ctx context.Context) error {
	asked := func(context.Context) error { return retry.RetryableError(a.Ready()) }
	return retry.Constant(ctx, readyPoll, asked)
}

// runAPI opens the API, runs it and closes it.
func (s *shell) runAPI(ctx context.Context, f apiFlags, servers servers, registry *prometheus.Registry, ready func(addr string)) error {
	a, err := s.openAPI(f, servers, registry)
	if err != nil {
		return err
	}
	defer a.close()
	return a.run(ctx, ready)
}

// feedbackTopic sends what the API receives.
type feedbackTopic struct{ kafka.Cluster }

// Send implements feedback.Sender.
func (c feedbackTopic) Send(ctx context.Context, topic string, key, value, beside []byte) (partition int32, offset int64, err error) {
	number, offset, err := kafka.SendBeside(ctx, c.Cluster, kafkago.Message{Topic: topic, Key: key, Value: value}, beside)
	return int32(number), offset, err
}

// rates is what counts requests: Redis when it is given, else nil.
func (f *apiFlags) rates(limit ratelimit.Policy) (store api.RateStore, closeStore func(), err error) {
	if f.redisURL == "" || f.rateLimit <= 0 {
		return nil, func() {}, nil
	}
	redis, err := ratelimit.NewRedis(f.redisURL, "tallyhouse:requests:"+f.environment+":", limit, rateTimeout)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--redis-url: %w", err)}
	}
	return redis, func() { _ = redis.Close() }, nil // nothing is under way any more
}

func (f *apiFlags) proxies() (all []netip.Prefix, err error) {
	var wrong []error
	for _, text := range f.trustedProxies {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			wrong = append(wrong,
				usageError{fmt.Errorf("--trusted-proxy must be a network like 10.0.0.0/8 or 10.1.2.3/32, not %q", text)})
		}
		all = append(all, prefix.Masked())
	}
	return all, errors.Join(wrong...)
}

// readable checks that all shards have this version's schema, and sums by its formulas.
func readable(shards []*database.Server) func(context.Context) error {
	current := map[*database.Server]bool{} // a schema that was this version's stays so
	return func(ctx context.Context) error {
		var wrong []error
		for i, shard := range shards {
			if !current[shard] {
				if err := migrate.Check(ctx, shard); err != nil {
					wrong = append(wrong, fmt.Errorf("%s: %w", shard.Addr(), err))
					continue
				}
				current[shard] = true
			}
			if err := admin.Readable(ctx, shard, i, len(shards)); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", shard.Addr(), err))
			}
		}
		return errors.Join(wrong...)
	}
}

// fixedClock is a clock that stands still at an instant, or the machine's.
func fixedClock(instant string) (func() time.Time, error) {
	if instant == "" {
		return time.Now, nil
	}
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return nil, usageError{fmt.Errorf("--now must be an instant like 2026-05-12T09:00:00Z, not %q", instant)}
	}
	return func() time.Time { return at }, nil
}

func listen(flag, addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; choose another address", flag, err)
	}
	return listener, nil
}
