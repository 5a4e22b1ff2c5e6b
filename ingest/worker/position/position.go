// Package position reads and mends how far the tables of a database have come: every table knows, in the same block as its rows, the
// next offset that it expects of every partition. It also knows which topic, cluster and server belong together (table streams).
package position

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// Database is what this package needs of a server.
type Database interface {
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
	Insert(ctx context.Context, st database.Statement) (written uint64, err error)
}

// ErrNotWritten says that a conditional insert found its conditions unmet. Nothing was written, by it.
var ErrNotWritten = errors.New("its conditions did not hold, nothing was written")

// Positions say how far one partition has come in the tables of an entity.
type Positions struct {
	State uint64           // next offset of the state table
	First uint64           // where its last batch began
	Views map[string]int64 // next offset of each view
}

// Inconsistent says that the tables' positions are such as no killed process can have left: a power loss, a restored backup, an edit by
// hand.
type Inconsistent struct {
	Topic     string
	Partition int32
	What      string
}

func (i *Inconsistent) Error() string {
	return fmt.Sprintf("partition %d of %s is inconsistent: %s; run `tallyhouse verify`, then `tallyhouse rebuild` for the views it names", i.Partition, i.Topic, i.What)
}

const (
	statePositions = `
SELECT project, max(row_version), argMax(batch_first, row_version)
FROM %s WHERE tenant = '' AND project IN {keys:Array(String)} GROUP BY project`
	viewPositions = `
SELECT project, toInt64(sum(position))
FROM %s WHERE tenant = '' AND project IN {keys:Array(String)} GROUP BY project`
	viewPosition = `(SELECT toInt64(sum(position)) FROM %s WHERE tenant = '' AND project = {key:String})`
)

// Read reads the positions of an entity's partitions. A partition without any row is at 0.
func Read(ctx context.Context, db Database, e *store.Entity, partitions []int32) (map[int32]Positions, error) {
	all := map[int32]Positions{}
	var keys []string
	of := map[string]int32{}
	for _, p := range partitions {
		all[p] = Positions{Views: map[string]int64{}}
		keys = append(keys, "'"+store.PositionKey(p)+"'")
		of[store.PositionKey(p)] = p
	}
	params := database.Params{"keys": "[" + strings.Join(keys, ",") + "]"}
	err := db.Rows(ctx, database.Query{SQL: fmt.Sprintf(statePositions, e.Table), Params: params}, func(scan func(...any) error) error {
		var key string
		var state, first uint64
		if err := scan(&key, &state, &first); err != nil {
			return err
		}
		all[of[key]] = Positions{State: state, First: first, Views: map[string]int64{}}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the positions of %s: %w", e.Table, err)
	}
	for _, v := range e.Views() {
		for _, p := range partitions {
			all[p].Views[v.Name] = 0
		}
		err := db.Rows(ctx, database.Query{SQL: fmt.Sprintf(viewPositions, v.Name), Params: params}, func(scan func(...any) error) error {
			var key string
			var at int64
			if err := scan(&key, &at); err != nil {
				return err
			}
			all[of[key]].Views[v.Name] = at
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the positions of %s: %w", v.Name, err)
		}
	}
	return all, nil
}

// Torn lists the views that missed the last batch; inconsistency says which positions cannot be, "" when all can.
func (p Positions) Torn(views []clickhouse.View) (missed []clickhouse.View, inconsistency string) {
	for _, v := range views {
		switch at := p.Views[v.Name]; {
		case at == int64(p.State):
		case p.Missed(v):
			missed = append(missed, v)
		default:
			return nil, fmt.Sprintf("%s is at %d, its table at %d (last batch from %d)", v.Name, at, p.State, p.First)
		}
	}
	return missed, ""
}

// Missed reports whether the view missed the last batch, and nothing else.
func (p Positions) Missed(v clickhouse.View) bool {
	return p.Views[v.Name] == int64(p.First) && p.First < p.State
}

// StateIs is the condition that the partition's position in the table is the parameter first; its other parameter is key, the
// partition's position key.
func StateIs(table string) string {
	return "(SELECT max(row_version) FROM " + table + " WHERE tenant = '' AND project = {key:String}) = {first:UInt64}"
}

// SameServer is the condition that the server still is the one whose fences were read, the parameter server.
const SameServer = `toString(serverUUID()) = {server:String}`

// mendFrom are the rows of a partition's last batch.
const mendFrom = `(SELECT * FROM %s WHERE src_partition = {partition:UInt32} AND batch_first = {first:UInt64} AND src_offset < {state:UInt64})`

// Mend gives a view the batch that it missed: by the view's own SELECT over that batch's rows, under the same conditions as an insert.
func Mend(ctx context.Context, db Database, v clickhouse.View, id string, partition int32, at Positions, server, condition string, params database.Params) error {
	columns := strings.Join(v.Columns(), ", ")
	n, err := db.Insert(ctx, database.Statement{
		ID: id,
		SQL: fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM (%s) WHERE %s AND %s = toInt64({first:UInt64}) AND %s",
			v.Name, columns, columns, v.Select(fmt.Sprintf(mendFrom, v.Table)), condition, fmt.Sprintf(viewPosition, v.Name), SameServer),
		Params: params.With(database.Params{
			"partition": strconv.Itoa(int(partition)), "first": strconv.FormatUint(at.First, 10), "state": strconv.FormatUint(at.State, 10),
			"key": store.PositionKey(partition), "server": server,
		}),
	})
	if err == nil && n == 0 {
		err = ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("mend %s: %w", v.Name, err)
	}
	return nil
}
