package events

import (
	"bytes"
	"encoding/json"
	"testing"
)

func benchmarkInvoice(b *testing.B) (value []byte, e Event) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(invoice)); err != nil {
		b.Fatal(err)
	}
	e, err := Decode(Records, []byte("demo/R1"), compact.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	return compact.Bytes(), e
}

func BenchmarkDecodeRecord(b *testing.B) {
	value, _ := benchmarkInvoice(b)
	key := []byte("demo/R1")
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(Records, key, value); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendRecord(b *testing.B) {
	_, e := benchmarkInvoice(b)
	buf := make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Append(buf, Records, e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkContentHash(b *testing.B) {
	_, e := benchmarkInvoice(b)
	b.ReportAllocs()
	for b.Loop() {
		if e.ContentHash() == 0 {
			b.Fatal("no hash")
		}
	}
}
