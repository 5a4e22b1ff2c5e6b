package fence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"tallyhouse/ingest/database"
)

// ErrOutrun says that writers put up fences in the moment between a holder's reading and its writing.
var ErrOutrun = errors.New("writers were quicker on some partitions: try again")

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

// Take puts up a hold on all the partitions and kills what runs; a hold of the same holder is replaced, which is how a holder goes on
// after a statement in doubt. When it does not get every partition it gives all back; the error is then a *Held that names the other
// holder, or says that writers were quicker: try again.
func Take(ctx context.Context, db Database, topic string, partitions []int32, holder string) (*Hold, error) {
	claim, held, err := put(ctx, db, topic, partitions, holder+"/"+randomID(), holder, holdStep, true)
	if err != nil {
		return nil, err
	}
	h := &Hold{Claim: claim, holder: holder, partitions: partitions}
	if len(claim.Epochs) < len(partitions) {
		if err := h.Release(ctx, db); err != nil {
			return nil, err
		}
		for _, other := range held {
			return nil, fmt.Errorf("hold %s: %w", topic, other)
		}
		return nil, fmt.Errorf("hold %s: %w", topic, ErrOutrun)
	}
	if err := Kill(ctx, db, TopicPrefix(db, topic)); err != nil {
		return nil, err
	}
	if err := h.Check(ctx, db); err != nil {
		return nil, err
	}
	return h, nil
}

// Check tells whether the hold still counts on every partition.
func (h *Hold) Check(ctx context.Context, db Database) error {
	counts, err := h.Counting(ctx, db)
	if err != nil {
		return err
	}
	for _, p := range h.partitions {
		if !counts[p] {
			return fmt.Errorf("the hold on partition %d of %s no longer counts: the server was restarted or somebody released it; start again", p, h.Topic)
		}
	}
	return nil
}

// HoldCounts is the condition under which a hold counts on every partition of its topic. Its parameters are those of Hold.Params.
const HoldCounts = `(SELECT countIf(newest = {hold:String}) FROM (SELECT argMax(owner, (epoch, owner)) AS newest FROM fences WHERE topic = {topic:String} GROUP BY partition)) = {held:UInt64}`

// Params are the parameters of HoldCounts.
func (h *Hold) Params() database.Params {
	return database.Params{"topic": h.Topic, "hold": h.Owner, "held": strconv.Itoa(len(h.partitions))}
}

// Release takes the hold down, by a plain fence on every partition that it asked for, on top of what it read, after whatever it
// started is dead. Releasing what was not got does no harm: the next writer puts up its own fence.
func (h *Hold) Release(ctx context.Context, db Database) error {
	if err := Kill(ctx, db, TopicPrefix(db, h.Topic)+"hold/"); err != nil {
		return err
	}
	_, _, err := put(ctx, db, h.Topic, h.partitions, randomID(), h.holder, 1, false)
	if err != nil {
		return fmt.Errorf("release %s: %w", h.Topic, err)
	}
	return nil
}

// Break ends a hold whose holder died: it takes the hold over with one of its own, which kills whatever the dead holder left running,
// and releases that. It returns who had it; nothing when nobody had.
func Break(ctx context.Context, db Database, topic string, command string) (broken []Held, err error) {
	standing, err := Read(ctx, db, topic)
	if err != nil {
		return nil, err
	}
	var partitions []int32
	for p, s := range standing {
		if s.Held {
			partitions = append(partitions, p)
			broken = append(broken, Held{Partition: p, Owner: s.Owner, Since: s.Since})
		}
	}
	for i, p := range partitions {
		// Each partition may have another holder; overriding takes that one's name, the attempt is our own.
		holder := Holder(broken[i].Owner)
		owner := holder + "/" + command + " " + randomID()
		if _, _, err := put(ctx, db, topic, []int32{p}, owner, holder, holdStep, true); err != nil {
			return nil, err
		}
	}
	if len(partitions) == 0 {
		return nil, nil
	}
	if err := Kill(ctx, db, TopicPrefix(db, topic)); err != nil {
		return nil, err
	}
	for i, p := range partitions {
		if _, _, err := put(ctx, db, topic, []int32{p}, randomID(), Holder(broken[i].Owner), 1, false); err != nil {
			return nil, err
		}
	}
	return broken, nil
}
