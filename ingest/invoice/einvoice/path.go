package einvoice

import "strings"

// find returns the elements below n that a path leads to: local names with "/" between them, each with a condition in brackets
// if need be, as in "AllowanceCharge[ChargeIndicator=false]". An empty path leads to n itself, as does ".".
func (n *node) find(path string) []*node {
	if n == nil {
		return nil
	}
	if path == "" {
		return []*node{n}
	}
	step, rest := cutStep(path)
	name, condition, _ := strings.Cut(strings.TrimSuffix(step, "]"), "[")
	if name == "." {
		if n.meets(condition) {
			return n.find(rest)
		}
		return nil
	}
	var found []*node
	for _, c := range n.children {
		if c.name.Local == name && c.meets(condition) {
			found = append(found, c.find(rest)...)
		}
	}
	return found
}

// cutStep cuts a path behind its first step; what stands in brackets may be a path itself.
func cutStep(path string) (step, rest string) {
	depth := 0
	for i, c := range path {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case '/':
			if depth == 0 {
				return path[:i], path[i+1:]
			}
		}
	}
	return path, ""
}

// meets reports whether an element has a value that a condition names: "" is met by all, "path=value" and "@attribute=value" by
// those with this value, whatever the case of its letters, "path" by those that have such an element.
func (n *node) meets(condition string) bool {
	if condition == "" {
		return true
	}
	path, want, compares := strings.Cut(condition, "=")
	if !compares {
		return len(n.find(path)) > 0
	}
	for _, v := range n.values(path) {
		if strings.EqualFold(v, want) {
			return true
		}
	}
	return false
}

// values are the texts of what a path leads to: of elements, or of the attribute that its last step names ("ID/@schemeID"), for
// each element that has it.
func (n *node) values(path string) []string {
	elements, attribute, isAttribute := path, "", false
	if last := strings.LastIndex(path, "/") + 1; strings.HasPrefix(path[last:], "@") {
		elements, attribute, isAttribute = strings.TrimSuffix(path[:last], "/"), path[last+1:], true
	}
	var values []string
	for _, e := range n.find(elements) {
		switch {
		case !isAttribute:
			values = append(values, e.value())
		case e.has(attribute):
			values = append(values, e.attr(attribute))
		}
	}
	return values
}

// has reports whether an element has an attribute.
func (n *node) has(attribute string) bool {
	for _, a := range n.attrs {
		if a.Name.Local == attribute {
			return true
		}
	}
	return false
}
