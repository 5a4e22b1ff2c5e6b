package einvoice

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
)

// A rule of EN 16931 or of XRechnung. Which are known, and what they come to, is held against the validators that their authors
// publish (docs/invoices.md#rules-of-e-invoices).
type rule struct {
	id string
	// group is whose elements the rule is about, each by itself; "" for the whole invoice.
	group string
	// broken says what is wrong, "" if nothing is, and the term that it is about, if one in particular.
	broken func(about) (what, term string)
	// fatal: the invoice contradicts what it wants paid, or who wants it, so nothing of it can be believed.
	fatal bool
}

// about is what a rule looks at: an element of the rule's group, or the root, and the invoice that it is in.
type about struct {
	*node
	root *node
	ubl  bool
}

// path is where a term stands in the invoice's syntax.
func (a about) path(name string) string {
	if a.ubl {
		return terms[name].ubl
	}
	return terms[name].cii
}

// invoice is the whole of the invoice.
func (a about) invoice() about { return about{a.root, a.root, a.ubl} }

// each are the elements of a group, or those that state a term.
func (a about) each(name string) []about {
	var elements []about
	for path := range strings.SplitSeq(a.path(name), "|") {
		for _, n := range a.find(path) {
			elements = append(elements, about{n, a.root, a.ubl})
		}
	}
	return elements
}

// texts are all values of a term, empty ones, too.
func (a about) texts(name string) []string {
	var texts []string
	for path := range strings.SplitSeq(a.path(name), "|") {
		texts = append(texts, a.values(path)...)
	}
	return texts
}

// text is the first value of a term that isn't empty.
func (a about) text(name string) string {
	for _, t := range a.texts(name) {
		if t != "" {
			return t
		}
	}
	return ""
}

// states reports whether a term or group is there, even without a value.
func (a about) states(name string) bool { return len(a.texts(name)) > 0 }

// number is the value of a term; nil where there is none.
func (a about) number(name string) *big.Rat { return decimal(a.text(name)) }

// sum adds up a term over elements; what isn't stated counts as nothing.
func sum(elements []about, name string) *big.Rat {
	total := new(big.Rat)
	for _, e := range elements {
		if v := e.number(name); v != nil {
			total.Add(total, v)
		}
	}
	return total
}

// followsEN16931 reports whether an invoice says that it follows all rules of EN 16931. Profiles that state less (MINIMUM, BASIC WL)
// or more (EXTENDED) don't.
func (r raw) followsEN16931() bool {
	return (r.format == CII || r.format == UBL) && strings.Contains(r.guideline, "urn:cen.eu:en16931:2017") &&
		!strings.Contains(r.guideline, "#conformant#")
}

// breaches are the rules that an invoice breaks, the fatal ones apart.
func (r raw) breaches() (faults, others []fields.Finding) {
	rules := slices.Concat(documentRules(), sumRules(), vatRules(), codeRules())
	if strings.Contains(r.guideline, "xrechnung") {
		rules = append(rules, xrechnungRules()...)
	}
	invoice := about{r.root, r.root, r.format == UBL}
	told := map[string]int{}
	for _, rule := range rules {
		elements := []about{invoice}
		if rule.group != "" {
			elements = invoice.each(rule.group)
		}
		for i, e := range elements {
			what, about := rule.broken(e)
			if what == "" || told[rule.id] == mostOfARule {
				continue
			}
			told[rule.id]++
			if found := breach(rule, e, i, what, about); rule.fatal {
				faults = append(faults, found)
			} else {
				others = append(others, found)
			}
		}
	}
	return faults, others
}

// mostOfARule is how often an invoice is told of one rule: a program that leaves a name out does so on a thousand lines.
const mostOfARule = 3

// breach tells of a broken rule: what it is about is the i-th element of its group.
func breach(r rule, e about, i int, what, term string) fields.Finding {
	place := e.path(r.group)
	if r.group != "" {
		place, _, _ = strings.Cut(place, "|")
		what = fmt.Sprintf("%s %d: %s", terms[r.group].name, i+1, what)
		place = fmt.Sprintf("%s[%d]", place, i+1)
	}
	if term != "" {
		path, _, _ := strings.Cut(e.path(term), "|")
		place = strings.TrimPrefix(place+"/"+path, "/")
	}
	return fields.Finding{Rule: r.id, Message: fmt.Sprintf("%s (%s)", what, r.id), Place: place}
}

// must is a rule by which a term has a value. Where one is only to be there, as amounts are, see present.
func must(id, group, name string) rule {
	return rule{id: id, group: group, broken: func(a about) (string, string) {
		if a.text(name) == "" {
			return fmt.Sprintf("no %s (%s)", terms[name].name, name), name
		}
		return "", ""
	}}
}

// present is a rule by which a term is stated.
func present(id, group, name string) rule {
	return rule{id: id, group: group, broken: func(a about) (string, string) {
		if !a.states(name) {
			return fmt.Sprintf("no %s (%s)", terms[name].name, name), name
		}
		return "", ""
	}}
}

// twoDecimals is a rule by which an amount has at most two decimals. What is no number has none, so nothing can be added up.
func twoDecimals(id, group, name string) rule {
	return rule{id: id, group: group, fatal: true, broken: func(a about) (string, string) {
		for _, text := range a.texts(name) {
			_, decimals, _ := strings.Cut(text, ".")
			switch {
			case len(decimals) > 2:
				return fmt.Sprintf("%s %s (%s) has more than two decimals", terms[name].name, text, name), name
			case text != "" && decimal(text) == nil:
				return fmt.Sprintf("%s %q (%s) is no number", terms[name].name, text, name), name
			}
		}
		return "", ""
	}}
}

// qualified is a rule by which whatever states a term says by an attribute of which scheme or list it is.
func qualified(id, group, name, attribute string) rule {
	return rule{id: id, group: group, broken: func(a about) (string, string) {
		for _, e := range a.each(name) {
			if e.attr(attribute) == "" {
				return fmt.Sprintf("%s %s (%s) doesn't say by %s of which scheme it is", terms[name].name, e.value(), name, attribute), name
			}
		}
		return "", ""
	}}
}
