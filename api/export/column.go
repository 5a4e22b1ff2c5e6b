package export

import (
	"errors"
	"fmt"
	"slices"

	"tallyhouse/schemas/jsonschema"
)

// Kind is what the values of a column are.
type Kind uint8

// The kinds of columns.
const (
	Text Kind = iota
	Integer
	Amount // minor units of the currency in the next column
	Date
	Instant
	Flag
	JSON // an array, as JSON
)

// Column is one column of a table of objects. Members of objects inside an object are columns of their own, with a dot in
// the name.
type Column struct {
	Name     string
	Kind     Kind
	Required bool // never empty
}

// amountSchema is the name of the schema of amounts of money.
const amountSchema = "Amount"

// Columns are those of a resource with this schema, as far as these members of it are shown.
func Columns(of *jsonschema.Schema, members []string) ([]Column, error) {
	var all []Column
	var add func(prefix string, of *jsonschema.Schema, named func(string) bool, required bool) error
	add = func(prefix string, of *jsonschema.Schema, named func(string) bool, required bool) error {
		of = of.Resolved()
		if of.Properties == nil {
			return fmt.Errorf("the schema of %q has no properties", prefix)
		}
		for i, name := range of.Properties.Names {
			if !named(name) {
				continue
			}
			full, schema := prefix+name, of.Properties.Schemas[i]
			strict := schema.NotNull()
			always := required && strict == schema && slices.Contains(of.Required, name)
			amount := strict.Definition() != nil && strict.Definition().Name == amountSchema
			strict = strict.Resolved()
			if strict.Type == "object" {
				if err := add(full+".", strict, func(string) bool { return true }, always); err != nil {
					return err
				}
				if amount { // its value is the first of its two columns
					all[len(all)-2].Kind = Amount
				}
				continue
			}
			kind, err := kindOf(strict)
			if err != nil {
				return fmt.Errorf("%s: %w", full, err)
			}
			all = append(all, Column{Name: full, Kind: kind, Required: always})
		}
		return nil
	}
	err := add("", of, func(name string) bool { return slices.Contains(members, name) }, true)
	return all, err
}

func kindOf(s *jsonschema.Schema) (Kind, error) {
	switch s.Type {
	case "string":
		switch s.Format {
		case "date":
			return Date, nil
		case "date-time":
			return Instant, nil
		}
		return Text, nil
	case "integer":
		return Integer, nil
	case "boolean":
		return Flag, nil
	case "array":
		return JSON, nil
	}
	return 0, errors.New("values of this type have no column")
}
