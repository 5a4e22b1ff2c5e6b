package events

var project = table(
	need("name", text, func(p *Project) *string { return &p.Name }),
	may("workspaceId", id, func(p *Project) *Opt[string] { return &p.WorkspaceID }),
	need("currency", currency, func(p *Project) *string { return &p.Currency }),
	may("budgetStructureId", id, func(p *Project) *Opt[string] { return &p.BudgetStructureID }),
	may("inboundEmail", text, func(p *Project) *Opt[string] { return &p.InboundEmail }),
)

// The enums that are closed or extensible as the spec's sections 2.3 to 2.13 mark them.
var (
	level            = extensible("budget", "subBudget", "costItem")
	accountingSystem = extensible("yardi", "datev", "sap", "bmd", "other")
)

var accountingCode = table(
	need("system", accountingSystem, func(c *AccountingCode) *string { return &c.System }),
	need("code", text, func(c *AccountingCode) *string { return &c.Code }),
	may("name", text, func(c *AccountingCode) *Opt[string] { return &c.Name }),
	may("taxKey", text, func(c *AccountingCode) *Opt[string] { return &c.TaxKey }),
)

var budgetNode = table(
	may("structureId", id, func(n *BudgetNode) *Opt[string] { return &n.StructureID }),
	may("projectId", id, func(n *BudgetNode) *Opt[string] { return &n.ProjectID }),
	may("parentId", id, func(n *BudgetNode) *Opt[string] { return &n.ParentID }),
	need("level", level, func(n *BudgetNode) *string { return &n.Level }),
	need("code", text, func(n *BudgetNode) *string { return &n.Code }),
	need("name", text, func(n *BudgetNode) *string { return &n.Name }),
	may("description", text, func(n *BudgetNode) *Opt[string] { return &n.Description }),
	need("active", boolean, func(n *BudgetNode) *bool { return &n.Active }),
	need("accountingCodes", list(accountingCode.kind()), func(n *BudgetNode) *[]AccountingCode { return &n.AccountingCodes }),
)

func checkBudgetNode(d *decoder, e *Envelope, n *BudgetNode) {
	if n.ParentID.Ok && n.ParentID.V == e.ID {
		d.failAt("data.parentId", "names the node itself (%s); a node can't be its own parent", quoted(e.ID))
	}
}

var decision = enum("draft", "approved", "rejected")

var budgetRow = table(
	need("projectId", id, func(r *BudgetRow) *string { return &r.ProjectID }),
	need("kind", enum("initial", "addendum"), func(r *BudgetRow) *string { return &r.Kind }),
	may("nodeId", id, func(r *BudgetRow) *Opt[string] { return &r.NodeID }),
	need("amount", amount, func(r *BudgetRow) *Amount { return &r.Amount }),
	need("status", decision, func(r *BudgetRow) *string { return &r.Status }),
)

var budgetTransfer = table(
	need("projectId", id, func(t *BudgetTransfer) *string { return &t.ProjectID }),
	may("fromNodeId", id, func(t *BudgetTransfer) *Opt[string] { return &t.FromNodeID }),
	may("toNodeId", id, func(t *BudgetTransfer) *Opt[string] { return &t.ToNodeID }),
	need("amount", amount, func(t *BudgetTransfer) *Amount { return &t.Amount }),
	need("status", decision, func(t *BudgetTransfer) *string { return &t.Status }),
)

var uncommittedEntry = table(
	need("projectId", id, func(e *UncommittedEntry) *string { return &e.ProjectID }),
	need("nodeId", id, func(e *UncommittedEntry) *string { return &e.NodeID }),
	may("amount", amount, func(e *UncommittedEntry) *Opt[Amount] { return &e.Amount }),
)
