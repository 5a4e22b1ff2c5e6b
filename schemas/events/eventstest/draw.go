package eventstest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
)

// Draw is a random valid message of the topic, drawn from its JSON Schema: every member that may be missing sometimes
// is, texts are any Unicode, numbers and dates reach to the ends of their ranges. One in eight is a delete.
func Draw(t *rapid.T, topic events.Topic) Message {
	m := Message{
		"id": id(t), "tenantId": enum("demo", "Größe", "t 1")(t), "version": integer(1, events.MaxVersion)(t),
		"op": "upsert", "at": instant(t),
	}
	if rapid.IntRange(0, 7).Draw(t, "delete") == 0 {
		m["op"] = "delete"
		return m.copy()
	}
	schema, err := events.Schema(topic)
	if err != nil {
		t.Fatal(err)
	}
	data := value(t, schema.Properties.Of("data").NotNull()).(map[string]any)
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

// DrawUpsert is a Draw that is not a delete.
func DrawUpsert(t *rapid.T, topic events.Topic) Message {
	return rapid.Custom(func(t *rapid.T) Message { return Draw(t, topic) }).
		Filter(func(m Message) bool { return m["op"] == "upsert" }).Draw(t, string(topic))
}

// adjusted makes a drawn payload keep the rules between members, which its schema doesn't say.
var adjusted = map[events.Topic]func(t *rapid.T, m Message, data map[string]any){
	events.BudgetNodes: func(_ *rapid.T, m Message, data map[string]any) {
		if data["parentId"] == m["id"] {
			data["parentId"] = nil
		}
	},
	events.Contracts: func(_ *rapid.T, _ Message, data map[string]any) {
		data["amendments"] = distinct(data["amendments"], "id")
	},
	events.Records:           func(_ *rapid.T, _ Message, data map[string]any) { adjustRecord(data) },
	events.ForecastSnapshots: func(t *rapid.T, _ Message, data map[string]any) { adjustSnapshot(t, data) },
	events.IndexValues: func(_ *rapid.T, m Message, data map[string]any) {
		series := []rune(data["series"].(string))
		data["series"] = string(series[:min(len(series), events.MaxIDLength-len(":2026-01"))])
		m["id"] = fmt.Sprintf("%s:%s", data["series"], data["month"])
	},
	events.Facilities: func(_ *rapid.T, _ Message, data map[string]any) {
		if from := data["availability"].(map[string]any)["from"].(string); data["maturity"].(string) <= from {
			data["availability"].(map[string]any)["from"], data["maturity"] = "1900-01-01", "1900-01-02"
		}
	},
	events.Requests: func(_ *rapid.T, m Message, data map[string]any) {
		if sender, ok := data["sender"].(string); ok {
			sender = strings.ToLower(sender)
			data["sender"] = string([]rune(sender)[:min(utf8.RuneCountInString(sender), events.LongestSender)])
			m["id"] = events.SenderRequest(data["sender"].(string))
		}
	},
}

// adjustRecord makes the allocations add up to the net, and gives amounts a currency, payments a date, and records a
// gross where net and tax are more than an amount holds.
func adjustRecord(data map[string]any) {
	allocations := data["allocations"].([]any)
	net, hasNet := data["net"].(int64)
	var sum int64
	for i, a := range allocations {
		a := a.(map[string]any)
		switch {
		case !hasNet:
			delete(a, "net")
		case i == len(allocations)-1:
			a["net"] = net - sum
		default:
			share, _ := a["net"].(int64)
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
	if tax, _ := data["tax"].(int64); hasNet && (net+tax > events.MaxAmount || net+tax < -events.MaxAmount) {
		if data["gross"] == nil {
			data["gross"] = net
		}
	}
	if data["currency"] == nil {
		data["currency"] = "EUR"
	}
	if data["stepKind"] == "paid" && data["paidAt"] == nil && data["cashDate"] == nil {
		data["cashDate"] = "2026-03-01"
	}
}

// adjustSnapshot makes the lines a forest, in any order.
func adjustSnapshot(t *rapid.T, data map[string]any) {
	lines := distinct(data["lines"], "nodeId")
	for i, l := range lines {
		l := l.(map[string]any)
		if parent := rapid.IntRange(-1, i-1).Draw(t, "parent"); parent >= 0 {
			l["parentId"] = lines[parent].(map[string]any)["nodeId"]
		} else {
			delete(l, "parentId")
		}
	}
	if len(lines) > 1 {
		lines = rapid.Permutation(lines).Draw(t, "order")
	}
	data["lines"] = lines
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
