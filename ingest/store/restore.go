package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// What an entity's columns are made of is read back from them here, as far as it contributes to views: a column that
// takes up another member, or a formula that asks for one, is followed here. A test draws entities and holds the
// contributions of what is read back to those of what was written.

func restoreRecord(m image) any {
	r, _ := m.all.again.(*events.Record)
	if r == nil {
		r = new(events.Record)
	}
	*r = events.Record{
		ProjectID:       m.project(),
		Source:          read[string](m, "source"),
		StepKind:        stepOf(analytics.RecordStatus(read[string](m, "status"))),
		ContractorID:    idOrNone(read[string](m, "contractor_id")),
		RecognitionDate: optionOf(read[proto.Nullable[calendar.Date]](m, "recognition_date")),
		CashDate:        optionOf(read[proto.Nullable[calendar.Date]](m, "cash_date")), // as it was computed then, whatever clocks say now
		Currency:        idOrNone(read[string](m, "currency")),
		Net:             optionOf(read[proto.Nullable[int64]](m, "net")),
		Tax:             optionOf(read[proto.Nullable[int64]](m, "tax")),
		Gross:           optionOf(read[proto.Nullable[int64]](m, "gross")),
		ContractID:      idOrNone(read[string](m, "contract_id")),
		Allocations:     r.Allocations[:0],
	}
	m.all.nodes = readList(m, "allocation_node", m.all.nodes[:0])
	m.all.amounts = readList(m, "allocation_net", m.all.amounts[:0])
	for i, node := range m.all.nodes {
		net := events.Opt[int64]{V: m.all.amounts[i], Ok: r.Net.Ok}
		r.Allocations = append(r.Allocations, events.RecordAllocation{NodeID: idOrNone(node), Net: net})
	}
	return r
}

// stepOf is the step that collapses into a status.
func stepOf(s analytics.RecordStatus) string {
	for _, step := range []string{"setup", "approval", "payment", "paid", "rejected"} {
		if analytics.StatusOf(step) == s {
			return step
		}
	}
	return ""
}

// idOrNone reads a text that is empty when there is none.
func idOrNone(s string) events.Opt[string] { return events.Opt[string]{V: s, Ok: s != ""} }

func optionOf[T any](n proto.Nullable[T]) events.Opt[T] {
	if !n.Set {
		return events.Opt[T]{}
	}
	return events.Some(n.Value)
}
