package position

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
	kafkalog "tallyhouse/schemas/kafka"
)

// Stream is what a database knows of a topic that it follows (table streams).
type Stream struct {
	Revision   uint64
	ClusterID  string
	TopicID    string
	Partitions uint32
	Begins     []uint64 // where each partition's log began when the database began to follow it; 0 for those added later
	Server     string   // serverUUID()
	Shard      uint32   // of this server, from 0
	Shards     uint32
	Schema     uint32 // number of the newest migration
	Formula    string // of the entity's contributions
	Life       string
	Work       string // the command in progress, "" when none
	Worker     string // whose
	Since      time.Time
}

// Installation is what a binary and its connections are: a stream must have been written by its like.
type Installation struct {
	Log           kafkalog.Identity
	Server        string // serverUUID()
	Shard, Shards int
}

// Refusal says why a worker doesn't write to this database and what to do about it.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Refuse makes a Refusal.
func Refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

const streamColumns = "revision, cluster_id, topic_id, partitions, begins, server, shard, shards, schema, formula, life, " +
	"work, worker, since"

const newestStream = `SELECT ` + streamColumns + `
FROM streams WHERE topic = {topic:String} ORDER BY revision DESC, life DESC LIMIT 1`

// ReadStream reads what the database knows of the topic; ok is false when it doesn't know it yet.
func ReadStream(ctx context.Context, db Database, topic string) (s Stream, ok bool, err error) {
	err = db.Rows(ctx, database.Query{SQL: newestStream, Params: database.Params{"topic": topic}}, func(scan func(...any) error) error {
		ok = true
		return scan(&s.Revision, &s.ClusterID, &s.TopicID, &s.Partitions, &s.Begins, &s.Server, &s.Shard, &s.Shards, &s.Schema,
			&s.Formula, &s.Life, &s.Work, &s.Worker, &s.Since)
	})
	if err != nil {
		return Stream{}, false, fmt.Errorf("read what the database knows of %s: %w", topic, err)
	}
	return s, ok, nil
}

const addStream = `
INSERT INTO streams (topic, ` + streamColumns + `)
SELECT {topic:String}, {revision:UInt64}, {cluster:String}, {topic_id:String}, {partitions:UInt32}, {begins:Array(UInt64)},
    {written_by:String}, {shard:UInt32}, {shards:UInt32}, {schema:UInt32}, {formula:String}, {life:String}, {work:String}, {worker:String},
    now64(3)
WHERE `

