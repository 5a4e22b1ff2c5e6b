package events

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/jsonschema"
	"tallyhouse/schemas/jsontext"
)

// The kinds of values that payloads are made of; docs/events.md#values explains them to those who send events.
var (
	text    = kind[string]{read: readText, write: writeText, schema: &jsonschema.Schema{Type: "string"}}
	boolean = kind[bool]{read: readBool, write: writeBool, schema: &jsonschema.Schema{Type: "boolean"}}

	id       = without(chars(1, MaxIDLength), zero).named("id", "1 to 200 characters, none of them U+0000")
	currency = kind[string]{
		read: readCurrency, write: writeText,
		schema: &jsonschema.Schema{Type: "string", Pattern: "^[A-Z]{3}$"},
	}.named("currency", "three capital letters (ISO 4217)")
	minor = integer(-MaxAmount, MaxAmount).named("minorUnits", "money in the smallest unit of the entity's currency: "+
		"a whole number in plain digits, -9007199254740991 to 9007199254740991; no `1e3`, no `10.0`")
	amount = table("amount", "money with its currency, `{\"value\": 1999, \"currency\": \"EUR\"}`: "+
		"exactly these two members, the value in minor units",
		need("value", minor, func(a *Amount) *int64 { return &a.Value }),
		need("currency", currency, func(a *Amount) *string { return &a.Currency }),
	).kind()

	date = kind[calendar.Date]{
		read:  readDate,
		write: func(b []byte, v *calendar.Date) []byte { return append(v.Append(append(b, '"')), '"') },
		schema: &jsonschema.Schema{Type: "string", Format: "date",
			Pattern: "^(19|2[0-2])[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"},
	}.named("date", "`YYYY-MM-DD` as in Vienna, 1900-01-01 to 2299-12-31")
	month = kind[calendar.Month]{
		read:   readMonth,
		write:  func(b []byte, v *calendar.Month) []byte { return append(v.Append(append(b, '"')), '"') },
		schema: &jsonschema.Schema{Type: "string", Pattern: "^(19|2[0-2])[0-9]{2}-(0[1-9]|1[0-2])$"},
	}.named("month", "`YYYY-MM`, 1900-01 to 2299-12")
	instant = kind[time.Time]{
		read:  readInstant,
		write: writeInstant,
		schema: &jsonschema.Schema{Type: "string", Format: "date-time",
			Pattern: "^(19|2[0-2])[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])" +
				`T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z$`,
			Not: &jsonschema.Schema{Pattern: "^" + lastHour}},
	}.named("instant", "`2026-03-01T10:15:00Z`: UTC with a capital Z, at most nine digits after the second, "+
		"and a day in Vienna that is in the range of dates")
	months = numberOfMonths(1).named("months", "a whole number of months, 1 to 4800")

	decimal = decimals(MaxDecimals).named("decimal", "a decimal number as a string (`\"187.5\"`) or a number; "+
		"at most 18 digits, at most 17 of them after the point, as written")
	unsignedDecimal = unsigned(decimal).named("unsignedDecimal", "a decimal, not below 0")
	positiveDecimal = positive(decimal).named("positiveDecimal", "a decimal, above 0")
	basisBp         = decimals(3).named("basisPoints",
		"hundredths of a percent: a decimal with at most 3 digits after the point")
	probabilityBp = probability(basisBp).named("probability", "basis points, 0 to 10000")

	sha256Hex = kind[string]{
		read: readSHA256, write: writeText,
		schema: &jsonschema.Schema{Type: "string", Pattern: "^[0-9a-fA-F]{64}$"},
	}.named("sha256", "64 hexadecimal digits, upper or lower case")
)

func readText(d *decoder, v *string) { *v = d.str() }

func writeText(b []byte, v *string) []byte { return jsontext.AppendString(b, *v) }

