package api

import (
	"fmt"
	"testing"

	"tallyhouse/reader"
)

func TestKeptAnswersAreBoundedAndEachTenantHasItsOwn(t *testing.T) {
	const each, all = 20 << 10, 60 << 10
	body := func(size int) answer { return answer{body: make([]byte, size)} }
	k := newKeptAnswers(all, each, new(buffers))
	held := func(tenant, key string) bool {
		_, current := k.get(tenant, key, reader.Standing{})
		return current
	}
	bounds := func() {
		t.Helper()
		sum := 0
		for _, of := range k.tenants {
			if sum += of.size; of.size > each {
				t.Errorf("%d bytes of a tenant", of.size)
			}
		}
		if sum != k.size || sum > all || len(k.tenants) != k.used.Len() {
			t.Errorf("%d bytes, %d counted, %d tenants of %d", sum, k.size, len(k.tenants), k.used.Len())
		}
	}
	// Given an answer of one tenant, when another has more than may be kept
	k.put("a", "first", reader.Standing{}, body(1000))
	for i := range 100 {
		k.put("b", fmt.Sprint(i), reader.Standing{}, body(2000))
		bounds()
	}
	// Then its own oldest go, and the first tenant's stays
	if !held("a", "first") || held("b", "0") || !held("b", "99") {
		t.Error("one tenant's answers push out another's, or the newest go first")
	}
	// And of another standing it is none, nor under another tenant's name
	if _, current := k.get("a", "first", reader.Standing{Digest: [32]byte{1}}); current || held("c", "first") {
		t.Error("an answer is taken for another's")
	}
	// When many tenants keep something, then those of whom nothing was asked for longest lose it
	for i := range 30 {
		k.put(fmt.Sprint("t", i), "k", reader.Standing{}, body(5000))
		held("a", "first")
		bounds()
	}
	if !held("a", "first") || held("t0", "k") || !held("t29", "k") {
		t.Error("the wrong tenant's answers went")
	}
	// And of what is too large, only that is kept
	k.put("a", "first", reader.Standing{}, answer{body: make([]byte, each), large: true})
	if a, current := k.get("a", "first", reader.Standing{}); current || a.body != nil || !a.large {
		t.Error("a body beyond the bound is kept, or nothing is known of it")
	}
	bounds()
}

func TestABufferIsUsedAgainWhenNobodyHoldsItAnyMore(t *testing.T) {
	// Given an answer that is kept in the buffer of the reply that it was made for
	pool := new(buffers)
	k := newKeptAnswers(maxKept, maxKeptOfTenant, pool)
	made := pool.get()
	made.bytes = append(made.bytes, "the answer"...)
	k.put("a", "key", reader.Standing{}, answer{body: made.bytes, buffer: made})
	held := func(when string, want int32) {
		t.Helper()
		if got := made.holders.Load(); got != want {
			t.Fatalf("%d holders of a buffer %s, want %d", got, when, want)
		}
		for range 10 {
			if want > 0 && pool.get() == made {
				t.Fatalf("the buffer is used again %s", when)
			}
		}
	}
	held("of a reply and of what is kept", 2)
	// When the reply was sent, then what is kept holds it
	pool.put(made)
	held("when the reply was sent", 1)
	// And when it is sent once more, and another answer is kept in its place, then that reply holds it, and nobody after it
	again, current := k.get("a", "key", reader.Standing{})
	if !current || again.buffer != made {
		t.Fatal("nothing was kept")
	}
	held("of what is kept and of another reply", 2)
	k.put("a", "key", reader.Standing{Digest: [32]byte{1}}, answer{body: []byte("another")})
	held("of the other reply", 1)
	pool.put(again.buffer)
	held("when that was sent, too", 0)
	// And what is made current again is held by that reply, too, if it is of the same inputs
	inputs := reader.Inputs{7}
	renewed := pool.get()
	k.put("a", "key", reader.Standing{Digest: [32]byte{2}}, answer{body: []byte("of some inputs"), buffer: renewed, inputs: inputs})
	later := reader.Standing{Digest: [32]byte{3}}
	for _, other := range []reader.Inputs{{}, {8}} {
		if _, ok := k.renew("a", "key", later, other); ok {
			t.Error("an answer of other inputs was made current")
		}
	}
	if _, ok := k.renew("a", "another key", later, inputs); ok {
		t.Error("what isn't kept was made current")
	}
	if a, ok := k.renew("a", "key", later, inputs); !ok || a.buffer != renewed || renewed.holders.Load() != 3 {
		t.Errorf("renewed: %t, %d holders", ok, renewed.holders.Load())
	}
	if _, current := k.get("a", "key", later); !current {
		t.Error("what was renewed isn't current")
	}
	// And what is too large to be kept is held by its reply alone
	large := pool.get()
	k.put("a", "key", reader.Standing{}, answer{body: make([]byte, maxKeptOfTenant), buffer: large})
	if got := large.holders.Load(); got != 1 {
		t.Errorf("%d holders of a buffer that is not kept", got)
	}
}
