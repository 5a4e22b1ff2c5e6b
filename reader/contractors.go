package reader

import (
	"context"
	"fmt"

	"tallyhouse/schemas/events"
)

// maxCachedNames bounds the contractors' names that are kept, in bytes.
const maxCachedNames = 32 << 20

// nameOverhead is about what one name costs beside its text, in bytes.
const nameOverhead = 200

// contractorKey names a contractor.
type contractorKey struct{ tenant, id string }

// nameRow is a contractor's name.
type nameRow struct {
	id   string
	name events.Opt[string]
}

var nameColumns = columns[nameRow]{
	member("id", plain, func(r *nameRow) *string { return &r.id }),
	member("name", nullable, func(r *nameRow) *events.Opt[string] { return &r.name }),
}

// contractorNamesQuery finds the names of these contractors.
func contractorNamesQuery(tenant string, ids []string) Query {
	return Query{
		SQL: "SELECT " + nameColumns.String() + `
FROM contractors FINAL
WHERE tenant = {tenant:String} AND project = '' AND id IN {ids:Array(String)} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "ids": ids},
	}
}

// contractorNames returns the names of those contractors that exist and have one. State is that of the table, read just
// now.
func (r *Reader) contractorNames(ctx context.Context, state, tenant string, ids []string,
	bytes int) (map[string]string, error) {
	own, err := r.ownState(ctx, "contractors", state, tenant)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(ids))
	var missing []string
	for _, id := range ids {
		name, ok := r.names.get(own, contractorKey{tenant, id})
		switch {
		case !ok:
			missing = append(missing, id)
		case name.Ok:
			names[id] = name.V
		}
	}
	if len(missing) == 0 {
		return names, nil
	}
	read, err := r.readNames(ctx, tenant, missing, bytes)
	if err != nil {
		return nil, err
	}
	for _, id := range missing {
		name := read[id]
		if name.Ok {
			names[id] = name.V
		}
		r.names.put(own, contractorKey{tenant, id}, name, len(id)+len(name.V)+nameOverhead)
	}
	return names, nil
}

func (r *Reader) readNames(ctx context.Context, tenant string, ids []string, bytes int) (map[string]events.Opt[string], error) {
	names := make(map[string]events.Opt[string], len(ids))
	err := nameColumns.read(ctx, r, contractorNamesQuery(tenant, ids), within(pageSettings, bytes), func(row *nameRow) error {
		names[row.id] = row.name
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the names of contractors: %w", err)
	}
	return names, nil
}
