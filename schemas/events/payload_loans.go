package events

import "tallyhouse/schemas/calendar"

var marginStep = table(
	need("from", date, func(s *MarginStep) *calendar.Date { return &s.From }),
	need("marginBp", basisBp, func(s *MarginStep) *Decimal { return &s.MarginBp }),
)

var pricing = table(
	need("referenceRate", text, func(p *Pricing) *string { return &p.ReferenceRate }),
	need("marginBp", basisBp, func(p *Pricing) *Decimal { return &p.MarginBp }),
	may("floorBp", basisBp, func(p *Pricing) *Opt[Decimal] { return &p.FloorBp }),
	may("floorOn", extensible("reference", "allIn"), func(p *Pricing) *Opt[string] { return &p.FloorOn }),
	may("fixedRateBp", basisBp, func(p *Pricing) *Opt[Decimal] { return &p.FixedRateBp }),
	need("marginSteps", list(marginStep.kind()), func(p *Pricing) *[]MarginStep { return &p.MarginSteps }),
)

var facility = table(
	need("projectIds", some(list(id)), func(f *Facility) *[]string { return &f.ProjectIDs }),
	need("lender", text, func(f *Facility) *string { return &f.Lender }),
	need("type", extensible("construction", "investment", "bridge", "shareholder"), func(f *Facility) *string { return &f.Type }),
	need("currency", currency, func(f *Facility) *string { return &f.Currency }),
	need("commitment", minor, func(f *Facility) *int64 { return &f.Commitment }),
	need("revolving", boolean, func(f *Facility) *bool { return &f.Revolving }),
	need("availability", dateRange.kind(), func(f *Facility) *DateRange { return &f.Availability }),
	need("maturity", date, func(f *Facility) *calendar.Date { return &f.Maturity }),
	need("dayCount", enum("ACT/360", "ACT/365", "30/360"), func(f *Facility) *string { return &f.DayCount }),
	need("pricing", pricing.kind(), func(f *Facility) *Pricing { return &f.Pricing }),
	need("commitmentFeeBp", basisBp, func(f *Facility) *Decimal { return &f.CommitmentFeeBp }),
	need("interestTreatment", extensible("paid", "capitalised"), func(f *Facility) *string { return &f.InterestTreatment }),
	may("firstIpd", date, func(f *Facility) *Opt[calendar.Date] { return &f.FirstIpd }),
	may("ipdEveryMonths", months(1), func(f *Facility) *Opt[int] { return &f.IpdEveryMonths }),
	may("ipds", list(date), func(f *Facility) *Opt[[]calendar.Date] { return &f.Ipds }),
)

func checkFacility(d *decoder, _ *Envelope, f *Facility) {
	if f.Maturity <= f.Availability.From {
		d.failAt("data.maturity", "must be after availability.from (%s), but is %s", f.Availability.From, f.Maturity)
	}
}

var fixing = table(
	need("facilityId", id, func(f *Fixing) *string { return &f.FacilityID }),
	need("periodStart", date, func(f *Fixing) *calendar.Date { return &f.PeriodStart }),
	need("referenceBp", basisBp, func(f *Fixing) *Decimal { return &f.ReferenceBp }),
)

var facilityEntry = table(
	need("facilityId", id, func(e *FacilityEntry) *string { return &e.FacilityID }),
	need("kind", extensible("drawdown", "interest", "repayment"), func(e *FacilityEntry) *string { return &e.Kind }),
	need("status", extensible("planned", "requested", "funded"), func(e *FacilityEntry) *string { return &e.Status }),
	need("date", date, func(e *FacilityEntry) *calendar.Date { return &e.Date }),
	need("value", integer(1, MaxAmount), func(e *FacilityEntry) *int64 { return &e.Value }),
)
