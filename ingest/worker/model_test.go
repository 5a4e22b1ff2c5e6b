package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/schemas/events"
)

// model is what the tables must hold after a stream of messages, kept as naively as can be: the newest version of every
// entity, no batches, no positions, no contributions.
type model struct {
	newest  map[events.Topic]map[string]events.Event
	refused int
}

func newModel() *model {
	return &model{newest: map[events.Topic]map[string]events.Event{}}
}

// take takes messages in the order of sending. Messages of one key must have been sent to one partition, or with
// versions that never tie: otherwise their order is nobody's.
func (m *model) take(messages ...message) {
	for _, msg := range messages {
		e, err := events.Decode(msg.topic, []byte(msg.key), msg.value)
		if err != nil || e.Data != nil && naive[msg.topic].says(e.ID, e.Data).refused {
			m.refused++
			continue
		}
		if m.newest[msg.topic] == nil {
			m.newest[msg.topic] = map[string]events.Event{}
		}
		if old, ok := m.newest[msg.topic][msg.key]; ok && old.Version >= e.Version {
			continue
		}
		m.newest[msg.topic][msg.key] = e
	}
}

// live are the entities that the tables must show, and what they say.
func (m *model) live(topic events.Topic, each func(key string, e events.Event, s said)) {
	for key, e := range m.newest[topic] {
		if e.Op != events.Delete {
			each(key, e, naive[topic].says(e.ID, e.Data))
		}
	}
}

// facts are what an entity or a key of a view holds, one by one, like "net 500".
type facts []string

// rollups are the sums of the naive model, by view and key, without the keys where all are 0.
func (m *model) rollups() map[string]map[string]facts {
	sums := map[string]map[string][]*big.Int{}
	for topic := range naive {
		m.live(topic, func(_ string, e events.Event, s said) {
			for _, add := range s.sums {
				if sums[add.roll] == nil {
					sums[add.roll] = map[string][]*big.Int{}
				}
				key := rollupKey(append([]string{e.TenantID, s.project}, add.key...))
				if sums[add.roll][key] == nil {
					sums[add.roll][key] = make([]*big.Int, len(add.sums))
				}
				for i, v := range add.sums {
					if sums[add.roll][key][i] == nil {
						sums[add.roll][key][i] = new(big.Int)
					}
					sums[add.roll][key][i].Add(sums[add.roll][key][i], big.NewInt(v))
				}
			}
		})
	}
	all := map[string]map[string]facts{}
	for view, keys := range sums {
		all[view] = map[string]facts{}
		for key, of := range keys {
			if slices.ContainsFunc(of, func(v *big.Int) bool { return v.Sign() != 0 }) {
				for i, name := range rollups[view].sums {
					all[view][key] = append(all[view][key], name+" "+of[i].String())
				}
			}
		}
	}
	return all
}

func rollupKey(key []string) string { return fmt.Sprintf("%q", key) }

// check compares the database with the model: every entity, every sum, nothing more and nothing less. What operators
// would run, verify, has to find the same: nothing.
func (w *world) check(m *model) {
	w.t.Helper()
	for _, d := range w.drift(m) {
		w.t.Error(d)
	}
}

