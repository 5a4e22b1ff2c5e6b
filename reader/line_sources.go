package reader

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// LineRequest names a line of a project's budget whose sources are wanted. Line "" stands for what is on no line.
type LineRequest struct {
	Tenant   string
	Project  ProjectRef
	Currency string // of the project: what is in another one is in no figure
	Line     string
}

// LineSources is what people entered of a budget line, as far as its figures are made of it: its contracts and records apart, and
// bookings of the lines below it.
type LineSources struct {
	Bookings   []Booking
	Claims     []LineClaim // those on lines below it, too
	Entered    events.Opt[UncommittedSource]
	Plan       events.Opt[analytics.LinePlan]
	Incomplete bool // there are more than maxSources bookings or claims
}

// BookingKind says what changes a budget.
type BookingKind string

// The kinds of bookings. A transfer is one on each of its lines.
const (
	BookingInitial     BookingKind = "initial"
	BookingAddendum    BookingKind = "addendum"
	BookingTransferIn  BookingKind = "transferIn"
	BookingTransferOut BookingKind = "transferOut"
)

// Booking is an approved one that counts on a line: what it adds to the budget, in minor units.
type Booking struct {
	ID    string
	Kind  BookingKind
	Other string // of a transfer: the node on its other side, "" for none
	Value int64
	At    time.Time // of its newest version
}

// LineClaim is an open claim, with what it adds to the pending changes.
type LineClaim struct {
	ID      string
	Claim   events.Claim
	Pending int64
}

// UncommittedSource is what was entered on the line as still to be contracted.
type UncommittedSource struct {
	ID    string
	Value int64
	At    time.Time
}

// maxSources bounds the bookings and the claims of a line that are told one by one.
const maxSources = 500

var bookingColumns = columns[Booking]{
	member("id", plain, func(b *Booking) *string { return &b.ID }),
	member("kind", text[BookingKind], func(b *Booking) *BookingKind { return &b.Kind }),
	member("other", plain, func(b *Booking) *string { return &b.Other }),
	member("value", plain, func(b *Booking) *int64 { return &b.Value }),
	member("toUnixTimestamp64Micro(at)", instant, func(b *Booking) *time.Time { return &b.At }),
}

// bookingsQuery reads what counts on a line: is holds for its nodes.
func (q LineRequest) bookingsQuery(is string, nodes *ext.Table) Query {
	const approved = " FINAL\n  WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND status = 'approved'" +
		" AND currency = {currency:String} AND "
	return Query{
		SQL: "SELECT " + bookingColumns.String() + `
FROM (
  SELECT id, toString(kind) AS kind, '' AS other, value, at
  FROM budget_rows` + approved + "node_id " + is + `
  UNION ALL
  SELECT id, '` + string(BookingTransferIn) + `' AS kind, from_node_id AS other, value, at
  FROM budget_transfers` + approved + "to_node_id " + is + `
  UNION ALL
  SELECT id, '` + string(BookingTransferOut) + `' AS kind, to_node_id AS other, -value AS value, at
  FROM budget_transfers` + approved + "from_node_id " + is + `
)
ORDER BY at, id, kind
LIMIT {most:UInt32}`,
		Args:   map[string]any{"tenant": q.Tenant, "project": q.Project.ID, "currency": q.Currency, "most": maxSources + 1},
		Tables: []*ext.Table{nodes},
	}
}

var lineClaimColumns = columns[LineClaim]{
	member("id", plain, func(c *LineClaim) *string { return &c.ID }),
	member("contract_id", optional, func(c *LineClaim) *events.Opt[string] { return &c.Claim.ContractID }),
	member("node_id", optional, func(c *LineClaim) *events.Opt[string] { return &c.Claim.NodeID }),
	member("value", plain, func(c *LineClaim) *int64 { return &c.Claim.Amount.Value }),
	member("currency", plain, func(c *LineClaim) *string { return &c.Claim.Amount.Currency }),
	member("probability_bp", decimalOrZero, func(c *LineClaim) *events.Decimal { return &c.Claim.ProbabilityBp }),
	member("status", plain, func(c *LineClaim) *string { return &c.Claim.Status }),
}

func (q LineRequest) claimsQuery(nodes *ext.Table) Query {
	return Query{
		SQL: "SELECT " + lineClaimColumns.String() + `
FROM claims FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND status = 'open' AND currency = {currency:String}
  AND value > 0 AND node_id IN line_nodes
ORDER BY id
LIMIT {most:UInt32}`,
		Args:   map[string]any{"tenant": q.Tenant, "project": q.Project.ID, "currency": q.Currency, "most": maxSources + 1},
		Tables: []*ext.Table{nodes},
	}
}

var uncommittedColumns = columns[UncommittedSource]{
	member("id", plain, func(u *UncommittedSource) *string { return &u.ID }),
	member("assumeNotNull(value)", plain, func(u *UncommittedSource) *int64 { return &u.Value }),
	member("toUnixTimestamp64Micro(at)", instant, func(u *UncommittedSource) *time.Time { return &u.At }),
}

