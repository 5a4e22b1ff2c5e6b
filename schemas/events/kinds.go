package events

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/jsontext"
)

// The kinds of values that payloads are made of.
var (
	text      = kind[string]{readText, writeText}
	id        = chars(1, MaxIDLength)
	currency  = kind[string]{readCurrency, writeText}
	boolean   = kind[bool]{readBool, func(b []byte, v *bool) []byte { return strconv.AppendBool(b, *v) }}
	minor     = integer(-MaxAmount, MaxAmount)
	amount    = amountObject.kind()
	date      = kind[calendar.Date]{readDate, func(b []byte, v *calendar.Date) []byte { return append(v.Append(append(b, '"')), '"') }}
	month     = kind[calendar.Month]{readMonth, func(b []byte, v *calendar.Month) []byte { return append(v.Append(append(b, '"')), '"') }}
	instant   = kind[time.Time]{readInstant, writeInstant}
	decimal   = decimals(MaxDecimals)
	basisBp   = decimals(3)
	sha256Hex = kind[string]{readSHA256, writeText}
)

var amountObject = table(
	need("value", minor, func(a *Amount) *int64 { return &a.Value }),
	need("currency", currency, func(a *Amount) *string { return &a.Currency }),
)

func readText(d *decoder, v *string) { *v = d.str() }

// chars is a string of min to max characters.
func chars(least, most int) kind[string] {
	return kind[string]{write: writeText, read: func(d *decoder, v *string) {
		*v = d.str()
		if n := utf8.RuneCountInString(*v); d.err == nil && (n < least || n > most) {
			d.fail("must have %d to %d characters, not %d", least, most, n)
		}
	}}
}

// enum is a closed list of strings.
func enum(values ...string) kind[string] {
	return kind[string]{write: writeText, read: func(d *decoder, v *string) {
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
	return kind[string]{write: writeText, read: func(d *decoder, v *string) {
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

// integer is a whole number of a range, written in digits alone: 1e3 and 1.0 come from programs that keep money in floats.
func integer(least, most int64) kind[int64] {
	return kind[int64]{
		read: func(d *decoder, v *int64) { *v = d.integer(least, most) },
		write: func(b []byte, v *int64) []byte {
			return strconv.AppendInt(b, *v, 10)
		},
	}
}

// months is a number of months, at most those of the ledger's whole range.
func months(least int64) kind[int] {
	return kind[int]{
		read:  func(d *decoder, v *int) { *v = int(d.integer(least, MaxMonths)) },
		write: func(b []byte, v *int) []byte { return strconv.AppendInt(b, int64(*v), 10) },
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
	}
	*v = t
}

// parseInstant reads YYYY-MM-DDTHH:MM:SS[.fraction of up to nine digits]Z. The last hour of the last day is refused: in Vienna it belongs to a
// date outside the ledger's range.
func parseInstant(s string) (t time.Time, ok bool) {
	const lastHour = "2299-12-31T23"
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

// decimals is a decimal number, as a string or a number, with so many digits behind the point.
func decimals(behind int) kind[Decimal] {
	return kind[Decimal]{
		read: func(d *decoder, v *Decimal) {
			var s string
			switch c := d.next(); {
			case c == '"':
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
			if *v, ok = parseDecimal(s, behind); !ok {
				d.fail("must be a decimal number of at most %d digits, %d of them behind the point, not %s", MaxDecimals, behind, quoted(s))
			}
		},
		write: func(b []byte, v *Decimal) []byte { return append(v.Append(append(b, '"')), '"') },
	}
}

// within limits a decimal to a range of whole numbers.
func within(k kind[Decimal], least, most int64) kind[Decimal] {
	read := k.read
	k.read = func(d *decoder, v *Decimal) {
		if read(d, v); d.err == nil && (v.less(least) || Decimal{-v.Units, v.Scale}.less(-most)) {
			d.fail("must lie in %d..%d, not %s", least, most, v)
		}
	}
	return k
}

// from limits a decimal to zero and above, or to what is above zero.
func from(k kind[Decimal], above bool) kind[Decimal] {
	read := k.read
	k.read = func(d *decoder, v *Decimal) {
		switch read(d, v); {
		case d.err != nil:
		case above && v.Units <= 0:
			d.fail("must be above 0, not %s", v)
		case v.Units < 0:
			d.fail("must not be below 0, but is %s", v)
		}
	}
	return k
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
}

func writeInstant(b []byte, v *time.Time) []byte {
	return append(v.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

func writeText(b []byte, v *string) []byte { return jsontext.AppendString(b, *v) }