// drift lists the differences between the database and the model. Where there is none it lists what verify finds: a
// drift that the model doesn't see, or a false alarm.
func (w *world) drift(m *model) (all []string) {
	w.t.Helper()
	say := func(format string, args ...any) {
		if len(all) < 30 {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	// What neither side has anything of needs no look.
	tables := w.texts("SELECT table FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table")
	for topic := range naive {
		if len(m.newest[topic]) > 0 || slices.Contains(tables, naive[topic].table) {
			w.compareRows(m, topic, say)
			w.compareHistory(naive[topic].table, say)
		}
	}
	want, rolls := m.rollups(), w.texts("SELECT toString(roll) FROM sums GROUP BY roll")
	for view := range rollups {
		if len(want[view]) > 0 || slices.Contains(rolls, view) {
			differ(view, want[view], w.rollup(view), say)
		}
	}
	if len(all) == 0 {
		all = w.verify(m)
	}
	return all
}

// verify is what the command of that name finds wrong in the sums of the topics that the model has messages of; in
// those of the others the model itself sees anything at all.
func (w *world) verify(m *model) (all []string) {
	w.t.Helper()
	var entities []*store.Entity
	for topic := range m.newest {
		entities = append(entities, store.Of(topic))
	}
	return w.verifyShard(entities, 0, 1)
}

// verifyShard is verify of a database that is one of several shards.
func (w *world) verifyShard(entities []*store.Entity, shard, shards int) (all []string) {
	w.t.Helper()
	var topics []verify.Topic
	err := try(func() (err error) { // the server may just have died
		topics, err = verify.Sums(context.Background(), w.db, entities, verify.Options{Options: admin.Options{
			Holder: fence.NewHolder("the test's verify"), Shard: shard, Shards: shards, Log: w.log,
		}})
		return err
	})
	if err != nil {
		return []string{err.Error()}
	}
	for _, of := range topics {
		if report := (verify.Report{Topics: []verify.Topic{of}}); report.Drift() > 0 || report.Uncompared() > 0 {
			all = append(all, fmt.Sprintf("verify finds %+v", of))
		}
	}
	return all
}

// compareRows compares the newest row of every entity of a topic: which version it is, and what it shows if it lives.
func (w *world) compareRows(m *model, topic events.Topic, say func(string, ...any)) {
	w.t.Helper()
	kind := naive[topic]
	want, got := map[string]facts{}, map[string]facts{}
	for key, e := range m.newest[topic] {
		want[key] = headFacts(e.Version, e.Op == events.Delete, e.At.UTC().Format("2006-01-02 15:04:05.000000"))
	}
	m.live(topic, func(key string, _ events.Event, s said) {
		want[key] = append(want[key], "project "+s.project)
		for _, c := range kind.columns {
			want[key] = append(want[key], c+" "+asJSON(s.row[c]))
		}
	})
	columns := "ifNull(toJSONString(" + strings.Join(kind.columns, "), 'null'), ifNull(toJSONString(") + "), 'null')"
	w.rows("SELECT tenant, project, id, toInt64(row_version), deleted, toString(at), ["+columns+"] FROM "+kind.table+
		" FINAL WHERE tenant != '' AND NOT moved", func(scan func(...any) error) error {
		var tenant, project, id, at string
		var version int64
		var deleted bool
		var values []string
		if err := scan(&tenant, &project, &id, &version, &deleted, &at, &values); err != nil {
			return err
		}
		key := tenant + "/" + id
		if _, twice := got[key]; twice {
			say("%s %s is there twice", kind.table, key)
		}
		got[key] = headFacts(version, deleted, at)
		if deleted { // a delete names no project: it goes by what the writers knew
			return nil
		}
		got[key] = append(got[key], "project "+project)
		for i, c := range kind.columns {
			var value any
			d := json.NewDecoder(strings.NewReader(values[i]))
			d.UseNumber()
			if err := d.Decode(&value); err != nil {
				return fmt.Errorf("%s of %s: %w", c, key, err)
			}
			got[key] = append(got[key], c+" "+asJSON(value))
		}
		return nil
	})
	differ(kind.table, want, got, say)
}

// compareHistory finds the newest version of each mailed record, or of its reading, in the history.
func (w *world) compareHistory(table string, say func(string, ...any)) {
	w.t.Helper()
	if table != "records" && table != "readings" {
		return
	}
	for _, lost := range w.texts("SELECT concat(tenant, '/', id, ' version ', toString(row_version)) FROM " + table + ` FINAL
WHERE startsWith(id, 'mail-') AND (tenant, project, id, row_version, deleted) NOT IN
	(SELECT tenant, project, id, row_version, gone FROM history FINAL WHERE of = '` + table + `')`) {
		say("the history of %s lacks %s", table, lost)
	}
}

func headFacts(version int64, deleted bool, at string) facts {
	return facts{fmt.Sprint("version ", version), fmt.Sprint("deleted ", deleted), "at " + at}
}

// differ reports what the two sides have not in common.
func differ(table string, want, got map[string]facts, say func(string, ...any)) {
	for key, wanted := range want {
		has, ok := got[key]
		if !ok {
			say("%s %s is missing, the model says %q", table, key, wanted)
		} else if !slices.Equal(has, wanted) {
			say("%s %s has %q, the model says %q", table, key, has.without(wanted), wanted.without(has))
		}
	}
	for key, has := range got {
		if _, known := want[key]; !known {
			say("%s %s has %q, the model knows nothing of it", table, key, has)
		}
	}
}

func (f facts) without(others facts) facts {
	return slices.DeleteFunc(slices.Clone(f), func(fact string) bool { return slices.Contains(others, fact) })
}

// rollup is what a view holds, by key, without the keys where all sums are 0.
func (w *world) rollup(view string) map[string]facts {
	w.t.Helper()
	of := rollups[view]
	key := strings.Join(append([]string{"tenant", "project"}, of.keys...), ", ")
	got := map[string]facts{}
	w.rows("SELECT ["+key+"], [toString(sum("+strings.Join(of.sums, ")), toString(sum(")+"))] AS amounts FROM sums WHERE roll = '"+view+"' GROUP BY "+key+" HAVING arrayExists(s -> s != '0', amounts)", func(scan func(...any) error) error {
		var key, sums []string
		if err := scan(&key, &sums); err != nil {
			return err
		}
		for i, name := range of.sums {
			got[rollupKey(key)] = append(got[rollupKey(key)], name+" "+sums[i])
		}
		return nil
	})
	return got
}

func (w *world) rows(sql string, each func(func(...any) error) error) {
	w.t.Helper()
	if err := w.db.Rows(context.Background(), database.Query{SQL: sql}, each); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// texts are what a query of one column finds.
func (w *world) texts(sql string) (all []string) {
	w.t.Helper()
	w.rows(sql, func(scan func(...any) error) error {
		all = append(all, "")
		return scan(&all[len(all)-1])
	})
	return all
}

func (w *world) count(sql string) (n uint64) {
	w.t.Helper()
	w.rows(sql, func(scan func(...any) error) error { return scan(&n) })
	return n
}

// record builds messages of records: given members replace the default ones, nil takes them out.
func record(id string, version int, change map[string]any) message {
	data := map[string]any{
		"projectId": "P1", "source": "invoice", "direction": "out", "stepKind": "setup", "currency": "EUR", "net": 10000, "tax": 2000, "gross": 12000,
		"allocations": []any{map[string]any{"nodeId": "n1", "net": 10000}}, "documents": []any{}, "recognitionDate": "2026-01-15",
		"intake": map[string]any{"channel": "manual", "receivedAt": "2026-01-15T08:00:00Z"},
	}
	for k, v := range change {
		if v == nil {
			delete(data, k)
		} else {
			data[k] = v
		}
	}
	return event(events.Records, id, version, data)
}

// event builds a message; data nil makes it a delete.
func event(topic events.Topic, id string, version int, data map[string]any) message {
	value := map[string]any{"id": id, "tenantId": "demo", "version": version, "op": "upsert", "at": time.Date(2026, 3, 1, 10, 0, version%60, 0, time.UTC).Format(time.RFC3339), "data": data}
	if data == nil {
		value["op"] = "delete"
		delete(value, "data")
	}
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return message{topic: topic, partition: -1, key: "demo/" + id, value: b}
}
