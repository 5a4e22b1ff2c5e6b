package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
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

// Parts of the budget's statement, besides the rolls.
const (
	partNodes   = "nodes"
	partEntries = "entries"
)

// budgetRolls are the rolls that a budget is made of, besides that of its records.
var budgetRolls = []string{"budget", "claims", "contracts", "transfers"}

// rollKeys are what the sums of budgetRolls go by, and rollSums they and their sums. What is left of nothing is sorted out
// here: a statement takes the longer to plan the more it says.
const rollKeys = "roll, node, contract, line, currency, status"

var rollSums = rollKeys + ", " + packed("sum(value)", "sum(committed)", "sum(pending)", "sum(count)")

// budgetQuery reads all that the figures of a budget are made of, and beside it the positions of the table of nodes. It
// is one statement, so every table is read as it stands at one moment, and no change is half in it: what an event
// changes in the sums comes in one block.
func budgetQuery(tenant, project string) Query {
	const of = "\nWHERE tenant = {tenant:String} AND project = {project:String}"
	return Query{
		SQL: "SELECT " + rowText("'"+partNodes+"'", "''", "project", "''", "''", "''", packed("max(row_version)")) + ` AS texts
FROM budget_nodes
WHERE tenant = ''
GROUP BY project
UNION ALL
SELECT ` + rowTexts("'lines'", "node", "contract", "''", "currency", "''", "packed") + `
FROM (
  SELECT contract, node, currency, ` + packed(sumsByStatus()...) + ` AS packed
  FROM sums` + of + ` AND ` + ofRolls(rollLines) + `
  GROUP BY contract, node, currency
)
UNION ALL
SELECT ` + rowTexts("roll", "node", "contract", "line", "currency", "status", "packed") + `
FROM (
  SELECT ` + rollSums + ` AS packed
  FROM sums` + of + ` AND ` + ofRolls(budgetRolls...) + `
  GROUP BY ` + rollKeys + `
)
UNION ALL
SELECT ` + rowText("'"+partEntries+"'", "node_id", "id", "''", "toString(currency)", "''", packed("ifNull(value, 0)")) + `
FROM uncommitted_entries FINAL` + of + ` AND NOT deleted AND value IS NOT NULL`,
		Args: map[string]any{"tenant": tenant, "project": project},
	}
}

// budgetStatuses are the statuses of records that count in a budget. Their sums travel beside each other: that makes a
// quarter of the rows.
var budgetStatuses = [...]analytics.RecordStatus{analytics.Setup, analytics.ApprovalPending, analytics.PaymentPending,
	analytics.Paid}

func sumsByStatus() []string {
	var sums []string
	for _, status := range budgetStatuses {
		for _, column := range []string{"net", "gross", "count"} {
			sums = append(sums, fmt.Sprintf("sumIf(%s, status = '%s')", column, status))
		}
	}
	return sums
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
	var rows string
	err := r.each(ctx, q, budgetSettings, func(scan func(...any) error) error {
		if err := scan(&rows); err != nil {
			return err
		}
		for rows != "" {
			var row budgetRow
			var err error
			if rows, err = cutRow(rows, &row.part, &row.node, &row.id, &row.line, &row.currency, &row.kind, &row.sums); err != nil {
				return err
			}
			if err := b.take(&row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.gatherContracts()
}

// gatherContracts makes contracts of their lines, once all rows are there. What the lines of a contract take of what is
// coded outside goes by their order, and parts of a statement come in any order.
func (b *budgetRows) gatherContracts() (err error) {
	slices.SortFunc(b.contracts, func(x, y analytics.ContractSum) int {
		return cmp.Or(cmp.Compare(x.ContractID, y.ContractID), cmp.Compare(x.Line, y.Line))
	})
	b.input.Contracts, err = analytics.ContractsOf(b.contracts)
	return err
}

// budgetRow is a row of any part. Kind is the status of a contract.
type budgetRow struct{ part, node, id, line, currency, kind, sums string }

var errCount = errors.New("a sum of counts is out of range")

func (b *budgetRows) take(row *budgetRow) error {
	node := analytics.NodeID(row.node)
	switch row.part {
	case partNodes:
		var at analytics.Int128
		if err := unpack(row.sums, &at); err != nil {
			return err
		}
		next, _ := at.Int64() // an offset of Kafka
		b.nodes[row.id] = uint64(next)
	case "budget", "transfers":
		sum := analytics.BudgetSum{NodeID: node, Currency: row.currency}
		var committed, pending, count analytics.Int128
		if err := unpack(row.sums, &sum.Amount, &committed, &pending, &count); err != nil {
			return err
		}
		b.input.Budget = append(b.input.Budget, sum)
	case "lines":
		return b.takeRecords(row)
	case "contracts":
		sum := analytics.ContractSum{ContractID: analytics.ContractID(row.id), Line: row.line, NodeID: node, Currency: row.currency, Status: row.kind}
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
	case partCash, partRecognized:
		return b.takeMonths(row)
	case partEntries:
		var entered analytics.Int128
		if err := unpack(row.sums, &entered); err != nil {
			return err
		}
		value, _ := entered.Int64() // as delivered
		b.input.Entries = append(b.input.Entries, analytics.UncommittedEntry{
			ID: row.id, NodeID: node, Amount: events.Some(events.Amount{Value: value, Currency: row.currency}),
		})
	}
	return nil
}

// leastRoom is for how many sums there is room at first.
const leastRoom = 256

// roomFor makes room for so many more sums, by doubling: there are thousands, and append alone would copy them more often.
func roomFor[T any](sums []T, more int) []T {
	if cap(sums)-len(sums) < more {
		sums = slices.Grow(sums, max(leastRoom, more, len(sums)))
	}
	return sums
}

// takeRecords takes the sums of records under one key, status by status.
func (b *budgetRows) takeRecords(row *budgetRow) error {
	const each = 3 * sumSize
	if len(row.sums) != len(budgetStatuses)*each {
		return fmt.Errorf("sums of records of %d bytes", len(row.sums))
	}
	b.input.Records = roomFor(b.input.Records, len(budgetStatuses))
	for i, status := range budgetStatuses {
		sum, err := recordSum(row.node, row.id, row.currency, string(status), row.sums[i*each:(i+1)*each])
		if err != nil {
			return err
		}
		if sum.Count != 0 || !sum.Net.IsZero() || !sum.Gross.IsZero() {
			b.input.Records = append(b.input.Records, sum)
		}
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