// enteredQuery reads the entry that counts: of several the one with the greatest id.
func (q LineRequest) enteredQuery() Query {
	return Query{
		SQL: "SELECT " + uncommittedColumns.String() + `
FROM uncommitted_entries FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND value IS NOT NULL AND currency = {currency:String}
  AND node_id = {line:String}
ORDER BY id DESC
LIMIT 1`,
		Args: map[string]any{"tenant": q.Tenant, "project": q.Project.ID, "currency": q.Currency, "line": q.Line},
	}
}

// planQuery reads the plan that counts: of several the one with the greatest id.
func (q LineRequest) planQuery() Query {
	plans := plansQuery(planColumns.String(), q.Tenant, q.Project.ID)
	plans.SQL += " AND node_id = {line:String}\nORDER BY id DESC\nLIMIT 1"
	plans.Args["line"] = q.Line
	return plans
}

// LineSources returns what the figures of a line are made of, or ErrNotFound when it isn't a line of the project that counts.
func (r *Reader) LineSources(ctx context.Context, q LineRequest) (LineSources, error) {
	var found LineSources
	structure, err := r.structure(ctx, q.Tenant, q.Project)
	if err != nil {
		return found, fmt.Errorf("read what a line is made of: %w", err)
	}
	of, below := structure.Seated(analytics.NodeID(q.Line))
	is := "IN line_nodes"
	switch {
	case q.Line == "":
		of, is = structure.AllSeated(), "NOT IN line_nodes"
	case len(of) == 0:
		return found, ErrNotFound
	}
	booked, err := nodesTable(of)
	if err != nil {
		return found, err
	}
	tasks := []func() error{func() error {
		return bookingColumns.read(ctx, r, q.bookingsQuery(is, booked), budgetSettings, appendTo(&found.Bookings))
	}}
	if q.Line != "" {
		all, err := nodesTable(append(of, below...))
		if err != nil {
			return found, err
		}
		tasks = append(tasks, func() error {
			return lineClaimColumns.read(ctx, r, q.claimsQuery(all), budgetSettings, func(c *LineClaim) error {
				c.Pending = analytics.ClaimPending(&c.Claim)
				found.Claims = append(found.Claims, *c)
				return nil
			})
		}, func() error {
			return uncommittedColumns.read(ctx, r, q.enteredQuery(), budgetSettings, func(u *UncommittedSource) error {
				found.Entered = events.Some(*u)
				return nil
			})
		}, func() error {
			return planColumns.read(ctx, r, q.planQuery(), budgetSettings, func(p *storedPlan) error {
				found.Plan = events.Some(p.plan())
				return nil
			})
		})
	}
	if err := Together(tasks...); err != nil {
		return found, fmt.Errorf("read what a line is made of: %w", err)
	}
	found.Incomplete = len(found.Bookings) > maxSources || len(found.Claims) > maxSources
	found.Bookings = found.Bookings[:min(len(found.Bookings), maxSources)]
	found.Claims = found.Claims[:min(len(found.Claims), maxSources)]
	return found, nil
}

// contractsQuery reads the sums of a project's contracts, as a budget's statement has them.
func (q LineRequest) contractsQuery() Query {
	return Query{
		SQL: "SELECT " + sumsBranch + allOf("row") + `
FROM (
  SELECT ` + budgetSums + ` AS row
  FROM sums
  WHERE tenant = {tenant:String} AND project = {project:String} AND ` + betweenRolls(rollContracts) + `
  GROUP BY keys
)`,
		Args: map[string]any{"tenant": q.Tenant, "project": q.Project.ID},
	}
}

// LineContracts returns the ids of the contracts that are in what is committed and pending on a line and below it.
func (r *Reader) LineContracts(ctx context.Context, q LineRequest) ([]analytics.ContractID, error) {
	var (
		rows      budgetRows
		structure *analytics.Structure
	)
	err := Together(func() error {
		return rows.readWhole(ctx, r, q.contractsQuery())
	}, func() (err error) {
		structure, err = r.structure(ctx, q.Tenant, q.Project)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the contracts of a line: %w", err)
	}
	return structure.ContractsOn(analytics.NodeID(q.Line), q.Currency, rows.input.Contracts), nil
}

func (r *Reader) structure(ctx context.Context, tenant string, project ProjectRef) (*analytics.Structure, error) {
	at, err := r.states(ctx)
	if err != nil {
		return nil, err
	}
	structures, err := r.structuresAt(ctx, at.nodes, tenant, []ProjectRef{project})
	return structures[project.ID], err
}

func nodesTable(nodes []analytics.NodeID) (*ext.Table, error) {
	rows := make([][]string, len(nodes))
	for i, id := range nodes {
		rows[i] = []string{string(id)}
	}
	return idTable("line_nodes", []string{"node"}, rows)
}
