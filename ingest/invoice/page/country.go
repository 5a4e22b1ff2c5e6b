package page

import (
	"regexp"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/words"
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
	abroad   = regexp.MustCompile(`\+ ?(\d{2,3})`)
	national = regexp.MustCompile(`[@.][a-z0-9.-]+\.([a-z]{2})\b`)
	// A state and its five figures end an address in the United States, two figures and seven are an employer's tax number there.
	american = regexp.MustCompile(`, (?:[\p{L} .]* )?` +
		`(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]|` +
		`Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|` +
		`Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|` +
		`Montana|Nebraska|Nevada|New (?:Hampshire|Jersey|Mexico|York)|(?:North|South) (?:Carolina|Dakota)|Ohio|Oklahoma|` +
		`Oregon|Pennsylvania|Rhode Island|Tennessee|Texas|Utah|Vermont|(?:West )?Virginia|Washington|Wisconsin|Wyoming)` +
		` \d{5}(?:-\d{4})?$`)
	// A postal code ends an address in the United Kingdom, and a VAT number there has groups of three, four and two figures.
	british    = regexp.MustCompile(`(?:^|[ ,])[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$`)
	britishID  = regexp.MustCompile(`(?:^|[^\d])\d{3} \d{4} \d{2}(?:[^\d]|$)`)
	employerID = regexp.MustCompile(`(?:^|[^\d-])\d{2}-\d{7}(?:[^\d-]|$)`)
	// How the numbers of businesses are called where that name is used in one country alone.
	businessID = regexp.MustCompile(`\b(oib|cvr|adoszam|nip|kvk|siret|siren)\b`)
	// What accounts in Sweden are called, and their figures: Norway's have others.
	giroLabel   = regexp.MustCompile(`\b(?:bank|plus)giro(?:t|nr)?\b`)
	giroFigures = regexp.MustCompile(`\b\d{3,4}-\d{4}\b|\d-\d\b`)
)

