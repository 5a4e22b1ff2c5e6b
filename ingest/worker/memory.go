package worker

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkalog "tallyhouse/schemas/kafka"
)

// unpackedBytes bounds what all fetched batches together unpack to, with their records, until these have been taken in. The containers
// of docs/operations.md have 1 GiB for all.
const unpackedBytes = 128 << 20

// fetchMemory is what fetched batches are unpacked into. It comes back, cleared, when the last record of a batch is
// recycled; a record that isn't leaves its batch to the collector. A small batch gets none that is much larger than it
// needs: it would keep that for as long as one of its records waits.
//
// What is out is counted, so that it stays within a bound, and is out for as long as it takes memory: until it comes back, or the
// collector finds that nobody has it any more, as what the client fetched and dropped itself.
type fetchMemory struct {
	unpacking *kafkalog.Unpacking
	bytes     kept[byte]
	records   kept[kgo.Record]
	awaited   atomic.Bool // something waits for what comes back
	back      func()      // is told then

	mu  sync.Mutex
	out map[uintptr]*lent // by address, which keeps nothing from the collector
}

// lent is memory that is out.
type lent struct {
	address uintptr
	bytes   int64
	found   runtime.Cleanup
}

const (
	mostUnpacked = 16 // times as long as the compressed batch may the memory be
	mostRecords  = 4  // times as many records
	smallBatch   = 4 << 10
	fewRecords   = 16
)

func newFetchMemory(back func()) (*fetchMemory, error) {
	m := &fetchMemory{back: back, out: map[uintptr]*lent{}}
	var err error
	m.unpacking, err = kafkalog.NewUnpacking(unpackedBytes, m.unpacked, m)
	return m, err
}

// GetDecompressBytes gives memory to unpack a batch into. Where it is too short it is left for longer one.
func (m *fetchMemory) GetDecompressBytes(compressed []byte, _ kgo.CompressionCodecType) []byte {
	return m.bytes.take(mostUnpacked*len(compressed) + smallBatch)
}

// unpacked counts a batch.
func (m *fetchMemory) unpacked(b []byte, bytes int64) { lend(m, b, bytes) }

// PutDecompressBytes takes memory back.
func (m *fetchMemory) PutDecompressBytes(b []byte) {
	comeBack(m, b)
	m.bytes.put(b)
}

// GetRecords gives memory for n records.
func (m *fetchMemory) GetRecords(n int) []kgo.Record {
	r := m.records.take(mostRecords*n + fewRecords)
	if cap(r) < n {
		r = make([]kgo.Record, n)
	}
	lend(m, r, kafkalog.RecordBytes*int64(cap(r)))
	return r
}

// PutRecords takes memory back.
func (m *fetchMemory) PutRecords(r []kgo.Record) {
	comeBack(m, r)
	m.records.put(r)
}

// lend counts memory as being out.
func lend[E any](m *fetchMemory, s []E, bytes int64) {
	if cap(s) == 0 {
		return
	}
	first := unsafe.SliceData(s)
	l := &lent{address: uintptr(unsafe.Pointer(first)), bytes: bytes}
	l.found = runtime.AddCleanup(first, m.lost, l)
	m.mu.Lock()
	m.out[l.address] = l
	m.mu.Unlock()
	m.unpacking.Hold(bytes)
}

// comeBack counts memory as being back. Some was never lent: what a batch was to be unpacked into that nobody could unpack.
func comeBack[E any](m *fetchMemory, s []E) {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	m.mu.Lock()
	l := m.out[address]
	delete(m.out, address)
	m.mu.Unlock()
	if l != nil {
		l.found.Stop()
		m.free(l)
	}
	runtime.KeepAlive(s)
}

// lost counts memory as being back that the collector has found. Other memory may have its address by now.
func (m *fetchMemory) lost(l *lent) {
	m.mu.Lock()
	if m.out[l.address] == l {
		delete(m.out, l.address)
	}
	m.mu.Unlock()
	m.free(l)
}

func (m *fetchMemory) free(l *lent) {
	if left := m.unpacking.Hold(-l.bytes); left > 0 && m.awaited.Load() {
		m.back()
	}
}

// kept is memory that waits to be used again. What isn't for a while is freed.
type kept[E any] struct {
	mu    sync.Mutex
	all   [][]E // shortest first
	bytes int
	freed *time.Timer
}

const (
	mostKept  = 32
	keptBytes = 32 << 20 // of all
	keepFor   = 5 * time.Second
)

// put takes memory back; the shortest goes when there is too much. One that alone would be a good part of it isn't kept.
func (k *kept[E]) put(s []E) {
	bytes := k.sizeOf(s)
	if bytes > keptBytes/4 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at, _ := slices.BinarySearchFunc(k.all, cap(s), func(other []E, n int) int { return cmp.Compare(cap(other), n) })
	k.all = slices.Insert(k.all, at, s)
	k.bytes += bytes
	for len(k.all) > mostKept || k.bytes > keptBytes {
		k.bytes -= k.sizeOf(k.all[0])
		k.all = slices.Delete(k.all, 0, 1)
	}
	if k.freed == nil {
		k.freed = time.AfterFunc(keepFor, k.free)
	} else {
		k.freed.Reset(keepFor)
	}
}

func (*kept[E]) sizeOf(s []E) int {
	var element E
	return cap(s) * int(unsafe.Sizeof(element))
}

// take gives the longest memory that has at most so many elements, nil if there is none.
func (k *kept[E]) take(most int) []E {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, _ := slices.BinarySearchFunc(k.all, most+1, func(other []E, n int) int { return cmp.Compare(cap(other), n) })
	if at == 0 {
		return nil
	}
	s := k.all[at-1]
	k.all = slices.Delete(k.all, at-1, at)
	k.bytes -= k.sizeOf(s)
	return s
}

func (k *kept[E]) free() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all, k.bytes = nil, 0
}
