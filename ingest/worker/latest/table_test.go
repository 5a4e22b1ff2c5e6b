package latest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func newTable(t testing.TB, o Options) *Table {
	t.Helper()
	table, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

// sameHead compares; an empty contribution is as good as none.
func sameHead(a, b Head) bool {
	contribution := bytes.Equal(a.Contribution, b.Contribution)
	a.Contribution, b.Contribution = nil, nil
	return contribution && a.Version == b.Version && a.ContentHash == b.ContentHash && a.Project == b.Project && a.Deleted == b.Deleted
}

// mustHold fails unless the table holds these heads and no others.
func mustHold(t interface{ Fatalf(string, ...any) }, table *Table, want map[Key]Head) {
	if table.Len() != len(want) {
		t.Fatalf("%d heads, want %d", table.Len(), len(want))
	}
	table.Prefetch(slices.Collect(maps.Keys(want)))
	for k, h := range want {
		if got, ok := table.Get(k); !ok || !sameHead(got, h) {
			t.Fatalf("head of %x: %v %+v, want %+v", k, ok, got, h)
		}
	}
}

// TestATableIsAMap: whatever is put, replaced by longer and shorter ones, put again as it was read, and forgotten, a
// table holds what a map does; and a table that is full refuses without harm.
func TestATableIsAMap(t *testing.T) {
	hasher := NewHasher()
	lengths := rapid.OneOf(rapid.IntRange(0, 120), rapid.IntRange(0, 3000), rapid.SampledFrom([]int{0, 483, 488, 489, 490, 20_000, 60_000}))
	head := rapid.Custom(func(t *rapid.T) Head {
		return Head{
			Version:      rapid.Int64().Draw(t, "version"),
			ContentHash:  rapid.Uint64().Draw(t, "content"),
			Project:      rapid.Uint32().Draw(t, "project"),
			Deleted:      rapid.Bool().Draw(t, "deleted"),
			Contribution: bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, lengths.Draw(t, "length")),
		}
	})
	key := rapid.Custom(func(t *rapid.T) Key {
		return hasher.KeyString("tenant", fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "id")))
	})
	// Keys with the same tag, and those of one slot, are told apart.
	alike := rapid.Custom(func(t *rapid.T) Key {
		return Key{rapid.Uint64Range(0, 2).Draw(t, "tag")<<32 | rapid.Uint64Range(0, 1).Draw(t, "rest"), rapid.Uint64Range(0, 5).Draw(t, "second")}
	})
	keys := rapid.OneOf(key, alike)

	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int64{0, 0, 100_000, 1 << 20}).Draw(t, "limit")
		table, err := New(Options{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		model := map[Key]Head{}
		put := func(k Key, h Head) {
			switch err := table.Put(k, h); {
			case err == nil:
				h.Contribution = bytes.Clone(h.Contribution)
				model[k] = h
			case limit == 0 || !errors.Is(err, ErrFull):
				t.Fatalf("put: %v", err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) { put(keys.Draw(t, "key"), head.Draw(t, "head")) },
			"put what was read, under its own key or another's": func(t *rapid.T) {
				if h, ok := table.Get(keys.Draw(t, "key")); ok {
					h.Version++
					put(keys.Draw(t, "to"), h)
				}
			},
			"get": func(t *rapid.T) {
				k := keys.Draw(t, "key")
				got, ok := table.Get(k)
				if want, held := model[k]; ok != held || !sameHead(got, want) {
					t.Fatalf("head of %x: %v %+v, want %v %+v", k, ok, got, held, want)
				}
			},
			"prefetch": func(t *rapid.T) { table.Prefetch(rapid.SliceOfN(keys, 0, 200).Draw(t, "keys")) },
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					table.Reset()
					clear(model)
				}
			},
			"": func(t *rapid.T) {
				mustHold(t, table, model)
				used, taken := table.Bytes()
				if used > taken || limit > 0 && taken > limit {
					t.Fatalf("%d bytes used of %d taken, limit %d", used, taken, limit)
				}
				segments := int64(len(table.index.segments))
				want := unit + segments*segmentBytes
				for k := range model {
					want += roomOf(table.classAt(table.find(k)))
				}
				if used < want || used > want+segments*cacheLine {
					t.Fatalf("%d bytes used, but heads and index have %d", used, want)
				}
			},
		})
	})
}

