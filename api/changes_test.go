package api_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tallyhouse/api"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// replica is a client's copy of an export, kept by the changes since (docs/export.md#changes).
type replica struct {
	query   string
	records map[string]string // JSON by id
	cursor  string
	refused bool // the last answer was a problem: the caller may not ask this now
}

// end is what the last line of a whole answer says.
type end struct {
	Records, Removals int
	Cursor            string
}

// fill makes the replica from an export.
func (c *replica) fill(w *world, key string) {
	w.Helper()
	records, cursor, ok := c.export(w, key, c.query)
	if c.refused = !ok; ok {
		c.records, c.cursor = records, cursor
	}
}

// export reads all records of an export, which must be whole.
func (c *replica) export(w *world, key, query string) (records map[string]string, cursor string, ok bool) {
	w.Helper()
	e := w.export(key, "records.ndjson?"+query)
	if e.status == 400 || e.status == 404 {
		return nil, "", false
	}
	lines := e.lines()
	e.whole(w, len(lines)-1)
	records = make(map[string]string)
	for _, line := range lines[:len(lines)-1] {
		records[idOf(w, line)] = line
	}
	var last struct{ End end }
	w.must(json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	return records, last.End.Cursor, true
}

func idOf(w *world, record string) string {
	w.Helper()
	var r struct{ ID string }
	w.must(json.Unmarshal([]byte(record), &r))
	return r.ID
}

// sync applies what changed since, and returns how many lines that took.
func (c *replica) sync(w *world, key string) (changes int) {
	w.Helper()
	e := w.export(key, "changes?cursor="+c.cursor+"&"+c.query)
	if c.refused = e.status == 400 || e.status == 404; c.refused {
		e.notThe(w, "invalid-cursor")
		return 0
	}
	var anew, fields []string
	lines := e.lines()
	var last end
	for i, text := range lines {
		var line struct {
			Access *struct{ Projects, Fields, ReadAnew []string }
			Upsert json.RawMessage
			Remove *struct{ ID string }
			End    *end
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			w.Fatalf("line %d: %v in %d %s", i, err, e.status, e.body)
		}
		switch {
		case line.Access != nil && i == 0:
			c.drop(w, func(project string) bool { return !slices.Contains(line.Access.Projects, project) })
			anew, fields = line.Access.ReadAnew, line.Access.Fields
		case line.Upsert != nil:
			c.records[idOf(w, string(line.Upsert))] = string(line.Upsert)
			changes++
		case line.Remove != nil:
			delete(c.records, line.Remove.ID)
			changes++
		case line.End != nil && i == len(lines)-1:
			last = *line.End
		default:
			w.Fatalf("line %d is %s", i, text)
		}
	}
	if e.whole(w, last.Records); last.Records+last.Removals != changes || last.Cursor != e.trailer.Get("Tallyhouse-Cursor") {
		w.Fatalf("the end is %+v, the trailer %v", last, e.trailer)
	}
	for _, project := range anew {
		query := url.Values{"projectId": {project}, "fields": {strings.Join(fields, ",")}}
		given, err := url.ParseQuery(c.query)
		w.must(err)
		for name, values := range given {
			if name != "projectId" && name != "fields" {
				query[name] = values
			}
		}
		records, _, ok := c.export(w, key, query.Encode())
		if !ok {
			w.Fatalf("project %s cannot be read anew", project)
		}
		c.drop(w, func(of string) bool { return of == project })
		for id, record := range records {
			c.records[id] = record
		}
	}
	c.cursor = last.Cursor
	return changes
}

func (e exported) notThe(w *world, suffix string) {
	w.Helper()
	if strings.Contains(string(e.body), "/problems/"+suffix) {
		w.Fatalf("got %s", e.body)
	}
}

// drop removes the records of projects.
func (c *replica) drop(w *world, gone func(project string) bool) {
	w.Helper()
	for id, record := range c.records {
		var r struct{ ProjectID string }
		w.must(json.Unmarshal([]byte(record), &r))
		if gone(r.ProjectID) {
			delete(c.records, id)
		}
	}
}

// compare holds the replica against a full export.
func (c *replica) compare(w *world, key, when string) {
	w.Helper()
	want, _, ok := c.export(w, key, c.query)
	if !ok || c.refused {
		return
	}
	for id, record := range want {
		if c.records[id] != record {
			w.Fatalf("%s: %q has the record %s as\n%s, but it is\n%s", when, c.query, id, c.records[id], record)
		}
	}
	for id, record := range c.records {
		if _, ok := want[id]; !ok {
			w.Fatalf("%s: %q still has %s", when, c.query, record)
		}
	}
}

// partitioned writes to the tables that records are shown from as the worker does: rows and the position of their
// partition in one block, offsets with gaps, an entity always in the same partition.
type partitioned struct {
	*world
	next map[string]uint64 // by table and partition
}

const tablePartitions = 3

// block stores rows of one entity with the next version: one under each project that it leaves, the last where it is.
func (p *partitioned) block(table, id string, rows ...map[string]any) {
	p.Helper()
	hash := fnv.New32a()
	hash.Write([]byte(id))
	partition := int32(hash.Sum32() % tablePartitions)
	name := fmt.Sprint(table, partition)
	offset, version := p.next[name], uint64(p.version(events.Topic("row of "+table), id))
	p.next[name] = offset + 1 + offset%3
	for i, row := range rows {
		last := i == len(rows)-1
		row["tenant"], row["id"], row["row_version"] = tenant, id, version
		row["src_partition"], row["src_offset"] = uint32(partition), offset
		row["moved"], row["deleted"] = !last, row["deleted"] == true || !last
		if table == "records" {
			row["delta"] = []map[string]any{}
		}
	}
	p.insert(table, append(slices.Clone(rows), p.positionRow(table, partition, rows[0]))...)
}

// position stores that the table has come as far as said in a partition.
func (p *partitioned) position(table string, partition int32) {
	p.Helper()
	p.insert(table, p.positionRow(table, partition, map[string]any{"allocation_node": []string{}}))
}

// positionRow says how far the table has come, in the columns of another row.
func (p *partitioned) positionRow(table string, partition int32, like map[string]any) map[string]any {
	row := maps.Clone(like)
	row["tenant"], row["project"], row["id"] = "", clickhouse.PositionProject(partition), ""
	row["row_version"], row["deleted"], row["moved"] = p.next[fmt.Sprint(table, partition)], false, false
	if table == "records" {
		entry := map[string]any{}
		for _, key := range clickhouse.SumKeys() {
			entry[key] = ""
		}
		for _, amount := range clickhouse.SumAmounts() {
			entry[amount] = int64(0)
		}
		entry["project"] = clickhouse.ViewPositionProject("records", partition)
		row["delta"] = []map[string]any{entry}
	}
	return row
}

// fortunes are what happens to a ledger: what the test draws its steps from.
type fortunes struct {
	*partitioned
	draw     *rand.Rand
	key      string
	projects map[string]string // structure of each that exists
	roles    map[string]string // by project
	places   map[string]string // project of each entity that was stored, by table and id
	lives    int
}

var fortuneProjects = []string{"P1", "P2", "P3", "P4"}

func (f *fortunes) one(of ...string) string { return of[f.draw.IntN(len(of))] }

// move returns the project rows of an entity: where it was, if it goes, and where it is.
func (f *fortunes) move(table, id, to string, row func() map[string]any) {
	f.Helper()
	place := table + "/" + id
	was, known := f.places[place]
	f.places[place] = to
	var rows []map[string]any
	if known && was != to {
		left := row()
		left["project"] = was
		rows = append(rows, left)
	}
	is := row()
	is["project"] = to
	f.block(table, id, append(rows, is)...)
}

// record adds, changes, moves or deletes a record.
func (f *fortunes) record() {
	f.Helper()
	id := fmt.Sprint("R", f.draw.IntN(60))
	to := f.one(fortuneProjects...)
	if was, known := f.places["records/"+id]; known && f.draw.IntN(3) > 0 {
		to = was
	}
	r := record{id: id, status: f.one("paid", "setup", "rejected"), contractor: f.one("", "K1", "K2", "K3"), captured: "as captured",
		currency: "EUR", net: some(int64(f.draw.IntN(1000)))}
	for range f.draw.IntN(3) {
		r.nodes, r.nets = append(r.nodes, f.one("a", "b", "c", "d", "e", "none")), append(r.nets, 1)
	}
	deleted := f.draw.IntN(4) == 0
	f.move("records", id, to, func() map[string]any {
		row := r.row(tenant)
		row["deleted"] = deleted
		return row
	})
}

func (f *fortunes) contractor() {
	f.Helper()
	id, name, deleted := f.one("K1", "K2", "K3"), some(fmt.Sprint("Name ", f.draw.IntN(100))), f.draw.IntN(4) == 0
	f.move("contractors", id, "", func() map[string]any { return map[string]any{"name": pointer(name), "deleted": deleted} })
}

// node changes a line, where it hangs, and sometimes to which structure or project it belongs.
func (f *fortunes) node() {
	f.Helper()
	id := f.one("a", "b", "c", "d", "e")
	parent := events.Some(f.one("a", "b", "c", "d", "e"))
	if f.draw.IntN(2) == 0 {
		parent = events.Opt[string]{}
	}
	codes := f.one("[]", "[]", `[{"system":"datev","code":"0700"}]`)
	project, structure := "", some(f.one("S1", "S1", "S2"))
	if f.draw.IntN(5) == 0 {
		project, structure = f.one(fortuneProjects...), events.Opt[string]{}
	}
	name, deleted := fmt.Sprint("Line ", f.draw.IntN(100)), f.draw.IntN(5) == 0
	f.move("budget_nodes", id, project, func() map[string]any {
		return map[string]any{"structure_id": pointer(structure), "parent_id": pointer(parent), "level": "budget", "code": "1", "name": name,
			"active": true, "accounting_codes": codes, "deleted": deleted}
	})
}

// access changes a role of the user, or a project.
func (f *fortunes) access() {
	f.Helper()
	project := f.one(fortuneProjects...)
	switch f.draw.IntN(3) {
	case 0:
		if _, exists := f.projects[project]; exists && f.draw.IntN(2) == 0 {
			delete(f.projects, project)
			f.send(events.Projects, tenant, project, nil)
		} else {
			f.projects[project] = f.one("S1", "S2")
			f.send(events.Projects, tenant, project, &events.Project{Name: project, Currency: "EUR", BudgetStructureID: some(f.projects[project])})
		}
	default:
		role := f.one("user", "user", "user", "guest", "")
		f.roles[project] = role
		if role == "" {
			f.send(events.Memberships, tenant, "U2-"+project, nil)
		} else {
			f.send(events.Memberships, tenant, "U2-"+project,
				&events.Membership{UserID: "U2", Scope: events.Scope{ProjectID: some(project)}, Role: role})
		}
	}
	f.settled()
}

// settled waits until the API knows who may see what.
func (f *fortunes) settled() {
	f.Helper()
	var want []string
	for _, project := range fortuneProjects {
		if structure, exists := f.projects[project]; exists && f.roles[project] != "" {
			if f.roles[project] == "guest" {
				structure = ""
			}
			want = append(want, project+"="+structure)
		}
	}
	f.eventually(knownWithin, fmt.Sprint("the user sees ", want), func() bool {
		r := f.get(f.key, "/v0/projects")
		var got []string
		ids, structures := r.items("id"), r.items("budgetStructureId")
		for i := range ids {
			got = append(got, ids[i]+"="+structures[i])
		}
		return r.status == 200 && slices.Equal(got, want)
	})
}

// life begins a new life of a stream, as restores and rebuilds do.
func (f *fortunes) life() {
	f.Helper()
	f.lives++
	f.insert("streams", map[string]any{"topic": f.one("ledger.records", "ledger.contractors", "ledger.budget-nodes"),
		"revision": uint64(f.lives), "life": fmt.Sprint(f.lives)})
}

// data is a change that needs no waiting.
func (f *fortunes) data() {
	f.Helper()
	switch n := f.draw.IntN(20); {
	case n < 15:
		f.record()
	case n < 17:
		f.contractor()
	default:
		f.node()
	}
}

// changeRounds is how often the ledger changes and the copies follow; make nightly does it more often.
func changeRounds(t *testing.T) int {
	if text := os.Getenv("TALLYHOUSE_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 15
}

// TestACopyIsKeptByChanges has copies follow a ledger in which anything happens, also while they are being read, and
// holds them against full exports.
func TestACopyIsKeptByChanges(t *testing.T) {
	// Given a ledger, a user who sees some of it, and copies of different exports
	steps := &stepping{}
	w := newWorld(t, func(o *api.Options) { o.Control = o.ClickHouse; steps.Conn, o.ClickHouse = o.ClickHouse, steps })
	seed := rand.Uint64()
	t.Logf("drawn with the seed %d", seed)
	f := &fortunes{partitioned: &partitioned{world: w, next: map[string]uint64{}}, draw: rand.New(rand.NewPCG(seed, 0)), key: guestKey,
		projects: map[string]string{}, roles: map[string]string{}, places: map[string]string{}}
	w.user("U2", f.key, "")
	for _, project := range fortuneProjects {
		f.projects[project], f.roles[project] = "S1", "user"
		w.send(events.Projects, tenant, project, &events.Project{Name: project, Currency: "EUR", BudgetStructureID: some("S1")})
		w.send(events.Memberships, tenant, "U2-"+project,
			&events.Membership{UserID: "U2", Scope: events.Scope{ProjectID: some(project)}, Role: "user"})
	}
	f.settled()
	for range 60 {
		f.data()
	}
	replicas := []*replica{{}, {query: "status=paid&fields=id,projectId,status,net"}, {query: "accountingCode=datev:0700"},
		{query: "projectId=P2"}, {query: "budgetNodeId=a&includeDescendants=true&fields=id,projectId,allocations"}}
	// When anything happens, between the reads of a copy and between two of its statements
	var one sync.Mutex // statements of a page may run at the same time
	disturbed := func() error {
		one.Lock()
		defer one.Unlock()
		if f.draw.IntN(2) == 0 {
			f.data()
		}
		return nil
	}
	for _, c := range replicas {
		steps.set("records", disturbed)
		c.fill(w, f.key)
	}
	for round := range changeRounds(t) {
		for range 1 + f.draw.IntN(4) {
			f.data()
		}
		if f.draw.IntN(2) == 0 {
			f.access()
		}
		if f.draw.IntN(10) == 0 {
			f.life()
		}
		for _, c := range replicas {
			steps.set("records", disturbed)
			c.sync(w, f.key)
			steps.set("", nil)
		}
		// Then each copy that reads on is what a full export has
		for _, c := range replicas {
			c.sync(w, f.key)
			c.compare(w, f.key, fmt.Sprint("round ", round))
		}
	}
	// And when nothing changes, nothing is sent.
	for _, c := range replicas {
		if n := c.sync(w, f.key); n > 0 {
			t.Errorf("%q: %d changes of a ledger that stands still", c.query, n)
		}
	}
}

func TestChangesAreNoMoreThanWhatChanged(t *testing.T) {
	// Given a copy of 300 records
	w, records := exportWorld(t)
	p := &partitioned{world: w, next: map[string]uint64{"records0": 1, "contractors0": 10, "contractors1": 10, "contractors2": 10}}
	p.position("records", 0)
	for partition := range int32(tablePartitions) {
		p.insert("contractors", p.positionRow("contractors", partition, map[string]any{}))
	}
	p.version("row of contractors", "K2") // which it has already
	p.block("records", "first", map[string]any{"project": "P1", "allocation_node": []string{}})
	c := &replica{}
	c.fill(w, adminKey)
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"nothing", func() {}, 0},
		{"a record comes", func() { p.block("records", "new", map[string]any{"project": "P2", "allocation_node": []string{}}) }, 1},
		{"two change", func() {
			p.block("records", "new", map[string]any{"project": "P2", "status": "paid", "allocation_node": []string{}})
			p.block("records", "first", map[string]any{"project": "P1", "status": "paid", "allocation_node": []string{}})
		}, 2},
		{"a record moves", func() {
			p.block("records", "new", map[string]any{"project": "P2", "allocation_node": []string{}}, map[string]any{"project": "P3", "allocation_node": []string{}})
		}, 1},
		{"a record goes", func() {
			p.block("records", "new", map[string]any{"project": "P3", "deleted": true, "allocation_node": []string{}})
		}, 1},
		{"a contractor that no record has", func() { p.block("contractors", "K9", map[string]any{"project": "", "name": pointer(some("Nobody"))}) }, 0},
		{"the contractor of 75 records", func() { p.block("contractors", "K2", map[string]any{"project": "", "name": pointer(some("Renamed"))}) }, 75},
	} {
		step.do()
		if got := c.sync(w, adminKey); got != step.want {
			t.Errorf("%s: %d changes, want %d", step.name, got, step.want)
		}
		c.compare(w, adminKey, step.name)
	}
	if len(c.records) != records+1 {
		t.Errorf("the copy has %d records", len(c.records))
	}
}

