package reader

import (
	"context"
	"fmt"

	"tallyhouse/schemas/events"
)

// contractorNamesQuery finds the names of these contractors.
func contractorNamesQuery(tenant string, ids []string) Query {
	return Query{
		SQL: `SELECT id, name
FROM contractors FINAL
WHERE tenant = {tenant:String} AND project = '' AND id IN {ids:Array(String)} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "ids": ids},
	}
}

// contractorNames returns the names of those contractors that exist and have one.
func (r *Reader) contractorNames(ctx context.Context, tenant string, ids []string) (map[string]events.Opt[string], error) {
	if len(ids) == 0 {
		return nil, nil
	}
	names := make(map[string]events.Opt[string], len(ids))
	var id string
	var name *string
	err := r.each(ctx, contractorNamesQuery(tenant, ids), pageSettings, func(scan func(...any) error) error {
		if err := scan(&id, &name); err != nil {
			return err
		}
		names[id] = opt(name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the names of contractors: %w", err)
	}
	return names, nil
}
