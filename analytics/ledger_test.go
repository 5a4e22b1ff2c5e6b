package analytics_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// ledger is the state that change events leave behind, by entity and id: the
// plainest fold there is, to hold the calculations against.
type ledger struct {
	projects    map[string]*events.Project
	nodes       map[string]*events.BudgetNode
	rows        map[string]*events.BudgetRow
	transfers   map[string]*events.BudgetTransfer
	entries     map[string]*events.UncommittedEntry
	records     map[string]*events.Record
	contractors map[string]*events.Contractor
	contracts   map[string]*events.Contract
	claims      map[string]*events.Claim
	snapshots   map[string]*events.ForecastSnapshot
	plans       map[string]*events.LinePlan
	units       map[string]*events.Unit
	leases      map[string]*events.Lease
	indexes     map[string]*events.IndexValue
	facilities  map[string]*events.Facility
	fixings     map[string]*events.Fixing
	movements   map[string]*events.FacilityEntry
}

type change struct {
	Topic events.Topic `json:"topic"`
	Value struct {
		ID      string `json:"id"`
		Version int64  `json:"version"`
		Op      string `json:"op"`
		Data    any    `json:"data"`
	} `json:"value"`
}

// fold applies the highest version of each entity.
func fold(t *testing.T, changes []change) *ledger {
	t.Helper()
	newest := map[string]change{}
	for _, c := range changes {
		key := string(c.Topic) + " " + c.Value.ID
		if c.Value.Version > newest[key].Value.Version {
			newest[key] = c
		}
	}
	l := &ledger{}
	for _, c := range newest {
		if c.Value.Op == "delete" {
			continue
		}
		id, data := c.Value.ID, c.Value.Data
		switch c.Topic {
		case events.Projects:
			keep(t, &l.projects, id, data)
		case events.BudgetNodes:
			keep(t, &l.nodes, id, data)
		case events.BudgetRows:
			keep(t, &l.rows, id, data)
		case events.BudgetTransfers:
			keep(t, &l.transfers, id, data)
		case events.UncommittedEntries:
			keep(t, &l.entries, id, data)
		case events.Records:
			keep(t, &l.records, id, data)
		case events.Contractors:
			keep(t, &l.contractors, id, data)
		case events.Contracts:
			keep(t, &l.contracts, id, data)
		case events.Claims:
			keep(t, &l.claims, id, data)
		case events.ForecastSnapshots:
			keep(t, &l.snapshots, id, data)
		case events.LinePlans:
			keep(t, &l.plans, id, data)
		case events.Units:
			keep(t, &l.units, id, data)
		case events.Leases:
			keep(t, &l.leases, id, data)
		case events.IndexValues:
			keep(t, &l.indexes, id, data)
		case events.Facilities:
			keep(t, &l.facilities, id, data)
		case events.Fixings:
			keep(t, &l.fixings, id, data)
		case events.FacilityEntries:
			keep(t, &l.movements, id, data)
		}
	}
	return l
}

func keep[T any](t *testing.T, entities *map[string]*T, id string, data any) {
	t.Helper()
	if *entities == nil {
		*entities = map[string]*T{}
	}
	entity := new(T)
	if err := fill(reflect.ValueOf(entity).Elem(), data); err != nil {
		t.Fatalf("read %T %s: %v", entity, id, err)
	}
	(*entities)[id] = entity
}

