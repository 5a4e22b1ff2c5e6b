package deadletters

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// State is what became of the entity that a refused message was about.
type State string

// The states of a dead letter: docs/commands.md#tallyhouse-deadletters.
const (
	Waiting State = "waiting" // the tables have nothing newer of the entity
	Healed  State = "healed"  // they have: see healedBy
	Unknown State = "unknown" // the tables were not asked
)

// Letter is a dead letter and what became of it.
type Letter struct {
	kafka.DeadLetter
	State State
}

// Database is what is asked of each ClickHouse server.
type Database interface {
	Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error
}

// Tables are the servers of all shards, which know what was ingested. Without any, every state is Unknown.
type Tables []Database

// subject is the entity that a refused message's key names, and where and as what the message came.
type subject struct {
	topic, tenant, id string
	partition         int32
	offset            int64
	version           int64 // 0: not readable, or none that a message may have
}

// subjectOf has no tenant where the key names no entity.
func subjectOf(l kafka.DeadLetter) subject {
	const longest = 2*utf8.UTFMax*events.MaxIDLength + 1 // bytes of an entity's key
	tenant, id, ok := bytes.Cut(l.Key, []byte("/"))
	if !ok || len(tenant) == 0 || len(id) == 0 || len(l.Key) > longest || !utf8.Valid(l.Key) || bytes.IndexByte(l.Key, 0) >= 0 {
		return subject{topic: l.Topic}
	}
	var of struct {
		Version int64 `json:"version"`
	}
	if json.Unmarshal(events.Unframed(l.Value), &of) != nil || of.Version < 0 || of.Version > events.MaxVersion {
		of.Version = 0 // none that a corrected message could have
	}
	return subject{l.Topic, string(tenant), string(id), l.Partition, l.Offset, of.Version}
}

// newest is the last that the tables have of an entity from one partition.
type newest struct {
	partition       uint32
	offset, version uint64
}

// healedBy goes by the version, as the worker does: what came later may be an older state that was late, after which what was refused is
// still missing. Where it can't be read, what came later is all that there is to go by.
func (s subject) healedBy(n newest) bool {
	later := n.partition == uint32(s.partition) && int64(n.offset) > s.offset
	if s.version == 0 {
		return later
	}
	return n.version > uint64(s.version) || n.version == uint64(s.version) && later
}

const (
	askedTogether = 1000    // entities in one statement
	heldTogether  = 4 << 20 // bytes of letters that are held until the tables have answered
)

// states asks the tables for the state of each subject.
func (t Tables) states(ctx context.Context, all []subject) ([]State, error) {
	states := make([]State, len(all))
	type owner struct{ topic, tenant string }
	of := map[owner][]int{}
	for i, s := range all {
		states[i] = Unknown
		if len(t) > 0 {
			states[i] = Waiting
			of[owner{s.topic, s.tenant}] = append(of[owner{s.topic, s.tenant}], i)
		}
	}
	for o, mine := range of {
		e := store.Of(events.Topic(o.topic))
		if e == nil || o.tenant == "" {
			continue
		}
		for len(mine) > 0 {
			some := mine[:min(len(mine), askedTogether)]
			mine = mine[len(some):]
			byID := map[string][]int{}
			var ids []string
			for _, i := range some {
				if len(byID[all[i].id]) == 0 {
					ids = append(ids, all[i].id)
				}
				byID[all[i].id] = append(byID[all[i].id], i)
			}
			for _, db := range t {
				err := seen(ctx, db, e.Table, o.tenant, ids, func(id string, n newest) {
					for _, i := range byID[id] {
						if all[i].healedBy(n) {
							states[i] = Healed
						}
					}
				})
				if err != nil {
					return nil, fmt.Errorf("ask %s what came after the dead letters: %w", e.Table, err)
				}
			}
		}
	}
	return states, nil
}

// seen calls each with the newest that a table has of entities of a tenant.
func seen(ctx context.Context, db Database, table, tenant string, ids []string, each func(id string, n newest)) error {
	q := database.Query{
		SQL: "SELECT id, src_partition, max(src_offset), max(row_version) FROM " + table +
			" WHERE tenant = {tenant:String} AND id IN {ids:Array(String)} GROUP BY id, src_partition",
		Params: database.Params{"tenant": database.Text(tenant), "ids": database.Texts(ids)},
	}
	return db.Rows(ctx, q, func(scan func(...any) error) error {
		var id string
		var n newest
		if err := scan(&id, &n.partition, &n.offset, &n.version); err != nil {
			return err
		}
		each(id, n)
		return nil
	})
}

// grouped hands letters on with their states, of which it asks for many at once.
type grouped struct {
	tables  Tables
	each    func(Letter) error
	letters []kafka.DeadLetter
	bytes   int
}

func (g *grouped) add(ctx context.Context, l kafka.DeadLetter) error {
	g.letters, g.bytes = append(g.letters, l), g.bytes+len(l.Value)+len(l.Key)
	if len(g.letters) < askedTogether && g.bytes < heldTogether && len(g.tables) > 0 {
		return nil
	}
	return g.flush(ctx)
}

func (g *grouped) flush(ctx context.Context) error {
	subjects := make([]subject, len(g.letters))
	for i, l := range g.letters {
		subjects[i] = subjectOf(l)
	}
	states, err := g.tables.states(ctx, subjects)
	if err != nil {
		return err
	}
	for i, l := range g.letters {
		if err := g.each(Letter{l, states[i]}); err != nil {
			return err
		}
	}
	g.letters, g.bytes = g.letters[:0], 0
	return nil
}
