package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	schema "tallyhouse/schemas/clickhouse"
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
	err := Together(
		func() (err error) {
			if in.Leases, err = r.leases(ctx, request); err != nil {
				return err
			}
			series := make(map[string]bool)
			for i := range in.Leases {
				if name := in.Leases[i].Indexation.V.Series; name != "" {
					series[name] = true
				}
			}
			if len(series) == 0 {
				return nil
			}
			// To find the series of the leases beside the leases would read these a second time.
			return indexColumns.read(ctx, r, seriesQuery(request.Tenant, keys(series)), budgetSettings, appendTo(&values))
		},
		func() error {
			return areaColumns.readRows(ctx, r, request.areasQuery(), budgetSettings, func(row *analytics.Unit, behind int) error {
				in.Units = append(roomFor(in.Units, 1+behind), *row)
				return nil
			})
		},
	)
	in.Indexes = analytics.NewIndexes(values)
	return in, err
}

// Parts of the statement of leases.
const (
	partLeases = "leases"
	partRuns   = "runs"
)

// leases are those in force in one of the months of the rent roll.
func (r *Reader) leases(ctx context.Context, request RentRollRequest) (leases []analytics.Lease, err error) {
	var runs map[string][]analytics.RentSegment
	err = r.each(ctx, request.leasesQuery(), budgetSettings, func(scan func(...any) error) error {
		var part, rows string
		if err := scan(&part, &rows); err != nil {
			return err
		}
		if part == partRuns {
			runs, err = takeRuns(rowBinary{rows})
			return err
		}
		return leaseColumns.takeRows(rows, func(row *storedLease, behind int) error {
			leases = append(roomFor(leases, 1+behind), row.lease())
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	inForce := leases[:0]
	for _, l := range leases {
		if l.Segments = runs[l.ID]; len(l.Segments) > 0 {
			slices.SortFunc(l.Segments, func(a, b analytics.RentSegment) int { return cmp.Compare(a.From, b.From) })
			inForce = append(inForce, l)
		}
	}
	return inForce, nil
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
	return l.Lease
}

var leaseColumns = append(inside(func(l *storedLease) *events.Indexation { return &l.index }, indexationColumns), columns[storedLease]{
	member("id", plain, func(l *storedLease) *string { return &l.ID }),
	member("category", plain, func(l *storedLease) *string { return &l.Category }),
	member("counterparty_name", nullable, func(l *storedLease) *events.Opt[string] { return &l.CounterpartyName }),
	member("status", plain, func(l *storedLease) *string { return &l.Status }),
	member("unit_ids", plain, func(l *storedLease) *[]string { return &l.UnitIDs }),
	member("toInt32(start_date)", date, func(l *storedLease) *calendar.Date { return &l.Start }),
	member("toInt32(end_date)", day, func(l *storedLease) *events.Opt[calendar.Date] { return &l.End }),
	member("toInt32(effective_end)", day, func(l *storedLease) *events.Opt[calendar.Date] { return &l.EffectiveEnd }),
	member("currency", plain, func(l *storedLease) *string { return &l.Currency }),
	member("indexation_text", nullable, func(l *storedLease) *events.Opt[string] { return &l.IndexationText }),
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

// takeRuns takes the runs of all leases, each under its lease.
func takeRuns(rows rowBinary) (map[string][]analytics.RentSegment, error) {
	var runs map[string][]analytics.RentSegment
	var all []analytics.RentSegment // most leases have one run
	for rows.left != "" {
		size := len(rows.left)
		keys, err := rows.text()
		if err != nil {
			return nil, err
		}
		var rent, count analytics.Int128
		if err := rows.int128s(&rent, &count); err != nil {
			return nil, err
		}
		if runs == nil {
			runs = make(map[string][]analytics.RentSegment, 1+rows.behind(size))
		}
		if count.Sign() <= 0 { // no lease has it any more
			continue
		}
		lease, run, err := runOf(keys, rent)
		if err != nil {
			return nil, fmt.Errorf("read a run %q: %w", keys, err)
		}
		if of, more := runs[lease]; more {
			runs[lease] = append(of, run)
			continue
		}
		all = append(roomFor(all, 1+rows.behind(size)), run)
		runs[lease] = all[len(all)-1 : len(all) : len(all)]
	}
	return runs, nil
}

var errRun = errors.New("these are not the keys and the rent of a run")

// runOf makes the run of a lease from its keys and its rent.
func runOf(keys string, rent analytics.Int128) (lease string, run analytics.RentSegment, err error) {
	_, key, ok := schema.CutKeys(keys)
	lease, until, leave, status, month := key[0], key[1], key[2], key[3], key[4]
	run.RentFree = status == statusRentFree
	var fits bool
	if run.Rent, fits = rent.Int64(); !ok || !fits {
		return "", run, errRun
	}
	if run.From, err = calendar.ParseAnyMonth(month); err != nil {
		return "", run, err
	}
	if run.To, err = calendar.ParseAnyMonth(until); err != nil { // an indefinite one goes on behind the last month that others have
		return "", run, err
	}
	if leave != "" {
		on, err := calendar.ParseDate(leave)
		if err != nil {
			return "", run, err
		}
		run.FirstBreak = events.Some(on)
	}
	return lease, run, nil
}

// statusRentFree is the status of a run without rent.
const statusRentFree = "rentFree"

// monthNumber is a month YYYY-MM as calendar.Month counts.
func monthNumber(column string) string {
	return "toInt32(toInt32(substring(" + column + ", 1, 4)) * 12 + toInt32(substring(" + column + ", 6, 2)) - 1)"
}

// rentRollMonths is how many months a rent roll looks at: its own and the eleven after it.
const rentRollMonths = 12

// leasesQuery reads the leases and what they pay in the months of the rent roll. It is one statement, so rows and sums are of
// one moment. It does not join them: that costs the engine a quarter more, and less is put together here.
func (q RentRollRequest) leasesQuery() Query {
	return Query{
		SQL: "SELECT '" + partLeases + "', " + leaseColumns.rows() + `
FROM leases FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted
UNION ALL
SELECT '` + partRuns + `', ` + allOf("row") + `
FROM (
  SELECT ` + rowOf("keys", "sum(value)", "sum(count)") + ` AS row
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND ` + ofRolls("rent") + `
    AND ` + keysMonth + ` <= {last:String} AND until >= {first:String}
  GROUP BY keys
)`,
		Args: map[string]any{"tenant": q.Tenant, "project": q.Project, "first": q.Month.String(),
			"last": (q.Month + rentRollMonths - 1).String()},
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
		SQL: "SELECT " + areaColumns.rows() + `
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
