package resource

import (
	"strconv"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsonschema"
	"tallyhouse/schemas/jsontext"
)

// Figure is a sum of money with its currency. Where it is beyond the range of amounts, the object around it is null if it
// may be (NullObject), else the figure is: it is never shown wrapped or clamped, and nothing else of the response is lost.
func Figure[T any](get func(v *T) (sum analytics.Int128, currency string)) Value[T] {
	return Value[T]{schema: amountReference(), append: func(e *Encoder, v *T) {
		if sum, currency := get(v); !e.figure(sum, currency) {
			e.lost = true
		}
	}}
}

// NullFigure is a sum of money with its currency, or null. One beyond the range of amounts is null.
func NullFigure[T any](get func(v *T) (sum events.Opt[analytics.Int128], currency string)) Value[T] {
	return Value[T]{schema: amountReference().OrNull(), append: func(e *Encoder, v *T) {
		sum, currency := get(v)
		if !sum.Ok {
			e.null()
			return
		}
		e.figure(sum.V, currency)
	}}
}

// Units is Figure in minor units, without its currency.
func Units[T any](get func(v *T) analytics.Int128) Value[T] {
	return Value[T]{schema: unitsSchema(), append: func(e *Encoder, v *T) {
		if !e.units(get(v)) {
			e.lost = true
		}
	}}
}

// NullUnits is NullFigure in minor units, without its currency.
func NullUnits[T any](get func(v *T) events.Opt[analytics.Int128]) Value[T] {
	return Value[T]{schema: unitsSchema().OrNull(), append: func(e *Encoder, v *T) {
		sum := get(v)
		if !sum.Ok {
			e.null()
			return
		}
		e.units(sum.V)
	}}
}

func unitsSchema() *Schema {
	return &Schema{Type: "integer", Minimum: jsonschema.Number(int64(-analytics.MaxAmount)),
		Maximum: jsonschema.Number(int64(analytics.MaxAmount)), Description: "In the currency's smallest unit."}
}

// Whole is a whole number.
func Whole[T any](get func(v *T) int64) Value[T] {
	return Value[T]{schema: &Schema{Type: "integer"}, append: func(e *Encoder, v *T) { e.B = AppendInt(e.B, get(v)) }}
}

// NullFlag is a boolean or null.
func NullFlag[T any](get func(v *T) events.Opt[bool]) Value[T] {
	return Value[T]{schema: (&Schema{Type: "boolean"}).OrNull(), append: func(e *Encoder, v *T) {
		flag := get(v)
		if !flag.Ok {
			e.null()
			return
		}
		e.B = strconv.AppendBool(e.B, flag.V)
	}}
}

// Currency is an ISO 4217 code.
func Currency[T any](get func(v *T) string) Value[T] {
	value := Text(get)
	value.schema.MinLength, value.schema.MaxLength = jsonschema.Number(3), jsonschema.Number(3)
	return value
}

// Month is a calendar month.
func Month[T any](get func(v *T) calendar.Month) Value[T] {
	return Value[T]{schema: MonthSchema(), append: func(e *Encoder, v *T) {
		e.B = append(e.B, '"')
		e.B = get(v).Append(e.B)
		e.B = append(e.B, '"')
	}}
}

// MonthSchema is the schema of every month (docs/api.md#conventions).
func MonthSchema() *Schema { return &Schema{Type: "string", Pattern: `^\d{4}-(0[1-9]|1[0-2])$`} }

// Texts is an array of strings; an empty one is [].
func Texts[T any](get func(v *T) []string) Value[T] {
	return Value[T]{schema: &Schema{Type: "array", Items: &Schema{Type: "string"}}, append: func(e *Encoder, v *T) {
		e.B = append(e.B, '[')
		for i, text := range get(v) {
			if i > 0 {
				e.B = append(e.B, ',')
			}
			if e.B = jsontext.AppendString(e.B, text); e.Full() {
				break
			}
		}
		e.B = append(e.B, ']')
	}}
}

// OrNullWithout is the value, which may be null anyway, but null for callers that lack these groups.
func (value Value[T]) OrNullWithout(groups access.Groups) Value[T] {
	shown := value.append
	value.append = func(e *Encoder, v *T) {
		if !e.Groups.Has(groups) {
			e.null()
			return
		}
		shown(e, v)
	}
	return value
}

// figure writes a sum with its currency, or null when it is beyond the range, and reports whether it could be shown.
func (e *Encoder) figure(sum analytics.Int128, currency string) bool {
	value, err := sum.Amount()
	if err != nil {
		e.beyond(sum)
		return false
	}
	e.amount(value, currency)
	return true
}

// units is figure without the currency.
func (e *Encoder) units(sum analytics.Int128) bool {
	value, err := sum.Amount()
	if err != nil {
		e.beyond(sum)
		return false
	}
	e.B = AppendInt(e.B, value)
	return true
}
