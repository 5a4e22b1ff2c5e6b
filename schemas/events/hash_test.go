package events_test

import (
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

func hash(t *testing.T, topic events.Topic, key, value string) uint64 {
	t.Helper()
	e, err := events.Decode(topic, []byte(key), []byte(value))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return e.ContentHash()
}

func TestContentHashSeesMeaningNotWriting(t *testing.T) {
	const plan = `{"id":"1","tenantId":"t","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"projectId":"P","nodeId":"N","startDate":null,"method":"linearDays","customMonths":[]}}`
	base := hash(t, events.LinePlans, "t/1", plan)
	for name, same := range map[string]string{
		"order and space":        `{ "data" : {"customMonths":[], "nodeId":"N", "projectId":"P"}, "op":"upsert","version":1,"tenantId":"t","id":"1","at":"2026-03-01T10:15:00Z"}`,
		"default written":        `{"id":"1","tenantId":"t","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"projectId":"P","nodeId":"N","customMonths":[]}}`,
		"escapes":                `{"id":"1","tenantId":"t","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"projectId":"\u0050","nodeId":"N","customMonths":[]}}`,
		"at, version, ext":       `{"id":"1","tenantId":"t","version":2,"op":"upsert","at":"2027-03-01T10:15:00Z","ext":1,"data":{"projectId":"P","nodeId":"N","customMonths":[],"ext":{}}}`,
		"null instead of absent": `{"id":"1","tenantId":"t","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"projectId":"P","nodeId":"N","endDate":null,"method":null,"recurring":null,"customMonths":[]}}`,
	} {
		if hash(t, events.LinePlans, "t/1", same) != base {
			t.Errorf("%s makes a difference", name)
		}
	}
	for name, other := range map[string]string{
		"another node":   `{"id":"1","tenantId":"t","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"projectId":"P","nodeId":"M","customMonths":[]}}`,
		"another method": `{"id":"1","tenantId":"t","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"projectId":"P","nodeId":"N","method":"sCurve","customMonths":[]}}`,
		"a delete":       `{"id":"1","tenantId":"t","version":1,"op":"delete","at":"2026-03-01T10:15:00Z"}`,
	} {
		if hash(t, events.LinePlans, "t/1", other) == base {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// The hashes are stored with the data, so they must not change with a release. A new optional member, added at the end of its table,
// doesn't change them; when this test fails, something else was done.
func TestContentHashesStayOverReleases(t *testing.T) {
	pinned := map[events.Topic]uint64{
		events.Projects:           0x980c2eeaf865efa3,
		events.BudgetNodes:        0x68f573c1e6741554,
		events.BudgetRows:         0xb40d74caa417f282,
		events.BudgetTransfers:    0xba525ce87685fc36,
		events.UncommittedEntries: 0x14013b66a5b3480f,
		events.Contractors:        0xdecb5f810714e798,
		events.Contracts:          0xdd252718afcd1768,
		events.Claims:             0x52ae3588c3e9e664,
		events.Records:            0x6c11e66475a7e29c,
		events.LinePlans:          0x35c17501c18aac49,
		events.ForecastSnapshots:  0x8285085be55e9437,
		events.Units:              0x6af07ec9cd21d113,
		events.Leases:             0x6c1bade21e4b766a,
		events.IndexValues:        0x6626f9d241622aad,
		events.Facilities:         0x7f99eda12f49f0bc,
		events.Fixings:            0x53a415bb58493824,
		events.FacilityEntries:    0x1f6d9ea9ec13376f,
		events.Users:              0x5276005e77391fee,
		events.Memberships:        0x9e0ea6412a9f9917,
		events.Keys:               0xed35441542fdf43,
		events.ReceivedFeedback:   0x587a41a36a78afa9,
	}
	for _, topic := range events.Topics() {
		m := smallest(topic, idFor(topic))
		if got := hash(t, topic, string(m.Key()), string(m.Value())); got != pinned[topic] {
			t.Errorf("%s: %#x, want %#x", topic, got, pinned[topic])
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
