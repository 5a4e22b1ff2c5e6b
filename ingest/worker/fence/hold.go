package fence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"

	"tallyhouse/ingest/store/database"
)

// ErrLostRace says that others put up fences between a holder's read and its write.
var ErrLostRace = errors.New("others were quicker on some partitions: try again")

// Hold keeps all writers of a topic out while somebody works on its tables.
type Hold struct {
	*Claim
	holder     string
	partitions []int32
}

// NewHolder names who holds: the command, the host and the process, and what makes it unique.
func NewHolder(command string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return strings.ReplaceAll(fmt.Sprintf("%s on %s (pid %d, %s)", command, host, os.Getpid(), randomID()), "/", "-")
}

// Take puts up a hold on all the partitions and kills what runs; a hold of the same holder is replaced, which is how
// a holder goes on after a statement in doubt, and so is one that came with a backup. When it does not get every
// partition, or fails, it gives all back; the error is then a *Held that names the other holder, or wraps ErrLostRace:
// try again; or it is the server's.
func Take(ctx context.Context, db Database, topic string, partitions []int32, holder string) (*Hold, error) {
	h := &Hold{Claim: &Claim{Topic: topic}, holder: holder, partitions: partitions}
	err := h.take(ctx, db)
	if err == nil {
		return h, nil
	}
	// Even a statement that failed may have landed, or may yet: a fence on top of the current one keeps it from ever
	// counting.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	return nil, errors.Join(err, h.Release(ctx, db))
}

// releaseTimeout bounds the release of a hold that could not be taken.
const releaseTimeout = time.Minute

func (h *Hold) take(ctx context.Context, db Database) error {
	topic := h.Topic
	if err := h.takeOverRestored(ctx, db); err != nil {
		return err
	}
	claim, held, err := put(ctx, db, topic, h.partitions, h.owner(), h.holder, holdStep, true)
	if err != nil {
		return err
	}
	h.Claim = claim
	// Two that wrote at the same moment both find their own rows. When this returns, whatever was under way has
	// landed; whatever comes later finds a hold.
	if err := awaitFences(ctx, db, topic); err != nil {
		return err
	}
	err = h.Check(ctx, db)
	if lost := (*Lost)(nil); errors.As(err, &lost) {
		for _, other := range held {
			return fmt.Errorf("hold %s: %w", topic, other)
		}
		return fmt.Errorf("hold %s: %w", topic, ErrLostRace)
	}
	if err != nil {
		return err
	}
	if err := Kill(ctx, db, TopicPrefix(db, topic)); err != nil {
		return err
	}
	return h.Check(ctx, db)
}

// fencesMade is when the table of fences was made on this server, in whole seconds. Nothing that happens to its rows changes it.
const fencesMade = `SELECT metadata_modification_time FROM system.tables WHERE database = currentDatabase() AND name = 'fences'`

// takeOverRestored replaces the holds of others that are older than the table in which they are: a backup keeps the holds
// of its moment, and nobody has them any more when it was restored. The clock of another server may have made one younger;
// that one has to be released.
func (h *Hold) takeOverRestored(ctx context.Context, db Database) error {
	current, err := Read(ctx, db, h.Topic)
	if err != nil {
		return err
	}
	var made time.Time
	for _, p := range h.partitions {
		s := current[p]
		if !s.Held || Holder(s.Owner) == h.holder {
			continue
		}
		if made.IsZero() {
			if err := db.Rows(ctx, database.Query{SQL: fencesMade}, func(scan func(...any) error) error { return scan(&made) }); err != nil {
				return fmt.Errorf("see when the fences were made: %w", err)
			}
		}
		if !s.Since.Before(made) {
			continue
		}
		if err := override(ctx, db, h.Topic, p, Holder(s.Owner), h.owner(), holdStep, true); err != nil {
			return err
		}
	}
	return nil
}

const (
	fencesUnderWay = `SELECT query_id FROM system.processes WHERE startsWith(query_id, {prefix:String})`
	fencesStillRun = `SELECT count() FROM system.processes WHERE query_id IN {ids:Array(String)}`
	awaitTries     = 3000
	awaitEvery     = 10 * time.Millisecond
)

// awaitFences waits until the statements that put up fences on the topic, and run now, have ended.
func awaitFences(ctx context.Context, db Database, topic string) error {
	var ids []string
	params := database.Params{"prefix": fencePrefix(db, topic)}
	err := db.Rows(ctx, database.Query{SQL: fencesUnderWay, Params: params}, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("see which fences are being put up: %w", err)
	}
	if len(ids) == 0 {
		return nil
	}
	params = database.Params{"ids": quoteAll(ids)}
	pauses := retry.WithMaxRetries(awaitTries, retry.NewConstant(awaitEvery))
	return retry.Do(ctx, pauses, func(ctx context.Context) error {
		var running uint64
		err := db.Rows(ctx, database.Query{SQL: fencesStillRun, Params: params}, func(scan func(...any) error) error { return scan(&running) })
		if err != nil {
			return fmt.Errorf("see which fences are being put up: %w", err)
		}
		if running > 0 {
			return retry.RetryableError(fmt.Errorf("statements that put up fences on %s do not end: restart the ClickHouse server", topic))
		}
		return nil
	})
}

