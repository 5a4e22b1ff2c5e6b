package heads

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
)

func TestHeadsOfAPartitionAreItsOwnAndSurvive(t *testing.T) {
	dir := t.TempDir()
	store, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	head := Head{RowVersion: 7 << 10, Project: "P", ContentHash: 99, Contributions: analytics.Contributions{Keys: []string{"n", ""}, Sums: []int64{-5, 6}}}
	u := store.Of("ledger.records", 1).Update()
	if err := u.Set("demo/R1", head); err != nil {
		t.Fatal(err)
	}
	if err := u.Commit(Checkpoint{"life", 42}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	if store, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	one, other, longer := store.Of("ledger.records", 1), store.Of("ledger.records", 2), store.Of("ledger.records-b", 1)
	for _, asked := range [][]string{{"demo/R1"}, {"demo/R2", "demo/R1", "demo/R", "demo/R1"}} {
		if got, err := one.Get(asked...); err != nil || !reflect.DeepEqual(got, map[string]Head{"demo/R1": head}) {
			t.Errorf("asked for %q after reopening: %+v %v", asked, got, err)
		}
	}
	if m, ok, err := one.Checkpoint(); err != nil || !ok || m != (Checkpoint{"life", 42}) {
		t.Errorf("mark %+v %v %v", m, ok, err)
	}
	for _, p := range []*Partition{other, longer} {
		if got, _ := p.Get("demo/R1"); len(got) > 0 {
			t.Error("another partition shows the head")
		}
		if _, ok, _ := p.Checkpoint(); ok {
			t.Error("another partition shows the mark")
		}
		if err := p.Clear(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := one.Get("demo/R1"); len(got) == 0 {
		t.Error("clearing another partition took the head")
	}
	if err := one.Clear(); err != nil {
		t.Fatal(err)
	}
	if got, _ := one.Get("demo/R1"); len(got) > 0 {
		t.Error("a cleared partition still shows its head")
	}
	if _, ok, _ := one.Checkpoint(); ok {
		t.Error("a cleared partition still shows its mark")
	}
}

func TestEveryHeadReadsAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Head{
			RowVersion:  rapid.Uint64().Draw(t, "version"),
			Project:     rapid.String().Draw(t, "project"),
			Deleted:     rapid.Bool().Draw(t, "deleted"),
			ContentHash: rapid.Uint64().Draw(t, "hash"),
		}
		if n := rapid.IntRange(0, 5).Draw(t, "entries"); n > 0 {
			for range n {
				h.Contributions.Keys = append(h.Contributions.Keys, rapid.String().Draw(t, "key"))
				h.Contributions.Sums = append(h.Contributions.Sums, rapid.Int64().Draw(t, "sum"))
			}
		}
		got, err := decode(encode(nil, h))
		if err != nil || !reflect.DeepEqual(got, h) {
			t.Fatalf("wrote %+v, read %+v, %v", h, got, err)
		}
	})
}

func FuzzDecodeNeverPanics(f *testing.F) {
	f.Add(encode(nil, Head{Project: "P"}))
	f.Fuzz(func(t *testing.T, value []byte) {
		if h, err := decode(value); err == nil {
			if again, err := decode(encode(nil, h)); err != nil || fmt.Sprint(again) != fmt.Sprint(h) {
				t.Fatalf("%+v reads back as %+v, %v", h, again, err)
			}
		}
	})
}
