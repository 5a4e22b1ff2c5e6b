// Package position knows how far a state table and its view have come in each partition, and which stream a database
// follows. A position is the next offset that is expected; it is written in the same block as the rows before it
// (docs/architecture.md#positions).
package position

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
)

// Database is what positions need of their server.
type Database interface {
	Name() string
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
	Insert(ctx context.Context, st database.Statement) (written uint64, err error)
}

// ErrNotWritten says that a conditional statement found its conditions not to hold.
var ErrNotWritten = errors.New("nothing was written: the fence is gone, as where the server was restarted or another writer took over, " +
	"or the partition is elsewhere")

// Positions is how far a partition has come in a state table, and in the sums that the table's view fills.
type Positions struct {
	State uint64 // of the state table
	First uint64 // where its last batch began
	Epoch int32  // the leader epoch of its last message, -1 where that isn't known

	Contributes bool     // whether the table has a view
	View        *big.Int // the view's position: how many offsets the batches have that reached it
	Squares     *big.Int // and what their ends come to, squared, less their beginnings, squared
}

// Inconsistent says that a table and its view are where no kill can have left them: a power loss, a restored backup, a
// hand in the tables.
type Inconsistent struct {
	Topic     string
	Partition int32
	What      string
	Remedy    string // "": a rebuild
}

func (e *Inconsistent) Error() string {
	remedy := e.Remedy
	if remedy == "" {
		remedy = "run `tallyhouse rebuild`"
	}
	return fmt.Sprintf("%s partition %d is inconsistent: %s; stop, find out what happened, then %s", e.Topic, e.Partition, e.What, remedy)
}

const (
	statePositions = `
SELECT project, max(row_version), argMax(batch_first, row_version), argMax(key_hash, row_version)
FROM %s WHERE tenant = '' AND project IN {keys:Array(String)} GROUP BY project`
	viewPositions = `
SELECT project, toString(sum(position)), toString(sum(squares))
FROM sums WHERE tenant = '' AND project IN {keys:Array(String)} GROUP BY project`
	viewPosition = `(SELECT sum(position) FROM sums WHERE tenant = '' AND project = {view_key:String})`
)

