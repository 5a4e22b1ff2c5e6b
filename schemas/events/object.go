package events

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"tallyhouse/schemas/jsonschema"
	"tallyhouse/schemas/nearest"
)

// kind says of one sort of value how it is read from a message, how it is written into one, and what its JSON Schema
// is. Reading starts at the value's first byte, which is never that of null, and leaves a failure in the decoder.
type kind[V any] struct {
	read   func(d *decoder, v *V)
	write  func(b []byte, v *V) []byte
	schema *jsonschema.Schema
}

// named is k with its schema as a definition of its own.
func (k kind[V]) named(name, description string) kind[V] {
	schema := *k.schema
	schema.Description = description
	k.schema = jsonschema.Reference("#/$defs/", jsonschema.Definition{Name: name, Schema: &schema})
	return k
}

// member is one member of the JSON object that stands for a T.
type member[T any] struct {
	name     string
	opening  string // "name":
	required bool   // neither absent nor null
	read     func(d *decoder, t *T)
	has      func(t *T) bool // whether to write it; nil: always
	byValue  bool            // has asks the value, so what was given may not be written, and what was put in is
	write    func(b []byte, t *T) []byte
	only     *condition[T] // nil: every T can have the member

	schema      *jsonschema.Schema // nil: always refused
	description string
}

// need is a member that is always there.
func need[T, V any](name string, k kind[V], at func(*T) *V) member[T] {
	read, write := k.read, k.write
	return member[T]{
		name:     name,
		required: true,
		read:     func(d *decoder, t *T) { read(d, at(t)) },
		write:    func(b []byte, t *T) []byte { return write(b, at(t)) },
		schema:   k.schema,
	}
}

// may is a member that may be null or absent.
func may[T, V any](name string, k kind[V], at func(*T) *Opt[V]) member[T] {
	read, write := k.read, k.write
	return member[T]{
		name: name,
		read: func(d *decoder, t *T) {
			v := at(t)
			read(d, &v.V)
			v.Ok = true
		},
		has:    func(t *T) bool { return at(t).Ok },
		write:  func(b []byte, t *T) []byte { return write(b, &at(t).V) },
		schema: k.schema,
	}
}

// optional makes m a member that may be null or absent, where has reports by the T's value whether it is there.
func optional[T any](m member[T], has func(*T) bool) member[T] {
	m.required, m.has, m.byValue = false, has, true
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

// doc says what the member means, for the JSON Schema and docs/events.md.
func (m member[T]) doc(description string) member[T] {
	m.description = description
	return m
}

// condition selects the Ts that can have a member: those whose discriminator, a member that holds one of a closed list
// of strings, has one of these values.
type condition[T any] struct {
	discriminator string
	of            func(*T) string
	values        []string
}

func (c *condition[T]) holds(t *T) bool { return slices.Contains(c.values, c.of(t)) }

// String names the Ts: type fixed, types fixed and cpi.
func (c *condition[T]) String() string {
	if len(c.values) == 1 {
		return c.discriminator + " " + c.values[0]
	}
	return c.discriminator + "s " + strings.Join(c.values, " and ")
}

// when makes m a member of the Ts alone that c selects.
func when[T any](c condition[T], m member[T]) member[T] {
	m.only = &c
	return m
}

// object is the table of the members that a T has in JSON. Their order is the order of writing, and so part of every
// content hash: a new member goes to the end.
type object[T any] struct {
	name        string // of its schema
	description string
	members     []member[T]
	required    uint64                 // a bit for each required member that all Ts have
	byValue     uint64                 // a bit for each member that is written or not by its value
	partial     bool                   // some members belong to some Ts alone
	choice      bool                   // exactly one member is given
	ext         bool                   // a member ext of any content is taken and ignored
	check       func(d *decoder, t *T) // rules between members
}

func table[T any](name, description string, members ...member[T]) *object[T] {
	o := &object[T]{name: name, description: description, members: members}
	for i := range members {
		m := &members[i]
		m.opening = `"` + m.name + `":`
		switch {
		case m.only != nil:
			o.partial = true
		case m.required:
			o.required |= 1 << i
		}
		if m.byValue {
			o.byValue |= 1 << i
		}
	}
	return o
}

// and is a table of o's members and more behind them.
func (o *object[T]) and(name string, members ...member[T]) *object[T] {
	return table(name, o.description, slices.Concat(o.members, members)...)
}

// checked is the table with rules between members. They may put a value into an optional one, but never into one that may be
// null: see writes.
func (o *object[T]) checked(check func(d *decoder, t *T)) *object[T] {
	c := *o
	c.check = check
	return &c
}

// exactlyOne is the table where exactly one of the members is given.
func (o *object[T]) exactlyOne() *object[T] {
	c := *o
	c.choice = true
	return &c
}

// open is the table with a member ext.
func (o *object[T]) open() *object[T] {
	c := *o
	c.ext = true
	return &c
}

func (o *object[T]) kind() kind[T] {
	return kind[T]{o.read, o.write, o.schema()}.named(o.name, o.description)
}

func (o *object[T]) read(d *decoder, t *T) {
	if d.next() != '{' {
		d.wrongType("an object")
		return
	}
	d.at++
	var seen, given uint64 // a bit for each member that occurred, and for each that isn't null
	likely := 0
	for first := true; d.more('}', first); first = false {
		i := o.next(d, likely)
		if i < 0 {
			name := d.member()
			if d.err != nil {
				return
			}
			if i = o.find(name); i < 0 {
				o.other(d, name, &seen)
				continue
			}
		}
		if i < likely {
			d.asWritten = false // out of order
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
		default:
			d.asWritten = false // null is never written
			if d.literal("null") && m.required && m.only == nil {
				d.fail("is null, but required")
			}
		}
		seen |= bit
		if d.err != nil {
			d.err.within(m.name)
			return
		}
	}
	if d.err == nil {
		o.finish(d, t, seen, given)
	}
}

// finish checks what only shows when all members are read.
func (o *object[T]) finish(d *decoder, t *T, seen, given uint64) {
	if missing := o.required &^ seen; missing != 0 {
		d.failAt(o.members[bits.TrailingZeros64(missing)].name, "is missing")
		return
	}
	if o.partial && !o.conditionsHold(d, t, given) {
		return
	}
	if o.choice && bits.OnesCount64(given) != 1 {
		names := o.names()
		last := len(names) - 1
		d.fail("must have exactly one of %s and %s", strings.Join(names[:last], ", "), names[last])
		return
	}
	if o.check != nil {
		o.check(d, t)
	}
	if d.asWritten { // the check may have put in what was absent
		d.asWritten = o.writes(t, given)
	}
}

// writes reports whether these are the members that write writes: those that are given, but for what their values say.
func (o *object[T]) writes(t *T, given uint64) bool {
	for rest := o.byValue; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		if given&(1<<i) != 0 != o.members[i].isWritten(t) {
			return false
		}
	}
	return true
}

