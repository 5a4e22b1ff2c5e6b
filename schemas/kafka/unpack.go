package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
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

	// zstdWindow is the widest window that zstd's highest level, 22, asks for. Nothing is as large: what refers back refers into what was
	// unpacked already.
	zstdWindow = 128 << 20
)

// ErrLater says that a batch isn't unpacked yet, because what was unpacked before takes all the memory that there is for it. Nothing of
// it is lost: it is fetched again.
var ErrLater = errors.New("there is no memory to unpack a batch for now")

// Unpacking unpacks what a client fetches, and bounds what all of that takes together, however many batches of however many partitions
// come in one fetch: the client itself bounds each batch alone. It is full when that memory is used up; then batches wait, each to be
// fetched again. The last one before may take it beyond the bound, for nobody knows how large it is before it is unpacked.
type Unpacking struct {
	bounded kgo.Decompressor
	wide    *zstd.Decoder
	limit   int64
	held    atomic.Int64
	one     sync.Mutex // so that one batch alone goes beyond the bound
	keep    func(unpacked []byte, bytes int64)

	mu     sync.Mutex
	failed map[int]error       // why a batch of so many bytes isn't unpacked, until it is known whose it is
	causes map[Partition]error // why the last one of a partition that wasn't was not
}

var _ interface {
	kgo.Decompressor
	kgo.HookFetchBatchRead
} = (*Unpacking)(nil)

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
	wide, err := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderMaxMemory(zstdWindow), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, fmt.Errorf("prepare to unpack what is fetched: %w", err)
	}
	return &Unpacking{
		bounded: bounded, wide: wide, limit: limit, keep: keep, failed: map[int]error{}, causes: map[Partition]error{},
	}, nil
}

// Options have a client unpack by this.
func (u *Unpacking) Options() []kgo.Opt {
	return []kgo.Opt{kgo.MaxDecompressBatchBytes(UnpackedBytes), kgo.WithDecompressor(u), kgo.WithHooks(u)}
}

// Hold counts memory that is taken, or given back if it is less than nothing, and returns how much is left.
func (u *Unpacking) Hold(bytes int64) (left int64) { return u.limit - u.held.Add(bytes) }

// Left is how many bytes there are still; none, or less, when it is full.
func (u *Unpacking) Left() int64 { return u.Hold(0) }

// Held is how many bytes are counted.
func (u *Unpacking) Held() int64 { return u.held.Load() }

// Decompress implements kgo.Decompressor. It fails by ErrLater, or by an error that is kgo.ErrMaxDecompress, too, whatever is the matter
// with the batch: of that the client says where the batch is, so that it can be passed.
func (u *Unpacking) Decompress(packed []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	if codec == kgo.CodecNone {
		return packed, nil
	}
	u.one.Lock()
	defer u.one.Unlock()
	if u.Left() <= 0 {
		return nil, ErrLater
	}
	unpacked, err := u.unpack(packed, codec)
	if err == nil {
		return unpacked, nil
	}
	if errors.Is(err, zstd.ErrDecoderClosed) { // the only failure that isn't the batch's
		return nil, err
	}
	u.mu.Lock()
	if len(u.failed) == mostFailed { // of message sets, as Kafka had them before batches, the client tells another length
		clear(u.failed)
	}
	u.failed[len(packed)] = err
	u.mu.Unlock()
	return nil, fmt.Errorf("%w: %w", kgo.ErrMaxDecompress, err)
}

// mostFailed is more than brokers that are read from at a time.
const mostFailed = 1000

// unpack fails by what is the matter with the batch alone: it always is with the same bytes.
func (u *Unpacking) unpack(packed []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	unpacked, err := u.bounded.Decompress(packed, codec)
	if codec == kgo.CodecZstd && errors.Is(err, zstd.ErrWindowSizeExceeded) {
		unpacked, err = u.unpackWide(packed)
	}
	if errors.Is(err, kgo.ErrMaxDecompress) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, errTooMuch
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", codecName(codec), err)
	}
	records, headers := countRecords(unpacked)
	if records > PackedTogether || headerBytes*headers > UnpackedBytes {
		return nil, errTooMuch
	}
	u.keep(unpacked, int64(cap(unpacked))+headerBytes*int64(headers))
	return unpacked, nil
}

// errTooMuch says what is the matter with a batch that is too large.
var errTooMuch = fmt.Errorf("they unpack to more than %d bytes, or are more than %d", UnpackedBytes, PackedTogether)

// unpackWide unpacks what declares a window that is wider than all that it may unpack to, as Java's zstd does of levels 21 and 22. Such
// a decoder bounds what it unpacks to by the room that it is given.
func (u *Unpacking) unpackWide(packed []byte) ([]byte, error) {
	unpacked, err := u.wide.DecodeAll(packed, make([]byte, 0, UnpackedBytes))
	if err != nil {
		return nil, err
	}
	return bytes.Clone(unpacked), nil // most are small
}

func codecName(codec kgo.CompressionCodecType) string {
	names := []string{"uncompressed", "gzip", "snappy", "lz4", "zstd"}
	if int(codec) < len(names) {
		return names[codec]
	}
	return fmt.Sprint("codec ", codec)
}

// OnFetchBatchRead implements kgo.HookFetchBatchRead: the client calls it behind Decompress, in the same goroutine, and only here says of
// which partition the batch is.
func (u *Unpacking) OnFetchBatchRead(_ kgo.BrokerMetadata, topic string, partition int32, m kgo.FetchBatchMetrics) {
	if m.NumRecords > 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if why, ok := u.failed[m.CompressedBytes]; ok {
		delete(u.failed, m.CompressedBytes)
		u.causes[Partition{topic, partition}] = why
	}
}

// UnreadError says which messages of a partition nobody can unpack, and why.
type UnreadError struct {
	Offset, Next int64 // from Offset up to, but without, Next
	Cause        error
}

// Error implements error.
func (e *UnreadError) Error() string {
	return fmt.Sprintf("the messages at offsets %d to %d are compressed together and can't be unpacked: %v", e.Offset, e.Next-1, e.Cause)
}

// Unwrap gives the cause.
func (e *UnreadError) Unwrap() error { return e.Cause }

// Explain makes an UnreadError of what the client says of messages of a partition that nobody can unpack, and leaves other errors as they
// are, ErrLater among them: these may pass by themselves.
func (u *Unpacking) Explain(of Partition, failed error) error {
	unread, ok := errors.AsType[*kgo.ErrDecompressTooLarge](failed)
	if !ok {
		return failed
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	cause := u.causes[of]
	delete(u.causes, of)
	if cause == nil {
		cause = unread
	}
	return &UnreadError{Offset: unread.Offset, Next: unread.NextOffset, Cause: cause}
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
	return append(m.unpacking.Options(), kgo.WithPools(m)), nil
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
