package eventstest

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
)

// Draw is a random valid message of the topic: every member that may be missing sometimes is, texts are any Unicode, numbers and
// dates reach to the ends of their ranges. One in eight is a delete.
func Draw(t *rapid.T, topic events.Topic) Message {
	m := Message{
		"id": id(t), "tenantId": enum("demo", "Größe", "t 1")(t), "version": integer(1, events.MaxVersion)(t), "op": "upsert", "at": instant(t),
	}
	if rapid.IntRange(0, 7).Draw(t, "delete") == 0 {
		m["op"] = "delete"
		return m.copy()
	}
	data := payloads[topic].draw(t)
	if adjust := adjusted[topic]; adjust != nil {
		adjust(t, m, data)
	}
	if rapid.IntRange(0, 4).Draw(t, "ext") == 0 {
		data["ext"] = map[string]any{"deep": []any{1, nil, map[string]any{"x": "y"}}}
		m["ext"] = "any"
	}
	m["data"] = data
	return m.copy()
}

// DrawUpsert is a Draw that is no delete.
func DrawUpsert(t *rapid.T, topic events.Topic) Message {
	return rapid.Custom(func(t *rapid.T) Message { return Draw(t, topic) }).
		Filter(func(m Message) bool { return m["op"] == "upsert" }).Draw(t, string(topic))
}

func sorted(f fields) []string { return slices.Sorted(maps.Keys(f)) }

var (
	level    = extensible("budget", "subBudget", "costItem")
	system   = extensible("yardi", "datev", "sap", "bmd", "other")
	decision = enum("draft", "approved", "rejected")
	span     = object(fields{"from": date, "to": date})
	months   = integer(1, events.MaxMonths)
)

