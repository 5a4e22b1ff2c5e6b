package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Kinds of columns of values that are always there. Rows without a payload have the first day of 1970.
var (
	dateKind  = &columnKind{name: "Date32", width: 4, result: func() proto.Column { return newDates() }}
	datesKind = &columnKind{name: "Array(Date32)", width: 4, array: true, result: func() proto.Column {
		return proto.NewArray[calendar.Date](newDates())
	}}
)

func dateColumn[P any](name string, of func(*P) calendar.Date) Column {
	return column(name, dateKind, of, func(w *wire, v calendar.Date) { w.values.date(v) })
}

func datesColumn[P, E any](name string, elements func(*P) []E, of func(*E) calendar.Date) Column {
	return list(name, datesKind, elements, func(w *wire, e *E) { w.values.date(of(e)) })
}

// decimalColumn is a decimal as a text, so that none of its digits is lost.
func decimalColumn[P any](name string, of func(*P) events.Decimal) Column {
	return textColumn(name, func(p *P) string { return of(p).String() })
}

func decimalOrNull[P any](name string, of func(*P) events.Opt[events.Decimal]) Column {
	return textOrNull(name, func(p *P) events.Opt[string] {
		d := of(p)
		if !d.Ok {
			return events.Opt[string]{}
		}
		return events.Some(d.V.String())
	})
}
