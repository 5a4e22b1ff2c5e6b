package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
	"tallyhouse/schemas/jsonschema"
)

func hash(t *testing.T, topic events.Topic, key, value string) uint64 {
	t.Helper()
	e, err := events.Decode(topic, []byte(key), []byte(value))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return e.ContentHash()
}

// envelope is a message of the tenant t and the entity 1 with this data.
func envelope(data string) string {
	return `{"id":"1","tenantId":"t","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":` + data + `}`
}

func TestContentHashDependsOnWhatAMessageMeans(t *testing.T) {
	const data = `{"projectId":"P","nodeId":"N","customMonths":[]}`
	base := hash(t, events.LinePlans, "t/1", envelope(data))
	for name, same := range map[string]string{
		"order and space": `{ "data" : {"customMonths":[], "nodeId":"N", "projectId":"P"}, "op":"upsert","version":1,` +
			`"tenantId":"t","id":"1","at":"2026-03-01T10:15:00Z"}`,
		"at, version, ext": `{"id":"1","tenantId":"t","version":2,"op":"upsert","at":"2027-03-01T10:15:00Z","ext":1,` +
			`"data":{"projectId":"P","nodeId":"N","customMonths":[],"ext":{}}}`,
		"default written": envelope(`{"projectId":"P","nodeId":"N","method":"linearDays","customMonths":[]}`),
		"escapes":         envelope(`{"projectId":"\u0050","nodeId":"N","customMonths":[]}`),
		"null instead of absent": envelope(`{"projectId":"P","nodeId":"N","startDate":null,"endDate":null,"method":null,` +
			`"recurring":null,"customMonths":[]}`),
	} {
		if hash(t, events.LinePlans, "t/1", same) != base {
			t.Errorf("%s makes a difference", name)
		}
	}
	for name, other := range map[string]string{
		"another node":   envelope(`{"projectId":"P","nodeId":"M","customMonths":[]}`),
		"another method": envelope(`{"projectId":"P","nodeId":"N","method":"sCurve","customMonths":[]}`),
		"a delete":       `{"id":"1","tenantId":"t","version":1,"op":"delete","at":"2026-03-01T10:15:00Z"}`,
	} {
		if hash(t, events.LinePlans, "t/1", other) == base {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// pinned is an entity's state with its content hash.
type pinned struct {
	Topic events.Topic    `json:"topic"`
	ID    string          `json:"id"`
	Hash  string          `json:"hash"` // hexadecimal
	Data  json.RawMessage `json:"data"`
}

const pinnedPath = "testdata/content-hashes.jsonl"

func pinnedStates(t *testing.T) (states []pinned) {
	t.Helper()
	text, err := os.ReadFile(pinnedPath)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var p pinned
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		states = append(states, p)
	}
	return states
}

// Content hashes are stored with the data, so they must not change with a release: no line of the file is ever changed
// or removed. A new optional member changes none of them; when this test fails, something else was done.
func TestContentHashesStayOverReleases(t *testing.T) {
	for _, p := range pinnedStates(t) {
		value := strings.Replace(envelope(string(p.Data)), `"id":"1"`, fmt.Sprintf(`"id":%q`, p.ID), 1)
		if got := fmt.Sprintf("%016x", hash(t, p.Topic, "t/"+p.ID, value)); got != p.Hash {
			t.Errorf("%s: the hash is %s, want %s\n%s", p.Topic, got, p.Hash, p.Data)
		}
	}
	if got := (events.Event{Envelope: events.Envelope{Op: events.Delete}}).ContentHash(); got != 0xf6f19778c520c3cc {
		t.Errorf("the hash of a delete is %#x", got)
	}
}

func TestEveryMemberIsInAPinnedContentHash(t *testing.T) {
	given := map[events.Topic]map[string]bool{}
	for _, p := range pinnedStates(t) {
		if given[p.Topic] == nil {
			given[p.Topic] = map[string]bool{}
		}
		var data any
		if err := json.Unmarshal(p.Data, &data); err != nil {
			t.Fatal(err)
		}
		addPaths("", data, given[p.Topic])
	}
	for _, topic := range events.Topics() {
		schema := schemaOf(t, topic)
		eachMember("", schema.Properties.Of("data").NotNull(), func(path string) {
			if !given[topic][path] {
				t.Errorf("%s: no state in %s gives data.%s: add a line with one", topic, pinnedPath, path)
			}
		})
	}
}

// eachMember tells the members of a schema's objects, like allocations[].net.
func eachMember(path string, s *jsonschema.Schema, tell func(path string)) {
	if s = s.Resolved(); s.Items != nil {
		eachMember(path+"[]", s.Items, tell)
	}
	for _, variant := range s.OneOf {
		eachMember(path, variant, tell)
	}
	if s.Properties == nil {
		return
	}
	for i, name := range s.Properties.Names {
		if p := s.Properties.Schemas[i]; p.Type != "null" && name != "ext" {
			path := strings.TrimPrefix(path+"."+name, ".")
			tell(path)
			eachMember(path, p.NotNull(), tell)
		}
	}
}

// addPaths collects the members of a JSON value, like allocations[].net.
func addPaths(path string, v any, paths map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, v := range v {
			paths[strings.TrimPrefix(path+"."+name, ".")] = true
			addPaths(path+"."+name, v, paths)
		}
	case []any:
		for _, v := range v {
			addPaths(path+"[]", v, paths)
		}
	}
}

func idFor(topic events.Topic) string {
	if topic == events.IndexValues {
		return "VPI:2026-01"
	}
	return "X1"
}

func TestContentHashDiffersWhereContentDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topic := rapid.SampledFrom(events.Topics()).Draw(t, "topic")
		a, b := decodeDrawn(t, topic), decodeDrawn(t, topic)
		b.Envelope = a.Envelope
		if a.Data == nil || b.Data == nil {
			return
		}
		one, err := events.Append(nil, topic, a)
		if err != nil {
			t.Fatal(err)
		}
		two, err := events.Append(nil, topic, b)
		if err != nil {
			t.Fatal(err)
		}
		if same := string(one) == string(two); same != (a.ContentHash() == b.ContentHash()) {
			t.Fatalf("hash equal is %v for\n%s\n%s", !same, one, two)
		}
	})
}

func decodeDrawn(t *rapid.T, topic events.Topic) events.Event {
	m := eventstest.Draw(t, topic)
	e, err := events.Decode(topic, m.Key(), m.Value())
	if err != nil {
		t.Fatal(err)
	}
	return e
}