// chars is a string of least to most characters.
func chars(least, most int) kind[string] {
	schema := &jsonschema.Schema{Type: "string", MaxLength: &most}
	if least > 0 {
		schema.MinLength = &least
	}
	return kind[string]{schema: schema, write: writeText, read: func(d *decoder, v *string) {
		*v = d.str()
		if n := len(*v); least <= 1 && n >= least && n <= most {
			return // no more characters than bytes
		}
		if n := utf8.RuneCountInString(*v); d.err == nil && (n < least || n > most) {
			d.fail("must have %d to %d characters, not %d", least, most, n)
		}
	}}
}

// barred is a character that some strings may not contain; called names it.
type barred struct{ character, called string }

var (
	zero  = barred{"\x00", "the character U+0000"} // it stands between the keys of sums
	slash = barred{"/", "a slash"}                 // it stands between tenant and id in a message's key
)

// refuse fails for a string that contains the character.
func (b barred) refuse(d *decoder, v string) {
	if strings.Contains(v, b.character) {
		d.fail("must not contain %s, but is %s", b.called, quoted(v))
	}
}

// allBut is the pattern of strings that contain none of these characters.
func allBut(none ...barred) string {
	pattern := "^[^"
	for _, b := range none {
		pattern += b.character
	}
	return pattern + "]*$"
}

// without is k without the strings that contain one of these characters.
func without(k kind[string], none ...barred) kind[string] {
	schema := *k.schema
	schema.Pattern = allBut(none...)
	return kind[string]{schema: &schema, write: k.write, read: func(d *decoder, v *string) {
		k.read(d, v)
		for _, b := range none {
			b.refuse(d, *v)
		}
	}}
}

// enum is a closed list of strings.
func enum(values ...string) kind[string] {
	schema := &jsonschema.Schema{Enum: values}
	return kind[string]{schema: schema, write: writeText, read: func(d *decoder, v *string) {
		s := d.str()
		for _, known := range values {
			if s == known {
				*v = known
				return
			}
		}
		d.fail("must be one of %s, not %s", strings.Join(values, ", "), quoted(s))
	}}
}

const longestExtensible = 100 // characters of an unknown value of an extensible enum

// extensible is an enum whose list may grow: any other non-empty string is taken as delivered.
func extensible(values ...string) kind[string] {
	schema := &jsonschema.Schema{
		Type: "string", KnownValues: values, MinLength: jsonschema.Number(1), MaxLength: jsonschema.Number(longestExtensible),
		Pattern: allBut(zero),
	}
	return kind[string]{schema: schema, write: writeText, read: func(d *decoder, v *string) {
		s := d.str()
		for _, known := range values {
			if s == known {
				*v = known
				return
			}
		}
		if n := utf8.RuneCountInString(s); d.err == nil && (n < 1 || n > longestExtensible) {
			d.fail("must have 1 to %d characters, not %d (known values: %s)", longestExtensible, n, strings.Join(values, ", "))
		}
		zero.refuse(d, s)
		*v = s
	}}
}

func readCurrency(d *decoder, v *string) {
	s := d.str()
	if d.err != nil {
		return
	}
	if len(s) != 3 || !upper(s[0]) || !upper(s[1]) || !upper(s[2]) {
		d.fail("must be a currency of three capital letters (ISO 4217), not %s", quoted(s))
		return
	}
	*v = s
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

func readBool(d *decoder, v *bool) {
	switch d.next() {
	case 't':
		*v = d.literal("true")
	case 'f':
		d.literal("false")
	default:
		d.wrongType("true or false")
	}
}

func writeBool(b []byte, v *bool) []byte { return strconv.AppendBool(b, *v) }

// integer is a whole number of a range, written in digits alone: 1e3 and 1.0 come from programs that keep money in
// floats.
func integer(least, most int64) kind[int64] {
	return kind[int64]{
		read:   func(d *decoder, v *int64) { *v = d.integer(least, most) },
		write:  func(b []byte, v *int64) []byte { return strconv.AppendInt(b, *v, 10) },
		schema: &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: &most},
	}
}

// numberOfMonths is at most as many as the ledger's whole range of dates has.
func numberOfMonths(least int64) kind[int] {
	return kind[int]{
		read:   func(d *decoder, v *int) { *v = int(d.integer(least, maxMonths)) },
		write:  func(b []byte, v *int) []byte { return strconv.AppendInt(b, int64(*v), 10) },
		schema: &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: jsonschema.Number(int64(maxMonths))},
	}
}

