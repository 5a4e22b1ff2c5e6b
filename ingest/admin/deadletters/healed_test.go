package deadletters

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
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

// A letter is healed when the tables have something newer of its entity: what came later in the log, or has a higher version.
func TestALetterIsHealedByWhatCameLater(t *testing.T) {
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
		"an earlier message of a higher version":    {refused("demo/C1", 99, `{"version":4}`), Healed},
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

// What the topic's retention takes is neither listed nor counted any more; what is refused afterwards is.
func TestLettersThatRetentionTookAreForgotten(t *testing.T) {
	// Given two letters that wait, and a watch that knows of them
	c := topicstest.Cluster(t, 2)
	l := ingesttest.New(t, events.Contractors, 2)
	w := &Watch{Cluster: c, Tables: Tables{l.DB}, Mine: func() bool { return true }, Log: slog.New(slog.DiscardHandler)}
	registry := prometheus.NewRegistry()
	registry.MustRegister(w)
	send := func(d kafka.DeadLetter) {
		t.Helper()
		if _, _, err := kafka.Send(t.Context(), c, d.Message()); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(letters int) {
		t.Helper()
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := gathered(t, registry)["tallyhouse_ingest_dead_letters_waiting"]; got != float64(letters) {
			t.Errorf("%v letters wait, want %d", got, letters)
		}
		listed := 0
		if _, err := List(t.Context(), c, w.Tables, func(Letter) error { listed++; return nil }); err != nil || listed != letters {
			t.Errorf("%d letters are listed, want %d; %v", listed, letters, err)
		}
	}
	send(refused("demo/C1", 100, `{"version":4}`))
	send(refused("demo/C2", 101, `{"version":1}`))
	expect(2)
	// When the log begins behind them
	client, err := kgo.NewClient(c.Reading...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = string(events.DeadLetters)
	for number, end := range w.from {
		partition := kmsg.NewDeleteRecordsRequestTopicPartition()
		partition.Partition, partition.Offset = int32(number), end
		topic.Partitions = append(topic.Partitions, partition)
	}
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Topics, request.TimeoutMillis = append(request.Topics, topic), 10_000
	if _, err := request.RequestWith(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	// Then they are forgotten, and the next one counts.
	expect(0)
	send(refused("demo/C3", 102, `{"version":1}`))
	expect(1)
}

// gathered are the figures of the topic of contractors, by name.
func gathered(t *testing.T, registry *prometheus.Registry) map[string]float64 {
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
