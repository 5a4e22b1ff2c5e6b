// Package fence decides who may write a partition. A fence is a row; of a partition's rows the greatest (epoch, owner)
// counts. Every insert is conditional on its writer's fence, so whoever puts up a new one and then kills what still
// runs knows that nothing older can land any more (docs/architecture.md). A hold is a fence that other writers do not
// override.
package fence

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"

	"tallyhouse/ingest/store/database"
)

// Database is what fences need of their server.
type Database interface {
	Name() string
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
	Exec(ctx context.Context, st database.Statement) error
}

// Claim is one attempt's fences on partitions of a topic.
type Claim struct {
	Topic  string
	Owner  string
	Epochs map[int32]uint64 // of the partitions that were got
}

// Held says who keeps a partition from being claimed.
type Held struct {
	Topic     string
	Partition int32
	Owner     string
	Since     time.Time
}

func (h *Held) Error() string {
	return fmt.Sprintf("partition %d is held by %s since %s: wait for it, or, if that process is dead, run `tallyhouse release %s`",
		h.Partition, Holder(h.Owner), h.Since.UTC().Format(time.RFC3339), h.Topic)
}

// Holder is the part of a hold's owner that names the holder.
func Holder(owner string) string {
	holder, _, _ := strings.Cut(owner, "/")
	return holder
}

// Counts is the condition under which a partition's fence is the one that counts. Its parameters are those of
// Claim.Params.
const Counts = `(SELECT max((epoch, owner)) FROM fences WHERE topic = {topic:String} AND partition = {partition:UInt32})
    = ({epoch:UInt64}, {owner:String})`

// Params are the parameters of Counts for a partition of the claim.
func (c *Claim) Params(partition int32) database.Params {
	return database.Params{
		"topic": c.Topic, "partition": number(partition), "epoch": strconv.FormatUint(c.Epochs[partition], 10), "owner": c.Owner,
	}
}

// Has reports whether the claim got the partition.
func (c *Claim) Has(partition int32) bool { _, ok := c.Epochs[partition]; return ok }

const newest = `
SELECT partition, max(epoch), argMax(owner, (epoch, owner)), argMax(held, (epoch, owner)), argMax(since, (epoch, owner))
FROM fences WHERE topic = {topic:String} GROUP BY partition`

// Only on top of what was read: a statement that arrives late, after others, writes nothing. A partition without a row
// has epoch 0.
const raise = `
INSERT INTO fences (topic, partition, epoch, owner, held, since)
SELECT {topic:String}, asked.partition, asked.epoch + {step:UInt64}, {owner:String}, {held:Bool}, now64(3)
FROM (SELECT arrayJoin({asked:Array(Tuple(UInt32, UInt64))}) AS pair, pair.1 AS partition, pair.2 AS epoch) AS asked
LEFT JOIN (
    SELECT partition, max(epoch) AS top, argMax(held, (epoch, owner)) AS is_held, argMax(owner, (epoch, owner)) AS keeper
    FROM fences WHERE topic = {topic:String} GROUP BY partition
) AS standing ON standing.partition = asked.partition
WHERE standing.top = asked.epoch AND (NOT standing.is_held OR startsWith(standing.keeper, {holder:String}) AND {holder:String} != '')`

const mine = `SELECT partition, epoch FROM fences WHERE topic = {topic:String} AND owner = {owner:String}`

// holdStep makes a hold's epoch so much greater that no fence computed before it can outrank it.
const holdStep = 1_000_000

// Current is the fence that counts on a partition.
type Current struct {
	Epoch uint64
	Owner string
	Held  bool
	Since time.Time
}