func (m *member[T]) isWritten(t *T) bool {
	return (m.has == nil || m.has(t)) && (m.only == nil || m.only.holds(t))
}

// conditionsHold checks that t has the members of its own condition and no others.
func (o *object[T]) conditionsHold(d *decoder, t *T, given uint64) bool {
	for i := range o.members {
		m := &o.members[i]
		if m.only == nil {
			continue
		}
		switch has, wanted := given&(1<<i) != 0, m.only.holds(t); {
		case has && !wanted:
			d.failAt(m.name, "has no place here: it belongs to %s alone", m.only)
			return false
		case !has && wanted && m.required:
			d.failAt(m.name, "is missing: it belongs to %s", m.only)
			return false
		}
	}
	return true
}

// next is the position of the member at hand, and steps over its name, where it is written as write does it and comes
// behind the last one: most are and do. Else it is -1.
func (o *object[T]) next(d *decoder, likely int) int {
	text := d.text[d.at:]
	if len(text) < 2 {
		return -1
	}
	for i := likely; i < len(o.members); i++ {
		// The first letter tells most of them apart.
		if opening := o.members[i].opening; opening[1] == text[1] && strings.HasPrefix(text, opening) {
			d.at += len(opening)
			d.space()
			return i
		}
	}
	return -1
}

// find is the position of a member in the table, -1 if it has none of this name.
func (o *object[T]) find(name string) int {
	for i := range o.members {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

func (o *object[T]) names() []string {
	names := make([]string, 0, len(o.members))
	for i := range o.members {
		names = append(names, o.members[i].name)
	}
	return names
}

const extBit = 1 << 63 // no object has so many members

// other reads a member that isn't in the table.
func (o *object[T]) other(d *decoder, name string, seen *uint64) {
	switch {
	case name == "ext" && o.ext && *seen&extBit != 0:
		d.failAt(name, "appears twice")
	case name == "ext" && o.ext:
		*seen |= extBit
		d.asWritten = false
		if d.skip(1); d.err != nil {
			d.err.within(name)
		}
	default:
		hint := ""
		if near := nearest.Of(name, o.names()); near != "" {
			hint = " (did you mean " + near + "?)"
		}
		d.failAt(plainName(name), "is not a member of %s%s", d.topic, hint)
	}
}

func (o *object[T]) write(b []byte, t *T) []byte {
	open := byte('{')
	for i := range o.members {
		m := &o.members[i]
		if !m.isWritten(t) {
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
			all, begin := many(d, vs)
			for first := true; d.more(']', first); first = false {
				var none V
				*all = append(*all, none)
				last := len(*all) - 1
				if k.read(d, &(*all)[last]); d.err != nil {
					d.err.within("[" + strconv.Itoa(last-begin) + "]")
				}
			}
			if len(*all) > begin {
				*vs = (*all)[begin:len(*all):len(*all)]
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
		schema: &jsonschema.Schema{Type: "array", Items: k.schema},
	}
}

// some is k without the empty array.
func some[V any](k kind[[]V]) kind[[]V] {
	schema := *k.schema
	schema.MinItems = jsonschema.Number(1)
	return kind[[]V]{
		read: func(d *decoder, vs *[]V) {
			if k.read(d, vs); d.err == nil && len(*vs) == 0 {
				d.fail("must not be empty")
			}
		},
		write:  k.write,
		schema: &schema,
	}
}
