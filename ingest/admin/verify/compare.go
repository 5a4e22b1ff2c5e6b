package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/recompute"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

const (
	tries        = 3 // of a comparison, against writers
	pause        = 150 * time.Millisecond
	maxPauses    = 400 // for a batch on its way
	sliceRows    = 200_000
	compareLimit = 10 * time.Minute
)

// reading is what is equal before and after a look at tables to which nobody wrote. Positions alone would not do: a
// rebuild moves none.
type reading struct {
	Stream    position.Stream
	Fences    map[int32]fence.Current
	Positions map[int32]position.Positions
}

// worked reports whether somebody works on the tables, or did not complete it.
func (r *reading) worked() bool {
	if r.Stream.Work != "" {
		return true
	}
	for _, f := range r.Fences {
		if f.Held {
			return true
		}
	}
	return false
}

// level reports whether each view has what its table has.
func (r *reading) level() bool {
	for _, at := range r.Positions {
		if !at.Level() {
			return false
		}
	}
	return true
}

// read takes a reading. What another binary, or a server that doesn't belong to it, would recompute means nothing:
// that is an error.
func (v *verifier) read(ctx context.Context) (r reading, err error) {
	topic := string(v.entity.Topic)
	stream, known, err := position.ReadStream(ctx, v.db, topic)
	if err != nil {
		return r, err
	}
	r.Stream = stream
	if known {
		in := position.Installation{Shard: v.options.Shard, Shards: v.options.Shards}
		if in.Server, err = position.ServerUUID(ctx, v.db); err != nil {
			return r, err
		}
		if err := stream.CheckServer(in); err != nil {
			return r, err
		}
		if err := stream.CheckBinary(v.entity); err != nil {
			return r, err
		}
	}
	if r.Fences, err = fence.Read(ctx, v.db, topic); err != nil {
		return r, err
	}
	partitions := make([]int32, stream.Partitions)
	for p := range partitions {
		partitions[p] = int32(p)
	}
	r.Positions, err = position.Read(ctx, v.db, v.entity, partitions)
	return r, err
}

// whileQuiet runs a look at the tables such that nobody writes meanwhile: the readings before and after are equal,
// and the views level unless they are compared as they are. It reports whether that was so.
func (v *verifier) whileQuiet(ctx context.Context, asTheyAre bool, look func() error) (bool, error) {
	for try := 1; ; try++ {
		before, err := v.read(ctx)
		if err != nil {
			return false, err
		}
		if v.held != nil || !before.worked() && (asTheyAre || before.level()) {
			if err := look(); err != nil {
				return false, err
			}
			after, err := v.read(ctx)
			if err != nil {
				return false, err
			}
			if reflect.DeepEqual(before, after) {
				return true, nil
			}
		}
		if try == tries {
			if v.held != nil {
				return false, errors.New("the tables change under the hold: the server was restarted, or somebody writes to them by hand")
			}
			held, err := v.hold(ctx)
			if err != nil || !held {
				return false, err
			}
			try = 0
			continue
		}
		if err := wait(ctx); err != nil {
			return false, err
		}
	}
}

func wait(ctx context.Context) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// positions compares the positions of each view and its table. A batch on its way is in the table before it is in the
// view: only what stays wrong while nothing is on its way is wrong.
func (v *verifier) positions(ctx context.Context) error {
	r, err := v.read(ctx)
	if err != nil {
		return err
	}
	wrong := wrongPositions(r.Positions)
	underWay := database.Query{SQL: "SELECT count() FROM system.processes WHERE startsWith(query_id, {prefix:String})",
		Params: database.Params{"prefix": fence.TopicPrefix(v.db, string(v.entity.Topic))}}
	for asked, still := 0, 0; len(wrong) > 0 && still < tries && asked < maxPauses; asked++ {
		var running uint64
		if err := v.db.Row(ctx, underWay, &running); err != nil {
			return fmt.Errorf("see which inserts run: %w", err)
		}
		if running == 0 {
			still++
		}
		if err := wait(ctx); err != nil {
			return err
		}
		if r, err = v.read(ctx); err != nil {
			return err
		}
		wrong = slices.DeleteFunc(wrongPositions(r.Positions), func(p Position) bool { return !slices.Contains(wrong, p) })
	}
	v.found.Positions = wrong
	return nil
}

func wrongPositions(at map[int32]position.Positions) (wrong []Position) {
	for _, p := range slices.Sorted(maps.Keys(at)) {
		if now := at[p]; !now.Level() {
			wrong = append(wrong, Position{Partition: p, Table: now.State, View: now.View.String(), Torn: now.Missed()})
		}
	}
	return wrong
}

