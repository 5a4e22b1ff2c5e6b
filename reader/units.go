package reader

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// storedUnit is a unit as its row has it: value and currency of the asking rate apart.
type storedUnit struct {
	analytics.Unit
	rate     events.Opt[int64]
	currency string
}

var unitColumns = columns[storedUnit]{
	member("id", plain, func(u *storedUnit) *string { return &u.ID }),
	member("project", plain, func(u *storedUnit) *string { return &u.ProjectID }),
	member("site_id", plain, func(u *storedUnit) *string { return &u.SiteID }),
	member("site_name", plain, func(u *storedUnit) *string { return &u.SiteName }),
	member("building_id", plain, func(u *storedUnit) *string { return &u.BuildingID }),
	member("label", plain, func(u *storedUnit) *string { return &u.Label }),
	member("type", plain, func(u *storedUnit) *string { return &u.Type }),
	member("floor", nullable, func(u *storedUnit) *events.Opt[string] { return &u.Floor }),
	member("area_m2", optionalDecimal, func(u *storedUnit) *events.Opt[events.Decimal] { return &u.AreaM2 }),
	member("spaces", nullable, func(u *storedUnit) *events.Opt[int64] { return &u.Spaces }),
	member("scope", plain, func(u *storedUnit) *string { return &u.Scope }),
	member("asking_rate_value", nullable, func(u *storedUnit) *events.Opt[int64] { return &u.rate }),
	member("asking_rate_currency", plain, func(u *storedUnit) *string { return &u.currency }),
}

func (u *storedUnit) unit() analytics.Unit {
	if u.rate.Ok {
		u.AskingRate = events.Some(events.Amount{Value: u.rate.V, Currency: u.currency})
	}
	return u.Unit
}

// UnitPage says which units are wanted.
type UnitPage struct {
	Tenant  string
	Project string
	After   string // id
	Limit   int
}

func (p UnitPage) query(ask int) Query {
	return Query{
		SQL: "SELECT " + unitColumns.String() + `
FROM units FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id > {after:String} AND NOT deleted
ORDER BY id
LIMIT {limit:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "project": p.Project, "after": p.After, "limit": ask},
	}
}

// Units returns a page of a project's units, ascending by id, and whether others follow. It is cut
// where units are large.
func (r *Reader) Units(ctx context.Context, p UnitPage) (page []analytics.Unit, more bool, err error) {
	has, more, err := r.page(ctx, pageSettings, p.Limit, func(ask int, settings clickhouse.Settings) (int, error) {
		page = nil
		err := unitColumns.read(ctx, r, p.query(ask), settings, func(row *storedUnit) error {
			page = append(page, row.unit())
			return nil
		})
		return len(page), err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read units: %w", err)
	}
	return page[:has], more, nil
}
