package reader

import (
	"context"
	"encoding/hex"
	"fmt"
)

// Table names a state table whose ids can be looked for.
type Table string

// The tables that lists are made from.
const (
	RecordsTable         Table = "records"
	ContractsTable       Table = "contracts"
	ContractorsTable     Table = "contractors"
	SnapshotsTable       Table = "forecast_snapshots"
	FacilitiesTable      Table = "facilities"
	FacilityEntriesTable Table = "facility_entries"
	UnitsTable           Table = "units"
)

// DigestSize is how many bytes of an id's SHA-256 name it beside its beginning.
const DigestSize = 16

// idQuery finds an id by its beginning and its digest. Deleted entities keep their rows, so an id that was there is
// found.
func idQuery(table Table, tenant, prefix string, digest []byte) Query {
	return Query{
		SQL: "SELECT id\nFROM " + string(table) + `
WHERE tenant = {tenant:String} AND startsWith(id, {prefix:String}) AND hex(substring(SHA256(id), 1, 16)) = upper({digest:String})
LIMIT 1`,
		Args: map[string]any{"tenant": tenant, "prefix": prefix, "digest": hex.EncodeToString(digest)},
	}
}

// ID finds the id that begins with the prefix and has this digest, or ErrNotFound. It serves ids that are too long for
// a cursor.
func (r *Reader) ID(ctx context.Context, table Table, tenant, prefix string, digest []byte) (string, error) {
	id, found := "", false
	err := r.each(ctx, idQuery(table, tenant, prefix, digest), pageSettings, func(scan func(...any) error) error {
		found = true
		return scan(&id)
	})
	if err != nil {
		return "", fmt.Errorf("look up an id of %s: %w", table, err)
	}
	if !found {
		return "", ErrNotFound
	}
	return id, nil
}
