package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
	"tallyhouse/ingest/worker/position"
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
	project      string
	contribution analytics.Contribution
}

// write inserts one batch; of several changes of one entity it takes the last.
func (w *writer) write(t failer, heads map[string]head, changes []events.Event) {
	t.Helper()
	newest := map[string]events.Event{}
	for _, e := range changes {
		newest[e.Key()] = e
	}
	block, deltas := w.entity.NewBlock(), ingesttest.Deltas{}
	first := w.position
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		e := newest[key]
		after, err := w.entity.Contribution(nil, e.ID, e.Data)
		if err != nil {
			t.Fatal(err)
		}
		before, existed := heads[key]
		project := before.project
		if e.Data != nil {
			project = w.entity.Project(e.ID, e.Data)
		}
		row := store.Row{
			Tenant: e.TenantID, Project: project, ID: e.ID, Version: uint64(e.Version), Deleted: e.Op == events.Delete, At: e.At,
			Data: e.Data, SrcOffset: w.position, KeyHash: uint32(w.position) * 7, ContentHash: e.ContentHash(),
		}
		deltas.Add(e.TenantID, before.project, before.contribution, -1)
		deltas.Add(e.TenantID, project, after, 1)
		if existed && before.project != project {
			gone := row
			gone.Project, gone.Deleted, gone.Moved, gone.Data = before.project, true, true, nil
			block.Append(&gone)
		}
		block.Append(&row)
		heads[key] = head{project, after}
		w.position++
	}
	block.AppendPosition(0, w.position, -1, time.Now())
	if w.entity.Contributes() {
		deltas.AddTo(block)
	}
	w.insert(t, block, first)
}

func (w *writer) insert(t failer, block *store.Block, first uint64) {
	t.Helper()
	block.Sort()
	written, err := w.db.Insert(context.Background(), database.Statement{
		SQL: w.entity.Insert("1"), Batch: block.Batch(), Params: database.Params{"partition": "0", "first": fmt.Sprint(first)},
	})
	if want := block.Rows() + block.Deltas(); err != nil || written != uint64(want) {
		t.Fatalf("insert %d rows and %d deltas into %s: %d written, %v", block.Rows(), block.Deltas(), w.entity.Table, written, err)
	}
}

// drawBatches are changes of a few entities of one tenant, which go to and fro between projects and are deleted and
// come back.
func drawBatches(t *rapid.T, topic events.Topic, tenant string) (batches [][]eventstest.Message) {
	version := int64(0)
	for range rapid.IntRange(1, 4).Draw(t, "batches") {
		var batch []eventstest.Message
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			version++
			m := eventstest.Draw(t, topic).With("tenantId", tenant).With("id", rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")).With("version", version)
			if member(m["data"], "projectId") != nil {
				m = m.With("data.projectId", rapid.SampledFrom([]string{"P1", "P2", "P3"}).Draw(t, "project"))
			}
			if member(m["data"], "facilityId") != nil {
				m = m.With("data.facilityId", rapid.SampledFrom([]string{"F1", "F2"}).Draw(t, "facility"))
			}
			if topic == events.IndexValues { // series and month are the id
				m = m.With("id", m["id"].(string)+":2026-01")
				if m["op"] == "upsert" {
					m = m.With("data.series", strings.TrimSuffix(m["id"].(string), ":2026-01")).With("data.month", "2026-01")
				}
			}
			if sender := m["id"].(string); topic == events.Requests && member(m["data"], "sender") != nil { // who is the id
				m = m.With("data.sender", sender).With("id", events.SenderRequest(sender))
			}
			if member(m["data"], "parentId") == m["id"] {
				m = m.Without("data.parentId") // no node is its own parent
			}
			batch = append(batch, m)
		}
		batches = append(batches, batch)
	}
	return batches
}