// Read returns the fence that counts on each partition of the topic that has one.
func Read(ctx context.Context, db Database, topic string) (map[int32]Current, error) {
	all := map[int32]Current{}
	err := db.Rows(ctx, database.Query{SQL: newest, Params: database.Params{"topic": topic}}, func(scan func(...any) error) error {
		var p uint32
		var s Current
		if err := scan(&p, &s.Epoch, &s.Owner, &s.Held, &s.Since); err != nil {
			return err
		}
		all[int32(p)] = s
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the fences of %s: %w", topic, err)
	}
	return all, nil
}

// Put puts up a new fence on each of the partitions for a writer, whose name is part of the owner's. The claim names
// those that were got; held, those that somebody holds. The others lost a race: ask again.
func Put(ctx context.Context, db Database, topic string, partitions []int32, writer string) (
	claim *Claim, held map[int32]*Held, err error,
) {
	claim, held, err = put(ctx, db, topic, partitions, writer+":"+randomID(), "", 1, false)
	if err != nil {
		return nil, nil, err
	}
	return claim, held, trim(ctx, db, claim)
}

// Writer is the part of a fence's owner that names the writer, "" for one that a holder left behind.
func Writer(owner string) string {
	writer, _, ok := strings.Cut(owner, ":")
	if !ok {
		return ""
	}
	return writer
}

func put(ctx context.Context, db Database, topic string, partitions []int32, owner, holder string, step uint64,
	hold bool) (*Claim, map[int32]*Held, error) {
	current, err := Read(ctx, db, topic)
	if err != nil {
		return nil, nil, err
	}
	held := map[int32]*Held{}
	var asked []string
	for _, p := range partitions {
		s := current[p]
		if s.Held && (holder == "" || Holder(s.Owner) != holder) {
			held[p] = &Held{Topic: topic, Partition: p, Owner: s.Owner, Since: s.Since}
			continue
		}
		asked = append(asked, fmt.Sprintf("(%d,%d)", p, s.Epoch))
	}
	claim := &Claim{Topic: topic, Owner: owner, Epochs: map[int32]uint64{}}
	if len(asked) == 0 {
		return claim, held, nil
	}
	prefix := holder
	if prefix != "" {
		prefix += "/"
	}
	err = db.Exec(ctx, database.Statement{
		SQL: raise,
		ID:  fencePrefix(db, topic) + randomID(),
		Params: database.Params{
			"topic": topic, "owner": owner, "holder": prefix, "step": strconv.FormatUint(step, 10), "held": strconv.FormatBool(hold),
			"asked": "[" + strings.Join(asked, ",") + "]",
		},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("put up fences on %s: %w", topic, err)
	}
	err = db.Rows(ctx, database.Query{SQL: mine, Params: database.Params{"topic": topic, "owner": owner}},
		func(scan func(...any) error) error {
			var p uint32
			var epoch uint64
			if err := scan(&p, &epoch); err != nil {
				return err
			}
			claim.Epochs[int32(p)] = epoch
			return nil
		})
	if err != nil {
		return nil, nil, fmt.Errorf("read back the fences of %s: %w", topic, err)
	}
	return claim, held, nil
}

// Superseded rows are taken out by the one that superseded them, by numbers that it knows: a row that arrives meanwhile
// has a greater epoch, or counts for nothing. Each would be a block that every insert's condition scans.
const (
	countRows = `SELECT count() FROM fences WHERE topic = {topic:String}`
	trimRows  = `ALTER TABLE fences DELETE WHERE topic = {topic:String}
    AND arrayExists(mine -> partition = mine.1 AND epoch < mine.2, {mine:Array(Tuple(UInt32, UInt64))})
SETTINGS mutations_sync = 1`
)

// sparedRows is how many rows a topic may have beyond those that a claim has: trimming is a mutation, which costs more
// than a few rows.
const sparedRows = 32

func trim(ctx context.Context, db Database, c *Claim) error {
	var rows uint64
	params := database.Params{"topic": c.Topic}
	q := database.Query{SQL: countRows, Params: params}
	if err := db.Rows(ctx, q, func(scan func(...any) error) error { return scan(&rows) }); err != nil {
		return fmt.Errorf("count the fences of %s: %w", c.Topic, err)
	}
	if rows <= uint64(len(c.Epochs))+sparedRows || len(c.Epochs) == 0 {
		return nil
	}
	var mine []string
	for p, epoch := range c.Epochs {
		mine = append(mine, fmt.Sprintf("(%d,%d)", p, epoch))
	}
	err := db.Exec(ctx, database.Statement{SQL: trimRows, Params: params.With(database.Params{"mine": "[" + strings.Join(mine, ",") + "]"})})
	if err != nil {
		return fmt.Errorf("trim the fences of %s: %w", c.Topic, err)
	}
	return nil
}

// Counting reports for each partition of the claim whether its fence is the one that counts.
func (c *Claim) Counting(ctx context.Context, db Database) (map[int32]bool, error) {
	current, err := Read(ctx, db, c.Topic)
	if err != nil {
		return nil, err
	}
	counts := map[int32]bool{}
	for p := range c.Epochs {
		counts[p] = current[p].Owner == c.Owner // no other attempt has its name
	}
	return counts, nil
}

// WriterID is a fresh query id for an insert of the partition; PartitionPrefix begins all of them.
func WriterID(db Database, topic string, partition int32) string {
	return PartitionPrefix(db, topic, partition) + randomID()
}

// PartitionPrefix begins the ids of all inserts into a partition.
func PartitionPrefix(db Database, topic string, partition int32) string {
	return TopicPrefix(db, topic) + number(partition) + "/"
}

// TopicPrefix begins the ids of all inserts of a topic, its holders' too.
func TopicPrefix(db Database, topic string) string { return db.Name() + "/" + topic + "/" }

// fencePrefix begins the ids of the statements that put up fences on a topic. A kill does not end them: they are
// conditional on what they read.
func fencePrefix(db Database, topic string) string { return db.Name() + "/fence/" + topic + "/" }

const (
	killAll  = `KILL QUERY WHERE arrayExists(prefix -> startsWith(query_id, prefix), {prefixes:Array(String)}) SYNC`
	stillRun = `SELECT count() FROM system.processes WHERE arrayExists(prefix -> startsWith(query_id, prefix), {prefixes:Array(String)})`
)

// Kill asks again for longer than the server waits for data that do not come.
const (
	killTries = 1500
	killEvery = 20 * time.Millisecond
)

// Kill ends the statements whose ids begin with one of the prefixes, one's own too, and waits until none runs. What
// starts after it finds the fence.
func Kill(ctx context.Context, db Database, prefixes ...string) error {
	params := database.Params{"prefixes": quoteAll(prefixes)}
	pauses := retry.WithMaxRetries(killTries, retry.NewConstant(killEvery))
	return retry.Do(ctx, pauses, func(ctx context.Context) error {
		var running uint64
		err := db.Rows(ctx, database.Query{SQL: stillRun, Params: params}, func(scan func(...any) error) error { return scan(&running) })
		if err != nil {
			return fmt.Errorf("see which inserts still run: %w", err)
		}
		if running == 0 {
			return nil
		}
		if err := db.Exec(ctx, database.Statement{SQL: killAll, Params: params, Limit: 20 * time.Second}); err != nil {
			return fmt.Errorf("kill inserts in doubt: %w", err)
		}
		return retry.RetryableError(fmt.Errorf("inserts under %s do not end: restart the ClickHouse server", strings.Join(prefixes, ", ")))
	})
}

func quoteAll(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func number(partition int32) string { return strconv.Itoa(int(partition)) }

func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
