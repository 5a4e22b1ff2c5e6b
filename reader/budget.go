package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	schema "tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// Budget is a project's budget (docs/calculations.md#budget), as it is now or as a month-end snapshot froze it.
type Budget struct {
	ProjectID         string
	Currency          string
	StructureID       events.Opt[string]
	Nodes             []BudgetNode                 // parents before their children
	Unallocated       events.Opt[analytics.Int128] // none in a month-end view
	UnallocatedBudget events.Opt[analytics.Int128] // none in a month-end view
	Excluded          []analytics.Excluded
	ExcludedCommitted []analytics.Excluded
}

// BudgetNode is a budget line with its figures (docs/calculations.md#budget).
type BudgetNode struct {
	ID              string
	Level           string
	Code            string
	Name            string
	Description     events.Opt[string]
	ParentID        events.Opt[string]
	ProjectSpecific bool
	AccountingCodes []events.AccountingCode
	Currency        string // of the figures
	analytics.Figures
	Frozen bool // a snapshot holds the estimate alone; the other figures are not known
}

// BudgetRequest says which budget is wanted, and what of it.
type BudgetRequest struct {
	Tenant   string
	Project  ProjectRef
	Currency string // of the project
	Level    string // the deepest to show; "" shows all
	Figures  bool   // else the structure alone is read
}

// budgetSettings are those of a statement over the sums of one project. The key finds their rows nearly exactly: to
// filter them by the key before their other columns are read costs more than it spares. Blocks fit the processor's
// caches while they are summed up.
var budgetSettings = clickhouse.Settings{"max_threads": 1, "max_block_size": 8192, "optimize_move_to_prewhere": 0,
	"enable_shared_storage_snapshot_in_query": 1}

// Parts of the budget's statement, besides the rows of sums.
const (
	partNodes   = "nodes"
	partEntries = "entries"
)

// budgetRolls are the rolls that a budget is made of.
var budgetRolls = []string{"budget", "claims", "contracts", rollLines, "transfers"}

// estimateRolls are those that an estimate at completion is made of: a budget's without what is invoiced.
var estimateRolls = []string{"budget", "claims", "contracts", "transfers"}

// budgetSums are the sums of every row of a budget's statement: the second one is gross or committed, the third one what is
// pending. What is left of nothing is sorted out here: a statement takes the longer to plan the more it says.
var budgetSums = packed("sum(value)", "sum(gross)", "sum(pending)", "sum(count)")

// The branches of a budget's statement say what budgetPart has. Few rows are a column for each value: an expression costs the
// engine more to plan than they cost.
const (
	nodesBranch = `'` + partNodes + `' AS part, '' AS node, project AS id, '' AS currency, toInt64(max(row_version)) AS value, '' AS texts
FROM budget_nodes
WHERE tenant = ''
GROUP BY project`
	entriesBranch = `'` + partEntries + `', node_id, id, toString(currency), ifNull(value, 0), ''
FROM uncommitted_entries FINAL`
	textsBranch = "'', '', '', '', toInt64(0), "
)

// budgetQuery reads all that the figures of a budget are made of, and beside it the positions of the table of nodes. It
// is one statement, so every table is read as it stands at one moment, and no change is half in it: what an event
// changes in the sums comes in one block. All rolls are read in one go, for another branch costs the engine more than their
// rows, and by their keys as they are stored, for to take these apart costs it more than it does here.
func budgetQuery(tenant, project string) Query {
	const of = "\nWHERE tenant = {tenant:String} AND project = {project:String}"
	return Query{
		SQL: "SELECT " + nodesBranch + `
UNION ALL
SELECT ` + textsBranch + rowTexts("keys", "packed") + `
FROM (
  SELECT keys, ` + budgetSums + ` AS packed
  FROM sums` + of + ` AND ` + ofRolls(budgetRolls...) + `
  GROUP BY keys
)
UNION ALL
SELECT ` + entriesBranch + of + ` AND NOT deleted AND value IS NOT NULL`,
		Args: map[string]any{"tenant": tenant, "project": project},
	}
}

// Budget returns a project's budget as it is now. No record is read for it.
func (r *Reader) Budget(ctx context.Context, request BudgetRequest) (Budget, error) {
	rows, err := r.budgetInput(ctx, request, budgetQuery)
	if err != nil {
		return Budget{}, fmt.Errorf("read a budget: %w", err)
	}
	computed := analytics.Budget(rows.input)
	shown := Budget{
		ProjectID: request.Project.ID, Currency: request.Currency, StructureID: request.Project.StructureID,
		Unallocated: events.Some(computed.Unallocated), UnallocatedBudget: events.Some(computed.UnallocatedBudget),
		Excluded: computed.Excluded, ExcludedCommitted: computed.ExcludedCommitted,
	}
	nodes := computed.ToLevel(request.Level)
	shown.Nodes = make([]BudgetNode, len(nodes))
	for i := range nodes {
		n := nodes[i].Node
		shown.Nodes[i] = BudgetNode{
			ID: string(n.ID), Level: n.Level, Code: n.Code, Name: n.Name, Description: n.Description, ParentID: n.ParentID,
			ProjectSpecific: n.ProjectSpecific(), AccountingCodes: nodes[i].AccountingCodes, Currency: request.Currency,
			Figures: nodes[i].Figures,
		}
	}
	return shown, nil
}

