package reader

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	schema "tallyhouse/schemas/clickhouse"
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

// position is what a row says about itself beside its payload: of a position row, how far the table has got.
type position struct {
	tenant, project string // a position row has no tenant, and names its partition as project
	rowVersion      uint64
}

// positionColumns are the columns of the position of rows that hold one.
func positionColumns[T any](at func(row *T) *position) columns[T] {
	return inside(at, columns[position]{
		member("tenant", plain, func(p *position) *string { return &p.tenant }),
		member("project", plain, func(p *position) *string { return &p.project }),
		member("row_version", plain, func(p *position) *uint64 { return &p.rowVersion }),
	})
}

// note takes up a position row, and reports whether it is one.
func (p positions) note(row *position) bool {
	if row.tenant != "" {
		return false
	}
	p[row.project] = row.rowVersion
	return true
}

// byPartition are the next offsets by the number of the partition.
func (p positions) byPartition() (map[int32]int64, error) {
	offsets := make(map[int32]int64, len(p))
	for name, next := range p {
		number, ok := schema.PositionPartition(name)
		if !ok {
			return nil, fmt.Errorf("the position row of %q names no partition", name)
		}
		offsets[number] = int64(next)
	}
	return offsets, nil
}

// states are the states of the tables whose rows are kept between requests.
type states struct{ nodes, contractors string }

// positionSettings are those of statements over position rows. There are so few that to filter them before their other
// columns are read, or to look for a projection that has fewer, costs more than it spares.
var positionSettings = clickhouse.Settings{"max_threads": 1, "max_block_size": 1024, "optimize_move_to_prewhere": 0,
	"optimize_use_projections": 0, "enable_shared_storage_snapshot_in_query": 1}

// positions reads how far tables have come now.
func (r *Reader) positions(ctx context.Context, tables ...string) (map[string]positions, error) {
	found, err := r.progress(ctx, tables...)
	if err != nil {
		return nil, err
	}
	at := make(map[string]positions, len(tables))
	for _, table := range tables {
		if at[table], err = positionsOf(found[table]); err != nil {
			return nil, fmt.Errorf("read the positions of %s: %w", table, err)
		}
	}
	return at, nil
}

// positionsOf are the positions of a table that has come so far.
func positionsOf(found []progress) (positions, error) {
	at := make(positions, len(found))
	for _, s := range found {
		next, err := strconv.ParseUint(s.state, 10, 64)
		if err != nil {
			return nil, err
		}
		at[s.of] = next
	}
	return at, nil
}

// states reads how the tables whose rows are kept stand now.
func (r *Reader) states(ctx context.Context) (states, error) {
	at, err := r.positions(ctx, tableNodes, "contractors")
	if err != nil {
		return states{}, err
	}
	return states{nodes: at[tableNodes].String(), contractors: at["contractors"].String()}, nil
}

// maxOwnStates bounds the states of tenants that are kept, in bytes.
const maxOwnStates = 8 << 20

// tenantTable names what a tenant has in a table.
type tenantTable struct{ table, tenant string }

// ownStateQuery reads where the newest rows of a tenant come from.
func ownStateQuery(table, tenant string) Query {
	return Query{
		SQL: `SELECT toString(src_partition), max(src_offset)
FROM ` + table + `
WHERE tenant = {tenant:String}
GROUP BY src_partition`,
		Args: map[string]any{"tenant": tenant},
	}
}

// ownState names the state of what a tenant has in a table: another one after every change of it, and of it alone. State
// is that of the whole table, read just now: as long as it is the same, nobody's changes.
func (r *Reader) ownState(ctx context.Context, table, state, tenant string) (string, error) {
	key := tenantTable{table, tenant}
	if own, ok := r.own.get(state, key); ok {
		return own, nil
	}
	at := make(positions)
	var partition string
	var last uint64
	err := r.each(ctx, ownStateQuery(table, tenant), pageSettings, func(scan func(...any) error) error {
		err := scan(&partition, &last)
		at[partition] = last
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read how far a tenant's part of %s is: %w", table, err)
	}
	own := at.String()
	r.own.put(state, key, own, len(state)+len(own)+len(tenant)+nameOverhead)
	return own, nil
}
