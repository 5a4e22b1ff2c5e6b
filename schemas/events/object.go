package events

import (
	"math/bits"
	"slices"
	"strconv"
)

// kind is how one sort of value is read from a message and written into one. Reading starts at the value's first byte, which is
// never null's, and leaves its failure in the decoder.
type kind[V any] struct {
	read  func(d *decoder, v *V)
	write func(b []byte, v *V) []byte
}

// member is one member of the JSON object that stands for a T.
type member[T any] struct {
	name     string
	opening  string // "name":
	required bool   // neither absent nor null
	read     func(d *decoder, t *T)
	has      func(t *T) bool // whether to write it; nil: always
	write    func(b []byte, t *T) []byte

	belongs func(t *T) bool // whether a T can have the member; nil: all can
	where   string          // names the Ts that can
}

// need is a member that is always there.
func need[T, V any](name string, k kind[V], at func(*T) *V) member[T] {
	return member[T]{
		name:     name,
		required: true,
		read:     func(d *decoder, t *T) { k.read(d, at(t)) },
		write:    func(b []byte, t *T) []byte { return k.write(b, at(t)) },
	}
}

// may is a member that may be null or absent.
func may[T, V any](name string, k kind[V], at func(*T) *Opt[V]) member[T] {
	return member[T]{
		name: name,
		read: func(d *decoder, t *T) {
			v := at(t)
			k.read(d, &v.V)
			v.Ok = true
		},
		has:   func(t *T) bool { return at(t).Ok },
		write: func(b []byte, t *T) []byte { return k.write(b, &at(t).V) },
	}
}

// optional makes m one that may be null or absent, for a V whose zero value says that it isn't there.
func optional[T any](m member[T], has func(*T) bool) member[T] {
	m.required, m.has = false, has
	return m
}

// only makes m a member of some Ts alone; where names them.
func only[T any](where string, belongs func(*T) bool, m member[T]) member[T] {
	m.where, m.belongs = where, belongs
	return m
}

// never is a member that is refused with a reason of its own.
func never[T any](name, rule string) member[T] {
	return member[T]{
		name: name,
		read: func(d *decoder, _ *T) { d.fail("%s", rule) },
		has:  func(*T) bool { return false },
	}
}

// object is the table of the members that a T has in JSON. The order is that of writing, and of ContentHash: new members go to
// the end.
type object[T any] struct {
	members  []member[T]
	required uint64 // a bit for each required member that all Ts have
	partial  bool   // some members belong to some Ts alone
	ext      bool   // a member ext of any content is taken and ignored
	// check holds rules between members; given has a bit for each member that is there and not null.
	check func(d *decoder, t *T, given uint64)
}

func table[T any](members ...member[T]) *object[T] {
	o := &object[T]{members: members}
	for i := range members {
		m := &members[i]
		m.opening = `"` + m.name + `":`
		switch {
		case m.belongs != nil:
			o.partial = true
		case m.required:
			o.required |= 1 << i
		}
	}
	return o
}

// and is the table with more members at the end.
func (o *object[T]) and(members ...member[T]) *object[T] {
	return table(slices.Concat(o.members, members)...)
}

// checked is the table with a check.
func (o *object[T]) checked(check func(d *decoder, t *T, given uint64)) *object[T] {
	c := *o
	c.check = check
	return &c
}

// open is the table with a member ext.
func (o *object[T]) open() *object[T] {
	c := *o
	c.ext = true
	return &c
}

func (o *object[T]) kind() kind[T] { return kind[T]{o.read, o.write} }

