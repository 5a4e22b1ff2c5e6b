package events

import (
	"strconv"

	"tallyhouse/schemas/calendar"
)

// ContractAllocation is one budget line of a base contract.
type ContractAllocation struct {
	NodeID string
	Value  int64
}

var contractAllocation = table("contractAllocation", "",
	need("nodeId", id, func(a *ContractAllocation) *string { return &a.NodeID }),
	need("value", minor, func(a *ContractAllocation) *int64 { return &a.Value }),
)

// Amendment is a change order of a contract.
type Amendment struct {
	ID     string
	NodeID Opt[string]
	Value  int64
	Status string
	Date   Opt[calendar.Date]
	Title  Opt[string]
}

var amendment = table("amendment", "",
	need("id", id, func(a *Amendment) *string { return &a.ID }),
	may("nodeId", id, func(a *Amendment) *Opt[string] { return &a.NodeID }),
	need("value", minor, func(a *Amendment) *int64 { return &a.Value }).
		doc("signed"),
	need("status", extensible("draft", "pending", "approved", "rejected"), func(a *Amendment) *string { return &a.Status }),
	may("date", date, func(a *Amendment) *Opt[calendar.Date] { return &a.Date }),
	may("title", text, func(a *Amendment) *Opt[string] { return &a.Title }),
	never[Amendment]("currency", "has no place here: an amendment counts in the currency of its contract"),
)

// Contract is the payload of Contracts.
type Contract struct {
	ProjectID    string
	Name         Opt[string]
	ContractorID Opt[string]
	Status       string
	StartDate    Opt[calendar.Date]
	EndDate      Opt[calendar.Date]
	Currency     string
	Allocations  []ContractAllocation
	Amendments   []Amendment
}

var contract = table("contract", "A contract with its change orders. All its money is in its own currency; "+
	"amendments have none of their own.",
	need("projectId", id, func(c *Contract) *string { return &c.ProjectID }),
	may("name", text, func(c *Contract) *Opt[string] { return &c.Name }),
	may("contractorId", id, func(c *Contract) *Opt[string] { return &c.ContractorID }),
	need("status", extensible("setup", "signed", "completed", "cancelled"), func(c *Contract) *string { return &c.Status }),
	may("startDate", date, func(c *Contract) *Opt[calendar.Date] { return &c.StartDate }),
	may("endDate", date, func(c *Contract) *Opt[calendar.Date] { return &c.EndDate }),
	need("currency", currency, func(c *Contract) *string { return &c.Currency }),
	need("allocations", list(contractAllocation.kind()), func(c *Contract) *[]ContractAllocation { return &c.Allocations }).
		doc("the lines of the base contract"),
	need("amendments", list(amendment.kind()), func(c *Contract) *[]Amendment { return &c.Amendments }).
		doc("the change orders"),
)

func checkContract(d *decoder, _ *Envelope, c *Contract) {
	seen := make(map[string]struct{}, len(c.Amendments))
	for i, a := range c.Amendments {
		if _, twice := seen[a.ID]; twice {
			d.failAt(element("data.amendments", i, "id"), "repeats %s, which an earlier amendment has", quoted(a.ID))
			return
		}
		seen[a.ID] = struct{}{}
	}
}

// element is the path of a member of an array's element.
func element(array string, i int, member string) string {
	return array + "[" + strconv.Itoa(i) + "]." + member
}

// Claim is the payload of Claims.
type Claim struct {
	ProjectID     string
	ContractID    Opt[string]
	NodeID        Opt[string]
	Amount        Amount
	ProbabilityBp Decimal // 0..10000
	Status        string
}

var claim = table("claim", "A claim that is expected.",
	need("projectId", id, func(c *Claim) *string { return &c.ProjectID }),
	may("contractId", id, func(c *Claim) *Opt[string] { return &c.ContractID }),
	may("nodeId", id, func(c *Claim) *Opt[string] { return &c.NodeID }),
	need("amount", amount, func(c *Claim) *Amount { return &c.Amount }),
	need("probabilityBp", probabilityBp, func(c *Claim) *Decimal { return &c.ProbabilityBp }),
	need("status", enum("open", "closed"), func(c *Claim) *string { return &c.Status }),
)
