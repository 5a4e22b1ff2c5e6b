package store

import (
	"tallyhouse/schemas/events"
)

func noProject(string, any) string { return "" }

func projects() *Entity {
	type project = events.Project
	return &Entity{
		Topic: events.Projects,
		Table: "projects",
		Columns: []Column{
			textColumn("name", func(p *project) string { return p.Name }),
			textOrNull("workspace_id", func(p *project) events.Opt[string] { return p.WorkspaceID }),
			textColumn("currency", func(p *project) string { return p.Currency }),
			textOrNull("budget_structure_id", func(p *project) events.Opt[string] { return p.BudgetStructureID }),
			textOrNull("inbound_email", func(p *project) events.Opt[string] { return p.InboundEmail }),
		},
		project: func(id string, _ any) string { return id },
	}
}

func budgetNodes() *Entity {
	type node = events.BudgetNode
	return &Entity{
		Topic: events.BudgetNodes,
		Table: "budget_nodes",
		Columns: []Column{
			textOrNull("structure_id", func(n *node) events.Opt[string] { return n.StructureID }),
			textOrNull("parent_id", func(n *node) events.Opt[string] { return n.ParentID }),
			textColumn("level", func(n *node) string { return n.Level }),
			textColumn("code", func(n *node) string { return n.Code }),
			textColumn("name", func(n *node) string { return n.Name }),
			textOrNull("description", func(n *node) events.Opt[string] { return n.Description }),
			boolColumn("active", func(n *node) bool { return n.Active }),
			jsonColumn("accounting_codes", func(b []byte, n *node) []byte { return appendCodes(b, n.AccountingCodes) }),
		},
		project: func(_ string, data any) string { return data.(*node).ProjectID.V },
	}
}

func contractors() *Entity {
	type contractor = events.Contractor
	return &Entity{
		Topic: events.Contractors,
		Table: "contractors",
		Columns: []Column{
			textOrNull("name", func(c *contractor) events.Opt[string] { return c.Name }),
			textOrNull("city", func(c *contractor) events.Opt[string] { return c.City }),
			textOrNull("country", func(c *contractor) events.Opt[string] { return c.Country }),
			textOrNull("tax_id", func(c *contractor) events.Opt[string] { return c.TaxID }),
			textOrNull("registration_number", func(c *contractor) events.Opt[string] { return c.RegistrationNumber }),
		},
		project: noProject,
	}
}
