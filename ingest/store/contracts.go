package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func contracts() *Entity {
	type (
		contract   = events.Contract
		allocation = events.ContractAllocation
		amendment  = events.Amendment
	)
	allocations := func(c *contract) []allocation { return c.Allocations }
	amendments := func(c *contract) []amendment { return c.Amendments }
	return &Entity{
		Topic: events.Contracts,
		Table: "contracts",
		Columns: []Column{
			textOrNull("name", func(c *contract) events.Opt[string] { return c.Name }),
			textColumn("contractor_id", func(c *contract) string { return c.ContractorID.V }),
			textColumn("status", func(c *contract) string { return c.Status }),
			dateOrNull("start_date", func(c *contract) events.Opt[calendar.Date] { return c.StartDate }),
			dateOrNull("end_date", func(c *contract) events.Opt[calendar.Date] { return c.EndDate }),
			textColumn("currency", func(c *contract) string { return c.Currency }),
			textsColumn("allocation_node", allocations, func(a *allocation) string { return a.NodeID }),
			integersColumn("allocation_value", allocations, func(a *allocation) int64 { return a.Value }),
			textsColumn("amendment_id", amendments, func(a *amendment) string { return a.ID }),
			textsColumn("amendment_node", amendments, func(a *amendment) string { return a.NodeID.V }),
			integersColumn("amendment_value", amendments, func(a *amendment) int64 { return a.Value }),
			textsColumn("amendment_status", amendments, func(a *amendment) string { return a.Status }),
			datesOrNull("amendment_date", amendments, func(a *amendment) events.Opt[calendar.Date] { return a.Date }),
			textsOrNull("amendment_title", amendments, func(a *amendment) events.Opt[string] { return a.Title }),
		},
		Formula: "contracts-10a3c02f",
		project: func(_ string, data any) string { return data.(*contract).ProjectID },
		contribute: func(c analytics.Contribution, id string, data any) (analytics.Contribution, error) {
			return analytics.ContractContribution(c, analytics.ContractID(id), data.(*contract))
		},
		restore: restoreContract,
		restored: []string{
			"status", "currency", "allocation_node", "allocation_value", "amendment_id", "amendment_node",
			"amendment_value", "amendment_status", "amendment_date",
		},
	}
}

func restoreContract(m image) any {
	c := &events.Contract{Status: read[string](m, "status"), Currency: read[string](m, "currency")}
	values := read[[]int64](m, "allocation_value")
	for i, node := range read[[]string](m, "allocation_node") {
		c.Allocations = append(c.Allocations, events.ContractAllocation{NodeID: node, Value: values[i]})
	}
	nodes, statuses := read[[]string](m, "amendment_node"), read[[]string](m, "amendment_status")
	days := read[[]proto.Nullable[calendar.Date]](m, "amendment_date")
	values = read[[]int64](m, "amendment_value")
	for i, id := range read[[]string](m, "amendment_id") {
		c.Amendments = append(c.Amendments, events.Amendment{
			ID: id, NodeID: idOrNone(nodes[i]), Value: values[i], Status: statuses[i], Date: optionOf(days[i]),
		})
	}
	return c
}
