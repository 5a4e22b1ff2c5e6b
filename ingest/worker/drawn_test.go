package worker

import (
	"fmt"
	"strings"

	"tallyhouse/schemas/events"
)

// drawnKind is a kind of entity in an invented stream.
type drawnKind struct {
	topic  events.Topic
	weight int    // how often it comes, beside the others
	prefix string // of its ids that come again and again
	ids    int    // how many there are of them
	data   func(c *chaos) map[string]any
	spoil  func(c *chaos, id string, data map[string]any) // breaks a rule of its own
}

// event builds a message of this kind, data nil makes it a delete. Of an index value series and month are its id.
func (k drawnKind) event(id string, version int, data map[string]any) message {
	if k.topic == events.IndexValues {
		if data != nil {
			data["series"], data["month"] = id, "2026-01"
		}
		id += ":2026-01"
	}
	return event(k.topic, id, version, data)
}

var drawn = []drawnKind{
	{
		topic: events.Projects, weight: 5, prefix: "P", ids: 5,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"name": c.new("Project "), "currency": "EUR", "workspaceId": c.pick("W1", nil), "budgetStructureId": c.pick("S1", "S2", nil),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["currency"] = "euro" },
	},
	{
		topic: events.BudgetNodes, weight: 5, prefix: "n", ids: 8,
		data: func(c *chaos) map[string]any {
			node := map[string]any{
				"parentId": c.pick("parent", nil), "level": c.pick("budget", "subBudget", "costItem", "shelf"), "code": c.new("code "), "name": "A node",
				"description": c.pick("Of all kinds", nil), "active": c.rnd.IntN(3) > 0,
				"accountingCodes": c.list(3, func(i int) map[string]any {
					return map[string]any{"system": "datev", "code": fmt.Sprint(4000 + i), "name": c.pick("Work", nil)}
				}),
			}
			node[c.pick("structureId", "projectId").(string)] = c.project()
			return node
		},
		spoil: func(_ *chaos, id string, data map[string]any) { data["parentId"] = id },
	},
	{
		topic: events.BudgetRows, weight: 10, prefix: "b", ids: 20,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"projectId": c.project(), "kind": c.pick("initial", "addendum"), "nodeId": c.nodeOrNone(), "amount": c.amount(),
				"status": c.pick("approved", "approved", "draft", "rejected"),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["status"] = "paid" },
	},
	{
		topic: events.BudgetTransfers, weight: 7, prefix: "t", ids: 12,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"projectId": c.project(), "fromNodeId": c.nodeOrNone(), "toNodeId": c.nodeOrNone(), "amount": c.amount(),
				"status": c.pick("approved", "approved", "draft", "rejected"),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["amount"] = map[string]any{"value": 1} },
	},
	{
		topic: events.UncommittedEntries, weight: 5, prefix: "u", ids: 8,
		data: func(c *chaos) map[string]any {
			return map[string]any{"projectId": c.project(), "nodeId": c.node(), "amount": c.pick(c.amount(), nil)}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) {
			data["amount"] = map[string]any{"value": events.MaxAmount + 1, "currency": "EUR"}
		},
	},
	{
		topic: events.Contractors, weight: 4, prefix: "K", ids: 8,
		data: func(c *chaos) map[string]any {
			return map[string]any{"name": c.new("Firm "), "city": c.pick("Linz", nil), "taxId": c.pick("ATU1", nil)}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["country"] = 43 },
	},
	{
		topic: events.Readings, weight: 4, prefix: "mail-", ids: 10,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"projectId": c.pick(c.project(), nil), "status": c.pick("completed", "failed", "quarantined", "withoutRecord", "handled"),
				"reason": c.pick("broken", nil), "documents": []any{}, "findings": []any{},
				"mail": map[string]any{
					"mailbox": "imap://mail.example/INBOX", "uidValidity": 1, "uid": c.rnd.IntN(100), "released": false, "bytes": 5,
					"subject": c.new("Rechnung "), "arrivedAt": c.pick("2026-03-01T10:15:00.5Z", nil),
				},
				"fields": c.list(2, func(int) map[string]any {
					return map[string]any{
						"name": "gross", "alternatives": []any{},
						"value": map[string]any{"minorUnits": 100, "confidenceBp": "9700", "page": 1, "rule": "net + tax = gross"},
					}
				}),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["status"] = "lost" },
	},
	{
		topic: events.Requests, weight: 2, prefix: "m", ids: 10,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"action": c.pick("retry", "release"), "projectId": c.pick(c.project(), nil), "requestedBy": c.pick("U1", nil),
				"mail":        map[string]any{"mailbox": "imap://mail.example/INBOX", "uidValidity": 1, "uid": c.rnd.IntN(100)},
				"requestedAt": "2026-03-01T10:15:00.5Z",
				"answer":      c.pick(nil, map[string]any{"at": "2026-03-01T10:15:01Z", "outcome": c.new("outcome "), "detail": c.pick("Why", nil)}),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["action"] = "allow" },
	},
	{
		topic: events.Contracts, weight: 12, prefix: "C", ids: 20,
		data: drawContract,
		spoil: func(c *chaos, _ string, data map[string]any) {
			amendment := map[string]any{"id": "a0", "value": 1, "status": "approved"}
			switch c.rnd.IntN(3) {
			case 0: // the same change order twice
				data["amendments"] = []any{amendment, amendment}
			case 1:
				amendment["currency"] = "EUR"
				data["amendments"] = []any{amendment}
			case 2: // 2^61 together, more than the views can hold
				var most []any
				for range 257 {
					most = append(most, map[string]any{"nodeId": c.node(), "value": events.MaxAmount})
				}
				data["allocations"] = most
			}
		},
	},
	{
		topic: events.Claims, weight: 8, prefix: "c", ids: 15,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"projectId": c.project(), "contractId": c.pick("C1", "C2", nil), "nodeId": c.nodeOrNone(), "amount": c.amount(),
				"probabilityBp": c.pick("0", "10000", "5000", fmt.Sprint(c.rnd.IntN(10_000)), fmt.Sprintf("%d.%03d", c.rnd.IntN(10_000), c.rnd.IntN(1000))),
				"status":        c.pick("open", "open", "closed"),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["probabilityBp"] = "10000.001" },
	},
	{
		topic: events.Records, weight: 50, prefix: "mail-R", ids: 60,
		data: drawRecord,
		spoil: func(_ *chaos, _ string, data map[string]any) {
			data["allocations"] = []any{map[string]any{"net": 1}, map[string]any{"net": nil}}
		},
	},
	{
		topic: events.ForecastSnapshots, weight: 5, prefix: "f", ids: 8,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"projectId": c.project(), "month": c.month(), "version": 1 + c.rnd.IntN(3), "status": c.pick("submitted", "approved", "rejected"),
				"submittedAt": c.pick("2026-03-31T22:30:00.25Z", nil), "decidedAt": c.pick("2026-04-01T08:00:00Z", nil),
				"lines": c.list(4, func(i int) map[string]any {
					line := map[string]any{
						"nodeId": fmt.Sprint("n", i), "parentId": nil, "level": "budget", "code": "1", "name": "A line", "budget": c.value(), "committed": c.value(),
						"pendingChanges": c.value(), "uncommitted": c.value(), "uncommittedDefaulted": c.rnd.IntN(2) == 0, "invoiced": c.value(), "paid": c.value(),
					}
					if i > 0 {
						line["parentId"] = fmt.Sprint("n", c.rnd.IntN(i))
					}
					return line
				}),
				"explanations": c.list(3, func(int) map[string]any { return map[string]any{"nodeId": c.node(), "reason": c.new("Reason ")} }),
			}
		},
		spoil: func(c *chaos, _ string, data map[string]any) {
			data["lines"] = append(data["lines"].([]any), map[string]any{
				"nodeId": "orphan", "parentId": "nobody", "level": "budget", "code": "1", "name": "A line", "budget": 0, "committed": 0, "pendingChanges": 0,
				"uncommitted": 0, "uncommittedDefaulted": true, "invoiced": 0, "paid": 0,
			})
		},
	},
	{
		topic: events.LinePlans, weight: 4, prefix: "l", ids: 8,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"projectId": c.project(), "nodeId": c.node(), "startDate": c.pick(c.month()+"-03", nil), "endDate": c.pick("2027-02-28", nil),
				"method":       c.pick("linearDays", "linearMonths", "sCurve", "custom", nil),
				"customMonths": c.list(4, func(int) map[string]any { return map[string]any{"month": c.month(), "value": c.value()} }),
				"recurring":    c.pick(nil, map[string]any{"everyMonths": 3, "from": c.month()}, map[string]any{"everyMonths": 1, "from": "2026-01", "to": c.month()}),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["method"] = "linear" },
	},
	{
		topic: events.Units, weight: 3, prefix: "u", ids: 8,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"projectId": c.project(), "siteId": "S1", "siteName": "Main street", "buildingId": c.pick("B1", "B2"), "label": c.new("Top "),
				"type": c.pick("flat", "parking"), "floor": c.pick("1", nil), "areaM2": c.pick("72.5", 80, nil), "spaces": c.pick(nil, 2),
				"scope": c.pick("scheme", "currentUse"), "askingRate": c.pick(c.amount(), nil),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["areaM2"] = "-1" },
	},
	{
		topic: events.Leases, weight: 8, prefix: "L", ids: 12,
		data: drawLease,
		spoil: func(c *chaos, _ string, data map[string]any) {
			if c.rnd.IntN(2) == 0 {
				data["indexation"] = map[string]any{"type": "none", "everyMonths": 1}
				return
			}
			var most []any // 2^61 together, more than the sums can hold
			for month := range 300 {
				most = append(most, map[string]any{"from": fmt.Sprintf("%d-%02d-01", 2030+month/12, month%12+1), "monthlyRent": events.MaxAmount - month})
			}
			data["status"], data["start"], data["end"], data["steps"] = "active", "2026-01-01", nil, most
			data["breaks"] = []any{}
		},
	},
	{
		topic: events.IndexValues, weight: 3, prefix: "VPI", ids: 8,
		data: func(c *chaos) map[string]any {
			return map[string]any{"value": fmt.Sprintf("%d.%d", 100+c.rnd.IntN(50), c.rnd.IntN(10))}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["value"] = "0" },
	},
	{
		topic: events.Facilities, weight: 3, prefix: "F", ids: 4,
		data: drawFacility,
		spoil: func(_ *chaos, _ string, data map[string]any) {
			data["maturity"] = data["availability"].(map[string]any)["from"]
		},
	},
	{
		topic: events.Fixings, weight: 4, prefix: "x", ids: 10,
		data: func(c *chaos) map[string]any {
			return map[string]any{"facilityId": c.facility(), "periodStart": c.month() + "-28", "referenceBp": c.pick("215.5", "-12.125", 0)}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["periodStart"] = "2026-02-30" },
	},
	{
		topic: events.FacilityEntries, weight: 10, prefix: "e", ids: 20,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"facilityId": c.facility(), "kind": c.pick("drawdown", "drawdown", "interest", "repayment", "fee"),
				"status": c.pick("funded", "funded", "requested", "planned"), "date": c.month() + "-15", "value": 1 + c.rnd.IntN(2_000_000),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["value"] = 0 },
	},
	{
		topic: events.Users, weight: 2, prefix: "U", ids: 5,
		data: func(c *chaos) map[string]any {
			return map[string]any{"name": c.new("User "), "email": c.pick("user@example.org", nil), "active": c.rnd.IntN(3) > 0}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["active"] = "yes" },
	},
	{
		topic: events.Memberships, weight: 2, prefix: "M", ids: 5,
		data: func(c *chaos) map[string]any {
			scope := c.pick(map[string]any{"projectId": c.project()}, map[string]any{"workspaceId": "W1"}, map[string]any{"tenant": true})
			return map[string]any{"userId": c.new("U"), "scope": scope, "role": c.pick("admin", "user", "guest")}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["scope"] = map[string]any{} },
	},
	{
		topic: events.Keys, weight: 2, prefix: "k", ids: 5,
		data: func(c *chaos) map[string]any {
			return map[string]any{
				"ownerUserId": c.new("U"), "environment": c.pick("test", "live"), "prefix": c.new("p"), "secretSha256": strings.Repeat("0a", 32),
				"financial": c.rnd.IntN(2) == 0, "groups": c.pick(nil, []any{}, []any{"core", "tax"}), "projectIds": c.pick(nil, []any{c.project()}),
				"revokedAt": c.pick(nil, "2026-03-01T10:15:00.123456Z"),
			}
		},
		spoil: func(_ *chaos, _ string, data map[string]any) { data["secretSha256"] = "0a" },
	},
}

