package worker

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// mergeMemory is what a merge may take. The tests' engine has 1.5 GB for all that it does, that of dev 4 GB.
const mergeMemory = 640 << 20

// Given a state table whose parts each carry the last deltas of 12 partitions, as many as a batch may have or fewer,
// when as many parts are merged as may be at once, then no merge takes more than its memory. TALLYHOUSE_DELTAS sets
// another number of deltas, to see what it would take.
func TestMergesThatCarryDeltasStayWithinTheirMemory(t *testing.T) {
	t.Parallel()
	const partitions, mostParts = 12, 15
	sizes := []int{maxDeltas * 2 / 3, maxDeltas}
	if n, err := strconv.Atoi(os.Getenv("TALLYHOUSE_DELTAS")); err == nil {
		sizes = []int{n}
	}
	engine := clickhousetest.Start(t)
	if err := engine.RestartWithPartLog(); err != nil {
		t.Fatal(err)
	}
	options := database.Options{Addr: engine.Addr(), Database: "merges", User: "default"}
	if err := database.Create(t.Context(), options, ""); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(options, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := &world{t: t, log: testLog(t), db: db}
	w.makeTables(func(s string) []string { return []string{s} })
	w.exec("DROP TABLE " + clickhouse.Trigger("records") + " SYNC") // the merges of sums carry no deltas
	for _, deltas := range sizes {
		w.exec("CREATE TABLE merged AS records")
		for p := range int32(partitions) {
			insertPositionRow(t, w.db, "merged", p, deltas)
		}
		w.exec("OPTIMIZE TABLE merged FINAL") // so granules are those of a merged part
		w.exec("TRUNCATE TABLE records")
		w.exec("SYSTEM STOP MERGES records")
		for range mostParts {
			w.exec("ALTER TABLE records ATTACH PARTITION ID 'all' FROM merged")
		}
		w.exec("DROP TABLE merged SYNC")
		w.exec("SYSTEM START MERGES records")
		w.exec("OPTIMIZE TABLE records FINAL")
		w.exec("SYSTEM FLUSH LOGS")
		var parts, peak uint64
		const largest = `SELECT max(length(merged_from)), max(peak_memory_usage) FROM system.part_log
			WHERE database = currentDatabase() AND event_type = 'MergeParts'`
		if err := w.db.Row(t.Context(), database.Query{SQL: largest}, &parts, &peak); err != nil {
			t.Fatal(err)
		}
		t.Logf("with %d deltas a merge of up to %d parts took at most %d MB", deltas, parts, peak>>20)
		if parts < mostParts-1 { // the engine leaves one for a second merge
			t.Errorf("no merge had more than %d parts", parts)
		}
		if peak > mergeMemory {
			t.Errorf("a merge took %d MB, want at most %d", peak>>20, int64(mergeMemory)>>20)
		}
	}
}

// insertPositionRow inserts a batch of one row for each ten deltas, as sums with long keys have them.
func insertPositionRow(t *testing.T, db *database.Server, table string, partition int32, deltas int) {
	t.Helper()
	e := store.Of(events.Records)
	block := e.NewBlock()
	for i := range deltas / 10 {
		block.Append(&store.Row{
			Tenant: "tenant-0001", Project: "project-0001", ID: fmt.Sprintf("record-%d-%08d", partition, i), Version: 1, At: time.Now(),
			Data: &events.Record{ProjectID: "project-0001", StepKind: "approval"},
		})
	}
	block.AppendPosition(partition, uint64(deltas), -1, time.Now())
	for i := range deltas - 1 {
		keys := [][]byte{
			fmt.Appendf(nil, "contract-%05d", i%1000), fmt.Appendf(nil, "node-%06d", i), []byte("EUR"), fmt.Appendf(nil, "record-%d-%08d", partition, i),
		}
		block.AddDelta(clickhouse.RollLinks, []byte("tenant-0001"), []byte("project-0001"), keys, []int64{1})
	}
	block.Sort()
	into := *e
	into.Table = table
	written, err := db.Insert(t.Context(), database.Statement{
		SQL: into.Insert("1"), Batch: block.Batch(), Limit: 4 * time.Minute,
		Params: database.Params{"partition": number(uint64(partition)), "first": "0"},
	})
	if err != nil || written == 0 {
		t.Fatal(written, err)
	}
}
