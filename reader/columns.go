package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// A column of a stored entity is described once: what is selected, how its value is scanned, and the member of the
// row's type that it goes to. Lists of columns, scan targets and rows come from these descriptions.

// column is a column of the rows that Ts are made from.
type column[T any] interface {
	// expression is what is selected.
	expression() string
	// scan says where the driver puts the value. Where that isn't the place in row itself, done brings it there, else it
	// is nil.
	scan(row *T) (dest any, done func() error)
}

// columns are those of one statement, in its order.
type columns[T any] []column[T]

// String is the list behind SELECT.
func (c columns[T]) String() string {
	expressions := make([]string, len(c))
	for i, column := range c {
		expressions[i] = column.expression()
	}
	return strings.Join(expressions, ", ")
}

// read runs a statement that selects these columns, and hands every row to take. The row's memory is used again for the
// next one; what it points to is not.
func (c columns[T]) read(ctx context.Context, r *Reader, q Query, settings clickhouse.Settings,
	take func(row *T) error) error {
	var row, empty T
	dest, done := c.into(&row)
	return r.each(ctx, q, settings, func(scan func(...any) error) error {
		row = empty
		if err := scan(dest...); err != nil {
			return err
		}
		if err := done(); err != nil {
			return err
		}
		return take(&row)
	})
}

// into says where the values of the columns go, and what brings those that don't go to their place in row itself there.
func (c columns[T]) into(row *T) (dest []any, done func() error) {
	dest = make([]any, len(c))
	var finish []func() error
	for i, column := range c {
		var done func() error
		if dest[i], done = column.scan(row); done != nil {
			finish = append(finish, done)
		}
	}
	return dest, func() error {
		for _, done := range finish {
			if err := done(); err != nil {
				return err
			}
		}
		return nil
	}
}

// Member is a member of T that is a column of its table: who shows it knows by it what has to be read.
type Member[T, V any] struct {
	sql string
	as  scanner[V]
	at  func(row *T) *V
}

// scanner says how a column's value is scanned into a member: see column.
type scanner[V any] func(into *V) (dest any, done func() error)

// member describes a column by what is selected, how it is scanned, and where it goes.
func member[T, V any](sql string, as scanner[V], at func(row *T) *V) Member[T, V] {
	return Member[T, V]{sql, as, at}
}

// Get is the member's value.
func (m Member[T, V]) Get(row *T) V { return *m.at(row) }

// Part is what has to be read for the member.
func (m Member[T, V]) Part() Part[T] { return Part[T]{columns: columns[T]{m}} }

func (m Member[T, V]) expression() string              { return m.sql }
func (m Member[T, V]) scan(row *T) (any, func() error) { return m.as(m.at(row)) }

// plain is a value that the driver scans as it is.
func plain[V any](into *V) (any, func() error) { return into, nil }

// nullable is a column that may be null.
func nullable[V any](into *events.Opt[V]) (any, func() error) {
	scanned := new(*V)
	return scanned, func() error {
		if *into = (events.Opt[V]{}); *scanned != nil {
			*into = events.Some(**scanned)
		}
		return nil
	}
}

// optional is a column that is empty when there is no value.
func optional(into *events.Opt[string]) (any, func() error) {
	return &into.V, func() error {
		into.Ok = into.V != ""
		return nil
	}
}

// text is a plain column of a type that is a string.
func text[S ~string](into *S) (any, func() error) {
	scanned := new(string)
	return scanned, func() error {
		*into = S(*scanned)
		return nil
	}
}

// textOrNone is the value of a text that is empty when there is none.
func textOrNone(s string) events.Opt[string] { return events.Opt[string]{V: s, Ok: s != ""} }

// day is a nullable date, which travels as its number: toInt32(date).
func day(into *events.Opt[calendar.Date]) (any, func() error) {
	scanned := new(*int32)
	return scanned, func() error {
		if *into = (events.Opt[calendar.Date]{}); *scanned != nil {
			*into = events.Some(calendar.Date(**scanned))
		}
		return nil
	}
}

// date is a date that is always there, as its number: toInt32(date).
func date(into *calendar.Date) (any, func() error) {
	scanned := new(int32)
	return scanned, func() error {
		*into = calendar.Date(*scanned)
		return nil
	}
}

// number is a whole number of months.
func number(into *int) (any, func() error) {
	scanned := new(int64)
	return scanned, func() error {
		*into = int(*scanned)
		return nil
	}
}

// decimalOrZero is a decimal as a text, which is empty when there is none.
func decimalOrZero(into *events.Decimal) (any, func() error) {
	scanned := new(string)
	return scanned, func() (err error) {
		if *into = (events.Decimal{}); *scanned == "" {
			return nil
		}
		if *into, err = events.ParseDecimal(*scanned); err != nil {
			return fmt.Errorf("read a stored decimal: %w", err)
		}
		return nil
	}
}

// optionalDecimal is a decimal as a text that may be null.
func optionalDecimal(into *events.Opt[events.Decimal]) (any, func() error) {
	scanned := new(*string)
	return scanned, func() error {
		if *into = (events.Opt[events.Decimal]{}); *scanned == nil {
			return nil
		}
		d, err := events.ParseDecimal(**scanned)
		if err != nil {
			return fmt.Errorf("read a stored decimal: %w", err)
		}
		*into = events.Some(d)
		return nil
	}
}

