package page

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	returnSep  = regexp.MustCompile(` ?[·•|●∙▪◦◆♦*⋅・] ?|, | [-–—] |  +`)
	letterWord = regexp.MustCompile(`[\p{L}]{2,}`)
)

// ownsDomain reports whether a mail address or site on the sheet bears the name.
func (s *sheet) ownsDomain(c named) bool {
	word := s.domainWord(c.name)
	if word == "" {
		return false
	}
	for _, row := range s.rows {
		for _, it := range row {
			if (strings.Contains(it.folded, "@") || strings.Contains(it.folded, "www.") || strings.Contains(it.folded, "http")) &&
				strings.Contains(strings.NewReplacer("-", "", " ", "").Replace(it.folded), word) {
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
		most = 4  // parts of a name
		long = 22 // what stands before the legal form in the last part
	)
	parts := splitReturn(s)
	if len(parts) == 0 {
		return s
	}
	// "Contoso, Ltd.", "Müller, Meier & Co. KG" and "Tok, trgovina, d.d." are one name, up to the legal form.
	name, whole := parts[0], parts[0]
	named := v.legalForm.MatchString(foldText(name))
	for _, p := range parts[1:min(len(parts), most)] {
		if !strings.Contains(s, whole+", "+p) || hasDigit(p) {
			break
		}
		whole += ", " + p
		switch {
		case v.legalForm.MatchString(foldText(p)) && len(p) <= long:
			name, named = whole, true
		case named:
			return name
		}
	}
	return name
}

// throughForm cuts a sentence off behind the legal form of the name that it begins with.
func (v *vocabulary) throughForm(s string) string {
	f := foldText(s)
	loc := v.legalForm.FindStringIndex(f)
	if loc == nil {
		return s
	}
	end := loc[1]
	// "GmbH & Co. KG" are two.
	for next := v.legalForm.FindStringIndex(f[end:]); next != nil && next[0] < 6; next = v.legalForm.FindStringIndex(f[end:]) {
		end += next[1]
	}
	return string([]rune(s)[:end])
}

// titles of persons, in any language.
var personTitle = regexp.MustCompile(`^(?:(?:m?mag|dr|dipl|ing|di|arch|avv|dott|dott\.ssa|geom|prof|mr|mrs|ms|me|mgr|bc|ddr|rag)\b)`)

// sloganLike reports whether a text without a legal form has words that no name has but sentences and lists of services:
// small ones of four letters or more, or full stops behind words.
func sloganLike(name string) bool {
	words := strings.Fields(name)
	small := 0
	for _, w := range words[min(1, len(words)):] {
		if r := []rune(w); len(r) >= 3 && unicode.IsLower(r[0]) {
			small++
		}
	}
	return small >= 2 || small == 1 && len(words) <= 3 || strings.HasSuffix(name, "!")
}

// capitals reports whether all letters of a text are large.
func capitals(s string) bool { return strings.ToUpper(s) == s }

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
	// "Inh. Berger Bau GmbH"
	if loc := v.beforeName.FindStringIndex(foldText(s)); loc != nil && loc[1] < len([]rune(s)) {
		s = string([]rune(s)[loc[1]:])
	}
	return strings.TrimLeftFunc(s, func(r rune) bool { return unicode.Is(unicode.So, r) || r == ' ' }) // ornaments of a logo
}

// torn reports whether a text begins or ends in the middle of a name that is set on several lines.
func torn(s string) bool {
	return strings.HasPrefix(s, "&") || strings.HasPrefix(s, "+") || strings.HasSuffix(s, "&") || strings.HasSuffix(s, "+") ||
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
	if bare := v.legalForm.ReplaceAllString(" "+f+" ", " "); !letterWord.MatchString(bare) {
		return false // a legal form alone
	}
	if len(v.dates(f)) > 0 || !company && (v.street.MatchString(f) || v.postalCity.MatchString(f) || digits > 2) {
		return false
	}
	if v.neverAName.MatchString(f) || !company && v.notAName.MatchString(f) {
		return false
	}
	if len(strings.Fields(s)) > 9 || unicode.IsLower(r[0]) && !company && len(strings.Fields(s)) > 2 {
		return false
	}
	return true
}