// Read reads how far partitions of an entity have come. A partition without any row is at 0.
func Read(ctx context.Context, db Database, e *store.Entity, partitions []int32) (map[int32]Positions, error) {
	all := map[int32]Positions{}
	for _, p := range partitions {
		all[p] = Positions{Epoch: -1, Contributes: e.Contributes(), View: new(big.Int), Squares: new(big.Int)}
	}
	params, of := keys(partitions, clickhouse.PositionProject)
	err := db.Rows(ctx, database.Query{SQL: fmt.Sprintf(statePositions, e.Table), Params: params}, func(scan func(...any) error) error {
		var key string
		var state, first uint64
		var epoch uint32
		if err := scan(&key, &state, &first, &epoch); err != nil {
			return err
		}
		at := all[of[key]]
		at.State, at.First, at.Epoch = state, first, clickhouse.LeaderEpoch(epoch)
		all[of[key]] = at
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the positions of %s: %w", e.Table, err)
	}
	if !e.Contributes() {
		return all, nil
	}
	params, of = keys(partitions, func(p int32) string { return clickhouse.ViewPositionProject(e.Table, p) })
	err = db.Rows(ctx, database.Query{SQL: viewPositions, Params: params}, func(scan func(...any) error) error {
		var key, view, squares string
		if err := scan(&key, &view, &squares); err != nil {
			return err
		}
		at := all[of[key]]
		_, ok := at.View.SetString(view, 10)
		if _, fits := at.Squares.SetString(squares, 10); !ok || !fits {
			return fmt.Errorf("%s has come to %q, %q", key, view, squares)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the positions of the view of %s: %w", e.Table, err)
	}
	return all, nil
}

// keys binds the names of position rows, and finds a partition by them.
func keys(partitions []int32, name func(int32) string) (params database.Params, of map[string]int32) {
	of = map[string]int32{}
	var quoted []string
	for _, p := range partitions {
		of[name(p)] = p
		quoted = append(quoted, "'"+name(p)+"'")
	}
	return database.Params{"keys": "[" + strings.Join(quoted, ",") + "]"}, of
}

// Level reports whether the view has all that the table has.
func (p Positions) Level() bool { return !p.Contributes || p.viewIsAt(p.State) }

// Seen is the view's position, 0 while it is being filled.
func (p Positions) Seen() uint64 {
	if !p.View.IsUint64() {
		return 0
	}
	return p.View.Uint64()
}

// Missed reports whether the view lacks the last batch, and nothing else: what a kill between two parts of an insert
// leaves.
func (p Positions) Missed() bool { return p.Contributes && p.First < p.State && p.viewIsAt(p.First) }

// viewIsAt reports whether the view has exactly the batches up to an offset. Batches follow on each other, so their
// lengths add up to the offset; and so do the differences of squares to its square, which another missing batch of the
// same length would not do: it lies further down.
func (p Positions) viewIsAt(offset uint64) bool {
	at := new(big.Int).SetUint64(offset)
	return p.View.Cmp(at) == 0 && p.Squares.Cmp(at.Mul(at, at)) == 0
}

// Inconsistency says what cannot be, "" when the view is level or lacks the last batch alone.
func (p Positions) Inconsistency() string {
	if p.Level() || p.Missed() {
		return ""
	}
	return fmt.Sprintf("its view is at %s (squares %s), its table at %d (last batch from %d)", p.View, p.Squares, p.State, p.First)
}

// StateIs is the condition that the partition's position in the table is the parameter first; its other parameter is
// key, the project of the partition's position row.
func StateIs(table string) string {
	return "(SELECT max(row_version) FROM " + table + " WHERE tenant = '' AND project = {key:String}) = {first:UInt64}"
}

// SameServer is the condition that the server still is the one whose fences were read, the parameter server.
const SameServer = `toString(serverUUID()) = {server:String}`

// lastBatch is the position row that carries a partition's last batch.
const lastBatch = `FROM %s WHERE tenant = '' AND project = {key:String} AND row_version = {state:UInt64} AND batch_first = {first:UInt64}`

// Mend gives a view the batch that it missed, by what the view does with the batch's position row, under the same
// conditions as an insert.
func Mend(ctx context.Context, db Database, e *store.Entity, id string, partition int32, at Positions,
	server, condition string, params database.Params,
) error {
	from := fmt.Sprintf(lastBatch, e.Table)
	params = params.With(database.Params{
		"key": clickhouse.PositionProject(partition), "view_key": clickhouse.ViewPositionProject(e.Table, partition), "server": server,
		"first": strconv.FormatUint(at.First, 10), "state": strconv.FormatUint(at.State, 10),
	})
	var rows uint64
	q := database.Query{SQL: "SELECT count() " + from, Params: params}
	if err := db.Rows(ctx, q, func(scan func(...any) error) error { return scan(&rows) }); err != nil {
		return fmt.Errorf("look for the last batch of %s: %w", e.Table, err)
	}
	if rows != 1 {
		return fmt.Errorf("mend the view of %s: %d rows carry the last batch of partition %d", e.Table, rows, partition)
	}
	n, err := db.Insert(ctx, database.Statement{
		ID: id,
		SQL: fmt.Sprintf("INSERT INTO sums (%s) SELECT * FROM (%s) WHERE %s AND %s = toInt128({first:UInt64}) AND %s",
			strings.Join(clickhouse.SumColumns(), ", "), clickhouse.ViewSelect("(SELECT * "+from+")"),
			condition, viewPosition, SameServer),
		Params: params,
	})
	if err == nil && n == 0 {
		err = ErrNotWritten
	}
	if err != nil {
		return fmt.Errorf("mend the view of %s: %w", e.Table, err)
	}
	return nil
}
