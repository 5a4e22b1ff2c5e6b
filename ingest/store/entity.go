// Package store says, once for each kind of entity, what its events are in the database: the state table, its columns, the
// contributions to the views. The worker, verify and rebuild know no entity by name.
package store

import (
	"slices"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Formula is the number of the rule by which this binary computes contributions. It rises whenever a release sums something new; the
// rows are then re-stated before the new binary writes.
const Formula = 1

// Entity describes how the events of one topic are stored.
type Entity struct {
	Topic   events.Topic
	Table   string
	Columns []Column        // of the after image, between the common columns
	Shape   analytics.Shape // of the contributions; no keys: the entity is in no view

	project    func(id string, data any) string
	contribute func(id string, data any) (analytics.Contributions, error)
	restore    func(image) any // as much of the payload as contributes, read back from a row
}

// All lists the entities that this binary stores.
func All() []*Entity {
	return []*Entity{
		projects(), budgetNodes(), budgetRows(), budgetTransfers(), uncommittedEntries(), contractors(), contracts(), claims(), records(),
		forecastSnapshots(), users(), memberships(), keys(),
	}
}

// Of finds the entity of a topic; nil when this binary doesn't store it.
func Of(topic events.Topic) *Entity {
	all := All()
	i := slices.IndexFunc(all, func(e *Entity) bool { return e.Topic == topic })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Topics lists the topics that this binary stores.
func Topics() []events.Topic {
	var topics []events.Topic
	for _, e := range All() {
		topics = append(topics, e.Topic)
	}
	return topics
}

// Views are the roll-ups of the entity's table.
func (e *Entity) Views() []clickhouse.View { return clickhouse.ViewsOf(e.Table) }

// Contributes reports whether the entity puts anything into views.
func (e *Entity) Contributes() bool { return len(e.Shape.Keys) > 0 }

// Project is the project under which the entity is sorted, "" when it has none.
func (e *Entity) Project(id string, data any) string { return e.project(id, data) }

// Contributions are what the entity's state adds to the views; nothing for data nil, a deleted entity. The error wraps
// analytics.ErrTooMuch: such an event is refused.
func (e *Entity) Contributions(id string, data any) (analytics.Contributions, error) {
	if data == nil || !e.Contributes() {
		return analytics.Contributions{}, nil
	}
	return e.contribute(id, data)
}

// Row is one line for the state table.
type Row struct {
	Tenant      string
	Project     string
	ID          string
	RowVersion  uint64 // version * 1024 + restatement; of a position row the position
	Deleted     bool
	At          time.Time
	Data        any // the payload; nil for a deleted or moved entity and for a position row
	SrcOffset   uint64
	KeyHash     uint32
	ContentHash uint64
	Moved       bool
	Before      analytics.Contributions // as they were; the block negates them
	After       analytics.Contributions

	// Of a position row alone: where the batch begins and ends.
	position bool
	first    uint64
	next     uint64
}

// RowVersion is the version of an entity as its row carries it, before any restatement.
func RowVersion(version int64) uint64 { return uint64(version) * restatements }

// Version is the version of the entity in a row.
func Version(rowVersion uint64) int64 { return int64(rowVersion / restatements) }

const restatements = 1024

// PositionRow is the row that brings a partition's position from first to next, in the state table and in each of its views.
func PositionRow(partition int32, first, next uint64, at time.Time) Row {
	return Row{Project: PositionKey(partition), RowVersion: next, SrcOffset: next - 1, At: at, position: true, first: first, next: next}
}
