package worker

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// BenchmarkBatch splits what a change of a record costs the worker, in a batch of 10,000: half of them are new, half
// are paid now, in 300 projects among 100,000 known records. Reading is to decode a message with its content hash;
// applying also looks up the head, sums, and lays out in columns; finishing spells the sums and puts rows in order;
// sending encodes the columns; last the heads take the batch in. An operation is a whole batch; told is the least CPU time
// that one took.
func BenchmarkBatch(b *testing.B) {
	const rows, known = 10_000, 100_000
	e := store.Of(events.Records)
	tp := kafkalog.Partition{Topic: string(events.Records), Number: 0}
	heads, err := newHeads(latest.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer heads.close()
	a, err := newAssembler(e, tp)
	if err != nil {
		b.Fatal(err)
	}
	a.partitions, a.heads, a.rows = 1, heads, 2*rows
	bt, err := newBatch(e)
	if err != nil {
		b.Fatal(err)
	}
	w := &writer{state: newState(tp, noObserver), coordinator: &coordinator{permits: make(chan *batch, 1)}, batch: bt, permit: true}
	cut := func(b *testing.B, log []*kgo.Record) {
		bt.reset(0)
		if _, err := w.apply(b.Context(), a, bt, nil, log); err != nil || bt.records != len(log) {
			b.Fatal("the batch is full", err)
		}
	}
	for first := 0; first < known; first += rows {
		cut(b, benchLog(first, rows, 1))
		if err := bt.updateHeads(heads, "life"); err != nil {
			b.Fatal(err)
		}
	}
	log := append(benchLog(known/3, rows/2, 2), benchLog(known, rows/2, 1)...)
	for i, r := range log {
		r.Offset = int64(i)
	}
	cut(b, log)
	a.finish(bt) // everything has grown
	run := func(name string, prepare, operation func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			least := time.Hour // on a busy machine the rest says more of the others than of this
			for b.Loop() {
				prepare(b)
				began := processTime()
				operation(b)
				least = min(least, processTime()-began)
			}
			b.ReportMetric(float64(least.Nanoseconds())/rows, "CPU-ns/change")
		})
	}
	none := func(*testing.B) {}
	run("read", none, func(b *testing.B) {
		for _, r := range log {
			if _, _, err := a.reader.Read(r.Key, r.Value); err != nil {
				b.Fatal(err)
			}
		}
	})
	run("apply", none, func(b *testing.B) { cut(b, log) })
	run("finish", func(b *testing.B) { cut(b, log) }, func(*testing.B) { a.finish(bt) })
	run("send", none, func(b *testing.B) {
		for _, c := range bt.block.Batch() {
			out := proto.NewWriter(io.Discard, new(proto.Buffer))
			c.Data.WriteColumn(out)
			if _, err := out.Flush(); err != nil {
				b.Fatal(err)
			}
		}
	})
	run("update heads", none, func(b *testing.B) {
		if err := bt.updateHeads(heads, "life"); err != nil {
			b.Fatal(err)
		}
	})
	b.Logf("%d rows, %d deltas, %d bytes of messages", bt.block.Rows(), bt.block.Deltas(), bt.bytes)
}

// benchLog are records as they are in Kafka, from a number on: they come in as version 1 and are paid as version 2.
func benchLog(first, n int, version int64) []*kgo.Record {
	log := make([]*kgo.Record, n)
	for i := range log {
		random := rand.New(rand.NewPCG(uint64(first+i), 0)) // draws the same for both versions
		u := random.Float64()
		project := int(300 * u * u * u) // some are large
		net := 10_000 + random.Int64N(1_000_000)
		day := calendar.NewDate(2022, 1, 1) + calendar.Date((first+i)/100)
		r := &events.Record{
			ProjectID: fmt.Sprintf("project-%03d", project), Source: "invoice", Direction: "out",
			StepKind: "approval", WorkflowStep: events.Some("Site manager"),
			ContractorID:    events.Some(fmt.Sprintf("contractor-%04d", random.IntN(2000))),
			InvoiceNumber:   events.Some(fmt.Sprint("RE-", first+i)),
			RecognitionDate: events.Some(day), DueDate: events.Some(day + 30), Currency: events.Some("EUR"),
			Net: events.Some(net), Tax: events.Some(net / 5), Gross: events.Some(net + net/5),
			Allocations: []events.RecordAllocation{{NodeID: events.Some(fmt.Sprintf("node-%04d", random.IntN(200))), Net: events.Some(net)}},
			Documents:   []events.Document{{Name: fmt.Sprint("RE-", first+i, ".pdf"), Kind: "original"}},
			Intake:      events.Intake{Channel: "email", Status: events.Some("completed"), ReceivedAt: events.Some(day.Time())},
		}
		if random.IntN(5) == 0 {
			r.Allocations[0].Net = events.Some(net / 3)
			second := events.RecordAllocation{NodeID: events.Some(fmt.Sprintf("node-%04d", random.IntN(200))), Net: events.Some(net - net/3)}
			r.Allocations = append(r.Allocations, second)
		}
		if random.IntN(3) == 0 {
			r.ContractID = events.Some(fmt.Sprintf("contract-%03d-%02d", project, random.IntN(20)))
		}
		if version > 1 {
			r.StepKind, r.WorkflowStep, r.CashDate = "paid", events.Some("Paid"), events.Some(day+25)
		}
		e := events.Event{Data: r, Envelope: events.Envelope{
			ID: fmt.Sprintf("%016x", random.Uint64()), TenantID: "bench", Version: version, Op: events.Upsert, At: day.Time(),
		}}
		value, err := events.Append(nil, events.Records, e)
		if err != nil {
			panic(err)
		}
		log[i] = &kgo.Record{Topic: string(events.Records), Key: []byte(e.Key()), Value: value, Offset: int64(i)}
	}
	return log
}
