package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// someRecord is a record of a large project: 2,000 nodes, 500 contracts, 300 contractors, five years.
func someRecord(r *rand.Rand) *events.Record {
	net := r.Int64N(5_000_000)
	contract := r.IntN(800)
	day := calendar.NewDate(2022+r.IntN(5), 1+r.IntN(12), 1+r.IntN(28))
	record := &events.Record{
		ProjectID: "P1", Source: "invoice", Direction: "out", StepKind: []string{"setup", "approval", "payment", "paid", "paid", "paid"}[r.IntN(6)],
		ContractorID: events.Some(fmt.Sprint("contractor-", contract%300)), InvoiceNumber: events.Some(fmt.Sprint("R-", r.Int32())),
		RecognitionDate: events.Some(day), CashDate: events.Some(day + 30), Currency: events.Some("EUR"),
		Net: events.Some(net), Tax: events.Some(net / 5), Gross: events.Some(net + net/5),
		Allocations: []events.RecordAllocation{{NodeID: events.Some(fmt.Sprint("node-", r.IntN(2000))), Net: events.Some(net)}},
		Intake:      events.Intake{Channel: "email"},
	}
	if contract < 500 {
		// A contract has some lines of its own.
		record.ContractID = events.Some(fmt.Sprint("contract-", contract))
		record.Allocations[0].NodeID = events.Some(fmt.Sprint("node-", contract*4+r.IntN(4)))
	}
	return record
}

// BenchmarkInsertRecords inserts batches of records, new ones and changed ones in turn, with the view and without it.
func BenchmarkInsertRecords(b *testing.B) {
	for _, rows := range []int{5_000, 50_000} {
		for _, view := range []string{"with", "without"} {
			b.Run(fmt.Sprintf("rows=%d/%s view", rows, view), func(b *testing.B) {
				db := databasetest.Migrated(b, 2)
				if view == "without" {
					if err := db.Exec(b.Context(), database.Statement{SQL: "DROP TABLE " + clickhouse.Trigger("records") + " SYNC"}); err != nil {
						b.Fatal(err)
					}
				}
				insertRecords(b, db, rows)
			})
		}
	}
}

func insertRecords(b *testing.B, db *database.Server, rows int) {
	e, block := store.Of(events.Records), store.Of(events.Records).NewBlock()
	random := rand.New(rand.NewPCG(1, 2))
	position, batches, entries := uint64(0), 0, 0
	heads := make([]analytics.Contribution, rows)
	began := engineTime(b, db)
	for b.Loop() {
		b.StopTimer()
		records, deltas := make([]*events.Record, rows), ingesttest.Deltas{}
		for i := range records {
			records[i] = someRecord(random)
			id := fmt.Sprintf("record-%d-%d", batches/2, i)
			after, err := e.Contribution(nil, id, records[i])
			if err != nil {
				b.Fatal(err)
			}
			if batches%2 == 1 {
				deltas.Add("t", "P1", heads[i], -1)
			}
			deltas.Add("t", "P1", after, 1)
			heads[i] = after
		}
		b.StartTimer()
		block.Reset()
		for i, r := range records {
			block.Append(&store.Row{
				Tenant: "t", Project: r.ProjectID, ID: fmt.Sprintf("record-%d-%d", batches/2, i), Version: uint64(batches + 1), At: time.Now(), Data: r, SrcOffset: position,
			})
		}
		block.AppendPosition(0, position+uint64(rows), -1, time.Now())
		deltas.AddTo(block)
		block.Sort()
		entries += block.Deltas()
		if _, err := db.Insert(context.Background(), database.Statement{
			SQL: e.Insert("1"), Batch: block.Batch(), Params: database.Params{"partition": "0", "first": fmt.Sprint(position)}, Limit: time.Minute,
		}); err != nil {
			b.Fatal(err)
		}
		position += uint64(rows)
		batches++
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(entries)/float64(batches), "deltas/batch")
	// On a busy machine this says more: what the engine computes, merges included.
	b.ReportMetric(float64((engineTime(b, db)-began).Microseconds())/float64(rows*b.N), "engine-µs/row")
}

// engineTime is the processor time that the engine has taken so far.
func engineTime(b *testing.B, db *database.Server) time.Duration {
	var micros uint64
	const taken = "SELECT toUInt64(sum(value)) FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'"
	if err := db.Row(context.Background(), database.Query{SQL: taken}, &micros); err != nil {
		b.Fatal(err)
	}
	return time.Duration(micros) * time.Microsecond
}
