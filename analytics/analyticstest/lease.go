// Package analyticstest makes what calculations are given in tests.
package analyticstest

import (
	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// Lease is a whole lease, with all its runs of months: a rent roll that is read has only those that it needs.
func Lease(id string, l *events.Lease) analytics.Lease {
	return analytics.Lease{
		ID: id, Category: l.Category, CounterpartyName: l.CounterpartyName, Status: l.Status, UnitIDs: l.UnitIDs,
		Start: l.Start, End: l.End, EffectiveEnd: analytics.EffectiveEnd(l), Currency: l.Currency,
		Indexation: l.Indexation, IndexationText: l.IndexationText, Segments: analytics.Segments(l),
	}
}