// Given a head of which Get gave the contribution, when it is put back with a version that takes another number of bytes, so that its
// contribution moves within its room, then it is as it was.
func TestAContributionMovesWithinItsRoom(t *testing.T) {
	table, key := newTable(t, Options{}), NewHasher().KeyString("tenant", "id")
	contribution := []byte("0123456789abcdefghijklmnopqrs")
	for _, version := range []int64{1, 1 << 30, 1, 1 << 14, 1 << 7, 1} {
		h := Head{Version: version, Project: 1, ContentHash: 7, Contribution: contribution}
		if before, ok := table.Get(key); ok {
			h.Contribution = before.Contribution
		}
		if err := table.Put(key, h); err != nil {
			t.Fatal(err)
		}
		if got, ok := table.Get(key); !ok || got.Version != version || !bytes.Equal(got.Contribution, contribution) {
			t.Errorf("of version %d it is %+v", version, got)
		}
	}
}

// TestATableGrows: segments split and the file grows many times, and every head is still found, others are not.
func TestATableGrows(t *testing.T) {
	const heads = 300_000
	table, hasher := newTable(t, Options{}), NewHasher()
	for i := range heads {
		if err := table.Put(hasher.KeyString("tenant", fmt.Sprint(i)), nth(i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(table.index.segments) < 64 || table.Len() != heads {
		t.Fatalf("%d heads in %d segments", table.Len(), len(table.index.segments))
	}
	slots := 0
	for _, s := range table.index.segments {
		slots += int(s.slots)
	}
	if slots != heads {
		t.Errorf("the segments count %d heads, want %d", slots, heads)
	}
	for i := range heads {
		if got, ok := table.Get(hasher.KeyString("tenant", fmt.Sprint(i))); !ok || !sameHead(got, nth(i)) {
			t.Fatalf("head %d: %v %+v", i, ok, got)
		}
		if _, ok := table.Get(hasher.KeyString("tenant", fmt.Sprint(-i-1))); ok {
			t.Fatalf("a head that was never put is found")
		}
	}
}

func nth(i int) Head {
	return Head{Version: int64(i), ContentHash: uint64(i) * 7, Project: uint32(i % 100), Deleted: i%10 == 0, Contribution: fmt.Append(nil, i)}
}

func TestFreedRoomIsUsedAgain(t *testing.T) {
	table, hasher := newTable(t, Options{}), NewHasher()
	contribution := make([]byte, 4000)
	round := func(length int) (used int64) {
		for i := range 1000 {
			if err := table.Put(hasher.KeyString("tenant", fmt.Sprint(i)), Head{Contribution: contribution[:length]}); err != nil {
				t.Fatal(err)
			}
		}
		used, _ = table.Bytes()
		return used
	}
	first := round(40)
	long := round(200)
	if short := round(40); short != first {
		t.Errorf("%d bytes used after the heads became shorter, want the %d from before", short, first)
	}
	if again := round(200); again != long {
		t.Errorf("%d bytes used after they became longer again, want %d", again, long)
	}
	round(4000)
	end := table.arena.used
	before, _ := table.Bytes()
	// The rooms that the first thousand left are there for others.
	for i := range 1000 {
		if err := table.Put(hasher.KeyString("other", fmt.Sprint(i)), Head{Contribution: contribution[:200]}); err != nil {
			t.Fatal(err)
		}
	}
	if table.arena.used != end {
		t.Errorf("%d bytes of new memory were taken", table.arena.used-end)
	}
	after, taken := table.Bytes()
	if want := 1000 * roomOf(classOf(sizeOf(Head{Contribution: contribution[:200]}))); after-before != want {
		t.Errorf("%d more bytes are used, want %d", after-before, want)
	}
	for range 10 {
		table.Reset()
		round(4000)
	}
	if _, now := table.Bytes(); now != taken {
		t.Errorf("after resets the file has %d bytes, want %d", now, taken)
	}
}

// TestAFullTable: what doesn't fit is refused, whether for the heads, for the index, or because it is too long, and all
// else stays.
func TestAFullTable(t *testing.T) {
	hasher := NewHasher()
	key := func(i int) Key { return hasher.KeyString("tenant", fmt.Sprint(i)) }
	for _, length := range []int{0, 1000} {
		table := newTable(t, Options{Limit: 400_000})
		model := map[Key]Head{}
		var err error
		for i := 0; err == nil && i < 100_000; i++ {
			h := Head{Version: int64(i), Contribution: bytes.Repeat([]byte{byte(i)}, length)}
			if err = table.Put(key(i), h); err == nil {
				model[key(i)] = h
			}
		}
		if !errors.Is(err, ErrFull) {
			t.Fatalf("with contributions of %d bytes: %v after %d heads, want ErrFull", length, err, table.Len())
		}
		if err := table.Put(key(0), Head{Version: 99, Contribution: make([]byte, 50_000)}); !errors.Is(err, ErrFull) {
			t.Errorf("a longer head in a full table: %v, want ErrFull", err)
		}
		if err := table.Put(key(0), Head{Contribution: make([]byte, maxContribution+1)}); !errors.Is(err, errTooLong) {
			t.Errorf("a contribution that is too long: %v, want errTooLong", err)
		}
		mustHold(t, table, model)
		same := model[key(0)]
		same.Version++
		if err := table.Put(key(0), same); err != nil {
			t.Errorf("a head that fits where it is: %v", err)
		}
		table.Reset()
		if err := table.Put(key(1), same); err != nil {
			t.Errorf("after a reset: %v", err)
		}
	}
	if _, err := New(Options{Limit: 1000}); !errors.Is(err, ErrFull) {
		t.Errorf("a table without room for its index: %v, want ErrFull", err)
	}
	for _, limit := range []int64{-1, maxBytes + 1} {
		if _, err := New(Options{Limit: limit}); err == nil {
			t.Errorf("a limit of %d bytes is accepted", limit)
		}
	}
}

// TestThousandsOfEqualTags: no hasher makes such keys; they are told apart, and what doesn't fit in one segment is
// refused.
func TestThousandsOfEqualTags(t *testing.T) {
	table := newTable(t, Options{})
	model := map[Key]Head{}
	var err error
	for i := uint64(0); err == nil && i < 2*segmentSlots; i++ {
		k, h := Key{1 << 60, i}, Head{Version: int64(i)}
		if err = table.Put(k, h); err == nil {
			model[k] = h
		}
	}
	if !errors.Is(err, ErrFull) || len(model) != segmentFull {
		t.Errorf("%v after %d heads, want ErrFull after %d", err, len(model), segmentFull)
	}
	if entries := len(table.index.directory); entries > 1<<maxDepth {
		t.Errorf("the directory has %d entries", entries)
	}
	mustHold(t, table, model)
	k, h := NewHasher().KeyString("tenant", "id"), Head{Version: 1}
	if err := table.Put(k, h); err != nil {
		t.Fatal(err)
	}
	model[k] = h
	mustHold(t, table, model)
}

func TestAClosedTableIsEmptyAndTakesNothing(t *testing.T) {
	table, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := NewHasher().KeyString("tenant", "id")
	if err := table.Put(k, Head{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		table.Reset()
		table.Prefetch([]Key{k})
		if _, ok := table.Get(k); ok || table.Len() != 0 {
			t.Error("a closed table has a head")
		}
		if err := table.Put(k, Head{}); !errors.Is(err, ErrClosed) {
			t.Errorf("put: %v, want ErrClosed", err)
		}
		if used, taken := table.Bytes(); used != 0 || taken != 0 {
			t.Errorf("a closed table holds %d bytes of %d", used, taken)
		}
	}
}

func TestADirectoryThatIsNotThere(t *testing.T) {
	if _, err := newMemory(t.TempDir()+"/missing", 1<<20); onFiles != (err != nil) {
		t.Errorf("memory in a missing directory: %v", err)
	}
}

// TestClassesOfRoom: every contribution fits in its class, with at most an eighth to spare.
func TestClassesOfRoom(t *testing.T) {
	last := uint8(0)
	for n := versionAt; n <= maxFixed+maxContribution; n += 1 + n/1000 {
		class := classOf(n)
		if room := roomOf(class); room < int64(n) || room > int64(n+n/8)+unit || class < last || room%unit != 0 {
			t.Fatalf("%d bytes: class %d of %d bytes, after class %d", n, class, room, last)
		}
		last = class
	}
}

func TestNothingIsAllocatedForAHead(t *testing.T) {
	table, hasher := newTable(t, Options{}), NewHasher()
	tenant, id, contribution := []byte("tenant"), []byte("id-0000"), make([]byte, 60)
	keys := make([]Key, 200)
	round := func(length int) {
		for i := range keys {
			id[3], id[4], id[5] = byte('0'+i/100), byte('0'+i/10%10), byte('0'+i%10)
			keys[i] = hasher.Key(tenant, id)
			if err := table.Put(keys[i], Head{Contribution: contribution[:length]}); err != nil {
				t.Fatal(err)
			}
		}
		table.Prefetch(keys)
		for _, k := range keys {
			if _, ok := table.Get(k); !ok {
				t.Fatal("no head")
			}
		}
		if _, ok := table.Get(hasher.KeyString("tenant", "unknown")); ok {
			t.Fatal("a head of nobody")
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		table.Reset()
		round(10) // new
		round(60) // longer, elsewhere
		round(20) // where there is room
		round(21) // where they are
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
