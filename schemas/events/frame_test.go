package events_test

import (
	"reflect"
	"strings"
	"testing"

	"tallyhouse/schemas/events"
)

func TestAFrameOfASchemaRegistryMakesNoDifference(t *testing.T) {
	// Given a message, plain and with the frame of a serializer of a schema registry
	key := []byte("demo/C1")
	plain := []byte(`{"id":"C1","tenantId":"demo","version":8,"op":"upsert","at":"2026-03-02T08:00:00Z","data":{"name":"Bau GmbH"}}`)
	framed := append([]byte{0, 0, 0, 1, 42}, plain...)
	// When both are read, by each of the readers
	want, err := events.Decode(events.Contractors, key, plain)
	if err != nil {
		t.Fatal(err)
	}
	got, err := events.Decode(events.Contractors, key, framed)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("framed it is %+v, %v; plain %+v", got, err, want)
	}
	reader, err := events.NewReader(events.Contractors)
	if err != nil {
		t.Fatal(err)
	}
	e, hash, err := reader.Read(key, framed)
	// Then they say the same, and have the same content hash
	if err != nil || e.ID != want.ID || hash != want.ContentHash() {
		t.Errorf("the reader has %s, %d, %v; want %d", e.ID, hash, err, want.ContentHash())
	}
}

func TestWhatOnlyLooksLikeAFrameIsRefused(t *testing.T) {
	for name, value := range map[string][]byte{
		"a zero byte alone":      {0},
		"a frame cut short":      {0, 0, 0, 1},
		"a frame around nothing": {0, 0, 0, 0, 1},
		"two frames":             append([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, `{}`...),
		"a frame around Avro":    {0, 0, 0, 0, 1, 4, 'C', '1'},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := events.Decode(events.Contractors, []byte("demo/C1"), value)
			if err == nil || !strings.Contains(err.Error(), "the message ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