func TestACursorOfChangesBelongsToItsCopy(t *testing.T) {
	// Given the cursor of a copy
	w, _ := exportWorld(t)
	p := &partitioned{world: w, next: map[string]uint64{"records0": 1}}
	p.position("records", 0)
	w.key("U-admin", strangerKey, func(*events.Key) {})
	w.known(strangerKey)
	const query = "status=paid,setup&fields=id,projectId"
	c := &replica{query: query}
	c.fill(w, adminKey)
	// Then it opens with the same filters in any order, for whatever format the export was
	for _, same := range []string{query, "fields=projectId,id&status=setup,paid"} {
		w.export(adminKey, "changes?"+same+"&cursor="+c.cursor).whole(t, 0)
	}
	of := w.export(adminKey, "records.csv?dialect=excel-de&"+query).trailer.Get("Tallyhouse-Cursor")
	w.export(adminKey, "changes?"+query+"&cursor="+of).whole(t, 0)
	// And with nothing else, for nobody else.
	for _, other := range []string{"status=paid&fields=id,projectId", "status=paid,setup", query + "&projectId=P1", query + "&source=invoice"} {
		w.export(adminKey, "changes?"+other+"&cursor="+c.cursor).refused(t, 400, "invalid-cursor")
	}
	w.export(strangerKey, "changes?"+query+"&cursor="+c.cursor).refused(t, 400, "invalid-cursor")
	list := w.get(adminKey, "/v0/records?limit=1&status=paid,setup").want(t, 200, "").cursor()
	w.export(adminKey, "changes?"+query+"&cursor="+list).refused(t, 400, "invalid-cursor")
	w.get(adminKey, "/v0/records?status=paid,setup&cursor="+c.cursor).want(t, 400, "invalid-cursor")
	for _, broken := range []string{c.cursor[1:], c.cursor + "A", "x", strings.Repeat("A", 25_000)} {
		w.export(adminKey, "changes?"+query+"&cursor="+broken).refused(t, 400, "invalid-cursor")
	}
	w.export(adminKey, "changes?"+query).refused(t, 400, "invalid-query")
	w.export(adminKey, "changes?"+query+"&cursor=").refused(t, 400, "invalid-query")
}

// Given so many partitions that their positions have no place in a cursor, then exports and changes are refused before anything is sent:
// they are not broken off at their end.
func TestAnExportWithoutPlaceForItsCursorIsRefused(t *testing.T) {
	w, records := exportWorld(t)
	cursor := w.export(adminKey, "records.ndjson").whole(t, records).trailer.Get("Tallyhouse-Cursor")
	for _, table := range []string{"budget_nodes", "contractors"} {
		w.must(w.db.Exec(t.Context(), `INSERT INTO `+table+` (tenant, project, row_version)
SELECT '', concat('#', toString(number)), pow(2, 60) FROM numbers(1200)`))
	}
	for _, path := range []string{"records.ndjson", "records.csv", "records.parquet", "records.ndjson?projectId=P1", "changes?cursor=" + cursor} {
		w.export(adminKey, path).refused(t, 500, "internal-error")
	}
	if !strings.Contains(w.log.String(), "make the cursor of an export") {
		t.Error("the log doesn't say why")
	}
}
