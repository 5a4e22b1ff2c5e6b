// Package store says, once for each kind of entity, what its events are in the database: the state table, its columns,
// the contribution to the sums. The worker, verify and rebuild know no entity by name.
package store

import (
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Entity describes how the events of one topic are stored.
type Entity struct {
	Topic   events.Topic
	Table   string
	Columns []Column // of the after image, between the common columns
	// Formula names the rule by which this binary computes contributions, "" where there are none: the digest of what a
	// golden set of rows contributes, which a test computes. With another one the table's rolls have to be rebuilt.
	Formula string

	project    func(id string, data any) string
	contribute func(c analytics.Contribution, id string, data any) (analytics.Contribution, error)
	restore    func(image) any        // as much of the payload as contributes, read back from a row
	restored   []string               // the columns that restore reads
	version    func(data any) version // what the history keeps of each version; nil: there is none
}

// All lists the entities that this binary stores.
func All() []*Entity {
	return []*Entity{
		projects(), budgetNodes(), budgetRows(), budgetTransfers(), uncommittedEntries(), contractors(), contracts(), claims(),
		records(), linePlans(), forecastSnapshots(), units(), leases(), indexValues(), facilities(), fixings(), facilityEntries(),
		users(), memberships(), keys(), readings(), requests(),
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

// Rolls are the rolls that the entity contributes to.
func (e *Entity) Rolls() []clickhouse.RollID { return clickhouse.RollsOf(e.Table) }

// Contributes reports whether the entity puts anything into the sums.
func (e *Entity) Contributes() bool { return e.contribute != nil }

// Project is what the entity is sorted under: its project, "" when it has none; of what belongs to a facility, that.
func (e *Entity) Project(id string, data any) string { return e.project(id, data) }

// Contribution appends to c what the entity's state adds to the sums; nothing for data nil, a deleted entity. The error
// wraps analytics.ErrTooMuch: such an event is refused.
func (e *Entity) Contribution(c analytics.Contribution, id string, data any) (analytics.Contribution, error) {
	if data == nil || !e.Contributes() {
		return c, nil
	}
	return e.contribute(c, id, data)
}
