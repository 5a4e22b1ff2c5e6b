package events

var project = object[Project]{members: []member[Project]{
	need("name", text, func(p *Project) *string { return &p.Name }),
	may("workspaceId", id, func(p *Project) *Opt[string] { return &p.WorkspaceID }),
	need("currency", currency, func(p *Project) *string { return &p.Currency }),
	may("budgetStructureId", id, func(p *Project) *Opt[string] { return &p.BudgetStructureID }),
	may("inboundEmail", text, func(p *Project) *Opt[string] { return &p.InboundEmail }),
}}

// The enums that are closed or extensible as the spec's sections 2.3 to 2.13 mark them.
var (
	level            = extensible("budget", "subBudget", "costItem")
	accountingSystem = extensible("yardi", "datev", "sap", "bmd", "other")
)

var accountingCodeMembers = []member[AccountingCode]{
	need("system", accountingSystem, func(c *AccountingCode) *string { return &c.System }),
	need("code", text, func(c *AccountingCode) *string { return &c.Code }),
	may("name", text, func(c *AccountingCode) *Opt[string] { return &c.Name }),
	may("taxKey", text, func(c *AccountingCode) *Opt[string] { return &c.TaxKey }),
}

var accountingCode = object[AccountingCode]{members: accountingCodeMembers}

var budgetNode = object[BudgetNode]{members: []member[BudgetNode]{
	may("structureId", id, func(n *BudgetNode) *Opt[string] { return &n.StructureID }),
	may("projectId", id, func(n *BudgetNode) *Opt[string] { return &n.ProjectID }),
	may("parentId", id, func(n *BudgetNode) *Opt[string] { return &n.ParentID }),
	need("level", level, func(n *BudgetNode) *string { return &n.Level }),
	need("code", text, func(n *BudgetNode) *string { return &n.Code }),
	need("name", text, func(n *BudgetNode) *string { return &n.Name }),
	may("description", text, func(n *BudgetNode) *Opt[string] { return &n.Description }),
	need("active", boolean, func(n *BudgetNode) *bool { return &n.Active }),
	need("accountingCodes", list(accountingCode.kind()), func(n *BudgetNode) *[]AccountingCode { return &n.AccountingCodes }),
}}

func checkBudgetNode(d *decoder, e *Envelope, n *BudgetNode) {
	if n.ParentID.Ok && n.ParentID.V == e.ID {
		d.failAt("data.parentId", "names the node itself (%s); a node can't be its own parent", quoted(e.ID))
	}
}
