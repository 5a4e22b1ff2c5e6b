package worker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

// BenchmarkFreshness measures when a change can be read: from Kafka's acknowledgement on until a SELECT finds it, one
// change after the other. The rest of the load goes to many partitions of all topics, beside it.
func BenchmarkFreshness(b *testing.B) {
	for _, load := range []struct {
		name       string
		partitions int // of each topic
		topics     []events.Topic
		every      time.Duration // from one change of a partition to its next
		changes    int           // at a time
	}{
		{"idle", 3, nil, time.Second, 0},
		{"beside 1000 changes/s on 3 partitions", 3, []events.Topic{events.Records}, 100 * time.Millisecond, 33},
		{"beside 100 active partitions", 10, loadedTopics(), 5 * time.Second, 1},
		{"beside 100 busy partitions", 10, loadedTopics(), time.Second, 10},
	} {
		b.Run(load.name, func(b *testing.B) {
			w := newWorld(b)
			w.partitionTopics(load.partitions)
			worker := w.start("a", func(w *Worker) { w.pace.freshness = 50 * time.Millisecond }) // as the command's default
			for worker.Ready() != nil {
				time.Sleep(50 * time.Millisecond)
			}
			ctx, stop := context.WithCancel(context.Background())
			var loading sync.WaitGroup
			for _, topic := range load.topics {
				for p := range load.partitions {
					loading.Go(func() { w.load(ctx, topic, p, load.partitions, load.every, load.changes) })
				}
			}
			if len(load.topics) > 0 {
				time.Sleep(2 * load.every) // until all take part
			}
			w.measureFreshness(b, load.partitions)
			stop()
			loading.Wait()
			worker.end()
		})
	}
}

// loadedTopics are ten topics that are stored.
func loadedTopics() []events.Topic {
	topics := store.Topics()
	topics = slices.DeleteFunc(topics, func(t events.Topic) bool { return t == events.IndexValues || t == events.ForecastSnapshots })
	return topics[:10]
}

// probes is how many changes are asked for, at least.
const probes = 60

// measureFreshness sends a change at a time and asks for it until it is there.
func (w *world) measureFreshness(b *testing.B, partitions int) {
	var took []time.Duration
	rows, began, engine := w.inserts(b), time.Now(), w.engineTime(b)
	for n := range max(b.N, probes) {
		id := "probe-" + strconv.Itoa(n)
		m := eventstest.New(events.Records, "bench", id, 1)
		p := kafka.Partition(m.Key(), partitions)
		w.produce(message{topic: events.Records, partition: p, key: string(m.Key()), value: m.Value()})
		acknowledged := time.Now()
		for found := uint64(0); found == 0; {
			const asked = "SELECT count() FROM records WHERE tenant = 'bench' AND project = 'P1' AND id = {id:String}"
			if err := w.db.Row(b.Context(), database.Query{SQL: asked, Params: database.Params{"id": id}}, &found); err != nil {
				b.Fatal(err)
			}
			if found == 0 {
				time.Sleep(2 * time.Millisecond)
			}
		}
		took = append(took, time.Since(acknowledged))
		time.Sleep(time.Duration(n%7) * 20 * time.Millisecond) // at any moment of a batch's life
	}
	slices.Sort(took)
	seconds := time.Since(began).Seconds()
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "p99-ms")
	b.ReportMetric(float64(w.inserts(b)-rows)/seconds, "inserts/s")
	b.ReportMetric(float64((w.engineTime(b)-engine).Milliseconds())/seconds, "engine-ms/s")
}

// load sends changes of a topic to one of its partitions until the context ends.
func (w *world) load(ctx context.Context, topic events.Topic, partition, partitions int, every time.Duration, changes int) {
	for n := 0; ctx.Err() == nil; {
		var some []message
		for len(some) < changes {
			m := eventstest.New(topic, "load", "E"+strconv.Itoa(n), 1)
			if n++; kafka.Partition(m.Key(), partitions) == partition {
				some = append(some, message{topic: topic, partition: partition, key: string(m.Key()), value: m.Value()})
			}
		}
		if err := produce(w.cluster, some); err != nil {
			w.log.Warn("not sent", "error", err)
		}
		sleep(ctx, every)
	}
}

// partitionTopics gives every topic more partitions, before a worker knows them.
func (w *world) partitionTopics(partitions int) {
	w.t.Helper()
	if partitions == testPartitions {
		return
	}
	ask := &kafkago.CreatePartitionsRequest{}
	for _, topic := range store.Topics() {
		ask.Topics = append(ask.Topics, kafkago.TopicPartitionsConfig{Name: string(topic), Count: int32(partitions)})
	}
	answer, err := w.cluster.Client().CreatePartitions(context.Background(), ask)
	if err != nil {
		w.t.Fatal(err)
	}
	for topic, err := range answer.Errors {
		if err != nil {
			w.t.Fatal(fmt.Errorf("%s: %w", topic, err))
		}
	}
}

// inserts is how many inserts the engine has run.
func (w *world) inserts(b *testing.B) uint64 {
	return w.event(b, "InsertQuery")
}

func (w *world) engineTime(b *testing.B) time.Duration {
	return time.Duration(w.event(b, "OSCPUVirtualTimeMicroseconds")) * time.Microsecond
}

// event is a counter of the engine.
func (w *world) event(b *testing.B, name string) (value uint64) {
	const counted = "SELECT toUInt64(sum(value)) FROM system.events WHERE event = {name:String}"
	if err := w.db.Row(context.Background(), database.Query{SQL: counted, Params: database.Params{"name": name}}, &value); err != nil {
		b.Fatal(err)
	}
	return value
}
