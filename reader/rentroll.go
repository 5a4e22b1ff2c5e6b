package reader

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// RentRollRequest says which rent roll is wanted.
type RentRollRequest struct {
	Tenant   string
	Project  string
	Currency string // of the project
	Month    calendar.Month
	Today    calendar.Date // in Vienna
}

// RentRoll returns the rent roll of a month (docs/calculations.md#rent-roll). Of each lease it reads the runs of months
// that the roll needs, never its steps.
func (r *Reader) RentRoll(ctx context.Context, request RentRollRequest) (analytics.ProjectRentRoll, error) {
	in, err := r.rentRollInput(ctx, request)
	if err != nil {
		return analytics.ProjectRentRoll{}, fmt.Errorf("read a rent roll: %w", err)
	}
	return analytics.RentRoll(in, request.Month, request.Today), nil
}

func (r *Reader) rentRollInput(ctx context.Context, request RentRollRequest) (analytics.RentRollInput, error) {
	in := analytics.RentRollInput{Currency: request.Currency}
	var values []events.IndexValue
	err := together(
		func() error {
			series := make(map[string]bool)
			err := leaseColumns.read(ctx, r, request.leasesQuery(), budgetSettings, func(row *storedLease) error {
				if row.index.Series != "" {
					series[row.index.Series] = true
				}
				in.Leases = append(roomFor(in.Leases, len(in.Leases)), row.lease())
				return nil
			})
			if err != nil || len(series) == 0 {
				return err
			}
			// To find the series of the leases beside the leases would read these a second time.
			return indexColumns.read(ctx, r, seriesQuery(request.Tenant, keys(series)), budgetSettings, appendTo(&values))
		},
		func() error {
			return areaColumns.read(ctx, r, request.areasQuery(), budgetSettings, func(row *analytics.Unit) error {
				in.Units = append(roomFor(in.Units, len(in.Units)), *row)
				return nil
			})
		},
	)
	in.Indexes = analytics.NewIndexes(values)
	return in, err
}

// storedLease is a lease as its row has it: what it is indexed by apart.
type storedLease struct {
	analytics.Lease
	index events.Indexation
}

func (l *storedLease) lease() analytics.Lease {
	if l.index.Type != "" {
		l.Indexation = events.Some(l.index)
	}
	slices.SortFunc(l.Segments, func(a, b analytics.RentSegment) int { return cmp.Compare(a.From, b.From) })
	return l.Lease
}

// noBreak stands in a run for no date.
const noBreak = math.MinInt32

var leaseColumns = append(inside(func(l *storedLease) *events.Indexation { return &l.index }, indexationColumns), columns[storedLease]{
	member("id", plain, func(l *storedLease) *string { return &l.ID }),
	member("category", plain, func(l *storedLease) *string { return &l.Category }),
	member("counterparty_name", nullable, func(l *storedLease) *events.Opt[string] { return &l.CounterpartyName }),
	member("of_status", plain, func(l *storedLease) *string { return &l.Status }),
	member("unit_ids", plain, func(l *storedLease) *[]string { return &l.UnitIDs }),
	member("toInt32(start_date)", date, func(l *storedLease) *calendar.Date { return &l.Start }),
	member("toInt32(end_date)", day, func(l *storedLease) *events.Opt[calendar.Date] { return &l.End }),
	member("toInt32(effective_end)", day, func(l *storedLease) *events.Opt[calendar.Date] { return &l.EffectiveEnd }),
	member("currency", plain, func(l *storedLease) *string { return &l.Currency }),
	member("indexation_text", nullable, func(l *storedLease) *events.Opt[string] { return &l.IndexationText }),
	member("runs", parsed(unpackRuns), func(l *storedLease) *[]analytics.RentSegment { return &l.Segments }),
}...)

// indexationColumns are what the rent of a lease follows. Without anything the type is empty.
var indexationColumns = columns[events.Indexation]{
	member("indexation_type", plain, func(x *events.Indexation) *string { return &x.Type }),
	member("indexation_rate_bp", decimalOrZero, func(x *events.Indexation) *events.Decimal { return &x.RateBp }),
	member("ifNull(toInt32(indexation_first_on), 0)", date, func(x *events.Indexation) *calendar.Date { return &x.FirstOn }),
	member("indexation_every_months", number, func(x *events.Indexation) *int { return &x.EveryMonths }),
	member("indexation_series", plain, func(x *events.Indexation) *string { return &x.Series }),
	member("if(indexation_base_month = '', '1900-01', indexation_base_month)", month,
		func(x *events.Indexation) *calendar.Month { return &x.BaseMonth }),
	member("indexation_threshold_bp", decimalOrZero, func(x *events.Indexation) *events.Decimal { return &x.ThresholdBp }),
	member("indexation_lag_months", number, func(x *events.Indexation) *int { return &x.LagMonths }),
	member("indexation_share_bp", decimalOrZero, func(x *events.Indexation) *events.Decimal { return &x.ShareBp }),
	member("indexation_cap_bp", optionalDecimal, func(x *events.Indexation) *events.Opt[events.Decimal] { return &x.CapBp }),
	member("indexation_floor_bp", optionalDecimal, func(x *events.Indexation) *events.Opt[events.Decimal] { return &x.FloorBp }),
}