// drawLease is a lease of every status, with and without an end, with steps, rent-free time and breaks of every kind.
func drawLease(c *chaos) map[string]any {
	day := func() string {
		return fmt.Sprintf("20%d-%02d-%02d", 24+c.rnd.IntN(6), 1+c.rnd.IntN(12), 1+c.rnd.IntN(28))
	}
	return map[string]any{
		"projectId": c.project(), "category": c.pick("main", "other"), "counterpartyName": c.pick("Baker", nil),
		"status":  c.pick("active", "active", "signed", "ended", "draft"),
		"unitIds": c.pick([]any{}, []any{"u1"}, []any{"u1", "u2"}), "start": day(), "end": c.pick(day(), "2034-06-30", nil), "currency": c.currency(),
		"monthlyRent": c.rnd.IntN(1_000_000),
		"steps":       c.list(4, func(int) map[string]any { return map[string]any{"from": day(), "monthlyRent": c.rnd.IntN(3) * 50_000} }),
		"rentFree":    c.list(3, func(int) map[string]any { return map[string]any{"from": day(), "to": day()} }),
		"breaks": c.list(4, func(int) map[string]any {
			return map[string]any{"date": day(), "party": c.pick("tenant", "landlord", "both"), "state": c.pick("open", "open", "exercised", "waived")}
		}),
		"indexation": c.pick(nil, map[string]any{"type": "none"}, map[string]any{"type": "fixed", "rateBp": "250", "firstOn": day(), "everyMonths": 12},
			map[string]any{"type": "cpi", "everyMonths": 1, "series": "VPI1", "baseMonth": "2026-01", "thresholdBp": "500", "lagMonths": 2, "shareBp": "7500", "capBp": c.pick("300", nil)}),
		"indexationText": c.pick("By the index", nil),
	}
}