// knownDay is a date that is never null, which travels as its number.
func knownDay(into *calendar.Date) (any, func() error) {
	scanned := new(int32)
	return scanned, func() error {
		*into = calendar.Date(*scanned)
		return nil
	}
}

// decimal is a decimal number as text.
func decimal(into *events.Decimal) (any, func() error) { return parsed(events.ParseDecimal)(into) }

// nullableDecimal is a decimal number as text, or null.
func nullableDecimal(into *events.Opt[events.Decimal]) (any, func() error) {
	scanned := new(*string)
	return scanned, func() (err error) {
		if *into = (events.Opt[events.Decimal]{}); *scanned != nil {
			into.Ok = true
			into.V, err = events.ParseDecimal(**scanned)
		}
		return err
	}
}

// countOrNone is a count that is 0 when there is none.
func countOrNone(into *events.Opt[int]) (any, func() error) {
	scanned := new(int64)
	return scanned, func() error {
		*into = events.Opt[int]{V: int(*scanned), Ok: *scanned != 0}
		return nil
	}
}

// month is a calendar month as YYYY-MM.
func month(into *calendar.Month) (any, func() error) {
	scanned := new(string)
	return scanned, func() (err error) {
		if *into, err = calendar.ParseMonth(*scanned); err != nil {
			return fmt.Errorf("read a stored month: %w", err)
		}
		return nil
	}
}

// optionalMonth is a calendar month as YYYY-MM, which is empty when there is none.
func optionalMonth(into *events.Opt[calendar.Month]) (any, func() error) {
	scanned := new(string)
	return scanned, func() error {
		if *into = (events.Opt[calendar.Month]{}); *scanned == "" {
			return nil
		}
		m, err := calendar.ParseMonth(*scanned)
		if err != nil {
			return fmt.Errorf("read a stored month: %w", err)
		}
		*into = events.Some(m)
		return nil
	}
}

// instant is an instant in microseconds: toUnixTimestamp64Micro(at). The driver's own conversion counts nanoseconds,
// which 64 bits hold only until 2262.
func instant(into *time.Time) (any, func() error) {
	scanned := new(int64)
	return scanned, func() error {
		*into = time.UnixMicro(*scanned).UTC()
		return nil
	}
}

// optionalInstant is a nullable instant.
func optionalInstant(into *events.Opt[time.Time]) (any, func() error) {
	scanned := new(*int64)
	return scanned, func() error {
		if *into = (events.Opt[time.Time]{}); *scanned != nil {
			*into = events.Some(time.UnixMicro(**scanned).UTC())
		}
		return nil
	}
}

// parsed is a text that parse understands.
func parsed[V any](parse func(text string) (V, error)) scanner[V] {
	return func(into *V) (any, func() error) {
		scanned := new(string)
		return scanned, func() (err error) {
			*into, err = parse(*scanned)
			return err
		}
	}
}

// element is a column of an array whose values are a member of each element of a list. All arrays of one list are of
// one length.
type element[T, E, S any] struct {
	sql  string
	list func(row *T) *[]E
	set  func(e *E, scanned S)
}

func elements[T, E, S any](sql string, list func(row *T) *[]E, set func(e *E, scanned S)) column[T] {
	return element[T, E, S]{sql, list, set}
}

func (c element[T, E, S]) expression() string { return c.sql }

func (c element[T, E, S]) scan(row *T) (any, func() error) {
	scanned := new([]S)
	return scanned, func() error {
		list := c.list(row)
		if *list == nil { // the first column of the list
			*list = make([]E, len(*scanned))
		}
		if len(*list) != len(*scanned) {
			return fmt.Errorf("%s has %d elements, another column of its list has %d", c.sql, len(*scanned), len(*list))
		}
		for i, value := range *scanned {
			c.set(&(*list)[i], value)
		}
		return nil
	}
}

// inside are the columns of a P for rows that hold one.
func inside[T, P any](at func(row *T) *P, of columns[P]) columns[T] {
	all := make(columns[T], len(of))
	for i, c := range of {
		all[i] = part[T, P]{c, at}
	}
	return all
}

type part[T, P any] struct {
	column[P]
	at func(row *T) *P
}

func (p part[T, P]) scan(row *T) (any, func() error) { return p.column.scan(p.at(row)) }

// Part is something of a T that can be read: columns of its table, and what is looked up elsewhere.
type Part[T any] struct {
	columns columns[T]
	lookups lookups
}

// lookups are things beside the rows of an entity that it is made with.
type lookups uint8

const (
	ownNames     lookups = 1 << iota // the contractors' own names
	bookedLines                      // the budget lines that a record is booked on
	derivedCodes                     // the accounting codes of those lines
	linkedSums                       // sums of the records that are linked to a contract
	miscoded                         // ids of linked records that are coded outside the contract's lines
)

// Parts are several parts together.
func Parts[T any](parts ...Part[T]) Part[T] {
	var all Part[T]
	for _, p := range parts {
		all.lookups |= p.lookups
		for _, c := range p.columns {
			if !slices.ContainsFunc(all.columns, func(other column[T]) bool { return other.expression() == c.expression() }) {
				all.columns = append(all.columns, c)
			}
		}
	}
	return all
}

// lookedUp is a part that takes something from elsewhere, beside what is made of the row's own columns.
func lookedUp[T any](lookups lookups, parts ...Part[T]) Part[T] {
	return Parts(append(parts, Part[T]{lookups: lookups})...)
}

func (p Part[T]) needs(l lookups) bool { return p.lookups&l != 0 }
