package ingesttest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Records draws changes of records: new ones, new versions, deletes and moves between projects.
type Records struct {
	Random   *rand.Rand
	Tenants  int
	Projects int // of each tenant
	versions map[string]int64
}

// NewRecords draws the same from the same seed.
func NewRecords(seed uint64) *Records {
	return &Records{Random: rand.New(rand.NewPCG(seed, 1)), Tenants: 2, Projects: 3, versions: map[string]int64{}}
}

// Draw draws one change each of n different records out of so many.
func (d *Records) Draw(n, of int) []events.Event {
	var all []events.Event
	for _, i := range d.Random.Perm(of)[:n] {
		tenant, id := fmt.Sprintf("tenant%d", i%d.Tenants), fmt.Sprintf("r%d", i)
		key := tenant + "/" + id
		d.versions[key] += 1 + d.Random.Int64N(3)
		e := events.Event{Envelope: events.Envelope{
			ID: id, TenantID: tenant, Version: d.versions[key], Op: events.Upsert, At: time.Unix(1_800_000_000, 0).UTC(),
		}}
		if d.Random.IntN(12) == 0 {
			e.Op = events.Delete
		} else {
			e.Data = d.record()
		}
		all = append(all, e)
	}
	return all
}

func (d *Records) record() *events.Record {
	pick := func(from ...string) string { return from[d.Random.IntN(len(from))] }
	r := &events.Record{
		ProjectID: fmt.Sprintf("p'\\%d", d.Random.IntN(d.Projects)), Source: pick("invoice", "accrual"), Direction: "in",
		StepKind:  pick("setup", "approval", "payment", "paid", "paid", "rejected"),
		Documents: []events.Document{}, Intake: events.Intake{Channel: "api"},
	}
	if r.StepKind == "paid" {
		// Noon, far from where a day in Vienna is another than in UTC.
		r.PaidAt = events.Some(time.Date(2024+d.Random.IntN(2), time.Month(1+d.Random.IntN(12)), 1+d.Random.IntN(28), 12, 0, 0, 0, time.UTC))
	}
	if d.Random.IntN(3) > 0 {
		r.ContractID = events.Some(pick("c1", "c2"))
		r.ContractorID = events.Some(pick("k1", "k2", "k3"))
		r.RecognitionDate = events.Some(calendar.NewDate(2025, 1+d.Random.IntN(3), 1+d.Random.IntN(28)))
	}
	if d.Random.IntN(10) == 0 {
		return r // not read yet: no amounts
	}
	r.Currency = events.Some(pick("EUR", "EUR", "CHF"))
	net := int64(0)
	for range d.Random.IntN(4) {
		share := d.Random.Int64N(2_000_000) - 300_000
		a := events.RecordAllocation{Net: events.Some(share)}
		if d.Random.IntN(5) > 0 {
			a.NodeID = events.Some(pick("n1", "n2", "n3", "n4"))
		}
		r.Allocations = append(r.Allocations, a)
		net += share
	}
	if len(r.Allocations) == 0 {
		net = d.Random.Int64N(5_000_000)
	}
	r.Net = events.Some(net)
	if d.Random.IntN(2) == 0 {
		r.Tax = events.Some(net / 5)
	}
	if d.Random.IntN(4) == 0 {
		r.Gross = events.Some(net + net/5 + 1)
	}
	return r
}

// Truth compares the sums of records with those of a naive model that shares no code with them. It reports how many
// sums it saw.
func (l *Ledger) Truth(t testing.TB) int {
	t.Helper()
	lines, cash, recognized := map[string]int64{}, map[string]int64{}, map[string]int64{}
	contractors, links := map[string]int64{}, map[string]int64{}
	status := map[string]string{
		"setup": "setup", "approval": "approvalPending", "payment": "paymentPending", "paid": "paid", "rejected": "rejected",
	}
	for _, e := range l.Newest {
		r, ok := e.Data.(*events.Record)
		if !ok || r == nil {
			continue
		}
		of := e.TenantID + "|" + r.ProjectID
		if r.ContractorID.Ok {
			contractors[of+"|"+r.ContractorID.V]++
		}
		nodes := r.Allocations
		if len(nodes) == 0 {
			nodes = []events.RecordAllocation{{Net: r.Net}}
		}
		for _, a := range nodes {
			if r.RecognitionDate.Ok && a.NodeID.Ok && r.StepKind != "rejected" {
				recognized[of+"|"+a.NodeID.V+"|"+r.RecognitionDate.V.String()[:7]]++
			}
		}
		if r.Source == "accrual" || r.StepKind == "rejected" {
			continue
		}
		line := of + "|" + r.ContractID.V + "|" + status[r.StepKind]
		lines[line+"|count"]++
		if !r.Net.Ok {
			continue
		}
		gross := r.Net.V + r.Tax.V
		if r.Gross.Ok {
			gross = r.Gross.V
		}
		lines[line+"|gross"] += gross
		for _, a := range nodes {
			lines[line+"|"+r.Currency.V+"|"+a.NodeID.V+"|net"] += a.Net.V
			if r.PaidAt.Ok {
				cash[of+"|"+a.NodeID.V+"|"+r.Currency.V+"|"+r.PaidAt.V.Format("2006-01")] += a.Net.V
			}
			if r.ContractID.Ok && a.NodeID.Ok {
				links[of+"|"+r.ContractID.V+"|"+a.NodeID.V+"|"+r.Currency.V+"|"+e.ID]++
			}
		}
	}
	const of = "concat(tenant, '|', project, '|', "
	by := func(roll, sum, keys string) string {
		return "SELECT " + of + keys + ") AS k, toInt64(sum(" + sum + ")) AS v FROM sums WHERE roll = '" + roll + "' GROUP BY k"
	}
	seen := same(t, "lines", lines, l.sums(t, by("lines", "count", "contract, '|', status, '|count'")+
		" UNION ALL "+by("lines", "gross", "contract, '|', status, '|gross'")+
		" UNION ALL "+by("lines", "net", "contract, '|', status, '|', currency, '|', node, '|net'")))
	seen += same(t, "cash", cash, l.sums(t, by("payments", "net", "node, '|', currency, '|', month")))
	seen += same(t, "recognized", recognized, l.sums(t, by("recognized", "count", "node, '|', month")))
	seen += same(t, "contractors", contractors, l.sums(t, by("references", "count", "contractor")))
	return seen + same(t, "links", links, l.sums(t, by("links", "count", "contract, '|', node, '|', currency, '|', record")))
}

func (l *Ledger) sums(t testing.TB, query string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	err := l.DB.Rows(t.Context(), database.Query{SQL: query}, func(scan func(...any) error) error {
		var k string
		var v int64
		err := scan(&k, &v)
		all[k] = v
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same compares sums by key; one that is 0 may be missing.
func same(t testing.TB, view string, want, have map[string]int64) int {
	t.Helper()
	keys := slices.Sorted(maps.Keys(want))
	for k := range have {
		if _, ok := want[k]; !ok {
			keys = append(keys, k)
		}
	}
	wrong := 0
	for _, k := range keys {
		if want[k] != have[k] {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %s is %d, want %d", view, k, have[k], want[k])
			}
		}
	}
	return len(keys)
}
