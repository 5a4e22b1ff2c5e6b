package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"sort"
	"testing"
	"time"

	"tallyhouse/ingest/database"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// model is what the tables must hold after a stream of messages, kept as naively as can be: the newest version of every entity, no
// batches, no positions, no contributions.
type model struct {
	newest  map[events.Topic]map[string]events.Event
	refused int
}

func newModel() *model {
	return &model{newest: map[events.Topic]map[string]events.Event{}}
}

// take takes messages in the order of sending. Messages of one key must have been sent to one partition, or with versions that never
// tie: otherwise their order is nobody's.
func (m *model) take(messages ...message) {
	for _, msg := range messages {
		e, err := events.Decode(msg.topic, []byte(msg.key), msg.value)
		if err != nil {
			m.refused++
			continue
		}
		if m.newest[msg.topic] == nil {
			m.newest[msg.topic] = map[string]events.Event{}
		}
		if old, ok := m.newest[msg.topic][msg.key]; ok && old.Version >= e.Version {
			continue
		}
		m.newest[msg.topic][msg.key] = e
	}
}

// rollups are the sums of the naive model, by view and key.
func (m *model) rollups() map[string]map[string][5]string {
	sums := map[string]map[string]*[5]big.Int{"record_sums": {}, "record_months": {}}
	add := func(view, key string, values ...int64) {
		if sums[view][key] == nil {
			sums[view][key] = new([5]big.Int)
		}
		for i, v := range values {
			sums[view][key][i].Add(&sums[view][key][i], big.NewInt(v))
		}
	}
	status := map[string]string{"setup": "setup", "approval": "approvalPending", "payment": "paymentPending", "paid": "paid", "rejected": "rejected"}
	for _, e := range m.newest[events.Records] {
		if e.Op == events.Delete {
			continue
		}
		r := e.Data.(*events.Record)
		allocations := r.Allocations
		if len(allocations) == 0 {
			allocations = []events.RecordAllocation{{Net: r.Net}}
		}
		currency, tax, cash, recognized := "", int64(0), "", ""
		gross := make([]int64, len(allocations))
		if r.Net.Ok {
			currency, tax = r.Currency.V, r.Tax.V
			total := r.Net.V + r.Tax.V
			if r.Gross.Ok {
				total = r.Gross.V
			}
			gross = naiveShares(total, allocations)
		}
		if r.StepKind == "paid" {
			if r.CashDate.Ok {
				cash = r.CashDate.V.String()[:7]
			} else {
				cash = calendar.ViennaDate(r.PaidAt.V).String()[:7]
			}
		}
		if r.RecognitionDate.Ok {
			recognized = r.RecognitionDate.V.String()[:7]
		}
		for i, a := range allocations {
			first := int64(0)
			if i == 0 {
				first = 1
			}
			net := a.Net.V
			if !r.Net.Ok {
				net = 0
			}
			st := status[r.StepKind]
			add("record_sums", fmt.Sprint([]string{e.TenantID, r.ProjectID, r.ContractID.V, r.ContractorID.V, a.NodeID.V, currency, st, r.Source, cash}), net, tax*first, gross[i], first, 1)
			add("record_months", fmt.Sprint([]string{e.TenantID, r.ProjectID, a.NodeID.V, currency, st, r.Source, recognized}), net, tax*first, gross[i], first, 1)
		}
	}
	out := map[string]map[string][5]string{}
	for view, keys := range sums {
		out[view] = map[string][5]string{}
		for key, v := range keys {
			text := [5]string{v[0].String(), v[1].String(), v[2].String(), v[3].String(), v[4].String()}
			if text != [5]string{"0", "0", "0", "0", "0"} {
				out[view][key] = text
			}
		}
	}
	return out
}

