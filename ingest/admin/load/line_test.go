package load

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// What one line says is found whatever its members' order, spaces, escapes and nesting.
func TestParseFindsWhatALineSays(t *testing.T) {
	text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune(`"\/{}[],: é`)), rapid.Rune()))
	space := rapid.SampledFrom([]string{"", " ", "\t ", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		topic, key := text.Draw(t, "topic"), text.Draw(t, "key")
		list := []any{text.Draw(t, "text"), map[string]any{"a": text.Draw(t, "inner")}}
		value, err := json.Marshal(map[string]any{text.Draw(t, "name"): list, "n": 1})
		if err != nil {
			t.Fatal(err)
		}
		quoted := func(s string) []byte {
			b, _ := json.Marshal(s) // a string always has a form
			return b
		}
		given := map[string][]byte{"topic": quoted(topic), "key": quoted(key), "value": value}
		line := []byte(space.Draw(t, "before") + "{")
		for i, name := range rapid.Permutation(members[:]).Draw(t, "order") {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(line, space.Draw(t, "space")+`"`+name+`"`+space.Draw(t, "space")+":"+space.Draw(t, "space")...)
			line = append(append(line, given[name]...), space.Draw(t, "space")...)
		}
		line = append(line, "}"+space.Draw(t, "after")...)
		m, err := parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var want string
		if err := json.Unmarshal(given["topic"], &want); err != nil || string(m.topic) != want {
			t.Fatalf("%s: topic %q", line, m.topic)
		}
		if err := json.Unmarshal(given["key"], &want); err != nil || string(m.key) != want {
			t.Fatalf("%s: key %q", line, m.key)
		}
		if !bytes.Equal(m.value, value) {
			t.Fatalf("%s: value %s", line, m.value)
		}
	})
}

// Whatever a line holds, parse neither panics nor takes what isn't an object with these members.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"topic":"ledger.records","key":"demo/R1","value":{"id":"R1"}}`))
	f.Add([]byte(`{"topic":"a\"b","key":"\\","value":null}`))
	f.Add([]byte(`{"value":[{"a":"}"}],"key":"","topic":""}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := parse(line)
		if err != nil || !json.Valid(line) {
			return
		}
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(line, &whole); err != nil {
			t.Fatalf("%q was taken: %v", line, err)
		}
		if value := bytes.TrimSpace(whole["value"]); m.value != nil && !bytes.Equal(m.value, value) || m.value == nil && string(value) != "null" {
			t.Fatalf("%q: value %q, not %q", line, m.value, value)
		}
	})
}
