package load

import (
	"fmt"

	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// Stored are the topics that an installation stores, with what it makes of their events.
type Stored map[events.Topic]*store.Entity

// StoredBy arranges entities by their topics.
func StoredBy(entities []*store.Entity) Stored {
	s := Stored{}
	for _, e := range entities {
		s[e.Topic] = e
	}
	return s
}

// Validate reports whether the worker would take a message, by all rules that depend on the message alone: what it
// takes becomes no dead letter.
func (s Stored) Validate(topic events.Topic, key, value []byte) error {
	e := s[topic]
	switch {
	case !topic.Valid():
		return fmt.Errorf("topic %q is %w", clip(string(topic)), events.ErrUnknownTopic)
	case e == nil:
		return fmt.Errorf("topic %s is not stored by this version of tallyhouse: its messages would wait in Kafka unread", topic)
	}
	event, err := events.Decode(topic, key, value)
	if err != nil {
		return err
	}
	_, err = e.Contribution(nil, event.ID, event.Data)
	return err
}
