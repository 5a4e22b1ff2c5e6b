package load_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store"
)

// BenchmarkLoad loads 200,000 records of about 600 bytes into a broker in the same process.
func BenchmarkLoad(b *testing.B) {
	const lines = 200_000
	path := filepath.Join(b.TempDir(), "records.ndjson")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range lines {
		fmt.Fprintf(w, `{"topic":"ledger.records","key":"demo/R%d",`+
			`"value":{"id":"R%[1]d","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z",`+
			`"data":{"projectId":"P%[2]d","source":"invoice","direction":"in","stepKind":"payment",`+
			`"contractorId":"C%[3]d","counterpartyName":"Hochbau Meier & Söhne GmbH",`+
			`"invoiceNumber":"RE-2026-%[1]d","recognitionDate":"2026-02-11","dueDate":"2026-03-11",`+
			`"currency":"EUR","net":%[4]d,"tax":0,"gross":%[4]d,"allocations":[{"nodeId":"n%[5]d","net":%[4]d}],`+
			`"documents":[{"name":"RE-2026-%[1]d.pdf","kind":"original"}],`+
			`"intake":{"channel":"email","status":"completed","receivedAt":"2026-02-12T08:00:00Z"}}}}`+"\n",
			i, i%7, i%90, i*13+1, i%200)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	f.Close()
	c := topicstest.Cluster(b, 4)
	b.ResetTimer()
	b.SetBytes(info.Size())
	var sent load.Sent
	for range b.N {
		l := &load.Load{Entities: store.All(), Progress: silent{}}
		found, err := l.Check(context.Background(), []string{path})
		if err != nil {
			b.Fatal(err)
		}
		if sent, err = l.Send(context.Background(), c, found); err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(sent.Took.Seconds(), "s-sending")
}
