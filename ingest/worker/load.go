package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
)

// loadHeads brings the heads of the partitions to where they are. Those of this life at the position are good; those
// behind it take in what came since; the others are loaded anew, all that need it in one scan.
func (r *recovery) loadHeads(ctx context.Context) error {
	var anew []int32
	for _, p := range r.partitions() {
		q, ok := r.members[p]
		if !ok { // its writer had to end while another one's heads were loaded
			continue
		}
		h, at := q.w.heads, r.found[p].position
		switch {
		case h.life == r.stream.Life && h.position == at:
		case h.life == r.stream.Life && h.position < at:
			r.metrics.heads.WithLabelValues("caught up").Inc()
			params := database.Params{"partition": strconv.Itoa(int(p)), "position": number(h.position)}
			if err := r.load(ctx, []int32{p}, caughtUp, params); err != nil {
				return err
			}
		default:
			r.metrics.heads.WithLabelValues("loaded").Inc()
			h.forget()
			anew = append(anew, p)
		}
	}
	if len(anew) == 0 {
		return nil
	}
	var numbers, keys []string
	for _, p := range anew {
		numbers = append(numbers, strconv.Itoa(int(p)))
		keys = append(keys, "'"+clickhouse.PositionProject(p)+"'")
	}
	return r.load(ctx, anew, ofPartitions, database.Params{
		"partitions": number(uint64(r.stream.Partitions)),
		"load":       "[" + strings.Join(numbers, ",") + "]", "keys": "[" + strings.Join(keys, ",") + "]",
	})
}

// The rows and the position row come in one SELECT, which is one snapshot and says where it stands. A row belongs to
// the partition of its key, whatever partition it came from.
const (
	caughtUp     = `src_partition = {partition:UInt32} AND NOT moved AND src_offset >= {position:UInt64}`
	ofPartitions = `NOT moved AND (tenant != '' AND key_hash % {partitions:UInt32} IN {load:Array(UInt32)}
		OR tenant = '' AND project IN {keys:Array(String)})`
)

// load streams rows into the heads of some partitions, the greatest version of each entity winning. A partition whose
// position moved meanwhile leaves, and is loaded again alone. One whose heads can't be loaded leaves, too, and the others
// go on, as they do when its writer has to end. The scan is read to its end in any case: the embedded engine bears few
// statements that are broken off. Another one begins only then.
func (r *recovery) load(ctx context.Context, partitions []int32, where string, params database.Params) error {
	if r.scan != nil {
		r.awaitUnlessStopped(r.scan.closed, r.releaseStopped)
	}
	s := &headScan{into: map[int32]*headLoader{}, partitions: r.stream.Partitions}
	for _, p := range partitions {
		if q, ok := r.members[p]; ok {
			q.w.heads.life = ""
			s.into[p] = &headLoader{heads: q.w.heads}
		}
	}
	if len(s.into) == 0 {
		return nil
	}
	r.scan = s
	scanInto(ctx, r.db, r.entity, s, where, params)
	r.awaitScan(s)
	if len(r.members) == 0 {
		return nil
	}
	if s.err != nil {
		return fmt.Errorf("load the heads of %s: %w", r.entity.Topic, s.err)
	}
	for p, l := range s.into {
		if _, ok := r.members[p]; !ok {
			continue
		}
		if l.err != nil {
			r.leave(p, fmt.Errorf("load the heads of partition %d of %s: %w", p, r.entity.Topic, l.err))
			continue
		}
		if l.position != r.found[p].position {
			r.leave(p, errors.New("the position moved while the heads were loaded"))
			continue
		}
		l.heads.life, l.heads.position = r.stream.Life, l.position
	}
	return nil
}

// loadTimeout bounds the loading of heads: tens of millions take seconds each.
const loadTimeout = 10 * time.Minute

// headLoader fills a partition's heads, a few rows of a block at a time.
type headLoader struct {
	heads        *heads
	position     uint64 // as the same snapshot shows it
	queued       []int  // rows of the block
	keys         []latest.Key
	contribution analytics.Contribution
	summands     []summand
	packed       []byte
	err          error       // that ended it: nothing more is loaded
	left         atomic.Bool // by its writer: nothing more is, either
}

// queue takes a row in, now or with the next ones.
func (l *headLoader) queue(images *store.Images, i int, row store.Image) {
	l.queued = append(l.queued, i)
	l.keys = append(l.keys, l.heads.hasher.KeyString(row.Tenant, row.ID))
	if len(l.queued) == expected {
		l.takeQueued(images)
	}
}

func (l *headLoader) takeQueued(images *store.Images) {
	wanted := !l.left.Load()
	if wanted && l.err == nil {
		l.heads.table.Prefetch(l.keys)
	}
	for n, i := range l.queued {
		if wanted && l.err == nil {
			l.err = l.take(images, i, l.keys[n])
		}
	}
	l.queued, l.keys = l.queued[:0], l.keys[:0]
}

func (l *headLoader) take(images *store.Images, i int, key latest.Key) error {
	row := images.Row(i)
	if known, ok := l.heads.table.Get(key); ok && known.Version >= int64(row.Version) {
		return nil
	}
	var err error
	if l.contribution, err = images.Contribution(l.contribution[:0], i); err != nil {
		return fmt.Errorf("compute what %q of tenant %q contributes: %w", row.ID, row.Tenant, err)
	}
	if l.summands, err = l.heads.numbered(l.summands[:0], row.ID, l.contribution); err != nil {
		return err
	}
	l.packed = l.heads.shapes.pack(l.packed[:0], l.summands)
	project, err := l.heads.texts.NumberString(row.Project)
	if err != nil {
		return err
	}
	return l.heads.table.Put(key, latest.Head{
		Version: int64(row.Version), ContentHash: row.ContentHash, Project: project, Deleted: row.Deleted,
		Contribution: l.packed,
	})
}
