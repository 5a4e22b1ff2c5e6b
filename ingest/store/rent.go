package store

import "tallyhouse/schemas/events"

func units() *Entity {
	type unit = events.Unit
	return &Entity{
		Topic: events.Units,
		Table: "units",
		Columns: []Column{
			textColumn("site_id", func(u *unit) string { return u.SiteID }),
			textColumn("site_name", func(u *unit) string { return u.SiteName }),
			textColumn("building_id", func(u *unit) string { return u.BuildingID }),
			textColumn("label", func(u *unit) string { return u.Label }),
			textColumn("type", func(u *unit) string { return u.Type }),
			textOrNull("floor", func(u *unit) events.Opt[string] { return u.Floor }),
			decimalOrNull("area_m2", func(u *unit) events.Opt[events.Decimal] { return u.AreaM2 }),
			integerOrNull("spaces", func(u *unit) events.Opt[int64] { return u.Spaces }),
			textColumn("scope", func(u *unit) string { return u.Scope }),
			integerOrNull("asking_rate_value", func(u *unit) events.Opt[int64] {
				return events.Opt[int64]{V: u.AskingRate.V.Value, Ok: u.AskingRate.Ok}
			}),
			textColumn("asking_rate_currency", func(u *unit) string { return u.AskingRate.V.Currency }),
		},
		project: func(_ string, data any) string { return data.(*unit).ProjectID },
	}
}

func indexValues() *Entity {
	type value = events.IndexValue
	return &Entity{
		Topic: events.IndexValues,
		Table: "index_values",
		Columns: []Column{
			textColumn("series", func(v *value) string { return v.Series }),
			textColumn("month", func(v *value) string { return v.Month.String() }),
			textColumn("value", func(v *value) string { return v.Value.String() }),
		},
		project: noProject,
	}
}