func TestTablesAndSumsHoldWhatTheNewestVersionsSay(t *testing.T) {
	t.Parallel()
	for _, topic := range store.Topics() {
		t.Run(string(topic), func(t *testing.T) {
			t.Parallel()
			w := &writer{db: databasetest.Migrated(t, 2), entity: store.Of(topic)}
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
						if _, err := w.entity.Contribution(nil, e.ID, e.Data); errors.Is(err, analytics.ErrTooMuch) {
							continue // a dead letter
						}
						changes = append(changes, e)
						newest[e.ID] = m
					}
					if len(changes) > 0 {
						w.write(t, heads, changes)
					}
				}
				w.checkRows(t, tenant, newest)
				w.checkSums(t, tenant, newest)
				w.checkImages(t, tenant, heads)
			})
			w.checkPosition(t)
		})
	}
}

// expectedProject is the project that a message's entity is sorted under.
func expectedProject(topic events.Topic, m eventstest.Message) string {
	switch topic {
	case events.Projects:
		return m["id"].(string)
	case events.Fixings, events.FacilityEntries: // they are read by their facility
		return text(m, "facilityId")
	}
	return text(m, "projectId")
}

// checkRows compares the newest rows with what the messages say, column by column.
func (w *writer) checkRows(t failer, tenant string, newest map[string]eventstest.Message) {
	t.Helper()
	columns := []string{"id", "project", "version"}
	selected := []string{"id", "project", "row_version"}
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
		for i, column := range columns {
			if inJSON[column] {
				values[i] = parsed(t, values[i])
			}
		}
		got[values[0].(string)] = values
	}
	for id, m := range newest {
		if m["op"] == "delete" {
			continue
		}
		want := []any{id, expectedProject(w.entity.Topic, m), m["version"]}
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

// parsed is what a text says in JSON.
func parsed(t failer, text any) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text.(string)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// checkSums compares all sums of a tenant with those of what the messages say.
func (w *writer) checkSums(t failer, tenant string, newest map[string]eventstest.Message) {
	t.Helper()
	want := sums{}
	for _, m := range newest {
		if of := contributes[w.entity.Topic]; of != nil && m["op"] == "upsert" {
			of(m, func(roll string, k keys, v amounts) { want.add(roll, expectedProject(w.entity.Topic, m), k, v) })
		}
	}
	columns := clickhouse.SumKeys()[1:]
	values := clickhouse.SumAmounts()
	var selected []string
	for _, v := range values {
		selected = append(selected, "toString(sum("+v+"))")
	}
	got := sums{}
	by := strings.Join(columns, ", ")
	for _, row := range texts(t, w.db, "SELECT "+by+", "+strings.Join(selected, ", ")+" FROM sums WHERE tenant = {tenant:String} GROUP BY "+by,
		database.Params{"tenant": tenant}, len(columns)+len(values)) {
		roll, parts, ok := clickhouse.CutKeys(row[1])
		if !ok {
			t.Fatalf("a sum has the keys %q", row[1])
		}
		k, v := keys{}, amounts{}
		for i, part := range parts {
			k[keyIn(roll, i)] = part
		}
		for i, column := range values {
			v[amountIn(roll, column)] = row[len(columns)+i]
		}
		got.add(roll, row[0], k, v)
	}
	if got, want := got.texts(), want.texts(); !maps.Equal(got, want) {
		t.Fatalf("the sums of %s are\n%v\nthe messages say\n%v", w.entity.Table, got, want)
	}
}

// keyIn is the key that a roll has at a place of its keys; the place itself where it should have none.
func keyIn(roll string, place int) string {
	if id, known := clickhouse.RollNamed(roll); known {
		if at := id.Roll().KeyPlaces()[place]; at != clickhouse.None {
			return id.Roll().Keys[at]
		}
	}
	return strconv.Itoa(place)
}

// amountIn is the amount that a roll has in a column of sums; the column's own name where it should have none.
func amountIn(roll, column string) string {
	if id, known := clickhouse.RollNamed(roll); known {
		for _, term := range id.Roll().Amounts {
			if clickhouse.AmountColumn(term) == column {
				return term
			}
		}
	}
	return column
}

// checkImages compares what is read back of every row with what was written.
func (w *writer) checkImages(t failer, tenant string, heads map[string]head) {
	t.Helper()
	images, seen := w.entity.NewImages(), 0
	query := database.Query{SQL: images.Select(true, "tenant = {tenant:String} AND NOT moved"), Params: database.Params{"tenant": tenant}}
	err := w.db.Scan(context.Background(), query, images.Results(), func() error {
		for i := range images.Rows() {
			row := images.Row(i)
			seen++
			head, known := heads[row.Tenant+"/"+row.ID]
			if !known || row.Project != head.project || row.Partition != 0 {
				return fmt.Errorf("%+v is there, written was %+v", row, head)
			}
			if c, err := images.Contribution(nil, i); err != nil || !slices.Equal(c, head.contribution) {
				return fmt.Errorf("%s contributes %v, what is read back of it would contribute %v, %v", row.ID, head.contribution, c, err)
			}
		}
		return nil
	})
	if err != nil || seen != len(heads) {
		t.Fatalf("read %s back: %d of %d, %v", w.entity.Table, seen, len(heads), err)
	}
}

// checkPosition finds the table and its view at the next offset.
func (w *writer) checkPosition(t *testing.T) {
	t.Helper()
	at, err := position.Read(t.Context(), w.db, w.entity, []int32{0})
	if err != nil || at[0].State != w.position || !at[0].Level() || at[0].Contributes != w.entity.Contributes() {
		t.Errorf("%s is at %+v, %v, want %d", w.entity.Table, at[0], err, w.position)
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// A batch is one part of the state table and one of the sums, however large: half a batch is what no position would
// show.
func TestALargeBatchIsOnePartOfEachTable(t *testing.T) {
	t.Parallel()
	const rows, entries = 70_000, 100_000 // above the sizes at which the server cuts blocks by itself
	w := &writer{db: databasetest.Migrated(t, 2), entity: store.Of(events.Records)}
	block := w.entity.NewBlock()
	for i := range rows {
		block.Append(&store.Row{Tenant: "t", Project: "P", ID: fmt.Sprint(i), Version: 1, Deleted: true})
	}
	block.AppendPosition(0, rows, -1, time.Now())
	const largest = 1<<62 - 1
	for i := range entries {
		node := fmt.Append(nil, "node ", i)
		block.AddDelta(clickhouse.RollPayments, []byte("t"), []byte("P"), [][]byte{node, []byte("EUR"), []byte("2026-01")}, []int64{largest * int64(1-2*(i%2))})
	}
	if block.Deltas() != entries+1 {
		t.Fatalf("%d deltas", block.Deltas())
	}
	w.insert(t, block, 0)
	for table, want := range map[string]int{"records": rows + 1, "sums": entries + 1} {
		// Those that merges have taken, too.
		got := texts(t, w.db, "SELECT toString(count()), toString(sum(rows)) FROM system.parts WHERE database = currentDatabase() AND table = {table:String}",
			database.Params{"table": table}, 2)
		if got[0][0] != "1" || got[0][1] != fmt.Sprint(want) {
			t.Errorf("%s has %s parts of %s rows, want 1 of %d", table, got[0][0], got[0][1], want)
		}
	}
	got := texts(t, w.db, `SELECT toString(uniqExact(node)), toString(sumIf(net, net > 0)), toString(sumIf(net, net < 0))
FROM sums WHERE tenant = 't' AND project = 'P' AND roll = 'payments' AND currency = 'EUR' AND month = '2026-01'`, nil, 3)[0]
	half := new(big.Int).Mul(big.NewInt(largest), big.NewInt(entries/2)).String()
	if want := []string{fmt.Sprint(entries), half, "-" + half}; !slices.Equal(got, want) {
		t.Errorf("the sums come to %q, want %q", got, want)
	}
	w.position = rows
	w.checkPosition(t)
}
