package reader

import (
	"context"
	"fmt"
	"time"
)

// CursorKey is a key that cursors are encrypted with.
type CursorKey struct {
	ID     uint32
	Secret string // hex
}

// CursorKeys lists the keys: the first is the one to use, the others are still accepted. Two instances that made the
// first key at the same time agree on the one whose secret is less.
func (r *Reader) CursorKeys(ctx context.Context) ([]CursorKey, error) {
	var keys []CursorKey
	var k CursorKey
	query := Query{SQL: "SELECT DISTINCT id, secret FROM cursor_keys FINAL ORDER BY id DESC, secret LIMIT 100"}
	err := r.each(ctx, query, nil, func(scan func(...any) error) error {
		if err := scan(&k.ID, &k.Secret); err != nil {
			return err
		}
		keys = append(keys, k)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of cursors: %w", err)
	}
	return keys, nil
}

// AddCursorKey stores one more key.
func (r *Reader) AddCursorKey(ctx context.Context, k CursorKey, at time.Time) error {
	query := Query{
		SQL: `INSERT INTO cursor_keys (id, secret, created_at)
SELECT {id:UInt32}, {secret:String}, fromUnixTimestamp64Milli({at:Int64}, 'UTC')`,
		Args: map[string]any{"id": k.ID, "secret": k.Secret, "at": at.UnixMilli()},
	}
	if err := r.exec(ctx, query); err != nil {
		return fmt.Errorf("store a key of cursors: %w", err)
	}
	return nil
}
