package resource

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"tallyhouse/schemas/jsontext"
)

// Schema is a JSON Schema as the OpenAPI document shows it.
type Schema struct {
	Ref                  string      `json:"$ref,omitempty"`
	Description          string      `json:"description,omitempty"`
	Type                 any         `json:"type,omitempty"` // a name, or two where null is one
	Format               string      `json:"format,omitempty"`
	Pattern              string      `json:"pattern,omitempty"`
	Enum                 []string    `json:"enum,omitempty"`
	KnownValues          []string    `json:"x-extensible-enum,omitempty"` // more may come
	Minimum              *int64      `json:"minimum,omitempty"`
	Maximum              *int64      `json:"maximum,omitempty"`
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
	Group                []string    `json:"x-field-groups,omitempty"` // what a caller needs to see the member
	component            *Component  // what Ref names
}

// OrNull is the schema, or null.
func (s *Schema) OrNull() *Schema {
	if name, ok := s.Type.(string); ok {
		nullable := *s
		nullable.Type = []string{name, "null"}
		return &nullable
	}
	return &Schema{AnyOf: []*Schema{s, {Type: "null"}}}
}

// Component is a schema that others refer to by its name.
type Component struct {
	Name   string
	Schema *Schema
	err    error // what is wrong with it
}

// Reference is a schema that refers to a component, which Components finds through it.
func Reference(c Component) *Schema {
	return &Schema{Ref: "#/components/schemas/" + c.Name, component: &c}
}

// Components are all components that the schemas refer to, directly or through others, in the order in which they are met. It is an
// error when two of one name differ, or when a table that one comes from has a mistake.
func Components(schemas ...*Schema) (*Properties, error) {
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
	if c := s.component; c != nil {
		if c.err != nil {
			return c.err
		}
		if i := slices.Index(p.Names, c.Name); i >= 0 {
			if !reflect.DeepEqual(p.Schemas[i], c.Schema) {
				return fmt.Errorf("two schemas named %s differ", c.Name)
			}
			return nil
		}
		p.Names, p.Schemas = append(p.Names, c.Name), append(p.Schemas, c.Schema)
		return p.collect(c.Schema)
	}
	parts := append([]*Schema{s.Items}, s.AnyOf...)
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

// Number is a pointer to n, for the bounds of a schema.
func Number[N int | int64](n N) *N { return &n }

// Properties are the members of an object in their order.
type Properties struct {
	Names   []string
	Schemas []*Schema
}

// MarshalJSON keeps the order of the members.
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
