package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/deploy/demo"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// isTheSameOnTwoShards has the topics of the sample ingested once more, by two ClickHouse servers as shards. Then every
// operation answers as it does on one server; while a shard is away it answers so or not at all, and what the shard lacked
// comes when it is back (docs/operations.md#shards).
func (s *sampleAPI) isTheSameOnTwoShards(t *testing.T) {
	// Given the sample on one server and on two shards
	shards := clickhousetest.StartCluster(t, "pair", 2)
	two := &sampleAPI{contract: s.contract, process: &process{TB: t, shell: s.shell, servers: servers{kafka: s.servers.kafka}}}
	for _, shard := range shards {
		where := database.Options{Addr: shard.Addr(), Database: "ledger", User: "default"}
		two.servers.shards = append(two.servers.shards, where)
	}
	two.ingest(schema.Target{Cluster: "pair"}, "of-shards")
	two.url = two.api(demo.Now().Format(time.RFC3339))
	two.follow(t, s)
	targets := s.shardTargets(t)
	changing := []string{"/export/v1/records.ndjson"} // when invoices do
	whole := s.collect(t, targets)

	// Then all answers are the same
	have := two.collect(t, targets)
	for _, target := range targets {
		sameAnswer(t, target, whole[target], have[target])
	}

	// And an API with the address of one shard alone is told so, and answers nobody
	one, err := servers{shards: two.servers.shards[:1]}.databases()
	s.must(err)
	defer closeAll(one)
	if err := readable(one)(t.Context()); err == nil || !strings.Contains(err.Error(), "give the addresses of all shards") {
		t.Errorf("with one of the shards: %v", err)
	}

	for away, shard := range shards {
		if away == 0 && drawnInTheNight() == 0 {
			continue // the night has the time for each
		}
		// When a shard is away
		shard.Valve.Turn(true)
		shard.Kill()
		// Then what is answered is right, and everything else is refused
		two.gets(t, http.StatusServiceUnavailable, "/readyz")
		two.answersRightlyOrNot(t, whole)
		// And of what changes, that which belongs there waits
		s.load(changedInvoices(t, away))
		two.holds(t, s, 1-away, func(partition int) bool { return partition%len(shards) != away })
		s.must(until(two.within(startsWithin), func() error {
			if two.worker.Ready() == nil {
				return errors.New("the worker is ready without a shard")
			}
			return nil
		}))
		// Until the shard is back, which has lost nothing
		shard.Valve.Turn(false)
		two.follow(t, s)
		two.gets(t, http.StatusOK, "/readyz")
		for target, pages := range s.collect(t, changing) {
			if slices.Equal(pages, whole[target]) {
				t.Errorf("the changes don't change what %s answers", target)
			}
			whole[target] = pages
		}
		have = two.collect(t, changing)
		for _, target := range changing {
			sameAnswer(t, target, whole[target], have[target])
		}
		if drawnInTheNight() > 0 { // it waits for many a timeout
			two.isTheSameAfterAShardHung(t, shard, whole)
		}
	}
	env := broker(s.servers.kafka)
	env["TALLYHOUSE_CLICKHOUSE"], env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = shards[0].Addr()+","+shards[1].Addr(), "ledger"
	if o := tallyhouse(t, env, "", "verify"); o.code != exitDone {
		t.Errorf("verify: %+v", o)
	}
}

// isTheSameAfterAShardHung has a shard answer nobody, while its connections stay. Then requests end in their time, without
// figures of the other shards alone, and the API is not ready; all is well when the shard is back.
func (s *sampleAPI) isTheSameAfterAShardHung(t *testing.T, shard clickhousetest.Shard, whole map[string][]string) {
	// Given an API that waits for a second
	hasty := &sampleAPI{contract: s.contract, process: s.process}
	hasty.url = s.api(demo.Now().Format(time.RFC3339), func(f *apiFlags) { f.timeout = time.Second })
	// When the shard hangs
	shard.Valve.Silence()
	// Then what needs it is refused, and what doesn't is answered
	hasty.gets(t, http.StatusServiceUnavailable, "/readyz")
	hasty.gets(t, http.StatusOK, "/healthz")
	hasty.gets(t, http.StatusOK, "/v0/projects")
	refusals := []string{`"detail":"The database, or a part of it, is out of reach at the moment.`, `"detail":"The request took longer than it may.`}
	for _, target := range []string{"/v0/records?limit=9&count=true", "/v0/projects/pr-0001/budget?level=costItem", "/v0/contractors?limit=7"} {
		answer := hasty.ask(t, sampleAdmin, target)
		answer.wantProblem(t, sampleKey{owner: "ada"}, target, http.StatusInternalServerError, "internal-error")
		if !slices.ContainsFunc(refusals, func(why string) bool { return bytes.Contains(answer.body, []byte(why)) }) {
			t.Errorf("%s does not say why: %.1000s", target, answer.body)
		}
	}
	// Until it is back, by new connections
	shard.Valve.Turn(true)
	shard.Valve.Turn(false)
	hasty.gets(t, http.StatusOK, "/readyz")
	s.gets(t, http.StatusOK, "/readyz")
	const all = "/export/v1/records.ndjson"
	sameAnswer(t, all, whole[all], s.collect(t, []string{all})[all])
}