func (o *object[T]) read(d *decoder, t *T) {
	if d.next() != '{' {
		d.wrongType("an object")
		return
	}
	d.at++
	var seen, given uint64
	likely := 0
	for first := true; d.more('}', first); first = false {
		name := d.member()
		if d.err != nil {
			return
		}
		i := o.find(name, likely)
		if i < 0 {
			o.other(d, name, &seen)
			continue
		}
		likely = i + 1
		bit := uint64(1) << i
		m := &o.members[i]
		switch {
		case seen&bit != 0:
			d.fail("appears twice")
		case d.next() != 'n':
			m.read(d, t)
			given |= bit
		case !d.literal("null"):
		case m.required && m.belongs == nil:
			d.fail("is null, but required")
		}
		seen |= bit
		if d.err != nil {
			d.err.within(name)
			return
		}
	}
	if d.err != nil {
		return
	}
	if missing := o.required &^ seen; missing != 0 {
		d.failAt(o.members[bits.TrailingZeros64(missing)].name, "is missing")
		return
	}
	if o.partial && !o.belong(d, t, given) {
		return
	}
	if o.check != nil {
		o.check(d, t, given)
	}
}

// belong holds the members that some Ts alone have to this t.
func (o *object[T]) belong(d *decoder, t *T, given uint64) bool {
	for i := range o.members {
		m := &o.members[i]
		if m.belongs == nil {
			continue
		}
		switch has, wanted := given&(1<<i) != 0, m.belongs(t); {
		case has && !wanted:
			d.failAt(m.name, "has no place here: it belongs to %s alone", m.where)
			return false
		case !has && wanted && m.required:
			d.failAt(m.name, "is missing: it belongs to %s", m.where)
			return false
		}
	}
	return true
}

// find is the position of a member in the table. Members mostly come in one order, so the likely place is tried first.
func (o *object[T]) find(name string, likely int) int {
	if likely < len(o.members) && o.members[likely].name == name {
		return likely
	}
	for i := range o.members {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

const extBit = 1 << 63 // no object has so many members

// other reads a member that isn't in the table.
func (o *object[T]) other(d *decoder, name string, seen *uint64) {
	switch {
	case name == "ext" && o.ext && *seen&extBit != 0:
		d.failAt(name, "appears twice")
	case name == "ext" && o.ext:
		*seen |= extBit
		if d.skip(1); d.err != nil {
			d.err.within(name)
		}
	default:
		known := make([]string, 0, len(o.members))
		for _, m := range o.members {
			known = append(known, m.name)
		}
		hint := ""
		if near := nearest(name, known); near != "" {
			hint = " (did you mean " + near + "?)"
		}
		d.failAt(plainName(name), "is not a member of %s%s", d.topic, hint)
	}
}

func (o *object[T]) write(b []byte, t *T) []byte {
	open := byte('{')
	for i := range o.members {
		m := &o.members[i]
		if m.has != nil && !m.has(t) || m.belongs != nil && !m.belongs(t) {
			continue
		}
		b = append(append(b, open), m.opening...)
		b = m.write(b, t)
		open = ','
	}
	if open == '{' {
		b = append(b, open)
	}
	return append(b, '}')
}

// list is an array of Vs. An empty one is read as nil.
func list[V any](k kind[V]) kind[[]V] {
	return kind[[]V]{
		read: func(d *decoder, vs *[]V) {
			if d.next() != '[' {
				d.wrongType("an array")
				return
			}
			d.at++
			for first := true; d.more(']', first); first = false {
				var none V
				*vs = append(*vs, none)
				last := len(*vs) - 1
				if k.read(d, &(*vs)[last]); d.err != nil {
					d.err.within("[" + strconv.Itoa(last) + "]")
				}
			}
		},
		write: func(b []byte, vs *[]V) []byte {
			b = append(b, '[')
			for i := range *vs {
				if i > 0 {
					b = append(b, ',')
				}
				b = k.write(b, &(*vs)[i])
			}
			return append(b, ']')
		},
	}
}

// some is k without the empty array.
func some[V any](k kind[[]V]) kind[[]V] {
	read := k.read
	k.read = func(d *decoder, vs *[]V) {
		if read(d, vs); d.err == nil && len(*vs) == 0 {
			d.fail("must not be empty")
		}
	}
	return k
}
