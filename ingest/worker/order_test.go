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
		add := func(tenant, project, id string, change int, c analytics.Contribution) {
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
			for _, s := range summands {
				key := s.sumKey(numbers[0], numbers[1], uint32(change))
				if err := sums.Add(int(s.roll), &key, s.amounts[:len(s.roll.Roll().Amounts)], 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range rapid.OneOf(rapid.IntRange(0, 30), rapid.IntRange(100, 300)).Draw(t, "entities") {
			id := ownID(uint32(i % 7))
			s := analytics.Summand{Roll: rapid.SampledFrom(clickhouse.Rolls()).Draw(t, "roll")}
			for k, name := range s.Roll.Roll().Keys {
				if s.Keys[k] = some.Draw(t, "key"); name == "record" {
					s.Keys[k] = id
				}
			}
			for k := range s.Roll.Roll().Amounts {
				s.Amounts[k] = rapid.SampledFrom([]int64{-1, 1}).Draw(t, "amount")
			}
			add(some.Draw(t, "tenant"), some.Draw(t, "project"), id, i%7, analytics.Contribution{s})
		}
		for i := range rapid.IntRange(0, 7).Draw(t, "entities with the same keys beside their own ids") {
			change := 6 - i // ids come in another order than they compare
			s := analytics.Summand{Roll: clickhouse.RollLinks, Amounts: [clickhouse.MaxRollAmounts]int64{1}}
			s.Keys[len(s.Roll.Roll().Keys)-1] = ownID(uint32(change))
			add("", "", ownID(uint32(change)), change, analytics.Contribution{s})
		}
		text := func(part uint32) []byte {
			if part&ownBit != 0 {
				return []byte(ownID(part &^ ownBit))
			}
			return h.texts.Text(part)
		}
		var before [][]byte
		listed := order.of(sums, h.texts.Len(), text)
		if len(listed) != sums.Len() {
			t.Fatalf("%d of %d sums are listed", len(listed), sums.Len())
		}
		for _, r := range listed {
			key, _ := sums.Entry(r.entry)
			texts := [][]byte{text(key[tenantPart]), text(key[projectPart]), []byte(clickhouse.RollID(key[rollPart]).Roll().Name)}
			for _, part := range key[keyParts:] {
				texts = append(texts, text(part))
			}
			if before != nil && slices.CompareFunc(before, texts, bytes.Compare) >= 0 {
				t.Fatalf("%q comes before %q", before, texts)
			}
			before = texts
		}
	})
}

func ownID(change uint32) string { return fmt.Sprint("own id ", change) }
