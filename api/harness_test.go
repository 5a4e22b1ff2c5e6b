package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/api"
	"tallyhouse/api/apitest"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/clickhouse/schematest"
	"tallyhouse/schemas/events"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

const (
	tenant      = "acme"
	environment = "test"
	partitions  = 4
	readyWithin = 30 * time.Second
	knownWithin = 20 * time.Second
	adminKey    = "pk_test_admin_s3cret_with_underscores"
	guestKey    = "pk_test_guest_s3cret"
	strangerKey = "pk_test_stranger_s3cret"
)

// world is a running API on a real database and a real broker.
type world struct {
	testing.TB
	db       clickhouse.Conn
	database string
	broker   string
	kafka    *kgo.Client
	server   *api.Server
	url      string
	log      *lockedBuffer
	contract *apitest.Contract

	mu       sync.Mutex
	versions map[string]int64
	stored   map[string]stored // by table and id
}

// newWorld starts the API on an empty database.
func newWorld(t testing.TB, change ...func(*api.Options)) *world {
	t.Helper()
	addr, database := clickhousetest.Database(t)
	w := &world{TB: t, database: database, versions: make(map[string]int64), log: &lockedBuffer{}}
	w.db = connect(t, addr, database)
	schematest.Make(t, func(statement string) error { return w.db.Exec(context.Background(), statement) })
	w.broker = kafkatest.Start(t).Addr()
	var err error
	w.kafka, err = kgo.NewClient(kgo.SeedBrokers(w.broker), kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)))
	w.must(err)
	t.Cleanup(w.kafka.Close)
	for _, topic := range []events.Topic{events.Projects, events.Users, events.Memberships, events.Keys} {
		w.createTopic(string(topic))
	}
	w.server, w.url = w.start(change...)
	w.contract, err = apitest.ReadContract(w.description())
	w.must(err)
	return w
}

