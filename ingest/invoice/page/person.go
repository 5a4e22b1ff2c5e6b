package page

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// degree is an abbreviation before a person's name, for a degree or profession: "Mag.", "Dipl.-Ing. (FH)", "arch.".
var degree = regexp.MustCompile(`^(?:\p{L}[\p{L}-]*\.(?:[\p{L}-]+\.)*|\([\p{L}. ]+\)) *`)

// particle is a small word or an initial within a person's name.
var particle = regexp.MustCompile(`^(?:von|van|vom|zu|zum|de|da|di|del|della|dos|du|der|den|ter|ten|le|la|af|av|v\.|\p{Lu}\.)$`)

// person reports whether a name is a person's: a common given name, whatever degrees stand before it, and a surname.
func (v *vocabulary) person(name string) bool {
	const (
		most        = 5 // words
		professions = 2 // words before the name
	)
	words := strings.Fields(withoutDegrees(name))
	for n := 0; n < professions && len(words) > 2 && !v.givenNames[givenOf(words[0])]; n++ {
		words = words[1:] // "architetto Chiara Rossi", "DI Anna Berger"
	}
	if len(words) < 2 || len(words) > most || v.inLaw(name) {
		return false
	}
	if !v.givenNames[givenOf(words[0])] {
		return false
	}
	small := unicode.IsLower([]rune(words[0])[0]) // some write all in small letters
	return !slices.ContainsFunc(words[1:], func(w string) bool {
		first := []rune(w)[0]
		return hasDigit(w) || !particle.MatchString(w) && (!unicode.IsLetter(first) || unicode.IsLower(first) != small)
	})
}

// withoutDegrees is a name without what stands before it for degrees.
func withoutDegrees(name string) string {
	for loc := degree.FindStringIndex(name); loc != nil && loc[1] < len(name); loc = degree.FindStringIndex(name) {
		name = name[loc[1]:]
	}
	return name
}

// surnameBelow is the surname in the line below a given name that stands alone, in the same letters: "MAG. FLORIAN" over "HUBER". Nil where
// none stands there.
func (s *sheet) surnameBelow(it *item) *item {
	if !s.givenNames[givenOf(withoutDegrees(it.text()))] {
		return nil
	}
	below := s.nearBelow(it)
	at := slices.IndexFunc(below, func(b *item) bool {
		same := absFloat(b.size-it.size) < 0.2 && absFloat(b.x0-it.x0) < 1
		return same && letterWord.FindString(b.text()) == b.text() && unicode.IsUpper(b.runes[0])
	})
	if at < 0 {
		return nil
	}
	return below[at]
}

// givenOf is the first of the names that a given name is made of: "anna" of "Anna-Lena".
func givenOf(word string) string {
	given, _, _ := strings.Cut(foldText(word), "-")
	return given
}

// professed reports whether a person's name stands right over or below the likeliest, which is none in law and not a person's: that one
// says what the person does or trades as, "Öffentlicher Notar" over "Dr. Konrad Hell".
func (c named) professed(likeliest *named) bool {
	return c.ties[tieHead] && !likeliest.form && c.person && !likeliest.person && sameParty(c.it, likeliest.it)
}

// thePerson is the one person whose own lines hold a tax id, an account or a register's entry, who begins the sender's line, signs, owns
// the account or is set larger than every company, while no label, account, register, domain, signature or foot names a company: who bills
// without a company has no legal form, and whom the letter is for has one. -1 where there is none, or several.
func (s *sheet) thePerson(all []named, buyers map[*item]bool) int {
	only := -1
	for i, c := range all {
		switch {
		case c.form && !buyers[c.it]:
			if c.tiedBy(tieAccount, tieRegister, tieHolder, tieLabel, tieDomain, tieSigned, tieFoot) {
				return -1
			}
		case buyers[c.it] || !c.person || c.rule == ruleImprint || s.underCompany(c.it):
		case !c.tiedBy(tieID, tieAccount, tieRegister, tieHolder, tieReturn, tieSigned) && !largestInHead(&c, all):
		case only >= 0 && !sameName(&all[only], &all[i]):
			return -1
		case only < 0 || len(c.name) > len(all[only].name):
			only = i
		}
	}
	return only
}

// largestInHead reports whether a name in the head is set larger than every company's.
func largestInHead(c *named, all []named) bool {
	const more = 1.15
	return c.ties[tieHead] && !slices.ContainsFunc(all, func(o named) bool { return o.form && c.it.size < more*o.it.size }) &&
		slices.ContainsFunc(all, func(o named) bool { return o.form })
}

// tiedBy reports whether one of these ties a name to the issuer.
func (c named) tiedBy(ties ...tie) bool {
	return slices.ContainsFunc(ties, func(t tie) bool { return c.ties[t] })
}

// underCompany reports whether an item stands in the lines right below a company's name: the person works there.
func (s *sheet) underCompany(it *item) bool {
	const lines = 2
	for n, above := 0, s.above(it); n < lines && above != nil; n, above = n+1, s.above(above) {
		if sameEdge(above, it) && s.legalForm.MatchString(above.folded) {
			return true
		}
	}
	return false
}
