package events

// Project is the payload of Projects.
type Project struct {
	Name              string
	WorkspaceID       Opt[string]
	Currency          string
	BudgetStructureID Opt[string]
	InboundEmail      Opt[string]
}

var project = table("project", "A project.",
	need("name", text, func(p *Project) *string { return &p.Name }),
	may("workspaceId", id, func(p *Project) *Opt[string] { return &p.WorkspaceID }).
		doc("the workspace it belongs to"),
	need("currency", currency, func(p *Project) *string { return &p.Currency }).
		doc("of all its totals"),
	may("budgetStructureId", id, func(p *Project) *Opt[string] { return &p.BudgetStructureID }).
		doc("the budget structure it uses"),
	may("inboundEmail", text, func(p *Project) *Opt[string] { return &p.InboundEmail }).
		doc("the address that takes its invoices"),
)