// WriteStream writes the topic's next revision, if the condition holds then.
func WriteStream(ctx context.Context, db Database, topic, id string, s Stream, condition string, params database.Params) error {
	n, err := db.Insert(ctx, database.Statement{SQL: addStream + condition, ID: id, Params: params.With(database.Params{
		"topic": topic, "revision": strconv.FormatUint(s.Revision, 10), "cluster": s.ClusterID, "topic_id": s.TopicID,
		"partitions": number(s.Partitions), "begins": list(s.Begins), "written_by": s.Server, "shard": number(s.Shard),
		"shards": number(s.Shards), "schema": number(s.Schema), "formula": s.Formula, "life": s.Life,
		"work": s.Work, "worker": s.Worker,
	})})
	if err == nil && n == 0 {
		err = ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("write what the database knows of %s: %w", topic, err)
	}
	return nil
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func list(offsets []uint64) string {
	all := make([]string, len(offsets))
	for i, o := range offsets {
		all[i] = strconv.FormatUint(o, 10)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// Began is where the log of a partition began when the database began to follow it.
func (s Stream) Began(partition int32) uint64 {
	if int(partition) >= len(s.Begins) {
		return 0
	}
	return s.Begins[partition]
}

// IsGap reports whether a log that begins at an offset lacks messages behind a partition's position. It may begin above
// 0 when the database begins to follow it: that is none.
func (s Stream) IsGap(partition int32, position, begin uint64) bool {
	return position < begin && begin > s.Began(partition)
}

// ShardOf is the number, from 0, of the shard on which a partition is kept, of so many.
func ShardOf(partition int32, shards int) int { return int(partition) % max(shards, 1) }

// Keeps reports whether a partition is kept on the shard that this database was written as. Of the others it has no row, and stays at 0.
func (s Stream) Keeps(partition int32) bool { return ShardOf(partition, int(s.Shards)) == int(s.Shard) }

// NewLife names a life of a stream: heads of another one are worth nothing.
func NewLife() string { return rand.Text() }

// NewStream is what an installation writes down of a topic that nobody has followed yet.
func NewStream(e *store.Entity, in Installation) Stream {
	return Stream{
		Revision: 1, ClusterID: in.Log.Cluster, TopicID: in.Log.Topic, Partitions: uint32(in.Log.Partitions), Server: in.Server,
		Shard: uint32(in.Shard), Shards: uint32(in.Shards), Schema: clickhouse.Version, Formula: e.Formula, Life: NewLife(),
	}
}

// Check is nil when the stream is this installation's and nobody works on its tables; else a *Refusal.
func (s Stream) Check(e *store.Entity, in Installation) error {
	if s.Work != "" {
		return Refuse("%s on %s is in progress since %s by %s; when it died, run the same command again",
			s.Work, e.Topic, s.Since.UTC().Format(time.RFC3339), s.Worker)
	}
	if err := s.CheckIdentity(e, in); err != nil {
		return err
	}
	if int(s.Partitions) != in.Log.Partitions {
		return Refuse("%s has %d partitions, the database knows of %d: run `tallyhouse topics resize`", e.Topic, in.Log.Partitions, s.Partitions)
	}
	return s.CheckBinary(e)
}

// CheckIdentity is nil when the database is the one that follows this topic, on this server.
func (s Stream) CheckIdentity(e *store.Entity, in Installation) error {
	switch {
	case s.ClusterID != in.Log.Cluster:
		return Refuse("this database follows %s of Kafka cluster %s, not of %s: connect the two that belong together",
			e.Topic, s.ClusterID, in.Log.Cluster)
	case s.TopicID != in.Log.Topic:
		return Refuse("topic %s was made anew (id %s, the database follows %s): ingest it into an empty database",
			e.Topic, in.Log.Topic, s.TopicID)
	}
	return s.CheckServer(in)
}

// CheckServer is nil when the database is where it was written, as the shard that it was written as.
func (s Stream) CheckServer(in Installation) error {
	if s.Server != in.Server {
		return Refuse("this database was written by ClickHouse server %s, this one is %s: connect to that server, "+
			"or run `tallyhouse adopt` if it was moved or restored", s.Server, in.Server)
	}
	return s.CheckShard(in.Shard, in.Shards)
}

// CheckShard is nil when the database was written as this one of so many shards, counted from 0.
func (s Stream) CheckShard(shard, shards int) error {
	if int(s.Shard) != shard || int(s.Shards) != shards {
		return Refuse("this database was written as shard %d of %d, and is given as shard %d of %d: "+
			"give the addresses of all shards in the order in which they always were", s.Shard, s.Shards, shard, shards)
	}
	return nil
}

// CheckBinary is nil when this binary knows the tables as they are.
func (s Stream) CheckBinary(e *store.Entity) error {
	switch {
	case s.Schema < clickhouse.Version:
		return Refuse("%s was written with version %d of the schema, this binary knows version %d: run `tallyhouse migrate`",
			e.Table, s.Schema, clickhouse.Version)
	case s.Schema > clickhouse.Version:
		return Refuse("%s was written with version %d of the schema, this binary knows version %d: use the newer binary",
			e.Table, s.Schema, clickhouse.Version)
	case s.Formula != e.Formula:
		return Refuse("the sums of %s are by formula %s, this binary computes formula %s: "+
			"run `tallyhouse migrate`, which rebuilds them, or use the binary that knows it", e.Table, s.Formula, e.Formula)
	}
	return nil
}

// ServerUUID asks the server who it is.
func ServerUUID(ctx context.Context, db Database) (string, error) {
	var id string
	err := db.Rows(ctx, database.Query{SQL: "SELECT toString(serverUUID())"}, func(scan func(...any) error) error { return scan(&id) })
	if err != nil {
		return "", fmt.Errorf("ask the server who it is: %w", err)
	}
	return id, nil
}
