// Package jsonschema holds JSON Schemas (draft 2020-12) as values that are built, walked through and written: those of
// the change events, and those in the OpenAPI document.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"tallyhouse/schemas/jsontext"
)

// Dialect is the value of Schema.Dialect in a document of its own.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a JSON Schema. The zero value takes every value.
type Schema struct {
	Dialect              string      `json:"$schema,omitempty"`
	ID                   string      `json:"$id,omitempty"`
	Title                string      `json:"title,omitempty"`
	Ref                  string      `json:"$ref,omitempty"` // set by Reference
	Description          string      `json:"description,omitempty"`
	Type                 any         `json:"type,omitempty"` // a name, or two where null is one
	Format               string      `json:"format,omitempty"`
	Pattern              string      `json:"pattern,omitempty"`
	Const                any         `json:"const,omitempty"`
	Enum                 []string    `json:"enum,omitempty"`
	KnownValues          []string    `json:"x-extensible-enum,omitempty"` // more may come
	Minimum              *int64      `json:"minimum,omitempty"`
	Maximum              *int64      `json:"maximum,omitempty"`
	ExclusiveMaximum     *int64      `json:"exclusiveMaximum,omitempty"`
	MultipleOf           json.Number `json:"multipleOf,omitempty"`
	MinLength            *int        `json:"minLength,omitempty"`
	MaxLength            *int        `json:"maxLength,omitempty"`
	MinItems             *int        `json:"minItems,omitempty"`
	UniqueItems          bool        `json:"uniqueItems,omitempty"`
	Default              any         `json:"default,omitempty"`
	Items                *Schema     `json:"items,omitempty"`
	Properties           *Properties `json:"properties,omitempty"`
	Required             []string    `json:"required,omitempty"`
	AdditionalProperties *bool       `json:"additionalProperties,omitempty"`
	AnyOf                []*Schema   `json:"anyOf,omitempty"`
	OneOf                []*Schema   `json:"oneOf,omitempty"`
	Not                  *Schema     `json:"not,omitempty"`
	If                   *Schema     `json:"if,omitempty"`
	Then                 *Schema     `json:"then,omitempty"`
	Else                 *Schema     `json:"else,omitempty"`
	Defs                 *Properties `json:"$defs,omitempty"`
	Group                []string    `json:"x-field-group,omitempty"` // what a caller of the API needs to see the member
	definition           *Definition // what Ref names
}

// Number is a pointer to n, for the bounds of a schema.
func Number[N int | int64](n N) *N { return &n }

// OrNull is the schema, or null.
func (s *Schema) OrNull() *Schema {
	if name, ok := s.Type.(string); ok {
		nullable := *s
		nullable.Type = []string{name, "null"}
		return &nullable
	}
	return &Schema{AnyOf: []*Schema{s, {Type: "null"}}}
}

// NotNull is the schema without null: it undoes OrNull.
func (s *Schema) NotNull() *Schema {
	if types, ok := s.Type.([]string); ok && len(types) == 2 && types[1] == "null" {
		strict := *s
		strict.Type = types[0]
		return &strict
	}
	if len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null" {
		return s.AnyOf[0]
	}
	return s
}

// Definition is a schema that others refer to by its name.
type Definition struct {
	Name   string
	Schema *Schema
	Err    error // what is wrong with it; Definitions returns it
}

// Reference is a schema that refers to a definition below a path of its document, like #/$defs/. Definitions finds it
// there.
func Reference(path string, d Definition) *Schema {
	return &Schema{Ref: path + d.Name, definition: &d}
}

// Definition is what the schema refers to; nil when it is no reference.
func (s *Schema) Definition() *Definition { return s.definition }

// Resolved is the definition's schema for a reference, otherwise the schema itself.
func (s *Schema) Resolved() *Schema {
	if s.definition != nil {
		return s.definition.Schema
	}
	return s
}

// Definitions are all definitions that the schemas refer to, directly or through others, in the order in which they are
// met. It is an error when two of one name differ, and when there is something wrong with one.
func Definitions(schemas ...*Schema) (*Properties, error) {
	found := &Properties{}
	for _, s := range schemas {
		if err := found.collect(s); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (p *Properties) collect(s *Schema) error {
	if s == nil {
		return nil
	}
	if d := s.definition; d != nil {
		if d.Err != nil {
			return d.Err
		}
		if other := p.Of(d.Name); other != nil {
			if !reflect.DeepEqual(other, d.Schema) {
				return fmt.Errorf("two schemas named %s differ", d.Name)
			}
			return nil
		}
		p.Add(d.Name, d.Schema)
		return p.collect(d.Schema)
	}
	parts := slices.Concat([]*Schema{s.Items, s.Not, s.If, s.Then, s.Else}, s.AnyOf, s.OneOf)
	if s.Properties != nil {
		parts = append(parts, s.Properties.Schemas...)
	}
	for _, part := range parts {
		if err := p.collect(part); err != nil {
			return err
		}
	}
	return nil
}

// Properties are schemas by name, in an order that is kept.
type Properties struct {
	Names   []string
	Schemas []*Schema
}

// Add appends a schema.
func (p *Properties) Add(name string, s *Schema) {
	p.Names, p.Schemas = append(p.Names, name), append(p.Schemas, s)
}

// Of is the schema of a name; nil when there is none.
func (p *Properties) Of(name string) *Schema {
	if i := slices.Index(p.Names, name); i >= 0 {
		return p.Schemas[i]
	}
	return nil
}

// MarshalJSON keeps the order.
func (p *Properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range p.Names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, name), ':')
		schema, err := json.Marshal(p.Schemas[i])
		if err != nil {
			return nil, fmt.Errorf("write the schema of %s: %w", name, err)
		}
		b = append(b, schema...)
	}
	return append(b, '}'), nil
}