// BudgetAsOf returns the budget as the month's official snapshot froze it (docs/calculations.md#as-a-budget), or
// ErrNotFound.
func (r *Reader) BudgetAsOf(ctx context.Context, request BudgetRequest, month calendar.Month) (Budget, error) {
	official, err := r.snapshots(ctx, request.Tenant, request.Project.ID,
		func(heads []analytics.Snapshot) []*analytics.Snapshot {
			if s, ok := analytics.Official(heads)[month]; ok {
				return []*analytics.Snapshot{s}
			}
			return nil
		})
	if err != nil {
		return Budget{}, fmt.Errorf("read a budget of a month's end: %w", err)
	}
	if len(official) == 0 {
		return Budget{}, ErrNotFound
	}
	shown := Budget{ProjectID: request.Project.ID, Currency: request.Currency, StructureID: request.Project.StructureID}
	for _, n := range official[0].NodesToLevel(request.Level) {
		shown.Nodes = append(shown.Nodes, BudgetNode{
			ID: n.Line.NodeID, Level: n.Line.Level, Code: n.Line.Code, Name: n.Line.Name, ParentID: n.Line.ParentID,
			Currency: request.Currency,
			Figures:  analytics.Figures{Estimate: n.Estimate, UncommittedDefaulted: n.Line.UncommittedDefaulted}, Frozen: true,
		})
	}
	return shown, nil
}

// budgetInput gathers what the budget is computed from, and what else the query reads.
func (r *Reader) budgetInput(ctx context.Context, request BudgetRequest,
	query func(tenant, project string) Query) (*budgetRows, error) {
	rows := &budgetRows{input: analytics.BudgetInput{Currency: request.Currency}, nodes: make(positions)}
	var state string
	if request.Figures {
		if err := rows.read(ctx, r, query(request.Tenant, request.Project.ID)); err != nil {
			return nil, err
		}
		state = rows.nodes.String()
	} else {
		at, err := r.states(ctx)
		if err != nil {
			return nil, err
		}
		state = at.nodes
	}
	structures, err := r.structuresAt(ctx, state, request.Tenant, []ProjectRef{request.Project})
	if err != nil {
		return nil, err
	}
	rows.input.Structure = structures[request.Project.ID]
	return rows, nil
}

// budgetRows takes the rows of the budget's statement apart.
type budgetRows struct {
	input     analytics.BudgetInput
	nodes     positions
	contracts []analytics.ContractSum

	cash       []analytics.CashSum // of a cash flow
	recognized []analytics.RecognizedSum
	months     monthlySums
}

func (b *budgetRows) read(ctx context.Context, r *Reader, q Query) error {
	var part budgetPart
	err := r.each(ctx, q, budgetSettings, func(scan func(...any) error) error {
		if err := scan(part.places()...); err != nil {
			return err
		}
		return b.takePart(&part)
	})
	if err != nil {
		return err
	}
	return b.gatherContracts()
}

// budgetPart is a row of a budget's statement: rows of sums as one text, or something of one of its parts.
type budgetPart struct {
	part, node, id, currency string
	value                    int64
	texts                    string
}

func (p *budgetPart) places() []any {
	return []any{&p.part, &p.node, &p.id, &p.currency, &p.value, &p.texts}
}

func (b *budgetRows) takePart(p *budgetPart) error {
	switch p.part {
	case partNodes:
		b.nodes[p.id] = uint64(p.value)
	case partEntries:
		b.input.Entries = append(b.input.Entries, analytics.UncommittedEntry{
			ID: p.id, NodeID: analytics.NodeID(p.node), Amount: events.Some(events.Amount{Value: p.value, Currency: p.currency}),
		})
	}
	for rows := p.texts; rows != ""; {
		var row budgetRow
		size, err := row.cut(rows)
		if err != nil {
			return err
		}
		rows = rows[size:]
		if err := b.take(&row, len(rows)/size); err != nil {
			return err
		}
	}
	return nil
}