// payloads has the data of every topic, without the rules between members.
var payloads = map[events.Topic]fields{
	events.Projects: {"name": text, "workspaceId": opt(id), "currency": currency, "budgetStructureId": opt(id), "inboundEmail": opt(text)},
	events.BudgetNodes: {"structureId": opt(id), "projectId": opt(id), "parentId": opt(id), "level": level, "code": text, "name": text,
		"description": opt(text), "active": boolean,
		"accountingCodes": list(object(fields{"system": system, "code": text, "name": opt(text), "taxKey": opt(text)}))},
	events.BudgetRows:         {"projectId": id, "kind": enum("initial", "addendum"), "nodeId": opt(id), "amount": amount, "status": decision},
	events.BudgetTransfers:    {"projectId": id, "fromNodeId": opt(id), "toNodeId": opt(id), "amount": amount, "status": decision},
	events.UncommittedEntries: {"projectId": id, "nodeId": id, "amount": opt(amount)},
	events.Contractors:        {"name": opt(text), "city": opt(text), "country": opt(text), "taxId": opt(text), "registrationNumber": opt(text)},
	events.Contracts: {"projectId": id, "name": opt(text), "contractorId": opt(id), "status": extensible("setup", "signed", "completed", "cancelled"),
		"startDate": opt(date), "endDate": opt(date), "currency": currency, "allocations": list(object(fields{"nodeId": id, "value": minor})),
		"amendments": list(object(fields{"id": id, "nodeId": opt(id), "value": minor,
			"status": extensible("draft", "pending", "approved", "rejected"), "date": opt(date), "title": opt(text)}))},
	events.Claims: {"projectId": id, "contractId": opt(id), "nodeId": opt(id), "amount": amount, "probabilityBp": decimal(3, 0, 10000),
		"status": enum("open", "closed")},
	events.Records: {"projectId": id, "source": extensible("invoice", "accrual"), "direction": extensible("in", "out"),
		"stepKind": enum("setup", "approval", "payment", "paid", "rejected"), "workflowStep": opt(text), "contractorId": opt(id),
		"counterpartyName": opt(text), "invoiceNumber": opt(text), "recognitionDate": opt(date), "dueDate": opt(date), "paidAt": opt(instant),
		"cashDate": opt(date), "currency": opt(currency), "net": opt(minor), "tax": opt(minor), "gross": opt(minor),
		"allocations": list(object(fields{"nodeId": opt(id), "net": minor})), "contractId": opt(id),
		"certifiedCodes": opt(list(object(fields{"system": system, "code": text, "name": opt(text), "taxKey": opt(text), "inherited": opt(boolean)}))),
		"documents":      list(object(fields{"name": text, "kind": extensible("original", "approved", "other")})),
		"intake": object(fields{"channel": extensible("email", "app", "chat", "api", "manual"),
			"status": opt(extensible("queued", "processing", "completed", "failed")), "receivedAt": opt(instant)})},
	events.LinePlans: {"projectId": id, "nodeId": id, "startDate": opt(date), "endDate": opt(date),
		"method":       opt(enum("linearDays", "linearMonths", "sCurve", "custom")),
		"customMonths": list(object(fields{"month": month, "value": minor})),
		"recurring":    opt(object(fields{"everyMonths": months, "from": month, "to": opt(month)}))},
	events.ForecastSnapshots: {"projectId": id, "month": month, "version": integer(1, events.MaxVersion),
		"status": extensible("submitted", "approved", "rejected"), "submittedAt": opt(instant), "decidedAt": opt(instant),
		"lines": list(object(fields{"nodeId": id, "level": level, "code": text, "name": text, "budget": minor, "committed": minor,
			"pendingChanges": minor, "uncommitted": minor, "uncommittedDefaulted": boolean, "invoiced": minor, "paid": minor})),
		"explanations": list(object(fields{"nodeId": id, "reason": text}))},
	events.Units: {"projectId": id, "siteId": id, "siteName": text, "buildingId": id, "label": text, "type": text, "floor": opt(text),
		"areaM2": opt(decimal(17, 0, 999999999999999999)), "spaces": opt(integer(0, events.MaxAmount)), "scope": enum("scheme", "currentUse"),
		"askingRate": opt(amount)},
	events.Leases: {"projectId": id, "category": extensible("main", "other"), "counterpartyName": opt(text),
		"status": extensible("draft", "signed", "active", "ended"), "unitIds": list(id), "start": date, "end": opt(date), "currency": currency,
		"monthlyRent": minor, "steps": list(object(fields{"from": date, "monthlyRent": minor})), "rentFree": list(span),
		"breaks":     list(object(fields{"date": date, "party": enum("tenant", "landlord", "both"), "state": enum("open", "exercised", "waived")})),
		"indexation": opt(indexation), "indexationText": opt(text)},
	events.IndexValues: {"series": either(enum("VPI", "a:b"), chars(1, 190)), "month": month, "value": either(decimal(10, 1, 99999), enum("0.00000000000000001"))},
	events.Facilities: {"projectIds": listOf(1, id), "lender": text, "type": extensible("construction", "investment", "bridge", "shareholder"),
		"currency": currency, "commitment": minor, "revolving": boolean, "availability": span, "maturity": date,
		"dayCount": enum("ACT/360", "ACT/365", "30/360"),
		"pricing": object(fields{"referenceRate": text, "marginBp": basisBp, "floorBp": opt(basisBp), "floorOn": opt(extensible("reference", "allIn")),
			"fixedRateBp": opt(basisBp), "marginSteps": list(object(fields{"from": date, "marginBp": basisBp}))}),
		"commitmentFeeBp": basisBp, "interestTreatment": extensible("paid", "capitalised"), "firstIpd": opt(date), "ipdEveryMonths": opt(months),
		"ipds": opt(list(date))},
	events.Fixings: {"facilityId": id, "periodStart": date, "referenceBp": basisBp},
	events.FacilityEntries: {"facilityId": id, "kind": extensible("drawdown", "interest", "repayment"),
		"status": extensible("planned", "requested", "funded"), "date": date, "value": integer(1, events.MaxAmount)},
	events.Users:       {"name": text, "email": opt(text), "active": boolean},
	events.Memberships: {"userId": id, "scope": scope, "role": enum("admin", "user", "guest")},
	events.Keys: {"ownerUserId": id, "environment": enum("test", "live"), "prefix": from(rapid.StringMatching(`[A-Za-z0-9ä-]{1,100}`)),
		"secretSha256": from(rapid.StringMatching(`[0-9a-fA-F]{64}`)), "financial": boolean,
		"groups":     opt(list(enum("core", "amounts", "budget", "payment", "documents", "accounting", "tax", "financial", "bank"))),
		"projectIds": opt(list(id)), "expiresAt": opt(instant), "revokedAt": opt(instant)},
	events.ReceivedFeedback: {"category": enum("bug", "missing", "confusing", "idea", "praise"), "message": chars(1, 4000),
		"endpoint": opt(chars(0, 200)), "agent": opt(object(fields{"name": opt(chars(0, 200)), "model": opt(chars(0, 200))})),
		"requestId": opt(chars(0, 200)), "principal": text, "receivedAt": instant},
}

