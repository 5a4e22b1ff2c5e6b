// Package query reads the query part of a URL strictly (docs/api.md#order-of-the-checks): what is unknown, empty,
// repeated or malformed is refused, and everything that is wrong is reported at once.
package query

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"tallyhouse/api/access"
	"tallyhouse/api/problem"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsontext"
	"tallyhouse/schemas/nearest"
)

// Param is a query parameter of an operation.
type Param struct {
	Name        string
	Type        Type
	Groups      access.Groups // a filter on these groups; a caller who lacks one in a project it spans is refused
	Paging      bool          // says how a list is shown, not what is in it: it may change from page to page
	Description string
}

// Type is what a parameter's value may be. Parse returns the value, or why the text is none.
type Type struct {
	Schema  *resource.Schema
	Style   string   // of a list in the OpenAPI document
	Allowed []string // the values, when they are few
	Parse   func(text string) (value any, reason string)
}

// Values are the parameters of a request, each parsed as its type says.
type Values struct {
	given map[string]any
	texts map[string]string // as given, decoded; of lists, a text that is the same for the same set
}

// Value returns the parameter's value, if it was given.
func Value[T any](v Values, name string) events.Opt[T] {
	value, ok := v.given[name].(T)
	return events.Opt[T]{V: value, Ok: ok}
}

// Given reports whether the parameter was given.
func (v Values) Given(name string) bool {
	_, ok := v.given[name]
	return ok
}

// Filters is a text that is the same for requests that ask for the same list: all parameters but those of paging,
// whatever their order.
func (v Values) Filters(params []Param) string {
	var names []string
	for _, p := range params {
		if !p.Paging && v.Given(p.Name) {
			names = append(names, p.Name)
		}
	}
	sort.Strings(names)
	var b []byte
	for _, name := range names {
		b = append(jsontext.AppendString(b, name), '=')
		b = append(jsontext.AppendString(b, v.texts[name]), '&')
	}
	return string(b)
}

// Parse reads the raw query of a URL. It returns every offending parameter, in the order in which they come.
func Parse(raw string, params []Param) (Values, []problem.Parameter) {
	v := Values{given: make(map[string]any), texts: make(map[string]string)}
	var wrong []problem.Parameter
	seen := make(map[string]int)
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" { // nothing between two separators is no parameter
			continue
		}
		rawName, rawText, valued := strings.Cut(pair, "=")
		name, reason := unescape(rawName)
		if reason != "" {
			wrong = append(wrong, problem.Parameter{Name: rawName, Reason: "the name " + reason})
			continue
		}
		if name == "" {
			wrong = append(wrong, problem.Parameter{Name: "", Reason: "a parameter without a name"})
			continue
		}
		seen[name]++
		if seen[name] > 1 {
			if seen[name] == 2 {
				wrong = append(wrong, problem.Parameter{Name: name, Reason: "is given more than once"})
			}
			continue
		}
		at := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
		if at < 0 {
			wrong = append(wrong, problem.Parameter{Name: name, Reason: "is not a parameter of this operation",
				Suggestion: closest(name, params)})
			continue
		}
		text, reason := unescape(rawText)
		switch {
		case reason != "":
			reason = "the value " + reason
		case !valued || text == "":
			reason = "is empty"
		}
		var value any
		if reason == "" {
			value, reason = params[at].Type.Parse(text)
		}
		if reason != "" {
			wrong = append(wrong, problem.Parameter{Name: name, Reason: reason, Allowed: params[at].Type.Allowed,
				Suggestion: params[at].Type.suggest(text)})
			continue
		}
		v.given[name] = value
		v.texts[name] = text
		if list, ok := value.([]string); ok {
			v.texts[name] = strings.Join(list, ",")
		}
	}
	return v, wrong
}

// suggest finds what may have been meant by a value, or by the first wrong item of a list.
func (t Type) suggest(text string) string {
	if t.Style == listStyle {
		for item := range strings.SplitSeq(text, ",") {
			if !slices.Contains(t.Allowed, item) {
				return nearest.Of(item, t.Allowed)
			}
		}
	}
	return nearest.Of(text, t.Allowed)
}

// unescape decodes one name or value. The reason says why it cannot be one.
func unescape(raw string) (text, reason string) {
	if strings.Contains(raw, ";") {
		return "", "has a semicolon, which separates nothing here: write & between parameters and %3B for the character"
	}
	var b []byte
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '+':
			b = append(b, ' ')
		case '%':
			if i+2 >= len(raw) {
				return "", "ends in a broken percent escape"
			}
			high, ok1 := unhex(raw[i+1])
			low, ok2 := unhex(raw[i+2])
			if !ok1 || !ok2 {
				return "", "has a broken percent escape"
			}
			b = append(b, high<<4|low)
			i += 2
		default:
			b = append(b, c)
		}
	}
	switch text = string(b); {
	case !utf8.ValidString(text):
		return "", "is not UTF-8"
	case strings.Contains(text, "\x00"):
		return "", "holds a NUL character"
	}
	return text, ""
}

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func closest(name string, params []Param) string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return nearest.Of(name, names)
}
