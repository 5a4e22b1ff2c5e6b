package answer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/emersion/go-message/mail"
	"github.com/prometheus/client_golang/prometheus"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// The topic is all the state that there is: an answer is owed as long as no message has its outcome. The members of a consumer
// group share the partitions, so that one of them sends; whoever gets a partition reads what was written to it of late, then
// sends what has no outcome. One who dies between the mail server's yes and the outcome sends the answer again, with the same
// Message-ID.

const (
	// lasts is how long an answer is tried.
	lasts = 24 * time.Hour
	// remembered is how long an answer is one, however often it is written.
	remembered = 35 * 24 * time.Hour
	// late is how late messages may be: clocks differ.
	late = time.Hour
	// most is how many messages are taken at a time.
	most = 1000
	// longestDetail bounds the detail of an outcome, in characters.
	longestDetail = 500
)

// Options are what a sender needs.
type Options struct {
	Settings *Settings
	Cluster  kafka.Cluster
	Shards   []*database.Server
	Group    string // consumer group
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	Clock    func() time.Time // says when digests are due
}

// Sender sends answers.
type Sender struct {
	options   Options
	directory directory
	texts     texts
	from      mail.Address
	metrics   *metrics
	timings   timings
	writer    *kafkago.Writer
	announced map[place]calendar.Date // the last digest that this process has said to be owed

	partitions map[int32]*partition // those that this member has
	rest       time.Time            // nothing is sent before: the mail server or ClickHouse is away
	away       retry.Backoff
}

// timings are how long what is waited for.
type timings struct {
	poll                    time.Duration // at most between two looks at what is due
	round                   time.Duration // of sending, before the group is heeded again
	first, most             time.Duration // between two tries of one answer
	awayFirst, awayMost     time.Duration // between two tries while the server is away
	unreadFirst, unreadMost time.Duration // until the table has what the answer is about
}

// partition is what is known of a partition of the topic.
type partition struct {
	done     map[string]time.Time // answers with an outcome, by id
	open     map[string]*owed
	caughtUp bool // it was read to its end once, so that no outcome is unknown
}

// owed is an answer without an outcome.
type owed struct {
	event  events.Event
	record *kgo.Record
	tries  int
	due    time.Time
}

// New prepares a sender. It does not connect.
func New(o Options) (*Sender, error) {
	t, err := readTexts()
	if err != nil {
		return nil, fmt.Errorf("read the texts of answers: %w", err)
	}
	s := &Sender{options: o, directory: directory{o.Shards}, texts: t, metrics: newMetrics(o.Metrics),
		announced: map[place]calendar.Date{},
		from:      mail.Address{Name: o.Settings.from.Name, Address: o.Settings.from.Address},
		timings: timings{poll: time.Second, round: 30 * time.Second, first: time.Minute, most: time.Hour,
			awayFirst: time.Second, awayMost: time.Minute, unreadFirst: 200 * time.Millisecond, unreadMost: time.Minute}}
	return s, nil
}

// Run sends until the context ends.
func (s *Sender) Run(ctx context.Context) error {
	s.writer = kafka.NewWriter(s.options.Cluster, kafka.WriterOptions{Log: s.options.Log})
	defer func() { go func() { _ = s.writer.Close() }() }() // it waits for its last attempt, which nobody does any more
	s.connected()
	pauses := retry.WithCappedDuration(s.timings.awayMost, retry.NewExponential(s.timings.awayFirst))
	_ = retry.Do(ctx, pauses, func(ctx context.Context) error {
		err := s.follow(ctx)
		if ctx.Err() == nil {
			s.metrics.waits.WithLabelValues("kafka").Inc()
			s.options.Log.Warn("answers wait", "for", "kafka", "error", err)
		}
		return retry.RetryableError(err)
	})
	return nil // the context has ended
}

// follow takes part in the group until something fails.
func (s *Sender) follow(ctx context.Context) error {
	mine := map[int32]*partition{}
	s.partitions = mine
	defer func() { s.partitions = nil; s.measure() }()
	forget := func(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
		for _, number := range gone[string(events.Answers)] {
			delete(mine, number)
		}
	}
	bounded, err := kafkalog.Bounded()
	if err != nil {
		return fmt.Errorf("follow the answers: %w", err)
	}
	client, err := kgo.NewClient(append(slices.Concat(s.options.Cluster.Reading, bounded), kgo.ConsumerGroup(s.options.Group),
		kgo.ConsumeTopics(string(events.Answers)), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.DisableAutoCommit(),
		kgo.KeepControlRecords(), // a log may end with one
		kgo.BlockRebalanceOnPoll(), kgo.RebalanceTimeout(5*time.Minute), kgo.OnPartitionsRevoked(forget), kgo.OnPartitionsLost(forget),
		kgo.AdjustFetchOffsetsFn(sinceLong))...)
	if err != nil {
		return fmt.Errorf("follow the answers: connect to Kafka: %w", err)
	}
	defer leave(client)
	for {
		if err := s.poll(ctx, client); err != nil {
			return err
		}
		err := s.announce(ctx)
		if err == nil {
			err = s.round(ctx)
		}
		s.measure()
		client.AllowRebalance()
		if err != nil {
			return err
		}
	}
}

