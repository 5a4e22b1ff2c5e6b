package reader

import (
	"context"
	"fmt"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// RentSources returns what each lease puts into a rent roll, and the units that its areas are made of.
func (r *Reader) RentSources(ctx context.Context, request RentRollRequest) ([]analytics.RentSource, []analytics.Unit, error) {
	in, err := r.rentRollInput(ctx, request)
	if err != nil {
		return nil, nil, fmt.Errorf("read what a rent roll is made of: %w", err)
	}
	return analytics.RentSources(in, request.Month, request.Today), in.Units, nil
}

// LeaseTerms are those of a lease as they were agreed, with the values of the index that its rent follows.
type LeaseTerms struct {
	ID string
	events.Lease
	Indexes *analytics.Indexes
}

var leaseTermColumns = columns[LeaseTerms]{
	member("id", plain, func(l *LeaseTerms) *string { return &l.ID }),
	member("project", plain, func(l *LeaseTerms) *string { return &l.ProjectID }),
	member("category", plain, func(l *LeaseTerms) *string { return &l.Category }),
	member("counterparty_name", nullable, func(l *LeaseTerms) *events.Opt[string] { return &l.CounterpartyName }),
	member("status", plain, func(l *LeaseTerms) *string { return &l.Status }),
	member("unit_ids", plain, func(l *LeaseTerms) *[]string { return &l.UnitIDs }),
	member("toInt32(start_date)", date, func(l *LeaseTerms) *calendar.Date { return &l.Start }),
	member("toInt32(end_date)", day, func(l *LeaseTerms) *events.Opt[calendar.Date] { return &l.End }),
	member("currency", plain, func(l *LeaseTerms) *string { return &l.Currency }),
	member("monthly_rent", plain, func(l *LeaseTerms) *int64 { return &l.MonthlyRent }),
	elements("arrayMap(d -> toInt32(d), step_from)", stepsOf, func(s *events.RentStep, from int32) { s.From = calendar.Date(from) }),
	elements("step_monthly_rent", stepsOf, func(s *events.RentStep, rent int64) { s.MonthlyRent = rent }),
	elements("arrayMap(d -> toInt32(d), rent_free_from)", rentFreeOf, func(r *events.DateRange, from int32) { r.From = calendar.Date(from) }),
	elements("arrayMap(d -> toInt32(d), rent_free_to)", rentFreeOf, func(r *events.DateRange, to int32) { r.To = calendar.Date(to) }),
	elements("arrayMap(d -> toInt32(d), break_date)", breaksOf, func(b *events.Break, on int32) { b.Date = calendar.Date(on) }),
	elements("break_party", breaksOf, func(b *events.Break, party string) { b.Party = party }),
	elements("break_state", breaksOf, func(b *events.Break, state string) { b.State = state }),
	member("indexation_text", nullable, func(l *LeaseTerms) *events.Opt[string] { return &l.IndexationText }),
}

func stepsOf(l *LeaseTerms) *[]events.RentStep     { return &l.Steps }
func rentFreeOf(l *LeaseTerms) *[]events.DateRange { return &l.RentFree }
func breaksOf(l *LeaseTerms) *[]events.Break       { return &l.Breaks }

// leaseWithTerms is a row: what the rent follows apart.
type leaseWithTerms struct {
	LeaseTerms
	index events.Indexation
}

var leaseWithTermsColumns = append(
	inside(func(l *leaseWithTerms) *LeaseTerms { return &l.LeaseTerms }, leaseTermColumns),
	inside(func(l *leaseWithTerms) *events.Indexation { return &l.index }, indexationColumns)...)

func leaseQuery(tenant, project, id string) Query {
	return Query{
		SQL: "SELECT " + leaseWithTermsColumns.String() + `
FROM leases FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id = {id:String} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "project": project, "id": id},
	}
}

// Lease returns a lease of a project, or ErrNotFound.
func (r *Reader) Lease(ctx context.Context, tenant, project, id string) (LeaseTerms, error) {
	var found []leaseWithTerms
	err := leaseWithTermsColumns.read(ctx, r, leaseQuery(tenant, project, id), pageSettings, appendTo(&found))
	if err != nil {
		return LeaseTerms{}, fmt.Errorf("read a lease: %w", err)
	}
	if len(found) == 0 {
		return LeaseTerms{}, ErrNotFound
	}
	l := found[0]
	if l.index.Type == "" {
		return l.LeaseTerms, nil
	}
	l.Indexation = events.Some(l.index)
	var values []events.IndexValue
	err = indexColumns.read(ctx, r, seriesQuery(tenant, []string{l.index.Series}), pageSettings, appendTo(&values))
	if err != nil {
		return LeaseTerms{}, fmt.Errorf("read the index of a lease: %w", err)
	}
	l.Indexes = analytics.NewIndexes(values)
	return l.LeaseTerms, nil
}
