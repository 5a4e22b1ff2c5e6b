package page

import (
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
)

// Given what rules and weights say of the sums, each certain (1) or not (0.5), then this is what is stated of them.
func TestRulesAndWeightsDecideTogether(t *testing.T) {
	sums := func(confidence float64, net, tax, gross int64) totals {
		part := func(v int64) *share {
			if v == 0 {
				return nil
			}
			return &share{value: v, confidence: confidence}
		}
		return totals{part(net), part(tax), part(gross)}
	}
	none := totals{}
	for name, c := range map[string]struct {
		rules, weighed  totals
		net, tax, gross int64
	}{
		"both agree":                             {sums(1, 100, 20, 120), sums(1, 100, 20, 120), 100, 20, 120},
		"rules alone":                            {sums(1, 100, 20, 120), none, 100, 20, 120},
		"weights alone":                          {none, sums(1, 100, 20, 120), 100, 20, 120},
		"weights where rules aren't certain":     {sums(0.5, 0, 0, 90), sums(1, 100, 20, 120), 100, 20, 120},
		"rules where weights aren't certain":     {sums(1, 0, 0, 90), sums(0.5, 100, 20, 120), 0, 0, 90},
		"neither is certain":                     {sums(0.5, 0, 0, 90), sums(0.5, 100, 20, 120), 0, 0, 0},
		"each is certain of another total":       {sums(1, 100, 20, 120), sums(1, 120, 24, 144), 0, 0, 0},
		"weights know the parts of rules' total": {sums(1, 0, 0, 120), sums(1, 100, 20, 120), 100, 20, 120},
		"rules' parts of one total are kept":     {sums(1, 100, 20, 120), sums(1, 110, 10, 120), 100, 20, 120},
		"a sign is the rules'":                   {sums(1, 0, 0, -120), sums(1, 100, 20, 120), 0, 0, -120},
	} {
		t.Run(name, func(t *testing.T) {
			got := agreed(c.rules, c.weighed).certain()
			for _, part := range []struct {
				name string
				got  *share
				want int64
			}{{"net", got.net, c.net}, {"tax", got.tax, c.tax}, {"gross", got.gross, c.gross}} {
				value := int64(0)
				if part.got != nil {
					value = part.got.value
				}
				if value != part.want {
					t.Errorf("%s = %d, want %d", part.name, value, part.want)
				}
			}
		})
	}
}

// Given two figures that add up to a third, the first under a label of net sums, then the second may be its tax up to the highest rate of
// value added tax, and beyond it where it is called a tax.
func TestHowMuchMayBeTax(t *testing.T) {
	for name, c := range map[string]struct {
		tax  int64
		role role
		want bool
	}{
		"below the highest rate":         {500, roleNone, true},
		"another item":                   {825, roleNone, false},
		"called a tax, however large":    {825, roleTax, true},
		"the highest rate, and no label": {580, roleNone, true},
	} {
		b := &billing{sheet: sheetOf(t, "Survey")}
		at := b.rows[0][0]
		got := b.reasoned(&bill{net: 2150, tax: c.tax, netAt: &sum{role: roleNet, item: at}, taxAt: &sum{role: c.role, item: at}})
		if got != c.want {
			t.Errorf("%s: it may be the tax %v, want %v", name, got, c.want)
		}
	}
}

// Given a row, then its sum is that of a quantity and a price where two other figures in it make it up, and then it's no tax.
func TestWhatIsOfAQuantity(t *testing.T) {
	for row, want := range map[string]bool{
		"Supporto Tecnico     2      115,00      230,00": true,
		"Supporto Tecnico     2      114,00      230,00": false,
		"IVA 23 %                                230,00": false,
	} {
		s := sheetOf(t, row)
		it := s.rows[0][len(s.rows[0])-1]
		figure := &sum{value: 230 * one, item: it, amount: it.amounts[0]}
		if got := s.ofQuantity(figure); got != want {
			t.Errorf("%q: %t, want %t", row, got, want)
		}
		b := &billing{sheet: s}
		if got := b.reasoned(&bill{net: 1000 * one, tax: 230 * one, netAt: &sum{role: roleNet, item: s.rows[0][0]}, taxAt: figure}); got == want {
			t.Errorf("%q: it may be the tax of a net sum: %t", row, got)
		}
	}
}

// Given sums by rules without a tax, as over an empty column of what is free of it, and by weights with one that is printed and adds up to
// the same total, then that one counts, but against a tax of nothing that is printed only where a label says that it's one.
func TestATaxOfNothing(t *testing.T) {
	at := func(value int64, r role) *share { return &share{value, &sum{value: value, role: r}, "", 0.95} }
	net, none := &sum{value: 1000, role: roleNet}, &sum{role: roleTax}
	for name, c := range map[string]struct {
		zero *sum // where the rules have their tax
		tax  role // what the weights' is called
		want int64
	}{
		"no tax printed":                       {net, roleNone, 80},
		"a tax of nothing, and another figure": {none, roleNone, 0},
		"a tax of nothing, and a labelled tax": {none, roleTax, 80},
		"no tax printed, and a labelled tax":   {net, roleTax, 80},
	} {
		rules := totals{&share{1000, net, "", 0.95}, &share{0, c.zero, "", 0.95}, at(1000, roleGross)}
		weighed := totals{at(920, roleNet), at(80, c.tax), at(1000, roleGross)}
		if got := agreed(rules, weighed); got.tax.value != c.want {
			t.Errorf("%s: %d, want %d", name, got.tax.value, c.want)
		}
	}
}

// Given weights that are certain of the row of one rate, then the rows of all rates that make up the labelled total are stated.
func TestRatesThatMakeUpATotal(t *testing.T) {
	s := sheetOf(t, `Gesamt                                                     522,20
Steuersatz      Netto         MwSt          Brutto
0 %              10,50         0,00          10,50
7 %             361,68        25,32         387,00
auf Getränke:
19 %            104,79        19,91         124,70`)
	s.weights = model.Model{Sums: {Weights: map[string]int{"gross is the last": 20_000, howCloses: 20_000}}, fields.Gross: {}, fields.Net: {}, fields.Tax: {}}
	decided, weighed, _ := s.total()
	if !weighed.gross.certain() || weighed.gross.value != 1_247_000 {
		t.Fatalf("the weights chose %v", weighed.gross)
	}
	if !decided.gross.certain() || decided.gross.value != 5_222_000 {
		t.Errorf("the total is %v, want 522.20", decided.gross)
	}
}
