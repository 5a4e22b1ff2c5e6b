package latest

import (
	"testing"

	"pgregory.net/rapid"
)

// TestKeysTellEntitiesApart: two entities have one key only if both tenant and id are the same, whether written as
// bytes or strings.
func TestKeysTellEntitiesApart(t *testing.T) {
	hasher := NewHasher()
	name := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "ab", "ba", "\x00", "a\x00"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		tenant, id, tenant2, id2 := name.Draw(t, "tenant"), name.Draw(t, "id"), name.Draw(t, "tenant 2"), name.Draw(t, "id 2")
		same := tenant == tenant2 && id == id2
		a, b := hasher.KeyString(tenant, id), hasher.Key([]byte(tenant2), []byte(id2))
		if (a == b) != same {
			t.Fatalf("%q %q and %q %q: equal keys %v", tenant, id, tenant2, id2, a == b)
		}
		if !same && (a[0] == b[0] || a[1] == b[1]) {
			t.Fatalf("%q %q and %q %q share half a key", tenant, id, tenant2, id2)
		}
	})
}

func TestHashersDiffer(t *testing.T) {
	one, other := NewHasher(), NewHasher()
	if one.KeyString("tenant", "id") == other.KeyString("tenant", "id") {
		t.Error("two hashers make the same key: anyone could know it")
	}
}
