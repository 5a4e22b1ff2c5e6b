// Package resource describes the things that the API shows. A Table lists the members of one resource: name, field
// group, type and how its value is written. From it come the JSON, the schema in the OpenAPI document, the columns that
// a query reads, and the names that the parameter `fields` takes, so that these cannot disagree.
package resource

import (
	"fmt"
	"math/bits"
	"slices"

	"tallyhouse/api/access"
	"tallyhouse/reader"
	"tallyhouse/schemas/jsontext"
)

// Field is one member of a resource made from a T.
type Field[T any] struct {
	Name        string
	Groups      access.Groups  // all of them are needed to see it
	Required    bool           // present whenever it may be seen
	Reads       reader.Part[T] // what a query must read for it, beside what its Value reads
	Value       Value[T]
	Description string
}

// Mask is a set of fields of one table, by their positions.
type Mask uint64

// maxFields is how many fields a Mask holds.
const maxFields = 64

// Table is a resource.
type Table[T any] struct {
	name        string
	description string
	fields      []Field[T]
	keys        []string // `,"name":` of each field
	all         Mask     // every field
	needs       []Mask   // by the bit of a field group: the fields that need it
	err         error    // what is wrong with the table; jsonschema.Definitions returns it
}

// NewTable makes the table of a resource, named as in the OpenAPI document. A table with a mistake, like more fields
// than a Mask holds, is an error of jsonschema.Definitions, so that no server starts with it.
func NewTable[T any](name, description string, fields ...Field[T]) *Table[T] {
	t := &Table[T]{name: name, description: description, fields: fields,
		needs: make([]Mask, bits.Len32(uint32(access.All)))}
	if len(fields) > maxFields {
		t.err = fmt.Errorf("resource %s has %d fields, more than the %d of a mask", name, len(fields), maxFields)
		return t
	}
	for i, f := range fields {
		if slices.ContainsFunc(fields[:i], func(other Field[T]) bool { return other.Name == f.Name }) {
			t.err = fmt.Errorf("resource %s has two fields named %s", name, f.Name)
		}
		if f.Required && f.Value.present != nil {
			t.err = fmt.Errorf("resource %s requires the field %s, which may be left out", name, f.Name)
		}
		t.keys = append(t.keys, string(append(jsontext.AppendString([]byte{','}, f.Name), ':')))
		t.all |= 1 << i
		for group := f.Groups; group != 0; group &= group - 1 {
			t.needs[bits.TrailingZeros32(uint32(group))] |= 1 << i
		}
	}
	return t
}

// Names lists the members.
func (t *Table[T]) Names() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.Name
	}
	return names
}

// Visible is the set of fields that these groups show.
func (t *Table[T]) Visible(groups access.Groups) Mask {
	m := t.all
	for missing := access.All &^ groups; missing != 0; missing &= missing - 1 {
		m &^= t.needs[bits.TrailingZeros32(uint32(missing))]
	}
	return m
}

// Named is the set of the fields with these names; other names are left out.
func (t *Table[T]) Named(names []string) Mask {
	var m Mask
	for i, f := range t.fields {
		if slices.Contains(names, f.Name) {
			m |= 1 << i
		}
	}
	return m
}

// NamesOf lists the members that the mask holds.
func (t *Table[T]) NamesOf(m Mask) []string {
	var names []string
	for i, f := range t.fields {
		if m&(1<<i) != 0 {
			names = append(names, f.Name)
		}
	}
	return names
}

// Reads is what a query must read for these fields.
func (t *Table[T]) Reads(m Mask) reader.Part[T] {
	var parts []reader.Part[T]
	for i, f := range t.fields {
		if m&(1<<i) != 0 {
			parts = append(parts, f.Value.reads, f.Reads)
		}
	}
	return reader.Parts(parts...)
}

// Append writes the members of v that the mask holds as one JSON object.
func (t *Table[T]) Append(e *Encoder, m Mask, v *T) {
	e.grow()
	start := len(e.B)
	for ; m != 0 && !e.Full(); m &= m - 1 {
		i := bits.TrailingZeros64(uint64(m))
		f := &t.fields[i]
		if f.Value.present != nil && !f.Value.present(v) {
			continue
		}
		before := len(e.B)
		e.B = append(e.B, t.keys[i]...)
		f.Value.append(e, v)
		if e.Beyond.Count > 0 && e.Beyond.Member == "" { // the innermost member of the first one
			e.Beyond.Member = f.Name
		}
		if e.omitted {
			e.B, e.omitted = e.B[:before], false
		}
	}
	if len(e.B) == start {
		e.B = append(e.B, '{')
	}
	e.B[start] = '{' // in the place of the first member's comma
	e.B = append(e.B, '}')
}

