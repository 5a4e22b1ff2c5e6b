package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsonschema"
)

// amount is the one object that the page explains among the values, not member by member.
const amount = "amount"

// withTables is the page with its tables written anew: under Values what each named kind of value is, under each
// topic's heading the members of its data. The tables are between <!-- values --> or <!-- members --> and <!-- end -->.
func withTables(page string) (string, error) {
	kinds := map[string]*jsonschema.Schema{}
	for _, topic := range events.Topics() {
		schema, err := events.Schema(topic)
		if err != nil {
			return "", err
		}
		for i, name := range schema.Defs.Names {
			if s := schema.Defs.Schemas[i]; !isObject(s) || name == amount {
				kinds[name] = s
			}
		}
		if page, err = replace(page, "### "+string(topic), "<!-- members -->", memberTable(schema)); err != nil {
			return "", err
		}
	}
	return replace(page, "## Values", "<!-- values -->", valueTable(kinds))
}

// replace writes the part anew that begins with a mark below a heading.
func replace(page, heading, mark, part string) (string, error) {
	const end = "<!-- end -->"
	before, rest, found := strings.Cut(page, "\n"+heading+"\n")
	section, _, _ := strings.Cut(rest, "\n#")
	from, to := strings.Index(section, mark), strings.Index(section, end)
	if !found || from < 0 || to < from {
		return "", fmt.Errorf("no section %q with a part from %s to %s", heading, mark, end)
	}
	return before + "\n" + heading + "\n" + rest[:from] + mark + "\n\n" + part + "\n" + rest[to:], nil
}

func valueTable(kinds map[string]*jsonschema.Schema) string {
	text := "| value | how it is written |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		text += fmt.Sprintf("| %s | %s |\n", spelled(name), kinds[name].Description)
	}
	return text
}

func memberTable(schema *jsonschema.Schema) string {
	data := schema.Properties.Of("data").NotNull().Resolved()
	text := data.Description + "\n\n| member | value | |\n|---|---|---|\n"
	for _, r := range rowsOf("", data) {
		text += r
	}
	return text
}

func isObject(s *jsonschema.Schema) bool {
	return s.Properties != nil || s.OneOf != nil && s.OneOf[0].Properties != nil
}

// hasRows reports whether the members of s have rows of their own.
func hasRows(s *jsonschema.Schema) bool {
	d := s.Definition()
	return isObject(s.Resolved()) && (d == nil || d.Name != amount)
}

// rowsOf has a row for each member of an object and of the objects in it. Where the object has variants, each member
// says with which of them it goes.
func rowsOf(path string, s *jsonschema.Schema) (rows []string) {
	variants := s.OneOf
	if variants == nil {
		variants = []*jsonschema.Schema{s}
	}
	for _, name := range variants[0].Properties.Names {
		if name == "ext" {
			continue
		}
		var member jsonschema.Schema
		var with, constants []string
		optional := false
		for _, v := range variants {
			property := v.Properties.Of(name)
			if property.Type == "null" {
				continue
			}
			member = *property.NotNull()
			member.Description = property.Description
			optional = optional || !slices.Contains(v.Required, name)
			with = append(with, nameOf(v))
			if text, ok := property.Const.(string); ok {
				constants = append(constants, text)
			}
		}
		if constants != nil { // the member that tells the variants apart
			member = jsonschema.Schema{Enum: constants, Description: member.Description}
		}
		if len(with) < len(variants) && with[0] != "" {
			member.Description = strings.TrimSuffix("with "+strings.Join(with, " or ")+": "+member.Description, ": ")
		}
		rows = append(rows, rowsOfMember(path+name, &member, optional)...)
	}
	return rows
}

// nameOf is the member that tells a variant from the others, with its value; "" when none has a text of its own.
func nameOf(variant *jsonschema.Schema) string {
	for i, p := range variant.Properties.Schemas {
		if text, ok := p.Const.(string); ok {
			return "`" + variant.Properties.Names[i] + "` `" + text + "`"
		}
	}
	return ""
}

func rowsOfMember(path string, s *jsonschema.Schema, optional bool) []string {
	mark := ""
	if optional {
		mark = "?"
	}
	element, below := s, "."
	if s.Type == "array" {
		element, below = s.Items, "[]."
	}
	if !hasRows(element) {
		return []string{fmt.Sprintf("| `%s`%s | %s | %s |\n", path, mark, words(s), s.Description)}
	}
	description := cmp.Or(s.Description, element.Resolved().Description)
	row := fmt.Sprintf("| `%s`%s | %s | %s |\n", path, mark, words(s), description)
	return append([]string{row}, rowsOf(path+below, element.Resolved())...)
}

// words say what a value may be, as the section Values explains them.
func words(s *jsonschema.Schema) string {
	switch {
	case hasRows(s):
		return "object"
	case s.Definition() != nil:
		return spelled(s.Definition().Name)
	case s.Enum != nil:
		return "closed list: `" + strings.Join(s.Enum, "`, `") + "`"
	case s.KnownValues != nil:
		return "open list: `" + strings.Join(s.KnownValues, "`, `") + "`"
	case s.Type == "array" && s.Items.Enum != nil:
		return "list from the " + words(s.Items)
	case s.Type == "array":
		return "list of " + words(s.Items) + "s"
	case s.Type == "integer":
		return fmt.Sprintf("whole number, %d to %d", *s.Minimum, *s.Maximum)
	case s.Type == "string" && s.MinLength != nil:
		return fmt.Sprintf("text of %d to %d characters", *s.MinLength, *s.MaxLength)
	case s.Type == "string" && s.MaxLength != nil:
		return fmt.Sprintf("text of at most %d characters", *s.MaxLength)
	case s.Type == "string":
		return "text"
	}
	return "true or false"
}

// spelled is the name of a definition in words: minor units for minorUnits.
func spelled(name string) string {
	return strings.ToLower(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(name, "$1 $2"))
}
