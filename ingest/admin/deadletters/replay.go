package deadletters

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// errOtherEntity says that a corrected message would change another entity than the refused one named.
var errOtherEntity = errors.New("the message is about another entity than the refused one; if that is meant, repeat with --force")

// Replay sends a refused message to its topic once more: corrected, or as it was when corrected is nil (what was
// refused may be taken by a newer version). It is validated first, by what the worker would say. The message must be
// about the entity that the refused one's key names, unless other entities are allowed. The dead letter stays.
func Replay(ctx context.Context, c kafka.Cluster, stored load.Stored, l kafka.DeadLetter, corrected []byte,
	allowOther bool) (partition int, offset int64, err error) {
	m, err := again(stored, l, corrected, allowOther)
	if err != nil {
		return 0, 0, err
	}
	partition, offset, err = kafka.Send(ctx, c, m)
	if err != nil {
		return 0, 0, fmt.Errorf("replay %s: %w", l.ID(), err)
	}
	return partition, offset, nil
}

// again is the message that a replay sends.
func again(stored load.Stored, l kafka.DeadLetter, corrected []byte, allowOther bool) (kafkago.Message, error) {
	value := corrected
	if value == nil {
		if !l.Whole() {
			return kafkago.Message{}, fmt.Errorf("replay %s: the dead letter holds %d of %d bytes alone; give the "+
				"whole message, corrected, with --file", l.ID(), len(l.Value), l.Length)
		}
		value = l.Value
	}
	key := l.Key
	if entity, ok := entityKey(value); ok && !bytes.Equal(entity, key) {
		if !allowOther {
			return kafkago.Message{}, fmt.Errorf("replay %s: it names %q, and the refused message's key was %q: %w",
				l.ID(), entity, key, errOtherEntity)
		}
		key = entity
	}
	if err := stored.Validate(events.Topic(l.Topic), key, value); err != nil {
		return kafkago.Message{}, fmt.Errorf("replay %s: it would be refused again: %w; correct it and give it with --file", l.ID(), err)
	}
	return kafkago.Message{Topic: l.Topic, Key: key, Value: value}, nil
}

// What ReplayAll sends together.
const (
	mostTogether  = 1000
	bytesTogether = 16 << 20
)

// Replayed is what became of the letters of a rule.
type Replayed struct {
	Sent    int // dry: that would be
	Refused int // again, or not whole
	Healed  int // left out
}

// ReplayAll sends the refused messages of a topic that broke a rule (see Rule) once more, as they were, when they would be
// taken by now. It leaves out those that the tables say are healed. Dry, it sends none, and counts those that it would
// send. It calls refused with the reason of each one that it can't send. When it fails, what was sent until then stays
// sent: to repeat it does no harm.
func ReplayAll(ctx context.Context, c kafka.Cluster, tables Tables, stored load.Stored, topic, rule string, dry bool,
	refused func(error)) (done Replayed, err error) {
	w := kafka.NewWriter(c, kafka.WriterOptions{})
	var waiting []kafkago.Message
	size := 0
	send := func() error {
		if err := w.WriteMessages(ctx, waiting...); err != nil {
			return err
		}
		done.Sent += len(waiting)
		waiting, size = waiting[:0], 0
		return nil
	}
	_, err = List(ctx, c, tables, func(l Letter) error {
		if l.Topic != topic || Rule(l.Reason) != rule {
			return nil
		}
		if l.State == Healed {
			done.Healed++
			return nil
		}
		m, err := again(stored, l.DeadLetter, nil, false)
		switch {
		case err != nil:
			done.Refused++
			refused(err)
			return nil
		case dry:
			done.Sent++
			return nil
		}
		waiting, size = append(waiting, m), size+len(m.Value)
		if len(waiting) == mostTogether || size >= bytesTogether {
			return send()
		}
		return nil
	})
	if err == nil {
		err = send()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return done, fmt.Errorf("replay the dead letters of %s: %w", topic, err)
	}
	return done, nil
}

// entityKey is the key that a value asks for, when so much of it can be read.
func entityKey(value []byte) ([]byte, bool) {
	var of struct {
		ID       string `json:"id"`
		TenantID string `json:"tenantId"`
	}
	if err := json.Unmarshal(events.Unframed(value), &of); err != nil || of.ID == "" || of.TenantID == "" {
		return nil, false
	}
	return []byte(events.Envelope{ID: of.ID, TenantID: of.TenantID}.Key()), true
}
