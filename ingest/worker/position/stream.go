package position

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	kafkalog "tallyhouse/schemas/kafka"
)

// Stream is what a database knows of a topic that it follows (table streams).
type Stream struct {
	Revision   uint64
	ClusterID  string
	TopicID    string
	Partitions uint32
	Server     string // serverUUID()
	Formula    uint32
	Life       string
	Work       string // the command in progress, "" when none
	Worker     string // whose
	Since      time.Time
}

// Refusal says why a worker doesn't write to this database and what to do about it.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Refuse makes a Refusal.
func Refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

const newestStream = `
SELECT revision, cluster_id, topic_id, partitions, server, formula, life, work, worker, since
FROM streams WHERE topic = {topic:String} ORDER BY revision DESC, life DESC LIMIT 1`

// ReadStream reads what the database knows of the topic; ok is false when it doesn't know it yet.
func ReadStream(ctx context.Context, db Database, topic string) (s Stream, ok bool, err error) {
	err = db.Rows(ctx, database.Query{SQL: newestStream, Params: database.Params{"topic": topic}}, func(scan func(...any) error) error {
		ok = true
		return scan(&s.Revision, &s.ClusterID, &s.TopicID, &s.Partitions, &s.Server, &s.Formula, &s.Life, &s.Work, &s.Worker, &s.Since)
	})
	if err != nil {
		return Stream{}, false, fmt.Errorf("read what the database knows of %s: %w", topic, err)
	}
	return s, ok, nil
}

const addStream = `
INSERT INTO streams (topic, revision, cluster_id, topic_id, partitions, server, formula, life, work, worker, since)
SELECT {topic:String}, {revision:UInt64}, {cluster:String}, {topic_id:String}, {partitions:UInt32}, {server:String}, {formula:UInt32}, {life:String}, {work:String}, {worker:String}, now64(3)
WHERE `

// WriteStream writes the topic's next revision, if the condition holds then.
func WriteStream(ctx context.Context, db Database, topic, id string, s Stream, condition string, params database.Params) error {
	n, err := db.Insert(ctx, database.Statement{SQL: addStream + condition, ID: id, Params: params.With(database.Params{
		"topic": topic, "revision": strconv.FormatUint(s.Revision, 10), "cluster": s.ClusterID, "topic_id": s.TopicID, "partitions": strconv.Itoa(int(s.Partitions)),
		"server": s.Server, "formula": strconv.Itoa(int(s.Formula)), "life": s.Life, "work": s.Work, "worker": s.Worker,
	})})
	if err == nil && n == 0 {
		err = ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("write what the database knows of %s: %w", topic, err)
	}
	return nil
}

// NewLife names a life of a stream: heads of another one are worth nothing.
func NewLife() string { return rand.Text() }

// Check holds what the database knows of a topic against the Kafka cluster, the server and this binary.
func (s Stream) Check(topic string, log kafkalog.Identity, server string) error {
	switch {
	case s.Work != "":
		return Refuse("%s on %s is in progress since %s by %s; when it died, run the same command again", s.Work, topic, s.Since.UTC().Format(time.RFC3339), s.Worker)
	case s.ClusterID != log.Cluster:
		return Refuse("this database follows %s of Kafka cluster %s, not of %s: connect the two that belong together", topic, s.ClusterID, log.Cluster)
	case s.TopicID != log.Topic:
		return Refuse("topic %s was made anew (id %s, the database follows %s): ingest it into an empty database", topic, log.Topic, s.TopicID)
	case s.Server != server:
		return Refuse("this database was written by ClickHouse server %s, this one is %s: connect to that server, or move with a hold", s.Server, server)
	case int(s.Partitions) != log.Partitions:
		return Refuse("%s has %d partitions, the database knows of %d: run `tallyhouse topics resize`", topic, log.Partitions, s.Partitions)
	case s.Formula < store.Formula:
		return Refuse("the rows of %s carry contributions by formula %d, this binary computes formula %d: run `tallyhouse migrate`, which re-states them", topic, s.Formula, store.Formula)
	case s.Formula > store.Formula:
		return Refuse("the rows of %s carry contributions by formula %d, this binary knows formula %d: use the newer binary", topic, s.Formula, store.Formula)
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