func (d *decoder) integer(least, most int64) (n int64) {
	if c := d.next(); c != '-' && (c < '0' || c > '9') {
		d.wrongType("a whole number")
		return 0
	}
	s := d.number()
	if d.err != nil {
		return 0
	}
	digits := strings.TrimPrefix(s, "-")
	for i := range len(digits) {
		c := digits[i] - '0'
		if c > 9 {
			d.fail("must be a whole number in plain digits, not %s", clip(s))
			return 0
		}
		if n <= MaxAmount { // more digits leave it above every range
			n = n*10 + int64(c)
		}
	}
	if len(digits) < len(s) {
		n = -n
		d.asWritten = d.asWritten && n != 0
	}
	if n < least || n > most {
		d.fail("must lie in %d..%d, not %s", least, most, clip(s))
	}
	return n
}

func readDate(d *decoder, v *calendar.Date) {
	s := d.str()
	if d.err != nil {
		return
	}
	var err error
	if *v, err = calendar.ParseDate(s); err != nil {
		d.fail("must be a date YYYY-MM-DD in %s..%s, not %s", calendar.MinDate, calendar.MaxDate, quoted(s))
	}
}

func readMonth(d *decoder, v *calendar.Month) {
	s := d.str()
	if d.err != nil {
		return
	}
	var err error
	if *v, err = calendar.ParseMonth(s); err != nil {
		d.fail("must be a month YYYY-MM in %s..%s, not %s", calendar.MinMonth, calendar.MaxMonth, quoted(s))
	}
}

func readInstant(d *decoder, v *time.Time) {
	s := d.str()
	if d.err != nil {
		return
	}
	t, ok := parseInstant(s)
	if !ok {
		d.fail("must be an instant in UTC like 2026-03-01T10:15:00Z, whose day in Vienna lies in %s..%s, not %s",
			calendar.MinDate, calendar.MaxDate, quoted(s))
	} else if len(s) > len("2026-03-01T10:15:00Z") && s[len(s)-2] == '0' {
		d.asWritten = false // fractions are written without zeros behind
	}
	*v = t
}

// lastHour is refused as an instant: in Vienna it belongs to a date outside the ledger's range.
const lastHour = "2299-12-31T23"

// parseInstant reads YYYY-MM-DDTHH:MM:SS[.fraction of up to nine digits]Z.
func parseInstant(s string) (t time.Time, ok bool) {
	if len(s) < 20 || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[len(s)-1] != 'Z' || s[:13] == lastHour {
		return t, false
	}
	day, err := calendar.ParseDate(s[:10])
	hour, ok1 := twoDigits(s[11:])
	minute, ok2 := twoDigits(s[14:])
	second, ok3 := twoDigits(s[17:])
	if err != nil || !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	nanos := int64(0)
	if fraction := s[19 : len(s)-1]; fraction != "" {
		if fraction[0] != '.' || len(fraction) < 2 || len(fraction) > 10 {
			return t, false
		}
		for i := 1; i < 10; i++ {
			digit := int64(0)
			if i < len(fraction) {
				if fraction[i] < '0' || fraction[i] > '9' {
					return t, false
				}
				digit = int64(fraction[i] - '0')
			}
			nanos = nanos*10 + digit
		}
	}
	return time.Unix(int64(day)*86400+int64(hour*3600+minute*60+second), nanos).UTC(), true
}

func twoDigits(s string) (n int, ok bool) {
	a, b := s[0]-'0', s[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

func readSHA256(d *decoder, v *string) {
	s := d.str()
	if d.err != nil {
		return
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			d.fail("must be 64 hexadecimal digits, but has %q at position %d", c, i)
			return
		}
	}
	if len(s) != 64 {
		d.fail("must be 64 hexadecimal digits, not %d", len(s))
	}
	*v = strings.ToLower(s)
	d.asWritten = d.asWritten && *v == s
}

func writeInstant(b []byte, v *time.Time) []byte {
	return append(v.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}
