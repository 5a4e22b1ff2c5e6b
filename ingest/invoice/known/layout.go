package known

import (
	"math"
	"slices"
	"strconv"

	"tallyhouse/ingest/invoice/fields"
)

// Stood is where a value stood that a person has confirmed for an earlier invoice.
type Stood struct {
	Field string
	Page  int
	Box   fields.Box
	Label string
	// Corrected says that the page was certain of another value, which the person replaced.
	Corrected bool
}

// Layout is where the values of an earlier invoice of the same supplier stood.
type Layout []Stood

const (
	ruleOfLayout = "known layout"
	// RuleCorrected is the rule of values that outdid others that the page was certain of, for a person had corrected those.
	RuleCorrected = "corrected before"
	sureByLayout  = 0.9
	// near is how far apart two places are at most that are the same, in parts of the page.
	near = 0.006
)

// Place states values that aren't certain where exactly one candidate stands as the confirmed values of earlier invoices of the same
// supplier did: beside the same words in the same column, or, where there are no words, at the same place. A value that the page is
// certain of gives way only where a person has corrected that very field. What must hold of sums and days does: a total that the
// printed sums don't add up to isn't stated, nor is any sum where findings say that they disagree.
func Place(i fields.Invoice, findings []fields.Finding, layouts []Layout) fields.Invoice {
	placed := i
	for _, field := range []string{fields.Number, fields.Date, fields.DueDate} {
		placed = place(placed, field, layouts)
	}
	if placed.DueDate != nil && placed.Date != nil && placed.DueDate.Value < placed.Date.Value {
		placed.DueDate, placed.Date = i.DueDate, i.Date
		placed.Possible = i.Possible
		placed = place(placed, fields.Number, layouts)
	}
	if slices.ContainsFunc(findings, func(f fields.Finding) bool { return f.Rule == "sums-disagree" }) {
		return placed
	}
	summed := placed
	for _, field := range []string{fields.Net, fields.Tax, fields.Gross} {
		summed = place(summed, field, layouts)
	}
	if !adds(summed) {
		return placed
	}
	return summed
}

// place states the one candidate of a field that stands where the earlier ones did.
func place(i fields.Invoice, field string, layouts []Layout) fields.Invoice {
	all := candidates(i, field)
	var found []fields.Possible
	corrected := false
	for _, l := range layouts {
		for _, stood := range l {
			if stood.Field != field {
				continue
			}
			c, is := stood.among(all)
			if !is {
				continue
			}
			corrected = corrected || stood.Corrected
			if !slices.ContainsFunc(found, func(f fields.Possible) bool { return f.Value == c.Value }) {
				found = append(found, c)
			}
		}
	}
	if len(found) != 1 {
		return i
	}
	value := valueOf(i, field)
	switch {
	case value == nil || value.Confidence < fields.Certain:
		return state(i, found[0], ruleOfLayout, sureByLayout)
	case corrected && value.Value != found[0].Value:
		return state(i, found[0], RuleCorrected, sureByLayout)
	}
	return i
}

// among is the one of some candidates that stands as the value did.
func (s Stood) among(all []fields.Possible) (fields.Possible, bool) {
	alike := func(only func(fields.Evidence) bool) (found []fields.Possible) {
		for _, c := range all {
			if only(c.Evidence) && !slices.ContainsFunc(found, func(f fields.Possible) bool { return f.Value == c.Value }) {
				found = append(found, c)
			}
		}
		return found
	}
	found := alike(s.alike)
	if len(found) > 1 {
		found = alike(func(e fields.Evidence) bool { return s.alike(e) && s.at(e) })
	}
	if len(found) != 1 {
		return fields.Possible{}, false
	}
	return found[0], true
}

// alike reports whether a candidate stands as the value did.
func (s Stood) alike(e fields.Evidence) bool {
	if e.Box == nil || e.Label != s.Label {
		return false
	}
	column := math.Abs(e.Box.Left-s.Box.Left) <= near || math.Abs(e.Box.Right-s.Box.Right) <= near
	return column && (s.Label != "" || s.at(e))
}

// at reports whether a candidate stands as high on the same page as the value did.
func (s Stood) at(e fields.Evidence) bool {
	return e.Page == s.Page && math.Abs(e.Box.Top-s.Box.Top) <= near
}

// adds reports whether net and tax are the gross sum, as far as they are known: a gross sum alone has to be what a possible net sum
// and possible taxes make, where there are both.
func adds(i fields.Invoice) bool {
	switch {
	case i.Gross == nil:
		return i.Net == nil && i.Tax == nil
	case i.Net != nil && i.Tax != nil:
		return i.Net.Value+i.Tax.Value == i.Gross.Value
	}
	nets, taxes := amounts(i, fields.Net), amounts(i, fields.Tax)
	if len(nets) == 0 || len(taxes) == 0 {
		return true
	}
	return slices.ContainsFunc(nets, func(net int64) bool { return made(i.Gross.Value-net, taxes) })
}

// made reports whether some of a few amounts, each taken once at most, make a sum.
func made(sum int64, of []int64) bool {
	if sum == 0 || len(of) == 0 {
		return sum == 0
	}
	return made(sum-of[0], of[1:]) || made(sum, of[1:])
}

// amounts are the value of a sum, or the different ones that it could have.
func amounts(i fields.Invoice, field string) (all []int64) {
	if a := *amountOf(&i, field); a != nil {
		return []int64{a.Value}
	}
	for _, c := range candidates(i, field) {
		if n, err := strconv.ParseInt(c.Value, 10, 64); err == nil && !slices.Contains(all, n) && len(all) <= fields.MaxPossible {
			all = append(all, n)
		}
	}
	return all
}
