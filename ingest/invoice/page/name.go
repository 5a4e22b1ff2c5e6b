package page

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	returnSep  = regexp.MustCompile(` [/~] | ?[·•|●∙▪◦◆♦*⋅・] ?|, | [-–—] |  +`)
	letterWord = regexp.MustCompile(`[\p{L}]{2,}`)
)

// ownsDomain reports whether a mail address or site on the sheet bears the name.
func (s *sheet) ownsDomain(c named) bool {
	word := s.domainWord(c.name)
	if word == "" {
		return false
	}
	spelled := s.domainWord(strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss",
		"ø", "oe", "å", "aa", "æ", "ae").Replace(c.name))
	for _, row := range s.rows {
		for _, it := range row {
			if !strings.Contains(it.folded, "@") && !strings.Contains(it.folded, "www.") && !strings.Contains(it.folded, "http") {
				continue
			}
			site := it.folded
			if next := s.wrapped(it); next != nil && strings.HasSuffix(site, "-") { // "office@berger-", "bau.at"
				site += next.folded
			}
			site = strings.NewReplacer("-", "", " ", "").Replace(site)
			if strings.Contains(site, word) || strings.Contains(site, spelled) {
				return true
			}
		}
	}
	return false
}

// domainWord is the longest word of a name, as it would stand in a domain.
func (v *vocabulary) domainWord(name string) string {
	best := ""
	for _, w := range letterWord.FindAllString(name, -1) {
		if f := fold([]rune(w)); len(f) > len(best) && len(f) >= 4 && !strings.Contains(f, "~") &&
			!v.legalForm.MatchString(f) {
			best = f
		}
	}
	return best
}

// firstPart cuts an address off behind the name.
func (v *vocabulary) firstPart(s string) string {
	const (
		most = 5  // parts of a name
		long = 22 // what stands before the legal form in the last part
	)
	parts := splitReturn(s)
	if len(parts) == 0 {
		return s
	}
	// "Contoso, Ltd.", "Müller, Meier & Co. KG", "Tok, trgovina z energijo d.d." and "Barro – Materiais, S.A." are one name, up to the
	// legal form: it stands alone, or what is before it is short or goes on in small letters.
	name, whole := parts[0], parts[0]
	named, dashed := v.legalForm.MatchString(foldText(name)), false
	for _, p := range parts[1:min(len(parts), most)] {
		between := separator(s, whole, p)
		if between == "" || hasDigit(p) {
			break
		}
		dashed = dashed || between != ", "
		whole += between + p
		folded := foldText(p)
		switch {
		case v.legalForm.MatchString(folded) && (v.formAlone(folded) || !dashed && (len(p) <= long || unicode.IsLower([]rune(p)[0]))):
			name, named = whole, true
		case named:
			return name
		}
	}
	return name
}

// upToForm cuts off a street or department that follows a name behind its legal form without a mark between: "Kiilto Oy
// Hitsaajankatu 22", "Kiilto AG Abteilung Buchhaltung".
func (v *vocabulary) upToForm(name string) string {
	first, end := v.formIn(name)
	if first == nil {
		return name
	}
	all := []rune(strings.Join(strings.Fields(name), " "))
	rest := strings.TrimSpace(foldText(string(all[end:])))
	street := hasDigit(rest) && v.street.MatchString(rest)
	if !street && !v.department.MatchString(rest) || v.legalForm.MatchString(rest) {
		return name
	}
	return strings.TrimSpace(string(all[:end]))
}

// formAlone reports whether a text is a legal form and nothing else.
func (v *vocabulary) formAlone(folded string) bool {
	rest := " " + strings.ReplaceAll(folded, "/", " ") + " "
	for { // again, as forms share the space between them: "Sp. z o.o. Sp. k."
		without := v.legalForm.ReplaceAllString(rest, " ")
		if without == rest {
			return !letterWord.MatchString(rest)
		}
		rest = without
	}
}

// separator is what stands between the beginning of a text and its next part: a comma or a dash; nothing where it is something else.
func separator(s, whole, next string) string {
	for _, between := range []string{", ", " – ", " - ", " — "} {
		if strings.Contains(s, whole+between+next) {
			return between
		}
	}
	return ""
}

// ofOwner is how names go on behind their legal form, as in "S.n.c. di Bertoldi G. & C.".
var ofOwner = regexp.MustCompile(`^(?:di|de|du|del|von|van|y|i|e|et|und|a) `)

// throughForm cuts a sentence off that goes on in small letters behind the legal form of the name that it begins with:
// "Berger Bau GmbH is registered in …".
func (v *vocabulary) throughForm(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	first, end := v.formIn(s)
	if first == nil {
		return s
	}
	all := []rune(s)
	rest := strings.TrimSpace(string(all[end:]))
	form := string(all[first[0]:first[1]])
	if rest == "" || !unicode.IsLower([]rune(rest)[0]) || ofOwner.MatchString(rest) ||
		strings.ToLower(form) == form && !strings.Contains(form, ".") {
		return s
	}
	return strings.TrimSpace(string(all[:end]))
}

