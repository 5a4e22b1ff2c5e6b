package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// UnpackedBytes bounds what a producer's batch, compressed, may come to: a topic's limit is one of compressed bytes, and a
	// megabyte of them can hold a gigabyte. It is twice the largest message. Nobody needs larger batches: each takes its memory at once.
	UnpackedBytes = 32 << 20
	// PackedTogether bounds how many messages are in such a batch, for each takes memory besides its bytes.
	PackedTogether = 200_000

	// RecordBytes is about what a message takes besides its bytes: the record, and what points to it.
	RecordBytes = 200
	headerBytes = 40 // that a header takes
)

// ErrLater says that a batch isn't unpacked yet, because what was unpacked before takes all the memory that there is for it. Nothing of
// it is lost: it is fetched again.
var ErrLater = errors.New("there is no memory to unpack a batch for now")

// Unpacking unpacks what a client fetches, and bounds what all of that takes together, however many batches of however many partitions
// come in one fetch: the client itself bounds each batch alone. It is full when that memory is used up; then batches wait, each to be
// fetched again. The last one before may take it beyond the bound, for nobody knows how large it is before it is unpacked.
type Unpacking struct {
	bounded kgo.Decompressor
	limit   int64
	held    atomic.Int64
	one     sync.Mutex // so that one batch alone goes beyond the bound
	keep    func(unpacked []byte, bytes int64)
}

// NewUnpacking makes a client's unpacking with so many bytes for all. keep is told of each batch what it takes, besides its records, whose
// memory the client asks the pools for; what it holds is its own to count. The pools are those of the client.
func NewUnpacking(limit int64, keep func(unpacked []byte, bytes int64), pools ...kgo.Pool) (*Unpacking, error) {
	// A bounded decompressor is only to be had from a client, which never connects.
	lender, err := kgo.NewClient(kgo.MaxDecompressBatchBytes(UnpackedBytes), kgo.WithPools(pools...))
	if err != nil {
		return nil, fmt.Errorf("prepare to unpack what is fetched: %w", err)
	}
	defer lender.Close()
	bounded, ok := lender.OptValue(kgo.WithDecompressor).(kgo.Decompressor)
	if !ok {
		return nil, errors.New("prepare to unpack what is fetched: the client has no decompressor")
	}
	return &Unpacking{bounded: bounded, limit: limit, keep: keep}, nil
}

// Hold counts memory that is taken, or given back if it is less than nothing, and returns how much is left.
func (u *Unpacking) Hold(bytes int64) (left int64) { return u.limit - u.held.Add(bytes) }

// Left is how many bytes there are still; none, or less, when it is full.
func (u *Unpacking) Left() int64 { return u.Hold(0) }

// Held is how many bytes are counted.
func (u *Unpacking) Held() int64 { return u.held.Load() }

// Decompress implements kgo.Decompressor.
func (u *Unpacking) Decompress(packed []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	if codec == kgo.CodecNone {
		return packed, nil
	}
	u.one.Lock()
	defer u.one.Unlock()
	if u.Left() <= 0 {
		return nil, ErrLater
	}
	unpacked, err := u.bounded.Decompress(packed, codec)
	if err != nil {
		return nil, err
	}
	records, headers := countRecords(unpacked)
	bytes := int64(cap(unpacked)) + headerBytes*int64(headers)
	if records > PackedTogether || headerBytes*headers > UnpackedBytes {
		return nil, kgo.ErrMaxDecompress
	}
	u.keep(unpacked, bytes)
	return unpacked, nil
}

// countRecords counts the records of an unpacked batch and their headers, as far as they can be read.
func countRecords(batch []byte) (records, headers int) {
	for len(batch) > 0 {
		length, n := binary.Varint(batch)
		if n <= 0 || length <= 0 || length > int64(len(batch)-n) {
			break
		}
		record := batch[n : n+int(length)]
		batch = batch[n+int(length):]
		records++
		headers += countHeaders(record)
	}
	return records, headers
}

// countHeaders reads past what stands before the number of a record's headers, which is as large as their bytes allow at most.
func countHeaders(record []byte) int {
	number := func() int64 {
		v, n := binary.Varint(record)
		if n <= 0 {
			record = nil
			return 0
		}
		record = record[n:]
		return v
	}
	record = record[1:] // attributes
	number()            // when
	number()            // its place in the batch
	for range 2 {       // key and value
		if length := number(); length > int64(len(record)) {
			return 0
		} else if length > 0 {
			record = record[length:]
		}
	}
	return int(max(0, min(number(), int64(len(record)))))
}

// readerMemory is the bound of a client that hands over whatever it has read: what takes it keeps what it wants.
type readerMemory struct{ unpacking *Unpacking }

const readerBytes = 64 << 20

// Bounded are the options of a client that hands over what it reads, by Poll, and whose failures go through PassUnread: they bound what
// all batches that it has fetched unpack to.
func Bounded() ([]kgo.Opt, error) {
	m := &readerMemory{}
	var err error
	m.unpacking, err = NewUnpacking(readerBytes, func(_ []byte, bytes int64) { m.unpacking.Hold(bytes) })
	if err != nil {
		return nil, err
	}
	return []kgo.Opt{kgo.MaxDecompressBatchBytes(UnpackedBytes), kgo.WithDecompressor(m.unpacking), kgo.WithPools(m)}, nil
}

// GetRecords gives memory for n records.
func (m *readerMemory) GetRecords(n int) []kgo.Record {
	m.unpacking.Hold(RecordBytes * int64(n))
	return make([]kgo.Record, n)
}

// PutRecords is for those who recycle records, which nobody does here.
func (m *readerMemory) PutRecords([]kgo.Record) {}

// Poll is the client's PollRecords for a Bounded client: what was handed over before is no longer counted.
func Poll(ctx context.Context, client *kgo.Client, most int) kgo.Fetches {
	u, ok := client.OptValue(kgo.WithDecompressor).(*Unpacking)
	if ok && u.Left() <= 0 && client.BufferedFetchRecords() == 0 {
		runtime.GC() // or the memory of one fetch would still be there with the next
		u.Hold(-u.Held())
	}
	return client.PollRecords(ctx, most)
}
