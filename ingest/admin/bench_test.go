package admin_test

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// BenchmarkRebuildOfALargeProject rebuilds the sums of one project of a million records, each on two lines of a
// contract: that is one slice. The first time nothing of its three million sums is there, the other times nothing is
// wrong.
func BenchmarkRebuildOfALargeProject(b *testing.B) {
	const records = 1_000_000
	l := ingesttest.New(b, events.Records, 1)
	l.Exec("DETACH TABLE records_sums")
	const step = 100_000 // rows of one insert: the engine is small
	for from := 0; from < records; from += step {
		l.Exec(`INSERT INTO records (tenant, project, id, row_version, source, direction, status, contractor_id, recognition_date,
			cash_date, currency, net, tax, allocation_node, allocation_net, contract_id, channel, batch_first, src_offset)
		SELECT 'T', 'P', concat('record-00000000-0000-', leftPad(toString(number), 12, '0')), 1, 'invoice', 'in', 'paid',
			concat('contractor-', toString(number %% 500)), toDate32('2024-01-01') + number %% 600, toDate32('2024-02-01') + number %% 600,
			'EUR', 300, 60,
			arrayMap(n -> concat('node-00000000-0000-0000-', toString(n)), [number %% 200, 200 + number %% 300]), [100, 200],
			concat('contract-00000000-0000-', toString(number %% 1000)), 'api', 0, number
		FROM numbers(%d, %d)`, from, step)
	}
	l.Exec("ATTACH TABLE records_sums")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(400 << 20)) // as the command does
	for first := true; b.Loop(); first = false {
		debug.FreeOSMemory()
		stop := watchHeap()
		all, err := admin.Rebuild(b.Context(), l.DB, []*store.Entity{l.Entity}, options())
		most := stop()
		if err != nil {
			b.Fatal(err)
		}
		if first != (all[0].Corrected > 2*records) {
			b.Fatalf("%+v", all)
		}
		name := "peak-MB"
		if first {
			name = "first-peak-MB"
		}
		b.ReportMetric(float64(most)/(1<<20), name)
	}
}

// watchHeap watches how much memory the process holds, until it is stopped.
func watchHeap() (stop func() uint64) {
	var most uint64
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() uint64 { close(done); watching.Wait(); return most }
}
