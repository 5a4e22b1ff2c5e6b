package kafka_test

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
)

// asRead is a dead letter as it is read back.
func asRead(l kafka.DeadLetter) *kgo.Record {
	m := l.Message()
	r := &kgo.Record{Key: m.Key, Value: m.Value}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return r
}

// Given a message of any size, then its dead letter fits into its topic, and says whether it has all of the message.
func TestADeadLetterFitsIntoItsTopic(t *testing.T) {
	const most = kafka.MaxDeadLetterBytes - 64<<10 // of key and value together
	for _, tc := range []struct {
		key, value, reason int
		whole              bool
	}{
		{10, 100, 20, true},
		{10, most - 10, 20, true},
		{10, most - 9, 20, false},
		{1 << 20, most - 1<<20, 1 << 20, true},
		{1 << 20, most - 1<<20 + 1, 1 << 20, false},
		{most + 1, 0, 20, false},
	} {
		l := kafka.DeadLetter{Topic: "ledger.records", Key: bytes.Repeat([]byte("k"), tc.key), Value: bytes.Repeat([]byte("v"), tc.value),
			Reason: string(bytes.Repeat([]byte("r"), tc.reason))}
		r := asRead(l)
		size := len(r.Key) + len(r.Value)
		for _, h := range r.Headers {
			size += len(h.Key) + len(h.Value)
		}
		back, err := kafka.ParseDeadLetter(r)
		if err != nil || back.Whole() != tc.whole || back.Size() != int64(tc.value) || size > kafka.MaxDeadLetterBytes {
			t.Errorf("%+v: whole %v, of %d bytes, in %d; %v", tc, back.Whole(), back.Size(), size, err)
		}
	}
}

// A message whose key isn't the place that its headers name is somebody else's.
func TestADeadLetterIsKnownByItsKey(t *testing.T) {
	r := asRead(kafka.DeadLetter{Topic: "ledger.records", Partition: 1, Offset: 2})
	if _, err := kafka.ParseDeadLetter(r); err != nil {
		t.Error(err)
	}
	r.Key = []byte("ledger.records/1/3")
	if l, err := kafka.ParseDeadLetter(r); err == nil {
		t.Errorf("it is taken for %+v", l)
	}
}
