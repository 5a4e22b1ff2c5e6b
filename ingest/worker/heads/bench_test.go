package heads

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tallyhouse/analytics"
)

// BenchmarkGet asks for 1,000 of a million heads at once, as a writer does. One operation is all of them.
func BenchmarkGet(b *testing.B) {
	const all, some = 1_000_000, 1_000
	store, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	p := store.Of("ledger.records", 0)
	key := func(i int) string { return fmt.Sprintf("bench/record-%08d", i) }
	for first := 0; first < all; first += some {
		u := p.Update()
		for i := range some {
			n := (first + i) * 7919 % all
			h := Head{RowVersion: 1024, Project: "P1", ContentHash: uint64(n), Contributions: analytics.Contributions{
				Keys: []string{fmt.Sprintf("node-%04d", n%200), "", fmt.Sprintf("contractor-%04d", n%200), "EUR", "approvalPending", "invoice", "out", "", "2024-03"},
				Sums: []int64{10_000, 2_000, 12_000, 1, 1},
			}}
			if err := u.Set(key(n), h); err != nil {
				b.Fatal(err)
			}
		}
		if err := u.Commit(Checkpoint{Position: uint64(first)}); err != nil {
			b.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, known := range []bool{true, false} {
		b.Run(fmt.Sprint("known ", known), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				keys := make([]string, some)
				for i := range keys {
					keys[i] = key(random.IntN(all))
					if !known {
						keys[i] += "-new"
					}
				}
				if found, err := p.Get(keys...); err != nil || len(found) > 0 != known {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}
