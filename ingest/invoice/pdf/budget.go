package pdf

import (
	"context"
	"errors"
)

// ErrBudget is returned when a file asks for more work than its limits allow.
var ErrBudget = errors.New("pdf needs more work than its limits allow")

// Budget bounds the work spent on one file: unpacked bytes and operations.
type Budget struct {
	bytes      int64
	operations int64
	checked    int64
	err        error
}

// NewBudget allows bytes unpacked in all and operations (objects, glyphs and
// content operators together).
func NewBudget(bytes, operations int64) *Budget {
	return &Budget{bytes: bytes, operations: operations, checked: checkEvery}
}

// checkEvery is the number of operations between two looks at the clock.
const checkEvery = 512

// Spend takes n operations and reports whether any are left; it also ends the
// work when ctx is done.
func (b *Budget) Spend(ctx context.Context, n int64) error {
	if b.err != nil {
		return b.err
	}
	b.operations -= n
	if b.operations < 0 {
		b.err = ErrBudget
		return b.err
	}
	if b.checked += n; b.checked >= checkEvery {
		b.checked = 0
		if err := ctx.Err(); err != nil {
			b.err = err
			return b.err
		}
	}
	return nil
}

// Err returns why the budget is used up, nil while it is not.
func (b *Budget) Err() error { return b.err }

func (b *Budget) unpacked(n int64) error {
	if b.err != nil {
		return b.err
	}
	if b.bytes -= n; b.bytes < 0 {
		b.err = ErrBudget
	}
	return b.err
}
