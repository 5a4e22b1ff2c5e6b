package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/heads"
)

// scanner reads large results block by block.
type scanner interface {
	Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error
}

// restoreHeads brings the heads of the partitions to their positions: used as they are when they are of this life and at the position,
// caught up when behind, else loaded anew, all that need it in one scan.
func (c *coordinator) restoreHeads(ctx context.Context, assignments map[int32]*assignment, members map[int32]request) error {
	var load []int32
	for p, a := range assignments {
		store := members[p].w.heads
		checkpoint, ok, err := store.Checkpoint()
		if err != nil {
			return err
		}
		switch {
		case ok && checkpoint.Life == a.life && checkpoint.Position == a.position:
			continue
		case ok && checkpoint.Life == a.life && checkpoint.Position < a.position:
			if err := c.catchUp(ctx, p, a, store, checkpoint.Position); err != nil {
				return err
			}
		default:
			load = append(load, p)
		}
	}
	if len(load) == 0 {
		return nil
	}
	return c.load(ctx, load, assignments, members)
}

// The rows and the position row come in one SELECT, which is one snapshot and gives its position.
const (
	caughtUpRows = `src_partition = {partition:UInt32} AND NOT moved AND src_offset >= {position:UInt64}`
	loadedRows   = `NOT moved AND (tenant != '' AND key_hash % {partitions:UInt32} IN {load:Array(UInt32)} OR tenant = '' AND project IN {keys:Array(String)})`
)

func (c *coordinator) catchUp(ctx context.Context, p int32, a *assignment, store *heads.Partition, from uint64) error {
	c.metrics.heads.WithLabelValues("caught up").Inc()
	q := database.Query{SQL: c.headRows(caughtUpRows), Params: database.Params{"partition": strconv.Itoa(int(p)), "position": strconv.FormatUint(from, 10)}}
	return c.loadRows(ctx, q, map[int32]*assignment{p: a}, map[int32]*heads.Partition{p: store})
}

func (c *coordinator) load(ctx context.Context, load []int32, assignments map[int32]*assignment, members map[int32]request) error {
	var numbers, keys []string
	selected, stores := map[int32]*assignment{}, map[int32]*heads.Partition{}
	for _, p := range load {
		c.metrics.heads.WithLabelValues("loaded").Inc()
		selected[p], stores[p] = assignments[p], members[p].w.heads
		if err := stores[p].Clear(); err != nil {
			return err
		}
		numbers = append(numbers, strconv.Itoa(int(p)))
		keys = append(keys, "'"+store.PositionKey(p)+"'")
	}
	partitions := selected[load[0]].partitions
	q := database.Query{SQL: c.headRows(loadedRows), Params: database.Params{
		"partitions": strconv.Itoa(partitions), "load": "[" + strings.Join(numbers, ",") + "]", "keys": "[" + strings.Join(keys, ",") + "]",
	}}
	return c.loadRows(ctx, q, selected, stores)
}

func (c *coordinator) headRows(where string) string {
	columns := "CAST(tenant AS String) AS tenant_id, project, id, row_version, deleted, content_hash, key_hash, src_partition"
	if c.entity.Contributes() {
		for _, m := range append(append([]string{}, c.entity.Shape.Keys...), c.entity.Shape.Sums...) {
			columns += ", `after." + m + "` AS after_" + m
		}
	}
	return "SELECT " + columns + " FROM " + c.entity.Table + " WHERE " + where
}

// loadBytes is how many bytes of heads are collected before they are written.
const loadBytes = 4 << 20

