// Package deadletters finds the messages that were refused and sends them again when they have been corrected. The
// worker writes them (kafka.DeadLetter).
package deadletters

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// ErrNotFound says that there is no dead letter of this key.
var ErrNotFound = errors.New("no such dead letter; `tallyhouse deadletters list` shows their keys")

// List calls each with every dead letter and its state, once however often it was sent, up to the end that the topic has
// at the call. A topic that was made anew begins at offset 0 again: another message refused at the same place is another
// letter. It returns how many messages in the topic are not dead letters.
func List(ctx context.Context, c kafka.Cluster, tables Tables, each func(Letter) error) (foreign int, err error) {
	together := grouped{tables: tables, each: each}
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
		return together.add(ctx, l)
	})
	if err == nil {
		err = together.flush(ctx)
	}
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
func Find(ctx context.Context, c kafka.Cluster, tables Tables, id string) (Letter, error) {
	var newest *kafka.DeadLetter
	_, err := List(ctx, c, nil, func(l Letter) error {
		if l.ID() == id {
			newest = &l.DeadLetter
		}
		return nil
	})
	switch {
	case err != nil:
		return Letter{}, err
	case newest == nil:
		return Letter{}, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	states, err := tables.states(ctx, []subject{subjectOf(*newest)})
	if err != nil {
		return Letter{}, err
	}
	return Letter{*newest, states[0]}, nil
}
