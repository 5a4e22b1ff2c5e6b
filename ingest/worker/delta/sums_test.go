package delta

import (
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const rolls = 3

func newSums(t interface{ Fatal(...any) }, limit int) *Sums {
	s, err := New(rolls, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mustGive fails unless the sums' entries are these, without those that are all zero.
func mustGive(t interface{ Fatalf(string, ...any) }, s *Sums, want map[Key][measures]int64) {
	live := maps.Clone(want)
	maps.DeleteFunc(live, func(_ Key, amounts [measures]int64) bool { return amounts == [measures]int64{} })
	if s.Len() != len(live) {
		t.Fatalf("%d live entries, want %d", s.Len(), len(live))
	}
	seen := map[Key]bool{}
	for n, listed := range s.Entries() {
		key, amounts := s.Entry(n)
		if *key != *listed || seen[*key] {
			t.Fatalf("entry %d: %x is listed as %x, or twice", n, *key, *listed)
		}
		seen[*key] = true
		if of, ok := live[*key]; !ok || [measures]int64(amounts) != of {
			t.Fatalf("entry %d: %x %v, want %v", n, *key, amounts, of)
		}
	}
	if len(seen) != len(live) {
		t.Fatalf("%d entries, want %d", len(seen), len(live))
	}
}

// TestSumsAreNaiveSums: whatever is added, taken away and refused, the entries are those that a map of large numbers
// sums up; Fits says beforehand what Add will refuse, and what is refused leaves no trace.
func TestSumsAreNaiveSums(t *testing.T) {
	amount := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, 1<<61 - 1, 1 - 1<<61, 1 << 62, math.MaxInt64}),
		rapid.Int64Range(-1e12, 1e12))
	key := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) (k Key) {
			for i := range k[1:] {
				k[1+i] = rapid.Uint32Max(1).Draw(t, "part")
			}
			return k
		}),
		rapid.Map(rapid.Uint32Max(200), func(n uint32) Key { return Key{1: 7, Parts - 1: n} }),
		rapid.Map(rapid.Uint32(), func(n uint32) Key { return Key{1: n} }),
	)
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{1, 5, 1000}).Draw(t, "limit")
		s := newSums(t, limit)
		sums, magnitudes := map[Key][measures]int64{}, [rolls][measures]*big.Int{}
		reset := func() {
			clear(sums)
			for roll := range magnitudes {
				for i := range magnitudes[roll] {
					magnitudes[roll][i] = new(big.Int)
				}
			}
		}
		reset()
		most := new(big.Int).Lsh(big.NewInt(1), 62)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				k, sign := key.Draw(t, "key"), rapid.SampledFrom([]int64{1, -1, -1, 1, 1, 0, 2}).Draw(t, "sign")
				amounts := rapid.SliceOfN(amount, 0, measures+1).Draw(t, "amounts")
				roll := rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, rolls, -1}).Draw(t, "roll")
				k[0] = uint32(roll)
				counted := magnitudes[min(max(roll, 0), rolls-1)]
				var want error
				zero := true
				for i, a := range amounts {
					zero = zero && a == 0
					if i < measures && new(big.Int).Add(counted[i], new(big.Int).Abs(big.NewInt(a))).Cmp(most) >= 0 {
						want = errOverflow
					}
				}
				before, known := sums[k]
				more := make([]Magnitudes, max(roll+1, 1))
				more[len(more)-1].Add(amounts)
				fits := s.Fits(1, more)
				switch {
				case len(amounts) > measures, roll < 0, roll == rolls, sign*sign != 1:
					want = errInvalid
				case want == errOverflow && fits:
					t.Fatalf("%v fits, though it overflows", amounts)
				case want == nil && !zero && !known && len(sums) == limit:
					want = errFull
				case want == nil && !fits && len(sums) < limit:
					t.Fatalf("%v doesn't fit, though it could be added", amounts)
				}
				if err := s.Add(roll, &k, amounts, sign); !errors.Is(err, want) {
					t.Fatalf("add to roll %d %x %v: %v, want %v", roll, k, amounts, err, want)
				}
				if want == nil && !zero {
					for i, a := range amounts {
						before[i] += sign * a
						counted[i].Add(counted[i], new(big.Int).Abs(big.NewInt(a)))
					}
					sums[k] = before
				}
			},
			"take away what is there": func(t *rapid.T) {
				if len(sums) == 0 {
					return
				}
				k := rapid.SampledFrom(slices.SortedFunc(maps.Keys(sums), func(a, b Key) int { return slices.Compare(a[:], b[:]) })).Draw(t, "key")
				amounts := sums[k]
				if s.Add(int(k[0]), &k, amounts[:], -1) == nil {
					sums[k] = [measures]int64{}
					for i, a := range amounts {
						counted := magnitudes[k[0]][i]
						counted.Add(counted, new(big.Int).Abs(big.NewInt(a)))
					}
				}
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					s.Reset()
					reset()
				}
			},
			"": func(t *rapid.T) { mustGive(t, s, sums) },
		})
	})
}

