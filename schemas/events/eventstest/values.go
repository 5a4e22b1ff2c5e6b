package eventstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// gen draws a JSON value, or absent{}.
type gen func(t *rapid.T) any

// from draws from a rapid generator.
func from[V any](g *rapid.Generator[V]) gen {
	return func(t *rapid.T) any { return g.Draw(t, "value") }
}

// fields is an object of drawn members.
type fields map[string]gen

func (f fields) draw(t *rapid.T) map[string]any {
	out := map[string]any{}
	for _, name := range sorted(f) {
		if v := f[name](t); v != (any)(absent{}) {
			out[name] = v
		}
	}
	return out
}

func object(f fields) gen { return func(t *rapid.T) any { return f.draw(t) } }

// opt draws a value, null or nothing.
func opt(g gen) gen {
	return func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "presence") {
		case 0:
			return nil
		case 1:
			return absent{}
		}
		return g(t)
	}
}

func list(g gen) gen { return listOf(0, g) }

func listOf(least int, g gen) gen {
	return func(t *rapid.T) any {
		out := []any{}
		for range rapid.IntRange(least, 4).Draw(t, "length") {
			out = append(out, g(t))
		}
		return out
	}
}

func enum(values ...string) gen { return from(rapid.SampledFrom(values)) }

// extensible draws a known value or any other.
func extensible(values ...string) gen { return either(enum(values...), chars(1, 100)) }

func either(gs ...gen) gen {
	return func(t *rapid.T) any { return gs[rapid.IntRange(0, len(gs)-1).Draw(t, "choice")](t) }
}

func chars(least, most int) gen { return from(rapid.StringN(least, most, -1)) }

var (
	text     = either(enum("", "Müller & Söhne", "a\u0000b", "\u2028 \"quoted\" \\", "😀"), chars(0, 30))
	id       = either(enum("P1", "N1", "N2", "x/y", "ä", "0"), chars(1, 200))
	boolean  = from(rapid.Bool())
	currency = enum("EUR", "CHF", "USD")
	minor    = integer(-events.MaxAmount, events.MaxAmount)
	date     = either(enum("1900-01-01", "2299-12-31", "2024-02-29"), drawDate)
	month    = either(enum("1900-01", "2299-12"), drawMonth)
	instant  = either(enum("1900-01-01T00:00:00Z", "2299-12-31T22:59:59.999999999Z", "2026-03-29T01:00:00.5Z"), drawInstant)
	amount   = object(fields{"value": minor, "currency": currency})
	basisBp  = decimal(3, -999999999999999999, 999999999999999999)
)

func integer(least, most int64) gen {
	return either(from(rapid.SampledFrom([]int64{least, most})), from(rapid.Int64Range(least, most)))
}

func drawDate(t *rapid.T) any {
	return calendar.Date(rapid.Int32Range(int32(calendar.MinDate), int32(calendar.MaxDate)).Draw(t, "date")).String()
}

func drawMonth(t *rapid.T) any {
	return calendar.Month(rapid.Int32Range(int32(calendar.MinMonth), int32(calendar.MaxMonth)).Draw(t, "month")).String()
}

func drawInstant(t *rapid.T) any {
	first, last := calendar.MinDate.Time(), calendar.MaxDate.Time().Add(23*time.Hour)
	at := time.Unix(rapid.Int64Range(first.Unix(), last.Unix()-1).Draw(t, "second"), rapid.Int64Range(0, 999999999).Draw(t, "nanosecond"))
	return at.UTC().Format(time.RFC3339Nano)
}

// decimal draws a number of at most 18 digits within the range, as a string or a number.
func decimal(behind int, least, most int64) gen {
	return func(t *rapid.T) any {
		scale := rapid.IntRange(0, behind).Draw(t, "scale")
		factor := int64(1)
		for range scale {
			factor *= 10
		}
		low, high := max(least, -999999999999999999/factor), min(most, 999999999999999999/factor)
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
