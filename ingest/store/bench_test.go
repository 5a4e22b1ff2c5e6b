package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
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

// BenchmarkInsertRecords inserts batches of 50,000 records, new ones and changed ones in turn, with some of the views.
func BenchmarkInsertRecords(b *testing.B) {
	const rows = 50_000
	for _, without := range [][]string{
		{}, {"record_contractors"}, {"record_lines"}, {"record_lines", "record_contractors"}, {"record_lines", "record_contractors", "record_sums", "record_months"},
	} {
		b.Run(fmt.Sprintf("without %v", without), func(b *testing.B) {
			db := migrated(b)
			for _, name := range without {
				v, _ := clickhouse.ViewNamed(name)
				if err := db.Exec(b.Context(), database.Statement{SQL: "DROP TABLE " + v.Trigger() + " SYNC"}); err != nil {
					b.Fatal(err)
				}
			}
			e := store.Of(events.Records)
			random := rand.New(rand.NewPCG(1, 2))
			position, before := uint64(0), make([]analytics.Contributions, rows)
			began := engineTime(b, db)
			for b.Loop() {
				b.StopTimer()
				changed := len(before[0].Sums) > 0
				records, after := make([]*events.Record, rows), make([]analytics.Contributions, rows)
				for i := range records {
					records[i] = someRecord(random)
					var err error
					if after[i], err = e.Contributions("", records[i]); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				block := e.NewBlock()
				for i, r := range records {
					row := store.Row{
						Tenant: "t", Project: r.ProjectID, ID: fmt.Sprintf("record-%d-%d", position/(2*rows), i), RowVersion: position, At: time.Now(), Data: r,
						SrcOffset: position, After: after[i], Before: before[i],
					}
					block.Append(row)
				}
				block.Append(store.PositionRow(0, position, position+rows, time.Now()))
				if _, err := db.Insert(context.Background(), database.Statement{
					SQL: e.Insert("1"), Batch: block.Batch(), Params: database.Params{"partition": "0", "first": fmt.Sprint(position)}, Limit: time.Minute,
				}); err != nil {
					b.Fatal(err)
				}
				position += rows
				if before = after; changed {
					before = make([]analytics.Contributions, rows)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			// On a busy machine this says more: what the engine computes, merges included.
			b.ReportMetric(float64((engineTime(b, db)-began).Milliseconds())/float64(rows*b.N)*100_000, "engine-ms/100000-rows")
		})
	}
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