func connect(t testing.TB, addr, database string) clickhouse.Conn {
	t.Helper()
	db, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{addr}, Auth: clickhouse.Auth{Database: database}, DialTimeout: 5 * time.Second,
		ReadTimeout: time.Hour, // so that a statement ends by the rule that a test is about
		Compression: &clickhouse.Compression{Method: clickhouse.CompressionLZ4},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// start runs one more instance of the API on the same database and broker, and waits until it is ready.
func (w *world) start(change ...func(*api.Options)) (*api.Server, string) {
	w.Helper()
	server, url := w.begin(change...)
	w.eventually(readyWithin, "the API is ready", func() bool { return server.Ready() == nil })
	return server, url
}

// begin starts an instance that need not get ready.
func (w *world) begin(change ...func(*api.Options)) (*api.Server, string) {
	w.Helper()
	server, err := api.New(w.options(change...))
	w.must(err)
	server.HoldRefused(time.Millisecond) // a test that is about that says otherwise
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { server.Follow(ctx); close(done) }()
	listening := httptest.NewServer(server.Handler())
	w.Cleanup(func() { listening.Close(); cancel(); <-done })
	return server, listening.URL
}

// options are those of an instance of the API on this database and broker.
func (w *world) options(change ...func(*api.Options)) api.Options {
	options := api.Options{
		ClickHouse: w.db, Kafka: []kgo.Opt{kgo.SeedBrokers(w.broker)}, Environment: environment,
		QueryTimeout: 10 * time.Second,
		Log:          slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&options)
	}
	return options
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// eventually waits for something that is bound to happen. The time is a bound for a hung test, not an assertion.
func (w *world) eventually(within time.Duration, what string, happened func() bool) {
	w.Helper()
	err := await(within, func() error {
		if !happened() {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		w.Fatalf("after %s it is still not so that %s\n%s", within, what, w.log.tail())
	}
}

// await asks again and again until there is no error, and returns the last one when it took too long.
func await(within time.Duration, ask func() error) error {
	pauses := retry.WithMaxDuration(within, retry.NewConstant(5*time.Millisecond))
	return retry.Do(context.Background(), pauses, func(context.Context) error { return retry.RetryableError(ask()) })
}

func (w *world) createTopic(name string) {
	w.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	request.Topics = append(request.Topics, topic)
	_, err := request.RequestWith(context.Background(), w.kafka)
	w.must(err)
	kafkatest.AwaitTopic(w, w.broker, name, partitions)
}

// version is the next one of an entity.
func (w *world) version(topic events.Topic, id string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[string(topic)+"/"+id]++
	return w.versions[string(topic)+"/"+id]
}

// send puts a change of an entity on its topic; data nil deletes it.
func (w *world) send(topic events.Topic, of, id string, data any) {
	w.Helper()
	e := events.Event{Envelope: events.Envelope{ID: id, TenantID: of, Version: w.version(topic, of+"/"+id),
		Op: events.Upsert, At: time.Now().UTC().Truncate(time.Second)}, Data: data}
	if data == nil {
		e.Op = events.Delete
	}
	value, err := events.Encode(topic, e)
	w.must(err)
	record := &kgo.Record{Topic: string(topic), Key: []byte(e.Key()), Value: value}
	w.must(w.kafka.ProduceSync(context.Background(), record).FirstErr())
}

// user makes a user with one role in the whole tenant ("" for none) and a key.
func (w *world) user(id, key, role string) {
	w.Helper()
	w.send(events.Users, tenant, id, &events.User{Name: id, Active: true})
	if role != "" {
		w.member(id, events.Scope{Tenant: true}, role)
	}
	w.key(id, key, func(*events.Key) {})
}

func (w *world) member(user string, scope events.Scope, role string) {
	w.Helper()
	id := fmt.Sprintf("%s-%v", user, scope)
	w.send(events.Memberships, tenant, id, &events.Membership{UserID: user, Scope: scope, Role: role})
}

// key makes a key that belongs to a user, or changes it.
func (w *world) key(owner, key string, change func(*events.Key)) {
	w.Helper()
	w.keyOf(tenant, owner, key, change)
}

// keyOf is key of any tenant.
func (w *world) keyOf(of, owner, key string, change func(*events.Key)) {
	w.Helper()
	parts := strings.SplitN(key, "_", 4)
	sum := sha256.Sum256([]byte(parts[3]))
	data := &events.Key{OwnerUserID: owner, Environment: parts[1], Prefix: parts[2],
		SecretSHA256: hex.EncodeToString(sum[:]), Financial: true}
	change(data)
	w.send(events.Keys, of, "key-"+parts[2], data)
}

// known waits until the key gives access.
func (w *world) known(key string) {
	w.Helper()
	w.eventually(knownWithin, "the key is known",
		func() bool { return w.get(key, "/v0/projects").status == http.StatusOK })
}

// insert puts rows into a state table as the ingest does, in one block. The row's head and what is not given have their
// defaults.
func (w *world) insert(table string, rows ...map[string]any) {
	w.Helper()
	if len(rows) == 0 {
		return
	}
	var columns []string
	for name := range rows[0] {
		columns = append(columns, name)
	}
	batch, err := w.db.PrepareBatch(context.Background(), "INSERT INTO "+table+" (`"+strings.Join(columns, "`, `")+"`)")
	w.must(err)
	for _, row := range rows {
		values := make([]any, len(columns))
		for i, name := range columns {
			values[i] = row[name]
		}
		w.must(batch.Append(values...))
	}
	w.must(batch.Send())
}

// project makes a project known to the database and to those who decide about access.
func (w *world) project(id string, p events.Project) {
	w.Helper()
	if p.Name == "" {
		p.Name = "Project " + id
	}
	if p.Currency == "" {
		p.Currency = "EUR"
	}
	w.send(events.Projects, tenant, id, &p)
	w.insert("projects", map[string]any{
		"tenant": tenant, "project": id, "id": id, "row_version": uint64(w.version("state of projects", id)), "name": p.Name,
		"workspace_id": pointer(p.WorkspaceID), "currency": p.Currency, "budget_structure_id": pointer(p.BudgetStructureID), "inbound_email": pointer(p.InboundEmail),
	})
}

// node stores a budget node, and moves the table's position on as every batch does.
func (w *world) node(id string, n events.BudgetNode) {
	w.Helper()
	codes := "["
	for i, c := range n.AccountingCodes {
		if i > 0 {
			codes += ","
		}
		codes += fmt.Sprintf(`{"system":%q,"code":%q}`, c.System, c.Code)
	}
	offset := uint64(w.version("position of nodes", ""))
	row := func(tenant, project, id string, version uint64) map[string]any {
		return map[string]any{
			"tenant": tenant, "project": project, "id": id, "row_version": version, "src_offset": offset, "structure_id": pointer(n.StructureID),
			"parent_id": pointer(n.ParentID),
			"level":     n.Level, "code": n.Code, "name": n.Name, "description": pointer(n.Description), "active": n.Active,
			"accounting_codes": codes + "]",
		}
	}
	w.insert("budget_nodes",
		row(tenant, n.ProjectID.V, id, uint64(w.version("state of nodes", id))),
		row("", "#0", "", offset+1))
}

func (w *world) contractor(id string, name events.Opt[string]) {
	w.Helper()
	offset := uint64(w.version("position of contractors", ""))
	w.insert("contractors",
		map[string]any{"tenant": tenant, "project": "", "id": id, "row_version": uint64(w.version("state of contractors", id)), "src_offset": offset, "name": pointer(name)},
		map[string]any{"tenant": "", "project": "#0", "id": "", "row_version": offset + 1, "src_offset": offset, "name": nil})
}

func pointer[T any](o events.Opt[T]) *T {
	if !o.Ok {
		return nil
	}
	return &o.V
}

// response is an answer, read to its end.
type response struct {
	status int
	header http.Header
	body   []byte
	json   map[string]any
}

func (w *world) get(key, path string) response { return w.do(http.MethodGet, key, path, nil) }

// do sends a request without a body.
func (w *world) do(method, key, path string, header http.Header) response {
	w.Helper()
	request, err := http.NewRequest(method, w.url+path, nil)
	w.must(err)
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	return w.roundTrip(request)
}

// roundTrip sends a request and holds the answer against the OpenAPI document.
func (w *world) roundTrip(request *http.Request) response {
	w.Helper()
	client := &http.Client{
		Timeout:       30 * time.Second,
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	if w.contract != nil {
		w.must(w.contract.Check(request, answer, body))
	}
	out := response{status: answer.StatusCode, header: answer.Header, body: body}
	if strings.Contains(answer.Header.Get("Content-Type"), "json") && answer.Header.Get("Content-Encoding") == "" &&
		len(body) > 0 {
		w.must(json.Unmarshal(body, &out.json))
	}
	return out
}

// want fails unless the response has the status and, when it is a problem, the suffix.
func (r response) want(t testing.TB, status int, suffix string) response {
	t.Helper()
	kind, _ := r.json["type"].(string)
	if r.status != status || suffix != "" && kind != "/problems/"+suffix {
		t.Fatalf("got %d %s\nwant %d %s", r.status, r.body, status, suffix)
	}
	return r
}

// faulty checks for a problem that is no fault of the request, and that the detail says why.
func (r response) faulty(t testing.TB, why string) {
	t.Helper()
	detail, _ := r.want(t, http.StatusInternalServerError, "internal-error").json["detail"].(string)
	if !strings.HasPrefix(detail, why) {
		t.Errorf("the detail is %q, want %q", detail, why)
	}
}

// wrong are the offending parameters of a problem and what is wrong with them.
func (r response) wrong() map[string]string {
	all := make(map[string]string)
	list, _ := r.json["errors"].([]any)
	for _, item := range list {
		entry := item.(map[string]any)
		all[entry["name"].(string)] = entry["reason"].(string)
	}
	return all
}

// items are the members of the list that have this name.
func (r response) items(member string) []string {
	var all []string
	list, _ := r.json["data"].([]any)
	for _, item := range list {
		text, _ := item.(map[string]any)[member].(string)
		all = append(all, text)
	}
	return all
}

func (r response) cursor() string {
	page, _ := r.json["page"].(map[string]any)
	next, _ := page["nextCursor"].(string)
	return next
}

// lockedBuffer keeps a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) tail() string {
	s := l.String()
	return s[max(0, len(s)-4000):]
}
