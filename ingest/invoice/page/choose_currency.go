package page

import (
	"regexp"
	"strings"

	"tallyhouse/ingest/invoice/fields"
)

var usDollar = regexp.MustCompile(`\bUSD\b|US\$`)

// currency reads the invoice's currency: named by a label, else the one its
// sums carry, else the one printed most, home rather than others. home is the
// currency of the supplier's country.
func (s *sheet) currency(all []sum, gross *share, home string) *fields.Text {
	if labelled := s.labelledCurrency(); labelled != nil {
		return labelled
	}
	if s.twofold {
		return nil
	}
	if gross != nil {
		if code := s.currencyBeside(gross.from); code != "" {
			return &fields.Text{Value: s.dollar(code), Evidence: s.evidence(gross.from.item, "currency of the total", 0.97)}
		}
	}
	votes, at := map[string]int{}, map[string]*item{}
	vote := func(code string, it *item, weight int) {
		if code != "" {
			votes[code] += weight
			if at[code] == nil {
				at[code] = it
			}
		}
	}
	for _, sm := range all {
		vote(sm.amount.currency, sm.item, 6)
	}
	for _, row := range s.rows {
		for _, it := range row {
			for _, a := range it.amounts {
				if !a.foreign {
					vote(a.currency, it, 3)
				}
			}
			if len(it.amounts) == 0 && len(it.runes) < 60 {
				vote(s.namedCurrency(it), it, 1)
			}
		}
	}
	if votes[home] > 0 {
		votes[home]++
	}
	best, second := "", 0
	for code, n := range votes {
		if n > votes[best] || n == votes[best] && code < best {
			best = code
		}
	}
	for code, n := range votes {
		if code != best && n > second {
			second = n
		}
	}
	if best == "" {
		return nil
	}
	confidence := 0.92
	if second*2 > votes[best] {
		confidence = 0.6
	}
	return &fields.Text{Value: s.dollar(best), Evidence: s.evidence(at[best], "currency of the amounts", confidence)}
}

// labelledCurrency is the currency that a label names.
func (s *sheet) labelledCurrency() *fields.Text {
	for _, row := range s.rows {
		for _, it := range row {
			loc := s.currencyLabel.FindStringIndex(it.folded)
			if loc == nil {
				continue
			}
			if code := currencyIn(it.runes[loc[1]:]); code != "" {
				return &fields.Text{Value: code, Evidence: s.evidence(it, "currency label", 0.97)}
			}
			if r := s.right(it); r != nil && len(r.runes) < 24 {
				if code := currencyIn(r.runes); code != "" {
					return &fields.Text{Value: code, Evidence: s.evidence(r, "currency label", 0.97)}
				}
			}
		}
	}
	return nil
}

// currencyBeside looks at the total itself, its row, and its column's heading.
func (s *sheet) currencyBeside(g *sum) string {
	if g.amount.currency != "" {
		return g.amount.currency
	}
	for _, it := range s.rows[g.item.row] {
		if code := s.printedCurrency(it); code != "" {
			return code
		}
	}
	return ""
}

// printedCurrency is the currency that an item names or an amount in it carries.
func (s *sheet) printedCurrency(it *item) string {
	for _, a := range it.amounts {
		if a.currency != "" && !a.foreign {
			return a.currency
		}
	}
	return s.namedCurrency(it)
}

// namedCurrency is the currency that an item names outside of its amounts: by a
// symbol, or by a code that stands alone, in a label, or behind "in". A code in
// other words is none: "BALLPOINT PEN", "CAD drawings", "TRY OUT".
func (s *sheet) namedCurrency(it *item) string {
	code, at, n := findCurrency(it.runes)
	if code == "" || string(it.runes[at:at+n]) != code {
		return code
	}
	before := strings.TrimRight(it.folded[:at], " (:[-")
	behind := strings.Trim(it.folded[at+n:], " ):].,-")
	if behind != "" && !unmistakable(code) {
		return ""
	}
	rest := strings.TrimSpace(before + " " + behind)
	role, _ := s.roleOf(rest)
	switch {
	case rest == "", role != roleNone, s.itemHeading.MatchString(rest), s.currencyLabel.MatchString(rest):
		return code
	case unmistakable(code) && s.inCurrency.MatchString(before):
		return code
	}
	return ""
}

// dollar gives a plain dollar sign the country whose code the document names.
func (s *sheet) dollar(code string) string {
	if code != "USD" {
		return code
	}
	for _, row := range s.rows {
		for _, it := range row {
			switch c := s.printedCurrency(it); c {
			case "CAD", "AUD", "NZD", "SGD", "HKD":
				return c
			case "USD":
				if usDollar.MatchString(it.text()) {
					return c
				}
			}
		}
	}
	return code
}
