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

// plainInvoice is a record as most are: about 500 bytes, one allocation, nothing escaped.
const plainInvoice = `{"id":"R000017","tenantId":"demo","version":3,"op":"upsert","at":"2026-03-01T10:15:00Z","data":` +
	`{"projectId":"P1","source":"invoice","direction":"out","stepKind":"payment","workflowStep":"Payment",` +
	`"contractorId":"C0042","counterpartyName":"Bau GmbH","invoiceNumber":"2026/0017",` +
	`"recognitionDate":"2026-02-01","dueDate":"2026-03-03","currency":"EUR","net":1000000,"tax":200000,"gross":1200000,` +
	`"allocations":[{"nodeId":"N0123","net":1000000}],"documents":[{"name":"invoice.pdf","kind":"original"}],` +
	`"intake":{"channel":"email","status":"completed"}}}`

func BenchmarkDecodePlainRecord(b *testing.B) {
	key, value := []byte("demo/R000017"), []byte(plainInvoice)
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(Records, key, value); err != nil {
			b.Fatal(err)
		}
	}
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

func BenchmarkAppendPlainRecord(b *testing.B) {
	e, err := Decode(Records, []byte("demo/R000017"), []byte(plainInvoice))
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Append(buf, Records, e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkContentHashOfPlainRecord(b *testing.B) {
	e, err := Decode(Records, []byte("demo/R000017"), []byte(plainInvoice))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if e.ContentHash() == 0 {
			b.Fatal("no hash")
		}
	}
}

// BenchmarkReadPlainRecord is the worker's way of decoding, content hash included.
func BenchmarkReadPlainRecord(b *testing.B) {
	key, value := []byte("demo/R000017"), []byte(plainInvoice)
	r, err := NewReader(Records)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Read(key, value); err != nil {
			b.Fatal(err)
		}
	}
}
