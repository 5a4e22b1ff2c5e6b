package reader

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Facility is a loan facility with its figures (docs/calculations.md#facilities).
type Facility struct {
	analytics.Facility
	Figures FacilityFigures
}

// FacilityFigures are what is computed of a facility.
type FacilityFigures struct {
	analytics.FacilityPosition
	NextIPD events.Opt[calendar.Date]
	LTCBp   events.Opt[int64]
}

// FinancedProject is a project that loans may finance, with its currency.
type FinancedProject struct {
	ProjectRef
	Currency string
}

// FacilityPage says which facilities are wanted: those that finance the project and none but Projects.
type FacilityPage struct {
	Tenant    string
	ProjectID string
	Projects  []FinancedProject
	After     string // id
	Limit     int
	Today     calendar.Date // in Vienna
}

// FacilityEntryPlace is a place in the list of a facility's entries.
type FacilityEntryPlace struct {
	Date calendar.Date
	ID   string
}

// FacilityEntryPage says which entries of a facility are wanted.
type FacilityEntryPage struct {
	Tenant     string
	FacilityID string
	After      events.Opt[FacilityEntryPlace]
	Limit      int
}

var facilityColumns = columns[analytics.Facility]{
	member("id", plain, func(f *analytics.Facility) *string { return &f.ID }),
	member("project_ids", plain, func(f *analytics.Facility) *[]string { return &f.ProjectIDs }),
	member("lender", plain, func(f *analytics.Facility) *string { return &f.Lender }),
	member("type", plain, func(f *analytics.Facility) *string { return &f.Type }),
	member("currency", plain, func(f *analytics.Facility) *string { return &f.Currency }),
	member("commitment", plain, func(f *analytics.Facility) *int64 { return &f.Commitment }),
	member("revolving", plain, func(f *analytics.Facility) *bool { return &f.Revolving }),
	member("toInt32(availability_from)", knownDay,
		func(f *analytics.Facility) *calendar.Date { return &f.Availability.From }),
	member("toInt32(availability_to)", knownDay,
		func(f *analytics.Facility) *calendar.Date { return &f.Availability.To }),
	member("toInt32(maturity)", knownDay, func(f *analytics.Facility) *calendar.Date { return &f.Maturity }),
	member("day_count", plain, func(f *analytics.Facility) *string { return &f.DayCount }),
	member("reference_rate", plain, func(f *analytics.Facility) *string { return &f.Pricing.ReferenceRate }),
	member("margin_bp", decimal, func(f *analytics.Facility) *events.Decimal { return &f.Pricing.MarginBp }),
	member("floor_bp", nullableDecimal,
		func(f *analytics.Facility) *events.Opt[events.Decimal] { return &f.Pricing.FloorBp }),
	member("floor_on", optional, func(f *analytics.Facility) *events.Opt[string] { return &f.Pricing.FloorOn }),
	member("fixed_rate_bp", nullableDecimal,
		func(f *analytics.Facility) *events.Opt[events.Decimal] { return &f.Pricing.FixedRateBp }),
	elements("arrayMap(d -> toInt32(d), margin_step_from)", marginSteps,
		func(s *events.MarginStep, from int32) { s.From = calendar.Date(from) }),
	member("margin_step_margin_bp", marginsOfSteps, marginSteps),
	member("commitment_fee_bp", decimal, func(f *analytics.Facility) *events.Decimal { return &f.CommitmentFeeBp }),
	member("interest_treatment", plain, func(f *analytics.Facility) *string { return &f.InterestTreatment }),
	member("toInt32(first_ipd)", day, func(f *analytics.Facility) *events.Opt[calendar.Date] { return &f.FirstIpd }),
	member("ipd_every_months", countOrNone, func(f *analytics.Facility) *events.Opt[int] { return &f.IpdEveryMonths }),
	elements("arrayMap(d -> toInt32(d), ipds)", func(f *analytics.Facility) *[]calendar.Date { return &f.Ipds.V },
		func(into *calendar.Date, d int32) { *into = calendar.Date(d) }),
}

var facilityEntryColumns = columns[analytics.FacilityEntry]{
	member("id", plain, func(e *analytics.FacilityEntry) *string { return &e.ID }),
	member("kind", plain, func(e *analytics.FacilityEntry) *string { return &e.Kind }),
	member("status", plain, func(e *analytics.FacilityEntry) *string { return &e.Status }),
	member("toInt32(date)", knownDay, func(e *analytics.FacilityEntry) *calendar.Date { return &e.Date }),
	member("value", plain, func(e *analytics.FacilityEntry) *int64 { return &e.Value }),
}

var fixingColumns = columns[analytics.Fixing]{
	member("id", plain, func(f *analytics.Fixing) *string { return &f.ID }),
	member("toInt32(period_start)", knownDay, func(f *analytics.Fixing) *calendar.Date { return &f.PeriodStart }),
	member("reference_bp", decimal, func(f *analytics.Fixing) *events.Decimal { return &f.ReferenceBp }),
}

func marginSteps(f *analytics.Facility) *[]events.MarginStep { return &f.Pricing.MarginSteps }

// marginsOfSteps puts the margins into steps whose days have been read.
func marginsOfSteps(into *[]events.MarginStep) (any, func() error) {
	scanned := new([]string)
	return scanned, func() (err error) {
		if len(*scanned) != len(*into) {
			return fmt.Errorf("%d margins for %d steps", len(*scanned), len(*into))
		}
		for i, bp := range *scanned {
			if (*into)[i].MarginBp, err = events.ParseDecimal(bp); err != nil {
				return fmt.Errorf("read a stored margin: %w", err)
			}
		}
		return nil
	}
}

func (p FacilityPage) query(ask int) Query {
	return Query{
		SQL: "SELECT " + facilityColumns.String() + `
FROM facilities FINAL
WHERE tenant = {tenant:String} AND project = '' AND id > {after:String} AND NOT deleted
  AND has(project_ids, {project:String}) AND hasAll({projects:Array(String)}, project_ids)
ORDER BY id
LIMIT {limit:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "project": p.ProjectID, "projects": financedIDs(p.Projects),
			"after": p.After, "limit": ask},
	}
}

// facilityQuery finds a facility that finances none but these projects.
func facilityQuery(tenant, id string, projects []FinancedProject) Query {
	return Query{
		SQL: "SELECT " + facilityColumns.String() + `
FROM facilities FINAL
WHERE tenant = {tenant:String} AND project = '' AND id = {id:String} AND NOT deleted
  AND hasAll({projects:Array(String)}, project_ids)`,
		Args: map[string]any{"tenant": tenant, "id": id, "projects": financedIDs(projects)},
	}
}

func financedIDs(projects []FinancedProject) []string {
	ids := make([]string, len(projects))
	for i, p := range projects {
		ids[i] = p.ID
	}
	return ids
}

// entryRolls are the kinds of entries by the roll that has their sums.
var entryRolls = map[string]string{
	schema.RollDrawdowns.Roll().Name:   "drawdown",
	schema.RollCapitalised.Roll().Name: "interest",
	schema.RollRepayments.Roll().Name:  "repayment",
}

// entrySumsQuery sums up the entries of facilities: of a roll each kind, of a sum each status.
func entrySumsQuery(tenant string, facilities []string) Query {
	return Query{
		SQL: "SELECT project, toString(roll), toString(status), " + packed("sum(value)") + `
FROM sums
WHERE tenant = {tenant:String} AND project IN {facilities:Array(String)} AND ` + ofRolls(slices.Sorted(maps.Keys(entryRolls))...) + `
GROUP BY project, roll, status`,
		Args: map[string]any{"tenant": tenant, "facilities": facilities},
	}
}

func (p FacilityEntryPage) query(ask int) Query {
	after := p.After.Or(FacilityEntryPlace{Date: math.MinInt32})
	return Query{
		SQL: "SELECT " + facilityEntryColumns.String() + `
FROM facility_entries FINAL
WHERE tenant = {tenant:String} AND project = {facility:String} AND NOT deleted
  AND (toInt32(date), id) > ({date:Int32}, {after:String})
ORDER BY date, id
LIMIT {limit:UInt32}`,
		Args: map[string]any{"tenant": p.Tenant, "facility": p.FacilityID, "date": int32(after.Date), "after": after.ID,
			"limit": ask},
	}
}

// facilityPartQuery reads all of a table that belongs to a facility.
func facilityPartQuery[T any](columns columns[T], table, tenant, facility string) Query {
	return Query{
		SQL: "SELECT " + columns.String() + "\nFROM " + table + ` FINAL
WHERE tenant = {tenant:String} AND project = {facility:String} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "facility": facility},
	}
}