// gatherContracts makes contracts of their lines, once all rows are there. What the lines of a contract take of what is
// coded outside goes by their order, and parts of a statement come in any order.
func (b *budgetRows) gatherContracts() (err error) {
	// Thousands of wide rows are sorted by what says where they are.
	type place struct {
		contract analytics.ContractID
		line     string
		at       int
	}
	places := make([]place, len(b.contracts))
	for i := range b.contracts {
		places[i] = place{b.contracts[i].ContractID, b.contracts[i].Line, i}
	}
	slices.SortFunc(places, func(x, y place) int {
		return cmp.Or(strings.Compare(string(x.contract), string(y.contract)), strings.Compare(x.line, y.line))
	})
	sorted := make([]analytics.ContractSum, len(places))
	for i := range places {
		sorted[i] = b.contracts[places[i].at]
	}
	b.input.Contracts, err = analytics.ContractsOf(sorted)
	return err
}

// budgetRow is a row of sums.
type budgetRow struct{ roll, node, contract, line, currency, status, sums string }

// cut takes the row from the beginning of a text of rows, and says how many bytes it has.
func (row *budgetRow) cut(rows string) (size int, err error) {
	var keys string
	rest, err := cutRow(rows, &keys, &row.sums)
	if err != nil {
		return 0, err
	}
	roll, key, ok := schema.CutKeys(keys)
	if !ok {
		return 0, fmt.Errorf("%q are no keys of sums", keys)
	}
	row.roll, row.contract, row.node, row.currency, row.status, row.line = roll, key[0], key[1], key[2], key[3], key[4]
	return len(rows) - len(rest), nil
}

var errCount = errors.New("a sum of counts is out of range")

// take takes a row, behind which there are about so many more if they are as long.
func (b *budgetRows) take(row *budgetRow, behind int) error {
	node := analytics.NodeID(row.node)
	switch row.roll {
	case "budget", "transfers":
		sum := analytics.BudgetSum{NodeID: node, Currency: row.currency}
		var committed, pending, count analytics.Int128
		if err := unpack(row.sums, &sum.Amount, &committed, &pending, &count); err != nil {
			return err
		}
		b.input.Budget = append(b.input.Budget, sum)
	case rollLines:
		return b.takeRecords(row, behind)
	case "contracts":
		sum := analytics.ContractSum{ContractID: analytics.ContractID(row.contract), Line: row.line, NodeID: node, Currency: row.currency, Status: row.status}
		var count analytics.Int128
		if err := unpack(row.sums, &sum.Base, &sum.Committed, &sum.Pending, &count); err != nil {
			return err
		}
		if !count.IsZero() || !sum.Pending.IsZero() { // else nothing is left of it
			b.contracts = append(b.contracts, sum)
		}
	case "claims":
		sum := analytics.ClaimSum{NodeID: node, Currency: row.currency}
		var value, committed, count analytics.Int128
		if err := unpack(row.sums, &value, &committed, &sum.Pending, &count); err != nil {
			return err
		}
		b.input.Claims = append(b.input.Claims, sum)
	case rollCash, rollRecognized:
		return b.takeMonths(row, behind)
	}
	return nil
}

// roomFor makes room for so many more sums at once: there are thousands, and to double what is there copies them several times.
func roomFor[T any](sums []T, most int) []T {
	if len(sums) == cap(sums) {
		sums = slices.Grow(sums, max(1, most))
	}
	return sums
}

// takeRecords takes the sums of records under one key. Most rows are such.
func (b *budgetRows) takeRecords(row *budgetRow, behind int) error {
	sum := analytics.RecordSum{NodeID: analytics.NodeID(row.node), ContractID: analytics.ContractID(row.contract), Currency: row.currency,
		Status: analytics.RecordStatus(row.status)}
	var allocations, count analytics.Int128
	if err := unpack(row.sums, &sum.Net, &sum.Gross, &allocations, &count); err != nil {
		return err
	}
	var ok bool
	if sum.Count, ok = count.Int64(); !ok {
		return errCount
	}
	if sum.Count != 0 || !sum.Net.IsZero() || !sum.Gross.IsZero() {
		b.input.Records = append(roomFor(b.input.Records, 1+behind), sum)
	}
	return nil
}

// recordSum makes net, gross and count of records under one key.
func recordSum(node, contract, currency, status, sums string) (analytics.RecordSum, error) {
	sum := analytics.RecordSum{
		NodeID: analytics.NodeID(node), ContractID: analytics.ContractID(contract), Currency: currency, Status: analytics.RecordStatus(status),
	}
	var count analytics.Int128
	if err := unpack(sums, &sum.Net, &sum.Gross, &count); err != nil {
		return sum, err
	}
	var ok bool
	if sum.Count, ok = count.Int64(); !ok {
		return sum, errCount
	}
	return sum, nil
}
