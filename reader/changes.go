package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"tallyhouse/schemas/events"
)

// What is shown of a record comes from its own row, from the budget nodes that it is booked on and those above them, and
// from its contractor. So what has changed since some moment is told by the positions of three tables (docs/export.md).

// Marks are how far the tables have come that records are shown from. Whatever is stored later has positions at or
// beyond them.
type Marks struct {
	// Life changes whenever the stored positions may have gone back, or been counted anew: then nothing can be said of
	// what has changed since.
	Life        string
	Records     Offsets
	Nodes       Offsets
	Contractors Offsets
}

// Offsets are next offsets by the number of the partition. A partition that is missing is at 0.
type Offsets []uint64

// maxPartitions bounds the partitions of a topic whose positions are told apart.
const maxPartitions = 4096

// errTooManyPartitions says that positions of so many partitions are not told apart.
var errTooManyPartitions = fmt.Errorf("a topic has more than %d partitions", maxPartitions)

// livesQuery finds the life of each stream on each shard.
func livesQuery() Query {
	return Query{
		SQL: `SELECT topic, shard, argMax(life, revision)
FROM streams
WHERE topic IN {topics:Array(String)}
GROUP BY topic, shard
ORDER BY topic, shard`,
		Args: map[string]any{"topics": []string{string(events.Records), string(events.BudgetNodes), string(events.Contractors)}},
	}
}

// Marks reads how far the tables have come now. Everything that is stored below them can be seen by every statement that
// is sent afterwards, because a position is stored in the same block as the rows.
func (r *Reader) Marks(ctx context.Context) (Marks, error) {
	var m Marks
	// The life first: had it changed in between, the positions would be of the new one, and the next look finds the change.
	var lives strings.Builder
	var topic, life string
	var shard uint32
	err := r.each(ctx, livesQuery(), pageSettings, func(scan func(...any) error) error {
		if err := scan(&topic, &shard, &life); err != nil {
			return err
		}
		fmt.Fprintf(&lives, "%s/%d/%s;", topic, shard, life)
		return nil
	})
	if err != nil {
		return Marks{}, fmt.Errorf("read the lives of streams: %w", err)
	}
	m.Life = lives.String()
	at, err := r.positions(ctx, "records", "budget_nodes", "contractors")
	if err != nil {
		return Marks{}, err
	}
	for table, offsets := range map[string]*Offsets{"records": &m.Records, "budget_nodes": &m.Nodes, "contractors": &m.Contractors} {
		if *offsets, err = offsetsOf(at[table]); err != nil {
			return Marks{}, fmt.Errorf("read the positions of %s: %w", table, err)
		}
	}
	return m, nil
}

// offsetsOf are the next offsets of a table's positions.
func offsetsOf(p positions) (Offsets, error) {
	next, err := p.byPartition()
	if err != nil {
		return nil, err
	}
	var all Offsets
	for partition, offset := range next {
		if partition < 0 || partition >= maxPartitions {
			return nil, errTooManyPartitions
		}
		if missing := int(partition) + 1 - len(all); missing > 0 {
			all = append(all, make(Offsets, missing)...)
		}
		all[partition] = uint64(offset)
	}
	return all, nil
}

// since is the condition that a row was stored at or beyond the offsets.
const since = "src_offset >= arrayElement({since:Array(UInt64)}, src_partition + 1)"

func (o Offsets) parameter() []uint64 { return append([]uint64{}, o...) }

// maxAffected bounds the contractors or nodes whose records are looked for; when more have changed, every record may
// have.
const maxAffected = 10_000

// Affected are the contractors and nodes that make records look different than at the marks, though their own rows did
// not change.
type Affected struct {
	Everything  bool // too many to name them
	Nodes       []string
	Contractors []string
}

// Affected finds what changed beside records since the marks, as far as the part of them that is read, and the filter, can show it.
func (r *Reader) Affected(ctx context.Context, since Marks, filter *RecordFilter, read Part[Record]) (a Affected, err error) {
	if read.needs(bookedLines|derivedCodes) || filter.needsStructure() {
		if a.Nodes, err = r.affectedNodes(ctx, filter.Tenant, since.Nodes); err != nil {
			return Affected{}, fmt.Errorf("find changed budget nodes: %w", err)
		}
	}
	if read.needs(ownNames) {
		changed := changedIDsQuery("contractors", filter.Tenant, since.Contractors)
		if a.Contractors, err = r.ids(ctx, changed); err != nil {
			return Affected{}, fmt.Errorf("find changed contractors: %w", err)
		}
	}
	a.Everything = len(a.Nodes) > maxAffected || len(a.Contractors) > maxAffected
	return a, nil
}

