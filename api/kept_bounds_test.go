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
	if _, current := k.get("a", "first", reader.Standing{1}); current || held("c", "first") {
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
