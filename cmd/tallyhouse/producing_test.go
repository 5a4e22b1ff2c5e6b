package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tallyhouse/ingest/admin/registry/registrytest"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// The outbox of docs/producing.md: the router sends a row's payload as it stands, under the row's id, to the topic that its
// settings make of the row's type. Given the row that the page shows, then that is a message which is taken.
func TestTheOutboxOfThePageMakesAMessage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "docs", "producing.md"))
	if err != nil {
		t.Fatal(err)
	}
	settings := regexp.MustCompile("(?s)```properties\n(.*?)```").FindSubmatch(text)
	row := regexp.MustCompile(`(?s)INSERT INTO outbox \(id, aggregatetype, aggregateid, type, payload\)\s+` +
		`VALUES \(gen_random_uuid\(\), '([^']*)', '([^']*)', '[^']*',\s+'([^']*)'\);`).FindSubmatch(text)
	if settings == nil || row == nil {
		t.Fatalf("the page shows settings %q, a row %q", settings, row)
	}
	set := map[string]string{}
	for line := range strings.Lines(string(settings[1])) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		set[name] = value
	}
	asItStands := "org.apache.kafka.connect.storage.StringConverter"
	if set["key.converter"] != asItStands || set["value.converter"] != asItStands || set["transforms.outbox.table.expand.json.payload"] != "" {
		t.Errorf("the settings change what is in a row: %v", set)
	}
	topic := strings.Replace(set["transforms.outbox.route.topic.replacement"], "${routedByValue}", string(row[1]), 1)
	line, err := json.Marshal(map[string]any{"topic": topic, "key": string(row[2]), "value": json.RawMessage(row[3])})
	if err != nil {
		t.Fatal(err)
	}
	if o := tallyhouse(t, nil, string(line)+"\n", "load", "--check", "-"); o.code != exitDone {
		t.Errorf("%s: %+v", line, o)
	}
}

// Given the file that docs/producing.md shows, then each of its commands does what the page says, against a broker that
// has refused one message.
func TestWhatThePageOnProducingRuns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "docs", "producing.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	shown := regexp.MustCompile("(?s)```ndjson\n(.*?)```").FindStringSubmatch(page)
	if shown == nil {
		t.Fatal("the page shows no file")
	}
	c := topicstest.Cluster(t, 2)
	refused := kafka.DeadLetter{
		Topic: string(events.Contractors), Partition: 1, Offset: 7, Key: []byte("acme/C1"),
		Reason: "data.nmae is not a member of ledger.contractors (did you mean name?)",
		Value:  []byte(`{"id":"C1","tenantId":"acme","version":2,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"nmae":"Bau"}}`),
	}
	if _, _, err := kafka.Send(context.Background(), c, refused.Message()); err != nil {
		t.Fatal(err)
	}
	project, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("changes.ndjson", []byte(shown[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	ledger := ingesttest.New(t, events.Contractors, 2)
	env := broker(c)
	env["TALLYHOUSE_CLICKHOUSE"], env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = ledger.Where.Addr, ledger.Where.Database
	schemas := registrytest.Start(t)
	schemas.User, schemas.Password = "producer", "of-the-page"
	env["TALLYHOUSE_REGISTRY"], env["TALLYHOUSE_REGISTRY_USER"] = schemas.URL, schemas.User
	env["TALLYHOUSE_REGISTRY_PASSWORD_FILE"] = file(t, "registry-password", schemas.Password+"\n")
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			for _, args := range commandLines(line, "tallyhouse") {
				ran++
				o := tallyhouse(t, env, "", args[1:]...)
				if strings.Contains(line, "replay") { // it would be refused again: the producer is to correct it
					if o.code != exitFailed || !strings.Contains(o.err, "0 messages would be sent, 1 not") {
						t.Errorf("%s: %+v", line, o)
					}
					continue
				}
				if o.code != exitDone || strings.Contains(line, "summary") && !strings.Contains(o.out, "data.nmae is not a member") {
					t.Errorf("%s: %+v", line, o)
				}
			}
		}
	}
	if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != 2 || ran < 8 {
		t.Errorf("%d commands, %d messages", ran, len(sent))
	}
	if _, versions, level := schemas.Subject("ledger.records-value"); versions != 1 || level != "BACKWARD" {
		t.Errorf("the registry has %d versions of records, %q", versions, level)
	}
	// And its program sends one message more. It is part of this module while it runs, which has what it imports.
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(page)
	if program == nil {
		t.Fatal("the page shows no program")
	}
	if err := os.WriteFile("main.go", []byte(program[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("main.go")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", source)
	cmd.Dir, cmd.Env = project, append(os.Environ(), "TALLYHOUSE_KAFKA="+c.Addrs[0])
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "sent to partition ") {
		t.Errorf("%v: %s", err, out)
	}
	if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != 3 {
		t.Errorf("%d messages after the program", len(sent))
	}
}