// follow waits until both have ingested the same.
func (s *sampleAPI) follow(t *testing.T, other *sampleAPI) {
	t.Helper()
	for n := range s.servers.shards {
		s.holds(t, other, n, func(partition int) bool { return partition%len(s.servers.shards) == n })
	}
}

// holds waits until a shard has just these partitions, as far as the other one.
func (s *sampleAPI) holds(t *testing.T, other *sampleAPI, shard int, which func(partition int) bool) {
	t.Helper()
	want, err := positionsOf(t, other.worker.shards[0], which)
	s.must(err)
	s.must(until(s.within(startsWithin), func() error {
		have, err := positionsOf(t, s.worker.shards[shard], func(int) bool { return true })
		if err == nil && !maps.Equal(have, want) {
			err = fmt.Errorf("shard %d is at %v, not at %v", shard, have, want)
		}
		return err
	}))
}

// positionsOf are how far the tables of a server are, and their sums, by table and partition.
func positionsOf(t *testing.T, db *database.Server, which func(partition int) bool) (map[string]int64, error) {
	t.Helper()
	queries := []string{"SELECT substring(project, 2) AS of, toInt64(sum(position)) FROM sums WHERE tenant = '' GROUP BY of"}
	for _, e := range store.All() {
		queries = append(queries, fmt.Sprintf(
			"SELECT concat('rows of %s/', substring(project, 2)) AS of, toInt64(max(row_version)) FROM %[1]s WHERE tenant = '' GROUP BY of", e.Table))
	}
	all := make(map[string]int64)
	err := db.Rows(t.Context(), database.Query{SQL: strings.Join(queries, " UNION ALL ")}, func(scan func(...any) error) error {
		var of string
		var at int64
		var partition int
		if err := scan(&of, &at); err != nil {
			return err
		}
		if _, err := fmt.Sscan(of[strings.LastIndex(of, "/")+1:], &partition); err != nil {
			return fmt.Errorf("%s: %w", of, err)
		}
		if which(partition) {
			all[of] = at
		}
		return nil
	})
	return all, err
}

// gets waits until a path answers with a status.
func (s *sampleAPI) gets(t *testing.T, status int, path string) {
	t.Helper()
	s.must(until(s.within(startsWithin), func() error {
		if got := s.ask(t, sampleAdmin, path); got.status != status {
			return fmt.Errorf("%s: %d %s", path, got.status, got.body)
		}
		return nil
	}))
}

// changedInvoices are lines to load that give some dozen records another invoice number.
func changedInvoices(t *testing.T, away int) string {
	t.Helper()
	var written, lines strings.Builder
	if err := demo.Write(&written, demo.Options{Topics: []events.Topic{events.Records}}); err != nil {
		t.Fatal(err)
	}
	left := 24
	for line := range strings.Lines(written.String()) {
		m := numbers(t, []byte(line)).(map[string]any)
		value := m["value"].(map[string]any)
		data, there := value["data"].(map[string]any)
		if !there {
			continue
		}
		value["version"], data["invoiceNumber"] = 900_000+away, fmt.Sprintf("AWAY-%d", away)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
		if left--; left == 0 {
			break
		}
	}
	return lines.String()
}