// drift is what differs in the sums of one table, by roll.
type drift map[clickhouse.RollID]*Findings

func newDrift(e *store.Entity) drift {
	d := drift{}
	for _, id := range e.Rolls() {
		d[id] = new(Findings)
	}
	return d
}

func (d drift) add(most int, one *recompute.Difference) {
	roll := one.Roll.Roll()
	key := map[string]string{"tenant": one.Tenant, "project": one.Project}
	if one.Astray != "" {
		key["keys"] = strconv.Quote(one.Astray)
	}
	for i, text := range one.Keys {
		key[roll.Keys[i]] = text
	}
	var want, have []string
	for i, amount := range roll.Amounts {
		if one.Want[i] != one.Have[i] {
			want, have = append(want, amount+" "+one.Want[i].String()), append(have, amount+" "+one.Have[i].String())
		}
	}
	d[one.Roll].add(most, key, strings.Join(want, ", "), strings.Join(have, ", "))
}

// take adds what another look found.
func (d drift) take(most int, more drift) {
	for id, found := range more {
		all := d[id]
		all.Count += found.Count
		all.First = append(all.First, found.First[:min(len(found.First), max(0, most-len(all.First)))]...)
	}
}

// sums compares the sums with what the rows contribute, slice by slice.
func (v *verifier) sums(ctx context.Context) error {
	ranges, err := recompute.Ranges(ctx, v.db, v.entity, sliceRows)
	if err != nil {
		return err
	}
	p := admin.Progress{Work: "recompute " + v.entity.Table}
	for _, slice := range ranges {
		p.Total += slice.Rows
	}
	v.options.Progress(p)
	all, most := newDrift(v.entity), v.options.most()
	for _, slice := range ranges {
		var differing drift
		var rows uint64
		compared, err := v.whileQuiet(ctx, len(v.found.Positions) > 0, func() (err error) {
			differing = newDrift(v.entity)
			rows, err = recompute.Slice(ctx, v.db, v.entity, slice, func(d *recompute.Difference) error {
				differing.add(most, d)
				return nil
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", v.entity.Table, slice, err)
		}
		v.found.Slices++
		if compared {
			v.found.Rows += rows
			all.take(most, differing)
		} else {
			v.found.Uncompared++
		}
		p.Done += slice.Rows
		v.options.Progress(p)
	}
	for _, id := range v.entity.Rolls() {
		v.found.Rolls = append(v.found.Rolls, Roll{Roll: id.Roll().Name, Drift: *all[id]})
	}
	return nil
}

// strayRows are rows of sums that are neither a sum nor a position: they hold amounts that they should not have.
const strayRows = `
SELECT tenant != '' AS is_sum, project, roll AS name
FROM sums
WHERE tenant = '' AND startsWith(project, {table:String})
    OR tenant != '' AND (%s)
GROUP BY is_sum, project, name
HAVING is_sum OR name != '' OR %s
ORDER BY project, name`

// stray lists rows of positions that hold anything else, and of sums that hold amounts which their roll doesn't have.
func (v *verifier) stray(ctx context.Context) error {
	var beyondPosition, beyondRolls []string
	for _, a := range clickhouse.SumAmounts() {
		if a != clickhouse.AmountColumn("position") && a != clickhouse.AmountColumn("squares") {
			beyondPosition = append(beyondPosition, "sum("+a+") != 0")
		}
	}
	for _, id := range v.entity.Rolls() {
		var beyond []string
		for i, at := range id.Roll().AmountPlaces() {
			if at == clickhouse.None {
				beyond = append(beyond, clickhouse.SumAmounts()[i]+" != 0")
			}
		}
		if len(beyond) > 0 {
			beyondRolls = append(beyondRolls,
				fmt.Sprintf("roll = '%s' AND (%s)", id.Roll().Name, strings.Join(beyond, " OR ")))
		}
	}
	sql := fmt.Sprintf(strayRows, strings.Join(append(beyondRolls, "false"), " OR "), strings.Join(beyondPosition, " OR "))
	params := database.Params{"table": clickhouse.ViewPositionPrefix(v.entity.Table)}
	q := database.Query{SQL: sql, Limit: compareLimit, Params: params}
	err := v.db.Rows(ctx, q, func(scan func(...any) error) error {
		var isSum bool
		var project, roll string
		if err := scan(&isSum, &project, &roll); err != nil {
			return err
		}
		want, have := "a position alone", "amounts, or a roll"
		if isSum {
			want, have = "amounts of the roll alone", "others"
		}
		v.found.Stray.add(v.options.most(), map[string]string{"project": project, "roll": roll}, want, have)
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for rows of sums that are neither a sum nor a position: %w", err)
	}
	return nil
}