// fill sets v, an event type, to a decoded JSON value.
func fill(v reflect.Value, data any) error {
	if v.Kind() == reflect.Struct && v.NumField() == 2 && v.Type().Field(1).Name == "Ok" {
		if data == nil {
			return nil
		}
		v.Field(1).SetBool(true)
		return fill(v.Field(0), data)
	}
	text, _ := data.(string)
	switch p := v.Addr().Interface().(type) {
	case *calendar.Date:
		d, err := calendar.ParseDate(text)
		*p = d
		return err
	case *calendar.Month:
		m, err := calendar.ParseMonth(text)
		*p = m
		return err
	case *time.Time:
		at, err := time.Parse(time.RFC3339, text)
		*p = at
		return err
	case *events.Decimal:
		whole, fraction, _ := strings.Cut(fmt.Sprint(data), ".")
		units, ok := new(big.Int).SetString(whole+fraction, 10)
		if !ok {
			return fmt.Errorf("%v is no decimal", data)
		}
		*p = events.Decimal{Units: units.Int64(), Scale: uint8(len(fraction))}
		return nil
	}
	switch data := data.(type) {
	case nil:
		return nil
	case string:
		v.SetString(data)
	case bool:
		v.SetBool(data)
	case json.Number:
		n, err := data.Int64()
		v.SetInt(n)
		return err
	case []any:
		v.Set(reflect.MakeSlice(v.Type(), len(data), len(data)))
		for i := range data {
			if err := fill(v.Index(i), data[i]); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, member := range data {
			field := v.FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, name) })
			if !field.IsValid() {
				return fmt.Errorf("%s has no member %s", v.Type(), name)
			}
			if err := fill(field, member); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func (l *ledger) structure(project string) *analytics.Structure {
	var nodes []analytics.Node
	for id, n := range l.nodes {
		nodes = append(nodes, analytics.Node{ID: analytics.NodeID(id), BudgetNode: *n})
	}
	return analytics.NewStructure(project, l.projects[project].BudgetStructureID, nodes)
}

// sums books the records of a project one by one, as the views would add them.
func (l *ledger) sums(project string) []analytics.RecordSum {
	var sums []analytics.RecordSum
	for _, r := range l.records {
		if r.ProjectID != project {
			continue
		}
		allocations := r.Allocations
		if len(allocations) == 0 {
			allocations = []events.RecordAllocation{{Net: r.Net}}
		}
		sum := analytics.RecordSum{
			ContractID: analytics.ContractID(r.ContractID.V),
			Status:     analytics.StatusOf(r.StepKind),
			Source:     r.Source,
			Count:      1,
		}
		if r.Net.Ok {
			sum.Currency = r.Currency.V
		}
		for i, gross := range grossShares(r, allocations) {
			sum.NodeID = analytics.NodeID(allocations[i].NodeID.V)
			sum.Net = analytics.Int(allocations[i].Net.V)
			sum.Gross = wide(gross)
			sums = append(sums, sum)
			sum.Count = 0
		}
	}
	return sums
}

func grossShares(r *events.Record, allocations []events.RecordAllocation) []*big.Int {
	gross := r.Net.V + r.Tax.V
	if r.Gross.Ok {
		gross = r.Gross.V
	}
	nets, sum := make([]int64, len(allocations)), int64(0)
	for i, a := range allocations {
		nets[i] = a.Net.V
		sum += a.Net.V
	}
	if sum != 0 {
		return naiveShares(gross, nets)
	}
	shares := make([]*big.Int, len(nets))
	for i := range shares {
		shares[i] = new(big.Int)
	}
	shares[0].SetInt64(gross)
	return shares
}

func wide(v *big.Int) analytics.Int128 {
	n, err := analytics.Int128FromBig(v)
	if err != nil {
		panic(err) // a test's own amounts are small
	}
	return n
}

// naiveClaim rounds with rationals: shift by a half, cut off.
func naiveClaim(c *events.Claim) *big.Int {
	if c.Status != "open" || c.Amount.Value < 0 {
		return new(big.Int)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.ProbabilityBp.Scale)+4), nil)
	expected := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(c.Amount.Value), big.NewInt(c.ProbabilityBp.Units)),
		scale)
	return floorOf(expected.Add(expected, big.NewRat(1, 2)))
}

func (l *ledger) contract(id string) *analytics.Contract {
	return &analytics.Contract{ID: analytics.ContractID(id), Contract: *l.contracts[id]}
}

