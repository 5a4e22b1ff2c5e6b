package page

// onlySum is the total of a document that prints one sum of money, however often, and says that no tax is due on it: "Ihr Jahresbeitrag
// beträgt 240,00 EUR".
func (s *sheet) onlySum() ruled {
	all, _ := s.money()
	if len(all) == 0 || !s.mentions(s.noTax) {
		return ruled{}
	}
	for i := range all {
		said := s.announcing(&all[i])
		if all[i].value != all[0].value || all[i].value <= 0 || s.contractSum.MatchString(said) || s.withheld.MatchString(said) {
			return ruled{}
		}
	}
	g := &all[len(all)-1]
	return ruled{net: g, tax: g, gross: g, netValue: g.value, grossValue: g.value, hasNet: true, hasTax: true,
		rule: "the only sum, no tax is due", confidence: 0.9}
}
