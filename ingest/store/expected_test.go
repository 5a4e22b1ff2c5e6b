package store_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

// What the tables must hold, said once more straight from the JSON of the messages, without the decoder and the contributions.

// image is a column of a table and the member of the message that it holds.
type image struct {
	column string
	member string // a path; [] goes through a list
	as     func(v any) any
}

func (i image) value(data any) any { return through(data, i.member, i.as) }

// through follows a path, list by list.
func through(v any, path string, as func(any) any) any {
	list, rest, lists := strings.Cut(path, "[].")
	if !lists {
		v = member(v, path)
		if as != nil {
			v = as(v)
		}
		return v
	}
	values := []any{}
	for _, element := range elements(v, list) {
		values = append(values, through(element, rest, as))
	}
	return values
}

// member is what is at a path of names; null where nothing does.
func member(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

func elements(v any, path string) []any {
	list, _ := member(v, path).([]any)
	return list
}

// orEmpty is the text of columns that have no null.
func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// micros is an instant as the tables keep it.
func micros(v any) any {
	if v == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, v.(string))
	if err != nil {
		return err.Error()
	}
	return at.UTC().Format("2006-01-02 15:04:05.000000")
}

// plain is a decimal without zeros behind it.
func plain(v any) any {
	text := fmt.Sprint(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

var images = map[events.Topic][]image{
	events.BudgetRows: {
		{"kind", "kind", nil}, {"node_id", "nodeId", orEmpty}, {"currency", "amount.currency", nil}, {"value", "amount.value", nil}, {"status", "status", nil},
	},
	events.BudgetTransfers: {
		{"from_node_id", "fromNodeId", orEmpty}, {"to_node_id", "toNodeId", orEmpty}, {"currency", "amount.currency", nil}, {"value", "amount.value", nil},
		{"status", "status", nil},
	},
	events.UncommittedEntries: {
		{"node_id", "nodeId", nil}, {"currency", "amount.currency", orEmpty}, {"value", "amount.value", nil},
	},
	events.Contracts: {
		{"name", "name", nil}, {"contractor_id", "contractorId", orEmpty}, {"status", "status", nil}, {"start_date", "startDate", nil}, {"end_date", "endDate", nil},
		{"currency", "currency", nil}, {"allocation_node", "allocations[].nodeId", nil}, {"allocation_value", "allocations[].value", nil},
		{"amendment_id", "amendments[].id", nil}, {"amendment_node", "amendments[].nodeId", orEmpty}, {"amendment_value", "amendments[].value", nil},
		{"amendment_status", "amendments[].status", nil}, {"amendment_date", "amendments[].date", nil}, {"amendment_title", "amendments[].title", nil},
	},
	events.Claims: {
		{"contract_id", "contractId", orEmpty}, {"node_id", "nodeId", orEmpty}, {"currency", "amount.currency", nil}, {"value", "amount.value", nil},
		{"probability_bp", "probabilityBp", plain}, {"status", "status", nil},
	},
	events.ForecastSnapshots: {
		{"month", "month", nil}, {"version", "version", nil}, {"status", "status", nil}, {"submitted_at", "submittedAt", micros}, {"decided_at", "decidedAt", micros},
		{"line_node", "lines[].nodeId", nil}, {"line_parent", "lines[].parentId", orEmpty}, {"line_level", "lines[].level", nil}, {"line_code", "lines[].code", nil},
		{"line_name", "lines[].name", nil}, {"line_budget", "lines[].budget", nil}, {"line_committed", "lines[].committed", nil},
		{"line_pending_changes", "lines[].pendingChanges", nil}, {"line_uncommitted", "lines[].uncommitted", nil},
		{"line_uncommitted_defaulted", "lines[].uncommittedDefaulted", nil}, {"line_invoiced", "lines[].invoiced", nil}, {"line_paid", "lines[].paid", nil},
		{"explanation_node", "explanations[].nodeId", nil}, {"explanation_reason", "explanations[].reason", nil},
	},
}

// rollups say what one live entity adds to a view, by the key behind tenant and project.
var rollups = map[string]func(m eventstest.Message, add func(key []string, sums ...any)){
	"budget_sums": func(m eventstest.Message, add func(key []string, sums ...any)) {
		if is(m, "status", "approved") {
			add([]string{text(m, "nodeId"), text(m, "amount.currency")}, member(m["data"], "amount.value"), 1)
		}
	},
	"transfer_sums": func(m eventstest.Message, add func(key []string, sums ...any)) {
		if is(m, "status", "approved") {
			value := integer(member(m["data"], "amount.value"))
			add([]string{text(m, "fromNodeId"), text(m, "amount.currency")}, new(big.Int).Neg(value), 1)
			add([]string{text(m, "toNodeId"), text(m, "amount.currency")}, value, 1)
		}
	},
	"claim_sums": func(m eventstest.Message, add func(key []string, sums ...any)) {
		if is(m, "status", "open") {
			add([]string{text(m, "nodeId"), text(m, "amount.currency")}, expectedClaim(m), 1)
		}
	},
	"contract_sums": contractLines,
}

// expectedClaim is amount times probability, to the nearest unit, halves up; nothing for a negative amount.
func expectedClaim(m eventstest.Message) *big.Int {
	amount := new(big.Rat).SetInt(integer(member(m["data"], "amount.value")))
	probability, ok := new(big.Rat).SetString(fmt.Sprint(member(m["data"], "probabilityBp")))
	if !ok || amount.Sign() < 0 {
		return new(big.Int)
	}
	twice := amount.Mul(amount, probability).Quo(amount, big.NewRat(5000, 1))
	twice.Add(twice, big.NewRat(1, 1))
	return new(big.Int).Div(twice.Num(), new(big.Int).Lsh(twice.Denom(), 1)) // both positive: this is the floor
}

// contractLines: the nodes of the base contract in order, then those that approved amendments add, by date and id, undated last.
func contractLines(m eventstest.Message, add func(key []string, sums ...any)) {
	allocations, amendments := elements(m["data"], "allocations"), slices.Clone(elements(m["data"], "amendments"))
	for _, a := range amendments {
		if value := integer(member(a, "value")); member(a, "status") == "pending" && value.Sign() > 0 {
			add([]string{m["id"].(string), "", orEmpty(member(a, "nodeId")).(string), text(m, "currency"), text(m, "status")}, 0, 0, value, 0)
		}
	}
	if len(allocations) == 0 {
		return
	}
	var nodes []string
	base, committed := map[string]*big.Int{}, map[string]*big.Int{}
	book := func(booking any, on ...map[string]*big.Int) {
		node := orEmpty(member(booking, "nodeId")).(string)
		if base[node] == nil {
			nodes = append(nodes, node)
			base[node], committed[node] = new(big.Int), new(big.Int)
		}
		for _, sums := range on {
			sums[node].Add(sums[node], integer(member(booking, "value")))
		}
	}
	for _, a := range allocations {
		book(a, base, committed)
	}
	slices.SortFunc(amendments, func(a, b any) int {
		day := func(v any) string { return cmp.Or(orEmpty(member(v, "date")).(string), "undated") }
		return cmp.Or(cmp.Compare(day(a), day(b)), cmp.Compare(member(a, "id").(string), member(b, "id").(string)))
	})
	for _, a := range amendments {
		if member(a, "status") == "approved" {
			book(a, committed)
		}
	}
	for i, node := range nodes {
		add([]string{m["id"].(string), fmt.Sprintf("%05d", i+1), node, text(m, "currency"), text(m, "status")}, base[node], committed[node], 0, 1)
	}
}

func is(m eventstest.Message, path, value string) bool { return member(m["data"], path) == value }

func text(m eventstest.Message, path string) string { return orEmpty(member(m["data"], path)).(string) }

func integer(v any) *big.Int {
	n, ok := new(big.Int).SetString(fmt.Sprint(v), 10)
	if !ok {
		return nil
	}
	return n
}

// sums are big numbers by key.
type sums struct {
	measures int
	of       map[string][]*big.Int
}

func newSums(measures int) *sums { return &sums{measures, map[string][]*big.Int{}} }

func (s *sums) add(key []string, values ...any) {
	k := fmt.Sprintf("%q", key)
	if s.of[k] == nil {
		for range s.measures {
			s.of[k] = append(s.of[k], new(big.Int))
		}
	}
	for i, v := range values {
		n, isBig := v.(*big.Int)
		if !isBig {
			n = integer(v)
		}
		s.of[k][i].Add(s.of[k][i], n)
	}
}

// texts are the sums in digits, without the keys where all are 0.
func (s *sums) texts() map[string]string {
	all := map[string]string{}
	for key, values := range s.of {
		if slices.ContainsFunc(values, func(v *big.Int) bool { return v.Sign() != 0 }) {
			all[key] = fmt.Sprint(values)
		}
	}
	return all
}
