package resource

import (
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// When leaves the member out of every object for which present is false, whoever asks. Null would say that there is no
// value where clients may expect one; a member that is left out may always be missing, so it is never Required.
func (value Value[T]) When(present func(v *T) bool) Value[T] {
	value.present = present
	return value
}

// Date is a calendar date.
func Date[T any](get func(v *T) calendar.Date) Value[T] {
	return Value[T]{schema: &Schema{Type: "string", Format: "date"}, append: func(e *Encoder, v *T) {
		e.B = append(e.B, '"')
		e.B = get(v).Append(e.B)
		e.B = append(e.B, '"')
	}}
}

// Number is a decimal number, written exactly and without zeros at its end.
func Number[T any](get func(v *T) events.Decimal) Value[T] {
	return Value[T]{schema: &Schema{Type: "number"}, append: func(e *Encoder, v *T) { e.B = get(v).Append(e.B) }}
}

// NullNumber is a decimal number or null.
func NullNumber[T any](get func(v *T) events.Opt[events.Decimal]) Value[T] {
	return Value[T]{schema: (&Schema{Type: "number"}).OrNull(), append: func(e *Encoder, v *T) {
		number := get(v)
		if !number.Ok {
			e.null()
			return
		}
		e.B = number.V.Append(e.B)
	}}
}
