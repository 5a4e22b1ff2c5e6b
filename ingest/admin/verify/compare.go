package verify

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/recompute"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

const (
	tries        = 3 // of a comparison, against writers
	pause        = 150 * time.Millisecond
	maxPauses    = 400 // pauses, for a batch on its way
	rangeRows    = 200_000
	compareLimit = 10 * time.Minute
)

// readPositions reads the positions of all partitions of the topic.
func (a *auditor) readPositions(ctx context.Context) (map[int32]position.Positions, error) {
	stream, _, err := position.ReadStream(ctx, a.db, string(a.entity.Topic))
	if err != nil {
		return nil, err
	}
	partitions := make([]int32, stream.Partitions)
	for p := range partitions {
		partitions[p] = int32(p)
	}
	return position.Read(ctx, a.db, a.entity, partitions)
}

// whileQuiet runs a look at the tables such that nothing is written meanwhile: the positions are the same before and after, and level
// accepts them. It reports whether that was so.
func (a *auditor) whileQuiet(ctx context.Context, level func(map[int32]position.Positions) bool, look func() error) (bool, error) {
	for try := 1; ; try++ {
		before, err := a.readPositions(ctx)
		if err != nil {
			return false, err
		}
		if level(before) || a.held != nil {
			if err := look(); err != nil {
				return false, err
			}
			after, err := a.readPositions(ctx)
			if err != nil {
				return false, err
			}
			if reflect.DeepEqual(before, after) {
				return true, nil
			}
		}
		if try == tries {
			if a.held != nil {
				return false, fmt.Errorf("the positions move under the hold: the server was restarted, or somebody writes to the tables by hand")
			}
			held, err := a.hold(ctx)
			if err != nil || !held {
				return false, err
			}
			try = 0
			continue
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// positions compares the positions of each view and its table. A batch on its way is in the table before it is in the views: only what
// stays wrong while nothing is on its way is wrong.
func (a *auditor) positions(ctx context.Context) error {
	at, err := a.readPositions(ctx)
	if err != nil {
		return err
	}
	wrong := a.wrongPositions(at)
	underWay := database.Query{SQL: "SELECT count() FROM system.processes WHERE startsWith(query_id, {prefix:String})",
		Params: database.Params{"prefix": fence.TopicPrefix(a.db, string(a.entity.Topic))}}
	for asked, still := 0, 0; len(wrong) > 0 && still < tries && asked < maxPauses; asked++ {
		var running uint64
		if err := a.db.Row(ctx, underWay, &running); err != nil {
			return fmt.Errorf("see which inserts run: %w", err)
		}
		if running == 0 {
			still++
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		if at, err = a.readPositions(ctx); err != nil {
			return err
		}
		wrong = slices.DeleteFunc(a.wrongPositions(at), func(p Position) bool { return !slices.Contains(wrong, p) })
	}
	a.found.Positions = wrong
	return nil
}

func (a *auditor) wrongPositions(at map[int32]position.Positions) (wrong []Position) {
	for _, p := range slices.Sorted(maps.Keys(at)) {
		if stands := at[p]; !stands.Level() {
			wrong = append(wrong, Position{Partition: p, Table: stands.State, View: stands.View.String(), Torn: stands.Missed()})
		}
	}
	return wrong
}

// sums compares the sums with what the rows contribute, slice by slice.
func (a *auditor) sums(ctx context.Context) error {
	drift := map[clickhouse.RollID]*Findings{}
	for _, id := range a.entity.Rolls() {
		drift[id] = new(Findings)
	}
	ranges, err := recompute.Ranges(ctx, a.db, a.entity, rangeRows)
	if err != nil {
		return err
	}
	p := admin.Progress{Work: "recompute " + a.entity.Table}
	for _, part := range ranges {
		p.Total += part.Rows
	}
	a.options.Progress(p)
	level := func(at map[int32]position.Positions) bool {
		for _, stands := range at {
			if !stands.Level() {
				return false
			}
		}
		return true
	}
	if len(a.found.Positions) > 0 { // it is compared as it is
		level = func(map[int32]position.Positions) bool { return true }
	}
	for _, part := range ranges {
		var differing []*recompute.Difference
		var rows, more uint64
		compared, err := a.whileQuiet(ctx, level, func() (err error) {
			differing, more = nil, 0
			rows, err = recompute.Slice(ctx, a.db, a.entity, part, func(d *recompute.Difference) error {
				if len(differing) < a.options.Most {
					differing = append(differing, d)
				} else {
					more++
				}
				return nil
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("%s, tenant %q, projects %q to %q: %w", a.entity.Table, part.Tenant, part.From, part.To, err)
		}
		a.found.Slices++
		if compared {
			a.found.Rows += rows
			a.note(drift, differing, more)
		} else {
			a.found.Uncompared++
		}
		p.Done += part.Rows
		a.options.Progress(p)
	}
	for _, id := range a.entity.Rolls() {
		a.found.Rolls = append(a.found.Rolls, Roll{Roll: id.Roll().Name, Drift: *drift[id]})
	}
	return nil
}

// note takes in what differs; more is how many others do.
func (a *auditor) note(drift map[clickhouse.RollID]*Findings, differing []*recompute.Difference, more uint64) {
	for _, d := range differing {
		roll := d.Roll.Roll()
		key := map[string]string{"tenant": d.Tenant, "project": d.Project}
		for i, k := range roll.Keys {
			key[k] = d.Keys[i]
		}
		var want, have []string
		for i, amount := range roll.Amounts {
			if d.Want[i] != d.Have[i] {
				want, have = append(want, amount+" "+d.Want[i].String()), append(have, amount+" "+d.Have[i].String())
			}
		}
		drift[d.Roll].add(a.options.Most, key, strings.Join(want, ", "), strings.Join(have, ", "))
	}
	if more > 0 {
		drift[differing[0].Roll].Count += more
	}
}

// strayRows are rows of sums beside the positions of a table's view.
const strayRows = `
SELECT project, toString(roll), sum(count) != 0 OR sum(net) != 0 OR sum(gross) != 0 OR sum(value) != 0 OR sum(committed) != 0 OR sum(pending) != 0 OR toString(roll) != '' AS stray
FROM sums WHERE tenant = '' AND startsWith(project, {table:String}) GROUP BY project, roll HAVING stray ORDER BY project, roll`

// stray lists position rows that hold anything but a position.
func (a *auditor) stray(ctx context.Context) error {
	q := database.Query{SQL: strayRows, Params: database.Params{"table": "#" + a.entity.Table + "/"}, Limit: compareLimit}
	err := a.db.Rows(ctx, q, func(scan func(...any) error) error {
		var project, roll string
		var is bool
		if err := scan(&project, &roll, &is); err != nil {
			return err
		}
		a.found.Stray.add(a.options.Most, map[string]string{"project": project, "roll": roll}, "a position alone", "amounts, or a roll")
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at the position rows of the view of %s: %w", a.entity.Table, err)
	}
	return nil
}
