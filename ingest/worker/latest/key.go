package latest

import (
	"hash/maphash"
	"math/bits"
)

// Key identifies an entity of a partition: a hash of tenant and id in 128 bits. Keys of one Hasher are comparable with
// each other alone.
type Key [2]uint64

// Hasher makes keys. Its seeds are random, so nobody outside can find two entities with the same key, or many that lie
// close together. It may be used by several goroutines.
type Hasher struct{ tenant, id [2]maphash.Seed }

// NewHasher draws the seeds.
func NewHasher() *Hasher {
	return &Hasher{
		tenant: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		id:     [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
}

// Key is an entity's key.
func (h *Hasher) Key(tenant, id []byte) Key {
	return Key{
		join(maphash.Bytes(h.tenant[0], tenant), maphash.Bytes(h.id[0], id)),
		join(maphash.Bytes(h.tenant[1], tenant), maphash.Bytes(h.id[1], id)),
	}
}

// KeyString is the key of an entity whose names are strings.
func (h *Hasher) KeyString(tenant, id string) Key {
	return Key{
		join(maphash.String(h.tenant[0], tenant), maphash.String(h.id[0], id)),
		join(maphash.String(h.tenant[1], tenant), maphash.String(h.id[1], id)),
	}
}

// join loses nothing of either: for one tenant, different hashes of ids stay different.
func join(tenant, id uint64) uint64 { return bits.RotateLeft64(tenant, 32) ^ id }
