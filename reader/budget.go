package reader

import (
	"context"
	"fmt"
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
	Inputs            Inputs // the zero value when they have no name
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
	Currency string   // of the project
	Level    string   // the deepest to show; "" shows all
	Figures  bool     // else the structure alone is read
	At       Standing // read just now; the zero value when none was
	Has      Inputs   // of what the caller has: where nothing has changed, the answer is ErrUnchanged
}

// budgetSettings are those of a statement over the sums of one project. The key finds their rows nearly exactly: to
// filter them by the key before their other columns are read costs more than it spares. Blocks fit the processor's
// caches while they are summed up.
var budgetSettings = clickhouse.Settings{"max_threads": 1, "max_block_size": 8192, "optimize_move_to_prewhere": 0,
	"enable_shared_storage_snapshot_in_query": 1}

// Parts of the budget's statement.
const (
	partNodes   = "nodes"
	partEntries = "entries"
	partSums    = "sums"
	partMonths  = "months"
	partActive  = "active" // names of the parts that sums consists of
)

// The rolls that a budget is made of, beside those of lines.
const (
	rollBudget    = "budget"
	rollTransfers = "budget_transfers"
	rollClaims    = "claims"
	rollContracts = "contracts"
)

// budgetRolls are the rolls that a budget is made of.
var budgetRolls = []string{rollBudget, rollTransfers, rollClaims, rollContracts, rollLines}

// estimateRolls are those that an estimate at completion is made of: a budget's without what is invoiced.
var estimateRolls = []string{rollBudget, rollTransfers, rollClaims, rollContracts}

// budgetSums is a row of sums in a budget's statement: keys, and sums of which the second is gross or committed, the third what is
// pending. What is left of nothing is sorted out here: a statement takes the longer to plan the more it says.
var budgetSums = rowOf("keys", "sum(value)", "sum(gross)", "sum(pending)", "sum(count)")

// keyAndSums are the same of a row of one part.
var keyAndSums = []string{"keys", "value", "gross", "pending", "count"}

// The branches of a budget's statement say what budgetPart has. Few rows are a column for each value: an expression costs the
// engine more to plan than they cost.
const (
	nodesBranch = `'` + partNodes + `' AS part, '' AS node, project AS id, '' AS currency, toInt64(max(row_version)) AS value, '' AS rows
FROM budget_nodes
WHERE tenant = ''
GROUP BY project`
	entriesBranch = `'` + partEntries + `', node_id, id, toString(currency), ifNull(value, 0), ''
FROM uncommitted_entries FINAL`
	sumsBranch   = "'" + partSums + "', '', '', '', toInt64(0), "
	monthsBranch = "'" + partMonths + "', '', '', '', toInt64(0), "
)

// budgetKnown says what a budget's statement leaves out, because it is known already: with parts of sums, it reads the others one by
// one, and says which there are.
type budgetKnown struct {
	nodes, entries bool
	parts          knownParts
}

// budgetQuery reads all that the figures of a budget are made of, and beside it the positions of the table of nodes, as far as this
// isn't known. It is one statement, so every table is read as it stands at one moment, and no change is half in it: what an event
// changes in the sums comes in one block. All rolls are read in one go, for another branch costs the engine more than their rows,
// and by their keys as they are stored, for to take these apart costs it more than it does here.
func budgetQuery(tenant, project string, known budgetKnown) Query {
	const of = "\nWHERE tenant = {tenant:String} AND project = {project:String}"
	var branches []string
	if !known.nodes {
		branches = append(branches, nodesBranch)
	}
	q := Query{Args: map[string]any{"tenant": tenant, "project": project}}
	if known.parts.byPart {
		q.Args["known"] = known.parts.names
		branches = append(branches, activeBranch, `'`+partSums+`', _part, '', '', toInt64(0), `+allOf(rowOf(keyAndSums...))+`
FROM sums`+of+` AND `+betweenRolls(budgetRolls...)+` AND _part NOT IN {known:Array(String)}
GROUP BY _part`)
	} else {
		branches = append(branches, sumsBranch+allOf("row")+`
FROM (
  SELECT `+budgetSums+` AS row
  FROM sums`+of+` AND `+betweenRolls(budgetRolls...)+`
  GROUP BY keys
)`)
	}
	if !known.entries {
		branches = append(branches, entriesBranch+of+` AND NOT deleted AND value IS NOT NULL`)
	}
	q.SQL = "SELECT " + strings.Join(branches, "\nUNION ALL\nSELECT ")
	return q
}

