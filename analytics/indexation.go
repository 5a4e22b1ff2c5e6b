package analytics

import (
	"math/big"
	"math/bits"
	"sort"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Indexes are the published values of price indexes, by series and month. They are immutable and safe for concurrent
// use; nil has no series.
type Indexes struct {
	series map[string]*indexSeries
}

// indexSeries holds the values of one series, all with the same number of decimals; 0 where there is none.
type indexSeries struct {
	first  calendar.Month
	values []Int128
}

// NewIndexes puts the series together. Each has at most one value for a month.
func NewIndexes(values []events.IndexValue) *Indexes {
	type extent struct {
		months monthRange
		scale  uint8
	}
	extents := make(map[string]extent)
	for i := range values {
		v := &values[i]
		e := extents[v.Series]
		e.months.add(v.Month, v.Month)
		e.scale = max(e.scale, v.Value.Scale)
		extents[v.Series] = e
	}
	x := &Indexes{series: make(map[string]*indexSeries, len(extents))}
	for name, e := range extents {
		x.series[name] = &indexSeries{first: e.months.from, values: make([]Int128, e.months.to-e.months.from+1)}
	}
	for i := range values {
		v := &values[i]
		s := x.series[v.Series]
		s.values[v.Month-s.first] = aligned(v.Value, extents[v.Series].scale)
	}
	return x
}

// aligned is a decimal in units of 10^-scale, exact where scale is not below its own.
func aligned(d events.Decimal, scale uint8) Int128 {
	units := Int(d.Units)
	for ; d.Scale < scale; d.Scale++ {
		units = units.times(10)
	}
	return units
}

func (s *indexSeries) at(m calendar.Month) Int128 {
	if m < s.first || m > s.last() {
		return Int128{}
	}
	return s.values[m-s.first]
}

func (s *indexSeries) last() calendar.Month { return s.first + calendar.Month(len(s.values)) - 1 }

// ratio is an exact fraction, its denominator above 0.
type ratio struct{ num, den *big.Int }

func (r ratio) times(s ratio) ratio {
	return ratio{new(big.Int).Mul(r.num, s.num), new(big.Int).Mul(r.den, s.den)}
}

// factor is what a rent is multiplied by, unrounded. The zero value is 1; the denominator is above 0.
type factor struct {
	ratio
	near Int128 // in parts of 2^64, rounded down; 0 for one that is not above 0 or has no room
}

func newFactor(num, den *big.Int) factor {
	f := factor{ratio: ratio{num, den}}
	if num.Sign() > 0 {
		near := new(big.Int).Lsh(num, 64)
		f.near, _ = Int128FromBig(near.Quo(near, den)) // else it stays 0
	}
	return f
}

// of returns the rent after indexation, rounded once (docs/calculations.md#indexation).
func (f factor) of(rent int64) Int128 {
	if f.num == nil {
		return Int(rent)
	}
	if indexed, sure := f.quick(rent); sure {
		return indexed
	}
	product := big.NewInt(rent)
	return held(HalfAway(product.Mul(product, f.num), f.den))
}

// quick computes with the near factor. That is short by less than one part of 2^64, and so the product by less than the
// rent of them: where it rounds to the same number with them as without, that number is exact.
func (f factor) quick(rent int64) (indexed Int128, sure bool) {
	if rent < 0 || f.near.IsZero() {
		return Int128{}, false
	}
	w := product(f.near, uint64(rent))
	parts, up := bits.Add64(w[2], 1<<63, 0)
	_, more := bits.Add64(parts, uint64(rent), 0)
	lo, carry := bits.Add64(w[1], up, 0)
	return Int128{hi: int64(w[0] + carry), lo: lo}, more == 0 && w[0] < 1<<(heldBits-64)-1
}

const heldBits = 80

// held is a figure that was computed from amounts. One beyond 2^80 is held there: that is beyond what any amount can
// show, and small enough to be summed.
func held(v *big.Int) Int128 {
	if v.BitLen() <= heldBits {
		n, _ := Int128FromBig(v)
		return n
	}
	limit := Int128{hi: 1 << (heldBits - 64)}
	if v.Sign() < 0 {
		return limit.Neg()
	}
	return limit
}

// size is about how many bytes the factor takes: each adjustment makes it longer.
func (f factor) size() int { return (f.num.BitLen() + f.den.BitLen()) / 8 }

// maxFactors bounds the factors that are kept while the rents of a project are indexed, in bytes.
const maxFactors = 32 << 20

// indexer works out the adjustments of many leases; those with equal terms share them.
type indexer struct {
	indexes *Indexes
	known   map[events.Indexation]*adjustments
	room    int // bytes of factors that may still be kept
}

func newIndexer(indexes *Indexes) *indexer {
	return &indexer{indexes: indexes, known: make(map[events.Indexation]*adjustments), room: maxFactors}
}

// adjustments are all adjustments of rents under the same terms.
type adjustments struct {
	terms   events.Indexation
	cpi     []adjustment   // by month, for the type cpi
	factors map[int]factor // of the first so many adjustments
	most    int            // of which a factor is kept
	room    *int           // of the indexer
}

// adjustment is one that follows an index.
type adjustment struct {
	effective   calendar.Month
	base, value Int128 // of the index
}

const (
	indexationFixed = "fixed"
	indexationCPI   = "cpi"
)

// of returns the adjustments under a lease's terms, nil where there are none.
func (x *indexer) of(terms events.Opt[events.Indexation]) *adjustments {
	if !terms.Ok || terms.V.Type != indexationFixed && terms.V.Type != indexationCPI {
		return nil
	}
	a, ok := x.known[terms.V]
	if !ok {
		a = &adjustments{terms: terms.V, factors: make(map[int]factor), room: &x.room}
		if terms.V.Type == indexationCPI {
			a.cpi = x.indexes.adjustments(&a.terms)
		}
		x.known[terms.V] = a
	}
	return a
}

// adjustments compares the index month by month with its base, which moves with every adjustment
// (docs/calculations.md#indexation).
func (x *Indexes) adjustments(terms *events.Indexation) []adjustment {
	if x == nil {
		return nil
	}
	s, ok := x.series[terms.Series]
	if !ok {
		return nil
	}
	base := s.at(terms.BaseMonth)
	if base.IsZero() {
		return nil
	}
	var all []adjustment
	every := calendar.Month(max(1, terms.EveryMonths))
	for m := terms.BaseMonth + every; m <= s.last(); m += every {
		value := s.at(m)
		if value.IsZero() || !beyond(value.Sub(base), base, terms.ThresholdBp) || changeSign(value.Sub(base), terms) == 0 {
			continue
		}
		all = append(all, adjustment{effective: m + calendar.Month(terms.LagMonths), base: base, value: value})
		base = value
	}
	return all
}

// beyond reports whether a change, up or down, is more than the threshold of the base; exactly at it is not.
func beyond(change, base Int128, threshold events.Decimal) bool {
	if threshold.Units < 0 {
		return true
	}
	if change.Sign() < 0 {
		change = change.Neg()
	}
	parts := uint64(10_000) // what the threshold counts, of the whole
	for range threshold.Scale {
		parts *= 10
	}
	return product(change, parts).above(product(base, uint64(threshold.Units)))
}

// words are a number of 192 bits, the most significant word first.
type words [3]uint64

// product is exact; a is not negative.
func product(a Int128, b uint64) words {
	middle, low := bits.Mul64(a.lo, b)
	high, more := bits.Mul64(uint64(a.hi), b)
	middle, carry := bits.Add64(middle, more, 0)
	return words{high + carry, middle, low}
}

func (w words) above(v words) bool {
	for i := range w {
		if w[i] != v[i] {
			return w[i] > v[i]
		}
	}
	return false
}

// changeSign is the sign of the adjustment that a change of the index leads to, after share, cap and floor.
func changeSign(change Int128, terms *events.Indexation) int {
	sign := change.Sign() * signOf(terms.ShareBp)
	if terms.CapBp.Ok {
		sign = min(sign, signOf(terms.CapBp.V))
	}
	if terms.FloorBp.Ok {
		sign = max(sign, signOf(terms.FloorBp.V))
	}
	return sign
}

func signOf(d events.Decimal) int { return Int(d.Units).Sign() }

// count returns how many adjustments are effective on the day, of a month, on which the rent is due, and the next month in
// which there may be more.
func (a *adjustments) count(due calendar.Date, month calendar.Month) (n int, until calendar.Month) {
	if a.terms.Type == indexationCPI {
		n = sort.Search(len(a.cpi), func(i int) bool { return a.cpi[i].effective > month })
		if n == len(a.cpi) {
			return n, Forever
		}
		return n, a.cpi[n].effective
	}
	first := a.terms.FirstOn.Month()
	if due < a.terms.FirstOn {
		return 0, first
	}
	every := max(1, a.terms.EveryMonths)
	k := int(month-first) / every
	next := first + calendar.Month((k+1)*every)
	if a.terms.FirstOn.AddMonths(k*every) > due {
		k, next = k-1, month
	}
	return k + 1, next
}

// factor returns the product of the first n adjustments.
func (a *adjustments) factor(n int) factor {
	if n == 0 {
		return factor{}
	}
	f, ok := a.factors[n]
	if ok {
		return f
	}
	f = a.compound(n)
	if size := f.size(); size <= *a.room {
		*a.room -= size
		a.factors[n], a.most = f, max(a.most, n)
	}
	return f
}

func (a *adjustments) compound(n int) factor {
	switch {
	case a.terms.Type == indexationFixed:
		whole := wholeOf(a.terms.RateBp)
		times := big.NewInt(int64(n))
		with := new(big.Int).Add(whole, big.NewInt(a.terms.RateBp.Units))
		return newFactor(with.Exp(with, times, nil), new(big.Int).Exp(whole, times, nil))
	case a.full():
		// Each begins where the one before ended.
		return newFactor(a.cpi[n-1].value.Big(), a.cpi[0].base.Big())
	}
	var f ratio
	if a.most == 0 || a.most > n {
		f = a.product(a.cpi[:n])
	} else { // months come in order: most factors go on from the one before
		f = a.factors[a.most].ratio.times(a.product(a.cpi[a.most:n]))
	}
	return newFactor(f.num, f.den)
}

// product multiplies adjustments, at least one, by halves: so long numbers meet long ones, which costs far less than to
// multiply one that grows with each adjustment.
func (a *adjustments) product(of []adjustment) ratio {
	if len(of) == 1 {
		change, whole := a.change(&of[0])
		return ratio{change.Add(change, whole), whole}
	}
	half := len(of) / 2
	return a.product(of[:half]).times(a.product(of[half:]))
}

// full reports whether the rent follows the index without share, cap and floor.
func (a *adjustments) full() bool {
	share := events.Decimal{Units: 10_000}
	return a.terms.ShareBp == share && !a.terms.CapBp.Ok && !a.terms.FloorBp.Ok
}

// change returns the part, of a whole, by which an adjustment changes the rent.
func (a *adjustments) change(of *adjustment) (part, whole *big.Int) {
	part, whole = of.value.Sub(of.base).Big(), of.base.Big()
	part.Mul(part, big.NewInt(a.terms.ShareBp.Units))
	whole.Mul(whole, wholeOf(a.terms.ShareBp))
	if limit := a.terms.CapBp; limit.Ok && compareParts(part, whole, limit.V) > 0 {
		part, whole = big.NewInt(limit.V.Units), wholeOf(limit.V)
	}
	if limit := a.terms.FloorBp; limit.Ok && compareParts(part, whole, limit.V) < 0 {
		part, whole = big.NewInt(limit.V.Units), wholeOf(limit.V)
	}
	return part, whole
}

// compareParts compares part / whole with a number of basis points.
func compareParts(part, whole *big.Int, bp events.Decimal) int {
	left := new(big.Int).Mul(part, wholeOf(bp))
	return left.Cmp(new(big.Int).Mul(whole, big.NewInt(bp.Units)))
}

// wholeOf is what the units of a number of basis points are parts of.
func wholeOf(bp events.Decimal) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(4+int64(bp.Scale)), nil)
}