// Facilities returns a page of facilities with their figures, ascending by id, and whether others follow. It is cut
// where facilities are large, or need many budgets.
func (r *Reader) Facilities(ctx context.Context, p FacilityPage) (page []Facility, more bool, err error) {
	has, more, err := r.page(ctx, pageSettings, p.Limit, func(ask int, settings clickhouse.Settings) (int, error) {
		page = nil
		err := facilityColumns.read(ctx, r, p.query(ask), settings, func(row *analytics.Facility) error {
			page = append(page, Facility{Facility: *row})
			return nil
		})
		return len(page), err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read facilities: %w", err)
	}
	if has == 0 {
		return nil, false, nil
	}
	costs := newProjectCosts(p.Projects)
	affordable := costs.need(page[:has])
	page, more = page[:affordable], more || affordable < has
	err = Together(
		func() error { return r.facilityPositions(ctx, p.Tenant, page) },
		func() error { return costs.read(ctx, r, p.Tenant) })
	if err != nil {
		return nil, false, fmt.Errorf("read the figures of facilities: %w", err)
	}
	for i := range page {
		f := &page[i]
		f.Figures.NextIPD = f.NextIPD(p.Today)
		f.Figures.LTCBp = f.LTCBp(costs.of(f))
	}
	return page, more, nil
}

// facilityPositions fills in what of the facilities is used.
func (r *Reader) facilityPositions(ctx context.Context, tenant string, page []Facility) error {
	ids, sums := make([]string, len(page)), make(map[string][]analytics.EntrySum)
	for i := range page {
		ids[i] = page[i].ID
	}
	var id, roll, status, packed string
	err := r.each(ctx, entrySumsQuery(tenant, ids), budgetSettings, func(scan func(...any) error) error {
		if err := scan(&id, &roll, &status, &packed); err != nil {
			return err
		}
		sum := analytics.EntrySum{Kind: entryRolls[roll], Status: status}
		if err := unpack(packed, &sum.Value); err != nil {
			return err
		}
		sums[id] = append(sums[id], sum)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sum up their entries: %w", err)
	}
	for i := range page {
		page[i].Figures.FacilityPosition = page[i].Position(sums[page[i].ID])
	}
	return nil
}

// Facility returns the facility of this id, or ErrNotFound when there is none or it finances more than these projects.
func (r *Reader) Facility(ctx context.Context, tenant, id string,
	projects []FinancedProject) (analytics.Facility, error) {
	var found analytics.Facility
	if len(projects) == 0 {
		return found, ErrNotFound
	}
	is := false
	query := facilityQuery(tenant, id, projects)
	err := facilityColumns.read(ctx, r, query, pageSettings, func(row *analytics.Facility) error {
		found, is = *row, true
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("read a facility: %w", err)
	}
	if !is {
		return found, ErrNotFound
	}
	return found, nil
}

// FacilityEntries returns a page of a facility's entries, by date, then by id, and whether others follow.
func (r *Reader) FacilityEntries(ctx context.Context,
	p FacilityEntryPage) (page []analytics.FacilityEntry, more bool, err error) {
	has, more, err := r.page(ctx, pageSettings, p.Limit, func(ask int, settings clickhouse.Settings) (int, error) {
		page = nil
		err := facilityEntryColumns.read(ctx, r, p.query(ask), settings, appendTo(&page))
		return len(page), err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read the entries of a facility: %w", err)
	}
	for i := range page {
		page[i].FacilityID = p.FacilityID
	}
	return page[:has], more, nil
}

// FacilitySchedule returns the interest periods of a facility.
func (r *Reader) FacilitySchedule(ctx context.Context, tenant string, f *analytics.Facility,
	request analytics.ScheduleRequest) ([]analytics.FacilityPeriod, error) {
	var entries []analytics.FacilityEntry
	var fixings []analytics.Fixing
	err := Together(func() error {
		q := facilityPartQuery(facilityEntryColumns, "facility_entries", tenant, f.ID)
		return facilityEntryColumns.read(ctx, r, q, pageSettings, appendTo(&entries))
	}, func() error {
		q := facilityPartQuery(fixingColumns, "fixings", tenant, f.ID)
		return fixingColumns.read(ctx, r, q, pageSettings, appendTo(&fixings))
	})
	if err != nil {
		return nil, fmt.Errorf("read the schedule of a facility: %w", err)
	}
	return f.Schedule(entries, fixings, request), nil
}

// appendTo takes every row into a list.
func appendTo[T any](list *[]T) func(row *T) error {
	return func(row *T) error {
		*list = append(*list, *row)
		return nil
	}
}