// leaving is how long the group is waited for when it is left: others wait for the session's end then.
const leaving = 3 * time.Second

// leave ends a client, and waits for that as long as Kafka answers.
func leave(client *kgo.Client) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		client.CloseAllowingRebalance()
	}()
	select {
	case <-left:
	case <-time.After(leaving):
	}
}

// sinceLong has every partition read from what was written of late.
func sinceLong(_ context.Context, assigned map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	since := kgo.NewOffset().AfterMilli(time.Now().Add(-remembered - late).UnixMilli())
	for _, partitions := range assigned {
		for number := range partitions {
			partitions[number] = since
		}
	}
	return assigned, nil
}

// poll takes what has come, or waits a while for it.
func (s *Sender) poll(ctx context.Context, client *kgo.Client) error {
	bounded, stop := context.WithTimeout(ctx, s.timings.poll)
	defer stop()
	fetched := kafkalog.Poll(bounded, client, most)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, failed := range fetched.Errors() {
		if _, passed := kafkalog.PassUnread(client, failed); !passed && !errors.Is(failed.Err, context.DeadlineExceeded) {
			return fmt.Errorf("follow partition %d of the answers: %w", failed.Partition, failed.Err)
		}
	}
	fetched.EachPartition(func(f kgo.FetchTopicPartition) {
		p := s.partitions[f.Partition]
		if p == nil {
			p = &partition{done: map[string]time.Time{}, open: map[string]*owed{}}
			s.partitions[f.Partition] = p
		}
		for _, r := range f.Records {
			s.take(p, r)
		}
		if n := len(f.Records); n > 0 && f.Records[n-1].Offset+1 >= f.HighWatermark {
			p.caughtUp = true
		}
	})
	return nil
}

// take notes one message.
func (s *Sender) take(p *partition, r *kgo.Record) {
	if r.Attrs.IsControl() {
		return
	}
	e, err := events.Decode(events.Answers, r.Key, r.Value)
	if err == nil && e.Version == events.MaxVersion {
		err = errors.New("its version is the last of all, so that what becomes of it can't be written") // it would be sent again and again
	}
	if err != nil {
		s.options.Log.Error("a message of the answers breaks the rules and is passed over",
			"partition", r.Partition, "offset", r.Offset, "error", err)
		return
	}
	a, upsert := e.Data.(*events.Answer)
	_, done := p.done[e.Key()]
	switch {
	case !upsert || a.Outcome.Ok:
		p.done[e.Key()] = e.At
		delete(p.open, e.Key())
	case !done && p.open[e.Key()] == nil:
		// A copy: the message itself would keep all that was sent with it.
		p.open[e.Key()] = &owed{event: e, record: &kgo.Record{
			Partition: r.Partition, Offset: r.Offset, Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value),
		}}
	}
}

// round sends what is due, for a while. Its error is the context's.
func (s *Sender) round(ctx context.Context) error {
	began := time.Now()
	if began.Before(s.rest) {
		return nil
	}
	for _, p := range s.partitions {
		if !p.caughtUp {
			continue
		}
		p.forget(began.Add(-remembered - late))
		open := slices.SortedFunc(maps.Values(p.open), func(a, b *owed) int {
			return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.record.Offset, b.record.Offset))
		})
		for _, o := range open {
			if o.due.After(time.Now()) || time.Since(began) > s.timings.round {
				break
			}
			if err := s.try(ctx, p, o); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				o.due = time.Now() // the others come first: it may be this one's fault
				pause, _ := s.away.Next()
				s.rest = time.Now().Add(pause)
				s.options.Log.Warn("answers wait", "error", err, "pause", pause)
				return nil
			}
			s.connected()
		}
	}
	return nil
}

// connected begins anew with short pauses.
func (s *Sender) connected() {
	s.away = retry.WithCappedDuration(s.timings.awayMost, retry.NewExponential(s.timings.awayFirst))
}

