package eventstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/jsonschema"
)

// value draws what a schema takes.
func value(t *rapid.T, s *jsonschema.Schema) any {
	switch {
	case s.Definition() != nil:
		if draw := byName[s.Definition().Name]; draw != nil {
			return draw(t)
		}
		return value(t, s.Resolved())
	case s.Const != nil:
		return s.Const
	case s.Enum != nil:
		return enum(s.Enum...)(t)
	case s.KnownValues != nil:
		return either(enum(s.KnownValues...), chars(*s.MinLength, *s.MaxLength))(t)
	case s.OneOf != nil:
		return value(t, rapid.SampledFrom(s.OneOf).Draw(t, "variant"))
	}
	switch s.Type {
	case "null":
		return nil
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case "integer":
		return integer(*s.Minimum, *s.Maximum)(t)
	case "string":
		if s.MaxLength == nil {
			return text(t)
		}
		return chars(orZero(s.MinLength), *s.MaxLength)(t)
	case "array":
		out := []any{}
		for range rapid.IntRange(orZero(s.MinItems), 4).Draw(t, "length") {
			out = append(out, value(t, s.Items))
		}
		return out
	case "object":
		return object(t, s)
	}
	panic(fmt.Sprintf("eventstest draws no values of %+v: give the schema a name and add it to byName", s))
}

// object draws the members but for ext, which Draw adds.
func object(t *rapid.T, s *jsonschema.Schema) map[string]any {
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	out := map[string]any{}
	for i, name := range s.Properties.Names {
		if name == "ext" {
			continue
		}
		property := s.Properties.Schemas[i]
		presence := 2
		if !required[name] {
			presence = rapid.IntRange(0, 3).Draw(t, "presence")
		}
		switch presence {
		case 0: // absent
		case 1:
			out[name] = nil
		default:
			out[name] = value(t, property.NotNull())
		}
	}
	return out
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// gen draws a JSON value.
type gen func(t *rapid.T) any

// from draws from a rapid generator.
func from[V any](g *rapid.Generator[V]) gen {
	return func(t *rapid.T) any { return g.Draw(t, "value") }
}

func enum(values ...string) gen { return from(rapid.SampledFrom(values)) }

func either(gs ...gen) gen {
	return func(t *rapid.T) any { return gs[rapid.IntRange(0, len(gs)-1).Draw(t, "choice")](t) }
}

// chars draws strings without U+0000, which ids and open lists refuse; text has it.
func chars(least, most int) gen {
	return from(rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r != 0 }), least, most, -1))
}

func integer(least, most int64) gen {
	return either(from(rapid.SampledFrom([]int64{least, most})), from(rapid.Int64Range(least, most)))
}

var (
	text    = either(enum("", "Müller & Söhne", "a\u0000b", "\u2028 \"quoted\" \\", "😀"), chars(0, 30))
	id      = either(enum("P1", "N1", "N2", "x/y", "ä", "0"), chars(1, 200))
	instant = either(enum("1900-01-01T00:00:00Z", "2299-12-31T22:59:59.999999999Z", "2026-03-29T01:00:00.5Z"), drawInstant)
)

const mostUnits = 999_999_999_999_999_999 // of a decimal

// byName draws what a definition of this name takes, where the definition alone doesn't say how.
var byName = map[string]gen{
	"id":              id,
	"currency":        enum("EUR", "CHF", "USD"),
	"date":            either(enum("1900-01-01", "2299-12-31", "2024-02-29"), drawDate),
	"month":           either(enum("1900-01", "2299-12"), drawMonth),
	"instant":         instant,
	"basisPoints":     decimal(3, -mostUnits, mostUnits),
	"probability":     decimal(3, 0, 10_000),
	"unsignedDecimal": decimal(17, 0, mostUnits),
	"positiveDecimal": either(decimal(10, 1, 99_999), enum("0.00000000000000001")),
	"sha256":          from(rapid.StringMatching(`[0-9a-fA-F]{64}`)),
	"keyPrefix":       from(rapid.StringMatching(`[A-Za-z0-9ä-]{1,100}`)),
}

func drawDate(t *rapid.T) any {
	return calendar.Date(rapid.Int32Range(int32(calendar.MinDate), int32(calendar.MaxDate)).Draw(t, "date")).String()
}

func drawMonth(t *rapid.T) any {
	return calendar.Month(rapid.Int32Range(int32(calendar.MinMonth), int32(calendar.MaxMonth)).Draw(t, "month")).String()
}

func drawInstant(t *rapid.T) any {
	first, last := calendar.MinDate.Time(), calendar.MaxDate.Time().Add(23*time.Hour)
	at := time.Unix(rapid.Int64Range(first.Unix(), last.Unix()-1).Draw(t, "second"),
		rapid.Int64Range(0, 999999999).Draw(t, "nanosecond"))
	return at.UTC().Format(time.RFC3339Nano)
}

// decimal draws a number of at most 18 digits within the range, as a string or a number.
func decimal(places int, least, most int64) gen {
	return func(t *rapid.T) any {
		scale := rapid.IntRange(0, places).Draw(t, "scale")
		factor := int64(1)
		for range scale {
			factor *= 10
		}
		low, high := max(least, -mostUnits/factor), min(most, mostUnits/factor)
		units := rapid.Int64Range(low*factor, high*factor).Draw(t, "units")
		sign, digits := "", fmt.Sprint(units)
		if units < 0 {
			sign, digits = "-", digits[1:]
		}
		if scale > 0 {
			digits = strings.Repeat("0", max(scale+1-len(digits), 0)) + digits
			digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
		}
		if rapid.Bool().Draw(t, "as number") {
			return json.Number(sign + digits)
		}
		return sign + digits
	}
}
