package store_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

func TestMain(m *testing.M) {
	// Every check writes to a real engine, so there are fewer; -rapid.checks asks for more.
	if err := flag.Set("rapid.checks", "15"); err != nil {
		panic(err)
	}
	clickhousetest.Main(m)
}

// migrated opens a database of its own with all tables and views.
func migrated(t testing.TB) *database.Server {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	db, err := database.Open(database.Options{Addr: addr, Database: name, User: "default"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range steps {
		for _, s := range m.Statements {
			if err := db.Exec(t.Context(), database.Statement{SQL: s}); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	return db
}

// failer is a test, or one check of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// texts are the rows of a query whose columns all are texts.
func texts(t failer, db *database.Server, sql string, params database.Params, columns int) (rows [][]string) {
	t.Helper()
	err := db.Rows(context.Background(), database.Query{SQL: sql, Params: params}, func(scan func(...any) error) error {
		row := make([]string, columns)
		into := make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		rows = append(rows, row)
		return scan(into...)
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

// writer writes one entity's changes batch by batch, as a partition's writer does.
type writer struct {
	db       *database.Server
	entity   *store.Entity
	position uint64
}

// head is the state that a change replaces.
type head struct {
	project       string
	contributions analytics.Contributions
}

// write inserts one batch; of several changes of one entity it takes the last.
func (w *writer) write(t failer, heads map[string]head, changes []events.Event) {
	t.Helper()
	newest := map[string]events.Event{}
	for _, e := range changes {
		newest[e.Key()] = e
	}
	block := w.entity.NewBlock()
	first := w.position
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		e := newest[key]
		after, err := w.entity.Contributions(e.ID, e.Data)
		if err != nil {
			t.Fatal(err)
		}
		before, existed := heads[key]
		project := before.project
		if e.Data != nil {
			project = w.entity.Project(e.ID, e.Data)
		}
		row := store.Row{
			Tenant: e.TenantID, Project: project, ID: e.ID, RowVersion: store.RowVersion(e.Version), Deleted: e.Op == events.Delete, At: e.At,
			Data: e.Data, SrcOffset: w.position, ContentHash: e.ContentHash(), After: after,
		}
		if existed && before.project != project {
			gone := row
			gone.Project, gone.Deleted, gone.Moved, gone.Data = before.project, true, true, nil
			gone.Before, gone.After = before.contributions, analytics.Contributions{}
			block.Append(gone)
		} else {
			row.Before = before.contributions
		}
		block.Append(row)
		heads[key] = head{project, after}
		w.position++
	}
	block.Append(store.PositionRow(0, first, w.position, time.Now()))
	written, err := w.db.Insert(context.Background(), database.Statement{
		SQL: w.entity.Insert("1"), Batch: block.Batch(), Params: database.Params{"partition": "0", "first": fmt.Sprint(first)},
	})
	if err != nil || written == 0 {
		t.Fatalf("insert %d rows into %s: %d written, %v", block.Rows(), w.entity.Table, written, err)
	}
}

// drawBatches are changes of a few entities of one tenant, which go to and fro between projects and are deleted and come back.
func drawBatches(t *rapid.T, topic events.Topic, tenant string) (batches [][]eventstest.Message) {
	version := int64(0)
	for range rapid.IntRange(1, 4).Draw(t, "batches") {
		var batch []eventstest.Message
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			version++
			m := eventstest.Draw(t, topic).With("tenantId", tenant).With("id", rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")).With("version", version)
			if m["op"] == "upsert" {
				m = m.With("data.projectId", rapid.SampledFrom([]string{"P1", "P2", "P3"}).Draw(t, "project"))
			}
			batch = append(batch, m)
		}
		batches = append(batches, batch)
	}
	return batches
}

func TestTablesAndViewsHoldWhatTheNewestVersionsSay(t *testing.T) {
	for topic := range images {
		t.Run(string(topic), func(t *testing.T) {
			w := &writer{db: migrated(t), entity: store.Of(topic)}
			checks := 0
			rapid.Check(t, func(t *rapid.T) {
				checks++
				tenant := fmt.Sprint("tenant", checks)
				heads := map[string]head{}
				newest := map[string]eventstest.Message{}
				for _, batch := range drawBatches(t, topic, tenant) {
					var changes []events.Event
					for _, m := range batch {
						e, err := events.Decode(topic, m.Key(), m.Value())
						if err != nil {
							t.Fatal(err)
						}
						changes = append(changes, e)
						newest[e.ID] = m
					}
					w.write(t, heads, changes)
				}
				w.checkRows(t, tenant, newest)
				for _, v := range w.entity.Views() {
					w.checkView(t, v, tenant, newest)
				}
				if w.entity.Contributes() {
					w.checkImages(t, tenant)
				}
			})
			w.checkPositions(t)
		})
	}
}

// checkRows compares the newest rows with what the messages say, column by column.
func (w *writer) checkRows(t failer, tenant string, newest map[string]eventstest.Message) {
	t.Helper()
	columns := []string{"id", "project", "version"}
	selected := []string{"id", "project", "toInt64(intDiv(row_version, 1024))"}
	for _, c := range images[w.entity.Topic] {
		columns, selected = append(columns, c.column), append(selected, c.column)
	}
	// A name of its own, for version is a column too.
	rows := texts(t, w.db, "SELECT formatRowNoNewline('JSONCompactEachRow', "+strings.Join(selected, ", ")+") FROM "+w.entity.Table+
		" FINAL WHERE tenant = {tenant:String} AND NOT deleted", database.Params{"tenant": tenant}, 1)
	got := map[string][]any{}
	for _, row := range rows {
		d := json.NewDecoder(strings.NewReader(row[0]))
		d.UseNumber()
		var values []any
		if err := d.Decode(&values); err != nil {
			t.Fatalf("%s: %v", row[0], err)
		}
		got[values[0].(string)] = values
	}
	for id, m := range newest {
		if m["op"] == "delete" {
			continue
		}
		want := []any{id, member(m["data"], "projectId"), m["version"]}
		for _, c := range images[w.entity.Topic] {
			want = append(want, c.value(m["data"]))
		}
		if len(got[id]) != len(want) {
			t.Fatalf("%s %s is not there", w.entity.Table, id)
		}
		for i := range want {
			if has, wants := asJSON(got[id][i]), asJSON(want[i]); has != wants {
				t.Fatalf("%s %s has %s = %s, its message says %s", w.entity.Table, id, columns[i], has, wants)
			}
		}
		delete(got, id)
	}
	for id := range got {
		t.Fatalf("%s %s is there, no message says so", w.entity.Table, id)
	}
}

// checkView compares a view with the sums of what the messages say, and with its own recomputation.
func (w *writer) checkView(t failer, v clickhouse.View, tenant string, newest map[string]eventstest.Message) {
	t.Helper()
	want := newSums(len(v.Sums))
	for _, m := range newest {
		if m["op"] == "upsert" {
			rollups[v.Name](m, func(key []string, sums ...any) {
				want.add(slices.Concat([]string{tenant, member(m["data"], "projectId").(string)}, key), sums...)
			})
		}
	}
	columns := slices.Clone(v.Key())
	for _, s := range v.Sums {
		columns = append(columns, "toString(sum("+s+"))")
	}
	for where, from := range map[string]string{v.Name: v.Name, "its recomputation": "(" + v.Recompute(v.Table+" FINAL") + ")"} {
		got := map[string]string{}
		for _, row := range texts(t, w.db, "SELECT "+strings.Join(columns, ", ")+" FROM "+from+" WHERE tenant = {tenant:String} GROUP BY "+
			strings.Join(v.Key(), ", "), database.Params{"tenant": tenant}, len(columns)) {
			key, sums := row[:len(v.Key())], row[len(v.Key()):]
			if slices.ContainsFunc(sums, func(s string) bool { return s != "0" }) {
				got[fmt.Sprintf("%q", key)] = fmt.Sprint(sums)
			}
		}
		if wanted := want.texts(); !maps.Equal(got, wanted) {
			t.Fatalf("%s of %s: %s holds\n%v\nthe messages say\n%v", v.Name, v.Table, where, got, wanted)
		}
	}
}

// checkImages computes the contributions of every row from what is read back of it.
func (w *writer) checkImages(t failer, tenant string) {
	t.Helper()
	images := w.entity.NewImages()
	query := database.Query{SQL: images.Select("tenant = {tenant:String}"), Params: database.Params{"tenant": tenant}}
	err := w.db.Scan(context.Background(), query, images.Results(), func() error {
		for i := range images.Rows() {
			computed, err := images.Computed(i)
			if err != nil {
				return err
			}
			if stored := images.Stored(i); !slices.Equal(computed.Keys, stored.Keys) || !slices.Equal(computed.Sums, stored.Sums) {
				_, project, id, _ := images.Row(i)
				return fmt.Errorf("%s of %s contributes %v, what is read back of it would contribute %v", id, project, stored, computed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("read %s back: %v", w.entity.Table, err)
	}
}

// checkPositions finds the table and every view at the next offset.
func (w *writer) checkPositions(t *testing.T) {
	t.Helper()
	for _, v := range w.entity.Views() {
		at := texts(t, w.db, "SELECT toString(sum(position)) FROM "+v.Name+" WHERE tenant = '' AND project = '#0'", nil, 1)[0][0]
		if at != fmt.Sprint(w.position) {
			t.Errorf("%s is at %s, its table at %d", v.Name, at, w.position)
		}
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
