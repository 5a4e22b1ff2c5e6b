package analytics

// childNeeds is what the children of a line hand up to it when the
// amounts still to be contracted are worked out (docs/calculations.md#uncommitted).
type childNeeds struct {
	entered   Int128 // uncommitted of the children, without its defaulted part
	defaulted Int128 // the defaulted part
	beyond    Int128 // what the children need beyond their own budgets
	touched   bool   // a value was entered on one of them or below
}

// uncommitted is what is still to be contracted on a line with all below it.
type uncommitted struct {
	total     Int128
	defaulted Int128 // the part that nobody entered and a contract above may use up
	touched   bool
}

// uncommittedOf applies the general rule to a line whose children are done. free
// is the line's own budget less its own commitments; entry is the value entered
// on it, if any, which counts for everything below as well.
func uncommittedOf(entry *Int128, free Int128, children childNeeds) uncommitted {
	if entry != nil {
		return uncommitted{total: *entry, touched: true}
	}
	var defaulted Int128
	if free.Sign() >= 0 {
		defaulted = children.defaulted.Add(free.Sub(children.beyond).OrZero())
	} else {
		defaulted = children.defaulted.Add(free).OrZero()
	}
	return uncommitted{
		total:     children.entered.Add(defaulted),
		defaulted: defaulted,
		touched:   children.touched,
	}
}

// add counts a finished child in.
func (n *childNeeds) add(u uncommitted, budget, committed Int128) {
	n.entered = n.entered.Add(u.total.Sub(u.defaulted))
	n.defaulted = n.defaulted.Add(u.defaulted)
	n.beyond = n.beyond.Add(committed.Add(u.total).Sub(budget).OrZero())
	n.touched = n.touched || u.touched
}