var indexation = either(
	object(fields{"type": enum("none")}),
	object(fields{"type": enum("fixed"), "rateBp": basisBp, "firstOn": date, "everyMonths": months}),
	object(fields{"type": enum("cpi"), "series": id, "baseMonth": month, "thresholdBp": basisBp, "everyMonths": months,
		"lagMonths": integer(0, events.MaxMonths), "shareBp": basisBp, "capBp": opt(basisBp), "floorBp": opt(basisBp)}),
)

var scope = either(
	object(fields{"projectId": id, "workspaceId": func(*rapid.T) any { return nil }}),
	object(fields{"workspaceId": id}),
	object(fields{"tenant": func(*rapid.T) any { return true }}),
)

// adjusted makes a drawn payload keep the rules between members.
var adjusted = map[events.Topic]func(t *rapid.T, m Message, data map[string]any){
	events.BudgetNodes: func(_ *rapid.T, m Message, data map[string]any) {
		if data["parentId"] == m["id"] {
			data["parentId"] = nil
		}
	},
	events.Contracts: func(_ *rapid.T, _ Message, data map[string]any) {
		data["amendments"] = distinct(data["amendments"], "id")
	},
	events.Records: func(_ *rapid.T, _ Message, data map[string]any) {
		adjustRecord(data)
	},
	events.ForecastSnapshots: func(t *rapid.T, _ Message, data map[string]any) {
		lines := distinct(data["lines"], "nodeId")
		for i, l := range lines {
			if parent := rapid.IntRange(-1, i-1).Draw(t, "parent"); parent >= 0 {
				l.(map[string]any)["parentId"] = lines[parent].(map[string]any)["nodeId"]
			}
		}
		if len(lines) > 1 {
			lines = rapid.Permutation(lines).Draw(t, "order")
		}
		data["lines"] = lines
	},
	events.IndexValues: func(_ *rapid.T, m Message, data map[string]any) {
		m["id"] = fmt.Sprintf("%s:%s", data["series"], data["month"])
	},
	events.Facilities: func(_ *rapid.T, _ Message, data map[string]any) {
		if from := data["availability"].(map[string]any)["from"].(string); data["maturity"].(string) <= from {
			data["availability"].(map[string]any)["from"], data["maturity"] = "1900-01-01", "1900-01-02"
		}
	},
}

func adjustRecord(data map[string]any) {
	allocations := data["allocations"].([]any)
	net, _ := data["net"].(int64)
	_, hasNet := data["net"].(int64)
	var sum int64
	for i, a := range allocations {
		a := a.(map[string]any)
		switch {
		case !hasNet:
			a["net"] = nil
		case i == len(allocations)-1:
			a["net"] = net - sum
		default:
			share := a["net"].(int64)
			room := max(net, -net) // so that what the last one gets stays an amount
			if (share < 0) != (net < 0) {
				room = events.MaxAmount - room
			}
			share %= room/4 + 1
			if room < 4 {
				share = 0
			}
			a["net"] = share
			sum += share
		}
	}
	if data["currency"] == nil {
		data["currency"] = "EUR"
	}
	if data["stepKind"] == "paid" && data["paidAt"] == nil && data["cashDate"] == nil {
		data["cashDate"] = "2026-03-01"
	}
}

// distinct keeps the first of the elements with equal members.
func distinct(elements any, member string) []any {
	seen := map[any]bool{}
	return slices.DeleteFunc(elements.([]any), func(e any) bool {
		v := e.(map[string]any)[member]
		twice := seen[v]
		seen[v] = true
		return twice
	})
}
