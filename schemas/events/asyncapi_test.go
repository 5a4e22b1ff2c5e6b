package events_test

import (
	"encoding/json"
	"testing"

	"tallyhouse/schemas/events"
)

// The AsyncAPI document has every topic that applications send to, with the schema that its messages are checked by.
func TestTheAsyncAPIDocumentHasEveryTopicOfApplications(t *testing.T) {
	text, err := events.AsyncAPI()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		AsyncAPI string
		Channels map[string]struct {
			Address  string
			Messages map[string]struct {
				Payload struct{ Schema json.RawMessage }
			}
		}
		Operations map[string]struct {
			Action  string
			Channel struct {
				Ref string `json:"$ref"`
			}
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	if document.AsyncAPI != "3.0.0" {
		t.Errorf("version %q", document.AsyncAPI)
	}
	sent := 0
	for _, topic := range events.Topics() {
		name := string(topic)
		channel, ok := document.Channels[name]
		if own := topic == events.ReceivedFeedback || topic == events.Readings; own {
			if ok {
				t.Errorf("applications are told of %s", name)
			}
			continue
		}
		sent++
		schema, err := events.Schema(topic)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		var got, expected any
		if err := json.Unmarshal(channel.Messages["change"].Payload.Schema, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := json.Unmarshal(want, &expected); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(got); channel.Address != name || string(again) != remarshalled(t, expected) {
			t.Errorf("%s has another schema, or address %q", name, channel.Address)
		}
		if o := document.Operations[name]; o.Action != "receive" || o.Channel.Ref != "#/channels/"+name {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if sent != len(document.Channels) || sent < 20 {
		t.Errorf("%d topics, %d channels", sent, len(document.Channels))
	}
}

func remarshalled(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
