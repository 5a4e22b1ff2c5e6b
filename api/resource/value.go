package resource

import (
	"strconv"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsonschema"
	"tallyhouse/schemas/jsontext"
)

// Value is how a member is made from a T: its type, its JSON, and what a query must read for it.
type Value[T any] struct {
	schema *Schema
	append func(e *Encoder, v *T)
	reads  reader.Part[T]
	// present reports whether an object has the member; nil: every object has it.
	present func(v *T) bool
}

// Stored is the value of a member that is a column of its table, shown as one of the types below:
// Stored(reader.RecordStatus, Text).
func Stored[T, V any](member reader.Member[T, V], as func(get func(v *T) V) Value[T]) Value[T] {
	value := as(member.Get)
	value.reads = member.Part()
	return value
}

// OneOf says which strings the value may be. More may come.
func (value Value[T]) OneOf(known ...string) Value[T] {
	schema := *value.schema
	schema.KnownValues = known
	value.schema = &schema
	return value
}

// Text is a string.
func Text[T any](get func(v *T) string) Value[T] {
	return Value[T]{schema: &Schema{Type: "string"},
		append: func(e *Encoder, v *T) { e.B = jsontext.AppendString(e.B, get(v)) }}
}

// NullText is a string or null.
func NullText[T any](get func(v *T) events.Opt[string]) Value[T] {
	return Value[T]{schema: (&Schema{Type: "string"}).OrNull(), append: func(e *Encoder, v *T) { e.nullText(get(v)) }}
}

// Const is the same string always.
func Const[T any](value string) Value[T] {
	json := jsontext.AppendString(nil, value)
	return Value[T]{schema: &Schema{Type: "string"}, append: func(e *Encoder, _ *T) { e.B = append(e.B, json...) }}
}

// Flag is a boolean.
func Flag[T any](get func(v *T) bool) Value[T] {
	return Value[T]{schema: &Schema{Type: "boolean"}, append: func(e *Encoder, v *T) { e.B = strconv.AppendBool(e.B, get(v)) }}
}

// NullDate is a calendar date or null.
func NullDate[T any](get func(v *T) events.Opt[calendar.Date]) Value[T] {
	return Value[T]{schema: (&Schema{Type: "string", Format: "date"}).OrNull(), append: func(e *Encoder, v *T) {
		d := get(v)
		if !d.Ok {
			e.null()
			return
		}
		e.B = append(e.B, '"')
		e.B = d.V.Append(e.B)
		e.B = append(e.B, '"')
	}}
}

// NullInstant is an instant or null.
func NullInstant[T any](get func(v *T) events.Opt[time.Time]) Value[T] {
	return Value[T]{schema: (&Schema{Type: "string", Format: "date-time"}).OrNull(), append: func(e *Encoder, v *T) {
		t := get(v)
		if !t.Ok {
			e.null()
			return
		}
		e.B = AppendInstant(e.B, t.V)
	}}
}

// NullAmount is an amount of money in minor units with its currency, or null. One beyond the range of amounts is null.
func NullAmount[T any](get func(v *T) (value events.Opt[int64], currency string)) Value[T] {
	return Value[T]{schema: amountReference().OrNull(), append: func(e *Encoder, v *T) {
		value, currency := get(v)
		if !value.Ok {
			e.null()
			return
		}
		e.figure(analytics.Int(value.V), currency)
	}}
}

// Object is an object with members of its own.
func Object[T, U any](table *Table[U], get func(v *T) *U) Value[T] {
	return Value[T]{schema: table.Reference(),
		append: func(e *Encoder, v *T) { table.Append(e, table.Visible(e.Groups), get(v)) }}
}

// NullObject is an object, or null where get returns nil. It is null, too, when one of its Figures or Units is beyond the
// range of amounts, because these cannot be null themselves.
func NullObject[T, U any](table *Table[U], get func(v *T) *U) Value[T] {
	return Value[T]{schema: table.Reference().OrNull(), append: func(e *Encoder, v *T) {
		u := get(v)
		if u == nil {
			e.null()
			return
		}
		start, outer := len(e.B), e.lost
		e.lost = false
		table.Append(e, table.Visible(e.Groups), u)
		if e.lost {
			e.B = e.B[:start]
			e.null()
		}
		e.lost = outer
	}}
}

// List is an array of objects; an empty one is [].
func List[T, U any](table *Table[U], get func(v *T) []U) Value[T] {
	return Value[T]{schema: &Schema{Type: "array", Items: table.Reference()}, append: func(e *Encoder, v *T) {
		e.B = append(e.B, '[')
		m, list, start := table.Visible(e.Groups), get(v), len(e.B)
		for i := range list {
			if i > 0 {
				e.B = append(e.B, ',')
			}
			if table.Append(e, m, &list[i]); e.Full() {
				break
			}
			if i == 0 {
				e.expect(len(list)-1, start)
			}
		}
		e.B = append(e.B, ']')
	}}
}

func (e *Encoder) null() { e.B = append(e.B, "null"...) }

func (e *Encoder) nullText(s events.Opt[string]) {
	if !s.Ok {
		e.null()
		return
	}
	e.B = jsontext.AppendString(e.B, s.V)
}

func (e *Encoder) amount(value int64, currency string) {
	e.B = append(e.B, `{"value":`...)
	e.B = AppendInt(e.B, value)
	e.B = append(e.B, `,"currency":`...)
	e.B = jsontext.AppendString(e.B, currency)
	e.B = append(e.B, '}')
}

// amountReference is the schema of every amount.
func amountReference() *Schema {
	closed := false
	return Reference(Component{Name: "Amount", Schema: &Schema{
		Type: "object",
		Description: "Money: a whole number of the currency's smallest unit. Amounts in different currencies are never " +
			"added together.",
		Properties: &Properties{
			Names: []string{"value", "currency"},
			Schemas: []*Schema{
				{Type: "integer", Minimum: jsonschema.Number(int64(-analytics.MaxAmount)), Maximum: jsonschema.Number(int64(analytics.MaxAmount)),
					Description: "In the currency's smallest unit, cents for EUR."},
				{Type: "string", MinLength: jsonschema.Number(3), MaxLength: jsonschema.Number(3), Description: "ISO 4217."},
			},
		},
		Required:             []string{"value", "currency"},
		AdditionalProperties: &closed,
	}})
}
