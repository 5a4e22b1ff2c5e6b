package jsonschema_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"tallyhouse/schemas/jsonschema"
)

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNotNullUndoesOrNull(t *testing.T) {
	for name, s := range map[string]*jsonschema.Schema{
		"of one type": {Type: "string", MaxLength: jsonschema.Number(3)},
		"closed list": {Enum: []string{"a", "b"}},
		"constant":    {Const: true},
		"a definition": jsonschema.Reference("#/$defs/", jsonschema.Definition{Name: "id",
			Schema: &jsonschema.Schema{Type: "string"}}),
	} {
		if got, want := text(t, s.OrNull().NotNull()), text(t, s); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if text(t, s.OrNull()) == text(t, s) {
			t.Errorf("%s: OrNull changes nothing", name)
		}
	}
}

func TestDefinitionsAreFoundWhereverASchemaRefersToThem(t *testing.T) {
	define := func(name string, s *jsonschema.Schema) *jsonschema.Schema {
		return jsonschema.Reference("#/$defs/", jsonschema.Definition{Name: name, Schema: s})
	}
	id := define("id", &jsonschema.Schema{Type: "string"})
	properties := &jsonschema.Properties{}
	properties.Add("z", id.OrNull())
	properties.Add("a", &jsonschema.Schema{Type: "array", Items: define("line",
		&jsonschema.Schema{OneOf: []*jsonschema.Schema{define("amount", &jsonschema.Schema{}), id}})})
	whole := &jsonschema.Schema{Properties: properties, Else: &jsonschema.Schema{Not: define("none",
		&jsonschema.Schema{Type: "null"})}}

	found, err := jsonschema.Definitions(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "line", "amount", "none"} {
		if !slices.Contains(found.Names, name) {
			t.Errorf("%s is not among %v", name, found.Names)
		}
	}
	if len(found.Names) != 4 {
		t.Errorf("found %v", found.Names)
	}
	const want = `{"z":{"anyOf":[{"$ref":"#/$defs/id"},{"type":"null"}]},"a":{"type":"array","items":{"$ref":"#/$defs/line"}}}`
	if got := text(t, properties); got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
}

func TestDefinitionsThatCannotStandTogetherAreAnError(t *testing.T) {
	one := jsonschema.Reference("#/", jsonschema.Definition{Name: "id", Schema: &jsonschema.Schema{Type: "string"}})
	other := jsonschema.Reference("#/", jsonschema.Definition{Name: "id", Schema: &jsonschema.Schema{Type: "integer"}})
	if _, err := jsonschema.Definitions(one, other); err == nil {
		t.Error("two schemas of one name are taken")
	}
	wrong := errors.New("wrong")
	if _, err := jsonschema.Definitions(jsonschema.Reference("#/", jsonschema.Definition{Err: wrong})); !errors.Is(err, wrong) {
		t.Errorf("a definition with a mistake: %v", err)
	}
}
