package page

import (
	"slices"
	"strings"
)

// group tells short forms of names, as logos and letterheads have them, from names: "WEISS & PARTNER" is "Weiss & Partner
// Rechtsanwälte OG" where that is printed, too, and no other name with a legal form holds the same words.
func (s *sheet) group(all []named) {
	for i := range all {
		c := &all[i]
		c.whole = c.key
		if s.domainWord(c.name) == "" && !initialsAlone(c.name) {
			continue
		}
		whole := c.key
		several := false
		for _, o := range all {
			full := s.legalForm.MatchString(foldText(o.name)) || slices.Contains([]string{ruleReturn, ruleImprint, ruleHolder, ruleSeller}, o.rule)
			if len(o.key) <= len(c.key) || !(full && s.shortens(c, &o)) && !s.abbreviates(c, &o) && !s.surname(c, &o) {
				continue
			}
			several = several || whole != c.key && !strings.Contains(o.key, whole) && !strings.Contains(whole, o.key)
			if len(o.key) > len(whole) {
				whole = o.key
			}
		}
		if !several {
			c.whole = whole
		}
	}
}

// shortens reports whether a name is made of words of a longer one.
func (s *sheet) shortens(short, long *named) bool {
	if form := s.legalForm.FindStringIndex(foldText(short.name)); form != nil {
		return strings.HasPrefix(long.key, short.key) || s.leavesOut(short, long, form[0])
	}
	if len(short.key) >= 6 && strings.HasPrefix(long.key, short.key) {
		return true
	}
	in := strings.Fields(foldText(long.name))
	for _, w := range strings.Fields(foldText(short.name)) {
		if len(Key(w)) > 1 && !slices.Contains(in, w) {
			return false
		}
	}
	return true
}

// surname reports whether a name is a person's surname alone, behind what he does and his degrees: "Notarin Dr. Wild" is Dr. Ada Wild.
func (s *sheet) surname(short, long *named) bool {
	words := strings.Fields(short.name)
	said := len(words)
	for len(words) > 1 && (s.neverAName.MatchString(foldText(words[0])) || degree.FindString(words[0]+" ") == words[0]+" ") {
		words = words[1:]
	}
	all := strings.Fields(long.name)
	return long.person && len(words) == 1 && said > 1 && len(all) > 1 && Key(words[0]) == Key(all[len(all)-1])
}

// Initials have so many letters.
const fewestInitials, mostInitials = 2, 5

// leavesOut reports whether a name with a legal form, which begins at an offset, is a longer one without the words between its first and
// that: "Steinbrenner GmbH & Co. KG" is the "Steinbrenner Hoch- und Tiefbau GmbH & Co. KG".
func (s *sheet) leavesOut(short, long *named, form int) bool {
	const telling = 5 // letters of the first words
	name := []rune(short.name)
	begin, end := Key(string(name[:form])), Key(string(name[form:]))
	return len(begin) >= telling && strings.HasPrefix(long.key, begin) && strings.HasSuffix(long.key, end) && len(long.key) > len(short.key)
}

func initialsAlone(s string) bool {
	return len(s) >= fewestInitials && len(s) <= mostInitials && strings.ToUpper(s) == s && letterWord.MatchString(s)
}

// abbreviates reports whether a name begins with the initials of a longer one and goes on as that does, if it goes on: "WAZV Obere Saale"
// is the "Wasser- und Abwasserzweckverband Obere Saale", "LARC" the "Lowland Applied Research Company".
func (s *sheet) abbreviates(short, long *named) bool {
	initials, rest, more := strings.Cut(short.name, " ")
	if !initialsAlone(initials) {
		return false
	}
	if !more {
		first := ""
		for _, w := range strings.Fields(foldText(long.name)) {
			first += w[:1]
		}
		return strings.ToUpper(first) == initials
	}
	end := Key(rest)
	begin, found := strings.CutSuffix(long.key, end)
	if !found || len(end) < 4 || !strings.HasPrefix(begin, initials[:1]) {
		return false
	}
	for _, letter := range initials {
		if _, begin, found = strings.Cut(begin, string(letter)); !found {
			return false
		}
	}
	return true
}
