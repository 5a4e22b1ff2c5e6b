package store

import (
	"github.com/ClickHouse/ch-go/proto"

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
			textOrNull("workspace_id", func(p *project) proto.Nullable[string] { return nullable(p.WorkspaceID) }),
			textColumn("currency", func(p *project) string { return p.Currency }),
			textOrNull("budget_structure_id", func(p *project) proto.Nullable[string] { return nullable(p.BudgetStructureID) }),
			textOrNull("inbound_email", func(p *project) proto.Nullable[string] { return nullable(p.InboundEmail) }),
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
			textOrNull("structure_id", func(n *node) proto.Nullable[string] { return nullable(n.StructureID) }),
			textOrNull("parent_id", func(n *node) proto.Nullable[string] { return nullable(n.ParentID) }),
			textColumn("level", func(n *node) string { return n.Level }),
			textColumn("code", func(n *node) string { return n.Code }),
			textColumn("name", func(n *node) string { return n.Name }),
			textOrNull("description", func(n *node) proto.Nullable[string] { return nullable(n.Description) }),
			boolColumn("active", func(n *node) bool { return n.Active }),
			textColumn("accounting_codes", func(n *node) string { return codesJSON(n.AccountingCodes) }),
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
			textOrNull("name", func(c *contractor) proto.Nullable[string] { return nullable(c.Name) }),
			textOrNull("city", func(c *contractor) proto.Nullable[string] { return nullable(c.City) }),
			textOrNull("country", func(c *contractor) proto.Nullable[string] { return nullable(c.Country) }),
			textOrNull("tax_id", func(c *contractor) proto.Nullable[string] { return nullable(c.TaxID) }),
			textOrNull("registration_number", func(c *contractor) proto.Nullable[string] { return nullable(c.RegistrationNumber) }),
		},
		project: noProject,
	}
}
