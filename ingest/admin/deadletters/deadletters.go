// Package deadletters finds the messages that were refused and sends them again when they have been corrected. The
// worker writes them (kafka.DeadLetter).
package deadletters

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// ErrNotFound says that there is no dead letter of this key.
var ErrNotFound = errors.New("no such dead letter; `tallyhouse deadletters list` shows their keys")

// ErrOtherEntity says that a corrected message would change another entity than the refused one named.
var ErrOtherEntity = errors.New("the message is about another entity than the refused one; if that is meant, repeat with --force")

// List calls each with every dead letter, once however often it was sent, up to the end that the topic has at the call.
// A topic that was made anew begins at offset 0 again: another message refused at the same place is another letter. It
// returns how many messages in the topic are not dead letters.
func List(ctx context.Context, c kafka.Cluster, each func(kafka.DeadLetter) error) (foreign int, err error) {
	type refused struct {
		id      string
		content [sha256.Size]byte
	}
	seen := map[refused]struct{}{}
	err = kafka.Read(ctx, c, string(events.DeadLetters), func(r *kgo.Record) error {
		l, err := kafka.ParseDeadLetter(r)
		if err != nil {
			foreign++
			return nil
		}
		this := refused{l.ID(), contentOf(l)}
		if _, ok := seen[this]; ok {
			return nil
		}
		seen[this] = struct{}{}
		return each(l)
	})
	if err != nil {
		return foreign, fmt.Errorf("read the dead letters: %w", err)
	}
	return foreign, nil
}

// contentOf tells the refused messages of one place apart.
func contentOf(l kafka.DeadLetter) [sha256.Size]byte {
	content := fmt.Appendf(nil, "%d %d %s ", len(l.Key), l.Size(), l.SHA256)
	return sha256.Sum256(append(append(content, l.Key...), l.Value...))
}

// Find reads the newest dead letter of this key, which is that of the topic as it is now; ErrNotFound when there is
// none.
func Find(ctx context.Context, c kafka.Cluster, id string) (kafka.DeadLetter, error) {
	var newest *kafka.DeadLetter
	_, err := List(ctx, c, func(l kafka.DeadLetter) error {
		if l.ID() == id {
			newest = &l
		}
		return nil
	})
	switch {
	case err != nil:
		return kafka.DeadLetter{}, err
	case newest == nil:
		return kafka.DeadLetter{}, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	return *newest, nil
}

// Replay sends a refused message to its topic once more: corrected, or as it was when corrected is nil (what was
// refused may be taken by a newer version). It is validated first, by what the worker would say. The message must be
// about the entity that the refused one's key names, unless other entities are allowed. The dead letter stays.
func Replay(ctx context.Context, c kafka.Cluster, stored load.Stored, l kafka.DeadLetter, corrected []byte,
	allowOther bool) (partition int, offset int64, err error) {
	value := corrected
	if value == nil {
		if !l.Whole() {
			return 0, 0, fmt.Errorf("replay %s: the dead letter holds the first MiB of %d bytes alone; give the "+
				"whole message, corrected, with --file", l.ID(), l.Length)
		}
		value = l.Value
	}
	key := l.Key
	if entity, ok := entityKey(value); ok && !bytes.Equal(entity, key) {
		if !allowOther {
			return 0, 0, fmt.Errorf("replay %s: it names %q, and the refused message's key was %q: %w", l.ID(), entity, key, ErrOtherEntity)
		}
		key = entity
	}
	if err := stored.Validate(events.Topic(l.Topic), key, value); err != nil {
		return 0, 0, fmt.Errorf("replay %s: it would be refused again: %w; correct it and give it with --file", l.ID(), err)
	}
	partition, offset, err = kafka.Send(ctx, c, kafkago.Message{Topic: l.Topic, Key: key, Value: value})
	if err != nil {
		return 0, 0, fmt.Errorf("replay %s: %w", l.ID(), err)
	}
	return partition, offset, nil
}

// entityKey is the key that a value asks for, when so much of it can be read.
func entityKey(value []byte) ([]byte, bool) {
	var of struct {
		ID       string `json:"id"`
		TenantID string `json:"tenantId"`
	}
	if err := json.Unmarshal(value, &of); err != nil || of.ID == "" || of.TenantID == "" {
		return nil, false
	}
	return []byte(events.Envelope{ID: of.ID, TenantID: of.TenantID}.Key()), true
}
