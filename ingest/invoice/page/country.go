package page

import (
	"regexp"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
)

// witness is what tells the currency of the supplier's country.
type witness struct {
	currency string
	at       *item
	kind     string // of what it is
	own      bool   // the supplier's for sure: a checked tax id, an account
}

// Where a currency stands nowhere, telephone numbers, mail domains and addresses tell the country. Each of them alone may be anybody's.
var (
	called   = regexp.MustCompile(`\+ ?(\d{2,3})\D`)
	national = regexp.MustCompile(`[@.][a-z0-9-]+\.([a-z]{2})\b`)
	// A state and its five figures end an address in the United States, two figures and seven are an employer's tax number there.
	stateCode  = regexp.MustCompile(`, [\p{L} .]*?([A-Z]{2}|[A-Z][a-z]+(?: [A-Z][a-z]+)?) \d{5}(?:-\d{4})?$`)
	employerID = regexp.MustCompile(`(?:^|[^\d-])\d{2}-\d{7}(?:[^\d-]|$)`)
)

// callingCodes are those of the countries whose currencies are known.
func callingCodes(code string) (country string) {
	for _, c := range []struct{ code, country string }{
		{"30", "GR"}, {"31", "NL"}, {"32", "BE"}, {"33", "FR"}, {"34", "ES"}, {"36", "HU"}, {"39", "IT"}, {"40", "RO"}, {"41", "CH"}, {"43", "AT"},
		{"44", "GB"}, {"45", "DK"}, {"46", "SE"}, {"47", "NO"}, {"48", "PL"}, {"49", "DE"}, {"351", "PT"}, {"352", "LU"}, {"353", "IE"}, {"356", "MT"},
		{"357", "CY"}, {"358", "FI"}, {"359", "BG"}, {"370", "LT"}, {"371", "LV"}, {"372", "EE"}, {"385", "HR"}, {"386", "SI"}, {"420", "CZ"},
		{"421", "SK"}, {"423", "LI"},
	} {
		if strings.HasPrefix(code, c.code) {
			return c.country
		}
	}
	return ""
}

// domainCurrency is the currency of the country that a domain ends in.
func domainCurrency(end string) string {
	switch end {
	case "uk":
		return "GBP"
	case "me", "ad", "sm": // anybody's
		return ""
	}
	return currencyOf(strings.ToUpper(end))
}

// isState reports whether a word is a state of the United States, by its name or its two letters.
func isState(word string) bool {
	const all = "|AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|FL Florida|GA Georgia|HI Hawaii|" +
		"ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|" +
		"MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|" +
		"ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|" +
		"VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming|"
	return strings.Contains(all, "|"+word+" ") || len(word) > 3 && strings.Contains(all, " "+word+"|")
}

// ofCountry lists what tells the supplier's country.
func (s *sheet) ofCountry(taxID *fields.Text, at *item, buyers map[*item]bool) (all []witness) {
	say := func(currency string, at *item, kind string, own bool) {
		if currency != "" {
			all = append(all, witness{currency, at, kind, own})
		}
	}
	say(countryCurrency(taxID), at, "tax id", true)
	if taxID != nil && at != nil && employerID.MatchString(at.folded) {
		say("USD", at, "tax id", false)
	}
	for _, a := range s.accounts(buyers) {
		say(currencyOf(a.iban[:2]), a.at, "account", true)
	}
	for _, row := range s.rows {
		for _, it := range row {
			if buyers[it] || s.buyerWord.MatchString(it.folded) || len(it.runes) > maxLabelled {
				continue
			}
			for _, m := range called.FindAllStringSubmatch(it.folded+" ", 2) {
				say(currencyOf(callingCodes(m[1])), it, "telephone", false)
			}
			for _, m := range national.FindAllStringSubmatch(it.folded, 2) {
				say(domainCurrency(m[1]), it, "domain", false)
			}
			if m := stateCode.FindStringSubmatch(it.text()); m != nil && isState(m[1]) {
				say("USD", it, "address", false)
			}
		}
	}
	return all
}

// How certain the currency of the supplier's country is: by one thing of his own, and by two things.
const (
	toldOnce  = 0.85
	toldTwice = 0.9
)

// homeCurrency is that of the supplier's country where no currency is printed. What is his own goes before what may be anybody's, and all of it
// must agree; what may be anybody's needs another kind of thing beside it.
func (s *sheet) homeCurrency(taxID *fields.Text, at *item, buyers map[*item]bool) *fields.Text {
	all := s.ofCountry(taxID, at, buyers)
	if own := slices.DeleteFunc(slices.Clone(all), func(w witness) bool { return !w.own }); len(own) > 0 {
		all = own
	}
	kinds := map[string]bool{}
	for _, w := range all {
		if w.currency != all[0].currency {
			return nil
		}
		kinds[w.kind] = true
	}
	confidence := toldTwice
	switch {
	case len(all) == 0, !all[0].own && len(kinds) < 2:
		return nil
	case len(all) == 1:
		confidence = toldOnce
	}
	return &fields.Text{Value: all[0].currency, Evidence: s.evidence(all[0].at, "currency of the supplier's country", confidence)}
}
