package reader

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
)

// Thousands of rows travel and are taken apart several times faster as one text in ClickHouse's format RowBinary than as a column
// for each value: the driver scans value by value, and arrays by reflection.

// rowOf is the expression of a row of values as a text.
func rowOf(values ...string) string {
	return "formatRow('RowBinary', " + strings.Join(values, ", ") + ")"
}

// allOf is the expression of all rows of a group, or of a statement, as one text.
func allOf(row string) string { return "arrayStringConcat(groupArray(" + row + "))" }

// rows is what follows SELECT in a statement whose rows readRows reads.
func (c columns[T]) rows() string { return allOf(rowOf(c.String())) }

// readRows is read for a statement that selects the rows of these columns as texts.
func (c columns[T]) readRows(ctx context.Context, r *Reader, q Query, settings clickhouse.Settings,
	take func(row *T, behind int) error) error {
	return r.each(ctx, q, settings, func(scan func(...any) error) error {
		var rows string
		if err := scan(&rows); err != nil {
			return err
		}
		return c.takeRows(rows, take)
	})
}

// takeRows hands every row of a text to take, as read does, and says about how many come behind it. Their texts are parts of
// that one.
func (c columns[T]) takeRows(text string, take func(row *T, behind int) error) error {
	var row, empty T
	dest, done := c.into(&row)
	for rows := (rowBinary{text}); rows.left != ""; {
		row = empty
		size := len(rows.left)
		if err := rows.scan(dest...); err != nil {
			return err
		}
		if err := done(); err != nil {
			return err
		}
		if err := take(&row, rows.behind(size)); err != nil {
			return err
		}
	}
	return nil
}

var errRowBinary = errors.New("rows in RowBinary end within a value")

// rowBinary is what is left of a text of rows.
type rowBinary struct{ left string }

// behind is about how many rows are left, if they are as long as the one that has been read since so much was left.
func (r *rowBinary) behind(before int) int { return len(r.left) / (before - len(r.left)) }

// scan reads the next values to where the driver would scan them.
func (r *rowBinary) scan(dest ...any) error {
	for _, d := range dest {
		if err := r.value(d); err != nil {
			return err
		}
	}
	return nil
}

func (r *rowBinary) value(dest any) (err error) {
	switch v := dest.(type) {
	case *string:
		*v, err = r.text()
	case *analytics.Int128:
		*v, err = r.int128()
	case *int64:
		*v, err = word[int64](r)
	case *uint64:
		*v, err = word[uint64](r)
	case *int32:
		*v, err = r.int32()
	case *bool:
		*v, err = r.flag()
	case **string:
		err = nullOr(r, v, r.text)
	case **int32:
		err = nullOr(r, v, r.int32)
	case **int64:
		err = nullOr(r, v, func() (int64, error) { return word[int64](r) })
	case *[]string:
		err = array(r, v, r.text)
	case *[]*string:
		err = array(r, v, maybe(r, r.text))
	case *[]*int32:
		err = array(r, v, maybe(r, r.int32))
	case *[]int32:
		err = array(r, v, r.int32)
	case *[]int64:
		err = array(r, v, func() (int64, error) { return word[int64](r) })
	case *[]analytics.Int128:
		err = array(r, v, r.int128)
	case *[]bool:
		err = array(r, v, r.flag)
	default:
		return fmt.Errorf("nobody reads a %T from RowBinary", dest)
	}
	return err
}

// take reads so many bytes.
func (r *rowBinary) take(bytes uint64) (string, error) {
	if bytes > uint64(len(r.left)) {
		return "", errRowBinary
	}
	taken := r.left[:bytes]
	r.left = r.left[bytes:]
	return taken, nil
}

// length reads a length: seven bits a byte, the least first, as long as the eighth is set.
func (r *rowBinary) length() (n uint64, err error) {
	for i := 0; i < len(r.left) && i < 9; i++ {
		b := r.left[i]
		if n |= uint64(b&0x7f) << (7 * i); b < 0x80 {
			r.left = r.left[i+1:]
			return n, nil
		}
	}
	return 0, errRowBinary
}

// fixed reads an array of values that take so many bytes each, as the text of all of them.
func (r *rowBinary) fixed(size int) (string, error) {
	n, err := r.length()
	if err != nil || n > uint64(len(r.left)/size) {
		return "", errRowBinary
	}
	return r.take(n * uint64(size))
}

func (r *rowBinary) text() (string, error) {
	n, err := r.length()
	if err != nil {
		return "", err
	}
	return r.take(n)
}

func (r *rowBinary) flag() (bool, error) {
	b, err := r.take(1)
	return b == "\x01", err
}

func (r *rowBinary) int128() (n analytics.Int128, err error) {
	bytes, err := r.take(sumSize)
	if err != nil {
		return n, err
	}
	return int128(bytes), nil
}

// int128s reads as many sums as there are places for them. In thousands of rows to ask each place for its type, as scan does, takes
// longer than to read it.
func (r *rowBinary) int128s(into ...*analytics.Int128) error {
	bytes, err := r.take(uint64(len(into)) * sumSize)
	if err != nil {
		return err
	}
	return unpack(bytes, into...)
}

// word reads an integer of eight bytes.
func word[V int64 | uint64](r *rowBinary) (V, error) {
	bytes, err := r.take(8)
	if err != nil {
		return 0, err
	}
	return V(littleEndian(bytes)), nil
}

func (r *rowBinary) int32() (int32, error) {
	bytes, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return int32(binary.LittleEndian.Uint32([]byte(bytes))), nil
}

// nullOr reads a value that may be null.
func nullOr[V any](r *rowBinary, into **V, read func() (V, error)) error {
	*into = nil
	null, err := r.flag()
	if err != nil || null {
		return err
	}
	value, err := read()
	*into = &value
	return err
}

// maybe reads values that may be null.
func maybe[V any](r *rowBinary, read func() (V, error)) func() (*V, error) {
	return func() (value *V, err error) {
		err = nullOr(r, &value, read)
		return value, err
	}
}

// array reads an array. Each of its values takes at least a byte.
func array[V any](r *rowBinary, into *[]V, read func() (V, error)) error {
	n, err := r.length()
	if err != nil || n > uint64(len(r.left)) {
		return errRowBinary
	}
	values := make([]V, n)
	for i := range values {
		if values[i], err = read(); err != nil {
			return err
		}
	}
	*into = values
	return nil
}