func (l *ledger) budgetInput(project string) analytics.BudgetInput {
	in := analytics.BudgetInput{
		Currency:  l.projects[project].Currency,
		Structure: l.structure(project),
		Records:   [][]analytics.RecordSum{l.sums(project)},
	}
	book := func(node events.Opt[string], currency string, value int64) {
		in.Budget = append(in.Budget,
			analytics.BudgetSum{NodeID: analytics.NodeID(node.V), Currency: currency, Amount: analytics.Int(value)})
	}
	for _, r := range l.rows {
		if r.ProjectID == project && r.Status == "approved" {
			book(r.NodeID, r.Amount.Currency, r.Amount.Value)
		}
	}
	for _, tr := range l.transfers {
		if tr.ProjectID == project && tr.Status == "approved" {
			book(tr.FromNodeID, tr.Amount.Currency, -tr.Amount.Value)
			book(tr.ToNodeID, tr.Amount.Currency, tr.Amount.Value)
		}
	}
	for _, c := range l.claims {
		if c.ProjectID == project {
			in.Claims = append(in.Claims,
				analytics.ClaimSum{NodeID: analytics.NodeID(c.NodeID.V), Currency: c.Amount.Currency, Pending: wide(naiveClaim(c))})
		}
	}
	for id, c := range l.contracts {
		if c.ProjectID == project {
			in.Contracts = append(in.Contracts, *l.contract(id))
		}
	}
	for id, e := range l.entries {
		if e.ProjectID == project {
			in.Entries = append(in.Entries,
				analytics.UncommittedEntry{ID: id, NodeID: analytics.NodeID(e.NodeID), Amount: e.Amount})
		}
	}
	return in
}

// cashflowInput books payments and recognised records one by one, as the rolls would add them.
func (l *ledger) cashflowInput(project string) analytics.CashflowInput {
	in := analytics.CashflowInput{BudgetInput: l.budgetInput(project)}
	for id, p := range l.plans {
		if p.ProjectID == project {
			in.Plans = append(in.Plans, analytics.LinePlan{ID: id, LinePlan: *p})
		}
	}
	for _, r := range l.records {
		if r.ProjectID != project {
			continue
		}
		allocations := r.Allocations
		if len(allocations) == 0 {
			allocations = []events.RecordAllocation{{Net: r.Net}}
		}
		for _, a := range allocations {
			node := analytics.NodeID(a.NodeID.V)
			if r.RecognitionDate.Ok && r.StepKind != "rejected" {
				in.Recognized = append(in.Recognized,
					analytics.RecognizedSum{NodeID: node, Month: r.RecognitionDate.V.Month(), Count: 1})
			}
			if paid := analytics.CashDate(r); paid.Ok && counting(r) {
				in.Cash = append(in.Cash,
					analytics.CashSum{NodeID: node, Currency: r.Currency.V,
						Paid: []analytics.MonthNet{{Month: paid.V.Month(), Net: analytics.Int(a.Net.V)}}})
			}
		}
	}
	return in
}

func (l *ledger) rentRollInput(project string) analytics.RentRollInput {
	in := analytics.RentRollInput{Currency: l.projects[project].Currency}
	for id, u := range l.units {
		if u.ProjectID == project {
			in.Units = append(in.Units, analytics.Unit{ID: id, Unit: *u})
		}
	}
	for id, lease := range l.leases {
		if lease.ProjectID == project {
			in.Leases = append(in.Leases, analytics.NewLease(id, lease))
		}
	}
	var values []events.IndexValue
	for _, v := range l.indexes {
		values = append(values, *v)
	}
	in.Indexes = analytics.NewIndexes(values)
	return in
}

func (l *ledger) facility(id string) *analytics.Facility {
	return &analytics.Facility{ID: id, Facility: *l.facilities[id]}
}

// entriesOf are the movements of a facility as they are listed.
func (l *ledger) entriesOf(facility string) []analytics.FacilityEntry {
	var entries []analytics.FacilityEntry
	for id, e := range l.movements {
		if e.FacilityID == facility {
			entries = append(entries, analytics.FacilityEntry{ID: id, FacilityEntry: *e})
		}
	}
	slices.SortFunc(entries, func(a, b analytics.FacilityEntry) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.ID, b.ID))
	})
	return entries
}

func (l *ledger) fixingsOf(facility string) []analytics.Fixing {
	var fixings []analytics.Fixing
	for id, f := range l.fixings {
		if f.FacilityID == facility {
			fixings = append(fixings, analytics.Fixing{ID: id, Fixing: *f})
		}
	}
	return fixings
}

// linked are the sums of the records that name a contract of their own project.
func (l *ledger) linked(id string) []analytics.RecordSum {
	var linked []analytics.RecordSum
	for _, sum := range l.sums(l.contracts[id].ProjectID) {
		if sum.ContractID == analytics.ContractID(id) {
			linked = append(linked, sum)
		}
	}
	return linked
}
