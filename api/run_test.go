package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/api"
	"tallyhouse/api/access"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/clickhouse/schematest"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/kafka"
)

func TestAllWrongOptionsAreReported(t *testing.T) {
	_, err := api.New(api.Options{Environment: "prod", BasePath: "x/"})
	for _, part := range []string{"ClickHouse", "Kafka", `"prod"`, `"x/"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v doesn't mention %s", err, part)
		}
	}
}

func TestRunServesUntilItIsToldToEnd(t *testing.T) {
	// Given an API that listens
	w := newWorld(t)
	keys := filepath.Join(t.TempDir(), "keys")
	w.must(os.WriteFile(keys, []byte(strings.Repeat("ab", 32)), 0o600))
	metrics := prometheus.NewRegistry()
	server, err := api.New(api.Options{ClickHouse: w.db, Kafka: []kgo.Opt{kgo.SeedBrokers(w.broker)},
		Environment: environment, CursorKeyFile: keys, Metrics: metrics})
	w.must(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, listener) }()
	w.url = "http://" + listener.Addr().String()
	w.get("", "/healthz").want(t, 200, "")
	w.eventually(readyWithin, "it is ready", func() bool { return w.get("", "/readyz").status == 200 })
	w.get("", "/v0/projects").want(t, 401, "")
	// Then it counts what it answers
	families, err := metrics.Gather()
	w.must(err)
	series := make(map[string]int)
	for _, family := range families {
		series[family.GetName()] = len(family.GetMetric())
	}
	if series["tallyhouse_api_request_duration_seconds"] < 2 ||
		series["tallyhouse_api_access_confirmed_timestamp_seconds"] != 1 {
		t.Errorf("metrics %v", series)
	}
	// And when it is told to end, it ends without an error.
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(w.url + "/healthz"); err == nil {
		t.Error("it still listens")
	}
}

// databaseAway is how a problem says that the database does not answer.
const databaseAway = "The database, or a part of it, is out of reach at the moment."

func TestAnEngineThatIsKilledComesBack(t *testing.T) {
	// Given an API on an engine of its own
	engine := clickhousetest.Start(t)
	db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{engine.Addr()}, DialTimeout: time.Second,
		ReadTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := newWorld(t, func(o *api.Options) {
		schematest.Make(t, func(statement string) error { return db.Exec(context.Background(), statement) })
		o.ClickHouse, o.QueryTimeout = db, 5*time.Second
	})
	w.user("U", adminKey, "admin")
	w.project("P1", events.Project{})
	w.seen(adminKey, "P1")
	// When the engine is killed
	engine.Kill()
	// Then data are a 500 that says so until the engine is back, and the API is ready again
	var failed response
	w.eventually(30*time.Second, "requests fail", func() bool {
		failed = w.get(adminKey, "/v0/records/x")
		return failed.status == 500
	})
	failed.faulty(t, databaseAway)
	w.eventually(time.Minute, "requests succeed", func() bool { return w.get(adminKey, "/v0/records").status == 200 })
	w.eventually(time.Minute, "it is ready again", func() bool { return w.get("", "/readyz").status == 200 })
}

func TestADatabaseThatHangsIsAFaultInTime(t *testing.T) {
	t.Parallel()
	// Given a database that falls silent without ending connections
	w := newWorld(t)
	valve := clickhousetest.NewValve(t, clickhousetest.Engine(t).Addr())
	db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{valve.Addr()},
		Auth: clickhouse.Auth{Database: w.database}, DialTimeout: time.Second, ReadTimeout: time.Hour})
	w.must(err)
	defer db.Close()
	_, w.url = w.start(func(o *api.Options) { o.ClickHouse, o.QueryTimeout = db, time.Second })
	w.user("U", adminKey, "admin")
	w.known(adminKey)
	w.get(adminKey, "/v0/records").want(t, 200, "")
	// When
	valve.Silence()
	// Then it is a 500 that says so, not an endless wait (the client of this test gives up after 30 s)
	w.project("P1", events.Project{})
	var failed response
	w.eventually(knownWithin, "the fault shows", func() bool {
		failed = w.get(adminKey, "/v0/records")
		return failed.status == 500
	})
	failed.faulty(t, databaseAway)
	// And the API is not ready, and doesn't take the database's silence for too many requests: of two statements one waits
	// for the other
	w.eventually(knownWithin, "it is not ready", func() bool { return w.get("", "/readyz").status == 503 })
	w.get(adminKey, "/v0/records?count=true").faulty(t, databaseAway)
}

// nothingStored is a database that holds nobody.
type nothingStored struct{}

func (nothingStored) LoadAccess(context.Context, events.Topic, func(events.Event)) (map[int32]int64, error) {
	return nil, nil
}

func (nothingStored) LastGap(context.Context, events.Topic) (time.Time, error) {
	return time.Time{}, nil
}

func TestMissingTopicsAreNamed(t *testing.T) {
	// Given a follower of a cluster whose topics are not there
	broker := kafkatest.Start(t)
	follower := access.NewFollower(nothingStored{}, []kgo.Opt{kgo.SeedBrokers(broker.Addr())}, time.Time{},
		slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { follower.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	// Then it says which, and what to do
	err := await(readyWithin, func() error {
		_, err := follower.Store()
		if errors.Is(err, kafka.ErrUnknown) && strings.Contains(err.Error(), "ledger.projects") &&
			strings.Contains(err.Error(), "`tallyhouse topics`") {
			return nil
		}
		return fmt.Errorf("the follower says: %w", err)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !follower.Confirmed().IsZero() {
		t.Error("something was confirmed")
	}
}

func TestTheLogHasRequestsWithoutSecrets(t *testing.T) {
	w := adminWorld(t)
	w.get(adminKey, "/v0/records?invoiceNumber=pk_test_leaked_secret").want(t, 200, "")
	w.get("pk_test_wrong_secret", "/v0/projects").want(t, 401, "")
	for _, path := range []string{"/v0/records/pk_test_leaked_secret", "/v0/projects/x%2Fpk%5Ftest%5Fleaked%5Fsecret",
		"/v0/records/Bearer%20pk_test_leaked_secret", "/v0/records/pk%255Ftest%255Fleaked",
		"/v0/records/eyJhbGciOiJub25lIn0.leaked.e30", "/pk_live_x_leaked/y"} {
		w.get(adminKey, path).want(t, 404, "not-found")
	}
	w.do(http.MethodGet, adminKey, "/v0/projects", http.Header{"X-Request-Id": {"pk_test_x_leaked"}}).want(t, 200, "")
	w.get(adminKey, "/v0/records/long-"+strings.Repeat("x", 5000)).want(t, 404, "not-found")
	log := w.log.String()
	if !strings.Contains(log, "long-xxx") || strings.Contains(log, strings.Repeat("x", 250)) {
		t.Errorf("a long path isn't cut: %s", w.log.tail())
	}
	for _, secret := range []string{"leaked", "s3cret", "wrong_secret"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	for _, part := range []string{"operation=listRecords", "principal=acme/key:key-admin", "status=200", "status=401",
		"problem=invalid-credentials", "took="} {
		if !strings.Contains(log, part) {
			t.Errorf("the log lacks %s", part)
		}
	}
}
