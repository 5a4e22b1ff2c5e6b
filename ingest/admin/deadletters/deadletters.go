// Package deadletters finds the messages that were refused and sends them again when they have been corrected. The
// worker writes them (kafka.DeadLetter).
package deadletters

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

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
	sent := newRepetitions()
	foreign, err = read(ctx, c, func(l kafka.DeadLetter) error {
		if sent.before(l) {
			return nil
		}
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

// read calls each with every dead letter, as often as it was sent. It returns how many messages are none.
func read(ctx context.Context, c kafka.Cluster, each func(kafka.DeadLetter) error) (foreign int, err error) {
	err = kafka.Read(ctx, c, string(events.DeadLetters), func(r *kgo.Record) error {
		l, err := kafka.ParseDeadLetter(r)
		if err != nil {
			foreign++
			return nil
		}
		return each(l)
	})
	return foreign, err
}

// repetitions knows which letters there were, in some 20 bytes for each: a producer may have millions refused. It keeps a
// hash of 64 bits, by a seed of its own. So any one of ten million letters is taken for a repetition of another with a
// chance of one in 10^12, and the next list has it.
type repetitions struct {
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

func newRepetitions() *repetitions { return &repetitions{maphash.MakeSeed(), map[uint64]struct{}{}} }

// before reports whether the letter was asked about before. Messages that were refused at one place are told apart by
// what they hold.
func (s *repetitions) before(l kafka.DeadLetter) bool {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = fmt.Fprintf(&h, "%s %d %d %s ", l.ID(), len(l.Key), l.Size(), l.SHA256) // a hash takes everything
	_, _ = h.Write(l.Key)
	_, _ = h.Write(l.Value)
	this := h.Sum64()
	_, had := s.hashes[this]
	s.hashes[this] = struct{}{}
	return had
}

// Find reads the newest dead letter of this key, which is that of the topic as it is now; ErrNotFound when there is
// none.
func Find(ctx context.Context, c kafka.Cluster, tables Tables, id string) (Letter, error) {
	var newest *kafka.DeadLetter
	_, err := read(ctx, c, func(l kafka.DeadLetter) error {
		if l.ID() == id {
			newest = &l
		}
		return nil
	})
	switch {
	case err != nil:
		return Letter{}, fmt.Errorf("read the dead letters: %w", err)
	case newest == nil:
		return Letter{}, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	states, err := tables.states(ctx, []subject{subjectOf(*newest)})
	if err != nil {
		return Letter{}, err
	}
	return Letter{*newest, states[0]}, nil
}
