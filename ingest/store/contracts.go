package store

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

func contracts() *Entity {
	type (
		contract   = events.Contract
		allocation = events.ContractAllocation
		amendment  = events.Amendment
	)
	return &Entity{
		Topic: events.Contracts,
		Table: "contracts",
		Columns: []Column{
			textOrNull("name", func(c *contract) proto.Nullable[string] { return nullable(c.Name) }),
			textColumn("contractor_id", func(c *contract) string { return c.ContractorID.V }),
			textColumn("status", func(c *contract) string { return c.Status }),
			dateOrNull("start_date", func(c *contract) proto.Nullable[time.Time] { return nullableDate(c.StartDate) }),
			dateOrNull("end_date", func(c *contract) proto.Nullable[time.Time] { return nullableDate(c.EndDate) }),
			textColumn("currency", func(c *contract) string { return c.Currency }),
			textsColumn("allocation_node", func(c *contract) []string {
				return each(c.Allocations, func(a *allocation) string { return a.NodeID })
			}),
			integersColumn("allocation_value", func(c *contract) []int64 {
				return each(c.Allocations, func(a *allocation) int64 { return a.Value })
			}),
			textsColumn("amendment_id", func(c *contract) []string {
				return each(c.Amendments, func(a *amendment) string { return a.ID })
			}),
			textsColumn("amendment_node", func(c *contract) []string {
				return each(c.Amendments, func(a *amendment) string { return a.NodeID.V })
			}),
			integersColumn("amendment_value", func(c *contract) []int64 {
				return each(c.Amendments, func(a *amendment) int64 { return a.Value })
			}),
			textsColumn("amendment_status", func(c *contract) []string {
				return each(c.Amendments, func(a *amendment) string { return a.Status })
			}),
			datesOrNull("amendment_date", func(c *contract) []proto.Nullable[time.Time] {
				return each(c.Amendments, func(a *amendment) proto.Nullable[time.Time] { return nullableDate(a.Date) })
			}),
			textsOrNull("amendment_title", func(c *contract) []proto.Nullable[string] {
				return each(c.Amendments, func(a *amendment) proto.Nullable[string] { return nullable(a.Title) })
			}),
		},
		restore: restoreContract,
		Shape:   analytics.ContractShape(),
		project: func(_ string, data any) string { return data.(*contract).ProjectID },
		contribute: func(id string, data any) (analytics.Contributions, error) {
			return analytics.ContractContributions(analytics.ContractID(id), data.(*contract))
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
	dates := read[[]proto.Nullable[time.Time]](m, "amendment_date")
	values = read[[]int64](m, "amendment_value")
	for i, id := range read[[]string](m, "amendment_id") {
		c.Amendments = append(c.Amendments, events.Amendment{
			ID: id, NodeID: idOrNone(nodes[i]), Value: values[i], Status: statuses[i], Date: dateOf(dates[i]),
		})
	}
	return c
}
