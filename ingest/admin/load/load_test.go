package load_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

func send(t *testing.T, l *load.Load, c kafka.Cluster, names ...string) load.Sent {
	t.Helper()
	found, err := l.Check(context.Background(), names)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := l.Send(context.Background(), c, found)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// Given versions of many entities in a file, each message is where its key belongs, byte for byte, and those of a key
// in order.
func TestSendKeepsEachKeysOrder(t *testing.T) {
	began := time.Now().Truncate(time.Millisecond) // Kafka keeps no more
	c := topicstest.Cluster(t, 3)
	const entities, versions = 300, 20
	var lines []string
	for v := range versions {
		for i := range entities {
			lines = append(lines, contractor(fmt.Sprint("C", i), v+1))
		}
	}
	sent := send(t, newLoad(t, ""), c, file(t, "a.ndjson", lines...))
	if sent.Messages != entities*versions {
		t.Errorf("%d messages were sent", sent.Messages)
	}
	next := map[string]int{}
	ends := map[int]uint64{}
	for _, r := range topicstest.Messages(t, c, events.Contractors) {
		ends[int(r.Partition)] = uint64(r.Offset) + 1
		id := strings.TrimPrefix(string(r.Key), "demo/")
		next[id]++
		line := contractor(id, next[id])
		if want := line[strings.Index(line, `"value": `)+9 : len(line)-1]; string(r.Value) != want {
			t.Errorf("%s: %s, want %s", id, r.Value, want)
		}
		if want := kafka.Partition(r.Key, 3); int(r.Partition) != want {
			t.Errorf("%s is in partition %d, not %d", id, r.Partition, want)
		}
		if r.Timestamp.Before(began) || r.Timestamp.After(time.Now()) {
			t.Errorf("%s has time %s", id, r.Timestamp)
		}
	}
	if len(next) != entities {
		t.Errorf("%d entities came through", len(next))
	}
	if fmt.Sprint(ends) != fmt.Sprint(sent.Next[string(events.Contractors)]) {
		t.Errorf("acknowledged up to %v, read up to %v", sent.Next, ends)
	}
}

func TestSendNamesTopicsThatAreMissing(t *testing.T) {
	c := topicstest.Empty(t)
	l := newLoad(t, contractor("C1", 1))
	found, err := l.Check(context.Background(), []string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Send(context.Background(), c, found)
	if !errors.Is(err, kafkalog.ErrUnknown) || !strings.Contains(err.Error(), "ledger.contractors") {
		t.Errorf("err = %v", err)
	}
}

func TestSendRefusesAFileThatChanged(t *testing.T) {
	c := topicstest.Cluster(t, 1)
	path := file(t, "a.ndjson", contractor("C1", 1))
	l := newLoad(t, "")
	found, err := l.Check(context.Background(), []string{path})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("not checked\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Send(context.Background(), c, found); err == nil || !strings.Contains(err.Error(), "changed while it was loaded") {
		t.Errorf("err = %v", err)
	}
}

// arrive brings a partition's position in the table and its view from first to next, as the worker's batches do.
func arrive(t *testing.T, server *database.Server, topic events.Topic, partition int, first, next uint64) {
	t.Helper()
	e := store.Of(topic)
	block := e.NewBlock()
	block.AppendPosition(int32(partition), next, -1, time.Now())
	block.Sort()
	params := database.Params{"partition": strconv.Itoa(partition), "first": strconv.FormatUint(first, 10)}
	_, err := server.Insert(context.Background(), database.Statement{SQL: e.Insert("1"), Params: params, Batch: block.Batch()})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWaitReturnsWhenTableAndViewsHaveCome(t *testing.T) {
	server := databasetest.Migrated(t, 1)
	l := newLoad(t, "")
	sent := load.Sent{Messages: 10, Next: map[string]map[int]uint64{
		string(events.Records):     {0: 5, 3: 7},
		string(events.Contractors): {1: 2},
	}}
	wait := func(timeout time.Duration) error {
		return l.Wait(context.Background(), []*database.Server{server}, sent, timeout)
	}
	stands := func(err error) string {
		var stalled *load.Stalled
		if !errors.As(err, &stalled) {
			t.Fatalf("err = %v", err)
		}
		var all []string
		for _, b := range stalled.Behind {
			all = append(all, fmt.Sprintf("%s/%d %s %d/%d", b.Topic, b.Partition, b.Place, b.At, b.Want))
		}
		return strings.Join(all, ", ")
	}

	err := wait(100 * time.Millisecond)
	const want = "ledger.contractors/1 contractors 0/2, ledger.records/0 records 0/5, ledger.records/3 records 0/7"
	if got := stands(err); got != want {
		t.Errorf("at first it is at\n%s, want\n%s", got, want)
	}
	if !strings.Contains(err.Error(), "ledger.records partition 3: records is at 0 of 7") {
		t.Errorf("the message is %q", err)
	}

	arrive(t, server, events.Contractors, 1, 0, 2)
	arrive(t, server, events.Records, 0, 0, 3)
	arrive(t, server, events.Records, 0, 3, 9)
	arrive(t, server, events.Records, 3, 0, 6)
	if got, want := stands(wait(100*time.Millisecond)), "ledger.records/3 records 6/7"; got != want {
		t.Errorf("then it is at %s, want %s", got, want)
	}

	// A view that missed the last batch holds the wait up although the table has come.
	lag := "ALTER TABLE sums DELETE WHERE project = '#records/3' SETTINGS mutations_sync = 2"
	if err := server.Exec(context.Background(), database.Statement{SQL: lag}); err != nil {
		t.Fatal(err)
	}
	arrive(t, server, events.Records, 3, 6, 7)
	if got := stands(wait(100 * time.Millisecond)); got != "ledger.records/3 sums 1/7" {
		t.Errorf("with a view behind it is at %s", got)
	}
	mended := make(chan error)
	go func() { mended <- wait(time.Minute) }()
	fill := "INSERT INTO sums (tenant, project, amount1, amount2) VALUES ('', '#records/3', 6, 36)"
	if err := server.Exec(context.Background(), database.Statement{SQL: fill}); err != nil {
		t.Fatal(err)
	}
	if err := <-mended; err != nil {
		t.Error(err)
	}
}

// Given a partition whose table and view had come, and whose view then lags behind another's messages, then the load is
// not waited for any longer than for its other partition.
func TestWhatHasComeIsNotWaitedForAgain(t *testing.T) {
	server := databasetest.Migrated(t, 1)
	l := newLoad(t, "")
	arrive(t, server, events.Records, 0, 0, 5)
	looks := 0
	l.Progress = onDone(func() {
		if looks++; looks > 1 {
			return
		}
		arrive(t, server, events.Records, 0, 5, 9)
		lag := "ALTER TABLE sums DELETE WHERE project = '#records/0' SETTINGS mutations_sync = 2"
		if err := server.Exec(context.Background(), database.Statement{SQL: lag}); err != nil {
			t.Error(err)
		}
		arrive(t, server, events.Records, 3, 0, 7)
	})
	sent := load.Sent{Messages: 10, Next: map[string]map[int]uint64{string(events.Records): {0: 5, 3: 7}}}
	if err := l.Wait(context.Background(), []*database.Server{server}, sent, time.Minute); err != nil || looks == 0 {
		t.Errorf("after %d looks: %v", looks, err)
	}
}

// Given messages in several partitions, then as many of them are shown as done as the database has of all partitions together.
func TestWaitShowsHowMuchHasCome(t *testing.T) {
	server := databasetest.Migrated(t, 1)
	l := newLoad(t, "")
	arrive(t, server, events.Records, 0, 0, 3)
	arrive(t, server, events.Contractors, 1, 0, 2)
	sent := load.Sent{Messages: 12, Next: map[string]map[int]uint64{
		string(events.Records):     {0: 5, 3: 5},
		string(events.Contractors): {1: 2},
	}}
	done := new(lastDone)
	l.Progress = done
	var stalled *load.Stalled
	if err := l.Wait(t.Context(), []*database.Server{server}, sent, 100*time.Millisecond); !errors.As(err, &stalled) {
		t.Fatal(err)
	}
	if *done != 5 {
		t.Errorf("%d of 12 messages are shown as done, want 5", *done)
	}
}

// lastDone is a progress that keeps how many units were done last.
type lastDone int64

func (d *lastDone) Stage(string, int64, load.Unit) {}
func (d *lastDone) Done(units int64)               { *d = lastDone(units) }
func (d *lastDone) End()                           {}

// onDone is a progress that runs something when units are done.
type onDone func()

func (f onDone) Stage(string, int64, load.Unit) {}
func (f onDone) Done(int64)                     { f() }
func (f onDone) End()                           {}

func TestWaitTellsWhyPositionsCannotBeRead(t *testing.T) {
	server := databasetest.Empty(t, 1)
	sent := load.Sent{Messages: 1, Next: map[string]map[int]uint64{string(events.Contractors): {0: 1}}}
	err := newLoad(t, "").Wait(context.Background(), []*database.Server{server}, sent, 50*time.Millisecond)
	var stalled *load.Stalled
	if !errors.As(err, &stalled) || !strings.Contains(err.Error(), "contractors") || stalled.Err == nil {
		t.Errorf("err = %v", err)
	}
}

func TestWaitDoesNotWaitForADatabaseThatIsNotThere(t *testing.T) {
	addr, _ := clickhousetest.Database(t)
	server, err := database.Open(database.Options{Addr: addr, Database: "nowhere", User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	sent := load.Sent{Messages: 1, Next: map[string]map[int]uint64{string(events.Contractors): {0: 1}}}
	err = newLoad(t, "").Wait(context.Background(), []*database.Server{server}, sent, time.Minute)
	if !errors.Is(err, load.ErrNoDatabase) || !strings.Contains(err.Error(), "nowhere at "+addr) {
		t.Errorf("err = %v", err)
	}
}

// The largest message that a file may hold goes through, between others.
func TestTheLargestLineIsSent(t *testing.T) {
	c := topicstest.Cluster(t, 1)
	ext := strings.Repeat("x", events.MaxMessageBytes-len(recordValue(`"ext":"",`+invoice)))
	path := file(t, "large.ndjson", contractor("C1", 1), record(`"ext":"`+ext+`",`+invoice), contractor("C2", 1))
	sent := send(t, newLoad(t, ""), c, path)
	large := topicstest.Messages(t, c, events.Records)
	if sent.Messages != 3 || len(large) != 1 || len(large[0].Value) != events.MaxMessageBytes {
		t.Errorf("%d messages were sent, %d of them records", sent.Messages, len(large))
	}
}

// Given messages behind the beginning of a transaction that nobody ends, when the wait for them is over, then its message names the
// transaction; of a partition without one it says nothing.
func TestWaitTellsOfAnOpenTransaction(t *testing.T) {
	cluster, err := kafka.Connect(kafka.Access{Addrs: []string{kafkatest.Start(t).Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	if _, err := kafka.Ensure(t.Context(), cluster, kafka.TopicSpec{Partitions: 2}); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(slices.Clone(cluster.Reading), kgo.TransactionalID(t.Name()), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: string(events.Contractors), Partition: 1, Value: []byte("{}")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	stalled := &load.Stalled{Behind: []load.Behind{
		{Topic: string(events.Contractors), Partition: 0, Place: "contractors", Want: 1},
		{Topic: string(events.Contractors), Partition: 1, Place: "contractors", Want: 1},
	}}
	if err := stalled.Explain(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	if got := stalled.Error(); strings.Count(got, "transaction that began") != 1 ||
		!strings.Contains(got, "ledger.contractors partition 1: a transaction that began at offset 0 is open") {
		t.Errorf("the message is %q", got)
	}
}
