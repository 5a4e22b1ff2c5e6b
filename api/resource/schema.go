package resource

import (
	"encoding/json"
	"fmt"

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

// Reference points at a schema among the document's components.
func Reference(name string) *Schema { return &Schema{Ref: "#/components/schemas/" + name} }

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
