package events_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"tallyhouse/schemas/events"
)

func documentation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryExampleOfTheDocumentationIsTaken(t *testing.T) {
	seen := map[events.Topic]int{}
	for _, block := range regexp.MustCompile("(?s)```json (\\S+)\n(.*?)```").FindAllStringSubmatch(documentation(t), -1) {
		topic, value := events.Topic(block[1]), []byte(block[2])
		var envelope struct{ ID, TenantID string }
		if err := json.Unmarshal(value, &envelope); err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		if _, err := events.Decode(topic, []byte(envelope.TenantID+"/"+envelope.ID), value); err != nil {
			t.Errorf("%s: %v", value, err)
		}
		if err := validate(compiled(t, topic), value); err != nil {
			t.Errorf("%s: %v", value, err)
		}
		seen[topic]++
	}
	for _, topic := range events.Topics() {
		if seen[topic] == 0 {
			t.Errorf("%s has no example", topic)
		}
	}
}

func TestTheDocumentationNamesEveryMemberAndValue(t *testing.T) {
	text := documentation(t)
	for _, topic := range events.Topics() {
		_, section, found := strings.Cut(text, "\n### "+string(topic)+"\n")
		if !found {
			t.Errorf("%s has no section", topic)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		schema, err := events.Schema(topic)
		if err != nil {
			t.Fatal(err)
		}
		var parsed struct {
			Defs map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(schema, &parsed); err != nil {
			t.Fatal(err)
		}
		for name, def := range parsed.Defs {
			if name == "amount" { // described once, under Values
				continue
			}
			for _, word := range words(def, nil) {
				if !regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(section) {
					t.Errorf("%s: its section doesn't name %s", topic, word)
				}
			}
		}
	}
}

// words are the members and the values of closed lists that a schema names.
func words(schema any, found []string) []string {
	switch schema := schema.(type) {
	case map[string]any:
		if members, ok := schema["properties"].(map[string]any); ok {
			for name := range members {
				if name != "ext" {
					found = append(found, name)
				}
			}
		}
		if values, ok := schema["enum"].([]any); ok {
			for _, v := range values {
				if s, ok := v.(string); ok {
					found = append(found, s)
				}
			}
		}
		for _, v := range schema {
			found = words(v, found)
		}
	case []any:
		for _, v := range schema {
			found = words(v, found)
		}
	}
	return found
}
