package worker

import (
	"fmt"
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// summed are sums by project, roll and keys.
type summed map[string][clickhouse.MaxRollAmounts]int64

func (s summed) add(key string, amounts [clickhouse.MaxRollAmounts]int64) {
	sum := s[key]
	for i, a := range amounts {
		sum[i] += a
	}
	if s[key] = sum; sum == [clickhouse.MaxRollAmounts]int64{} {
		delete(s, key)
	}
}

// newestOf is what a reader of messages knows of a record.
type newestOf struct {
	version int64
	value   string
	project string
	data    any // nil: deleted
}

// assembling is a partition whose batches are taken for written, beside what a map of the newest messages says.
type assembling struct {
	assembler        *assembler
	batch            *batch
	offset           int64
	sums             summed // of all batches
	known            map[string]newestOf
	changed          map[string]bool // in the batch
	moves            int             // in the batch
	stale, conflicts int             // in the batch
}

func (a *assembling) take(t *rapid.T, m message) {
	r := &kgo.Record{Offset: a.offset, Key: []byte(m.key), Value: m.value}
	if fits, err := a.assembler.apply(a.batch, r, a.assembler.expect([]*kgo.Record{r})[0]); !fits || err != nil {
		t.Fatalf("%v, %v", fits, err)
	}
	a.offset++
	e, _, err := a.assembler.reader.Read(r.Key, r.Value)
	if err != nil {
		t.Fatal(err)
	}
	before, existed := a.known[e.ID]
	switch {
	case e.Version < before.version, e.Version == before.version && string(m.value) == before.value:
		a.stale++
		return
	case e.Version == before.version:
		a.conflicts++
		return
	}
	now := newestOf{e.Version, string(m.value), before.project, nil}
	if e.Data != nil {
		data := *e.Data.(*events.Record)
		now.project, now.data = data.ProjectID, &data
	}
	if existed && now.project != before.project {
		a.moves++
	}
	a.known[e.ID], a.changed[e.ID] = now, true
}

// write takes the batch for written, and begins the next.
func (a *assembling) write(t *rapid.T) {
	b, h := a.batch, a.assembler.heads
	if want := len(a.changed) + a.moves; b.block.Rows() != want || b.stale != a.stale || b.conflicts != a.conflicts {
		t.Fatalf("%d rows, %d stale, %d conflicts, want %d, %d, %d", b.block.Rows(), b.stale, b.conflicts, want, a.stale, a.conflicts)
	}
	for n, key := range b.sums.Entries() {
		text := fmt.Sprint(string(h.texts.Text(key[projectPart])), clickhouse.RollID(key[rollPart]).Roll().Name)
		for _, part := range key[keyParts:] {
			if part&ownBit != 0 {
				text += fmt.Sprintf(" %q", b.block.ID(b.changes[part&^ownBit].row))
			} else {
				text += fmt.Sprintf(" %q", h.texts.Text(part))
			}
		}
		_, amounts := b.sums.Entry(n)
		a.sums.add(text, [clickhouse.MaxRollAmounts]int64(amounts))
	}
	want := summed{}
	for id, newest := range a.known {
		c, err := a.assembler.entity.Contribution(nil, id, newest.data)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c {
			text := newest.project + s.Roll.Roll().Name
			for _, key := range s.Keys {
				text += fmt.Sprintf(" %q", key)
			}
			want.add(text, s.Amounts)
		}
	}
	if !maps.Equal(a.sums, want) {
		t.Fatalf("the sums are\n%v\nwant\n%v", a.sums, want)
	}
	if err := b.updateHeads(h, "a life"); err != nil {
		t.Fatal(err)
	}
	b.reset(uint64(a.offset))
	a.changed, a.moves, a.stale, a.conflicts = map[string]bool{}, 0, 0, 0
}

// Given messages of a few records in any order of versions, which move between projects, go and come back, however they are cut into
// batches, then each batch brings the sums to what the newest messages contribute, and has one row for each record that changed, and one
// for each project that it left.
func TestBatchesBringTheSumsToWhatTheNewestMessagesSay(t *testing.T) {
	h, err := newHeads(latest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	as, b := emptyBatch(t)
	as.partitions, as.heads = testPartitions, h
	names := ids(scenarioPartition.Number, 3)
	drawn := rapid.Custom(func(t *rapid.T) message {
		id, version := rapid.SampledFrom(names).Draw(t, "id"), rapid.IntRange(1, 12).Draw(t, "version")
		if rapid.IntRange(0, 4).Draw(t, "a delete, if 0") == 0 {
			return event(events.Records, id, version, nil)
		}
		return record(id, version, map[string]any{
			"projectId":  rapid.SampledFrom([]string{"P1", "P2"}).Draw(t, "project"),
			"contractId": rapid.SampledFrom([]any{nil, "C1", id}).Draw(t, "contract"),
			"stepKind":   rapid.SampledFrom([]string{"setup", "approval"}).Draw(t, "step"), "net": 10_000,
			"gross": rapid.SampledFrom([]int{12_000, 11_000}).Draw(t, "gross"), "tax": nil,
		})
	})
	rapid.Check(t, func(t *rapid.T) {
		h.forget()
		b.reset(0)
		a := &assembling{assembler: as, batch: b, sums: summed{}, known: map[string]newestOf{}, changed: map[string]bool{}}
		as.entity = store.Of(events.Records)
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			for _, m := range rapid.SliceOfN(drawn, 1, 12).Draw(t, "messages") {
				a.take(t, m)
			}
			a.write(t)
		}
	})
}
