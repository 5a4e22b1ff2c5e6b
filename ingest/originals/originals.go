// Package originals keeps what was mailed, PDFs, e-invoices and whole mails, under the SHA-256 of its content, and
// remembers which records came with the same thing before (docs/mail.md#what-is-kept). It does so in a directory or in a
// bucket of an S3 server; what one tenant has is out of the reach of another's names.
package originals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Hash is the SHA-256 of a content.
type Hash [sha256.Size]byte

// Of is the hash of a content.
func Of(content []byte) Hash { return sha256.Sum256(content) }

// String is the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String writes.
func ParseHash(s string) (h Hash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("%q is no SHA-256: it has 64 hexadecimal digits", s)
	}
	return Hash(b), nil
}

// Errors of a Store, wrapped.
var (
	ErrNotFound = errors.New("not kept")
	// errDamaged says that what is kept isn't what was put there.
	errDamaged = errors.New("what is kept is damaged")
	// ErrDenied says that an S3 server refuses the key, or what it asks for.
	ErrDenied   = errors.New("the key, or what it may do, is refused")
	errTooLarge = errors.New("larger than what is kept")
)

const (
	// MaxBytes bounds a content.
	MaxBytes = 256 << 20
	// MaxListed bounds the records that are remembered of one thing.
	MaxListed = 20
	// maxNoted bounds what is noted first of a thing.
	maxNoted = 256 << 10
	// maxRecordID bounds an entry: a record's id has 200 characters at most.
	maxRecordID = 800
)

// backend holds named contents. What create reports as created, or as there already, outlives a loss of power.
type backend interface {
	// create makes a content unless there is one of this name: of several at the same time one is created.
	create(ctx context.Context, name string, content []byte) (created bool, err error)
	// read is an ErrNotFound for a name without content, and an errTooLarge for one that is above the limit.
	read(ctx context.Context, name string, limit int64) ([]byte, error)
}

// Store keeps contents. It may be used by several goroutines, and several processes may use the same place.
type Store struct {
	backend backend
	name    string
}

// String names the place, without any secret.
func (s *Store) String() string { return s.name }

// open checks that the place can be written to, and that it refuses to create what is there: on that rests the order in
// which records are remembered.
func open(ctx context.Context, b backend, name string) (*Store, error) {
	const marker = "tallyhouse-originals"
	for range 2 {
		created, err := b.create(ctx, marker, []byte(marker+"\n"))
		if err != nil {
			return nil, fmt.Errorf("open the originals at %s: %w", name, err)
		}
		if !created {
			return &Store{backend: b, name: name}, nil
		}
	}
	return nil, fmt.Errorf("open the originals at %s: it overwrites what is there; it must refuse that (If-None-Match)", name)
}

// Put keeps a content of a tenant. When it returns without an error, the content outlives a loss of power. To put it
// again changes nothing.
func (s *Store) Put(ctx context.Context, tenant string, content []byte) error {
	if len(content) > MaxBytes {
		return fmt.Errorf("keep %d bytes: %w: %d", len(content), errTooLarge, MaxBytes)
	}
	h := Of(content)
	if _, err := s.backend.create(ctx, contentName(tenant, h), content); err != nil {
		return fmt.Errorf("keep the original %s: %w", h, err)
	}
	return nil
}

// Get gives a content of a tenant back, the very bytes that were put.
func (s *Store) Get(ctx context.Context, tenant string, h Hash) ([]byte, error) {
	content, err := s.backend.read(ctx, contentName(tenant, h), MaxBytes)
	if err == nil && Of(content) != h {
		err = errDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("get the original %s: %w", h, err)
	}
	return content, nil
}

// Enlist notes that a record of a tenant came with a thing, and gives those that were noted before it, in their order.
// To enlist a record again changes nothing and gives the same. Of many records with the same thing the first MaxListed
// are noted.
func (s *Store) Enlist(ctx context.Context, tenant, thing, record string) (before []string, err error) {
	at := fmt.Sprintf("%s/seen/%s/", folder(tenant), spread(Of([]byte(thing))))
	for n := range MaxListed {
		name := fmt.Sprintf("%s%d", at, n)
		created, err := s.backend.create(ctx, name, []byte(record))
		if err != nil {
			return nil, fmt.Errorf("note a record: %w", err)
		}
		if created {
			return before, nil
		}
		other, err := s.backend.read(ctx, name, maxRecordID)
		if err != nil {
			return nil, fmt.Errorf("read who was noted: %w", err)
		}
		if string(other) == record {
			return before, nil
		}
		before = append(before, string(other))
	}
	return before, nil
}

// First notes what a tenant has to say of a thing, unless something was noted of it before, and gives what was noted first.
func (s *Store) First(ctx context.Context, tenant, thing string, content []byte) (first []byte, err error) {
	if len(content) > maxNoted {
		return nil, fmt.Errorf("note %d bytes: %w: %d", len(content), errTooLarge, maxNoted)
	}
	name := firstName(tenant, thing)
	created, err := s.backend.create(ctx, name, content)
	switch {
	case err != nil:
		return nil, fmt.Errorf("note what came first: %w", err)
	case created:
		return content, nil
	}
	if first, err = s.backend.read(ctx, name, maxNoted); err != nil {
		return nil, fmt.Errorf("read what came first: %w", err)
	}
	return first, nil
}

// Noted gives what First noted of a thing, nil when it noted nothing.
func (s *Store) Noted(ctx context.Context, tenant, thing string) ([]byte, error) {
	first, err := s.backend.read(ctx, firstName(tenant, thing), maxNoted)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what came first: %w", err)
	}
	return first, nil
}

func firstName(tenant, thing string) string {
	return fmt.Sprintf("%s/first/%s", folder(tenant), spread(Of([]byte(thing))))
}

func contentName(tenant string, h Hash) string { return folder(tenant) + "/content/" + spread(h) }

// spread is a hash as a path, so that no directory gets too many entries.
func spread(h Hash) string {
	text := h.String()
	return text[:2] + "/" + text
}

// longestFolder bounds a tenant's folder, in bytes: no file system takes a longer name.
const longestFolder = 200

// folder is a tenant's own name of a directory: what isn't a small letter, a digit or a dash is written as its bytes, so
// two tenants never share one, whatever the file system makes of capital letters.
func folder(tenant string) string {
	var name strings.Builder
	for i := range len(tenant) {
		switch c := tenant[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			name.WriteByte(c)
		default:
			fmt.Fprintf(&name, "_%02x", c)
		}
	}
	if name.Len() > longestFolder {
		return "_" + Of([]byte(tenant)).String()
	}
	return name.String()
}
