package store

import (
	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// facilities belong to no project: one may finance several.
func facilities() *Entity {
	type (
		facility = events.Facility
		step     = events.MarginStep
	)
	steps := func(f *facility) []step { return f.Pricing.MarginSteps }
	return &Entity{
		Topic: events.Facilities,
		Table: "facilities",
		Columns: []Column{
			textsColumn("project_ids", func(f *facility) []string { return f.ProjectIDs }, itself),
			textColumn("lender", func(f *facility) string { return f.Lender }),
			textColumn("type", func(f *facility) string { return f.Type }),
			textColumn("currency", func(f *facility) string { return f.Currency }),
			integerColumn("commitment", func(f *facility) int64 { return f.Commitment }),
			boolColumn("revolving", func(f *facility) bool { return f.Revolving }),
			dateColumn("availability_from", func(f *facility) calendar.Date { return f.Availability.From }),
			dateColumn("availability_to", func(f *facility) calendar.Date { return f.Availability.To }),
			dateColumn("maturity", func(f *facility) calendar.Date { return f.Maturity }),
			textColumn("day_count", func(f *facility) string { return f.DayCount }),
			textColumn("reference_rate", func(f *facility) string { return f.Pricing.ReferenceRate }),
			decimalColumn("margin_bp", func(f *facility) events.Decimal { return f.Pricing.MarginBp }),
			decimalOrNull("floor_bp", func(f *facility) events.Opt[events.Decimal] { return f.Pricing.FloorBp }),
			textColumn("floor_on", func(f *facility) string { return f.Pricing.FloorOn.V }),
			decimalOrNull("fixed_rate_bp", func(f *facility) events.Opt[events.Decimal] { return f.Pricing.FixedRateBp }),
			datesColumn("margin_step_from", steps, func(s *step) calendar.Date { return s.From }),
			textsColumn("margin_step_margin_bp", steps, func(s *step) string { return s.MarginBp.String() }),
			decimalColumn("commitment_fee_bp", func(f *facility) events.Decimal { return f.CommitmentFeeBp }),
			textColumn("interest_treatment", func(f *facility) string { return f.InterestTreatment }),
			dateOrNull("first_ipd", func(f *facility) events.Opt[calendar.Date] { return f.FirstIpd }),
			integerColumn("ipd_every_months", func(f *facility) int64 { return int64(f.IpdEveryMonths.V) }),
			boolColumn("has_ipds", func(f *facility) bool { return f.Ipds.Ok }),
			datesColumn("ipds", func(f *facility) []calendar.Date { return f.Ipds.V }, func(d *calendar.Date) calendar.Date { return *d }),
		},
		project: noProject,
	}
}

// fixings are read by their facility, so that stands where others have a project.
func fixings() *Entity {
	type fixing = events.Fixing
	return &Entity{
		Topic: events.Fixings,
		Table: "fixings",
		Columns: []Column{
			dateColumn("period_start", func(f *fixing) calendar.Date { return f.PeriodStart }),
			decimalColumn("reference_bp", func(f *fixing) events.Decimal { return f.ReferenceBp }),
		},
		project: func(_ string, data any) string { return data.(*fixing).FacilityID },
	}
}

// facilityEntries are read by their facility, as fixings are.
func facilityEntries() *Entity {
	type entry = events.FacilityEntry
	return &Entity{
		Topic: events.FacilityEntries,
		Table: "facility_entries",
		Columns: []Column{
			textColumn("kind", func(e *entry) string { return e.Kind }),
			textColumn("status", func(e *entry) string { return e.Status }),
			dateColumn("date", func(e *entry) calendar.Date { return e.Date }),
			integerColumn("value", func(e *entry) int64 { return e.Value }),
		},
		Formula: "facility_entries-8dad5ca7",
		project: func(_ string, data any) string { return data.(*entry).FacilityID },
		contribute: func(c analytics.Contribution, _ string, data any) (analytics.Contribution, error) {
			return analytics.FacilityEntryContribution(c, data.(*entry)), nil
		},
		restore:  restoreFacilityEntry,
		restored: []string{"kind", "status", "value"},
	}
}

func restoreFacilityEntry(m image) any {
	return &events.FacilityEntry{Kind: read[string](m, "kind"), Status: read[string](m, "status"), Value: read[int64](m, "value")}
}
