// Package ingesttest fills a database as the worker would, without Kafka, for tests of what is done to tables beside
// it.
package ingesttest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/analytics"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/clickhouse/schematest"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// Cluster and TopicID are what the database knows of Kafka.
const (
	Cluster = "the test's cluster"
	TopicID = "the test's topic"
)

// Ledger is a database with one topic's entities in it, and what they should be.
type Ledger struct {
	DB         *database.Server
	Where      database.Options
	Entity     *store.Entity
	Partitions int
	Newest     map[string]events.Event // by tenant/id: the naive model
	// Formula, if not nil, is what rows carry instead of what they should: a formula of another release.
	Formula func(analytics.Contribution) analytics.Contribution

	t      testing.TB
	before map[string]events.Event // as the last row of each has it
	next   []uint64
	claim  *fence.Claim
	server string
	// What was sent and may have been written.
	pending map[int32]*sent
}

// New makes a database for the entities of a topic.
func New(t testing.TB, topic events.Topic, partitions int) *Ledger {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	return Open(t, database.Options{Addr: addr, Database: name, User: "default"}, topic, partitions)
}

// Open is New in a database of the caller's.
func Open(t testing.TB, where database.Options, topic events.Topic, partitions int) *Ledger {
	t.Helper()
	if err := database.Create(t.Context(), where, ""); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(where, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	schematest.Make(t, func(statement string) error { return db.Exec(t.Context(), database.Statement{SQL: statement}) })
	l := &Ledger{
		DB: db, Where: where, Entity: store.Of(topic), Partitions: partitions, Newest: map[string]events.Event{},
		t: t, before: map[string]events.Event{}, pending: map[int32]*sent{}, next: make([]uint64, partitions),
	}
	l.server, err = position.ServerUUID(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	l.Fence()
	l.Stream(position.NewStream(l.Entity, position.Installation{
		Log: kafkalog.Identity{Cluster: Cluster, Topic: TopicID, Partitions: partitions}, Server: l.server, Shards: 1,
	}))
	return l
}

// Log logs only what goes wrong.
func Log() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// Stream writes what the database knows of the topic.
func (l *Ledger) Stream(s position.Stream) {
	l.t.Helper()
	topic := string(l.Entity.Topic)
	if err := position.WriteStream(l.t.Context(), l.DB, topic, l.Where.Database+"/"+topic+"/test", s, "1", nil); err != nil {
		l.t.Fatal(err)
	}
}

// Fence puts up new fences, as a recovery does.
func (l *Ledger) Fence() {
	l.t.Helper()
	var all []int32
	for p := range l.Partitions {
		all = append(all, int32(p))
	}
	claim, held, err := fence.Put(l.t.Context(), l.DB, string(l.Entity.Topic), all, "ledger")
	if err != nil || len(held) > 0 || len(claim.Epochs) != l.Partitions {
		l.t.Fatalf("fences: got %v, held %v, %v", claim, held, err)
	}
	l.claim = claim
}

// TryFence puts up new fences and reports whether it got all; mends what a kill left torn, as a recovery does.
func (l *Ledger) TryFence() bool {
	var all []int32
	for p := range l.Partitions {
		all = append(all, int32(p))
	}
	ctx := context.Background()
	claim, _, err := fence.Put(ctx, l.DB, string(l.Entity.Topic), all, "ledger")
	if err != nil || len(claim.Epochs) != l.Partitions {
		return false
	}
	at, err := position.Read(ctx, l.DB, l.Entity, all)
	if err != nil {
		return false
	}
	l.claim = claim
	for p, stands := range at {
		if stands.Inconsistency() != "" {
			return false
		}
		writer := fence.WriterID(l.DB, claim.Topic, p)
		if stands.Missed() && position.Mend(ctx, l.DB, l.Entity, writer, p, stands, l.server, fence.Counts, claim.Params(p)) != nil {
			return false
		}
		if l.pending[p] != nil && stands.State == l.pending[p].next {
			l.took(p, l.pending[p].next, l.pending[p].changes...)
		}
		delete(l.pending, p)
	}
	return true
}

// TryWrite is Write, but a failure leaves the batch in doubt until TryFence finds out.
func (l *Ledger) TryWrite(changes ...events.Event) {
	for p, of := range l.byPartition(changes) {
		_, next := l.block(p, of)
		l.pending[p] = &sent{next, of}
		if written, err := l.Try(p, of...); err != nil || written == 0 {
			return
		}
		delete(l.pending, p)
	}
}

// sent is a batch of which nobody knows whether it was written.
type sent struct {
	next    uint64
	changes []events.Event
}

// Write brings changes in, each by the partition of its key, one batch per partition. It takes them as they come: the
// newest versions last, each entity at most once.
func (l *Ledger) Write(changes ...events.Event) {
	l.t.Helper()
	of := l.byPartition(changes)
	for _, p := range slices.Sorted(maps.Keys(of)) {
		if written, err := l.Try(p, of[p]...); err != nil || written == 0 {
			l.t.Fatalf("insert into partition %d: %d rows, %v", p, written, err)
		}
	}
}

func (l *Ledger) byPartition(changes []events.Event) map[int32][]events.Event {
	of := map[int32][]events.Event{}
	for _, e := range changes {
		p := int32(kafka.Partition([]byte(e.Key()), l.Partitions))
		of[p] = append(of[p], e)
	}
	return of
}

// Try writes one batch of a partition; the model and the next batches take it as written when it was.
func (l *Ledger) Try(p int32, changes ...events.Event) (written uint64, err error) {
	l.t.Helper()
	block, next := l.block(p, changes)
	e := l.Entity
	written, err = l.DB.Insert(context.Background(), database.Statement{
		ID:    fence.WriterID(l.DB, string(e.Topic), p),
		SQL:   e.Insert(fence.Counts + " AND " + position.StateIs(e.Table) + " AND " + position.SameServer),
		Batch: block.Batch(),
		Params: l.claim.Params(p).With(database.Params{
			"first": strconv.FormatUint(l.next[p], 10), "key": clickhouse.PositionProject(p), "server": l.server,
		}),
	})
	if err == nil && written > 0 {
		l.took(p, next, changes...)
	}
	return written, err
}

// took records that a batch was written.
func (l *Ledger) took(p int32, next uint64, changes ...events.Event) {
	l.next[p] = next
	for _, c := range changes {
		l.Newest[c.Key()], l.before[c.Key()] = c, c
	}
}

// Snapshot returns what sets the model back to what it is now, as a backup that is restored does with the tables.
func (l *Ledger) Snapshot() (restore func()) {
	newest, before, next := maps.Clone(l.Newest), maps.Clone(l.before), slices.Clone(l.next)
	return func() { l.Newest, l.before, l.next = newest, before, next }
}

// Next is the position of a partition.
func (l *Ledger) Next(p int32) uint64 { return l.next[p] }

func (l *Ledger) block(p int32, changes []events.Event) (*store.Block, uint64) {
	l.t.Helper()
	block := l.Entity.NewBlock()
	deltas := Deltas{}
	first := l.next[p]
	next := first
	for _, c := range changes {
		row := store.Row{
			Tenant: c.TenantID, ID: c.ID, Version: uint64(c.Version), Deleted: c.Op == events.Delete, At: c.At, Data: c.Data, SrcOffset: next,
			KeyHash: kafka.Hash([]byte(c.Key())) & 0x7fffffff, ContentHash: c.ContentHash(),
		}
		next += 2 // logs have gaps
		old, existed := l.before[c.Key()]
		row.Project = l.project(c, old)
		if existed {
			was := l.project(old, old)
			deltas.Add(c.TenantID, was, l.contribution(old), -1)
			if was != row.Project {
				gone := row
				gone.Project, gone.Deleted, gone.Moved, gone.Data = was, true, true, nil
				block.Append(&gone)
			}
		}
		deltas.Add(c.TenantID, row.Project, l.contribution(c), 1)
		block.Append(&row)
	}
	next = max(next, first+1)
	block.AppendPosition(p, next, -1, time.Now())
	deltas.AddTo(block)
	block.Sort()
	return block, next
}

func (l *Ledger) project(c, old events.Event) string {
	if c.Data == nil {
		if old.Data == nil {
			return ""
		}
		return l.Entity.Project(old.ID, old.Data)
	}
	return l.Entity.Project(c.ID, c.Data)
}

func (l *Ledger) contribution(c events.Event) analytics.Contribution {
	l.t.Helper()
	all, err := l.Entity.Contribution(nil, c.ID, c.Data)
	if err != nil {
		l.t.Fatal(err)
	}
	if l.Formula != nil {
		return l.Formula(all)
	}
	return all
}

// Follow makes the database follow the topic of this cluster.
func (l *Ledger) Follow(t testing.TB, c kafka.Cluster) {
	t.Helper()
	asking, err := kgo.NewClient(c.Reading...)
	if err != nil {
		t.Fatal(err)
	}
	defer asking.Close()
	name := string(l.Entity.Topic)
	ids, err := kafkalog.Identities(t.Context(), asking, name)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := position.ReadStream(t.Context(), l.DB, name)
	if err != nil {
		t.Fatal(err)
	}
	s.Revision, s.ClusterID, s.TopicID = s.Revision+1, ids[name].Cluster, ids[name].Topic
	l.Stream(s)
}

// Eventually does something until a server that died, or dies, is there again.
func (l *Ledger) Eventually(what string, do func() error) {
	l.t.Helper()
	pauses := retry.WithMaxDuration(time.Minute, retry.NewConstant(100*time.Millisecond))
	err := retry.Do(context.Background(), pauses, func(context.Context) error { return retry.RetryableError(do()) })
	if err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
}

// Exec runs a statement.
func (l *Ledger) Exec(statement string, args ...any) {
	l.t.Helper()
	if err := l.DB.Exec(l.t.Context(), database.Statement{SQL: fmt.Sprintf(statement, args...)}); err != nil {
		l.t.Fatalf("%s: %v", statement, err)
	}
}

// Number reads one number.
func (l *Ledger) Number(query string, args ...any) (n int64) {
	l.t.Helper()
	if err := l.DB.Row(l.t.Context(), database.Query{SQL: "SELECT toInt64((" + fmt.Sprintf(query, args...) + "))"}, &n); err != nil {
		l.t.Fatalf("%s: %v", query, err)
	}
	return n
}
