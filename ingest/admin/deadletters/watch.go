package deadletters

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

const (
	watchEvery  = 30 * time.Second
	mostWatched = 10_000 // letters that are asked about; what is beyond is counted alone
)

// Watch counts the dead letters that nothing has healed yet, for the metrics of a worker. It reads each letter once and
// asks the tables about those that wait.
type Watch struct {
	Cluster kafka.Cluster
	Tables  Tables
	// Mine reports whether this process is the one that watches: of all workers one is enough. The others serve nothing.
	Mine func() bool
	Log  *slog.Logger

	most    int                // 0: mostWatched
	from    []int64            // where each partition is read on
	waiting map[string]watched // by the letter's ID
	beyond  map[string]int     // by topic: letters for which there was no room

	mu    sync.Mutex
	depth map[string]depth // by topic; nil while another process watches
}

// watched is a letter as far as a watch remembers it.
type watched struct {
	subject subject
	at      time.Time
	in      int32 // where the letter itself is
	offset  int64
}

// depth is what waits of one topic.
type depth struct {
	letters int
	oldest  time.Time
}

// Run watches until the context ends. While Kafka or ClickHouse is away the figures stay as they were. It doesn't wait for an answer of
// theirs then: a question to ClickHouse isn't cancelled, and nothing hangs on it.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	failing := false
	looked := make(chan error, 1)
	for {
		go func() { looked <- w.look(ctx) }()
		var err error
		select {
		case err = <-looked:
		case <-ctx.Done():
			return nil
		}
		if err != nil && ctx.Err() == nil && !failing {
			w.Log.Warn("dead letters can't be counted", "error", err)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look brings the figures up to date.
func (w *Watch) look(ctx context.Context) error {
	if !w.Mine() {
		w.forget()
		w.publish(nil)
		return nil
	}
	if len(w.beyond) > 0 && len(w.waiting) < w.room()/2 {
		w.forget() // there is room again: read them anew
	}
	if w.waiting == nil {
		w.waiting, w.beyond = map[string]watched{}, map[string]int{}
	}
	full := false
	ranges, err := kafka.ReadOn(ctx, w.Cluster, string(events.DeadLetters), w.from, func(r *kgo.Record) error {
		l, err := kafka.ParseDeadLetter(r)
		if err != nil || store.Of(events.Topic(l.Topic)) == nil {
			return nil
		}
		if _, known := w.waiting[l.ID()]; !known && len(w.waiting) >= w.room() {
			if !full {
				full = true
				if err := w.leaveOut(ctx); err != nil {
					return err
				}
			}
			if len(w.waiting) >= w.room() {
				w.beyond[l.Topic]++
				return nil
			}
		}
		w.waiting[l.ID()] = watched{subjectOf(l), l.At, r.Partition, r.Offset}
		return nil
	})
	if err != nil {
		w.forget()
		return err
	}
	from := make([]int64, len(ranges))
	for number, r := range ranges {
		if number < len(w.from) && w.from[number] > r.End {
			w.forget() // the topic was made anew
			return w.look(ctx)
		}
		from[number] = r.End
	}
	w.from = from
	for id, l := range w.waiting {
		if int(l.in) < len(ranges) && l.offset < ranges[l.in].Start {
			delete(w.waiting, id) // its topic's retention took it
		}
	}
	if err := w.leaveOut(ctx); err != nil {
		return err
	}
	w.publish(w.counted())
	return nil
}

func (w *Watch) room() int { return cmp.Or(w.most, mostWatched) }

func (w *Watch) forget() { w.from, w.waiting, w.beyond = nil, nil, nil }

// leaveOut forgets the letters that were healed.
func (w *Watch) leaveOut(ctx context.Context) error {
	ids, subjects := make([]string, 0, len(w.waiting)), make([]subject, 0, len(w.waiting))
	for id, l := range w.waiting {
		ids, subjects = append(ids, id), append(subjects, l.subject)
	}
	states, err := w.Tables.states(ctx, subjects)
	if err != nil {
		return err
	}
	for i, state := range states {
		if state == Healed {
			delete(w.waiting, ids[i])
		}
	}
	return nil
}

func (w *Watch) counted() map[string]depth {
	all := map[string]depth{}
	for _, topic := range store.Topics() {
		all[string(topic)] = depth{letters: w.beyond[string(topic)]}
	}
	for _, l := range w.waiting {
		d := all[l.subject.topic]
		if d.letters++; d.oldest.IsZero() || l.at.Before(d.oldest) {
			d.oldest = l.at
		}
		all[l.subject.topic] = d
	}
	return all
}

func (w *Watch) publish(all map[string]depth) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.depth = all
}

var (
	depthDesc = prometheus.NewDesc("tallyhouse_ingest_dead_letters_waiting",
		"Dead letters that no later version of their entity has healed; from one of the workers. See tallyhouse deadletters.",
		[]string{"topic"}, nil)
	ageDesc = prometheus.NewDesc("tallyhouse_ingest_dead_letters_waiting_seconds",
		"How long ago the oldest of them was refused; 0: none waits.", []string{"topic"}, nil)
)

// Describe implements prometheus.Collector.
func (w *Watch) Describe(c chan<- *prometheus.Desc) {
	c <- depthDesc
	c <- ageDesc
}

// Collect implements prometheus.Collector.
func (w *Watch) Collect(c chan<- prometheus.Metric) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for topic, d := range w.depth {
		age := 0.0
		if !d.oldest.IsZero() {
			age = max(0, time.Since(d.oldest).Seconds())
		}
		c <- prometheus.MustNewConstMetric(depthDesc, prometheus.GaugeValue, float64(d.letters), topic)
		c <- prometheus.MustNewConstMetric(ageDesc, prometheus.GaugeValue, age, topic)
	}
}
