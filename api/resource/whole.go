package resource

import (
	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// Integer is a sum of money in minor units without its currency. It is no Amount, and has no range.
func Integer[T any](get func(v *T) analytics.Int128) Value[T] {
	schema := &Schema{Type: "integer", Description: "In the currency's smallest unit. It may be beyond the range of amounts."}
	return Value[T]{schema: schema, append: func(e *Encoder, v *T) {
		e.B = get(v).Append(e.B)
	}}
}

// NullWhole is a whole number or null.
func NullWhole[T any](get func(v *T) events.Opt[int64]) Value[T] {
	return Value[T]{schema: (&Schema{Type: "integer"}).OrNull(), append: func(e *Encoder, v *T) {
		n := get(v)
		if !n.Ok {
			e.null()
			return
		}
		e.B = AppendInt(e.B, n.V)
	}}
}

// FigureOrNothing is a sum of money with its currency. Where it is beyond the range of amounts it is left out, because
// it cannot be null.
func FigureOrNothing[T any](get func(v *T) (sum analytics.Int128, currency string)) Value[T] {
	return Value[T]{schema: amountReference(), append: func(e *Encoder, v *T) {
		sum, currency := get(v)
		e.omitted = !e.figure(sum, currency)
	}}
}
