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
	parts := splitReturn(s)
	if len(parts) == 0 {
		return s
	}
	name := parts[0]
	for _, p := range parts[1:] {
		// "Contoso, Ltd." and "Müller, Meier & Co. KG" are one name.
		f := fold([]rune(p))
		if !strings.Contains(s, name+", "+p) || hasDigit(p) || !v.legalForm.MatchString(f) || len(p) > 22 {
			break
		}
		name += ", " + p
	}
	return name
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
	return strings.Trim(s, " ,;:|·•●-–*")
}

// nameLike reports whether a text can name a company or a person.
func (v *vocabulary) nameLike(s string) bool {
	r := []rune(s)
	if len(r) < 2 || len(r) > 70 || !letterWord.MatchString(s) {
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
