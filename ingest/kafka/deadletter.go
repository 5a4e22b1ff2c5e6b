package kafka

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/schemas/events"
)

// DeadLetter is a refused message, and why it was refused.
type DeadLetter struct {
	Topic     string
	Partition int32
	Offset    int64
	Key       []byte
	Reason    string // one sentence naming member and rule
	At        time.Time
	Value     []byte // as it came; nil for a null value

	// Of a message too large for a dead letter: its whole length and SHA-256 in hex. Value then is its beginning.
	Length int64
	SHA256 string
}

// The headers of a dead letter.
const (
	headerTopic     = "topic"
	headerPartition = "partition"
	headerOffset    = "offset"
	headerKey       = "key"
	headerReason    = "reason"
	headerAt        = "at"
	headerLength    = "length"
	headerSHA256    = "sha256"
)

const (
	// largestWhole is the largest key and value together that a dead letter holds.
	largestWhole = MaxDeadLetterBytes - room
	room         = 64 << 10 // for the headers, the reason among them
)

// form is how much a dead letter holds: the message, whole where its key and value together are not longer than that, else parts of them,
// and the reason.
type form struct{ whole, value, key, reason int }

// forms begins with the longest. The second one is for a topic that nobody gave a limit, whose own is a megabyte; the last one is headers
// alone, by which the message is found where it lies.
var forms = [...]form{
	{largestWhole, 1 << 20, 16 << 10, 4 << 10},
	{512 << 10, 512 << 10, 16 << 10, 4 << 10},
	{16 << 10, 16 << 10, 1 << 10, 1 << 10},
	{0, 0, 0, 256},
}

// ID is the dead letter's key: topic/partition/offset of the refused message. However often it was written, it is one.
func (l DeadLetter) ID() string { return fmt.Sprintf("%s/%d/%d", l.Topic, l.Partition, l.Offset) }

// Whole reports whether Value is the complete message.
func (l DeadLetter) Whole() bool { return l.SHA256 == "" }

// Size is the length of the refused message's value.
func (l DeadLetter) Size() int64 {
	if l.Whole() {
		return int64(len(l.Value))
	}
	return l.Length
}

// Message is the dead letter as it is sent. Of a message too large for one it holds the first MiB, the length and the
// SHA-256; the whole message stays where it was found.
func (l DeadLetter) Message() kafka.Message { return l.in(forms[0]) }

// Shortened is Message for a topic that takes less than it should, shortened so many times; false when it was at its shortest before.
func (l DeadLetter) Shortened(times int) (_ kafka.Message, shorter bool) {
	if times >= len(forms) {
		return kafka.Message{}, false
	}
	return l.in(forms[times]), true
}

func (l DeadLetter) in(f form) kafka.Message {
	key, value, reason := l.Key, l.Value, l.Reason
	reason = reason[:min(len(reason), f.reason)]
	var more []kafka.Header
	if len(key)+len(value) > f.whole {
		sum := sha256.Sum256(value)
		more = []kafka.Header{
			{Key: headerLength, Value: strconv.AppendInt(nil, int64(len(value)), 10)},
			{Key: headerSHA256, Value: []byte(hex.EncodeToString(sum[:]))},
		}
		key, value = key[:min(len(key), f.key)], value[:min(len(value), f.value)]
		reason += fmt.Sprintf(
			" (too large for a dead letter, which holds %d of its %d bytes: the whole message is in %s partition %d at offset %d)",
			len(value), len(l.Value), l.Topic, l.Partition, l.Offset)
	}
	return kafka.Message{
		Topic: string(events.DeadLetters),
		Key:   []byte(l.ID()),
		Value: value,
		Headers: append([]kafka.Header{
			{Key: headerTopic, Value: []byte(l.Topic)},
			{Key: headerPartition, Value: strconv.AppendInt(nil, int64(l.Partition), 10)},
			{Key: headerOffset, Value: strconv.AppendInt(nil, l.Offset, 10)},
			{Key: headerKey, Value: key},
			{Key: headerReason, Value: []byte(reason)},
			{Key: headerAt, Value: l.At.UTC().AppendFormat(nil, time.RFC3339Nano)},
		}, more...),
	}
}

// ParseDeadLetter reads a dead letter from its message.
func ParseDeadLetter(r *kgo.Record) (DeadLetter, error) {
	headers := map[string]string{}
	for _, h := range r.Headers {
		headers[h.Key] = string(h.Value)
	}
	partition, err1 := strconv.ParseInt(headers[headerPartition], 10, 32)
	offset, err2 := strconv.ParseInt(headers[headerOffset], 10, 64)
	at, err3 := time.Parse(time.RFC3339Nano, headers[headerAt])
	l := DeadLetter{
		Topic:     headers[headerTopic],
		Partition: int32(partition),
		Offset:    offset,
		Key:       []byte(headers[headerKey]),
		Reason:    headers[headerReason],
		At:        at,
		Value:     r.Value,
		SHA256:    headers[headerSHA256],
	}
	var err4 error
	if !l.Whole() {
		l.Length, err4 = strconv.ParseInt(headers[headerLength], 10, 64)
	}
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return DeadLetter{}, err
	}
	if l.ID() != string(r.Key) {
		return DeadLetter{}, fmt.Errorf("its key %q is not the place %s that its headers name", r.Key, l.ID())
	}
	return l, nil
}