// called returns the country of a telephone number's first figures, as far as its currency is known; else nothing.
func called(figures string) (country string) {
	for _, c := range []struct{ code, country string }{
		{"30", "GR"}, {"31", "NL"}, {"32", "BE"}, {"33", "FR"}, {"34", "ES"}, {"36", "HU"}, {"39", "IT"}, {"40", "RO"},
		{"41", "CH"}, {"43", "AT"}, {"44", "GB"}, {"45", "DK"}, {"46", "SE"}, {"47", "NO"}, {"48", "PL"}, {"49", "DE"},
		{"351", "PT"}, {"352", "LU"}, {"353", "IE"}, {"356", "MT"}, {"357", "CY"}, {"358", "FI"}, {"359", "BG"}, {"370", "LT"},
		{"371", "LV"}, {"372", "EE"}, {"385", "HR"}, {"386", "SI"}, {"420", "CZ"}, {"421", "SK"}, {"423", "LI"},
	} {
		if strings.HasPrefix(figures, c.code) {
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

// nationalTax is how a tax is called where one currency alone is used.
type nationalTax struct {
	name     *words.Pattern
	currency string
}

// nationalTaxes lists the languages that are spoken where one currency alone is used.
func nationalTaxes() []struct{ language, currency string } {
	return []struct{ language, currency string }{{"fi", "EUR"}, {"hu", "HUF"}, {"nl", "EUR"}, {"sl", "EUR"}}
}

// rateCurrency is the currency of the countries that have a rate of tax which others don't, given in 1/10,000 of a percent.
func rateCurrency(rate int64) string {
	switch rate {
	case 270_000:
		return "HUF"
	case 26_000, 38_000, 77_000, 81_000:
		return "CHF"
	}
	return ""
}

// ofCountry lists what tells the supplier's country.
func (s *sheet) ofCountry(taxID *fields.Text, at *item, buyers map[*item]bool) (all []witness) {
	say := func(currency string, at *item, kind string, own bool) {
		if currency != "" {
			all = append(all, witness{currency, at, kind, own})
		}
	}
	say(countryCurrency(taxID), at, "tax id", true)
	if certain(taxID) && at != nil {
		say(businessCurrency(at.folded), at, "number of a business", true)
	}
	if taxID != nil && at != nil && employerID.MatchString(at.folded) {
		say("USD", at, "tax id", false)
	}
	if taxID != nil && at != nil && britishID.MatchString(at.text()) {
		say("GBP", at, "tax id", false)
	}
	for _, a := range s.accounts(buyers) {
		say(currencyOf(a.iban[:2]), a.at, "account", true)
	}
	if at := s.giro(); at != nil {
		say("SEK", at, "account", true)
	}
	for _, row := range s.rows {
		for _, it := range row {
			if buyers[it] || s.buyerWord.MatchString(it.folded) || len(it.runes) > maxLabelled {
				continue
			}
			for _, m := range abroad.FindAllStringSubmatch(it.folded, 2) {
				say(currencyOf(called(m[1])), it, "telephone", false)
			}
			for _, m := range national.FindAllStringSubmatch(it.folded, 2) {
				say(domainCurrency(m[1]), it, "domain", false)
			}
			if american.MatchString(it.text()) {
				say("USD", it, "address", false)
			}
			if british.MatchString(it.text()) {
				say("GBP", it, "address", false)
			}
		}
	}
	for _, row := range s.rows {
		taxed := slices.ContainsFunc(row, func(it *item) bool { return s.anyTax.MatchString(it.folded) })
		for _, it := range row {
			for _, a := range it.amounts {
				if taxed && a.percent {
					say(rateCurrency(a.value), it, "rate of tax", false)
				}
			}
			for _, tax := range s.nationalTax {
				if tax.name.MatchString(it.folded) {
					say(tax.currency, it, "name of the tax", false)
				}
			}
		}
	}
	code, crowns := s.crowns()
	say(code, crowns, "crowns in a language", true)
	return all
}

// giro is the label of a Swedish account, beside its figures or over them; nil where there is none.
func (s *sheet) giro() *item {
	for r, row := range s.rows {
		for _, it := range row {
			if !giroLabel.MatchString(it.folded) {
				continue
			}
			for _, near := range s.rows[r:min(r+2, len(s.rows))] {
				if near[0].page == it.page && giroFigures.MatchString(fold([]rune(rowText(near)))) {
					return it
				}
			}
		}
	}
	return nil
}

var printedCrowns = regexp.MustCompile(`\b[Kk]r\b`)

// crowns are those of Denmark, Norway or Sweden, where sums are in "kr" and the tax's name and the letters say in which language, and where
// that is printed first. "" where they don't.
func (s *sheet) crowns() (code string, at *item) {
	var moms, mva, oe, umlaut bool
	for _, row := range s.rows {
		for _, it := range row {
			if at == nil && printedCrowns.MatchString(it.text()) {
				at = it
			}
			moms, mva = moms || s.moms.MatchString(it.folded), mva || s.mva.MatchString(it.folded)
			oe, umlaut = oe || strings.ContainsAny(it.text(), "æøÆØ"), umlaut || strings.ContainsAny(it.text(), "äöÄÖ")
		}
	}
	switch {
	case at == nil || oe && umlaut:
		return "", nil
	case moms && !mva && oe:
		return "DKK", at
	case mva && !moms:
		return "NOK", at
	case moms && !mva && umlaut:
		return "SEK", at
	}
	return "", nil
}

// businessCurrency is the currency of the country where a number of a business is called as in a text.
func businessCurrency(folded string) string {
	switch businessID.FindString(folded) {
	case "oib", "kvk", "siret", "siren":
		return "EUR"
	case "cvr":
		return "DKK"
	case "adoszam":
		return "HUF"
	case "nip":
		return "PLN"
	}
	return ""
}

// How certain the currency of the supplier's country is: by one thing of his own, and by two things.
const (
	toldOnce  = 0.85
	toldTwice = 0.9
)

// homeCurrency is that of the supplier's country where no currency is printed. What is his own goes before what may be
// anybody's, and all of it must agree; what may be anybody's needs another kind of thing beside it.
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

// currencyOf is the currency of a country as VAT ids and IBANs name it, empty if unknown. An
// invoice that prints no currency is in that of its supplier's country.
func currencyOf(country string) string {
	switch country {
	case "AT", "BE", "CY", "DE", "EE", "EL", "ES", "FI", "FR", "HR", "IE", "IT", "LT", "LU", "LV",
		"MT", "NL", "PT", "SI", "SK", "BG", "GR", "MC", "SM", "AD", "ME", "XK":
		return "EUR"
	case "CH", "LI":
		return "CHF"
	case "GB":
		return "GBP"
	case "PL":
		return "PLN"
	case "CZ":
		return "CZK"
	case "DK":
		return "DKK"
	case "HU":
		return "HUF"
	case "RO":
		return "RON"
	case "SE":
		return "SEK"
	case "NO":
		return "NOK"
	}
	return ""
}

// countryCurrency is the currency of the country of a certain VAT id, else empty.
func countryCurrency(taxID *fields.Text) string {
	if taxID == nil || taxID.Confidence < fields.Certain || len(taxID.Value) < 9 {
		return ""
	}
	if valid, _ := checkVAT(taxID.Value); !valid {
		// Spain's own form lacks the country.
		if len(taxID.Value) == 9 && strings.ContainsAny(taxID.Value[:1], "ABCDEFGHJNPQRSUVW") && checkSpain(taxID.Value) {
			return "EUR"
		}
		return ""
	}
	return currencyOf(taxID.Value[:2])
}
