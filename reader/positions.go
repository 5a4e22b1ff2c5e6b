package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// positions are how far a state table has got, per partition. They change with every change in the table.
type positions map[string]uint64

// String is the same for the same positions.
func (p positions) String() string {
	parts := make([]string, 0, len(p))
	for partition, next := range p {
		parts = append(parts, fmt.Sprintf("%s=%d", partition, next))
	}
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

// states are the states of the tables whose rows are kept between requests.
type states struct{ nodes, contractors string }

// statesQuery reads the position rows of those tables. They lie at the beginning of the key.
func statesQuery() Query {
	return Query{SQL: `SELECT 'nodes', project, max(row_version)
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT 'contractors', project, max(row_version)
FROM contractors
WHERE tenant = ''
GROUP BY project`}
}

// states reads how the tables stand now.
func (r *Reader) states(ctx context.Context) (states, error) {
	at := map[string]positions{"nodes": {}, "contractors": {}}
	var table, partition string
	var next uint64
	err := r.each(ctx, statesQuery(), pageSettings, func(scan func(...any) error) error {
		if err := scan(&table, &partition, &next); err != nil {
			return err
		}
		at[table][partition] = next
		return nil
	})
	if err != nil {
		return states{}, fmt.Errorf("read the positions of tables: %w", err)
	}
	return states{nodes: at["nodes"].String(), contractors: at["contractors"].String()}, nil
}
