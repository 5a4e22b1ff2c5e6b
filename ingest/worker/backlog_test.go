package worker

import (
	"testing"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

// What lies behind a position is counted from the moment at which the log was first seen to reach beyond it, however the
// position moves, and whether or not the log grows meanwhile.
func TestABacklogKnowsWhatIsBehindAndSinceWhen(t *testing.T) {
	p := kafkalog.Partition{Topic: "ledger.records", Number: 3}
	mine := []kafkalog.Partition{p}
	b := newBacklog()
	start := time.Date(2026, time.May, 12, 9, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	expect := func(when string, position uint64, second int, offsets uint64, age time.Duration, known bool) {
		t.Helper()
		o, a, k := b.behind(p, position, at(second))
		if o != offsets || a != age || k != known {
			t.Errorf("%s: %d offsets for %s, known %t; want %d for %s, %t", when, o, a, k, offsets, age, known)
		}
	}
	expect("before the log was asked", 0, 0, 0, 0, false)
	b.see(mine, map[kafkalog.Partition]uint64{p: 100}, at(0))
	expect("at the end", 100, 0, 0, 0, true)
	b.see(mine, map[kafkalog.Partition]uint64{p: 150}, at(10))
	b.see(mine, map[kafkalog.Partition]uint64{p: 180}, at(20))
	expect("standing still", 100, 30, 80, 20*time.Second, true)
	b.see(mine, nil, at(40)) // Kafka is away
	expect("while Kafka is away", 100, 50, 80, 40*time.Second, true)
	expect("half way", 150, 50, 30, 30*time.Second, true)
	expect("caught up", 180, 50, 0, 0, true)
	b.see(mine, map[kafkalog.Partition]uint64{p: 181}, at(60))
	expect("one more", 180, 63, 1, 3*time.Second, true)
	b.see(nil, nil, at(70))
	expect("after another worker took it", 180, 70, 0, 0, false)
}

// However long a position stands still beside a growing log, memory is bounded, and the age is that of the first end.
func TestABacklogIsBoundedAndNeverTooYoung(t *testing.T) {
	p := kafkalog.Partition{Topic: "ledger.records", Number: 0}
	b := newBacklog()
	start := time.Date(2026, time.May, 12, 9, 0, 0, 0, time.UTC)
	const hours = 24
	var now time.Time
	for i := range hours * 720 {
		now = start.Add(time.Duration(i) * backlogEvery)
		b.see([]kafkalog.Partition{p}, map[kafkalog.Partition]uint64{p: uint64(i + 1)}, now)
	}
	if n := len(b.ends[p]); n > mostEnds {
		t.Errorf("%d ends are kept", n)
	}
	if offsets, age, _ := b.behind(p, 0, now); offsets != hours*720 || age != now.Sub(start) {
		t.Errorf("%d offsets for %s, want %d for %s", offsets, age, hours*720, now.Sub(start))
	}
	const half = hours * 360
	if _, age, _ := b.behind(p, half, now); age < now.Sub(start)/2 {
		t.Errorf("the message in the middle seems %s old", age)
	}
}