// formIn is where the first legal form behind a name stands in a text with one space between its words, and where the last ends that
// belongs to it: "GmbH & Co. KG" are two. Nil where there is none, or no name before it.
func (v *vocabulary) formIn(s string) (first []int, end int) {
	f := foldText(s)
	if first = v.legalForm.FindStringIndex(f); first == nil || first[0] == 0 {
		return nil, 0
	}
	end = first[1]
	for next := v.legalForm.FindStringIndex(f[end:]); next != nil && strings.Trim(f[end:end+next[0]], " &+") == ""; {
		end += next[1]
		next = v.legalForm.FindStringIndex(f[end:])
	}
	return first, end
}

// throughItsForm cuts off what follows the legal form of a name with nothing between and holds a register's entry: "Beton Tulln GmbH & Co
// KG Firmensitz Tulln FN 78114s".
func (s *sheet) throughItsForm(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	first, end := s.formIn(name)
	if first == nil || !s.footMark.MatchString(foldText(name)[end:]) {
		return name
	}
	return strings.TrimSpace(string([]rune(name)[:end]))
}

func (v *vocabulary) cleanName(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if loc := v.capital.FindStringIndex(fold([]rune(s))); loc != nil {
		s = string([]rune(s)[:loc[0]])
	}
	f := fold([]rune(s))
	if loc := v.nameLabel.FindStringIndex(f); loc != nil && strings.Contains(f[:loc[1]], ":") {
		s = string([]rune(s)[loc[1]:])
	}
	s = strings.TrimPrefix(s, "LOGO ")
	s = strings.Trim(s, " ,;:|·•●-–*")
	s = smallStart.ReplaceAllString(v.upToForm(s), "") // "… von Berger Bau GmbH"
	// "Inh. Berger Bau GmbH"
	if loc := v.beforeName.FindStringIndex(foldText(s)); loc != nil && loc[1] < len([]rune(s)) {
		s = string([]rune(s)[loc[1]:])
	}
	// "Malerei Berger e.U. Inh. Franz Berger"
	if loc := v.owner.FindStringIndex(foldText(s)); loc != nil {
		s = string([]rune(s)[:loc[0]])
	}
	return strings.TrimLeftFunc(s, func(r rune) bool { return unicode.Is(unicode.So, r) || r == ' ' }) // ornaments of a logo
}

// smallStart are words of a sentence or slogan before a name.
var smallStart = regexp.MustCompile(`^(?:von der|von|vom|durch die|durch|an die|by|from|par) `)

// andBefore is "and", or an Italian "of", before the rest of a name.
var andBefore = regexp.MustCompile(`^(?:und|and|et|ed?|y|i|en|och|og|ja|és|a|in|și|sau|di|и|και|ir|un) \p{Lu}`)

// torn reports whether a text begins or ends in the middle of a name that is set on several lines.
func torn(s string) bool {
	return andBefore.MatchString(s) || strings.HasPrefix(s, "&") || strings.HasPrefix(s, "+") ||
		strings.HasSuffix(s, "&") || strings.HasSuffix(s, "+") ||
		strings.Count(s, "(") < strings.Count(s, ")")
}

// nameLike reports whether a text can name a company or a person.
func (v *vocabulary) nameLike(s string) bool {
	r := []rune(s)
	if len(r) < 2 || len(r) > 70 || !letterWord.MatchString(s) || torn(s) {
		return false
	}
	f := fold(r)
	letters, digits := 0, 0
	for _, c := range r {
		if unicode.IsLetter(c) {
			letters++
		} else if isDigit(c) {
			digits++
		}
	}
	if letters*2 < len(r) || digits > 6 || strings.HasSuffix(strings.TrimSpace(s), ":") ||
		strings.Contains(s, ":") {
		return false
	}
	company := v.legalForm.MatchString(f)
	if v.formAlone(f) || dutchTown.MatchString(f) {
		return false
	}
	if loc := v.department.FindStringIndex(f); loc != nil && loc[1] == len(f) {
		return false
	}
	if len(v.dates(f)) > 0 || !company && (v.street.MatchString(f) || v.postalCity.MatchString(f) || digits > 2) {
		return false
	}
	never := v.neverAName.FindStringIndex(f)
	if never != nil && (!company || never[0] == 0) || !company && v.notAName.MatchString(f) {
		return false // "Nordlicht Telefon GmbH" is one
	}
	if loc := v.buyerWord.FindStringIndex(f); loc != nil && loc[0] == 0 && !company {
		return false // "Client Some Name"
	}
	if loc := v.register.FindStringIndex(f); loc != nil && loc[0] == 0 {
		return false // the entry of a register
	}
	professed := personBehind.MatchString(s) || v.person(s) // "architetto Chiara Rossi"
	if len(strings.Fields(s)) > 9 || unicode.IsLower(r[0]) && !company && len(strings.Fields(s)) > 2 && !professed {
		return false
	}
	return true
}

// dutchTown is a town behind its postal code, whose letters may be those of a legal form: "8263 AB Kampen".
var dutchTown = regexp.MustCompile(`^\d{4} [a-z]{2} [a-z]`)

// personBehind is an academic's or nobleman's small letters before a name: "dott. ing. Marta Bellomo", "v. Trotha".
var personBehind = regexp.MustCompile(`^(?:(?:dott\.ssa|(?:dott|arch|ing|avv|geom|dr|mag|dipl|prof|v)\.)[ -]?)+ ?\p{Lu}`)
