package deadletters

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

// contractor is a valid message of the entity demo/<id>.
func contractor(t *testing.T, id string, version int, op events.Op) events.Event {
	t.Helper()
	text, data := "upsert", `,"data":{"name":"Bau"}`
	if op == events.Delete {
		text, data = "delete", ""
	}
	value := fmt.Appendf(nil, `{"id":"%s","tenantId":"demo","version":%d,"op":"%s","at":"2026-03-01T10:15:00Z"%s}`, id, version, text, data)
	e, err := events.Decode(events.Contractors, []byte("demo/"+id), value)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// refused is a letter of a message with this key, which came at an offset of the key's partition.
func refused(key string, offset int64, value string) kafka.DeadLetter {
	return kafka.DeadLetter{
		Topic: string(events.Contractors), Partition: int32(kafka.Partition([]byte(key), 2)), Offset: offset, Key: []byte(key),
		Reason: "data.nmae is not a member", At: time.Now().Add(-time.Hour), Value: []byte(value),
	}
}

// A letter is healed when the tables have something newer of its entity: a higher version, or the same that came later in
// the log. Where its version can't be read, whatever came later.
func TestALetterIsHealedByWhatIsNewer(t *testing.T) {
	// Given tables in which the first batch of each partition begins at offset 0
	l := ingesttest.New(t, events.Contractors, 2)
	l.Write(contractor(t, "C1", 5, events.Upsert))
	l.Write(contractor(t, "C2", 5, events.Delete))
	at := func(c kafka.DeadLetter, partition int32) kafka.DeadLetter { c.Partition = partition; return c }
	other := 1 - int32(kafka.Partition([]byte("demo/C1"), 2))
	for name, c := range map[string]struct {
		letter kafka.DeadLetter
		want   State
	}{
		"a later message, of the same version":      {refused("demo/C1", -1, `{"version":5}`), Healed},
		"a later message, the letter no JSON":       {refused("demo/C1", -1, `{`), Healed},
		"a later deletion":                          {refused("demo/C2", -1, `{}`), Healed},
		"a later message, the version beyond all":   {refused("demo/C1", -1, `{"version":9007199254740992}`), Healed},
		"a later message of a lower version":        {refused("demo/C1", -1, `{"version":6}`), Waiting},
		"an earlier message of a higher version":    {refused("demo/C1", 99, `{"version":4}`), Healed},
		"the very place of what was stored":         {refused("demo/C1", 0, `{"version":5}`), Waiting}, // in a topic made anew
		"a higher version in another partition":     {at(refused("demo/C1", 99, `{"version":4}`), other), Healed},
		"an earlier message of the same version":    {refused("demo/C1", 99, `{"version":5}`), Waiting},
		"an earlier message, the letter no JSON":    {refused("demo/C1", 99, `{`), Waiting},
		"a later offset in another partition alone": {at(refused("demo/C1", -1, `{"version":5}`), other), Waiting},
		"an entity that never came":                 {refused("demo/C3", 0, `{"version":1}`), Waiting},
		"the same id of another tenant":             {refused("demo2/C1", -1, `{"version":1}`), Waiting},
		"a key that names no entity":                {refused("C1", -1, `{"version":1}`), Waiting},
		"a key that is no text":                     {refused("demo/\xff", -1, `{"version":1}`), Waiting},
		"a key that quotes":                         {refused("demo/') OR ('1", -1, `{"version":1}`), Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Tables{l.DB}.states(t.Context(), []subject{subjectOf(c.letter)})
			if err != nil || got[0] != c.want {
				t.Errorf("%v, %v; want %s", got, err, c.want)
			}
		})
	}
	// Of several letters of one entity each has its state, and whichever shard has the entity is asked.
	elsewhere := ingesttest.New(t, events.Contractors, 2)
	of := func(offset int64, version int) subject {
		return subjectOf(refused("demo/C1", offset, fmt.Sprintf(`{"version":%d}`, version)))
	}
	for _, tables := range []Tables{{l.DB, elsewhere.DB}, {elsewhere.DB, l.DB}} {
		got, err := tables.states(t.Context(), []subject{of(99, 5), of(99, 4), of(-1, 5), of(99, 6)})
		if want := []State{Waiting, Healed, Healed, Waiting}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	if got, err := (Tables)(nil).states(t.Context(), []subject{subjectOf(refused("demo/C1", -1, `{}`))}); err != nil || got[0] != Unknown {
		t.Errorf("without tables: %v, %v", got, err)
	}
}

// A watch counts what waits, by topic, reads on where it was, and forgets what was healed or is gone from the log.
func TestAWatchCountsWhatWaits(t *testing.T) {
	// Given two letters that wait, one that was healed, and one that is no letter of a topic
	c := topicstest.Cluster(t, 2)
	l := ingesttest.New(t, events.Contractors, 2)
	l.Write(contractor(t, "C1", 5, events.Upsert))
	send := func(letters ...kafka.DeadLetter) {
		t.Helper()
		for _, d := range letters {
			if _, _, err := kafka.Send(t.Context(), c, d.Message()); err != nil {
				t.Fatal(err)
			}
		}
	}
	foreign := refused("demo/C1", 1, `{}`)
	foreign.Topic = "theirs"
	send(refused("demo/C1", 100, `{"version":4}`), refused("demo/C2", 101, `{"version":1}`), refused("demo/C3", 102, `{"version":1}`), foreign)
	mine := false
	registry := prometheus.NewRegistry()
	w := &Watch{Cluster: c, Tables: Tables{l.DB}, Mine: func() bool { return mine }, Log: slog.New(slog.DiscardHandler)}
	registry.MustRegister(w)
	expect := func(when string, letters float64) {
		t.Helper()
		if err := w.look(t.Context()); err != nil {
			t.Fatal(when, err)
		}
		got := gathered(t, registry)
		waiting, age := got["tallyhouse_ingest_dead_letters_waiting"], got["tallyhouse_ingest_dead_letters_waiting_seconds"]
		if waiting != letters || letters > 0 && age < time.Hour.Seconds() || letters == 0 && age != 0 {
			t.Errorf("%s: %v letters since %v s, want %v", when, waiting, age, letters)
		}
	}
	// When another worker watches, then this one serves nothing.
	if err := w.look(t.Context()); err != nil || len(gathered(t, registry)) != 0 {
		t.Errorf("%v, %v", gathered(t, registry), err)
	}
	mine = true
	expect("from the start", 2)
	if topics := served(t, registry); !slices.Equal(topics, slices.Sorted(slices.Values(store.Topics()))) {
		t.Errorf("it serves figures of %v, not of the topics that are stored", topics)
	}
	l.Write(contractor(t, "C2", 2, events.Upsert))
	expect("one more is healed", 1)
	send(refused("demo/C4", 103, `{"version":1}`), refused("demo/C3", 102, `{"version":1}`))
	expect("one more came, and one came again", 2)
	// When there is no room for all of them, then the others are counted, and are looked at when there is.
	w.forget()
	w.most = 2
	send(refused("demo/C5", 104, `{"version":1}`))
	if err := w.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := gathered(t, registry)["tallyhouse_ingest_dead_letters_waiting"]; n < 3 || len(w.waiting) > 2 {
		t.Errorf("more than it has room for: %v letters, %d of them kept", n, len(w.waiting))
	}
	l.Write(contractor(t, "C3", 2, events.Upsert), contractor(t, "C4", 2, events.Upsert))
	l.Write(contractor(t, "C5", 2, events.Upsert))
	w.most = 8 // there is room again, without a wait for which of them it had
	expect("all are healed", 0)
	mine = false
	if err := w.look(t.Context()); err != nil || len(gathered(t, registry)) != 0 {
		t.Errorf("after another worker took over: %v, %v", gathered(t, registry), err)
	}
}

// The age that is served is that of the oldest letter, whatever the order in which they came.
func TestTheAgeIsThatOfTheOldestLetter(t *testing.T) {
	s := watching(t)
	for i, hours := range []time.Duration{2, 9, 5} {
		d := refused(fmt.Sprintf("demo/C%d", i), int64(100+i), `{"version":1}`)
		d.At = time.Now().Add(-hours * time.Hour)
		s.send(d)
	}
	for _, oldest := range []float64{9, 5} {
		s.expect(map[float64]int{9: 3, 5: 2}[oldest])
		const name = "tallyhouse_ingest_dead_letters_waiting_seconds"
		if hours := gathered(t, s.registry)[name] / time.Hour.Seconds(); hours < oldest || hours > oldest+1 {
			t.Errorf("the oldest is %v hours old, not %v", hours, oldest)
		}
		s.ledger.Write(contractor(t, "C1", 2, events.Upsert)) // heals the oldest
	}
}

// A watch that is full counts a letter that it keeps once, however often the letter comes again.
func TestAFullWatchCountsALetterThatItKnowsOnce(t *testing.T) {
	s := watching(t)
	s.watch.most = 2
	first, second := refused("demo/C1", 100, `{"version":1}`), refused("demo/C2", 101, `{"version":1}`)
	s.send(first, second)
	s.expect(2)
	s.send(first, second, first)
	s.expect(2)
	s.send(refused("demo/C3", 102, `{"version":1}`))
	s.expect(3)
}

// Given a watch whose database doesn't answer, when it is told to end, then it ends.
func TestAWatchEndsThoughClickHouseIsSilent(t *testing.T) {
	s := watching(t)
	s.send(refused("demo/C1", 100, `{"version":1}`))
	silent := &silentDatabase{asked: make(chan struct{}), answer: make(chan struct{})}
	s.watch.Tables = Tables{silent}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.watch.Run(ctx) }()
	<-silent.asked
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it doesn't end")
	}
	close(silent.answer)
}

