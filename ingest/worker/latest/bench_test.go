package latest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// benchHeads is how many heads the benchmarks have: a million, or LATEST_HEADS.
func benchHeads(b *testing.B) int {
	s := os.Getenv("LATEST_HEADS")
	if s == "" {
		return 1_000_000
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		b.Fatalf("LATEST_HEADS=%q is no number of heads", s)
	}
	return n
}

// drawn is the key of an entity, as evenly spread as a hasher's.
func drawn(i int) Key {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	return Key{mix(uint64(i) * 0x9e3779b97f4a7c15), mix(uint64(i)*0x9e3779b97f4a7c15 + 1)}
}

// scattered is an order in which neighbours don't follow each other.
func scattered(i, n int) int { return i * 7919 % n }

func fillTable(b *testing.B, table *Table, heads int, contribution []byte) {
	for i := range heads {
		if err := table.Put(drawn(i), Head{Version: int64(i), ContentHash: uint64(i), Project: 1, Contribution: contribution}); err != nil {
			b.Fatal(err)
		}
	}
}

// clock tells what a head costs: the processor's time over all, and the median and the longest of the wall-clock times
// of runs of a thousand. On a busy machine the mean by the wall clock means nothing.
type clock struct {
	cpu   time.Duration
	start time.Time
	runs  []time.Duration
}

const run = 1000 // heads

func newClock() *clock  { return &clock{cpu: cpuTime()} }
func (c *clock) begin() { c.start = time.Now() }
func (c *clock) end()   { c.runs = append(c.runs, time.Since(c.start)) }

func (c *clock) report(b *testing.B) {
	heads := float64(run * len(c.runs))
	slices.Sort(c.runs)
	b.ReportMetric(float64((cpuTime()-c.cpu).Nanoseconds())/heads, "cpu-ns/head")
	b.ReportMetric(float64(c.runs[len(c.runs)/2].Nanoseconds())/run, "median-ns/head")
	b.ReportMetric(float64(c.runs[len(c.runs)-1].Microseconds()), "longest-µs/run")
}

// BenchmarkPutNew fills a table, from an empty file on.
func BenchmarkPutNew(b *testing.B) {
	for _, prefetched := range []bool{false, true} {
		b.Run(fmt.Sprint("prefetched=", prefetched), func(b *testing.B) { benchPutNew(b, prefetched) })
	}
}

func benchPutNew(b *testing.B, prefetched bool) {
	heads, contribution := benchHeads(b), make([]byte, 20) // a record's
	b.ReportAllocs()
	var used, taken, heap int64
	keys, c := make([]Key, run), newClock()
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		table, err := New(Options{})
		if err != nil {
			b.Fatal(err)
		}
		for first := 0; first < heads; first += run {
			c.begin()
			for i := range keys {
				keys[i] = drawn(first + i)
			}
			if prefetched {
				table.Prefetch(keys)
			}
			for i, k := range keys {
				if err := table.Put(k, Head{Version: int64(i), ContentHash: uint64(i), Project: 1, Contribution: contribution}); err != nil {
					b.Fatal(err)
				}
			}
			c.end()
		}
		used, taken = table.Bytes()
		runtime.GC()
		runtime.ReadMemStats(&after)
		heap = int64(after.HeapAlloc) - int64(before.HeapAlloc)
		if err := table.Close(); err != nil {
			b.Fatal(err)
		}
	}
	c.report(b)
	b.ReportMetric(float64(used)/float64(heads), "used-B/head")
	b.ReportMetric(float64(taken)/float64(heads), "taken-B/head")
	b.ReportMetric(float64(heap)/1024, "heap-KiB")
}

// BenchmarkTable asks for heads and replaces them, a thousand at a time, in no order.
func BenchmarkTable(b *testing.B) {
	heads, contribution := benchHeads(b), make([]byte, 20) // a record's
	table := newTable(b, Options{})
	fillTable(b, table, heads, contribution)
	keys := make([]Key, run)
	next := 0
	draw := func(from int) {
		for i := range keys {
			keys[i] = drawn(from + scattered(next, heads))
			next++
		}
	}
	get := func(b *testing.B, want bool) {
		var sum int64
		for i := range keys {
			h, ok := table.Get(keys[i])
			if ok != want {
				b.Fatal("found:", ok)
			}
			if ok {
				sum += h.Version + int64(h.Contribution[15])
			}
		}
		table.sink += uint64(sum)
	}
	for _, prefetched := range []bool{false, true} {
		measure := func(name string, from int, work func(*testing.B)) {
			b.Run(fmt.Sprintf("%s/prefetched=%v", name, prefetched), func(b *testing.B) {
				b.ReportAllocs()
				c := newClock()
				for b.Loop() {
					draw(from)
					c.begin()
					if prefetched {
						table.Prefetch(keys)
					}
					work(b)
					c.end()
				}
				c.report(b)
			})
		}
		measure("hit", 0, func(b *testing.B) { get(b, true) })
		measure("miss", heads, func(b *testing.B) { get(b, false) })
		measure("replace", 0, func(b *testing.B) {
			for i := range keys {
				if err := table.Put(keys[i], Head{Version: int64(i), Contribution: contribution[:16+i%5]}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	hasher, tenant, id := NewHasher(), []byte("tenant-1"), []byte("record-00001234")
	b.ReportAllocs()
	for b.Loop() {
		hasher.Key(tenant, id)
	}
}

func BenchmarkTexts(b *testing.B) {
	for _, texts := range []int{1000, 100_000} {
		b.Run(fmt.Sprint("known=", texts), func(b *testing.B) {
			x := newTexts(b, Options{})
			all := make([][]byte, texts)
			for i := range all {
				all[i] = fmt.Appendf(nil, "node-%06d", i)
				if _, err := x.Number(all[i]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				if _, err := x.Number(all[scattered(i, texts)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("new", func(b *testing.B) {
		x := newTexts(b, Options{})
		text := []byte("node-00000000000000")
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			strconv.AppendInt(text[:5], int64(i)+1e13, 10)
			if _, err := x.Number(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
