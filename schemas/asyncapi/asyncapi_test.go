package asyncapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tallyhouse/schemas/asyncapi"
	"tallyhouse/schemas/events"
)

func TestEveryTopicIsDescribed(t *testing.T) {
	// Given
	text, err := asyncapi.Document()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	// When
	channels := doc["channels"].(map[string]any)
	operations := doc["operations"].(map[string]any)
	// Then each topic is a channel that the service takes events from, but for those that it writes itself
	for _, topic := range events.Topics() {
		action := "receive."
		if topic == events.ReceivedFeedback || topic == events.Readings || topic == events.Requests || topic == events.Answers {
			action = "send."
		}
		if channels[string(topic)] == nil || operations[action+string(topic)] == nil {
			t.Errorf("%s: channel %v, operation %v", topic, channels[string(topic)], operations[action+string(topic)])
		}
	}
	if len(channels) != len(events.Topics()) || len(operations) != len(channels) {
		t.Errorf("%d channels, %d operations for %d topics", len(channels), len(operations), len(events.Topics()))
	}
	// And every reference leads somewhere.
	leads(t, doc, doc)
}

// leads checks the references in a part of a document.
func leads(t *testing.T, doc, part any) {
	t.Helper()
	switch part := part.(type) {
	case map[string]any:
		for name, value := range part {
			if ref, ok := value.(string); ok && name == "$ref" {
				if !found(doc, ref) {
					t.Errorf("%s leads nowhere", ref)
				}
				continue
			}
			leads(t, doc, value)
		}
	case []any:
		for _, value := range part {
			leads(t, doc, value)
		}
	}
}

func found(doc any, ref string) bool {
	path, ok := strings.CutPrefix(ref, "#/")
	at := doc
	for _, name := range strings.Split(path, "/") {
		members, _ := at.(map[string]any)
		at = members[name]
	}
	return ok && at != nil
}
