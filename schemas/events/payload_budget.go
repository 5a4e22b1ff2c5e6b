package events

// AccountingCode is a code of a budget line or a record in one accounting system.
type AccountingCode struct {
	System    string
	Code      string
	Name      Opt[string]
	TaxKey    Opt[string]
	Inherited bool // certified codes of a record alone
}

var accountingCode = table("accountingCode", "",
	need("system", extensible("yardi", "datev", "sap", "bmd", "other"), func(c *AccountingCode) *string { return &c.System }),
	need("code", text, func(c *AccountingCode) *string { return &c.Code }),
	may("name", text, func(c *AccountingCode) *Opt[string] { return &c.Name }),
	may("taxKey", text, func(c *AccountingCode) *Opt[string] { return &c.TaxKey }),
)

// BudgetNode is the payload of BudgetNodes.
type BudgetNode struct {
	StructureID     Opt[string]
	ProjectID       Opt[string]
	ParentID        Opt[string]
	Level           string
	Code            string
	Name            string
	Description     Opt[string]
	Active          bool
	AccountingCodes []AccountingCode
}

var level = extensible("budget", "subBudget", "costItem")

var budgetNode = table("budgetNode", "A node of a budget structure, or of one project's budget; its `id` is the nodeId.",
	may("structureId", id, func(n *BudgetNode) *Opt[string] { return &n.StructureID }).
		doc("the structure it is part of"),
	may("projectId", id, func(n *BudgetNode) *Opt[string] { return &n.ProjectID }).
		doc("given: it exists in this project alone"),
	may("parentId", id, func(n *BudgetNode) *Opt[string] { return &n.ParentID }).
		doc("the node above"),
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

var approval = enum("draft", "approved", "rejected")

// BudgetRow is the payload of BudgetRows.
type BudgetRow struct {
	ProjectID string
	Kind      string
	NodeID    Opt[string]
	Amount    Amount
	Status    string
}

var budgetRow = table("budgetRow", "A booking of approved budget.",
	need("projectId", id, func(r *BudgetRow) *string { return &r.ProjectID }),
	need("kind", enum("initial", "addendum"), func(r *BudgetRow) *string { return &r.Kind }),
	may("nodeId", id, func(r *BudgetRow) *Opt[string] { return &r.NodeID }).
		doc("the line it is booked on"),
	need("amount", amount, func(r *BudgetRow) *Amount { return &r.Amount }).
		doc("signed"),
	need("status", approval, func(r *BudgetRow) *string { return &r.Status }).
		doc("only approved ones count"),
)

// BudgetTransfer is the payload of BudgetTransfers.
type BudgetTransfer struct {
	ProjectID  string
	FromNodeID Opt[string]
	ToNodeID   Opt[string]
	Amount     Amount
	Status     string
}

var budgetTransfer = table("budgetTransfer", "A transfer of approved budget from one line of a project to another.",
	need("projectId", id, func(t *BudgetTransfer) *string { return &t.ProjectID }),
	may("fromNodeId", id, func(t *BudgetTransfer) *Opt[string] { return &t.FromNodeID }),
	may("toNodeId", id, func(t *BudgetTransfer) *Opt[string] { return &t.ToNodeID }),
	need("amount", amount, func(t *BudgetTransfer) *Amount { return &t.Amount }),
	need("status", approval, func(t *BudgetTransfer) *string { return &t.Status }).
		doc("only approved ones count"),
)

// UncommittedEntry is the payload of UncommittedEntries.
type UncommittedEntry struct {
	ProjectID string
	NodeID    string
	Amount    Opt[Amount]
}

var uncommittedEntry = table("uncommittedEntry", "What a person entered as still to be contracted on a line.",
	need("projectId", id, func(e *UncommittedEntry) *string { return &e.ProjectID }),
	need("nodeId", id, func(e *UncommittedEntry) *string { return &e.NodeID }),
	may("amount", amount, func(e *UncommittedEntry) *Opt[Amount] { return &e.Amount }).
		doc("null withdraws the entry; 0 is an entry"),
)