// Budget returns a project's budget as it is now. No record is read for it.
func (r *Reader) Budget(ctx context.Context, request BudgetRequest) (Budget, error) {
	rows, err := r.budgetInput(ctx, request, budgetStatement{query: budgetQuery})
	if err != nil {
		return Budget{}, fmt.Errorf("read a budget: %w", err)
	}
	computed := analytics.Budget(rows.input)
	shown := Budget{
		ProjectID: request.Project.ID, Currency: request.Currency, StructureID: request.Project.StructureID,
		Unallocated: events.Some(computed.Unallocated), UnallocatedBudget: events.Some(computed.UnallocatedBudget),
		Excluded: computed.Excluded, ExcludedCommitted: computed.ExcludedCommitted, Inputs: rows.inputs,
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

// budgetInput gathers what the budget is computed from, and what else the statement reads.
func (r *Reader) budgetInput(ctx context.Context, request BudgetRequest, statement budgetStatement) (*budgetRows, error) {
	rows := &budgetRows{input: analytics.BudgetInput{Currency: request.Currency}, nodes: make(positions)}
	if request.Figures {
		known := budgetKnown{nodes: request.At.known}
		rows.input.Entries, known.entries = r.keptEntries(request)
		if err := r.readSums(ctx, request, rows, known, statement); err != nil {
			return nil, err
		}
		if !known.entries {
			r.keepEntries(request, rows.input.Entries)
		}
	}
	state := request.At.nodes
	switch {
	case request.At.known:
	case request.Figures:
		state = rows.nodes.String()
	default:
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

// Bounds of the entries that are kept, in bytes.
const (
	maxCachedEntries = 16 << 20
	entryOverhead    = 100 // of each, beside its texts
)

// keptEntries are the entries of a project, if they are known as of the standing. They must not be changed.
func (r *Reader) keptEntries(request BudgetRequest) (entries []analytics.UncommittedEntry, known bool) {
	if !request.At.known {
		return nil, false
	}
	return r.entries.get(request.At.entries, projectKey{request.Tenant, request.Project.ID})
}

// keepEntries keeps entries that were read after a standing, for as long as their table stands as it did then.
func (r *Reader) keepEntries(request BudgetRequest, entries []analytics.UncommittedEntry) {
	if !request.At.known {
		return
	}
	size := len(request.At.entries) + nameOverhead
	for i := range entries {
		size += entryOverhead + len(entries[i].ID) + len(entries[i].NodeID)
	}
	r.entries.put(request.At.entries, projectKey{request.Tenant, request.Project.ID}, entries, size)
}

// budgetRows takes the rows of the budget's statement apart.
type budgetRows struct {
	input  analytics.BudgetInput
	nodes  positions
	sums   map[string]*sumsOfPart // by part of the table; '' of all
	active []string               // the parts that there are, if they are read one by one
	inputs Inputs

	cash       []analytics.CashSum // of a cash flow
	recognized []analytics.RecognizedSum
}

func (b *budgetRows) read(ctx context.Context, r *Reader, q Query, settings clickhouse.Settings) error {
	var part budgetPart
	return r.each(ctx, q, settings, func(scan func(...any) error) error {
		if err := scan(part.places()...); err != nil {
			return err
		}
		return b.takePart(&part)
	})
}

// of are the sums of a part.
func (b *budgetRows) of(part string) *sumsOfPart {
	if b.sums[part] == nil {
		if b.sums == nil {
			b.sums = make(map[string]*sumsOfPart)
		}
		b.sums[part] = new(sumsOfPart)
	}
	return b.sums[part]
}

// budgetPart is a row of a budget's statement: rows of sums as one text, behind the part of the table that they are of, or something of
// one of its branches.
type budgetPart struct {
	part, node, id, currency string
	value                    int64
	rows                     string
}

func (p *budgetPart) places() []any {
	return []any{&p.part, &p.node, &p.id, &p.currency, &p.value, &p.rows}
}

func (b *budgetRows) takePart(p *budgetPart) error {
	switch p.part {
	case partNodes:
		b.nodes[p.id] = uint64(p.value)
	case partEntries:
		b.input.Entries = append(b.input.Entries, analytics.UncommittedEntry{
			ID: p.id, NodeID: analytics.NodeID(p.node), Amount: events.Some(events.Amount{Value: p.value, Currency: p.currency}),
		})
	case partActive:
		b.active = append(b.active, p.node)
	case partSums:
		return b.of(p.node).takeSums(rowBinary{p.rows})
	case partMonths:
		return b.of(p.node).takeMonths(rowBinary{p.rows})
	}
	return nil
}

// budgetRow is a row of sums. A contract's is committed where that of records is gross.
type budgetRow struct {
	roll, node, contract, line, currency, status string
	value, gross, pending, count                 analytics.Int128
}

// takeKeys reads the keys of a row.
func (row *budgetRow) takeKeys(rows *rowBinary) error {
	text, err := rows.text()
	if err != nil {
		return err
	}
	roll, key, ok := schema.CutKeys(text)
	if !ok {
		return fmt.Errorf("%q are no keys of sums", text)
	}
	row.roll, row.contract, row.node, row.currency, row.status, row.line = roll, key[0], key[1], key[2], key[3], key[4]
	return nil
}
