package events

import (
	"encoding/json"
	"fmt"
	"strings"

	"tallyhouse/schemas/jsonschema"
)

// decimals is a decimal number, as a string or a number, with at most so many decimal places.
func decimals(places int) kind[Decimal] {
	return kind[Decimal]{
		read: func(d *decoder, v *Decimal) {
			var s string
			isText := d.next() == '"'
			switch c := d.next(); {
			case isText:
				s = d.characters()
			case c == '-' || c >= '0' && c <= '9':
				s = d.number()
			default:
				d.wrongType("a decimal number")
			}
			if d.err != nil {
				return
			}
			var ok bool
			if *v, ok = parseDecimal(s, places); !ok {
				d.fail("must be a decimal number of at most %d digits, %d of them after the point, not %s",
					MaxDecimals, places, quoted(s))
			}
			var written [MaxDecimals + 8]byte
			d.asWritten = d.asWritten && isText && string(v.Append(written[:0])) == s
		},
		write:  func(b []byte, v *Decimal) []byte { return append(v.Append(append(b, '"')), '"') },
		schema: decimalSchema(places),
	}
}

func decimalSchema(places int) *jsonschema.Schema {
	written := &jsonschema.Schema{
		Type: "string", Pattern: fmt.Sprintf(`^-?(0|[1-9][0-9]*)(\.[0-9]{1,%d})?$`, min(places, MaxDecimals-1)),
		AnyOf: []*jsonschema.Schema{ // the number of digits, without sign and point
			{Pattern: fmt.Sprintf("^-?[0-9]{1,%d}$", MaxDecimals)},
			{Pattern: `^[0-9.]+\.[0-9.]+$`, MaxLength: jsonschema.Number(MaxDecimals + 1)},
			{Pattern: `^-[0-9.]+\.[0-9.]+$`, MaxLength: jsonschema.Number(MaxDecimals + 2)},
		},
	}
	const most = int64(1e18 - 1) // of MaxDecimals digits
	number := &jsonschema.Schema{Type: "number", Minimum: jsonschema.Number(-most), Maximum: jsonschema.Number(most)}
	if places < MaxDecimals-1 {
		number.MultipleOf = json.Number("0." + strings.Repeat("0", places-1) + "1")
	}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{written, number}}
}

// probability limits basis points to 0..10000.
func probability(k kind[Decimal]) kind[Decimal] {
	const most = 10_000
	schema := *k.schema
	// The pattern limits those that are strings, the rest those that are numbers.
	schema.Pattern = `^(-?0(\.0{1,3})?|0\.[0-9]{1,3}|[1-9][0-9]{0,3}(\.[0-9]{1,3})?|10000(\.0{1,3})?)$`
	schema.Minimum, schema.Maximum = jsonschema.Number(int64(0)), jsonschema.Number(int64(most))
	return kind[Decimal]{write: k.write, schema: &schema, read: func(d *decoder, v *Decimal) {
		if k.read(d, v); d.err == nil && (v.less(0) || Decimal{-v.Units, v.Scale}.less(-most)) {
			d.fail("must lie in %d..%d, not %s", 0, most, v)
		}
	}}
}

// unsigned limits decimals to 0 and above.
func unsigned(k kind[Decimal]) kind[Decimal] {
	schema := *k.schema
	schema.Not = &jsonschema.Schema{Pattern: "^-.*[1-9]", ExclusiveMaximum: jsonschema.Number(int64(0))}
	return kind[Decimal]{write: k.write, schema: &schema, read: func(d *decoder, v *Decimal) {
		if k.read(d, v); d.err == nil && v.Units < 0 {
			d.fail("must not be below 0, but is %s", v)
		}
	}}
}

// positive limits decimals to what is above 0.
func positive(k kind[Decimal]) kind[Decimal] {
	schema := *k.schema
	schema.Not = &jsonschema.Schema{Pattern: "^-|^[0.]*$", Maximum: jsonschema.Number(int64(0))}
	return kind[Decimal]{write: k.write, schema: &schema, read: func(d *decoder, v *Decimal) {
		if k.read(d, v); d.err == nil && v.Units <= 0 {
			d.fail("must be above 0, not %s", v)
		}
	}}
}
