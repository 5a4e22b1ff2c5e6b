// Package heads is the worker's local state store: it keeps, on the worker's own disk, the newest state of every entity of the
// partitions that it writes: enough to see whether a message is newer, and what to take back from the views when it is. It is a
// cache: whatever it holds can be loaded from the state tables again, and is, when it belongs to another life of the stream.
package heads

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"tallyhouse/analytics"
)

// Head is the newest state of an entity, as far as the worker needs it.
type Head struct {
	RowVersion    uint64
	Project       string
	Deleted       bool
	ContentHash   uint64
	Contributions analytics.Contributions
}

// Checkpoint says how far a partition's heads have come.
type Checkpoint struct {
	Life     string // of the stream that they were made in
	Position uint64 // the next offset: they know everything before it
}

// Store keeps the heads of all partitions of one worker. It belongs to one process.
type Store struct{ db *pebble.DB }

// Open opens the store in a directory, made if it isn't there.
func Open(dir string) (*Store, error) {
	// What has not been flushed yet takes its memory from the cache: up to three of the tables below.
	cache := pebble.NewCache(32 << 20)
	defer cache.Unref()
	options := &pebble.Options{
		Cache:                       cache,
		MemTableSize:                4 << 20,
		MemTableStopWritesThreshold: 3,
		MaxOpenFiles:                500,
		Logger:                      quiet{},
	}
	for i := range options.Levels {
		// A look-up reads a whole block for one head, and none where there is no head: unpacking blocks would cost more than reading them.
		options.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, options)
	if err != nil {
		return nil, fmt.Errorf("open the heads in %s (one worker per --data-dir; a damaged directory may be deleted, "+
			"it is a cache): %w", dir, err)
	}
	return &Store{db}, nil
}

// Close flushes and closes.
func (s *Store) Close() error { return s.db.Close() }

// Partition is one partition's part of the store.
type Partition struct {
	db     *pebble.DB
	prefix []byte // topic, NUL, partition
}

// Of is a partition's part of the store.
func (s *Store) Of(topic string, partition int32) *Partition {
	prefix := append([]byte(topic), 0)
	return &Partition{s.db, binary.BigEndian.AppendUint32(prefix, uint32(partition))}
}

// Keys: prefix + checkpointKey holds the checkpoint, prefix + headKey + tenant/id a head.
const (
	checkpointKey = 'a'
	headKey       = 'h'
	endKey        = 'z'
)

// Checkpoint reads the partition's checkpoint; ok is false when there are no heads.
func (p *Partition) Checkpoint() (m Checkpoint, ok bool, err error) {
	value, closer, err := p.db.Get(p.key(checkpointKey, ""))
	if errors.Is(err, pebble.ErrNotFound) {
		return Checkpoint{}, false, nil
	}
	if err != nil {
		return Checkpoint{}, false, fmt.Errorf("read the checkpoint of the heads: %w", err)
	}
	defer closer.Close()
	if len(value) < 8 {
		return Checkpoint{}, false, nil
	}
	return Checkpoint{Life: string(value[8:]), Position: binary.BigEndian.Uint64(value)}, true, nil
}

