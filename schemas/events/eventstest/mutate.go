package eventstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Mutate changes one place of a message at random: a member dropped, set to null, to another type or to a value at or
// beyond the end of some range, an unknown member added, an array emptied, lengthened or shortened. The result may well
// be valid. The string says what was done.
func Mutate(t *rapid.T, m Message) (Message, string) {
	m = m.copy()
	places := placesIn("", map[string]any(m), nil)
	p := places[rapid.IntRange(0, len(places)-1).Draw(t, "place")]
	switch rapid.IntRange(0, 5).Draw(t, "mutation") {
	case 0:
		return m.Without(p.path), "without " + p.path
	case 1:
		return m.With(p.path, nil), "null at " + p.path
	case 2:
		if _, isObject := p.value.(map[string]any); isObject {
			name := rapid.SampledFrom(unknownMembers).Draw(t, "unknown member")
			return m.With(p.path+"."+name, 1), "member " + name + " in " + p.path
		}
	case 3:
		if array, isArray := p.value.([]any); isArray {
			array = slices.Clone(array)
			switch {
			case len(array) > 0 && rapid.Bool().Draw(t, "shorter"):
				array = array[:rapid.IntRange(0, len(array)-1).Draw(t, "length")]
			case len(array) > 0:
				array = append(array, array[0])
			default:
				array = append(array, nil)
			}
			return m.With(p.path, array), fmt.Sprintf("%d elements in %s", len(array), p.path)
		}
	case 4:
		other := places[rapid.IntRange(0, len(places)-1).Draw(t, "other place")]
		return m.With(p.path, other.value), "value of " + other.path + " at " + p.path
	}
	v := rapid.SampledFrom(oddValues).Draw(t, "value")
	return m.With(p.path, v), fmt.Sprintf("%.50v at %s", v, p.path)
}

type place struct {
	path  string
	value any
}

// placesIn lists every place of a value, but for what lies under ext.
func placesIn(path string, v any, places []place) []place {
	if path != "" {
		places = append(places, place{path, v})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "ext" {
				places = placesIn(strings.TrimPrefix(path+"."+name, "."), v[name], places)
			}
		}
	case []any:
		for i, e := range v {
			places = placesIn(fmt.Sprintf("%s[%d]", path, i), e, places)
		}
	}
	return places
}

var unknownMembers = []string{"nett", "ext", "currency", "value", "id", "name", "projectId", "nodeID", "inherited",
	"data", "extra"}

// oddValues are at the ends of ranges, beyond them, or of another type. Numbers are written in plain digits: how they
// are written, which a schema can't see, has tests of its own.
var oddValues = []any{
	true, false, []any{}, map[string]any{}, []any{"x"},
	json.Number("0"), json.Number("-0"), json.Number("1"), json.Number("-1"), json.Number("4800"), json.Number("4801"),
	json.Number("9007199254740991"), json.Number("9007199254740992"),
	json.Number("-9007199254740991"), json.Number("-9007199254740992"),
	json.Number("10000"), json.Number("10000.001"), json.Number("0.001"), json.Number("0.0001"),
	json.Number("-0.5"), json.Number("1000000000000000000"),
	json.Number("999999999999999999"), json.Number("123456789012345678901234567890"),
	"", " ", "x", "eur", "EURO", "ÄÖÜ", "delete", "upsert", "custom", "fixed", "cpi", "none", "paid", "a/b", "a_b",
	strings.Repeat("ä", 100), strings.Repeat("ä", 101), strings.Repeat("😀", 200),
	strings.Repeat("😀", 201), strings.Repeat("x", 4001),
	"2026-02-29", "2024-02-29", "1899-12-31", "2300-01-01", "2026-13", "2026-12", "2026-1", "2026-01-01T00:00:00",
	"2026-01-01T00:00:00+01:00",
	"2026-01-01T24:00:00Z", "2026-01-01T23:59:60Z", "2026-01-01t00:00:00z", "2299-12-31T23:00:00Z", "2026-02-30T00:00:00Z",
	"2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.123456789Z",
	"0", "-0", "00", "-0.000", "0.000", "+1", "1.", ".5", "1e3", "1,5", "1.5", "-1.5", "1.0005", "10000",
	"10000.000", "10000.001", "9999.999", "-0.001",
	"123456789012345678", "1234567890123456789", "1234567890.12345678", "1234567890.123456789",
	"0.12345678901234567", "0.123456789012345678",
	strings.Repeat("a", 64), strings.Repeat("A", 63) + "g",
}
