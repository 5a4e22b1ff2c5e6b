package events_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

// FuzzDecode: Decode returns an event or an *Invalid for any input; what it takes is JSON, and is written and read
// again as the same event.
func FuzzDecode(f *testing.F) {
	topics := events.Topics()
	for i, topic := range topics {
		ext := []any{1, "x", nil, true, map[string]any{}}
		f.Add(byte(i), eventstest.New(topic, "demo", idFor(topic), 1).With("ext", ext).Value())
		f.Add(byte(i), eventstest.Delete("demo", "X1", 1).Value())
	}
	f.Add(byte(0), []byte(`{"id":"\ud83d\ude00\u0000\n","tenantId":"t","version":-0,"op":"upsert",
		"at":"2026-01-01T00:00:00.000000001Z","data":{}}`))
	f.Fuzz(func(t *testing.T, n byte, value []byte) {
		topic := topics[int(n)%len(topics)]
		if value == nil {
			value = []byte{}
		}
		var envelope struct {
			ID       string `json:"id"`
			TenantID string `json:"tenantId"`
		}
		isJSON := json.Unmarshal(value, &envelope) == nil
		e, err := events.Decode(topic, []byte(envelope.TenantID+"/"+envelope.ID), value)
		if err != nil {
			var invalid *events.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("%v is not an *Invalid", err)
			}
			if len(err.Error()) > 2000 {
				t.Fatalf("a refusal of %d bytes", len(err.Error()))
			}
			return
		}
		if !isJSON {
			t.Fatalf("%q is taken, but not JSON", value)
		}
		written, err := events.Encode(topic, e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := events.Decode(topic, []byte(e.Key()), written)
		if err != nil || !reflect.DeepEqual(again, e) || again.ContentHash() != e.ContentHash() {
			t.Fatalf("%q\nis written as %q\nwhich differs (%v)", value, written, err)
		}
	})
}
