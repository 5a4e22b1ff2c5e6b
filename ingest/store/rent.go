package store

import (
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

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

func leases() *Entity {
	type (
		lease = events.Lease
		step  = events.RentStep
		span  = events.DateRange
		end   = events.Break
	)
	steps := func(l *lease) []step { return l.Steps }
	free := func(l *lease) []span { return l.RentFree }
	breaks := func(l *lease) []end { return l.Breaks }
	return &Entity{
		Topic: events.Leases,
		Table: "leases",
		Columns: slices.Concat([]Column{
			textColumn("category", func(l *lease) string { return l.Category }),
			textOrNull("counterparty_name", func(l *lease) events.Opt[string] { return l.CounterpartyName }),
			textColumn("status", func(l *lease) string { return l.Status }),
			textsColumn("unit_ids", func(l *lease) []string { return l.UnitIDs }, itself),
			dateColumn("start_date", func(l *lease) calendar.Date { return l.Start }),
			dateOrNull("end_date", func(l *lease) events.Opt[calendar.Date] { return l.End }),
			dateOrNull("effective_end", analytics.EffectiveEnd),
			textColumn("currency", func(l *lease) string { return l.Currency }),
			integerColumn("monthly_rent", func(l *lease) int64 { return l.MonthlyRent }),
			datesColumn("step_from", steps, func(s *step) calendar.Date { return s.From }),
			integersColumn("step_monthly_rent", steps, func(s *step) int64 { return s.MonthlyRent }),
			datesColumn("rent_free_from", free, func(s *span) calendar.Date { return s.From }),
			datesColumn("rent_free_to", free, func(s *span) calendar.Date { return s.To }),
			datesColumn("break_date", breaks, func(b *end) calendar.Date { return b.Date }),
			textsColumn("break_party", breaks, func(b *end) string { return b.Party }),
			textsColumn("break_state", breaks, func(b *end) string { return b.State }),
		}, indexationColumns()),
		Formula: "leases-7df79938",
		project: func(_ string, data any) string { return data.(*lease).ProjectID },
		contribute: func(c analytics.Contribution, id string, data any) (analytics.Contribution, error) {
			return analytics.LeaseContribution(c, id, data.(*lease))
		},
		restore: restoreLease,
		restored: []string{
			"status", "start_date", "end_date", "monthly_rent", "step_from", "step_monthly_rent", "rent_free_from", "rent_free_to",
			"break_date", "break_party", "break_state",
		},
	}
}

// indexationColumns say how a lease's rent follows an index: nothing where it doesn't.
func indexationColumns() []Column {
	type lease = events.Lease
	index := func(l *lease) *events.Indexation { return &l.Indexation.V } // all zero without one
	decimal := func(name string, of func(*events.Indexation) events.Decimal, types ...string) Column {
		return textColumn(name, func(l *lease) string {
			if !slices.Contains(types, index(l).Type) {
				return ""
			}
			return of(index(l)).String()
		})
	}
	return []Column{
		textColumn("indexation_type", func(l *lease) string { return index(l).Type }),
		decimal("indexation_rate_bp", func(x *events.Indexation) events.Decimal { return x.RateBp }, "fixed"),
		dateOrNull("indexation_first_on", func(l *lease) events.Opt[calendar.Date] {
			return events.Opt[calendar.Date]{V: index(l).FirstOn, Ok: index(l).Type == "fixed"}
		}),
		integerColumn("indexation_every_months", func(l *lease) int64 { return int64(index(l).EveryMonths) }),
		textColumn("indexation_series", func(l *lease) string { return index(l).Series }),
		textColumn("indexation_base_month", func(l *lease) string {
			return monthOrNone(events.Opt[calendar.Month]{V: index(l).BaseMonth, Ok: index(l).Type == "cpi"})
		}),
		decimal("indexation_threshold_bp", func(x *events.Indexation) events.Decimal { return x.ThresholdBp }, "cpi"),
		integerColumn("indexation_lag_months", func(l *lease) int64 { return int64(index(l).LagMonths) }),
		decimal("indexation_share_bp", func(x *events.Indexation) events.Decimal { return x.ShareBp }, "cpi"),
		decimalOrNull("indexation_cap_bp", func(l *lease) events.Opt[events.Decimal] { return index(l).CapBp }),
		decimalOrNull("indexation_floor_bp", func(l *lease) events.Opt[events.Decimal] { return index(l).FloorBp }),
		textOrNull("indexation_text", func(l *lease) events.Opt[string] { return l.IndexationText }),
	}
}

func restoreLease(m image) any {
	l := &events.Lease{
		Status: read[string](m, "status"), Start: read[calendar.Date](m, "start_date"),
		End: optionOf(read[proto.Nullable[calendar.Date]](m, "end_date")), MonthlyRent: read[int64](m, "monthly_rent"),
	}
	rents := read[[]int64](m, "step_monthly_rent")
	for i, from := range read[[]calendar.Date](m, "step_from") {
		l.Steps = append(l.Steps, events.RentStep{From: from, MonthlyRent: rents[i]})
	}
	to := read[[]calendar.Date](m, "rent_free_to")
	for i, from := range read[[]calendar.Date](m, "rent_free_from") {
		l.RentFree = append(l.RentFree, events.DateRange{From: from, To: to[i]})
	}
	parties, states := read[[]string](m, "break_party"), read[[]string](m, "break_state")
	for i, on := range read[[]calendar.Date](m, "break_date") {
		l.Breaks = append(l.Breaks, events.Break{Date: on, Party: parties[i], State: states[i]})
	}
	return l
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
