package worker

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// someHeads are records in SQL: those of a large project.
const someHeads = `
INSERT INTO records (tenant, project, id, row_version, at, source, direction, status, contractor_id, recognition_date, currency,
    net, tax, gross, allocation_node, allocation_net, contract_id, channel, src_offset, key_hash, content_hash)
SELECT 'bench', 'P1', concat('record-', toString(number)), 1, now(), 'invoice', 'out', 'approvalPending',
    concat('contractor-', toString(number % 300)), toDate32('2022-01-01') + number % 1500, 'EUR', 1000, 200, 1200,
    [concat('node-', toString(number % 2000))], [1000], concat('contract-', toString(number % 500)), 'email',
    number, cityHash64(number), cityHash64(number, 1)
FROM numbers({from:UInt64}, {heads:UInt64})
SETTINGS max_insert_threads = 1, max_threads = 2`

const somePosition = `
INSERT INTO records (tenant, project, id, row_version, delta)
SELECT '', '#0', '', {heads:UInt64}, [('', '#records/0', '', 0, 0, 0, 0)]`

// BenchmarkLoadHeads loads the heads of one partition from the engine, as at an assignment: 1,000,000 unless
// TALLYHOUSE_BENCH_HEADS says otherwise.
func BenchmarkLoadHeads(b *testing.B) {
	heads := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("TALLYHOUSE_BENCH_HEADS")); err == nil {
		heads = n
	}
	w := newWorld(b)
	exec := func(sql string, params database.Params) {
		if err := w.db.Exec(b.Context(), database.Statement{SQL: sql, Params: params, Limit: 10 * time.Minute}); err != nil {
			b.Fatal(err)
		}
	}
	const atOnce = 500_000 // what the engine of tests has memory for
	for from := 0; from < heads; from += atOnce {
		exec(someHeads, database.Params{"from": number(uint64(from)), "heads": number(uint64(min(atOnce, heads-from)))})
	}
	exec(somePosition, database.Params{"heads": number(uint64(heads))})
	e := store.Of(events.Records)
	tp := kafkalog.Partition{Topic: string(e.Topic), Number: 0}
	known, err := newHeads(latest.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer known.close()
	c := newCoordinator(coordinator{entity: e, db: w.db, log: w.log, metrics: newMetrics(prometheus.NewRegistry()), observe: noObserver})
	b.Run(fmt.Sprint("heads=", heads), func(b *testing.B) {
		before := processTime()
		for b.Loop() {
			known.forget()
			r := &recovery{
				coordinator: c, db: w.db, stream: position.Stream{Life: "life", Partitions: 1},
				members: map[int32]request{0: {w: &writer{tp: tp, heads: known, state: newState(tp, noObserver)}, answer: make(chan answer, 1)}},
				found:   map[int32]*assignment{0: {position: uint64(heads)}},
			}
			if err := r.loadHeads(b.Context()); err != nil {
				b.Fatal(err)
			}
			if known.table.Len() != heads || known.life != "life" {
				b.Fatalf("%d heads of life %q", known.table.Len(), known.life)
			}
		}
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/load")
		b.ReportMetric((processTime()-before).Seconds()/float64(b.N), "worker-CPU-s/load")
	})
}

// processTime is the processor time that this process has taken.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