type silentDatabase struct{ asked, answer chan struct{} }

func (d *silentDatabase) Rows(context.Context, database.Query, func(func(...any) error) error) error {
	close(d.asked)
	<-d.answer
	return nil
}

// Of a topic of dead letters that was made anew only the letters that are in it now are counted.
func TestLettersOfATopicThatWasDeletedAreForgotten(t *testing.T) {
	// Given a watch that knows three letters, all in one partition
	s := watching(t)
	for offset := range int64(3) {
		s.send(refused("demo/C1", 100+offset, `{"version":1}`))
	}
	s.expect(3)
	// When the topic is made anew, and has one
	name := string(events.DeadLetters)
	request := kmsg.NewPtrDeleteTopicsRequest()
	gone := kmsg.NewDeleteTopicsRequestTopic()
	gone.Topic = kmsg.StringPtr(name)
	request.Topics, request.TopicNames = append(request.Topics, gone), append(request.TopicNames, name)
	s.ask(request)
	kafkatest.AwaitTopic(t, s.cluster.Addrs[0], name, 0)
	s.cluster = topicstest.On(t, s.broker, 2)
	s.watch.Cluster = s.cluster
	s.send(refused("demo/C1", 7, `{"version":1}`))
	// Then it is the only one.
	s.expect(1)
}