// changedIDsQuery finds the entities of a table that were stored since.
func changedIDsQuery(table, tenant string, from Offsets) Query {
	return Query{
		SQL: "SELECT DISTINCT id\nFROM " + table + "\nWHERE tenant = {tenant:String} AND " + since +
			fmt.Sprintf("\nLIMIT %d", maxAffected+1),
		Args: map[string]any{"tenant": tenant, "since": from.parameter()},
	}
}

// parentsQuery reads which node is below which, in all versions that are stored.
func parentsQuery(tenant string) Query {
	return Query{
		SQL: "SELECT DISTINCT id, assumeNotNull(parent_id)\nFROM budget_nodes\n" +
			"WHERE tenant = {tenant:String} AND parent_id IS NOT NULL",
		Args: map[string]any{"tenant": tenant},
	}
}

// affectedNodes are the nodes that changed since, and all below them. Of any node whose line looks different, either it
// or one above it has changed; on the way up from it to the nearest one that did, nothing has, so that one is above it
// still, and it is found by the parents that are stored now.
func (r *Reader) affectedNodes(ctx context.Context, tenant string, since Offsets) ([]string, error) {
	changed, err := r.ids(ctx, changedIDsQuery("budget_nodes", tenant, since))
	if err != nil || len(changed) == 0 || len(changed) > maxAffected {
		return changed, err
	}
	below := make(map[string][]string)
	var id, parent string
	err = r.each(ctx, parentsQuery(tenant), pageSettings, func(scan func(...any) error) error {
		if err := scan(&id, &parent); err != nil {
			return err
		}
		below[parent] = append(below[parent], id)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(changed))
	for _, id := range changed {
		found[id] = true
	}
	for i := 0; i < len(changed) && len(changed) <= maxAffected; i++ {
		for _, id := range below[changed[i]] {
			if !found[id] {
				found[id] = true
				changed = append(changed, id)
			}
		}
	}
	return changed, nil
}

// ids reads one text a row.
func (r *Reader) ids(ctx context.Context, q Query) ([]string, error) {
	var all []string
	var id string
	err := r.each(ctx, q, pageSettings, func(scan func(...any) error) error {
		if err := scan(&id); err != nil {
			return err
		}
		all = append(all, id)
		return nil
	})
	return all, err
}

// Bounds of a walk over changes.
const (
	changedWindow = 10_000 // ids that are looked for at once
	changedPage   = 1000   // of them that are read at once
)

// ChangeWalk goes over the records that may have changed since some marks, ascending by id.
type ChangeWalk struct {
	reader   *Reader
	filter   RecordFilter
	read     Part[Record]
	within   []string // projects in which changes are looked for
	since    Offsets
	affected Affected
	after    string // id
	pending  []string
	last     bool // whether no ids follow those pending
}

// Changed are the next ids of a walk over changes: the records that are there and match now, and the ids of which there
// is none.
type Changed struct {
	Records []Record
	Gone    []string
}

// WalkChanges begins a walk over what changed since the marks in some of the filter's projects. A record that left one
// of them is found in whichever of the filter's projects it is now.
func (r *Reader) WalkChanges(since Marks, within []string, affected Affected, filter RecordFilter, read Part[Record]) *ChangeWalk {
	return &ChangeWalk{reader: r, filter: filter, read: read, within: within, since: since.Records, affected: affected,
		last: len(within) == 0}
}

// Done reports whether the walk has come to its end.
func (w *ChangeWalk) Done() bool { return w.last && len(w.pending) == 0 }

// Next returns what has become of the next ids. After an error it may be called again.
func (w *ChangeWalk) Next(ctx context.Context) (Changed, error) {
	if err := w.look(ctx); err != nil || len(w.pending) == 0 {
		return Changed{}, err
	}
	for n := min(changedPage, len(w.pending)); ; n /= 2 {
		bytes := w.reader.maxPage
		if n == 1 {
			bytes = w.reader.maxResult
		}
		changed, err := w.current(ctx, w.pending[:n], bytes)
		if errors.Is(err, ErrTooLarge) && n > 1 {
			continue
		}
		if err != nil {
			return Changed{}, fmt.Errorf("read changed records: %w", err)
		}
		w.pending = w.pending[n:]
		return changed, nil
	}
}

// look finds the next ids when none are pending.
func (w *ChangeWalk) look(ctx context.Context) error {
	if w.Done() || len(w.pending) > 0 {
		return nil
	}
	query, err := w.idsQuery()
	if err != nil {
		return err
	}
	rows := 0
	var id string
	var found []string
	err = w.reader.each(ctx, query, pageSettings, func(scan func(...any) error) error {
		if err := scan(&id); err != nil {
			return err
		}
		rows++
		if n := len(found); n == 0 || found[n-1] != id {
			found = append(found, id)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for changed records: %w", err)
	}
	w.pending, w.last = found, rows < changedWindow
	if len(found) > 0 {
		w.after = found[len(found)-1]
	}
	return nil
}

// idsQuery finds the next ids of records of which some version was stored since, or that look different.
func (w *ChangeWalk) idsQuery() (Query, error) {
	q := Query{Args: map[string]any{"tenant": w.filter.Tenant, "projects": w.within, "after": w.after,
		"since": w.since.parameter(), "window": changedWindow}}
	changed := []string{since}
	for _, of := range []struct {
		table, condition string
		ids              []string
	}{
		{"changed_contractors", "contractor_id IN changed_contractors", w.affected.Contractors},
		{"changed_nodes", "arrayExists(n -> n IN changed_nodes, allocation_node)", w.affected.Nodes},
	} {
		if len(of.ids) == 0 {
			continue
		}
		table, err := idsTable(of.table, of.ids)
		if err != nil {
			return Query{}, err
		}
		q.Tables = append(q.Tables, table)
		changed = append(changed, of.condition)
	}
	q.SQL = "SELECT id\nFROM records\n" +
		"WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id > {after:String}\n" +
		"  AND (" + strings.Join(changed, " OR ") + ")\nORDER BY id\nLIMIT {window:UInt32}"
	return q, nil
}

func idsTable(name string, ids []string) (*ext.Table, error) {
	rows := make([][]string, len(ids))
	for i, id := range ids {
		rows[i] = []string{id}
	}
	return idTable(name, []string{"id"}, rows)
}

// current reads what has become of the ids, which ascend, in a result of so many bytes.
func (w *ChangeWalk) current(ctx context.Context, ids []string, bytes int) (Changed, error) {
	find := &recordFinder{reader: w.reader, tenant: w.filter.Tenant, part: w.read, projects: w.filter.Projects,
		settings: within(walkSettings, bytes)}
	where, err := find.prepare(ctx, &w.filter)
	if err == nil && w.read.needs(otherTables) && find.at == nil {
		err = find.loadStates(ctx)
	}
	if err != nil {
		return Changed{}, err
	}
	query, err := currentQuery(&w.filter, w.read, where, ids)
	if err != nil {
		return Changed{}, err
	}
	if err := find.read(ctx, query); err != nil {
		return Changed{}, err
	}
	records, err := find.complete(ctx)
	if err != nil {
		return Changed{}, err
	}
	changed := Changed{Records: records}
	for _, id := range ids {
		if len(records) > 0 && records[0].ID == id {
			records = records[1:]
			continue
		}
		changed.Gone = append(changed.Gone, id)
	}
	if len(records) > 0 {
		return Changed{}, errors.New("records came in another order than their ids")
	}
	return changed, nil
}

// currentQuery reads those records of the ids that are there and match: in which projects they may be, the projection
// by_id knows, and both parts see one state of the table.
func currentQuery(f *RecordFilter, read Part[Record], c *conditions, ids []string) (Query, error) {
	table, err := idsTable("changed", ids)
	if err != nil {
		return Query{}, err
	}
	args := map[string]any{"projects": projectIDs(f.Projects)}
	for name, value := range c.args {
		args[name] = value
	}
	where := append([]string{"tenant = {tenant:String}", "project IN {projects:Array(String)}", "NOT deleted"}, c.sql...)
	return Query{
		SQL: "SELECT " + recordColumns(read).String() + "\nFROM records FINAL\nWHERE " + strings.Join(where, " AND ") + `
  AND (project, id) GLOBAL IN (
    SELECT project, id
    FROM records
    WHERE tenant = {tenant:String} AND id IN changed AND project IN {projects:Array(String)}
  )
ORDER BY id, project`,
		Args: args, Tables: append([]*ext.Table{table}, c.tables...),
	}, nil
}
