package analytics_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func TestRecordStatus(t *testing.T) {
	for step, want := range map[string]analytics.RecordStatus{
		"setup": "setup", "approval": "approvalPending", "payment": "paymentPending", "paid": "paid", "rejected": "rejected",
		"mislaid": "",
	} {
		if got := analytics.StatusOf(step); got != want {
			t.Errorf("status of step %s is %q, want %q", step, got, want)
		}
	}
}

func TestRecordCashDate(t *testing.T) {
	paidAt := func(text string) events.Opt[time.Time] {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return events.Some(at)
	}
	delivered := events.Some(calendar.NewDate(2026, 3, 5))
	for name, tc := range map[string]struct {
		record events.Record
		want   string
	}{
		"as delivered": {events.Record{StepKind: "paid", CashDate: delivered,
			PaidAt: paidAt("2026-03-31T22:30:00Z")}, "2026-03-05"},
		"in Vienna's summer": {events.Record{StepKind: "paid", PaidAt: paidAt("2026-03-31T22:30:00Z")},
			"2026-04-01"},
		"after summer time": {events.Record{StepKind: "paid", PaidAt: paidAt("2026-10-31T22:30:00Z")},
			"2026-10-31"},
		"on the morning of the change": {events.Record{StepKind: "paid", PaidAt: paidAt("2027-10-31T22:30:00Z")},
			"2027-10-31"},
		"none before it is paid":     {events.Record{StepKind: "payment", CashDate: delivered}, ""},
		"none when rejected":         {events.Record{StepKind: "rejected", PaidAt: paidAt("2026-03-31T22:30:00Z")}, ""},
		"none when nothing is known": {events.Record{StepKind: "paid"}, ""},
		"the last minute of a UTC date": {events.Record{StepKind: "paid", PaidAt: paidAt("2026-12-31T23:00:00Z")},
			"2027-01-01"},
	} {
		t.Run(name, func(t *testing.T) {
			got := analytics.CashDate(&tc.record)
			if got.Ok != (tc.want != "") || got.Ok && got.V.String() != tc.want {
				t.Errorf("cash date %v %v, want %q", got.V, got.Ok, tc.want)
			}
		})
	}
}

func TestInvoicedGross(t *testing.T) {
	some, none := events.Some[int64], events.Opt[int64]{}
	for name, tc := range map[string]struct{ net, tax, gross, want events.Opt[int64] }{
		"as delivered":         {some(100), some(20), some(119), some(119)},
		"net plus tax":         {some(100), some(20), none, some(120)},
		"no tax is 0":          {some(100), none, none, some(100)},
		"not read yet":         {none, none, none, none},
		"tax alone is no sum":  {none, some(20), none, none},
		"gross alone is shown": {none, none, some(7), some(7)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := analytics.Gross(&events.Record{Net: tc.net, Tax: tc.tax, Gross: tc.gross}); got != tc.want {
				t.Errorf("gross %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSplitGross(t *testing.T) {
	for name, tc := range map[string]struct {
		gross int64
		nets  []int64
		want  []int64
	}{
		"in proportion to the nets":             {120, []int64{50, 50}, []int64{60, 60}},
		"nets that cancel: all on the first":    {20, []int64{50, -50}, []int64{20, 0}},
		"zero nets: all on the first":           {20, []int64{0, 0, 0}, []int64{20, 0, 0}},
		"one allocation takes the whole":        {20, []int64{0}, []int64{20}},
		"in allocation order on a tie":          {101, []int64{10, 10}, []int64{51, 50}},
		"a credit note mirrors":                 {-3, []int64{-1, -1}, []int64{-2, -1}},
		"without allocations there is no share": {20, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := analytics.SplitGross(tc.gross, tc.nets)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("shares %v, %v, want %v", got, err, tc.want)
			}
		})
	}
	if got, err := analytics.SplitGross(math.MaxInt64, []int64{1000, -999}); !errors.Is(err, analytics.ErrOutOfRange) {
		t.Errorf("shares %v, %v, want ErrOutOfRange", got, err)
	}
}

func TestRecordAllocations(t *testing.T) {
	s := structureOf(tree("top -", "leaf top!"))
	net := events.Some[int64]
	leaf := analytics.NodeRef{
		NodeID: events.Some("leaf"), Code: events.Some("leaf"), Name: events.Some("name of leaf"),
		BudgetName: events.Some("name of top"),
	}
	on := func(node string, value int64) events.RecordAllocation {
		return events.RecordAllocation{NodeID: events.Opt[string]{V: node, Ok: node != ""}, Net: net(value)}
	}
	for name, tc := range map[string]struct {
		record events.Record
		want   []analytics.Allocation
		sole   events.Opt[analytics.NodeRef]
	}{
		"without coding one entry holds the whole net": {
			events.Record{Net: net(7)}, []analytics.Allocation{{Net: net(7)}}, events.Some(analytics.NodeRef{}),
		},
		"not read yet it has no net": {events.Record{}, []analytics.Allocation{{}}, events.Some(analytics.NodeRef{})},
		"an inactive node is shown as coded": {
			events.Record{Allocations: []events.RecordAllocation{on("leaf", 5)}},
			[]analytics.Allocation{{BudgetNode: leaf, Net: net(5)}}, events.Some(leaf),
		},
		"an unknown node is shown like none": {
			events.Record{Allocations: []events.RecordAllocation{on("unknown", 5)}}, []analytics.Allocation{{Net: net(5)}},
			events.Some(analytics.NodeRef{}),
		},
		"a split record has no sole node": {
			events.Record{Allocations: []events.RecordAllocation{on("leaf", 5), on("", 6)}},
			[]analytics.Allocation{{BudgetNode: leaf, Net: net(5)}, {Net: net(6)}}, events.Opt[analytics.NodeRef]{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Allocations(&tc.record)
			if !slices.Equal(got, tc.want) {
				t.Errorf("allocations %+v, want %+v", got, tc.want)
			}
			if sole := analytics.SoleNode(got); sole != tc.sole {
				t.Errorf("sole node %+v, want %+v", sole, tc.sole)
			}
		})
	}
}

func TestRecordCodes(t *testing.T) {
	nodes := tree("top -", "a top", "b top")
	code := func(system, code string, inherited bool) events.AccountingCode {
		return events.AccountingCode{System: system, Code: code, Inherited: inherited}
	}
	nodes[0].AccountingCodes = []events.AccountingCode{code("datev", "1", false), code("yardi", "2", false)}
	nodes[1].AccountingCodes = []events.AccountingCode{code("yardi", "3", false)}
	s := structureOf(nodes)
	split := []events.RecordAllocation{{NodeID: events.Some("a")}, {NodeID: events.Some("b")}, {},
		{NodeID: events.Some("unknown")}}
	certified := []events.AccountingCode{code("sap", "9", true), code("sap", "8", false)}
	for name, tc := range map[string]struct {
		record events.Record
		want   []events.AccountingCode
	}{
		"derived in allocation order without exact duplicates": {
			events.Record{Allocations: split},
			[]events.AccountingCode{code("yardi", "3", false), code("datev", "1", true), code("yardi", "2", true)},
		},
		"as certified when certified": {events.Record{Allocations: split, CertifiedCodes: events.Some(certified)}, certified},
		"certified without any": {events.Record{Allocations: split,
			CertifiedCodes: events.Some([]events.AccountingCode{})}, nil},
		"not coded": {events.Record{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Codes().OfRecord(&tc.record); !slices.Equal(got, tc.want) {
				t.Errorf("codes %v, want %v", got, tc.want)
			}
		})
	}
}
