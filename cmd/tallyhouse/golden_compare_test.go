package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Arrays that compare by a member of their elements, and those that compare as sets; all others compare in order.
var (
	keyed = map[string]string{
		"nodes": "nodeId", "months": "month", "leases": "leaseId", "periods": "start", "excluded": "currency", "excludedCommitted": "currency",
		"changesSincePrevious": "budgetNodeId", "amendments": "id",
	}
	sets = []string{"reclassRecordIds", "unitIds", "flags", "projectIds"}
)

// differences lists where an answer is not as expected. Members that are not expected may be there; numbers compare by
// their value.
func differences(want, got any) []string { return differ(want, got, "$", "") }

func differ(want, got any, path, name string) (all []string) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, want an object", path, got)}
		}
		for _, member := range slices.Sorted(maps.Keys(want)) {
			if value, ok := object[member]; !ok {
				all = append(all, fmt.Sprintf("%s.%s is missing, want %v", path, member, want[member]))
			} else {
				all = append(all, differ(want[member], value, path+"."+member, member)...)
			}
		}
		return all
	case []any:
		array, ok := got.([]any)
		switch {
		case !ok:
			return []string{fmt.Sprintf("%s: %v, want an array", path, got)}
		case slices.Contains(sets, name):
			if a, b := sorted(want), sorted(array); !slices.Equal(a, b) {
				return []string{fmt.Sprintf("%s: %v, want %v", path, b, a)}
			}
			return nil
		case keyed[name] != "":
			return differByKey(want, array, path, name)
		case len(want) != len(array):
			return []string{fmt.Sprintf("%s has %d elements, want %d", path, len(array), len(want))}
		}
		for i := range want {
			all = append(all, differ(want[i], array[i], fmt.Sprintf("%s[%d]", path, i), "")...)
		}
		return all
	case json.Number:
		number, ok := got.(json.Number)
		if !ok || rational(want).Cmp(rational(number)) != 0 {
			return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
		}
		return nil
	}
	if want != got {
		return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
	}
	return nil
}

// differByKey compares arrays whose elements are told apart by a member. Of nodes parents must come before their
// children.
func differByKey(want, got []any, path, name string) (all []string) {
	member := func(element any, of string) any {
		object, _ := element.(map[string]any)
		return object[of]
	}
	found, seen := make(map[any]any), make(map[any]bool)
	for _, element := range got {
		key := member(element, keyed[name])
		if seen[key] {
			all = append(all, fmt.Sprintf("%s[%v] is there twice", path, key))
		}
		if parent := member(element, "parentId"); name == "nodes" && parent != nil && !seen[parent] {
			all = append(all, fmt.Sprintf("%s[%v] comes before its parent", path, key))
		}
		found[key], seen[key] = element, true
	}
	for _, element := range want {
		key := member(element, keyed[name])
		if !seen[key] {
			all = append(all, fmt.Sprintf("%s[%v] is missing", path, key))
			continue
		}
		all = append(all, differ(element, found[key], fmt.Sprintf("%s[%v]", path, key), "")...)
		delete(found, key)
	}
	for key := range found {
		all = append(all, fmt.Sprintf("%s[%v] is not expected", path, key))
	}
	return all
}

func sorted(set []any) []string {
	texts := make([]string, len(set))
	for i, v := range set {
		texts[i] = fmt.Sprint(v)
	}
	slices.Sort(texts)
	return texts
}

func rational(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return new(big.Rat)
	}
	return r
}

// present reports whether a JSON pointer leads anywhere. A step name=value picks the element whose member has that
// value.
func present(body any, pointer string) bool {
	for step := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
		switch at := body.(type) {
		case []any:
			name, value, picks := strings.Cut(step, "=")
			i := slices.IndexFunc(at, func(element any) bool {
				object, _ := element.(map[string]any)
				return picks && fmt.Sprint(object[name]) == value
			})
			if !picks {
				var err error
				if i, err = strconv.Atoi(step); err != nil {
					return false
				}
			}
			if i < 0 || i >= len(at) {
				return false
			}
			body = at[i]
		case map[string]any:
			value, ok := at[step]
			if !ok {
				return false
			}
			body = value
		default:
			return false
		}
	}
	return true
}

// The comparison itself finds what it is for.
func TestComparisonOfGoldenCases(t *testing.T) {
	decode := func(text string) (v any) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, c := range map[string]struct {
		want, got string
		differ    bool
	}{
		"further members":      {`{"a":1}`, `{"a":1,"b":2}`, false},
		"numbers by value":     {`{"a":1}`, `{"a":1.0}`, false},
		"large numbers":        {`{"a":9007199254740993}`, `{"a":9007199254740992}`, true},
		"a missing member":     {`{"a":1}`, `{}`, true},
		"null is present":      {`{"a":null}`, `{}`, true},
		"null and 0":           {`{"a":null}`, `{"a":0}`, true},
		"a number and a text":  {`{"a":1}`, `{"a":"1"}`, true},
		"a flag":               {`{"a":true}`, `{"a":false}`, true},
		"an array in order":    {`[1,2]`, `[2,1]`, true},
		"an array's length":    {`[1]`, `[1,1]`, true},
		"a set":                {`{"flags":["a","b"]}`, `{"flags":["b","a"]}`, false},
		"another set":          {`{"flags":["a","b"]}`, `{"flags":["a","a"]}`, true},
		"by key":               {`{"nodes":[{"nodeId":"a"},{"nodeId":"b"}]}`, `{"nodes":[{"nodeId":"b"},{"nodeId":"a"}]}`, false},
		"a key too many":       {`{"nodes":[{"nodeId":"a"}]}`, `{"nodes":[{"nodeId":"b"},{"nodeId":"a"}]}`, true},
		"a key missing":        {`{"nodes":[{"nodeId":"a"},{"nodeId":"b"}]}`, `{"nodes":[{"nodeId":"a"}]}`, true},
		"a key twice":          {`{"nodes":[{"nodeId":"a"}]}`, `{"nodes":[{"nodeId":"a"},{"nodeId":"a"}]}`, true},
		"a member below a key": {`{"nodes":[{"nodeId":"a","n":1}]}`, `{"nodes":[{"nodeId":"a","n":2}]}`, true},
		"a child before its parent": {
			`{"nodes":[{"nodeId":"a"},{"nodeId":"b"}]}`, `{"nodes":[{"nodeId":"b","parentId":"a"},{"nodeId":"a"}]}`, true,
		},
		"a parent before its child": {
			`{"nodes":[{"nodeId":"a"},{"nodeId":"b"}]}`, `{"nodes":[{"nodeId":"a"},{"nodeId":"b","parentId":"a"}]}`, false,
		},
		"an object instead of a list": {`[]`, `{}`, true},
	} {
		if found := differences(decode(c.want), decode(c.got)); (len(found) > 0) != c.differ {
			t.Errorf("%s: %v", name, found)
		}
	}
	body := decode(`{"nodes":[{"nodeId":"a","x":null}],"l":[1]}`)
	for pointer, want := range map[string]bool{
		"/nodes/nodeId=a/x": true, "/nodes/nodeId=a/y": false, "/nodes/nodeId=b/x": false,
		"/nodes/0/x": true, "/nodes/1": false, "/l/0": true, "/l/0/x": false, "/m": false,
	} {
		if present(body, pointer) != want {
			t.Errorf("%s: present %t", pointer, !want)
		}
	}
}
