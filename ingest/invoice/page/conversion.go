package page

import (
	"cmp"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// side is what is printed in one of two currencies: the sums that a rate of exchange leads from, or those that it leads to.
type side struct {
	sums []sum
	code string
}

// converted marks the sums that say again, in another currency, how much the invoice's own are: a printed rate of exchange leads from the
// ones to the others, and each side names its currency. They are no sums of the invoice. Side by side, with nothing that tells which ones
// they are, all are doubtful.
func (s *sheet) converted() {
	all := s.figures()
	for _, rate := range s.exchangeRates() {
		from, to := exchanged(all, rate)
		if !s.inTwoCurrencies(&from, &to) {
			continue
		}
		first, second := s.rank(from), s.rank(to)
		switch above := to.sums[0].item.row - from.sums[0].item.row; {
		case first > second || first == second && above > 0:
			mark(all, to, from.code)
		case first < second || above < 0:
			mark(all, from, to.code)
		case first > 0:
			s.twofold = true
		}
	}
}

// maxExchangeRates bounds the figures that are tried as rates of exchange.
const maxExchangeRates = 30

// fineFigure is one with as many decimals as rates of exchange have, and some prices; the dot may be one of thousands. What stands right
// before and behind it is no part of a longer figure or a day.
var fineFigure = regexp.MustCompile(`(?:^|[^\d.,'])(\d{1,4}[.,]\d{2,6})(?:$|[ ;:)(/a-z]|[.,](?:$| ))`)

// rateOfExchange is a figure over a power of ten: 4.2871 is 42871 over 10000.
type rateOfExchange struct{ figure, over int64 }

// exchangeRates lists the figures that may be rates of exchange: those with more than two decimals, or beside two currencies.
func (s *sheet) exchangeRates() (rates []rateOfExchange) {
	for _, row := range s.rows {
		for _, it := range row {
			for _, found := range fineFigure.FindAllStringSubmatch(it.folded, -1) {
				whole, decimals, _ := strings.Cut(strings.Replace(found[1], ",", ".", 1), ".")
				rate := rateOfExchange{over: 1}
				for range decimals {
					rate.over *= 10
				}
				rate.figure, _ = strconv.ParseInt(whole+decimals, 10, 64) // ten digits at most
				if (len(decimals) > 2 || namesTwo(it.runes)) && len(rates) < maxExchangeRates && !slices.Contains(rates, rate) {
					rates = append(rates, rate)
				}
			}
		}
	}
	return rates
}

// namesTwo reports whether a text names two currencies: "EUR/HUF".
func namesTwo(text []rune) bool {
	first, at, n := findCurrency(text)
	return first != "" && !slices.Contains([]string{"", first}, currencyIn(text[at+n:]))
}

// figures lists what may be sums, those without decimals, too.
func (s *sheet) figures() (all []sum) {
	for _, row := range s.rows {
		for _, it := range row {
			for _, a := range it.amounts {
				if (a.money() || a.grouped && a.decimals == 0) && a.value != 0 && !insideDate(it, a) && len(all) < maxFigures {
					all = append(all, sum{value: a.value, item: it, amount: a})
				}
			}
		}
	}
	return all
}

// exchanged are the sums that a rate leads from, and those that it leads to.
func exchanged(all []sum, rate rateOfExchange) (from, to side) {
	for _, f := range all {
		leadsTo := func(t sum) bool {
			rounding := int64(2 * PerMinor) // a total of rounded parts
			if t.amount.decimals == 0 {
				rounding = one / 2
			}
			another := t.value != f.value && (t.value < 0) == (f.value < 0)
			return another && productsApart(f.value, rate.figure, t.value, rate.over) <= rounding*rate.over
		}
		if slices.ContainsFunc(all, leadsTo) {
			from.sums = append(from.sums, f)
		}
		for _, t := range all {
			if leadsTo(t) {
				to.sums = append(to.sums, t)
			}
		}
	}
	slices.SortStableFunc(to.sums, func(a, b sum) int { return cmp.Compare(a.item.row, b.item.row) })
	return from, to
}

// productsApart is how far the product of two numbers is from that of two others, whatever their signs; math.MaxInt64 where it is farther.
func productsApart(a, b, c, d int64) int64 {
	hi, lo := bits.Mul64(uint64(absolute(a)), uint64(absolute(b)))
	otherHi, otherLo := bits.Mul64(uint64(absolute(c)), uint64(absolute(d)))
	if hi < otherHi || hi == otherHi && lo < otherLo {
		hi, lo, otherHi, otherLo = otherHi, otherLo, hi, lo
	}
	lo, borrow := bits.Sub64(lo, otherLo, 0)
	if hi, _ = bits.Sub64(hi, otherHi, borrow); hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// inTwoCurrencies reports whether each side names its currency, and another one than the other side does. Where the sums of one of them
// don't, it is the only other one of the document.
func (s *sheet) inTwoCurrencies(a, b *side) bool {
	a.code, b.code = s.codeOf(a.sums), s.codeOf(b.sums)
	if len(a.sums) == 0 || len(b.sums) == 0 || a.code == "" && b.code == "" {
		return false
	}
	if a.code == "" {
		a.code = s.onlyOther(b.code)
	}
	if b.code == "" {
		b.code = s.onlyOther(a.code)
	}
	return a.code != b.code && a.code != "" && b.code != ""
}

// codeOf is the currency that most of some sums are printed in, by themselves, their labels or headings.
func (s *sheet) codeOf(sums []sum) (most string) {
	named := map[string]int{}
	for i := range sums {
		code := s.codeOfSum(&sums[i])
		if named[code]++; code != "" && (most == "" || named[code] > named[most]) {
			most = code
		}
	}
	return most
}

// codeOfSum is the currency that a sum is printed in.
func (s *sheet) codeOfSum(sm *sum) string {
	if code := sm.amount.currency; code != "" {
		return code
	}
	if code := currencyIn(sm.item.runes[:sm.amount.start]); code != "" {
		return code
	}
	for _, left := range slices.Backward(s.rows[sm.item.row][:sm.item.col]) {
		if code := s.codeIn(left); code != "" && moneyCount(left) == 0 {
			return code
		}
	}
	return s.codeOver(sm.item)
}

// codeIn is the currency that words name: by a code that is hardly ever another word, or as a label does.
func (s *sheet) codeIn(it *item) string {
	if code := currencyIn(it.runes); unmistakable(code) {
		return code
	}
	return s.namedCurrency(it)
}

// codeOver is the currency that the nearest words above a sum in its column name.
func (s *sheet) codeOver(it *item) string {
	for r := it.row - 1; r >= max(0, it.row-maxHeaderDistance) && s.rows[r][0].page == it.page; r-- {
		for _, head := range s.rows[r] {
			code := s.codeIn(head)
			if aligned(head, it) && moneyCount(head) == 0 && (code != "" || hasLetters(head.folded)) {
				return code
			}
		}
	}
	return ""
}

// onlyOther is the only currency besides one that is printed; "" where there are several.
func (s *sheet) onlyOther(than string) (other string) {
	for _, row := range s.rows {
		for _, it := range row {
			switch code := s.printedCurrency(it); {
			case code == "" || code == than || code == other:
			case other != "":
				return ""
			default:
				other = code
			}
		}
	}
	return other
}

// rank says how much speaks for a side as the invoice's own: its currency has a label, what is to be paid is of it, the items add up to it,
// its sums have labels.
func (s *sheet) rank(sd side) (rank int) {
	const currency, pays, adds, labelled = 8, 4, 2, 1
	if label := s.labelledCurrency(); label != nil && label.Value == sd.code {
		rank += currency
	}
	is := func(sm sum, roles ...role) bool {
		own := slices.ContainsFunc(sd.sums, func(o sum) bool { return o.value == sm.value })
		return own && !sm.column && slices.Contains(roles, sm.role) // items stand in columns, too
	}
	all := s.sums()
	if slices.ContainsFunc(all, func(sm sum) bool { return is(sm, rolePayable) }) {
		rank += pays
	}
	if slices.ContainsFunc(sd.sums, func(sm sum) bool { return s.addUp(&sm) }) {
		rank += adds
	}
	if slices.ContainsFunc(all, func(sm sum) bool { return is(sm, roleNet, roleTax, roleGross) }) {
		rank += labelled
	}
	return rank
}

// mark makes the sums of a side, and all others in its currency, no sums of money, unless they say that they are in the invoice's own.
func mark(all []sum, foreign side, own string) {
	for _, f := range all {
		same := slices.ContainsFunc(foreign.sums, func(o sum) bool { return o.value == f.value })
		if f.amount.currency == foreign.code || same && f.amount.currency != own {
			i := slices.IndexFunc(f.item.amounts, func(a amount) bool { return a.start == f.amount.start })
			f.item.amounts[i].foreign = true
		}
	}
}