// runSize is how many bytes the runs of a lease take each, the least significant byte first: the first and the last
// month, the rent, whether it is free of rent, and the day of the first break. Thousands of leases are scanned several
// times faster with one text each than with an array for each member of their runs.
const runSize = 4 + 4 + 8 + 1 + 4

// packedRun is the expression of a run as a text.
const packedRun = "concat(reinterpretAsFixedString(toInt32(start)), reinterpretAsFixedString(toInt32(last)), " +
	"reinterpretAsFixedString(toInt64(rent)), reinterpretAsFixedString(toUInt8(free)), reinterpretAsFixedString(toInt32(leave)), '')"

func unpackRuns(text string) ([]analytics.RentSegment, error) {
	if len(text)%runSize != 0 {
		return nil, fmt.Errorf("runs of %d bytes, want a multiple of %d", len(text), runSize)
	}
	runs := make([]analytics.RentSegment, len(text)/runSize)
	for i := range runs {
		var b [runSize]byte
		copy(b[:], text[i*runSize:])
		month := func(at int) calendar.Month { return calendar.Month(int32(binary.LittleEndian.Uint32(b[at:]))) }
		runs[i] = analytics.RentSegment{From: month(0), To: month(4), Rent: int64(binary.LittleEndian.Uint64(b[8:])),
			RentFree: b[16] != 0}
		if on := int32(binary.LittleEndian.Uint32(b[17:])); on != noBreak {
			runs[i].FirstBreak = events.Some(calendar.Date(on))
		}
	}
	return runs, nil
}

// monthNumber is a month YYYY-MM as calendar.Month counts.
func monthNumber(column string) string {
	return "toInt32(substring(" + column + ", 1, 4)) * 12 + toInt32(substring(" + column + ", 6, 2)) - 1"
}

// rentRollMonths is how many months a rent roll looks at: its own and the eleven after it.
const rentRollMonths = 12

// leasesQuery reads the leases that are in force in one of the months of the rent roll, with what they pay in them. It
// is one statement, so rows and sums are of one moment.
func (q RentRollRequest) leasesQuery() Query {
	return Query{
		SQL: "SELECT " + leaseColumns.String() + `
FROM (
  SELECT *, toString(status) AS of_status
  FROM leases FINAL
  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted
) AS l
INNER JOIN (
  SELECT of_lease, arrayStringConcat(groupArray(` + packedRun + `)) AS runs
  FROM (
    SELECT lease AS of_lease, ` + monthNumber("month") + " AS start, " + monthNumber("until") + ` AS last,
      toInt64(sum(value)) AS rent, CAST(status = 'rentFree', 'Bool') AS free,
      if(first_break = '', toInt32(` + fmt.Sprint(noBreak) + `), toInt32(toDate32OrZero(toString(first_break)))) AS leave
    FROM sums
    WHERE tenant = {tenant:String} AND project = {project:String} AND ` + ofRolls("rent") + ` AND month <= {last:String} AND until >= {first:String}
    GROUP BY lease, month, until, status, first_break
    HAVING sum(count) > 0
  )
  GROUP BY of_lease
) AS r ON l.id = r.of_lease`,
		Args: map[string]any{"tenant": q.Tenant, "project": q.Project, "first": q.Month.String(), "last": (q.Month + rentRollMonths - 1).String()},
	}
}

var areaColumns = columns[analytics.Unit]{
	member("id", plain, func(u *analytics.Unit) *string { return &u.ID }),
	member("scope", plain, func(u *analytics.Unit) *string { return &u.Scope }),
	member("assumeNotNull(area_m2)", parsed(someDecimal), func(u *analytics.Unit) *events.Opt[events.Decimal] { return &u.AreaM2 }),
}

func someDecimal(text string) (events.Opt[events.Decimal], error) {
	d, err := events.ParseDecimal(text)
	return events.Some(d), err
}

func (q RentRollRequest) areasQuery() Query {
	return Query{
		SQL: "SELECT " + areaColumns.String() + `
FROM units FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND area_m2 IS NOT NULL`,
		Args: map[string]any{"tenant": q.Tenant, "project": q.Project},
	}
}

var indexColumns = columns[events.IndexValue]{
	member("series", plain, func(v *events.IndexValue) *string { return &v.Series }),
	member("month", month, func(v *events.IndexValue) *calendar.Month { return &v.Month }),
	member("value", decimalOrZero, func(v *events.IndexValue) *events.Decimal { return &v.Value }),
}

// seriesQuery reads the values of indices.
func seriesQuery(tenant string, series []string) Query {
	return Query{
		SQL: "SELECT " + indexColumns.String() + `
FROM index_values FINAL
WHERE tenant = {tenant:String} AND project = '' AND NOT deleted AND series IN {series:Array(String)}`,
		Args: map[string]any{"tenant": tenant, "series": series},
	}
}
