package api

import (
	"context"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

type unitField = resource.Field[analytics.Unit]

// unitTable is what the API shows of a unit.
var unitTable = resource.NewTable("Unit", "A flat, shop, parking space or piece of land that can be let.",
	unitField{Name: "unitId", Groups: access.Core, Required: true,
		Value: resource.Text(func(u *analytics.Unit) string { return u.ID })},
	unitField{Name: "siteId", Groups: access.Core, Required: true,
		Value: resource.Text(func(u *analytics.Unit) string { return u.SiteID })},
	unitField{Name: "siteName", Groups: access.Core, Required: true,
		Value: resource.Text(func(u *analytics.Unit) string { return u.SiteName })},
	unitField{Name: "buildingId", Groups: access.Core, Required: true,
		Value: resource.Text(func(u *analytics.Unit) string { return u.BuildingID })},
	unitField{Name: "label", Groups: access.Core, Required: true,
		Value: resource.Text(func(u *analytics.Unit) string { return u.Label })},
	unitField{Name: "type", Groups: access.Core, Required: true,
		Value: resource.Text(func(u *analytics.Unit) string { return u.Type })},
	unitField{Name: "floor", Groups: access.Core, Required: true,
		Value: resource.NullText(func(u *analytics.Unit) events.Opt[string] { return u.Floor })},
	unitField{Name: "areaM2", Groups: access.Core, Required: true,
		Value:       resource.NullNumber(func(u *analytics.Unit) events.Opt[events.Decimal] { return u.AreaM2 }),
		Description: "Square metres; null for parking."},
	unitField{Name: "spaces", Groups: access.Core, Required: true,
		Value:       resource.NullWhole(func(u *analytics.Unit) events.Opt[int64] { return u.Spaces }),
		Description: "Parking spaces; null otherwise."},
	unitField{Name: "askingRate", Groups: access.Amounts,
		Value: resource.NullAmount(func(u *analytics.Unit) (events.Opt[int64], string) {
			return events.Opt[int64]{V: u.AskingRate.V.Value, Ok: u.AskingRate.Ok}, u.AskingRate.V.Currency
		}),
		Description: "The rent that is asked per square metre or per space and month."},
)

var listUnits = operation{
	id: "listUnits", path: "/v0/projects/{projectId}/units",
	summary:     "List units",
	description: "What can be let in a project, ascending by id.",
	params:      paging,
	lists:       reader.UnitsTable,
	returns:     list(unitTable.Reference()),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		units, more, err := c.reader.Units(ctx, reader.UnitPage{Tenant: c.caller.Tenant(), Project: project.ID,
			After: c.after, Limit: c.limit()})
		if err != nil {
			return nil, err
		}
		return writePage(s, c, page[analytics.Unit]{items: units, more: more,
			place: byID(func(v *analytics.Unit) string { return v.ID }),
			write: shown(unitTable, func(*analytics.Unit) access.Groups { return project.Groups })}), nil
	},
}
