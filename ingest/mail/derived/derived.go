// Package derived makes the ids of what the intake of mail writes. Each follows from what it is the id of, so that this is one
// however often it is written, and by whomever.
package derived

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
)

// ID is a prefix and a hash: of the texts, each with its length before it, and of the rest as it is. What it gives never
// changes: it would be another record.
func ID(prefix string, rest []byte, texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(s)))
		h.Write(length[:])
		h.Write([]byte(s))
	}
	h.Write(rest)
	const bytes = 20 // of the hash: they make 32 letters
	return prefix + strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)[:bytes]))
}