// drawFacility is a loan of one project or several, with and without a floor, margin steps and given payment dates.
func drawFacility(c *chaos) map[string]any {
	return map[string]any{
		"projectIds": c.pick([]any{c.project()}, []any{"P0", "P1"}), "lender": c.new("Bank "), "type": c.pick("construction", "bridge"), "currency": c.currency(),
		"commitment": c.value(), "revolving": c.rnd.IntN(2) == 0, "availability": map[string]any{"from": c.month() + "-01", "to": "2027-06-30"},
		"maturity": "2028-12-31", "dayCount": c.pick("ACT/360", "ACT/365", "30/360"),
		"pricing": map[string]any{
			"referenceRate": "EURIBOR 3M", "marginBp": c.pick("187.5", 150), "floorBp": c.pick("0", nil), "floorOn": c.pick("reference", "allIn", nil),
			"fixedRateBp": c.pick("350.125", nil),
			"marginSteps": c.list(3, func(int) map[string]any { return map[string]any{"from": c.month() + "-16", "marginBp": "210"} }),
		},
		"commitmentFeeBp": "35", "interestTreatment": c.pick("paid", "capitalised"), "firstIpd": c.pick("2026-03-31", nil), "ipdEveryMonths": c.pick(3, nil),
		"ipds": c.pick(nil, []any{}, []any{"2026-06-30", "2026-09-30"}),
	}
}

