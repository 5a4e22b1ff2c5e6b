// Package eventstest makes change events for tests: small fixed ones to build on, and random ones of every topic. It
// knows the payloads from their schemas alone, so that tests can compare the decoder with it.
package eventstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tallyhouse/schemas/events"
)

// Message is the value of a change event as a JSON object. Its methods give changed copies, so that messages can be
// built on each other: New(events.Records, "demo", "R1", 1).With("data.net", 100).
type Message map[string]any

// New is a small valid upsert of the topic: amounts in EUR, project P1, nodes N1 and N2, everything optional absent.
func New(topic events.Topic, tenant, id string, version int64) Message {
	data, known := smallest[topic]
	if !known {
		panic(fmt.Sprintf("no change events on %s", topic))
	}
	m := Message{"id": id, "tenantId": tenant, "version": version, "op": "upsert", "at": "2026-03-01T10:15:00Z",
		"data": json.RawMessage(data)}
	if topic == events.IndexValues {
		series, month, _ := strings.Cut(id, ":")
		return m.With("data.series", series).With("data.month", month)
	}
	return m.copy()
}

// Delete is a valid delete.
func Delete(tenant, id string, version int64) Message {
	return Message{"id": id, "tenantId": tenant, "version": version, "op": "delete", "at": "2026-03-01T10:15:00Z"}.copy()
}

// With is the message with another value at a path like data.allocations[0].net; an index one past the end appends.
func (m Message) With(path string, value any) Message {
	m = m.copy()
	setAt(map[string]any(m), steps(path), normal(value))
	return m
}

// Without is the message without the member at a path.
func (m Message) Without(path string) Message {
	m = m.copy()
	setAt(map[string]any(m), steps(path), absent{})
	return m
}

// Key is the key that the message needs.
func (m Message) Key() []byte { return fmt.Appendf(nil, "%s/%s", m["tenantId"], m["id"]) }

// Value is the message as JSON.
func (m Message) Value() []byte {
	value, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("write a message: %v", err))
	}
	return value
}

// absent marks a member that is left out.
type absent struct{}

func (m Message) copy() Message { return Message(normal(map[string]any(m)).(map[string]any)) }

// normal is a value as JSON is read, with numbers as they are written.
func normal(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("write a value: %v", err))
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	var out any
	if err := reader.Decode(&out); err != nil {
		panic(fmt.Sprintf("read a value: %v", err))
	}
	return out
}

// steps splits data.allocations[0].net into data, allocations, 0, net.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// setAt sets the value at a path below in, and returns what takes the place of in.
func setAt(in any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch in := in.(type) {
	case nil:
		return setAt(map[string]any{}, path, value)
	case map[string]any:
		if v := setAt(in[path[0]], path[1:], value); v == (any)(absent{}) {
			delete(in, path[0])
		} else {
			in[path[0]] = v
		}
		return in
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i > len(in) {
			panic(fmt.Sprintf("%q is not an index of an array of %d", path[0], len(in)))
		}
		if i == len(in) {
			in = append(in, nil)
		}
		v := setAt(in[i], path[1:], value)
		if v == (any)(absent{}) {
			return append(in[:i], in[i+1:]...)
		}
		in[i] = v
		return in
	}
	panic(fmt.Sprintf("%q is in a %T", path[0], in))
}

// smallest has the least data of every topic.
var smallest = map[events.Topic]string{
	events.Projects: `{"name": "House", "currency": "EUR"}`,
	events.BudgetNodes: `{"level": "budget", "code": "1", "name": "Building", "active": true,
		"accountingCodes": []}`,
	events.BudgetRows: `{"projectId": "P1", "kind": "initial", "nodeId": "N1", "amount": {"value": 100000,
		"currency": "EUR"}, "status": "approved"}`,
	events.BudgetTransfers: `{"projectId": "P1", "fromNodeId": "N1", "toNodeId": "N2", "amount": {"value": 100,
		"currency": "EUR"}, "status": "approved"}`,
	events.UncommittedEntries: `{"projectId": "P1", "nodeId": "N1", "amount": {"value": 100, "currency": "EUR"}}`,
	events.Contractors:        `{"name": "Bau GmbH"}`,
	events.Contracts: `{"projectId": "P1", "status": "signed", "currency": "EUR",
		"allocations": [{"nodeId": "N1", "value": 1000}], "amendments": []}`,
	events.Claims: `{"projectId": "P1", "nodeId": "N1", "amount": {"value": 100, "currency": "EUR"},
		"probabilityBp": "5000", "status": "open"}`,
	events.Records: `{"projectId": "P1", "source": "invoice", "direction": "out", "stepKind": "approval",
		"currency": "EUR", "net": 100,
		"allocations": [{"nodeId": "N1", "net": 100}], "documents": [], "intake": {"channel": "manual"}}`,
	events.LinePlans: `{"projectId": "P1", "nodeId": "N1", "startDate": "2026-01-01",
		"endDate": "2026-12-31", "customMonths": []}`,
	events.ForecastSnapshots: `{"projectId": "P1", "month": "2026-02", "version": 1, "status": "approved",
		"lines": [], "explanations": []}`,
	events.Units: `{"projectId": "P1", "siteId": "S1", "siteName": "Main street", "buildingId": "B1",
		"label": "Top 1", "type": "flat",
		"areaM2": "72.5", "scope": "scheme"}`,
	events.Leases: `{"projectId": "P1", "category": "main", "status": "active", "unitIds": ["U1"],
		"start": "2026-01-01", "currency": "EUR",
		"monthlyRent": 100000, "steps": [], "rentFree": [], "breaks": []}`,
	events.IndexValues: `{"series": "VPI", "month": "2026-01", "value": "100"}`,
	events.Facilities: `{"projectIds": ["P1"], "lender": "Bank", "type": "construction", "currency": "EUR",
		"commitment": 1000000, "revolving": false,
		"availability": {"from": "2026-01-01", "to": "2027-12-31"}, "maturity": "2028-12-31", "dayCount": "ACT/360",
		"pricing": {"referenceRate": "EURIBOR 3M", "marginBp": "150", "marginSteps": []}, "commitmentFeeBp": "30",
		"interestTreatment": "paid"}`,
	events.Fixings: `{"facilityId": "F1", "periodStart": "2026-01-01", "referenceBp": "215.5"}`,
	events.FacilityEntries: `{"facilityId": "F1", "kind": "drawdown", "status": "funded", "date": "2026-02-01",
		"value": 1000}`,
	events.Users:       `{"name": "Ada", "active": true}`,
	events.Memberships: `{"userId": "U1", "scope": {"tenant": true}, "role": "admin"}`,
	events.ReceivedFeedback: `{"category": "idea", "message": "More of this", "principal": "user:U1",
		"receivedAt": "2026-03-01T10:15:00Z"}`,
	events.Readings: `{"projectId": "P1", "status": "failed", "mail": {"mailbox": "in", "uidValidity": 1, "uid": 2, "released": false,
		"sha256": "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b", "bytes": 3},
		"documents": [], "fields": [], "findings": []}`,
	events.Requests: `{"action": "retry", "mail": {"mailbox": "in", "uidValidity": 1, "uid": 2}, "requestedAt": "2026-03-01T10:15:00Z"}`,
	events.Answers:  `{"about": "mail", "projectId": "P1", "mail": {"records": []}}`,
	events.Keys: `{"ownerUserId": "U1", "environment": "test", "prefix": "abc",
		"secretSha256": "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b", "financial": false}`,
}