// naiveShares is the largest remainder with exact fractions.
func naiveShares(total int64, allocations []events.RecordAllocation) []int64 {
	shares := make([]int64, len(allocations))
	sum := new(big.Rat)
	for _, a := range allocations {
		sum.Add(sum, new(big.Rat).SetInt64(a.Net.V))
	}
	if sum.Sign() == 0 || len(allocations) == 1 {
		shares[0] = total
		return shares
	}
	sign := int64(1)
	if total < 0 {
		sign, total = -1, -total
	}
	left := total
	type rest struct {
		i    int
		part *big.Rat
	}
	var rests []rest
	for i, a := range allocations {
		exact := new(big.Rat).SetInt64(total)
		exact.Mul(exact, new(big.Rat).SetInt64(a.Net.V)).Quo(exact, sum)
		floor := new(big.Int).Div(exact.Num(), exact.Denom()) // Euclidean; the denominator is positive
		shares[i] = floor.Int64()
		left -= shares[i]
		rests = append(rests, rest{i, exact.Sub(exact, new(big.Rat).SetInt(floor))})
	}
	sort.SliceStable(rests, func(a, b int) bool { return rests[a].part.Cmp(rests[b].part) > 0 })
	for i := range left {
		shares[rests[i].i]++
	}
	for i := range shares {
		shares[i] *= sign
	}
	return shares
}

// check compares the database with the model: every entity, every roll-up, nothing more and nothing less.
func (w *world) check(m *model) {
	w.t.Helper()
	for _, d := range w.drift(m) {
		w.t.Error(d)
	}
}

