package worker

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/latest"
	kafkalog "tallyhouse/schemas/kafka"
)

// BenchmarkRecovery is the time from an assignment until its partitions are written: all topics, so many partitions each
// that there are as many as 20 topics of 12 have. One operation is a recovery of all of them by a new worker.
func BenchmarkRecovery(b *testing.B) {
	topics := store.All()
	partitions := (20*12 + len(topics) - 1) / len(topics)
	w := newWorld(b)
	var larger []kafkago.TopicPartitionsConfig
	for _, e := range topics {
		larger = append(larger, kafkago.TopicPartitionsConfig{Name: string(e.Topic), Count: int32(partitions)})
	}
	if _, err := w.cluster.Client().CreatePartitions(b.Context(), &kafkago.CreatePartitionsRequest{Topics: larger}); err != nil {
		b.Fatal(err)
	}
	var all []kafkalog.Partition
	for _, e := range topics {
		for p := range int32(partitions) {
			all = append(all, kafkalog.Partition{Topic: string(e.Topic), Number: p})
		}
	}
	generation := int32(0)
	recoverAll := func() {
		b.StopTimer()
		db, err := database.Open(database.Options{Addr: w.addr, Database: w.name, User: "default"}, 4)
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		worker, err := New(Options{
			Cluster: w.cluster, Servers: []Database{db}, Heads: latest.Options{Dir: b.TempDir()}, Group: "none", Entities: topics,
			Freshness: time.Millisecond, Log: w.log, Metrics: prometheus.NewRegistry(),
		})
		if err != nil {
			b.Fatal(err)
		}
		parts, stop := context.WithCancel(context.Background())
		defer stop()
		m := &member{Worker: worker, stop: stop}
		worker.startParts(parts, &m.parts)
		defer m.crash()
		generation++
		b.StartTimer()
		worker.members.begin(generation, all, len(all))
		for _, tp := range all {
			worker.startWriter(context.Background(), tp)
		}
		w.await("all are written", func() bool {
			for _, s := range worker.Status() {
				if s.Condition != Running {
					return false
				}
			}
			return true
		})
		b.StopTimer()
	}
	recoverAll() // the topics are known from now on
	b.ResetTimer()
	for range b.N {
		recoverAll()
	}
	b.ReportMetric(float64(len(all)), "partitions")
}
