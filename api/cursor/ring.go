package cursor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"tallyhouse/reader"
)

// reloadEvery bounds how often unknown cursors make the ring look for new keys.
const reloadEvery = time.Second

// maxKeyFile bounds a key file, in bytes.
const maxKeyFile = 64 << 10

// Store is where the keys are kept that all instances share.
type Store interface {
	CursorKeys(ctx context.Context) ([]reader.CursorKey, error)
	AddCursorKey(ctx context.Context, k reader.CursorKey, at time.Time) error
}

// Ring holds the keys: the first seals, all of them open.
type Ring struct {
	store Store // nil when the keys come from a file

	loading singleflight.Group

	mu       sync.Mutex
	keys     []*key
	reloaded time.Time // when a cursor of an unknown key last made the ring look for it
}

// FromStore makes a ring whose keys are in the store; Load reads them.
func FromStore(store Store) *Ring { return &Ring{store: store} }

// FromFile makes a ring of the keys in a file, one secret a line, 32 or more bytes in hex; the first seals. So a new
// key goes in front, and an old one is taken out when its cursors are no longer in use.
func FromFile(path string) (*Ring, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the keys of cursors: %w", err)
	}
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("read the keys of cursors: %s has %d bytes; at most %d are allowed", path, len(text),
			maxKeyFile)
	}
	r := &Ring{}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := fromHex(line)
		if err != nil {
			return nil, fmt.Errorf("read the keys of cursors: %s:%d: %w; `openssl rand -hex 32` makes one", path, i+1, err)
		}
		r.keys = append(r.keys, key)
	}
	if len(r.keys) == 0 {
		return nil, fmt.Errorf("read the keys of cursors: %s holds none; `openssl rand -hex 32` makes one", path)
	}
	return r, nil
}

func fromHex(text string) (*key, error) {
	secret, err := hex.DecodeString(text)
	if err != nil {
		// The error of the package would show a part of the secret.
		return nil, errors.New("a key must be written in hex")
	}
	return newKey(secret)
}

// Load reads the keys, and makes the first one when there is none. Instances that do so at the same time all read both
// keys afterwards and agree on which one seals.
func (r *Ring) Load(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	stored, err := r.store.CursorKeys(ctx)
	if err != nil {
		return err
	}
	if len(stored) == 0 {
		secret := make([]byte, 32)
		rand.Read(secret) // never fails
		if err := r.store.AddCursorKey(ctx, reader.CursorKey{ID: 1, Secret: hex.EncodeToString(secret)},
			time.Now()); err != nil {
			return err
		}
		if stored, err = r.store.CursorKeys(ctx); err != nil {
			return err
		}
		if len(stored) == 0 {
			return errors.New("the key of cursors that was added can't be read yet")
		}
	}
	keys := make([]*key, 0, len(stored))
	for _, s := range stored {
		key, err := fromHex(s.Secret)
		if err != nil {
			return fmt.Errorf("key %d of cursors in the database: %w", s.ID, err)
		}
		keys = append(keys, key)
	}
	r.mu.Lock()
	r.keys = keys
	r.mu.Unlock()
	return nil
}

// Loaded reports whether there are keys.
func (r *Ring) Loaded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.keys) > 0
}

// Seal makes the cursor of a place in the list that the request asks for, sealed by the first key.
func (r *Ring) Seal(place, request []byte) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys) == 0 {
		return "", errors.New("the keys of cursors have not been loaded")
	}
	return r.keys[0].seal(place, request), nil
}

// Open returns the place that a cursor holds, or ErrInvalid when it is not one that was made for this request. A cursor
// of a key that is not known may be of another instance's new key: the keys are read again, at most once a second, once
// for all who wait for them.
func (r *Ring) Open(ctx context.Context, text string, request []byte) ([]byte, error) {
	name, nonce, sealed, ok := split(text)
	if !ok {
		return nil, ErrInvalid
	}
	key := r.find(name)
	if key == nil {
		if err := r.reload(ctx); err != nil {
			return nil, err
		}
		key = r.find(name)
	}
	if key == nil {
		return nil, ErrInvalid
	}
	place, err := key.aead.Open(nil, nonce, sealed, request)
	if err != nil {
		return nil, ErrInvalid
	}
	return place, nil
}

func (r *Ring) find(name [nameSize]byte) *key {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.keys {
		if k.name == name {
			return k
		}
	}
	return nil
}

// reload reads the keys, unless another unknown cursor has had them read just now. Those of the start don't count:
// instances that start together add keys at the same moment. Requests that come while they are being read wait for it.
// Whoever leaves does not end it for the others.
func (r *Ring) reload(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	done := r.loading.DoChan("keys", func() (any, error) {
		r.mu.Lock()
		fresh := time.Since(r.reloaded) <= reloadEvery
		r.mu.Unlock()
		if fresh {
			return nil, nil
		}
		// From here on: a key may be added while the others are being read.
		began := time.Now()
		if err := r.Load(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		r.mu.Lock()
		r.reloaded = began
		r.mu.Unlock()
		return nil, nil
	})
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for the keys of cursors: %w", ctx.Err())
	case loaded := <-done:
		return loaded.Err
	}
}