// drawContract is a contract with and without base allocations, some of them twice on one node, and change orders of
// every status, some on new nodes, some undated, some on none.
func drawContract(c *chaos) map[string]any {
	return map[string]any{
		"projectId": c.project(), "name": c.pick("Shell", nil), "contractorId": c.pick("K1", "K2", nil), "currency": c.currency(),
		"status": c.pick("setup", "signed", "signed", "completed", "cancelled", "dormant"), "startDate": c.pick("2026-01-02", nil), "endDate": c.pick("2027-12-31", nil),
		"allocations": c.list(4, func(int) map[string]any { return map[string]any{"nodeId": c.node(), "value": c.value()} }),
		"amendments": c.list(5, func(i int) map[string]any {
			return map[string]any{
				"id": fmt.Sprint("a", (i+3)%5), "nodeId": c.nodeOrNone(), "value": c.value() * c.pick(1, 1, -1).(int), "status": c.pick("approved", "approved", "pending", "pending", "draft", "rejected"),
				"date": c.pick(c.month()+"-01", "2026-06-15", nil), "title": c.pick("More of it", nil),
			}
		}),
	}
}

func drawRecord(c *chaos) map[string]any {
	net := c.rnd.IntN(2_000_000) - 300_000
	r := map[string]any{
		"projectId": c.project(), "direction": "out", "net": net, "tax": net / 5, "contractId": c.pick(nil, "C1", "C2"),
		"contractorId": c.pick(nil, "K1", "K2"), "currency": c.currency(), "stepKind": c.pick("setup", "approval", "payment", "rejected"),
		"source": c.pick("invoice", "invoice", "accrual"), "recognitionDate": c.month() + "-10", "gross": nil, "documents": []any{},
		"intake": map[string]any{"channel": "manual", "receivedAt": "2026-01-15T08:00:00Z"},
	}
	if c.rnd.IntN(3) == 0 {
		r["stepKind"], r["cashDate"] = "paid", c.month()+"-20"
	}
	if c.rnd.IntN(2) == 0 {
		r["gross"] = net + net/5 + c.rnd.IntN(3) - 1
	}
	left := net
	allocations := []any{}
	for n := c.rnd.IntN(4); n > 0; n-- {
		part := left
		if n > 1 {
			part = left / 2
		}
		allocations = append(allocations, map[string]any{"nodeId": c.node(), "net": part})
		left -= part
	}
	r["allocations"] = allocations
	if c.rnd.IntN(10) == 0 {
		r["net"], r["tax"], r["gross"], r["allocations"] = nil, nil, nil, []any{}
	}
	return r
}