// Get reads the heads of entities by their keys tenant/id, which it sorts; what is not in the answer has none. Many at once cost less
// than one by one.
func (p *Partition) Get(keys ...string) (_ map[string]Head, err error) {
	slices.Sort(keys)
	rows, err := p.db.NewIter(&pebble.IterOptions{LowerBound: p.key(headKey, ""), UpperBound: p.key(headKey+1, ""), UseL6Filters: true})
	if err != nil {
		return nil, fmt.Errorf("read heads: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found := make(map[string]Head, len(keys))
	var at []byte
	for _, key := range keys {
		at = append(append(append(at[:0], p.prefix...), headKey), key...)
		if !rows.SeekPrefixGE(at) || !bytes.Equal(rows.Key(), at) {
			continue
		}
		value, err := rows.ValueAndErr()
		if err != nil {
			return nil, fmt.Errorf("read a head: %w", err)
		}
		if found[key], err = decode(value); err != nil {
			return nil, fmt.Errorf("read a head: %w", err)
		}
	}
	if err := rows.Error(); err != nil {
		return nil, fmt.Errorf("read heads: %w", err)
	}
	return found, nil
}

// Clear throws the partition's heads away.
func (p *Partition) Clear() error {
	if err := p.db.DeleteRange(p.key(checkpointKey, ""), p.key(endKey, ""), pebble.NoSync); err != nil {
		return fmt.Errorf("throw heads away: %w", err)
	}
	return nil
}

// Update collects changes that are committed together.
type Update struct {
	p     *Partition
	batch *pebble.Batch
	buf   []byte
}

// Update begins a set of changes.
func (p *Partition) Update() *Update { return &Update{p: p, batch: p.db.NewBatch()} }

// Set puts an entity's head.
func (u *Update) Set(key string, h Head) error {
	u.buf = encode(u.buf[:0], h)
	if err := u.batch.Set(u.p.key(headKey, key), u.buf, nil); err != nil {
		return fmt.Errorf("write a head: %w", err)
	}
	return nil
}

// Len is the size of the changes in bytes.
func (u *Update) Len() int { return u.batch.Len() }

// Commit writes the changes and the checkpoint at once. It is not synced: after a power loss the heads are behind, never ahead of their
// checkpoint, and are caught up.
func (u *Update) Commit(m Checkpoint) error {
	value := append(binary.BigEndian.AppendUint64(nil, m.Position), m.Life...)
	if err := u.batch.Set(u.p.key(checkpointKey, ""), value, nil); err != nil {
		return fmt.Errorf("write the checkpoint of the heads: %w", err)
	}
	return u.CommitPartial()
}

// CommitPartial writes the changes without a checkpoint: a part of a load that is not yet complete.
func (u *Update) CommitPartial() error {
	if err := u.batch.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("commit heads: %w", err)
	}
	return u.batch.Close()
}

func (p *Partition) key(kind byte, key string) []byte {
	k := make([]byte, 0, len(p.prefix)+1+len(key))
	k = append(k, p.prefix...)
	k = append(k, kind)
	return append(k, key...)
}

var errDamaged = errors.New("a head is damaged: delete the worker's --data-dir, it is a cache")

func encode(b []byte, h Head) []byte {
	b = binary.AppendUvarint(b, h.RowVersion)
	b = binary.LittleEndian.AppendUint64(b, h.ContentHash)
	deleted := byte(0)
	if h.Deleted {
		deleted = 1
	}
	b = append(b, deleted)
	b = appendText(b, h.Project)
	b = binary.AppendUvarint(b, uint64(len(h.Contributions.Keys)))
	b = binary.AppendUvarint(b, uint64(len(h.Contributions.Sums)))
	for _, v := range h.Contributions.Sums {
		b = binary.AppendVarint(b, v)
	}
	for _, k := range h.Contributions.Keys {
		b = appendText(b, k)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decode reads what encode wrote. Its texts share one string: the value's own bytes belong to the store.
func decode(value []byte) (h Head, err error) {
	r := reader{text: string(value)}
	h.RowVersion = r.uvarint()
	h.ContentHash = r.fixed()
	h.Deleted = r.byte() == 1
	h.Project = r.string()
	keys, sums := r.uvarint(), r.uvarint()
	if keys > uint64(len(value)) || sums > uint64(len(value)) {
		return Head{}, errDamaged
	}
	if sums > 0 {
		h.Contributions.Sums = make([]int64, sums)
		for i := range h.Contributions.Sums {
			u := r.uvarint()
			h.Contributions.Sums[i] = int64(u>>1) ^ -int64(u&1)
		}
	}
	if keys > 0 {
		h.Contributions.Keys = make([]string, keys)
		for i := range h.Contributions.Keys {
			h.Contributions.Keys[i] = r.string()
		}
	}
	if r.bad || r.at != len(r.text) {
		return Head{}, errDamaged
	}
	return h, nil
}

type reader struct {
	text string
	at   int
	bad  bool
}

func (r *reader) byte() byte {
	if r.at >= len(r.text) {
		r.bad = true
		return 0
	}
	r.at++
	return r.text[r.at-1]
}

func (r *reader) uvarint() (u uint64) {
	for shift := 0; shift < 70; shift += 7 {
		c := r.byte()
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return u
		}
	}
	r.bad = true
	return 0
}

func (r *reader) fixed() (u uint64) {
	for i := range 8 {
		u |= uint64(r.byte()) << (8 * i)
	}
	return u
}

func (r *reader) string() string {
	n := r.uvarint()
	if n > uint64(len(r.text)-r.at) {
		r.bad = true
		return ""
	}
	r.at += int(n)
	return r.text[r.at-int(n) : r.at]
}

// quiet keeps the store's chatter out of the log.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...)) // the store cannot go on; neither can the process
}