// What the topic's retention takes is neither listed nor counted any more; what is refused afterwards is.
func TestLettersThatRetentionTookAreForgotten(t *testing.T) {
	// Given two letters that wait, and a watch that knows of them
	s := watching(t)
	s.send(refused("demo/C1", 100, `{"version":4}`), refused("demo/C2", 101, `{"version":1}`))
	s.expect(2)
	// When the log begins behind them
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = string(events.DeadLetters)
	for number, end := range s.watch.from {
		partition := kmsg.NewDeleteRecordsRequestTopicPartition()
		partition.Partition, partition.Offset = int32(number), end
		topic.Partitions = append(topic.Partitions, partition)
	}
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Topics, request.TimeoutMillis = append(request.Topics, topic), 10_000
	s.ask(request)
	// Then they are forgotten, and the next one counts.
	s.expect(0)
	s.send(refused("demo/C3", 102, `{"version":1}`))
	s.expect(1)
}

// Of the letters of a rule those that were healed are not sent once more: that would be an older state.
func TestHealedLettersAreNotReplayed(t *testing.T) {
	s := watching(t)
	s.ledger.Write(contractor(t, "C1", 5, events.Upsert))
	value := `{"id":"%s","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"name":"Bau"}}`
	healed := refused("demo/C1", 100, fmt.Sprintf(value, "C1"))
	s.send(healed, refused("demo/C2", 101, fmt.Sprintf(value, "C2")))
	done, err := ReplayAll(t.Context(), s.cluster, s.watch.Tables, load.StoredBy(store.All()), healed.Topic, Rule(healed.Reason), false,
		func(err error) { t.Error(err) })
	if err != nil || done != (Replayed{Sent: 1, Healed: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if sent := topicstest.Messages(t, s.cluster, events.Contractors); len(sent) != 1 || string(sent[0].Key) != "demo/C2" {
		t.Errorf("sent %v", sent)
	}
}

// watchScene is a watch, and the broker and the tables that it asks.
type watchScene struct {
	testing.TB
	broker   kafkatest.Broker
	cluster  kafka.Cluster
	ledger   *ingesttest.Ledger
	watch    *Watch
	registry *prometheus.Registry
}

func watching(t testing.TB) *watchScene {
	t.Helper()
	s := &watchScene{TB: t, broker: kafkatest.Start(t), ledger: ingesttest.New(t, events.Contractors, 2), registry: prometheus.NewRegistry()}
	s.cluster = topicstest.On(t, s.broker, 2)
	s.watch = &Watch{
		Cluster: s.cluster, Tables: Tables{s.ledger.DB}, Mine: func() bool { return true }, Log: slog.New(slog.DiscardHandler),
	}
	s.registry.MustRegister(s.watch)
	return s
}

func (s *watchScene) send(letters ...kafka.DeadLetter) {
	s.Helper()
	for _, d := range letters {
		if _, _, err := kafka.Send(s.Context(), s.cluster, d.Message()); err != nil {
			s.Fatal(err)
		}
	}
}

// expect has the watch look, and wants so many letters counted, and as many listed.
func (s *watchScene) expect(letters int) {
	s.Helper()
	if err := s.watch.look(s.Context()); err != nil {
		s.Fatal(err)
	}
	if got := gathered(s, s.registry)["tallyhouse_ingest_dead_letters_waiting"]; got != float64(letters) {
		s.Errorf("%v letters wait, want %d", got, letters)
	}
	listed := 0
	_, err := List(s.Context(), s.cluster, s.watch.Tables, func(l Letter) error {
		if l.State == Waiting {
			listed++
		}
		return nil
	})
	if err != nil || listed != letters {
		s.Errorf("%d letters are listed as waiting, want %d; %v", listed, letters, err)
	}
}

// ask has the broker answer a request of an administrator.
func (s *watchScene) ask(request kmsg.Request) {
	s.Helper()
	client, err := kgo.NewClient(s.cluster.Reading...)
	if err != nil {
		s.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Request(s.Context(), request); err != nil {
		s.Fatal(err)
	}
}

// served are the topics that there are figures of, each once, in order.
func served(t testing.TB, registry *prometheus.Registry) (topics []events.Topic) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			topics = append(topics, events.Topic(m.GetLabel()[0].GetValue()))
		}
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// gathered are the figures of the topic of contractors, by name.
func gathered(t testing.TB, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == string(events.Contractors) {
				all[f.GetName()] = m.GetGauge().GetValue()
			}
		}
	}
	return all
}
