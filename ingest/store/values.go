package store

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/go-faster/jx"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

func nullable[T any](o events.Opt[T]) proto.Nullable[T] {
	return proto.Nullable[T]{Value: o.V, Set: o.Ok}
}

func nullableDate(o events.Opt[calendar.Date]) proto.Nullable[time.Time] {
	if !o.Ok {
		return proto.Nullable[time.Time]{}
	}
	return proto.NewNullable(o.V.Time())
}

// codesJSON writes accounting codes as the API shows them, so that a reader may pass them on.
func codesJSON(codes []events.AccountingCode) string {
	if len(codes) == 0 {
		return "[]"
	}
	w := jx.GetWriter()
	defer jx.PutWriter(w)
	w.ArrStart()
	for i, c := range codes {
		if i > 0 {
			w.Comma()
		}
		w.RawStr(`{"system":`)
		w.Str(c.System)
		w.RawStr(`,"code":`)
		w.Str(c.Code)
		w.RawStr(`,"name":`)
		textOrNullJSON(w, c.Name)
		w.RawStr(`,"taxKey":`)
		textOrNullJSON(w, c.TaxKey)
		w.RawStr(`,"inherited":`)
		w.Bool(c.Inherited)
		w.ObjEnd()
	}
	w.ArrEnd()
	return w.String()
}

// documentsJSON writes documents as the API shows them.
func documentsJSON(documents []events.Document) string {
	if len(documents) == 0 {
		return "[]"
	}
	w := jx.GetWriter()
	defer jx.PutWriter(w)
	w.ArrStart()
	for i, d := range documents {
		if i > 0 {
			w.Comma()
		}
		w.RawStr(`{"name":`)
		w.Str(d.Name)
		w.RawStr(`,"kind":`)
		w.Str(d.Kind)
		w.ObjEnd()
	}
	w.ArrEnd()
	return w.String()
}

func textOrNullJSON(w *jx.Writer, o events.Opt[string]) {
	if !o.Ok {
		w.Null()
		return
	}
	w.Str(o.V)
}
