package keys_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/admin/keys"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
	"tallyhouse/schemas/events"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

var request = keys.Request{Tenant: "demo", Owner: "U1", Environment: "test", Financial: true}

func create(t *testing.T, c kafka.Cluster, r keys.Request) (string, events.Event) {
	t.Helper()
	text, e, err := keys.Create(context.Background(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	return text, e
}

func TestCreatePrintsAKeyAndStoresItsHashAlone(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	full := request
	full.Groups, full.ProjectIDs = []string{"core", "amounts"}, []string{}
	full.Expires = time.Now().Add(time.Hour)
	text, _ := create(t, c, full)
	parts := regexp.MustCompile(`^pk_(test)_([A-Z0-9]{8})_(.{43})$`).FindStringSubmatch(text)
	if parts == nil {
		t.Fatalf("the key is %s", text)
	}
	sent := topicstest.Messages(t, c, events.Keys)
	if len(sent) != 1 {
		t.Fatalf("%d messages were sent", len(sent))
	}
	e, err := events.Decode(events.Keys, sent[0].Key, sent[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	k := e.Data.(*events.Key)
	sum := sha256.Sum256([]byte(parts[3]))
	if e.TenantID != "demo" || e.Version != 1 || k.OwnerUserID != "U1" || k.Environment != "test" ||
		k.Prefix != parts[2] || k.SecretSHA256 != hex.EncodeToString(sum[:]) || !k.Financial {
		t.Errorf("the event is %+v %+v", e, k)
	}
	if !k.Groups.Ok || len(k.Groups.V) != 2 || !k.ProjectIDs.Ok || len(k.ProjectIDs.V) != 0 || !k.ExpiresAt.Ok || k.RevokedAt.Ok {
		t.Errorf("its ceilings are %+v", k)
	}
	if strings.Contains(string(sent[0].Value), parts[3]) {
		t.Error("the secret was sent")
	}
	if again, other := create(t, c, request); again == text || other.ID == e.ID {
		t.Error("two keys are the same")
	}
}

func TestCreateRefusesWhatNoKeyMayBe(t *testing.T) {
	c := topicstest.Cluster(t, 1)
	for name, change := range map[string]func(*keys.Request){
		"data.environment": func(r *keys.Request) { r.Environment = "prod" },
		"data.ownerUserId": func(r *keys.Request) { r.Owner = "" },
		"tenantId":         func(r *keys.Request) { r.Tenant = "a/b" },
		"data.groups[0]":   func(r *keys.Request) { r.Groups = []string{"money"} },
		"have expired":     func(r *keys.Request) { r.Expires = time.Now().Add(-time.Second) },
	} {
		r := request
		change(&r)
		if _, _, err := keys.Create(context.Background(), c, r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("err = %v, want one of %s", err, name)
		}
	}
	if sent := topicstest.Messages(t, c, events.Keys); len(sent) != 0 {
		t.Errorf("%d messages were sent", len(sent))
	}
}

// stored is a database with the schema and these keys.
func stored(t *testing.T, all ...events.Event) *database.Server {
	t.Helper()
	server := databasetest.Migrated(t, 1)
	insert(t, server, events.Keys, all...)
	return server
}

// insert puts the newest states of entities into their table.
func insert(t *testing.T, server *database.Server, topic events.Topic, all ...events.Event) {
	t.Helper()
	e := store.Of(topic)
	block := e.NewBlock()
	for _, k := range all {
		block.Append(&store.Row{Tenant: k.TenantID, ID: k.ID, Version: uint64(k.Version), At: k.At, Data: k.Data, Deleted: k.Data == nil})
	}
	block.AppendPosition(0, uint64(len(all)), -1, time.Now())
	block.Sort()
	_, err := server.Insert(context.Background(), database.Statement{
		SQL: e.Insert("1"), Params: database.Params{"partition": "0", "first": "0"}, Batch: block.Batch(),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func event(id string, version int64, change func(*events.Key)) events.Event {
	_, e := keys.New(request, time.Now())
	e.ID, e.Version = id, version
	if change == nil {
		e.Op, e.Data = events.Delete, nil
	} else {
		change(e.Data.(*events.Key))
	}
	return e
}

func sendEvent(t *testing.T, c kafka.Cluster, topic events.Topic, e events.Event) {
	t.Helper()
	value, err := events.Encode(topic, e)
	if err != nil {
		t.Fatal(err)
	}
	m := kafkago.Message{Topic: string(topic), Key: []byte(e.Key()), Value: value}
	if _, _, err := kafka.Send(context.Background(), c, m); err != nil {
		t.Fatal(err)
	}
}

// Given keys in the table alone, in the log alone and in both, the newest state of each is told, and what isn't a key
// is passed over.
func TestListKnowsTheNewestOfLogAndTable(t *testing.T) {
	owner := func(name string) func(*events.Key) { return func(k *events.Key) { k.OwnerUserID = name } }
	c := topicstest.Cluster(t, 2)
	other := event("X", 1, owner("a"))
	other.TenantID = "demo2"
	for _, e := range []events.Event{
		event("log", 1, owner("b")), event("both", 3, owner("c")), event("both", 2, owner("old")), event("deleted", 2, nil), other,
	} {
		sendEvent(t, c, events.Keys, e)
	}
	for _, value := range [][]byte{[]byte("no JSON"), nil} {
		m := kafkago.Message{Topic: string(events.Keys), Key: []byte("demo/log"), Value: value}
		if _, _, err := kafka.Send(context.Background(), c, m); err != nil {
			t.Fatal(err)
		}
	}
	expires := time.Date(2299, 1, 2, 3, 4, 5, 678000, time.UTC)
	server := stored(t, event("both", 2, owner("old")), event("deleted", 1, owner("d")), event("table", 7, func(k *events.Key) {
		k.OwnerUserID, k.Groups, k.ExpiresAt = "a", events.Some([]string{"core"}), events.Some(expires)
	}), event("gone", 2, nil))
	all, err := keys.List(context.Background(), keys.Sources{Kafka: c, Shards: []*database.Server{server}}, "demo")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, k := range all {
		listed = append(listed, k.OwnerUserID+":"+k.ID)
	}
	if got := strings.Join(listed, " "); got != "a:table b:log c:both" {
		t.Fatalf("keys %s", got)
	}
	k := all[0]
	if k.Version != 7 || k.Environment != "test" || !k.Financial || !k.Groups.Ok || k.Groups.V[0] != "core" ||
		k.ProjectIDs.Ok || !k.ExpiresAt.V.Equal(expires) || k.RevokedAt.Ok {
		t.Errorf("the key of the table is %+v", k)
	}
}

func TestRevokeEndsAKeyForAll(t *testing.T) {
	// Given a key that is in the log, when it is revoked twice, then one message says so, and changes nothing else of it.
	c := topicstest.Cluster(t, 2)
	ctx := context.Background()
	_, e := create(t, c, request)
	inLog := keys.Sources{Kafka: c} // the database isn't needed
	k, err := keys.Revoke(ctx, inLog, "demo", e.ID)
	if err != nil || !k.RevokedAt.Ok {
		t.Fatalf("%+v, %v", k, err)
	}
	again, err := keys.Revoke(ctx, inLog, "demo", e.ID)
	if err != nil || !again.RevokedAt.V.Equal(k.RevokedAt.V) {
		t.Errorf("again: %+v, %v", again, err)
	}
	sent := topicstest.Messages(t, c, events.Keys)
	if len(sent) != 2 {
		t.Fatalf("%d messages were sent", len(sent))
	}
	last, err := events.Decode(events.Keys, sent[1].Key, sent[1].Value)
	if err != nil {
		t.Fatal(err)
	}
	revoked := *last.Data.(*events.Key)
	if last.Version != 2 || !revoked.RevokedAt.Ok {
		t.Errorf("the second event is %+v %+v", last, revoked)
	}
	if revoked.RevokedAt = (events.Opt[time.Time]{}); revoked.SecretSHA256 != e.Data.(*events.Key).SecretSHA256 || !revoked.Financial {
		t.Errorf("revoking changed the key to %+v", revoked)
	}

	// Given a key that the table alone has, then it is revoked likewise; and one that nothing has is none.
	server := stored(t, event("table", 7, func(*events.Key) {}), event("gone", 2, nil))
	sources := keys.Sources{Kafka: c, Shards: []*database.Server{server}}
	if k, err := keys.Revoke(ctx, sources, "demo", "table"); err != nil || k.Version != 8 {
		t.Errorf("a key that only the table has: %+v, %v", k, err)
	}
	nowhere, err := database.Open(database.Options{Addr: server.Addr(), Database: "nowhere", User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	_, err = keys.Revoke(ctx, keys.Sources{Kafka: c, Shards: []*database.Server{nowhere}}, "demo", "gone")
	if err == nil || !strings.Contains(err.Error(), "tallyhouse migrate") {
		t.Errorf("without the database: %v", err)
	}
	for _, id := range []string{"none", "gone"} {
		if _, err := keys.Revoke(ctx, sources, "demo", id); !errors.Is(err, keys.ErrNotFound) {
			t.Errorf("key %s: %v", id, err)
		}
	}
}

// Given a key of which somebody writes the next version at the same moment, before the revocation, so that theirs counts, when it is
// revoked, then what counts in the end is revoked, with what they wrote.
func TestARevocationIsNotLostToAnother(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	_, e := create(t, c, request)
	// Their version stands in the log, and shows when its transaction is committed.
	theirs := event(e.ID, 2, func(k *events.Key) { k.OwnerUserID = "U2" })
	value, err := events.Encode(events.Keys, theirs)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(slices.Clone(c.Reading), kgo.TransactionalID("t"), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	key := []byte(theirs.Key())
	record := &kgo.Record{Topic: string(events.Keys), Key: key, Value: value, Partition: int32(kafka.Partition(key, 2))}
	if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
		t.Fatal(err)
	}
	committed := make(chan struct{})
	go func() {
		defer close(committed)
		time.Sleep(300 * time.Millisecond)
		kafkatest.EndTransaction(t, client, kgo.TryCommit)
	}()
	k, err := keys.Revoke(t.Context(), keys.Sources{Kafka: c}, "demo", e.ID)
	<-committed
	if err != nil || !k.RevokedAt.Ok || k.Version != 3 || k.OwnerUserID != "U2" {
		t.Errorf("%+v, %v", k, err)
	}
	all, err := keys.List(t.Context(), keys.Sources{Kafka: c}, "demo")
	if err != nil || len(all) != 1 || !all[0].RevokedAt.Ok || all[0].Version != 3 {
		t.Errorf("the key is %+v, %v", all, err)
	}
}

// Given a key that the log has, and no database, when it is revoked, then that is sent, and told with what was not asked; when the log
// has it as revoked or deleted already, then nothing is said of it: the table may have a newer version.
func TestARevocationWithoutTheDatabaseSaysWhatItDoesNotKnow(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	_, e := create(t, c, request)
	sendEvent(t, c, events.Keys, event("deleted", 2, nil))
	away, err := database.Open(database.Options{Addr: "127.0.0.1:1", Database: "d", User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	sources := keys.Sources{Kafka: c, Shards: []*database.Server{away}}
	k, err := keys.Revoke(t.Context(), sources, "demo", e.ID)
	if err != nil || !k.RevokedAt.Ok || k.Unasked == nil {
		t.Errorf("%+v, %v", k, err)
	}
	if sent := topicstest.Messages(t, c, events.Keys); len(sent) != 3 {
		t.Errorf("%d messages were sent", len(sent))
	}
	for _, id := range []string{e.ID, "deleted"} {
		if k, err := keys.Revoke(t.Context(), sources, "demo", id); err == nil || errors.Is(err, keys.ErrNotFound) {
			t.Errorf("key %s: %+v, %v", id, k, err)
		}
	}
}

// Given a key of whose versions the log keeps one that isn't the greatest, when it is revoked, then the greatest is.
func TestARevocationGoesOverWhatTheTableHas(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	_, e := create(t, c, request)
	sources := keys.Sources{Kafka: c, Shards: []*database.Server{stored(t, event(e.ID, 9, func(*events.Key) {}))}}
	if k, err := keys.Revoke(t.Context(), sources, "demo", e.ID); err != nil || k.Version != 10 || !k.RevokedAt.Ok {
		t.Errorf("%+v, %v", k, err)
	}
}