// shardTargets asks every operation that reads, with each of its parameters.
func (s *sampleAPI) shardTargets(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, "api", "examples", "*.json"))
	s.must(err)
	for _, name := range files {
		var example struct{ Request string }
		text, err := os.ReadFile(name)
		s.must(errors.Join(err, json.Unmarshal(text, &example)))
		if target, reads := strings.CutPrefix(example.Request, "GET "); reads {
			all = append(all, target)
		}
	}
	all = append(all,
		"/v0/contracts?limit=40",
		"/v0/projects/pr-0001/budget?asOf=2026-08",
		"/v0/records?hasCashDate=true&status=paid&fields=net,cashDate,documents&limit=20",
		"/v0/records?accountingCode=datev:0730&projectId=pr-0006",
		"/v0/contractors?limit=7",
		"/v0/contracts?limit=3",
		"/v0/facilities/fa-0001/schedule?to=2027-01-01&includePlanned=true",
		"/v0/projects/pr-0001/budget?level=costItem",
		"/v0/projects/pr-0001/facilities?limit=1",
		"/v0/projects/pr-0002/units?limit=4",
		"/v0/projects/pr-0003/rent-roll",
		"/v0/records?limit=9&count=true",
		"/v0/records?invoiceNumber=RE+06638",
		"/v0/records?contractorId=ct-00043&count=true",
		"/v0/records?recognitionDateFrom=2026-01-01&recognitionDateTo=2026-02-28&limit=50",
		"/v0/records?cashDateFrom=2026-01-01&cashDateTo=2026-03-31&limit=50",
		"/v0/records?budgetNodeId=nd-r-001&includeDescendants=true&projectId=pr-0001",
		"/v0/records?channel=email&source=invoice&limit=30",
		"/export/v1/records.ndjson",
		"/export/v1/records.csv?projectId=pr-0002&dialect=excel-de",
	)
	asked := make(map[string]bool)
	for _, target := range all {
		path, query, _ := strings.Cut(target, "?")
		if strings.HasPrefix(path, "/v0/") {
			path = s.operation(t, target)
		}
		asked[path] = true
		values, err := url.ParseQuery(query)
		s.must(err)
		for name := range values {
			asked[path+"?"+name] = true
		}
	}
	for _, o := range s.contract.Operations() {
		if o.Method == http.MethodGet && !asked[o.Path] {
			t.Errorf("%s is not asked", o.ID)
		}
		for _, p := range o.Parameters {
			if p.In == "query" && p.Name != "cursor" && !asked[o.Path+"?"+p.Name] {
				t.Errorf("%s is not asked with %s", o.ID, p.Name)
			}
		}
	}
	return all
}

// collect asks each target, of lists the next pages, too.
func (s *sampleAPI) collect(t *testing.T, targets []string) map[string][]string {
	t.Helper()
	const pages = 2
	all := make(map[string][]string)
	for _, target := range targets {
		next := target
		for page := 0; page < pages && next != ""; page++ {
			answer := s.ask(t, sampleAdmin, next)
			if answer.status != http.StatusOK {
				t.Fatalf("%s: %d %s", next, answer.status, answer.body)
			}
			all[target] = append(all[target], withoutCursors(answer))
			var list struct{ Page struct{ NextCursor *string } }
			next = ""
			if json.Unmarshal(answer.body, &list) == nil && list.Page.NextCursor != nil {
				next = withParameter(target, "cursor", *list.Page.NextCursor)
			}
		}
	}
	return all
}

func withParameter(target, name, value string) string {
	path, query, _ := strings.Cut(target, "?")
	if query != "" {
		query += "&"
	}
	return path + "?" + query + name + "=" + url.QueryEscape(value)
}

var cursors = regexp.MustCompile(`("(?:nextCursor|cursor)":)"[^"]+"`)

// withoutCursors is an answer without what each database seals anew.
func withoutCursors(a asked) string {
	return a.header.Get("Content-Type") + "\n" + cursors.ReplaceAllString(string(a.body), `$1"..."`)
}

func sameAnswer(t *testing.T, target string, want, have []string) {
	t.Helper()
	if !slices.Equal(want, have) {
		t.Errorf("%s answers on two shards\n%.2000q\nand on one server\n%.2000q", target, have, want)
	}
}

// answersRightlyOrNot asks everything while a shard is away. What the API knows by itself it answers as ever.
func (s *sampleAPI) answersRightlyOrNot(t *testing.T, whole map[string][]string) {
	t.Helper()
	known := []string{"/v0/projects", "/v0/projects/{projectId}"}
	for target, pages := range whole {
		answer := s.ask(t, sampleAdmin, target)
		switch {
		case strings.HasPrefix(target, "/v0/") && slices.Contains(known, s.operation(t, target)):
			if answer.status != http.StatusOK || withoutCursors(answer) != pages[0] {
				t.Errorf("%s: %d %.1000s", target, answer.status, answer.body)
			}
		default:
			answer.wantProblem(t, sampleKey{owner: "ada"}, target, http.StatusInternalServerError, "internal-error")
			if !bytes.Contains(answer.body, []byte(`"detail":"The database, or a part of it, is out of reach at the moment.`)) {
				t.Errorf("%s does not say why: %.1000s", target, answer.body)
			}
		}
	}
	s.gets(t, http.StatusOK, "/healthz")
}
