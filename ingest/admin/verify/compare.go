package verify

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/keyrange"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/clickhouse"
)

const (
	tries        = 3 // of a comparison, against writers
	pause        = 150 * time.Millisecond
	maxPauses    = 400 // pauses, for a batch on its way
	rangeRows    = 500_000
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
		for _, v := range a.entity.Views() {
			if pos := at[p]; pos.Views[v.Name] != int64(pos.State) {
				wrong = append(wrong, Position{Partition: p, View: v.Name, Table: pos.State, Have: pos.Views[v.Name], Torn: pos.Missed(v)})
			}
		}
	}
	return wrong
}

// view compares a view with its recomputation, range by range.
func (a *auditor) view(ctx context.Context, v clickhouse.View) error {
	found := View{View: v.Name}
	ranges, err := keyrange.Cut(ctx, a.db, rangeRows, v.Table, v.Name)
	if err != nil {
		return err
	}
	p := admin.Progress{Work: "compare " + v.Name}
	for _, part := range ranges {
		p.Total += part.Rows
	}
	a.options.Progress(p)
	level := func(at map[int32]position.Positions) bool {
		for _, pos := range at {
			if pos.Views[v.Name] != int64(pos.State) {
				return false
			}
		}
		return true
	}
	if a.knownWrong(v) {
		level = func(map[int32]position.Positions) bool { return true }
	}
	for _, part := range append(ranges, keyrange.Positions()) {
		findings := &found.Drift
		if part.Tenant == "" {
			findings = &found.Stray
		}
		before := *findings
		compared, err := a.whileQuiet(ctx, level, func() error {
			*findings = before
			return a.compare(ctx, v, part, findings)
		})
		if err != nil {
			return fmt.Errorf("%s, tenant %q, projects %q to %q: %w", v.Name, part.Tenant, part.From, part.To, err)
		}
		found.Ranges++
		if !compared {
			*findings = before
			found.Uncompared++
		}
		p.Done += part.Rows
		a.options.Progress(p)
	}
	a.found.Views = append(a.found.Views, found)
	return nil
}

// knownWrong reports whether the view's positions were found wrong: then it is compared as it is.
func (a *auditor) knownWrong(v clickhouse.View) bool {
	return slices.ContainsFunc(a.found.Positions, func(p Position) bool { return p.View == v.Name })
}

// compare lists the keys of a range whose sums are not those of the recomputation.
func (a *auditor) compare(ctx context.Context, v clickhouse.View, part keyrange.Range, into *Findings) error {
	key, measures := v.Key(), v.Measures()
	var columns []string
	for _, k := range key {
		columns = append(columns, "toString("+k+")")
	}
	for _, m := range measures {
		columns = append(columns, "want_"+m, "have_"+m)
	}
	q := database.Query{
		SQL:    "SELECT " + strings.Join(columns, ", ") + " FROM (" + v.Comparison(keyrange.Where) + ")",
		Params: part.Params(), Limit: compareLimit,
	}
	keys, sums := make([]string, len(key)), make([]big.Int, 2*len(measures))
	var fields []any
	for i := range keys {
		fields = append(fields, &keys[i])
	}
	for i := range sums {
		fields = append(fields, &sums[i])
	}
	return a.db.Rows(ctx, q, func(scan func(...any) error) error {
		if err := scan(fields...); err != nil {
			return err
		}
		named := map[string]string{}
		for i, k := range key {
			named[k] = keys[i]
		}
		var want, have []string
		for i, m := range measures {
			if w, h := &sums[2*i], &sums[2*i+1]; w.Cmp(h) != 0 {
				want, have = append(want, m+" "+w.String()), append(have, m+" "+h.String())
			}
		}
		into.add(a.options.Most, named, strings.Join(want, ", "), strings.Join(have, ", "))
		return nil
	})
}

// statements compares what each row contributes with what its image says. A row is one insert's: no writer can be half-way through it.
func (a *auditor) statements(ctx context.Context) error {
	ranges, err := keyrange.Cut(ctx, a.db, rangeRows, a.entity.Table)
	if err != nil {
		return err
	}
	p := admin.Progress{Work: "recompute " + a.entity.Table}
	for _, part := range ranges {
		p.Total += part.Rows
	}
	a.options.Progress(p)
	rows := a.entity.NewImages()
	for _, part := range ranges {
		q := database.Query{SQL: rows.Select(keyrange.Where), Params: part.Params(), Limit: compareLimit}
		err := a.db.Scan(ctx, q, rows.Results(), func() error {
			for i := range rows.Rows() {
				a.found.Rows++
				stored := rows.Stored(i)
				computed, err := rows.Computed(i)
				if err == nil && stored.Equal(computed) {
					continue
				}
				tenant, project, id, _ := rows.Row(i)
				want := fmt.Sprint(computed.Keys, computed.Sums)
				if err != nil {
					want = err.Error()
				}
				a.found.Statements.add(a.options.Most, map[string]string{"tenant": tenant, "project": project, "id": id}, want, fmt.Sprint(stored.Keys, stored.Sums))
			}
			p.Done += uint64(rows.Rows())
			a.options.Progress(p)
			return nil
		})
		if err != nil {
			return fmt.Errorf("recompute %s, tenant %q, projects %q to %q: %w", a.entity.Table, part.Tenant, part.From, part.To, err)
		}
	}
	return nil
}
