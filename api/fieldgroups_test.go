package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tallyhouse/api"
)

// interfaceGroups is the test's own copy of the groups that each member needs: of each schema the group of most members,
// then those of others.
var interfaceGroups = map[string]struct {
	most   string
	others map[string]string
}{
	"Project":       {"core", map[string]string{"budgetStructureId": "budget", "inboundEmail": "documents"}},
	"Record":        {"core", recordGroups},
	"PartialRecord": {"core", recordGroups},
	"Counterparty":  {"core", nil},
	"Allocation":    {"budget", map[string]string{"net": "amounts budget"}},
	"BudgetNodeRef": {"budget", nil}, "AccountingCode": {"accounting", nil}, "Document": {"documents", nil}, "Intake": {"core", nil},
	"ProjectBudget": {"core", map[string]string{"structureId": "budget", "nodes": "budget", "unallocated": "amounts budget",
		"unallocatedBudget": "amounts budget", "excluded": "amounts", "excludedCommitted": "amounts budget"}},
	"BudgetNode": {"amounts", map[string]string{"nodeId": "budget", "level": "budget", "code": "budget", "name": "budget",
		"description": "budget", "parentId": "budget", "projectSpecific": "budget", "accountingCodes": "accounting"}},
	"InvoicedByStatus": {"amounts", nil}, "Excluded": {"amounts", nil},
	"Cashflow":      {"core", map[string]string{"nodes": "budget"}},
	"CashflowNode":  {"budget", map[string]string{"months": "amounts", "undated": "amounts", "gap": "amounts", "flags": "amounts"}},
	"CashflowMonth": {"amounts", nil},
	"Contract": {"amounts", map[string]string{"id": "core", "projectId": "core", "name": "core", "status": "core",
		"startDate": "core", "endDate": "core", "allocations": "budget"}},
	"ContractCounterparty": {"amounts", nil}, "Amendment": {"amounts", nil},
	"ContractAllocation": {"budget", map[string]string{"amount": "amounts budget"}},
	"Contractor":         {"core", map[string]string{"taxId": "tax", "registrationNumber": "tax"}},
	"ForecastSnapshot":   {"amounts", nil}, "SnapshotTotals": {"amounts", nil}, "EacChange": {"amounts", nil},
	"Unit":     {"core", map[string]string{"askingRate": "amounts"}},
	"RentRoll": {"amounts", nil}, "RentRollLease": {"amounts", nil},
	"Facility": {"financial", map[string]string{"commitment": "amounts", "drawn": "amounts", "requested": "amounts",
		"available": "amounts"}},
	"Availability": {"financial", nil}, "Pricing": {"financial", nil}, "MarginStep": {"financial", nil},
	"FacilitySchedule": {"financial", nil}, "RateChange": {"financial", nil},
	"FacilityPeriod": {"financial", map[string]string{"openingBalance": "amounts", "balance": "amounts", "interest": "amounts",
		"commitmentFee": "amounts"}},
	"FacilityEntry": {"financial", map[string]string{"amount": "amounts"}},
}

var recordGroups = map[string]string{"dueDate": "payment", "cashDate": "payment", "net": "amounts", "tax": "amounts",
	"gross": "amounts", "allocations": "budget", "budgetNode": "budget", "accountingCodes": "accounting", "documents": "documents"}

func TestTheDocumentSaysWhichGroupsAMemberNeeds(t *testing.T) {
	text, err := api.Description()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Groups []string `json:"x-field-group"`
				}
			}
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for schema, want := range interfaceGroups {
		members := document.Components.Schemas[schema].Properties
		if len(members) == 0 {
			t.Errorf("there is no %s", schema)
		}
		for member, described := range members {
			groups := want.most
			if other, ok := want.others[member]; ok {
				groups = other
			}
			if got := strings.Join(described.Groups, " "); got != groups {
				t.Errorf("%s.%s needs %q, want %q", schema, member, got, groups)
			}
		}
		for member := range want.others {
			if _, ok := members[member]; !ok {
				t.Errorf("%s has no %s", schema, member)
			}
		}
	}
	// And no schema with members of groups is missing here.
	for schema, described := range document.Components.Schemas {
		for member, m := range described.Properties {
			if _, known := interfaceGroups[schema]; !known && len(m.Groups) > 0 {
				t.Errorf("the groups of %s.%s are not known to this test", schema, member)
			}
		}
	}
}