// Lost says that a hold does not count on a partition.
type Lost struct {
	Topic     string
	Partition int32
}

func (l *Lost) Error() string {
	return fmt.Sprintf("the hold on partition %d of %s no longer counts: the server was restarted or somebody "+
		"released it; start again", l.Partition, l.Topic)
}

// Check reports whether the hold still counts on every partition it asked for; a *Lost when not.
func (h *Hold) Check(ctx context.Context, db Database) error {
	counts, err := h.Counting(ctx, db)
	if err != nil {
		return err
	}
	for _, p := range h.partitions {
		if !counts[p] {
			return &Lost{Topic: h.Topic, Partition: p}
		}
	}
	return nil
}

// StatementID is a fresh query id for a statement of the hold's work.
func (h *Hold) StatementID(db Database) string { return h.prefix(db) + randomID() }

// prefix begins the ids of this holder's statements: giving up must not kill those of another.
func (h *Hold) prefix(db Database) string { return TopicPrefix(db, h.Topic) + "hold/" + h.holder + "/" }

// HoldCounts is the condition under which a hold counts on every partition of its topic. Its parameters are those of
// Hold.Params.
const HoldCounts = `(SELECT countIf(newest = {hold:String})
    FROM (SELECT argMax(owner, (epoch, owner)) AS newest FROM fences WHERE topic = {topic:String} GROUP BY partition)) = {held:UInt64}`

// Params are the parameters of HoldCounts.
func (h *Hold) Params() database.Params {
	return database.Params{"topic": h.Topic, "hold": h.Owner, "held": strconv.Itoa(len(h.partitions))}
}

// Release takes the hold down, by a plain fence on every partition that it asked for, on top of what it read. What
// was sent under the hold may still be on its way, and must not land behind the release: first another attempt's hold
// makes sure that none of it begins any more, then what has begun is killed. Releasing what was not got does no harm:
// the next writer puts up its own fence.
func (h *Hold) Release(ctx context.Context, db Database) error {
	current, err := Read(ctx, db, h.Topic)
	if err != nil {
		return fmt.Errorf("release %s: %w", h.Topic, err)
	}
	var held []int32 // by this holder, or by another, whom nothing is put over
	for _, p := range h.partitions {
		if current[p].Held {
			held = append(held, p)
		}
	}
	if _, _, err := put(ctx, db, h.Topic, held, h.owner(), h.holder, holdStep, true); err != nil {
		return fmt.Errorf("release %s: %w", h.Topic, err)
	}
	if err := Kill(ctx, db, h.prefix(db)); err != nil {
		return fmt.Errorf("release %s: %w", h.Topic, err)
	}
	if _, _, err := put(ctx, db, h.Topic, h.partitions, randomID(), h.holder, 1, false); err != nil {
		return fmt.Errorf("release %s: %w", h.Topic, err)
	}
	return nil
}

// owner is that of a new attempt to hold.
func (h *Hold) owner() string { return h.holder + "/" + randomID() }

// Break ends a hold whose holder died: it takes the hold over with one of its own, which kills whatever the dead
// holder left running, and releases that. It returns who had it; nothing when nobody had. command says who does it.
func Break(ctx context.Context, db Database, topic string, command string) (broken []Held, err error) {
	current, err := Read(ctx, db, topic)
	if err != nil {
		return nil, err
	}
	for p, s := range current {
		if s.Held {
			broken = append(broken, Held{Topic: topic, Partition: p, Owner: s.Owner, Since: s.Since})
		}
	}
	if len(broken) == 0 {
		return nil, nil
	}
	slices.SortFunc(broken, func(a, b Held) int { return cmp.Compare(a.Partition, b.Partition) })
	for _, b := range broken {
		// Each partition may have another holder; overriding takes that one's name, the attempt is our own.
		holder := Holder(b.Owner)
		if err := override(ctx, db, topic, b.Partition, holder, holder+"/"+command+" "+randomID(), holdStep, true); err != nil {
			return nil, err
		}
	}
	if err := Kill(ctx, db, TopicPrefix(db, topic)); err != nil {
		return nil, err
	}
	for _, b := range broken {
		if err := override(ctx, db, topic, b.Partition, Holder(b.Owner), randomID(), 1, false); err != nil {
			return nil, err
		}
	}
	return broken, nil
}

// override puts a fence or a hold over that of a holder who is believed dead.
func override(ctx context.Context, db Database, topic string, partition int32, holder, owner string, step uint64, hold bool) error {
	claim, held, err := put(ctx, db, topic, []int32{partition}, owner, holder, step, hold)
	switch {
	case err != nil:
		return err
	case held[partition] != nil:
		return fmt.Errorf("end a hold on %s: meanwhile %w", topic, held[partition])
	case !claim.Has(partition):
		return fmt.Errorf("end a hold on %s: %w: %s may still be alive", topic, ErrLostRace, holder)
	}
	return nil
}
