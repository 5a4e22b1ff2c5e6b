package api

import (
	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

type contractField = resource.Field[reader.Contract]

// contractTable is what the API shows of a contract (docs/calculations.md#contracts).
var contractTable = resource.NewTable("Contract",
	"A contract with a contractor. Amounts are net, in the contract's currency.",
	contractField{Name: "id", Groups: access.Core, Required: true,
		Value: resource.Text(func(c *reader.Contract) string { return string(c.ID) })},
	contractField{Name: "projectId", Groups: access.Core, Required: true,
		Value: resource.Text(func(c *reader.Contract) string { return c.ProjectID })},
	contractField{Name: "name", Groups: access.Core, Required: true,
		Value: resource.NullText(func(c *reader.Contract) events.Opt[string] { return c.Name })},
	contractField{Name: "status", Groups: access.Core,
		Value: resource.NullText(func(c *reader.Contract) events.Opt[string] { return events.Some(c.Status) }).
			OneOf("setup", "signed", "completed", "cancelled"),
		Description: "Signed and completed contracts count as committed in the budget; setup and cancelled ones do not."},
	contractField{Name: "startDate", Groups: access.Core, Required: true,
		Value: resource.NullDate(func(c *reader.Contract) events.Opt[calendar.Date] { return c.StartDate })},
	contractField{Name: "endDate", Groups: access.Core, Required: true,
		Value: resource.NullDate(func(c *reader.Contract) events.Opt[calendar.Date] { return c.EndDate })},
	contractField{Name: "counterparty", Groups: access.Amounts, Reads: reader.ContractCounterparty,
		Value: resource.NullObject(contractCounterpartyTable, func(c *reader.Contract) *reader.Contract {
			if !c.ContractorID.Ok {
				return nil
			}
			return c
		}),
		Description: "The contractor."},
	allocatedFigure("committed", "Base amount and approved amendments; null while the contract has no budget line.",
		func(f *analytics.ContractFigures) analytics.Int128 { return f.Committed }),
	contractFigure("invoiced", "Net of linked invoices that are not rejected.",
		func(f *analytics.ContractFigures) analytics.Int128 { return f.Invoiced }),
	contractFigure("paid", "Net of linked invoices that are paid.",
		func(f *analytics.ContractFigures) analytics.Int128 { return f.Paid }),
	allocatedFigure("openCommitment", "Committed less invoiced, never negative.",
		func(f *analytics.ContractFigures) analytics.Int128 { return f.OpenCommitment }),
	allocatedFigure("overInvoiced", "Invoiced less committed, when positive.",
		func(f *analytics.ContractFigures) analytics.Int128 { return f.OverInvoiced }),
	contractFigure("pendingChanges", "Increases by amendments that await approval.",
		func(f *analytics.ContractFigures) analytics.Int128 { return f.PendingChanges }),
	contractField{Name: "reclassRecordIds", Groups: access.Amounts, Reads: reader.ContractReclass,
		Value: resource.Texts(func(c *reader.Contract) []string { return c.ReclassRecordIDs }),
		Description: "Linked records that are coded to a budget line outside the contract's: they count pro rata on its " +
			"lines and should be re-coded."},
	contractField{Name: "locked", Groups: access.Amounts, Reads: reader.ContractFigures,
		Value: resource.Flag(func(c *reader.Contract) bool { return c.Figures.Locked }),
		Description: "True after the first approved amendment or linked invoice: from then on only amendments change " +
			"amount and lines."},
	contractField{Name: "allocations", Groups: access.Budget,
		Value:       resource.List(contractAllocationTable, contractAllocations),
		Description: "The budget lines of the base contract; empty while it is not allocated."},
	contractField{Name: "amendments", Groups: access.Amounts,
		Value:       resource.List(amendmentTable, contractAmendments),
		Description: "Change orders, oldest first. Drafts are not listed."},
)

func contractFigure(name, description string, get func(f *analytics.ContractFigures) analytics.Int128) contractField {
	return contractField{Name: name, Groups: access.Amounts, Reads: reader.ContractFigures, Description: description,
		Value: resource.NullFigure(func(c *reader.Contract) (events.Opt[analytics.Int128], string) {
			return events.Some(get(&c.Figures)), c.Currency
		})}
}

// allocatedFigure is null while the contract has no budget line.
func allocatedFigure(name, description string, get func(f *analytics.ContractFigures) analytics.Int128) contractField {
	return contractField{Name: name, Groups: access.Amounts, Reads: reader.ContractFigures, Description: description,
		Value: resource.NullFigure(func(c *reader.Contract) (events.Opt[analytics.Int128], string) {
			return events.Opt[analytics.Int128]{V: get(&c.Figures), Ok: c.Figures.Allocated}, c.Currency
		})}
}

var contractCounterpartyTable = resource.NewTable("ContractCounterparty", "The contractor of a contract.",
	contractField{Name: "id", Groups: access.Amounts, Required: true,
		Value: resource.NullText(func(c *reader.Contract) events.Opt[string] { return c.ContractorID })},
	contractField{Name: "name", Groups: access.Amounts, Required: true,
		Value: resource.NullText(func(c *reader.Contract) events.Opt[string] { return c.CounterpartyName })},
)

// contractAllocation is a line of the base contract, in the contract's currency.
type contractAllocation struct {
	events.ContractAllocation
	currency string
}

func contractAllocations(c *reader.Contract) []contractAllocation {
	all := make([]contractAllocation, len(c.Allocations))
	for i, a := range c.Allocations {
		all[i] = contractAllocation{a, c.Currency}
	}
	return all
}

var contractAllocationTable = resource.NewTable("ContractAllocation",
	"What the base contract allocates to one budget line.",
	resource.Field[contractAllocation]{Name: "budgetNodeId", Groups: access.Budget, Required: true,
		Value: resource.Text(func(a *contractAllocation) string { return a.NodeID })},
	resource.Field[contractAllocation]{Name: "amount", Groups: access.Budget | access.Amounts,
		Value: resource.NullAmount(func(a *contractAllocation) (events.Opt[int64], string) {
			return events.Some(a.Value), a.currency
		})},
)

// contractAmendment is a change order, in the contract's currency.
type contractAmendment struct {
	events.Amendment
	currency string
}

func contractAmendments(c *reader.Contract) []contractAmendment {
	listed := c.ListedAmendments()
	all := make([]contractAmendment, len(listed))
	for i, a := range listed {
		all[i] = contractAmendment{a, c.Currency}
	}
	return all
}

var amendmentTable = resource.NewTable("Amendment", "A change order of a contract.",
	resource.Field[contractAmendment]{Name: "id", Groups: access.Amounts, Required: true,
		Value: resource.Text(func(a *contractAmendment) string { return a.ID })},
	resource.Field[contractAmendment]{Name: "budgetNodeId", Groups: access.Amounts, Required: true,
		Value: resource.NullText(func(a *contractAmendment) events.Opt[string] { return a.NodeID }).
			OrNullWithout(access.Budget),
		Description: "Null also for who may not see the field group budget."},
	resource.Field[contractAmendment]{Name: "amount", Groups: access.Amounts, Required: true,
		Value: resource.Figure(func(a *contractAmendment) (analytics.Int128, string) {
			return analytics.Int(a.Value), a.currency
		})},
	resource.Field[contractAmendment]{Name: "status", Groups: access.Amounts, Required: true,
		Value: resource.Text(func(a *contractAmendment) string { return a.Status }).
			OneOf("draft", "pending", "approved", "rejected")},
	resource.Field[contractAmendment]{Name: "date", Groups: access.Amounts, Required: true,
		Value: resource.NullDate(func(a *contractAmendment) events.Opt[calendar.Date] { return a.Date })},
	resource.Field[contractAmendment]{Name: "title", Groups: access.Amounts, Required: true,
		Value: resource.NullText(func(a *contractAmendment) events.Opt[string] { return a.Title })},
)
