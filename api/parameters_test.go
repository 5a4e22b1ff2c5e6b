package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tallyhouse/api/apitest"
)

// TestEveryParameterRefusesWhatItCannotTake walks through the document: every parameter of every operation is sent
// values that it cannot take, and each time the answer names this parameter and its reason, and nothing else.
func TestEveryParameterRefusesWhatItCannotTake(t *testing.T) {
	// Given
	w := newWorld(t)
	w.user("U", adminKey, "admin")
	w.known(adminKey)
	sent := 0
	for _, o := range w.contract.Operations() {
		if o.Method != http.MethodGet {
			continue
		}
		for _, p := range o.Parameters {
			path, refused := concrete(o), func(value, reason string) {
				t.Helper()
				sent++
				target := concrete(o) + "?" + p.Name + "=" + value
				if p.In == "path" {
					target = strings.Replace(o.Path, "{"+p.Name+"}", value, 1)
					target = strings.NewReplacer("{projectId}", "none").Replace(target)
				}
				// When it is sent
				r := w.get(adminKey, target).want(t, http.StatusBadRequest, "invalid-query")
				// Then it is refused for this reason
				if wrong := r.wrong(); len(wrong) != 1 || !strings.HasPrefix(wrong[p.Name], reason) || wrong[p.Name] == "" {
					t.Errorf("%s: %v, want %s", target, wrong, reason)
				}
			}
			switch p.In {
			case "query":
				good, _ := values(p.Schema)
				for value, reason := range map[string]string{
					"": "is empty", good + "&" + p.Name + "=" + good: "is given more than once",
					good + "&" + p.Name + "=": "is given more than once",
					"%":                       "the value ends in a broken percent escape", "%4": "the value ends in a broken percent escape",
					"%zz": "the value has a broken percent escape", "%ff": "the value is not UTF-8", "%C3": "the value is not UTF-8",
					"a%00": "the value holds a NUL character", "a;b": "the value has a semicolon",
				} {
					refused(value, reason)
				}
				w.get(adminKey, path+"?"+p.Name).want(t, http.StatusBadRequest, "invalid-query")
				upper := strings.ToUpper(p.Name)
				if wrong := w.get(adminKey, path+"?"+upper+"="+good).want(t, 400, "invalid-query").wrong(); wrong[upper] == "" {
					t.Errorf("%s ?%s: %v", path, upper, wrong)
				}
				fallthrough
			case "path":
				_, bad := values(p.Schema)
				for value, reason := range bad {
					refused(value, reason)
				}
			}
			if p.In == "path" && p.Schema.Pattern == "" {
				// Ids are opaque: what is no id of anything is not found.
				for _, id := range []string{strings.Repeat("x", 5000), "%2F", "%25zz", "%20", "%ff"} {
					w.get(adminKey, replaced(o, p, id)).want(t, http.StatusNotFound, "not-found")
				}
			}
			if p.In == "query" && p.Schema.Type == "string" && p.Schema.Enum == nil && p.Schema.Pattern == "" &&
				p.Schema.Format == "" {
				// Texts may be of any length; what is found by them is another question.
				r := w.get(adminKey, path+"?"+p.Name+"="+strings.Repeat("x", 5000))
				if p.Schema.MaxLength != nil {
					r.want(t, http.StatusBadRequest, "invalid-cursor")
				} else if kind, _ := r.json["type"].(string); r.status != http.StatusOK && kind != "/problems/not-found" &&
					kind != "/problems/invalid-query" {
					t.Errorf("%s with a long %s: %d %s", path, p.Name, r.status, r.body)
				}
			}
		}
	}
	if sent < 500 {
		t.Errorf("only %d requests were made", sent)
	}
}

// replaced is the operation's path with one id in place of a parameter.
func replaced(o apitest.Operation, p apitest.Parameter, id string) string {
	path := concrete(apitest.Operation{Path: strings.ReplaceAll(o.Path, "{"+p.Name+"}", "\x00"), Parameters: o.Parameters})
	return strings.ReplaceAll(path, "\x00", id)
}

// values are a value that a schema takes, and values that it doesn't, as they stand in a URL, with the reason.
func values(s apitest.Schema) (good string, bad map[string]string) {
	bad = make(map[string]string)
	refuse := func(reason string, texts ...string) {
		for _, text := range texts {
			bad[url.QueryEscape(text)] = reason
		}
	}
	switch {
	case s.Type == "integer":
		reason := fmt.Sprintf("must be a whole number from %d to %d", *s.Minimum, *s.Maximum)
		refuse(reason, fmt.Sprint(*s.Minimum-1), fmt.Sprint(*s.Maximum+1), "-1", "+1", "01", " 1", "1 ", "1.0", "1e1", "0x1",
			"one", "null", "9223372036854775808", strings.Repeat("9", 5000), "١")
		return fmt.Sprint(*s.Minimum), bad
	case s.Type == "boolean":
		refuse("must be true or false", "TRUE", "True", "1", "0", "yes", "null", " true", strings.Repeat("true", 1000))
		return "true", bad
	case s.Type == "array":
		refuse("has an empty item", ",", s.Items.Enum[0]+",", ","+s.Items.Enum[0])
		refuse("has the item", "none", s.Items.Enum[0]+", "+s.Items.Enum[0], strings.ToUpper(s.Items.Enum[0]),
			strings.Repeat("x", 5000))
		return s.Items.Enum[0], bad
	case s.Enum != nil:
		refuse("is not one of the allowed values", "none", strings.ToUpper(s.Enum[0]), " "+s.Enum[0], s.Enum[0]+","+s.Enum[0],
			strings.Repeat("x", 5000))
		return s.Enum[0], bad
	case s.Format == "date":
		refuse("must be a date YYYY-MM-DD that exists", "2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-01",
			"2026-01-01T00:00:00Z", "today", "01.02.2026", "-2026-01-01", "2026-01-0١", strings.Repeat("2026-01-01", 500))
		return "2026-01-01", bad
	case strings.Contains(s.Pattern, `\d{4}-`):
		refuse("must be a month YYYY-MM", "2026-00", "2026-13", "2026-1", "2026-01-01", "202601", "January", "2026-0١",
			strings.Repeat("2026-01", 500))
		return "2026-01", bad
	case s.Pattern != "":
		refuse("must have the form system:code", "datev", ":0700", "datev:", ":")
		return "datev:0700", bad
	}
	return "x", bad
}
