package worker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

func emptyBatch(t *testing.T) (*assembler, *batch) {
	t.Helper()
	a, err := newAssembler(store.Of(events.Records), scenarioPartition)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBatch(store.Of(events.Records))
	if err != nil {
		t.Fatal(err)
	}
	b.reset(0)
	a.rows = 2
	return a, b
}

// cash is a summand of its own key.
func cash(i int, net int64) summand {
	s := summand{roll: clickhouse.RollPayments}
	s.keys[0], s.amounts[0] = uint32(i), net
	return s
}

func (b *batch) sumAll(t *testing.T, all ...summand) {
	t.Helper()
	if err := b.sum(0, 1, 1, all, 1); err != nil {
		t.Fatal(err)
	}
}

// A batch is full at each of its limits, and not one before.
func TestABatchIsFull(t *testing.T) {
	rows := func(n int) func(*testing.T, *assembler, *batch) {
		return func(_ *testing.T, _ *assembler, b *batch) {
			for i := range n {
				b.block.Append(&store.Row{Tenant: "demo", Project: "P", ID: fmt.Sprint("R", i), Version: 1, At: time.Now(), Deleted: true})
			}
		}
	}
	deltas := func(n int) func(*testing.T, *assembler, *batch) {
		return func(t *testing.T, a *assembler, b *batch) {
			for i := range n {
				b.sumAll(t, cash(i, 1))
			}
		}
	}
	bytes := func(n int) func(*testing.T, *assembler, *batch) {
		return func(_ *testing.T, _ *assembler, b *batch) { b.bytes = n }
	}
	records := func(n int) func(*testing.T, *assembler, *batch) {
		return func(_ *testing.T, _ *assembler, b *batch) { b.records = n }
	}
	versions := func(n int) func(*testing.T, *assembler, *batch) {
		return func(_ *testing.T, _ *assembler, b *batch) {
			for range n {
				b.history.Add(&store.Row{ID: events.MailedPrefix, Version: 1}, 0)
			}
		}
	}
	for _, tc := range []struct {
		name string
		fill func(*testing.T, *assembler, *batch)
		want bool
	}{
		{"empty", rows(0), false},
		{"one row less", rows(1), false},
		{"as many rows as it may have now", rows(2), true},
		{"one sum less", deltas(maxDeltas - 1), false},
		{"as many sums as a merge bears", deltas(maxDeltas), true},
		{"one byte less", bytes(maxBytes - 1), false},
		{"as many bytes", bytes(maxBytes), true},
		{"one record less, none of them a row", records(4*maxRows - 1), false},
		{"as many records", records(4 * maxRows), true},
		{"one version less for the history", versions(maxHistory - 1), false},
		{"as many versions", versions(maxHistory), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := emptyBatch(t)
			tc.fill(t, a, b)
			if got := a.full(b); got != tc.want {
				t.Errorf("full is %v", got)
			}
		})
	}
}

// What does not fit is for the next batch; an entity that is too large for any batch but an empty one gets one.
func TestWhatFitsIntoABatch(t *testing.T) {
	many := func(n int) (all []summand) {
		for i := range n {
			all = append(all, cash(1_000_000+i, 1))
		}
		return all
	}
	const half = 1 << 61
	for _, tc := range []struct {
		name     string
		before   []summand // of another entity's change; none: the batch is empty
		now, was []summand
		want     bool
	}{
		{"nothing changes in the sums", many(1), nil, nil, true},
		{"more sums than a batch has, in an empty one", nil, many(maxDeltas), many(1), true},
		{"as many as there is room for", many(1), many(maxDeltas - 2), many(1), true},
		{"one more", many(1), many(maxDeltas - 1), many(1), false},
		{"the largest entity, before and after", nil, []summand{cash(1, half-1)}, []summand{cash(1, -half+1)}, true},
		{"another one beside it", []summand{cash(1, half), cash(2, half-1)}, []summand{cash(3, 1)}, nil, false},
		{"one without amounts beside it", []summand{cash(1, half), cash(2, half-1)}, []summand{cash(3, 0)}, nil, true},
		{"amounts that cancel out count as they are", []summand{cash(1, half)}, []summand{cash(1, -half)}, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := emptyBatch(t)
			if tc.before != nil {
				b.sumAll(t, tc.before...)
				b.changes = append(b.changes, change{})
			}
			for range 2 { // to ask takes no room
				if got := a.fits(b, tc.now, tc.was); got != tc.want {
					t.Errorf("fits is %v", got)
				}
			}
		})
	}
}

// What is read and not in the batch is the next one's, and nothing else: what comes behind the last row that it may have, or from what
// doesn't fit on.
func TestWhatABatchLeavesIsTheNextOnes(t *testing.T) {
	for _, tc := range []struct {
		name string
		rows int
		sums int // that others changed before
		left []int64
	}{
		{"it takes all", 9, 0, nil},
		{"it is full", 2, 0, []int64{2}},
		{"it is full with the last", 3, 0, nil},
		{"there is no room for any", 9, maxDeltas, []int64{0, 1, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, err := newHeads(latest.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer h.close()
			a, b := emptyBatch(t)
			a.partitions, a.heads, a.rows = testPartitions, h, tc.rows
			if tc.sums > 0 {
				b.changes = append(b.changes, change{})
			}
			for i := range tc.sums {
				b.sumAll(t, cash(i, 1))
			}
			var taken []*kgo.Record
			for i, m := range someRecords(3) {
				taken = append(taken, &kgo.Record{Offset: int64(i), Key: []byte(m.key), Value: m.value})
			}
			w, rest := &writer{batch: b, state: newState(scenarioPartition, noObserver)}, &buffer{signal: make(chan struct{}, 1)}
			whole, err := w.apply(t.Context(), a, b, rest, taken)
			if err != nil || whole != (tc.left != nil || b.block.Rows() == tc.rows) {
				t.Fatalf("whole is %v, %v", whole, err)
			}
			records, _ := rest.take(9)
			var left []int64
			for _, r := range records {
				left = append(left, r.Offset)
			}
			if !slices.Equal(left, tc.left) || b.records+len(left) != 3 || b.next != uint64(b.records) {
				t.Errorf("left are %v, the batch has %d up to %d", left, b.records, b.next)
			}
		})
	}
}
