package api

import (
	"context"
	"fmt"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// shownRentRoll is the rent roll of a project in a month.
type shownRentRoll struct {
	analytics.ProjectRentRoll
	projectID string
	currency  string
	asOf      calendar.Month
}

type (
	rentRollField = resource.Field[shownRentRoll]
	leaseField    = resource.Field[analytics.RentRollLease]
)

// rentRollTable is what the API shows of a rent roll (docs/calculations.md#rent-roll).
var rentRollTable = resource.NewTable("RentRoll",
	"Who rents what in a month, and what it brings in. Amounts are net; leases in other currencies are in no total.",
	rentRollField{Name: "projectId", Groups: access.Amounts,
		Value: resource.Text(func(r *shownRentRoll) string { return r.projectID })},
	rentRollField{Name: "asOf", Groups: access.Amounts,
		Value: resource.Month(func(r *shownRentRoll) calendar.Month { return r.asOf })},
	rentRollField{Name: "currency", Groups: access.Amounts,
		Value:       resource.Currency(func(r *shownRentRoll) string { return r.currency }),
		Description: "The project's currency, ISO 4217."},
	rent("passingRentAnnual", "Twelve times the rent payable in the month, of all leases in force.",
		func(r *shownRentRoll) analytics.Int128 { return r.PassingRentAnnual }),
	rent("passingRentOtherAnnual", "Of it, that of current-use agreements.",
		func(r *shownRentRoll) analytics.Int128 { return r.PassingRentOtherAnnual }),
	rent("forwardRent12m", "The rent of this month and the eleven that follow, of signed and active leases.",
		func(r *shownRentRoll) analytics.Int128 { return r.ForwardRent12m }),
	number("letAreaM2", "Square metres of the scheme that are let.",
		func(r *shownRentRoll) events.Opt[events.Decimal] { return r.LetAreaM2 }),
	number("totalAreaM2", "Square metres of the scheme, without parking and areas in current use.",
		func(r *shownRentRoll) events.Opt[events.Decimal] { return r.TotalAreaM2 }),
	rentRollField{Name: "vacancyPct", Groups: access.Amounts,
		Value:       resource.NullNumber(func(r *shownRentRoll) events.Opt[events.Decimal] { return r.VacancyPct }),
		Description: "The part of the scheme's area that is not let, in percent; null without any area."},
	number("waultToExpiryYears", "The average remaining term, weighted by rent, in years.",
		func(r *shownRentRoll) events.Opt[events.Decimal] { return r.WAULTToExpiryYears }),
	number("waultToBreakYears", "The same to the first day on which tenants may leave.",
		func(r *shownRentRoll) events.Opt[events.Decimal] { return r.WAULTToBreakYears }),
	rentRollField{Name: "leases", Groups: access.Amounts,
		Value:       resource.List(rentRollLeaseTable, func(r *shownRentRoll) []analytics.RentRollLease { return r.Leases }),
		Description: "The leases in force in the month, ascending by id."},
)

func rent(name, description string, get func(r *shownRentRoll) analytics.Int128) rentRollField {
	return rentRollField{Name: name, Groups: access.Amounts, Description: description + " " + outsideRange,
		Value: resource.FigureOrNothing(func(r *shownRentRoll) (analytics.Int128, string) { return get(r), r.currency })}
}

// outsideRange is said of figures that cannot be null (docs/api.md#limits).
const outsideRange = "Left out when it is beyond the range of amounts."

func number(name, description string, get func(r *shownRentRoll) events.Opt[events.Decimal]) rentRollField {
	return rentRollField{Name: name, Groups: access.Amounts, Description: description,
		Value: resource.Number(func(r *shownRentRoll) events.Decimal { return get(r).V }).
			When(func(r *shownRentRoll) bool { return get(r).Ok })}
}

var rentRollLeaseTable = resource.NewTable("RentRollLease", "A lease in force, seen from the month of the rent roll.",
	leaseField{Name: "leaseId", Groups: access.Amounts,
		Value: resource.Text(func(l *analytics.RentRollLease) string { return l.ID })},
	leaseField{Name: "category", Groups: access.Amounts,
		Value:       resource.Text(func(l *analytics.RentRollLease) string { return l.Category }).OneOf("main", "other"),
		Description: "main are the scheme's tenants, other are current-use agreements: masts, parking, land use."},
	leaseField{Name: "counterparty", Groups: access.Amounts,
		Value:       resource.NullText(func(l *analytics.RentRollLease) events.Opt[string] { return l.CounterpartyName }),
		Description: "Who rents."},
	leaseField{Name: "status", Groups: access.Amounts,
		Value: resource.Text(func(l *analytics.RentRollLease) string { return l.Status }).
			OneOf("draft", "signed", "active", "ended")},
	leaseField{Name: "unitIds", Groups: access.Amounts,
		Value: resource.Texts(func(l *analytics.RentRollLease) []string { return l.UnitIDs })},
	leaseField{Name: "start", Groups: access.Amounts,
		Value: resource.Date(func(l *analytics.RentRollLease) calendar.Date { return l.Start })},
	leaseField{Name: "end", Groups: access.Amounts,
		Value: resource.Date(func(l *analytics.RentRollLease) calendar.Date { return l.End.V }).
			When(func(l *analytics.RentRollLease) bool { return l.End.Ok }),
		Description: "Left out of an indefinite lease."},
	leaseField{Name: "effectiveEnd", Groups: access.Amounts,
		Value: resource.Date(func(l *analytics.RentRollLease) calendar.Date { return l.EffectiveEnd.V }).
			When(func(l *analytics.RentRollLease) bool { return l.EffectiveEnd.Ok }),
		Description: "The end, or the break that was exercised before it. Left out of an indefinite lease."},
	leaseField{Name: "firstBreak", Groups: access.Amounts,
		Value:       resource.NullDate(func(l *analytics.RentRollLease) events.Opt[calendar.Date] { return l.FirstBreak }),
		Description: "The earliest open break at which the tenant may leave, seen from the month."},
	leaseField{Name: "passingRentAnnual", Groups: access.Amounts,
		Value: resource.FigureOrNothing(func(l *analytics.RentRollLease) (analytics.Int128, string) {
			return l.PassingRentAnnual, l.Currency
		}),
		Description: "Twelve times the rent payable in the month, after steps and indexation, in the lease's currency; 0 in " +
			"a rent-free month. " + outsideRange},
	leaseField{Name: "indexation", Groups: access.Amounts,
		Value:       resource.NullText(func(l *analytics.RentRollLease) events.Opt[string] { return l.IndexationText }),
		Description: "How the rent follows an index, as a text."},
)

var getRentRoll = operation{
	id: "getRentRoll", path: "/v0/projects/{projectId}/rent-roll",
	summary:     "Get a project's rent roll",
	description: "The signed and active leases in force in a month, with the totals of the month.",
	params: []query.Param{
		{Name: "asOf", Type: query.Month(), Description: "The month, of the years 1900 to 2299; the current one by default."},
	},
	check: func(v query.Values) []problem.Parameter {
		month := query.Value[calendar.Month](v, "asOf")
		if month.Ok && (month.V < calendar.MinMonth || month.V > calendar.MaxMonth) {
			return []problem.Parameter{{Name: "asOf",
				Reason: fmt.Sprintf("must be a month from %s to %s", calendar.MinMonth, calendar.MaxMonth)}}
		}
		return nil
	},
	returns: rentRollTable.Reference(),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		shown := shownRentRoll{projectID: project.ID, currency: project.Currency,
			asOf: query.Value[calendar.Month](c.values, "asOf").Or(c.today.Month())}
		// A caller who sees no amounts sees nothing of a rent roll.
		if project.Groups.Has(access.Amounts) {
			var err error
			shown.ProjectRentRoll, err = c.reader.RentRoll(ctx, reader.RentRollRequest{Tenant: c.caller.Tenant(), Project: project.ID,
				Currency: project.Currency, Month: shown.asOf, Today: c.today})
			if err != nil {
				return nil, err
			}
		}
		return writeOne(rentRollTable, project.Groups, &shown), nil
	},
}
