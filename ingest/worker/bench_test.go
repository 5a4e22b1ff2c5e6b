package worker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// BenchmarkBatch splits the cost of a batch of 10,000 changes of records, every one an update: decoding it; applying
// it, which is decoding, looking up heads, summing and laying out in columns; putting rows in order and sending them;
// the insert; updating the heads. One operation is a whole batch.
func BenchmarkBatch(b *testing.B) {
	const rows = 10_000
	e := store.Of(events.Records)
	tp := kafkalog.Partition{Topic: string(events.Records), Number: 0}
	known, err := newHeads(latest.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer known.close()
	a, err := newAssembler(e, tp)
	if err != nil {
		b.Fatal(err)
	}
	a.partitions, a.heads, a.rows = 1, known, 2*rows
	logs := [2][]*kgo.Record{benchLog(rows, 1), benchLog(rows, 2)}
	bt, err := newBatch(e)
	if err != nil {
		b.Fatal(err)
	}
	cut := func(b *testing.B, log []*kgo.Record, first uint64) {
		bt.reset(first)
		for i, r := range log {
			r.Offset = int64(first) + int64(i)
			if fits, err := a.apply(bt, r); !fits || err != nil {
				b.Fatal("the batch is full", err)
			}
		}
	}
	cut(b, logs[0], 0)
	if err := bt.updateHeads(known, "life"); err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, r := range logs[1] {
				if _, err := events.Decode(events.Records, r.Key, r.Value); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			cut(b, logs[1], rows)
		}
	})
	b.Run("finish", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			cut(b, logs[1], rows)
			b.StartTimer()
			a.finish(bt)
		}
	})
	cut(b, logs[1], rows)
	b.Run("update heads", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := bt.updateHeads(known, "life"); err != nil {
				b.Fatal(err)
			}
		}
	})
	w := newWorld(b)
	claim, _, err := fence.Put(context.Background(), w.db, tp.Topic, []int32{0}, "bench")
	if err != nil {
		b.Fatal(err)
	}
	server, err := position.ServerUUID(context.Background(), w.db)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("insert", func(b *testing.B) {
		first := uint64(0)
		for b.Loop() {
			b.StopTimer()
			cut(b, logs[1], first)
			a.finish(bt)
			b.StartTimer()
			n, err := w.db.Insert(context.Background(), database.Statement{
				ID: fence.WriterID(w.db, tp.Topic, 0), SQL: e.Insert(insertCondition(e)), Batch: bt.block.Batch(),
				Params: claim.Params(0).With(database.Params{"first": number(first), "key": clickhouse.PositionProject(0), "server": server}),
			})
			if err != nil || n == 0 {
				b.Fatal(n, err)
			}
			first += rows
		}
	})
}

// benchLog are records as they are in Kafka.
func benchLog(n int, version int64) []*kgo.Record {
	log := make([]*kgo.Record, n)
	for i := range log {
		net := int64(10_000 + i%977*1_000)
		day := calendar.NewDate(2022, 1, 1) + calendar.Date(i%1500)
		e := events.Event{
			Envelope: events.Envelope{ID: fmt.Sprintf("record-%08d", i), TenantID: "bench", Version: version, Op: events.Upsert, At: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)},
			Data: &events.Record{
				ProjectID: "P1", Source: "invoice", Direction: "out", StepKind: "approval", WorkflowStep: events.Some("Site manager"), ContractorID: events.Some(fmt.Sprintf("contractor-%04d", i%200)),
				InvoiceNumber: events.Some(fmt.Sprint("RE-", i)), RecognitionDate: events.Some(day), DueDate: events.Some(day + 30), Currency: events.Some("EUR"),
				Net: events.Some(net), Tax: events.Some(net / 5), Gross: events.Some(net + net/5), Allocations: []events.RecordAllocation{{NodeID: events.Some(fmt.Sprintf("node-%04d", i%200)), Net: events.Some(net)}},
				Documents: []events.Document{{Name: fmt.Sprint("RE-", i, ".pdf"), Kind: "original"}},
				Intake:    events.Intake{Channel: "email", Status: events.Some("completed"), ReceivedAt: events.Some(day.Time())},
			},
		}
		value, err := events.Append(nil, events.Records, e)
		if err != nil {
			panic(err)
		}
		log[i] = &kgo.Record{Topic: string(events.Records), Key: []byte(e.Key()), Value: value}
	}
	return log
}
