package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tallyhouse/deploy/demo"
	"tallyhouse/schemas/events"
)

// The guide's program that keeps a copy has all records after its first run, and what changed after the next one that comes to its
// end: one that breaks off leaves the copy as it was.
func (s *sampleAPI) isCopiedAsTheGuideSays(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?ms)^```python\n(.*?)^```").FindAllStringSubmatch(string(text), -1)
	at := slices.IndexFunc(programs, func(p []string) bool { return strings.Contains(p[1], "sqlite3") })
	if at < 0 {
		t.Fatalf("%s has no program that keeps a copy", guide)
	}
	upstream, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	// Given trouble: the first request is told to wait, the third breaks off
	between := &troubled{faults: []int{1, 3, 0}, to: httputil.NewSingleHostReverseProxy(upstream)}
	server := httptest.NewServer(between)
	defer server.Close()
	dir := t.TempDir()
	run := func() error {
		out, err := runProgram(t, dir, "python", programs[at][1], server.URL)
		if err != nil {
			t.Logf("%s", out)
		}
		return err
	}
	copied := func(where string) string {
		out, err := runProgram(t, dir, "python",
			"import sqlite3\nprint(*sqlite3.connect('copy.db').execute('SELECT count(*) FROM records "+where+"').fetchone())", server.URL)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	// When it is run for the first time, then it has every record
	if err := run(); err != nil || copied("") != strconv.Itoa(sampleRecords) {
		t.Fatalf("%v: %s records are copied of %d", err, copied(""), sampleRecords)
	}
	// And when a record changes and another one is deleted, then a run that breaks off shows nothing of that, and the next one all
	s.load(s.changedRecords(t))
	if err := run(); err == nil || copied("") != strconv.Itoa(sampleRecords) || between.early {
		t.Fatalf("after an answer that broke off: %v, %s records (early: %t)", err, copied(""), between.early)
	}
	const changed = `WHERE json_extract(record, "$.invoiceNumber") = "CHANGED-1"`
	if err := run(); err != nil || copied("") != strconv.Itoa(sampleRecords-1) || copied(changed) != "1" {
		t.Fatalf("%v: %s records are copied, of %d but one that was deleted", err, copied(""), sampleRecords)
	}
}

// changedRecords are lines to load that change the first record of the sample, and delete the second.
func (s *sampleAPI) changedRecords(t *testing.T) string {
	t.Helper()
	var lines bytes.Buffer
	if err := demo.Write(&lines, demo.Options{Topics: []events.Topic{events.Records}}); err != nil {
		t.Fatal(err)
	}
	var changed []string
	for line := range strings.Lines(lines.String()) {
		var m map[string]any
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&m); err != nil {
			t.Fatal(err)
		}
		value := m["value"].(map[string]any)
		value["version"] = 1_000_000
		if data := value["data"].(map[string]any); len(changed) == 0 {
			data["invoiceNumber"] = "CHANGED-1"
		} else {
			value["op"] = "delete"
			delete(value, "data")
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if changed = append(changed, string(text)+"\n"); len(changed) == 2 {
			break
		}
	}
	return strings.Join(changed, "")
}
