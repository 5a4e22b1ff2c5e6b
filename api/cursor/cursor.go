// Package cursor seals the place in a list at which the next page begins, so that a client can neither read nor change
// it, nor use it with another request than the one it was made for.
package cursor

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid says that a cursor was not made here, or for another request.
var ErrInvalid = errors.New("the cursor is invalid")

// MaxLength bounds the cursor of a list, in characters.
const MaxLength = 512

// MaxPlace bounds what the cursor of a list can hold, in bytes.
const MaxPlace = MaxLength/4*3 - nameSize - nonceSize - tagSize

// MaxSealed bounds what is opened at all, in characters: the cursors of changes hold more than a place in a list.
const MaxSealed = 24 << 10

const (
	nameSize  = 4
	nonceSize = 12
	tagSize   = 16
)

// key seals cursors. Sealing is deterministic: the same place of the same request gives the same cursor, on every
// instance that has the key. The nonce is a MAC over all that is sealed, so it repeats only where the whole cursor
// does.
type key struct {
	name [nameSize]byte // distinguishes the keys
	aead cipher.AEAD
	mac  []byte
}

// newKey derives a key from a secret of at least 32 bytes.
func newKey(secret []byte) (*key, error) {
	if len(secret) < 32 {
		return nil, fmt.Errorf("the secret of a cursor key has %d bytes; at least 32 are needed", len(secret))
	}
	block, err := aes.NewCipher(digest(secret, "encrypt"))
	if err != nil {
		return nil, fmt.Errorf("make a cursor key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("make a cursor key: %w", err)
	}
	return &key{name: [nameSize]byte(digest(secret, "name")), aead: aead, mac: digest(secret, "nonce")}, nil
}

// seal makes the cursor of a place in the list that the request asks for.
func (k *key) seal(place, request []byte) string {
	size := binary.BigEndian.AppendUint32(nil, uint32(len(request)))
	nonce := digest(k.mac, string(size), string(request), string(place))[:nonceSize]
	sealed := append(bytes.Clone(k.name[:]), nonce...)
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(sealed, nonce, place, request))
}

// split takes a cursor apart as far as it can be without its key.
func split(text string) (name [nameSize]byte, nonce, sealed []byte, ok bool) {
	if len(text) > MaxSealed || strings.ContainsAny(text, "\r\n") { // base64 passes over ends of lines
		return name, nil, nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < nameSize+nonceSize+tagSize {
		return name, nil, nil, false
	}
	return [nameSize]byte(raw), raw[nameSize : nameSize+nonceSize], raw[nameSize+nonceSize:], true
}

func digest(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}
