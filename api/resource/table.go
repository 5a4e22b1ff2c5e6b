// Package resource describes the things that the API shows. A Table lists the members of one resource: name, field group, type and
// how its value is written. From it come the JSON, the schema in the OpenAPI document, the columns that a query reads, and the names
// that the parameter `fields` takes, so that these cannot disagree.
package resource

import (
	"fmt"
	"math/bits"
	"slices"

	"tallyhouse/api/access"
	"tallyhouse/schemas/jsontext"
)

// Field is one member of a resource made from a T.
type Field[T any] struct {
	Name        string
	Groups      access.Groups // all of them are needed to see it
	Required    bool          // present whenever it may be seen
	Reads       uint32        // what a query must read for it
	Value       Value[T]
	Description string
}

// Mask is a set of fields of one table, by their positions.
type Mask uint64

// Table is a resource.
type Table[T any] struct {
	name        string
	description string
	fields      []Field[T]
	keys        []string                  // `,"name":` of each field
	visible     [int(access.All) + 1]Mask // by the groups that the caller has
}

// NewTable makes the table of a resource, named as in the OpenAPI document.
func NewTable[T any](name, description string, fields ...Field[T]) *Table[T] {
	t := &Table[T]{name: name, description: description, fields: fields}
	for _, f := range fields {
		t.keys = append(t.keys, string(append(jsontext.AppendString([]byte{','}, f.Name), ':')))
	}
	for groups := range t.visible {
		for i, f := range fields {
			if access.Groups(groups).Has(f.Groups) {
				t.visible[groups] |= 1 << i
			}
		}
	}
	return t
}

// Name is the resource's name.
func (t *Table[T]) Name() string { return t.name }

// Names lists the members.
func (t *Table[T]) Names() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.Name
	}
	return names
}

// Visible is the set of fields that these groups show.
func (t *Table[T]) Visible(groups access.Groups) Mask { return t.visible[groups] }

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

// Reads is what a query must read for these fields.
func (t *Table[T]) Reads(m Mask) uint32 {
	var reads uint32
	for i, f := range t.fields {
		if m&(1<<i) != 0 {
			reads |= f.Reads
		}
	}
	return reads
}

// Append writes the members of v that the mask holds as one JSON object.
func (t *Table[T]) Append(e *Encoder, m Mask, v *T) {
	start := len(e.B)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(uint64(m))
		e.B = append(e.B, t.keys[i]...)
		t.fields[i].Value.append(e, v)
	}
	if len(e.B) == start {
		e.B = append(e.B, '{')
	}
	e.B[start] = '{' // in the place of the first member's comma
	e.B = append(e.B, '}')
}

// Schema is the resource's schema. Members are required only of a caller who may see everything, so a member that needs more than
// the core group is never among the required ones.
func (t *Table[T]) Schema() *Schema {
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

// PartialSchema is the schema of the resource where the caller has asked for some of its members: only the one named is always there.
func (t *Table[T]) PartialSchema(always string) *Schema {
	s := t.Schema()
	s.Description += " Only the members that were asked for."
	s.Required = []string{always}
	return s
}

// Encoder collects JSON. What it may show of an object inside another is decided by Groups, set for every object of a list.
type Encoder struct {
	B      []byte
	Groups access.Groups
	Err    error // the first value that cannot be shown
}

func (e *Encoder) fail(err error) {
	if e.Err == nil {
		e.Err = err
	}
}

// RangeError says that an amount is outside the range that the API promises (spec section 2.1).
type RangeError struct{ Value int64 }

func (e *RangeError) Error() string {
	return fmt.Sprintf("amount %d is outside the range of amounts", e.Value)
}
