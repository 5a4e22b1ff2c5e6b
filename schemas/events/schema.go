package events

import (
	"fmt"
	"slices"

	"tallyhouse/schemas/jsonschema"
)

// Schema is the JSON Schema of a topic's messages, made from the same tables of members as Decode and complete in
// itself. It says all that a schema can say; Decode refuses more, see docs/events.md#beside-the-schema. The error is
// ErrUnknownTopic for a topic that carries no entity.
func Schema(topic Topic) (*jsonschema.Schema, error) {
	c := codecs.of(topic)
	if c == nil {
		return nil, fmt.Errorf("schema of %s: %w", quoted(string(topic)), ErrUnknownTopic)
	}
	s := c.schema()
	defs, err := jsonschema.Definitions(s)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", topic, err)
	}
	s.Dialect, s.ID, s.Title, s.Defs = jsonschema.Dialect, "urn:tallyhouse:events:"+string(topic), string(topic), defs
	return s, nil
}

// schema is the JSON Schema of a T.
func (o *object[T]) schema() (s *jsonschema.Schema) {
	switch {
	case o.choice:
		s = o.oneOfItsMembers()
	case o.partial:
		s = o.oneOfItsVariants()
	default:
		s = o.variant(func(m *member[T]) presence { return m.usual() })
	}
	s.Description = o.description
	return s
}

func (o *object[T]) oneOfItsMembers() *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for i := range o.members {
		s.OneOf = append(s.OneOf, o.variant(func(m *member[T]) presence {
			if m == &o.members[i] {
				return required
			}
			return absent
		}))
	}
	return s
}

// oneOfItsVariants has a schema for each value of the discriminator.
func (o *object[T]) oneOfItsVariants() *jsonschema.Schema {
	with := slices.IndexFunc(o.members, func(m member[T]) bool { return m.only != nil })
	discriminator := o.members[with].only.discriminator
	s := &jsonschema.Schema{}
	for _, value := range o.members[o.find(discriminator)].schema.Enum {
		v := o.variant(func(m *member[T]) presence {
			if m.only != nil && !slices.Contains(m.only.values, value) {
				return absent
			}
			return m.usual()
		})
		*v.Properties.Of(discriminator) = jsonschema.Schema{Const: value}
		s.OneOf = append(s.OneOf, v)
	}
	return s
}

// presence says whether a member is there.
type presence uint8

const (
	absent   presence = iota // or null
	possible                 // a value, null or absent
	required                 // a value
)

func (m *member[T]) usual() presence {
	if m.required {
		return required
	}
	return possible
}

// variant is the schema of an object that has each member as presence says.
func (o *object[T]) variant(presenceOf func(m *member[T]) presence) *jsonschema.Schema {
	closed := false
	s := &jsonschema.Schema{Type: "object", Properties: &jsonschema.Properties{}, AdditionalProperties: &closed}
	for i := range o.members {
		m := &o.members[i]
		if m.schema == nil {
			continue
		}
		property := *m.schema
		switch presenceOf(m) {
		case absent:
			s.Properties.Add(m.name, &jsonschema.Schema{Type: "null"})
			continue
		case possible:
			property = *m.schema.OrNull()
		case required:
			s.Required = append(s.Required, m.name)
		}
		if m.description != "" {
			property.Description = m.description
		}
		s.Properties.Add(m.name, &property)
	}
	if o.ext {
		s.Properties.Add("ext", &jsonschema.Schema{Description: "anything; ignored"})
	}
	return s
}