// forget drops what is remembered of long ago.
func (p *partition) forget(before time.Time) {
	const few = 10_000
	if len(p.done) < few {
		return
	}
	maps.DeleteFunc(p.done, func(_ string, at time.Time) bool { return at.Before(before) })
}

// try sends one answer, once. Its error says that none can be sent now.
func (s *Sender) try(ctx context.Context, p *partition, o *owed) error {
	a := o.event.Data.(*events.Answer)
	switch {
	case a.About == events.AboutDay && calendar.ViennaDate(s.options.Clock()) > a.Day:
		return s.conclude(ctx, p, o, events.AnswerExpired, "it could not be sent on its day")
	case a.About == events.AboutMail && time.Since(o.event.At) > lasts:
		return s.conclude(ctx, p, o, events.AnswerExpired, "it could not be sent within "+lasts.String())
	}
	to, letter, err := s.compose(ctx, o.event, a)
	var not unwanted
	switch {
	case errors.As(err, &not):
		return s.conclude(ctx, p, o, events.AnswerUnwanted, not.Error())
	case errors.Is(err, errNotYet):
		o.later(s.timings.unreadFirst, s.timings.unreadMost)
		return nil
	case err != nil:
		s.metrics.waits.WithLabelValues("clickhouse").Inc()
		return err
	}
	err = s.options.Settings.server.send(ctx, to, letter)
	var said *refusal
	switch {
	case err == nil:
		return s.conclude(ctx, p, o, events.AnswerSent, "")
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &said):
		s.metrics.waits.WithLabelValues("smtp").Inc()
		return err
	case said.forGood:
		return s.conclude(ctx, p, o, events.AnswerRefused, untrusted.Cut(untrusted.Line(said.Error()), longestDetail))
	}
	o.later(s.timings.first, s.timings.most)
	s.options.Log.Info("an answer is refused for now", "id", o.event.ID, "tries", o.tries, "error", err)
	return nil
}

// later has an answer tried again, each time after twice as long.
func (o *owed) later(first, longest time.Duration) {
	pause := longest
	if o.tries < 30 {
		pause = min(longest, first<<o.tries)
	}
	o.tries++
	o.due = time.Now().Add(pause)
}

// conclude writes what became of an answer, as long as it takes; refusals are kept among the dead letters.
func (s *Sender) conclude(ctx context.Context, p *partition, o *owed, what, detail string) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	e, a := o.event, *o.event.Data.(*events.Answer)
	a.Outcome = events.Some(events.AnswerOutcome{At: now, What: what, Detail: events.Opt[string]{V: detail, Ok: detail != ""}})
	e.Version++
	e.At, e.Data = now, &a
	value, err := events.Encode(events.Answers, e)
	if err != nil {
		return fmt.Errorf("write what became of an answer: %w", err)
	}
	if what == events.AnswerRefused || what == events.AnswerExpired {
		letter := kafka.DeadLetter{Topic: string(events.Answers), Partition: o.record.Partition, Offset: o.record.Offset, Key: o.record.Key,
			Value: o.record.Value, Reason: "the answer was not sent: " + detail, At: now}
		if err := s.write(ctx, letter.Message()); err != nil {
			return err
		}
	}
	if err := s.write(ctx, kafkago.Message{Topic: string(events.Answers), Key: []byte(e.Key()), Value: value}); err != nil {
		return err
	}
	delete(p.open, e.Key())
	p.done[e.Key()] = now
	s.metrics.answers.WithLabelValues(what).Inc()
	s.options.Log.Info("answer", "outcome", what, "id", e.ID, "project", a.ProjectID, "detail", detail)
	return nil
}

// write sends messages to Kafka, and waits until it has them.
func (s *Sender) write(ctx context.Context, all ...kafkago.Message) error {
	pauses := retry.WithCappedDuration(s.timings.awayMost, retry.NewExponential(s.timings.awayFirst))
	return retry.Do(ctx, pauses, func(ctx context.Context) error {
		err := s.writer.WriteMessages(ctx, all...)
		if err != nil && ctx.Err() == nil {
			s.metrics.waits.WithLabelValues("kafka").Inc()
			s.options.Log.Warn("answers wait", "for", "kafka", "error", err)
		}
		return retry.RetryableError(err)
	})
}

// measure shows how much is owed, and since when.
func (s *Sender) measure() {
	n, oldest := 0, time.Duration(0)
	for _, p := range s.partitions {
		n += len(p.open)
		for _, o := range p.open {
			oldest = max(oldest, time.Since(o.event.At))
		}
	}
	s.metrics.owed.Set(float64(n))
	s.metrics.oldest.Set(oldest.Seconds())
}
