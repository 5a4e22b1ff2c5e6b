package api

import (
	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

type nodeField = resource.Field[reader.BudgetNode]

// nodeLevels are the levels that are known; more may come.
var nodeLevels = []string{"budget", "subBudget", "costItem"}

// budgetNodeTable is what the API shows of a budget line: docs/calculations.md#budget says what each figure means.
var budgetNodeTable = resource.NewTable("BudgetNode",
	"A line of the budget. Amounts are net unless stated and include everything below the line: total the top lines only.",
	nodeField{Name: "nodeId", Groups: access.Budget,
		Value: resource.Text(func(n *reader.BudgetNode) string { return n.ID }),
		Description: "Stable and never recycled. Projects of the same structure share it: combine projects by projectId " +
			"and nodeId."},
	nodeField{Name: "level", Groups: access.Budget,
		Value: resource.Text(func(n *reader.BudgetNode) string { return n.Level }).OneOf(nodeLevels...)},
	nodeField{Name: "code", Groups: access.Budget,
		Value:       resource.Text(func(n *reader.BudgetNode) string { return n.Code }),
		Description: "For people: a company may change it. Keep nodeId instead."},
	nodeField{Name: "name", Groups: access.Budget,
		Value: resource.Text(func(n *reader.BudgetNode) string { return n.Name })},
	nodeField{Name: "description", Groups: access.Budget,
		Value: resource.Text(func(n *reader.BudgetNode) string { return n.Description.V }).
			When(func(n *reader.BudgetNode) bool { return n.Description.Ok }),
		Description: "Left out where nobody entered one, and of a month-end view."},
	nodeField{Name: "parentId", Groups: access.Budget,
		Value:       resource.NullText(func(n *reader.BudgetNode) events.Opt[string] { return n.ParentID }),
		Description: "The line above, which is always in the same response before this one; null for a top line."},
	nodeField{Name: "projectSpecific", Groups: access.Budget,
		Value:       resource.Flag(func(n *reader.BudgetNode) bool { return n.ProjectSpecific }),
		Description: "True when the line exists only in this project. Left out of a month-end view."},
	figure("budget", "The approved budget: initial and addenda, and transfers.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.Budget }),
	figure("invoiced", "Net of all invoices that are not rejected, those in setup too.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.Invoiced }),
	figure("paid", "Net of paid invoices.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.Paid }),
	nodeField{Name: "invoicedByStatus", Groups: access.Amounts,
		Value: resource.NullObject(invoicedByStatusTable, func(n *reader.BudgetNode) *reader.BudgetNode {
			if n.Frozen {
				return nil
			}
			return n
		}),
		Description: "Adds up to invoiced. Null in a month-end view."},
	liveFigure("invoicedGross", "Gross of all invoices that are not rejected.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.InvoicedGross }),
	liveFigure("paidGross", "Gross of paid invoices: what left the bank.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.PaidGross }),
	figure("committed", "What signed and completed contracts allocate to the line, with approved amendments.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.Committed }),
	liveFigure("openCommitment", "Committed, but not yet invoiced; never negative.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.OpenCommitment }),
	liveFigure("overInvoiced",
		"Invoiced beyond what contracts commit; not netted against the open commitment of another contract or line.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.OverInvoiced }),
	figure("pendingChanges",
		"Increases by amendments that await approval, and expected claims times their probability. Not part of committed.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.PendingChanges }),
	figure("uncommitted", "Still to be contracted: the value that was entered, or what the budget leaves beside committed.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.Uncommitted }),
	nodeField{Name: "uncommittedDefaulted", Groups: access.Amounts,
		Value: resource.NullFlag(func(n *reader.BudgetNode) events.Opt[bool] {
			return events.Some(n.UncommittedDefaulted)
		}),
		Description: "True when nobody entered an uncommitted value on the line or below it."},
	figure("eac", "Estimate at completion: committed, pending changes and uncommitted.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.EAC() }),
	figure("variance", "Budget less the estimate; negative is an overrun.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.Variance() }),
	figure("costToComplete", "The estimate less what is invoiced; negative when more is invoiced than estimated.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.CostToComplete() }),
	nodeField{Name: "accountingCodes", Groups: access.Accounting,
		Value: resource.List(accountingCodeTable,
			func(n *reader.BudgetNode) []events.AccountingCode { return n.AccountingCodes }),
		Description: "The effective codes, one of each system. Left out of a month-end view."},
)

// figure is an amount that live budgets and month-end views have.
func figure(name, description string, get func(n *reader.BudgetNode) analytics.Int128) nodeField {
	return nodeField{Name: name, Groups: access.Amounts, Description: description,
		Value: resource.NullFigure(func(n *reader.BudgetNode) (events.Opt[analytics.Int128], string) {
			return events.Some(get(n)), n.Currency
		})}
}

// liveFigure is an amount that no snapshot holds.
func liveFigure(name, description string, get func(n *reader.BudgetNode) analytics.Int128) nodeField {
	return nodeField{Name: name, Groups: access.Amounts, Description: description + " Null in a month-end view.",
		Value: resource.NullFigure(func(n *reader.BudgetNode) (events.Opt[analytics.Int128], string) {
			return events.Opt[analytics.Int128]{V: get(n), Ok: !n.Frozen}, n.Currency
		})}
}

var invoicedByStatusTable = resource.NewTable("InvoicedByStatus", "Net of invoices by where they stand.",
	byStatus("setup", "", func(n *reader.BudgetNode) analytics.Int128 { return n.InvoicedByStatus.Setup }),
	byStatus("approvalPending", "All approval steps.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.InvoicedByStatus.ApprovalPending }),
	byStatus("paymentPending", "The payment queue.",
		func(n *reader.BudgetNode) analytics.Int128 { return n.InvoicedByStatus.PaymentPending }),
	byStatus("paid", "", func(n *reader.BudgetNode) analytics.Int128 { return n.InvoicedByStatus.Paid }),
)

func byStatus(name, description string, get func(n *reader.BudgetNode) analytics.Int128) nodeField {
	return nodeField{Name: name, Groups: access.Amounts, Required: true, Description: description,
		Value: resource.Figure(func(n *reader.BudgetNode) (analytics.Int128, string) { return get(n), n.Currency })}
}

type budgetField = resource.Field[reader.Budget]

// budgetTable is what the API shows of a budget as it is now.
var budgetTable = newBudgetTable(budgetNodeTable)

// monthEndTable is a budget as a snapshot froze it (docs/calculations.md#as-a-budget).
var monthEndTable = newBudgetTable(budgetNodeTable.Without("description", "projectSpecific", "accountingCodes")).
	Without("excluded", "excludedCommitted")

func newBudgetTable(nodes *resource.Table[reader.BudgetNode]) *resource.Table[reader.Budget] {
	return resource.NewTable("ProjectBudget", "A project's budget. All totals are in the project's currency.",
		budgetField{Name: "projectId", Groups: access.Core, Required: true,
			Value: resource.Text(func(b *reader.Budget) string { return b.ProjectID })},
		budgetField{Name: "currency", Groups: access.Core, Required: true,
			Value:       resource.Currency(func(b *reader.Budget) string { return b.Currency }),
			Description: "The project's currency, ISO 4217."},
		budgetField{Name: "structureId", Groups: access.Budget,
			Value: resource.NullText(func(b *reader.Budget) events.Opt[string] { return b.StructureID })},
		budgetField{Name: "nodes", Groups: access.Budget,
			Value:       resource.List(nodes, func(b *reader.Budget) []reader.BudgetNode { return b.Nodes }),
			Description: "Active lines only, parents before children."},
		budgetField{Name: "unallocated", Groups: access.Amounts | access.Budget,
			Value: resource.NullFigure(func(b *reader.Budget) (events.Opt[analytics.Int128], string) {
				return b.Unallocated, b.Currency
			}),
			Description: "Net of invoices, not rejected, that are booked on no budget line. Null in a month-end view."},
		budgetField{Name: "unallocatedBudget", Groups: access.Amounts | access.Budget,
			Value: resource.NullFigure(func(b *reader.Budget) (events.Opt[analytics.Int128], string) {
				return b.UnallocatedBudget, b.Currency
			}),
			Description: "Approved budget that is booked on no valid line. Null in a month-end view."},
		budgetField{Name: "excluded", Groups: access.Amounts,
			Value:       resource.List(excludedTable, func(b *reader.Budget) []analytics.Excluded { return b.Excluded }),
			Description: "Invoices in other currencies, which are in no total. Left out of a month-end view."},
		budgetField{Name: "excludedCommitted", Groups: access.Amounts | access.Budget,
			Value: resource.List(excludedTable,
				func(b *reader.Budget) []analytics.Excluded { return b.ExcludedCommitted }),
			Description: "What contracts in other currencies commit, which is not in committed; count is of contracts. Left " +
				"out of a month-end view."},
	)
}

// beyondRange is said of figures that are null for no other reason (docs/api.md#limits).
const beyondRange = "Null only when it is beyond the range of amounts."

var excludedTable = resource.NewTable("Excluded", "What one other currency keeps out of all totals.",
	resource.Field[analytics.Excluded]{Name: "currency", Groups: access.Amounts, Required: true,
		Value: resource.Currency(func(x *analytics.Excluded) string { return x.Currency })},
	resource.Field[analytics.Excluded]{Name: "value", Groups: access.Amounts, Required: true,
		Value: resource.NullUnits(func(x *analytics.Excluded) events.Opt[analytics.Int128] {
			return events.Some(x.Value)
		}),
		Description: beyondRange},
	resource.Field[analytics.Excluded]{Name: "count", Groups: access.Amounts, Required: true,
		Value: resource.Whole(func(x *analytics.Excluded) int64 { return x.Count })},
)
