package events_test

import (
	"encoding/json"
	"os"
	"regexp"
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
