package api

import (
	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

type facilityField = resource.Field[reader.Facility]

// facilityTable is what the API shows of a loan facility (docs/calculations.md#facilities).
var facilityTable = resource.NewTable("Facility", "A loan facility, which may finance several projects.",
	facilityField{Name: "facilityId", Groups: access.Financial,
		Value: resource.Text(func(f *reader.Facility) string { return f.ID })},
	facilityField{Name: "projectIds", Groups: access.Financial,
		Value:       resource.Texts(func(f *reader.Facility) []string { return f.ProjectIDs }),
		Description: "The projects that it finances."},
	facilityField{Name: "lender", Groups: access.Financial,
		Value: resource.Text(func(f *reader.Facility) string { return f.Lender })},
	facilityField{Name: "type", Groups: access.Financial,
		Value: resource.Text(func(f *reader.Facility) string { return f.Type }).
			OneOf("construction", "investment", "bridge", "shareholder")},
	facilityField{Name: "currency", Groups: access.Financial,
		Value: resource.Currency(func(f *reader.Facility) string { return f.Currency })},
	facilityFigure("commitment", "What the lender grants.",
		func(f *reader.Facility) analytics.Int128 { return analytics.Int(f.Commitment) }),
	facilityFigure("drawn", "Funded drawdowns, capitalised interest included, less funded repayments.",
		func(f *reader.Facility) analytics.Int128 { return f.Figures.Drawn }),
	facilityFigure("requested", "Drawdowns that are requested and not funded yet.",
		func(f *reader.Facility) analytics.Int128 { return f.Figures.Requested }),
	facilityFigure("available", "The commitment less what was drawn so far, on a revolving facility less what is drawn now, "+
		"and less what is requested. It may be negative, and is not cut when the availability ends.",
		func(f *reader.Facility) analytics.Int128 { return f.Figures.Available }),
	facilityField{Name: "availability", Groups: access.Financial,
		Value: resource.Object(availabilityTable, func(f *reader.Facility) *events.DateRange { return &f.Availability })},
	facilityField{Name: "maturity", Groups: access.Financial,
		Value: resource.Date(func(f *reader.Facility) calendar.Date { return f.Maturity })},
	facilityField{Name: "pricing", Groups: access.Financial,
		Value: resource.Object(pricingTable, func(f *reader.Facility) *analytics.Facility { return &f.Facility })},
	facilityField{Name: "interestTreatment", Groups: access.Financial,
		Value: resource.Text(func(f *reader.Facility) string { return f.InterestTreatment }).OneOf("paid", "capitalised"),
		Description: "Capitalised: interest of the past is among the drawdowns. Future interest is not capitalised by " +
			"itself."},
	facilityField{Name: "nextIpd", Groups: access.Financial,
		Value:       resource.NullDate(func(f *reader.Facility) events.Opt[calendar.Date] { return f.Figures.NextIPD }),
		Description: "The next interest payment date, today included; null when there is none left."},
	facilityField{Name: "ltcBp", Groups: access.Financial,
		Value: resource.Whole(func(f *reader.Facility) int64 { return f.Figures.LTCBp.V }).
			When(func(f *reader.Facility) bool { return f.Figures.LTCBp.Ok }),
		Description: "Loan to cost: the commitment in basis points of the live estimates of all projects that it finances. " +
			"Left out when one of them has another currency, or they are estimated at nothing."},
)

// facilityFigure is left out where it is beyond the range of amounts.
func facilityFigure(name, description string, get func(f *reader.Facility) analytics.Int128) facilityField {
	return facilityField{Name: name, Groups: access.Amounts, Description: description,
		Value: resource.FigureOrNothing(func(f *reader.Facility) (analytics.Int128, string) { return get(f), f.Currency })}
}

var availabilityTable = resource.NewTable("Availability", "The days on which a facility can be drawn, both ends included.",
	resource.Field[events.DateRange]{Name: "from", Groups: access.Financial, Required: true,
		Value: resource.Date(func(r *events.DateRange) calendar.Date { return r.From })},
	resource.Field[events.DateRange]{Name: "to", Groups: access.Financial, Required: true,
		Value: resource.Date(func(r *events.DateRange) calendar.Date { return r.To })},
)

type pricingField = resource.Field[analytics.Facility]

var pricingTable = resource.NewTable("Pricing", "The price of a loan, in basis points a year.",
	pricingField{Name: "referenceRate", Groups: access.Financial, Required: true,
		Value: resource.Text(func(f *analytics.Facility) string { return f.Pricing.ReferenceRate })},
	pricingField{Name: "marginBp", Groups: access.Financial, Required: true,
		Value:       resource.Number(func(f *analytics.Facility) events.Decimal { return f.Pricing.MarginBp }),
		Description: "Until the first of the marginSteps."},
	pricingField{Name: "floorBp", Groups: access.Financial, Required: true,
		Value:       resource.NullNumber(func(f *analytics.Facility) events.Opt[events.Decimal] { return f.Pricing.FloorBp }),
		Description: "Null: there is no floor, not even 0."},
	pricingField{Name: "floorOn", Groups: access.Financial,
		Value:       resource.Text((*analytics.Facility).FloorOn).OneOf("reference", "allIn"),
		Description: "allIn: the floor applies to reference rate and margin together."},
	pricingField{Name: "fixedRateBp", Groups: access.Financial,
		Value: resource.Number(func(f *analytics.Facility) events.Decimal { return f.Pricing.FixedRateBp.V }).
			When(func(f *analytics.Facility) bool { return f.Pricing.FixedRateBp.Ok }),
		Description: "All that is paid: no reference rate, margin or floor counts. Left out when the rate is not fixed."},
	pricingField{Name: "marginSteps", Groups: access.Financial,
		Value:       resource.List(marginStepTable, (*analytics.Facility).MarginSteps),
		Description: "Later margins, by date."},
)

var marginStepTable = resource.NewTable("MarginStep", "A margin that counts from a date on.",
	resource.Field[events.MarginStep]{Name: "from", Groups: access.Financial, Required: true,
		Value: resource.Date(func(s *events.MarginStep) calendar.Date { return s.From })},
	resource.Field[events.MarginStep]{Name: "marginBp", Groups: access.Financial, Required: true,
		Value: resource.Number(func(s *events.MarginStep) events.Decimal { return s.MarginBp })},
)

// facilityPeriod is an interest period, in the facility's currency.
type facilityPeriod struct {
	*analytics.FacilityPeriod
	currency string
}

func schedulePeriods(s *schedule) []facilityPeriod {
	all := make([]facilityPeriod, len(s.periods))
	for i := range s.periods {
		all[i] = facilityPeriod{&s.periods[i], s.Currency}
	}
	return all
}

type periodField = resource.Field[facilityPeriod]

// periodTable is what the API shows of an interest period (docs/calculations.md#interest-periods).
var periodTable = resource.NewTable("FacilityPeriod",
	"An interest period. Rates are those of its first day, in basis points a year.",
	periodField{Name: "start", Groups: access.Financial,
		Value: resource.Date(func(p *facilityPeriod) calendar.Date { return p.Start })},
	periodField{Name: "end", Groups: access.Financial,
		Value:       resource.Date(func(p *facilityPeriod) calendar.Date { return p.End }),
		Description: "The start of the next period, or maturity: the day itself is not part of the period."},
	periodField{Name: "days", Groups: access.Financial,
		Value:       resource.Whole(func(p *facilityPeriod) int64 { return int64(p.Days) }),
		Description: "By the facility's day count."},
	periodField{Name: "referenceBp", Groups: access.Financial,
		Value:       resource.NullNumber(func(p *facilityPeriod) events.Opt[events.Decimal] { return p.ReferenceBp }),
		Description: "As it was fixed, before any floor."},
	periodField{Name: "marginBp", Groups: access.Financial,
		Value: resource.NullNumber(func(p *facilityPeriod) events.Opt[events.Decimal] { return p.MarginBp })},
	periodField{Name: "rateBp", Groups: access.Financial,
		Value:       resource.NullNumber(func(p *facilityPeriod) events.Opt[events.Decimal] { return p.RateBp }),
		Description: "What is paid; null while no reference rate is known."},
	periodField{Name: "rateChanges", Groups: access.Financial,
		Value:       resource.List(rateChangeTable, func(p *facilityPeriod) []analytics.RateChange { return p.RateChanges }),
		Description: "The margin steps within the period, by date."},
	periodField{Name: "projected", Groups: access.Financial,
		Value:       resource.Flag(func(p *facilityPeriod) bool { return p.Projected }),
		Description: "True while the reference rate is not fixed: that of the latest period before counts."},
	periodFigure("openingBalance", "What is outstanding before the period's first day.",
		func(p *facilityPeriod) analytics.Int128 { return p.OpeningBalance }),
	periodFigure("balance", "What is outstanding at the end.",
		func(p *facilityPeriod) analytics.Int128 { return p.Balance }),
	periodField{Name: "interest", Groups: access.Amounts,
		Value: resource.NullFigure(func(p *facilityPeriod) (events.Opt[analytics.Int128], string) {
			return p.Interest, p.currency
		}),
		Description: "Null while something is outstanding at a rate that is not known."},
	periodFigure("commitmentFee", "The price of what is not drawn, on the days of the availability.",
		func(p *facilityPeriod) analytics.Int128 { return p.CommitmentFee }),
)

// periodFigure is left out where it is beyond the range of amounts.
func periodFigure(name, description string, get func(p *facilityPeriod) analytics.Int128) periodField {
	return periodField{Name: name, Groups: access.Amounts, Description: description,
		Value: resource.FigureOrNothing(func(p *facilityPeriod) (analytics.Int128, string) { return get(p), p.currency })}
}

var rateChangeTable = resource.NewTable("RateChange", "A step of the margin within an interest period.",
	resource.Field[analytics.RateChange]{Name: "from", Groups: access.Financial,
		Value: resource.Date(func(r *analytics.RateChange) calendar.Date { return r.From })},
	resource.Field[analytics.RateChange]{Name: "marginBp", Groups: access.Financial,
		Value: resource.NullNumber(func(r *analytics.RateChange) events.Opt[events.Decimal] { return r.MarginBp })},
	resource.Field[analytics.RateChange]{Name: "rateBp", Groups: access.Financial,
		Value: resource.NullNumber(func(r *analytics.RateChange) events.Opt[events.Decimal] { return r.RateBp })},
)

// facilityEntry is a movement of a facility, in its currency.
type facilityEntry struct {
	analytics.FacilityEntry
	currency string
}

type entryField = resource.Field[facilityEntry]

var facilityEntryTable = resource.NewTable("FacilityEntry", "A drawdown, a repayment or capitalised interest of a facility.",
	entryField{Name: "entryId", Groups: access.Financial,
		Value: resource.Text(func(e *facilityEntry) string { return e.ID })},
	entryField{Name: "facilityId", Groups: access.Financial,
		Value: resource.Text(func(e *facilityEntry) string { return e.FacilityID })},
	entryField{Name: "kind", Groups: access.Financial,
		Value:       resource.Text(func(e *facilityEntry) string { return e.Kind }).OneOf("drawdown", "interest", "repayment"),
		Description: "interest: interest that was capitalised."},
	entryField{Name: "status", Groups: access.Financial,
		Value: resource.Text(func(e *facilityEntry) string { return e.Status }).OneOf("planned", "requested", "funded")},
	entryField{Name: "date", Groups: access.Financial,
		Value:       resource.Date(func(e *facilityEntry) calendar.Date { return e.Date }),
		Description: "The value date."},
	entryField{Name: "amount", Groups: access.Amounts,
		Value: resource.FigureOrNothing(func(e *facilityEntry) (analytics.Int128, string) {
			return analytics.Int(e.Value), e.currency
		}),
		Description: "Positive, of repayments too."},
)