func TestSumsGrow(t *testing.T) {
	s, want := newSums(t, 100_000), map[Key][measures]int64{}
	for round := range 2 {
		for i := range 100_000 {
			key := Key{3: uint32(i)}
			sign, amounts := int64(1), []int64{int64(i), -7}
			if round == 1 && i%3 == 0 {
				sign = -1 // comes to zero
			}
			if err := s.Add(0, &key, amounts, sign); err != nil {
				t.Fatal(err)
			}
			sum := want[key]
			sum[0] += sign * amounts[0]
			sum[1] += sign * amounts[1]
			want[key] = sum
		}
	}
	mustGive(t, s, want)
	for range s.Entries() {
		break // a loop may end early
	}
	if err := s.Add(0, &Key{1}, []int64{1}, 1); !errors.Is(err, errFull) {
		t.Errorf("one more: %v, want errFull", err)
	}
}

// TestEveryEntityFitsInAnEmptyBatch: before and after are below 2^61 each, so a batch of one entity can always be made.
func TestEveryEntityFitsInAnEmptyBatch(t *testing.T) {
	s := newSums(t, 2)
	for _, sign := range []int64{-1, 1} {
		if err := s.Add(1, &Key{uint32(sign + 1)}, []int64{1<<61 - 1, 1 - 1<<61, 0, 1}, sign); err != nil {
			t.Fatal(err)
		}
	}
	if s.Fits(0, []Magnitudes{{}, {2}}) || !s.Fits(0, []Magnitudes{{}, {1}}) || s.Fits(1, nil) {
		t.Error("2^62 - 2 are summed in 2 entries: one more fits, neither two nor another entry do")
	}
	if !s.Fits(0, []Magnitudes{{2}, {}, {2}}) || s.Fits(0, make([]Magnitudes, rolls+1)) {
		t.Error("the other rolls have room, and there are no more than these")
	}
	s.Reset()
	if !s.Fits(2, []Magnitudes{{}, {1<<62 - 1, 1<<62 - 1}}) {
		t.Error("there is no room in sums that are empty again")
	}
}

func TestLimits(t *testing.T) {
	for _, n := range []int{-1, 0, maxRolls + 1} {
		if _, err := New(n, 1); err == nil {
			t.Errorf("%d rolls are accepted", n)
		}
	}
	for _, limit := range []int{-1, 0, MaxEntries + 1} {
		if _, err := New(1, limit); err == nil {
			t.Errorf("a limit of %d entries is accepted", limit)
		}
	}
}

// Amounts that are together beyond every number are counted as the greatest one, and so fit nowhere.
func TestMagnitudesStopAtTheGreatestNumber(t *testing.T) {
	var m Magnitudes
	for range 2 {
		m.Add([]int64{math.MinInt64, math.MaxInt64, 1})
	}
	if want := (Magnitudes{math.MaxUint64, math.MaxUint64 - 1, 2}); m != want {
		t.Errorf("%d, want %d", m, want)
	}
	if newSums(t, 1).Fits(1, []Magnitudes{m}) {
		t.Error("they fit")
	}
}

func TestNothingIsAllocatedForAnEntry(t *testing.T) {
	s := newSums(t, 10_000)
	batch := func() {
		s.Reset()
		for i := range 5000 {
			if err := s.Add(2, &Key{uint32(i)}, []int64{1, 2, 3, 4}, 1); err != nil {
				t.Fatal(err)
			}
		}
		for range s.Entries() {
		}
	}
	batch()
	held := s.Bytes()
	if n := testing.AllocsPerRun(10, batch); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
	if s.Bytes() != held {
		t.Errorf("%d bytes held, %d after equal batches", held, s.Bytes())
	}
}

// BenchmarkBatch sums 50,000 changes, half of them updates, with three entries a state: 225,000 adds, of which some
// 20,000 entries remain.
func BenchmarkBatch(b *testing.B) {
	s := newSums(b, 1<<20)
	var keys []Key
	for i := range uint32(20_000) {
		keys = append(keys, Key{1, i % 300, i % 7, i, i % 1000, 3, i % 64})
	}
	const adds = 225_000
	amounts := []int64{100, 20, 1}
	b.Run("add", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Reset()
			for i := range adds {
				if err := s.Add(0, &keys[i*7919%len(keys)], amounts, 1-int64(i%3)/2*2); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/adds/float64(b.N), "ns/add")
	})
}