// Reference is the schema of a member or response that is one of these resources.
func (t *Table[T]) Reference() *Schema {
	return Reference(Component{Name: t.name, Schema: t.schema(), Err: t.err})
}

// schema is the resource's schema. Members are required only of a caller who may see everything, so a member that needs
// more than the core group is never among the required ones.
func (t *Table[T]) schema() *Schema {
	closed := false
	s := &Schema{Type: "object", Description: t.description, Properties: &Properties{}, AdditionalProperties: &closed}
	for _, f := range t.fields {
		member := *f.Value.schema
		if f.Description != "" {
			member.Description = f.Description
		}
		member.Group = f.Groups.Names()
		s.Properties.Names = append(s.Properties.Names, f.Name)
		s.Properties.Schemas = append(s.Properties.Schemas, &member)
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

// PartialReference is the schema of the resource where the caller has asked for some of its members, under a name of
// its own: only one member is always there.
func (t *Table[T]) PartialReference(name, always string) *Schema {
	s := t.schema()
	s.Description += " Only the members that were asked for."
	s.Required = []string{always}
	return Reference(Component{Name: name, Schema: s, Err: t.err})
}

// Encoder collects JSON. What it may show of an object inside another is decided by Groups, set for every object of a
// list.
type Encoder struct {
	B      []byte
	Groups access.Groups
	// Limit is how many bytes B may have, 0 for any number. What would come behind a member that goes beyond it is left out,
	// so that B is no JSON any more: see Full.
	Limit int
	// Beyond are the figures outside the range of amounts (docs/api.md#limits), each of which is null in B or left out.
	Beyond Beyond

	omitted bool // whether the member that was written is to be left out
	lost    bool // whether the object that is being written has a null where its schema allows none
}

// Bounds of what is made room for before an object begins, in bytes.
const (
	leastRoom = 4 << 10
	mostRoom  = 4 << 20
)

// mostExpected bounds what is made room for by the size of a list's first object, in bytes.
const mostExpected = 16 << 20

// grow makes room for an object by doubling: append alone would grow a body of megabytes a quarter at a time, and copy
// it each time.
func (e *Encoder) grow() {
	if cap(e.B)-len(e.B) < leastRoom {
		e.B = slices.Grow(e.B, min(max(leastRoom, len(e.B)), mostRoom))
	}
}

// expect makes room for so many objects like the first one of a list, which was written behind start: all at once, so that
// a body of megabytes is not copied each time that it has outgrown its memory.
func (e *Encoder) expect(objects, start int) {
	bytes := min(int64(objects)*int64(len(e.B)-start+1), mostExpected)
	if e.Limit > 0 {
		bytes = min(bytes, int64(e.Limit-len(e.B)))
	}
	if bytes > int64(cap(e.B)-len(e.B)) {
		e.B = slices.Grow(e.B, int(bytes))
	}
}

// Full reports whether the JSON has become larger than it may be, and so is not complete.
func (e *Encoder) Full() bool { return e.Limit > 0 && len(e.B) > e.Limit }

// Mark is a place in the JSON to which an encoder can go back.
type Mark struct {
	length int
	beyond Beyond
}

// Mark is the place behind what has been written.
func (e *Encoder) Mark() Mark { return Mark{len(e.B), e.Beyond} }

// Back takes away what was written behind the mark.
func (e *Encoder) Back(to Mark) {
	e.B, e.Beyond = e.B[:to.length], to.beyond
	e.omitted, e.lost = false, false
}

// Beyond counts figures outside the range of amounts, and says what the first one is.
type Beyond struct {
	Count  int
	Member string
	Value  string // in minor units
}

// beyond writes null in the place of a figure that cannot be shown.
func (e *Encoder) beyond(value fmt.Stringer) {
	if e.Beyond.Count == 0 {
		e.Beyond.Value = value.String()
	}
	e.Beyond.Count++
	e.null()
}
