package events

import "tallyhouse/schemas/calendar"

// MarginStep is the margin from a date on.
type MarginStep struct {
	From     calendar.Date
	MarginBp Decimal
}

var marginStep = table("marginStep", "",
	need("from", date, func(s *MarginStep) *calendar.Date { return &s.From }),
	need("marginBp", basisBp, func(s *MarginStep) *Decimal { return &s.MarginBp }),
)

// Pricing is the price of a loan.
type Pricing struct {
	ReferenceRate string
	MarginBp      Decimal
	FloorBp       Opt[Decimal]
	FloorOn       Opt[string]
	FixedRateBp   Opt[Decimal]
	MarginSteps   []MarginStep
}

var pricing = table("pricing", "",
	need("referenceRate", text, func(p *Pricing) *string { return &p.ReferenceRate }),
	need("marginBp", basisBp, func(p *Pricing) *Decimal { return &p.MarginBp }),
	may("floorBp", basisBp, func(p *Pricing) *Opt[Decimal] { return &p.FloorBp }),
	may("floorOn", extensible("reference", "allIn"), func(p *Pricing) *Opt[string] { return &p.FloorOn }).
		doc("the rate that doesn't fall below the floor"),
	may("fixedRateBp", basisBp, func(p *Pricing) *Opt[Decimal] { return &p.FixedRateBp }),
	need("marginSteps", list(marginStep.kind()), func(p *Pricing) *[]MarginStep { return &p.MarginSteps }).
		doc("the margin from later dates on"),
)

// Facility is the payload of Facilities.
type Facility struct {
	ProjectIDs        []string
	Lender            string
	Type              string
	Currency          string
	Commitment        int64
	Revolving         bool
	Availability      DateRange
	Maturity          calendar.Date
	DayCount          string
	Pricing           Pricing
	CommitmentFeeBp   Decimal
	InterestTreatment string
	FirstIpd          Opt[calendar.Date]
	IpdEveryMonths    Opt[int]
	Ipds              Opt[[]calendar.Date]
}

var facility = table("facility", "A loan; its `id` is the facilityId.",
	need("projectIds", some(list(id)), func(f *Facility) *[]string { return &f.ProjectIDs }).
		doc("the projects that it finances, at least one"),
	need("lender", text, func(f *Facility) *string { return &f.Lender }),
	need("type", extensible("construction", "investment", "bridge", "shareholder"),
		func(f *Facility) *string { return &f.Type }),
	need("currency", currency, func(f *Facility) *string { return &f.Currency }),
	need("commitment", minor, func(f *Facility) *int64 { return &f.Commitment }),
	need("revolving", boolean, func(f *Facility) *bool { return &f.Revolving }).
		doc("whether repaid money can be drawn again"),
	need("availability", dateRange.kind(), func(f *Facility) *DateRange { return &f.Availability }),
	need("maturity", date, func(f *Facility) *calendar.Date { return &f.Maturity }).
		doc("after `availability.from`"),
	need("dayCount", enum("ACT/360", "ACT/365", "30/360"), func(f *Facility) *string { return &f.DayCount }),
	need("pricing", pricing.kind(), func(f *Facility) *Pricing { return &f.Pricing }),
	need("commitmentFeeBp", basisBp, func(f *Facility) *Decimal { return &f.CommitmentFeeBp }).
		doc("a year"),
	need("interestTreatment", extensible("paid", "capitalised"), func(f *Facility) *string { return &f.InterestTreatment }),
	may("firstIpd", date, func(f *Facility) *Opt[calendar.Date] { return &f.FirstIpd }).
		doc("the first interest payment date"),
	may("ipdEveryMonths", months, func(f *Facility) *Opt[int] { return &f.IpdEveryMonths }).
		doc("the months between two interest payment dates"),
	may("ipds", list(date), func(f *Facility) *Opt[[]calendar.Date] { return &f.Ipds }).
		doc("the interest payment dates themselves; they count when given"),
)

func checkFacility(d *decoder, _ *Envelope, f *Facility) {
	if f.Maturity <= f.Availability.From {
		d.failAt("data.maturity", "must be after availability.from (%s), but is %s", f.Availability.From, f.Maturity)
	}
}

// Fixing is the payload of Fixings.
type Fixing struct {
	FacilityID  string
	PeriodStart calendar.Date
	ReferenceBp Decimal
}

var fixing = table("fixing", "The reference rate of one interest period.",
	need("facilityId", id, func(f *Fixing) *string { return &f.FacilityID }),
	need("periodStart", date, func(f *Fixing) *calendar.Date { return &f.PeriodStart }),
	need("referenceBp", basisBp, func(f *Fixing) *Decimal { return &f.ReferenceBp }).
		doc("may be negative"),
)

// FacilityEntry is the payload of FacilityEntries.
type FacilityEntry struct {
	FacilityID string
	Kind       string
	Status     string
	Date       calendar.Date
	Value      int64
}

var facilityEntry = table("facilityEntry", "A movement of a loan: a drawdown, a repayment, or interest that is capitalised; "+
	"its `id` is the entryId.",
	need("facilityId", id, func(e *FacilityEntry) *string { return &e.FacilityID }),
	need("kind", extensible("drawdown", "interest", "repayment"), func(e *FacilityEntry) *string { return &e.Kind }),
	need("status", extensible("planned", "requested", "funded"), func(e *FacilityEntry) *string { return &e.Status }),
	need("date", date, func(e *FacilityEntry) *calendar.Date { return &e.Date }).
		doc("the value date"),
	need("value", integer(1, MaxAmount), func(e *FacilityEntry) *int64 { return &e.Value }).
		doc("minor units of the facility's currency"),
)
