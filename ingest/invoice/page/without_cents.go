package page

import "slices"

// withoutCents finds net + tax = gross where some of the three are printed without cents, or with more decimals than there are cents, as
// spreadsheets and programs leave them: "6500.00", "585.00", "585.00", "7670". Each has a plain label, and the total stands below the
// others.
func (s *sheet) withoutCents(labelled []sum) ruled {
	all := append(slices.Clone(labelled), s.unusualSums()...)
	if len(all) == len(labelled) || len(all) > maxSums {
		return ruled{}
	}
	var nets, taxes, grosses []sum
	for _, sm := range all {
		switch {
		case sm.column || sm.value <= 0 || sm.weight < 2:
		case sm.role == roleNet:
			nets = append(nets, sm)
		case sm.role == roleTax:
			taxes = append(taxes, sm)
		case sm.role == roleGross, sm.role == rolePayable:
			grosses = append(grosses, sm)
		}
	}
	for gi := range slices.Backward(grosses) {
		for ni := range slices.Backward(nets) {
			g, n := &grosses[gi], &nets[ni]
			need := g.value - n.value
			if need <= 0 || need*5 > n.value*2 || n.item.page != g.item.page || n.item.row >= g.item.row {
				continue
			}
			between := slices.DeleteFunc(slices.Clone(taxes), func(t sum) bool { return t.item.row < n.item.row || t.item.row > g.item.row })
			if t, score := taxOf(need, between, g, n); score > 0 {
				return ruled{net: n, tax: t, gross: g, netValue: n.value, taxValue: need, grossValue: g.value, hasNet: true, hasTax: true,
					rule: "net + tax = gross, without cents", confidence: 0.93}
			}
		}
	}
	return ruled{}
}

// unusualSums are the labelled figures that fill their cells and have no cents, or zeros behind them.
func (s *sheet) unusualSums() (out []sum) {
	for _, row := range s.rows {
		for _, it := range row {
			if len(it.amounts) != 1 || len(it.dates) > 0 || it.col == 0 || hasLetters(withoutCurrency(it.folded)) || len(out) == maxSums {
				continue
			}
			a := it.amounts[0]
			if a.money() || a.percent || a.unit || a.foreign || a.spaced || a.value%PerMinor != 0 || a.decimals == 1 || a.decimals == 3 {
				continue
			}
			if sm, ok := s.rowSum(it, a, true); ok {
				out = append(out, sm)
			}
		}
	}
	return out
}