// loadRows streams rows into the heads, the greatest row_version of each id winning, and writes the checkpoint at the position that the
// same snapshot shows.
func (c *coordinator) loadRows(ctx context.Context, q database.Query, assignments map[int32]*assignment, stores map[int32]*heads.Partition) error {
	rows := newHeadRows(c.entity)
	at := map[int32]uint64{}
	gathered := map[int32]map[string]heads.Head{}
	bytes, total, logged := 0, 0, time.Now()
	flush := func() error {
		for p, newer := range gathered {
			if err := keepNewest(stores[p], newer); err != nil {
				return err
			}
		}
		bytes, gathered = 0, map[int32]map[string]heads.Head{}
		return nil
	}
	err := c.db.Scan(ctx, q, rows.results(), func() error {
		for i := range rows.tenant.Rows() {
			tenant, project := rows.tenant.Row(i), rows.project.Row(i)
			if tenant == "" {
				p := int32(rows.srcPartition.Row(i))
				at[p] = max(at[p], rows.rowVersion.Row(i))
				continue
			}
			p := int32(int(rows.keyHash.Row(i)) % anyOf(assignments).partitions)
			if stores[p] == nil {
				// A row that this partition took before a resize: its id has moved to another.
				continue
			}
			if gathered[p] == nil {
				gathered[p] = map[string]heads.Head{}
			}
			key := tenant + "/" + rows.id.Row(i)
			if h, ok := gathered[p][key]; !ok || h.RowVersion < rows.rowVersion.Row(i) {
				gathered[p][key] = rows.head(i, project)
			}
			bytes += 200 + len(key)
			total++
		}
		if time.Since(logged) > 5*time.Second {
			c.log.Info("loading heads", "topic", c.entity.Topic, "rows", total)
			logged = time.Now()
			for p := range assignments {
				c.observe(topicPartition{string(c.entity.Topic), p}, StepHeads)
			}
		}
		if bytes > loadBytes {
			return flush()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load the heads of %s: %w", c.entity.Topic, err)
	}
	if err := flush(); err != nil {
		return err
	}
	for p, a := range assignments {
		if at[p] != a.position && !(at[p] == 0 && a.position == 0) {
			return errors.New("the position moved while the heads were loaded")
		}
		if err := stores[p].Update().Commit(heads.Checkpoint{Life: a.life, Position: a.position}); err != nil {
			return err
		}
	}
	return nil
}

// keepNewest writes the heads that are newer than what the store has.
func keepNewest(store *heads.Partition, newer map[string]heads.Head) error {
	known, err := store.Get(slices.Collect(maps.Keys(newer))...)
	if err != nil {
		return err
	}
	u := store.Update()
	for key, h := range newer {
		if old, ok := known[key]; ok && old.RowVersion >= h.RowVersion {
			continue
		}
		if err := u.Set(key, h); err != nil {
			return err
		}
	}
	return u.CommitPartial()
}

func anyOf(assignments map[int32]*assignment) *assignment {
	for _, a := range assignments {
		return a
	}
	return nil
}

// headRows are the columns of a scan for heads.
type headRows struct {
	tenant       proto.ColStr
	project      proto.ColStr
	id           proto.ColStr
	rowVersion   proto.ColUInt64
	deleted      proto.ColBool
	contentHash  proto.ColUInt64
	keyHash      proto.ColUInt32
	srcPartition proto.ColUInt32
	shape        analytics.Shape
	keys         []*proto.ColArr[string]
	sums         []*proto.ColArr[int64]
}

func newHeadRows(e *store.Entity) *headRows {
	r := &headRows{shape: e.Shape}
	for range e.Shape.Keys {
		r.keys = append(r.keys, proto.NewArray[string](new(proto.ColStr)))
	}
	for range e.Shape.Sums {
		r.sums = append(r.sums, proto.NewArray[int64](new(proto.ColInt64)))
	}
	return r
}

func (r *headRows) results() proto.Results {
	all := proto.Results{
		{Name: "tenant_id", Data: &r.tenant}, {Name: "project", Data: &r.project}, {Name: "id", Data: &r.id}, {Name: "row_version", Data: &r.rowVersion},
		{Name: "deleted", Data: &r.deleted}, {Name: "content_hash", Data: &r.contentHash}, {Name: "key_hash", Data: &r.keyHash}, {Name: "src_partition", Data: &r.srcPartition},
	}
	for i, k := range r.shape.Keys {
		all = append(all, proto.ResultColumn{Name: "after_" + k, Data: r.keys[i]})
	}
	for i, s := range r.shape.Sums {
		all = append(all, proto.ResultColumn{Name: "after_" + s, Data: r.sums[i]})
	}
	return all
}

// head is row i's.
func (r *headRows) head(i int, project string) heads.Head {
	h := heads.Head{RowVersion: r.rowVersion.Row(i), Project: project, Deleted: r.deleted.Row(i), ContentHash: r.contentHash.Row(i)}
	if len(r.keys) == 0 {
		return h
	}
	keys := make([][]string, len(r.keys))
	for j, c := range r.keys {
		keys[j] = c.Row(i)
	}
	sums := make([][]int64, len(r.sums))
	for j, c := range r.sums {
		sums[j] = c.Row(i)
	}
	for entry := range len(sums[0]) {
		for j := range keys {
			h.Contributions.Keys = append(h.Contributions.Keys, keys[j][entry])
		}
		for j := range sums {
			h.Contributions.Sums = append(h.Contributions.Sums, sums[j][entry])
		}
	}
	return h
}
