package worker

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/ingest/worker/delta"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
)

// Given sums of several entities, tenants and projects, whatever their texts, then each comes once, in the order of the
// table's key: tenant, project, roll, keys.
func TestSumsComeInTheOrderOfTheirTable(t *testing.T) {
	h, err := newHeads(latest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	sums, err := delta.New(len(clickhouse.Rolls()), delta.MaxEntries)
	if err != nil {
		t.Fatal(err)
	}
	order := newOrder()
	some := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "ab", "aaaaaaaaa", "aaaaaaaab", "\x00", "ÿ"}), rapid.StringN(0, 20, -1))
	rapid.Check(t, func(t *rapid.T) {
		sums.Reset()
		add := func(tenant, project, id string, c analytics.Contribution) {
			summands, err := h.numbered(nil, id, c)
			if err != nil {
				t.Fatal(err)
			}
			var numbers [2]uint32
			for i, text := range []string{tenant, project} {
				if numbers[i], err = h.texts.NumberString(text); err != nil {
					t.Fatal(err)
				}
			}
			key := sumKey(nil, numbers[0], numbers[1])
			prefix := len(key)
			for _, s := range summands {
				key = s.appendKey(key[:prefix], id)
				if err := sums.Add(int(s.roll), key, s.amounts[:len(s.roll.Roll().Amounts)], 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range rapid.IntRange(0, 30).Draw(t, "entities") {
			id := fmt.Sprint("own id ", i%7)
			s := analytics.Summand{Roll: rapid.SampledFrom(clickhouse.Rolls()).Draw(t, "roll")}
			for k, name := range s.Roll.Roll().Keys {
				if s.Keys[k] = some.Draw(t, "key"); name == "record" {
					s.Keys[k] = id
				}
			}
			for k := range s.Roll.Roll().Amounts {
				s.Amounts[k] = rapid.SampledFrom([]int64{-1, 1}).Draw(t, "amount")
			}
			add(some.Draw(t, "tenant"), some.Draw(t, "project"), id, analytics.Contribution{s})
		}
		var before [][]byte
		listed := order.of(sums, h)
		if len(listed) != sums.Len() {
			t.Fatalf("%d of %d sums are listed", len(listed), sums.Len())
		}
		for _, r := range listed {
			key, _ := sums.Entry(r.entry)
			roll, tenant, project, keys := h.spell(key, nil)
			texts := slices.Concat([][]byte{tenant, project, []byte(roll.Roll().Name)}, keys)
			if before != nil && slices.CompareFunc(before, texts, bytes.Compare) >= 0 {
				t.Fatalf("%q comes before %q", before, texts)
			}
			before = slices.Concat(texts)
		}
	})
}

// Ranks that need more than 128 bits leave the rest to the texts.
func TestNumbersAreJoinedHighestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 40).Draw(t, "width")
		number := rapid.Uint64Max(1<<width - 1)
		a := rapid.SliceOfN(number, 0, 8).Draw(t, "a")
		b := slices.Clone(a)
		for i := range b {
			if rapid.Bool().Draw(t, "other") {
				b[i] = number.Draw(t, "b")
			}
		}
		pack := func(numbers []uint64) (p packer, fit int) {
			for _, n := range numbers {
				if p.add(n, width) {
					fit++
				}
			}
			return p, fit
		}
		x, fit := pack(a)
		y, _ := pack(b)
		if fit != min(len(a), 128/width) {
			t.Fatalf("%d numbers of %d bits fit", fit, width)
		}
		got := slices.Compare([]uint64{x.high, x.low}, []uint64{y.high, y.low})
		if want := slices.Compare(a[:fit], b[:fit]); got != want {
			t.Fatalf("%v and %v compare as %d, joined as %d", a, b, want, got)
		}
	})
}