// drift lists the differences between the database and the model.
func (w *world) drift(m *model) (all []string) {
	w.t.Helper()
	say := func(format string, args ...any) {
		if len(all) < 30 {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	tables := map[events.Topic]string{events.Records: "records", events.Projects: "projects", events.Contractors: "contractors", events.Memberships: "memberships"}
	for topic, table := range tables {
		stored := map[string]string{}
		w.rows("SELECT tenant, project, id, intDiv(row_version, 1024), deleted, toString(at) FROM "+table+" FINAL WHERE tenant != '' AND NOT moved", func(scan func(...any) error) error {
			var tenant, project, id, at string
			var version uint64
			var deleted bool
			if err := scan(&tenant, &project, &id, &version, &deleted, &at); err != nil {
				return err
			}
			if _, twice := stored[tenant+"/"+id]; twice {
				say("%s %s/%s is there twice", table, tenant, id)
			}
			stored[tenant+"/"+id] = fmt.Sprint(version, deleted, at)
			return nil
		})
		for key, e := range m.newest[topic] {
			want := fmt.Sprint(e.Version, e.Op == events.Delete, e.At.UTC().Format("2006-01-02 15:04:05.000000"))
			if stored[key] != want {
				say("%s %s is %q, the model says %q", table, key, stored[key], want)
			}
			delete(stored, key)
		}
		for key, what := range stored {
			say("%s %s is %q, the model knows nothing of it", table, key, what)
		}
	}
	w.compareRecords(m, say)
	for view, want := range m.rollups() {
		got := w.rollup(view)
		for key, sums := range want {
			if got[key] != sums {
				say("%s %s is %v, the model says %v", view, key, got[key], sums)
			}
			delete(got, key)
		}
		for key, sums := range got {
			say("%s %s is %v, the model says nothing", view, key, sums)
		}
	}
	return all
}

// compareRecords compares what the API will show of live records.
func (w *world) compareRecords(m *model, say func(string, ...any)) {
	w.t.Helper()
	live := map[string]string{}
	w.rows(`SELECT tenant, id, project, source, status, toString(net), toString(tax), toString(gross), currency, toString(cash_date), contract_id, toString(allocation_node), toString(allocation_net)
		FROM records FINAL WHERE tenant != '' AND NOT deleted`, func(scan func(...any) error) error {
		var tenant, id, project, source, status, currency, contract, nodes, nets string
		var net, tax, gross, cash *string
		if err := scan(&tenant, &id, &project, &source, &status, &net, &tax, &gross, &currency, &cash, &contract, &nodes, &nets); err != nil {
			return err
		}
		live[tenant+"/"+id] = fmt.Sprint(project, source, status, text(net), text(tax), text(gross), currency, text(cash), contract, nodes, nets)
		return nil
	})
	status := map[string]string{"setup": "setup", "approval": "approvalPending", "payment": "paymentPending", "paid": "paid", "rejected": "rejected"}
	for key, e := range m.newest[events.Records] {
		if e.Op == events.Delete {
			continue
		}
		r := e.Data.(*events.Record)
		cash := "-"
		if r.StepKind == "paid" {
			cash = r.CashDate.V.String()
			if !r.CashDate.Ok {
				cash = calendar.ViennaDate(r.PaidAt.V).String()
			}
		}
		nodes, nets := []string{}, []int64{}
		for _, a := range r.Allocations {
			nodes, nets = append(nodes, a.NodeID.V), append(nets, a.Net.V)
		}
		nodeText, netText := "[", "["
		for i := range nodes {
			if i > 0 {
				nodeText, netText = nodeText+",", netText+","
			}
			nodeText, netText = nodeText+"'"+nodes[i]+"'", netText+fmt.Sprint(nets[i])
		}
		want := fmt.Sprint(r.ProjectID, r.Source, status[r.StepKind], optional(r.Net), optional(r.Tax), optional(r.Gross), r.Currency.V, cash, r.ContractID.V, nodeText+"]", netText+"]")
		if live[key] != want {
			say("record %s shows %q, the model says %q", key, live[key], want)
		}
		delete(live, key)
	}
	for key := range live {
		say("record %s is shown, the model says it isn't", key)
	}
}

func (w *world) rollup(view string) map[string][5]string {
	w.t.Helper()
	keys := map[string]string{
		"record_sums":   "tenant, project, contract, contractor, node, currency, status, source, cash_month",
		"record_months": "tenant, project, node, currency, status, source, recognition_month",
	}[view]
	got := map[string][5]string{}
	w.rows("SELECT ["+keys+"], toString(sum(net)), toString(sum(tax)), toString(sum(gross)), toString(sum(count)), toString(sum(allocations)) FROM "+view+
		" WHERE tenant != '' GROUP BY "+keys, func(scan func(...any) error) error {
		var key []string
		var v [5]string
		if err := scan(&key, &v[0], &v[1], &v[2], &v[3], &v[4]); err != nil {
			return err
		}
		if v != [5]string{"0", "0", "0", "0", "0"} {
			got[fmt.Sprint(key)] = v
		}
		return nil
	})
	return got
}

func (w *world) rows(sql string, each func(func(...any) error) error) {
	w.t.Helper()
	if err := w.db.Rows(context.Background(), database.Query{SQL: sql}, each); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) count(sql string) (n uint64) {
	w.t.Helper()
	w.rows(sql, func(scan func(...any) error) error { return scan(&n) })
	return n
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func optional(o events.Opt[int64]) string {
	if !o.Ok {
		return "-"
	}
	return fmt.Sprint(o.V)
}

// record builds messages of records: given members replace the default ones, nil takes them out.
func record(id string, version int, change map[string]any) message {
	data := map[string]any{
		"projectId": "P1", "source": "invoice", "direction": "out", "stepKind": "setup", "currency": "EUR", "net": 10000, "tax": 2000, "gross": 12000,
		"allocations": []any{map[string]any{"nodeId": "n1", "net": 10000}}, "documents": []any{}, "recognitionDate": "2026-01-15",
		"intake": map[string]any{"channel": "manual", "receivedAt": "2026-01-15T08:00:00Z"},
	}
	for k, v := range change {
		if v == nil {
			delete(data, k)
		} else {
			data[k] = v
		}
	}
	return event(events.Records, id, version, data)
}

// event builds a message; data nil makes it a delete.
func event(topic events.Topic, id string, version int, data map[string]any) message {
	value := map[string]any{"id": id, "tenantId": "demo", "version": version, "op": "upsert", "at": time.Date(2026, 3, 1, 10, 0, version%60, 0, time.UTC).Format(time.RFC3339), "data": data}
	if data == nil {
		value["op"] = "delete"
		delete(value, "data")
	}
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return message{topic: topic, partition: -1, key: "demo/" + id, value: b}
}

func TestNaiveSharesMatchTheWorkedExample(t *testing.T) {
	three := []events.RecordAllocation{{Net: events.Some[int64](1)}, {Net: events.Some[int64](1)}, {Net: events.Some[int64](1)}}
	if got := fmt.Sprint(naiveShares(100, three), naiveShares(-100, three)); got != "[34 33 33] [-34 -33 -33]" {
		t.Error(got)
	}
}
