package analytics_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// The rent roll once more, in the plainest way: each month from the lease itself, with fractions.

type naiveLease struct {
	*events.Lease
	id     string
	values map[string]*big.Rat // of the index by series:month
	last   map[string]calendar.Month
}

func rat(d events.Decimal) *big.Rat {
	r, _ := new(big.Rat).SetString(d.String())
	return r
}

// bp is a number of basis points as a part of one.
func bp(d events.Decimal) *big.Rat { return new(big.Rat).Quo(rat(d), big.NewRat(10_000, 1)) }

// away rounds halves away from zero.
func away(r *big.Rat) *big.Int {
	if r.Sign() < 0 {
		return new(big.Int).Neg(away(new(big.Rat).Neg(r)))
	}
	return floorOf(new(big.Rat).Add(r, big.NewRat(1, 2)))
}

func (l naiveLease) effectiveEnd() (calendar.Date, bool) {
	end, known := l.End.V, l.End.Ok
	for _, b := range l.Breaks {
		if b.State == "exercised" && (!known || b.Date < end) {
			end, known = b.Date, true
		}
	}
	return end, known
}

func (l naiveLease) qualifies(today calendar.Date) bool {
	end, known := l.effectiveEnd()
	return l.Status == "signed" || l.Status == "active" || l.Status == "ended" && known && end < today
}

func (l naiveLease) inForce(m calendar.Month) bool {
	end, known := l.effectiveEnd()
	return l.Start <= m.Last() && (!known || end >= m.First())
}

func (l naiveLease) due(m calendar.Month) calendar.Date { return max(m.First(), l.Start) }

func (l naiveLease) contracted(m calendar.Month) *big.Int {
	due := l.due(m)
	base, from := l.MonthlyRent, calendar.MinDate-1
	for _, s := range l.Steps {
		if s.From <= due && s.From >= from {
			base, from = s.MonthlyRent, s.From
		}
	}
	return away(new(big.Rat).Mul(big.NewRat(base, 1), l.factor(due)))
}

func (l naiveLease) factor(due calendar.Date) *big.Rat {
	factor, one := big.NewRat(1, 1), big.NewRat(1, 1)
	x := l.Indexation.V
	switch {
	case !l.Indexation.Ok:
	case x.Type == "fixed":
		for k := 0; clipped(x.FirstOn, k*x.EveryMonths) <= due; k++ {
			factor.Mul(factor, new(big.Rat).Add(one, bp(x.RateBp)))
		}
	case x.Type == "cpi":
		base := l.values[fmt.Sprint(x.Series, x.BaseMonth)]
		every := calendar.Month(x.EveryMonths)
		for m := x.BaseMonth + every; base != nil && m <= l.last[x.Series]; m += every {
			value := l.values[fmt.Sprint(x.Series, m)]
			if value == nil {
				continue
			}
			change := new(big.Rat).Sub(new(big.Rat).Quo(value, base), one)
			if new(big.Rat).Abs(change).Cmp(bp(x.ThresholdBp)) <= 0 {
				continue
			}
			change.Mul(change, bp(x.ShareBp))
			if x.CapBp.Ok && change.Cmp(bp(x.CapBp.V)) > 0 {
				change = bp(x.CapBp.V)
			}
			if x.FloorBp.Ok && change.Cmp(bp(x.FloorBp.V)) < 0 {
				change = bp(x.FloorBp.V)
			}
			if change.Sign() == 0 {
				continue
			}
			base = value
			if (m + calendar.Month(x.LagMonths)).First() <= due {
				factor.Mul(factor, new(big.Rat).Add(one, change))
			}
		}
	}
	return factor
}

// clipped is a day so many months later, pulled back to the end of its month.
func clipped(d calendar.Date, months int) calendar.Date {
	t := civil(d)
	for day := t.Day(); ; day-- {
		if to := calendar.NewDate(t.Year(), int(t.Month())+months, day); to.Month() == d.Month()+calendar.Month(months) {
			return to
		}
	}
}

func (l naiveLease) passing(m calendar.Month) *big.Int {
	for _, r := range l.RentFree {
		if due := l.due(m); r.From <= due && due <= r.To {
			return new(big.Int)
		}
	}
	return l.contracted(m)
}

func (l naiveLease) firstBreak(m calendar.Month) (calendar.Date, bool) {
	var first calendar.Date
	found := false
	end, known := l.effectiveEnd()
	for _, b := range l.Breaks {
		if b.State == "open" && b.Party != "landlord" && b.Date >= m.First() && (!known || b.Date < end) &&
			(!found || b.Date < first) {
			first, found = b.Date, true
		}
	}
	return first, found
}

func (n naive) rentRoll(m calendar.Month, today calendar.Date) any {
	values, last := map[string]*big.Rat{}, map[string]calendar.Month{}
	for _, v := range n.indexes {
		values[fmt.Sprint(v.Series, v.Month)] = rat(v.Value)
		last[v.Series] = max(last[v.Series], v.Month)
	}
	var ids []string
	for id, l := range n.leases {
		if l.ProjectID == n.project {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	sums, let, shown := figures{}, map[string]bool{}, []any{}
	expiry, leave := new(big.Rat), new(big.Rat)
	for _, id := range ids {
		l := naiveLease{n.leases[id], id, values, last}
		if !l.qualifies(today) {
			continue
		}
		end, ends := l.effectiveEnd()
		own := l.Currency == n.currency()
		for k := m; own && k < m+12; k++ {
			if !l.inForce(k) {
				continue
			}
			days := int64(0)
			for d := k.First(); d <= k.Last(); d++ {
				if d >= l.Start && (!ends || d <= end) {
					days++
				}
			}
			rent := new(big.Rat).SetInt(l.passing(k))
			sums.add("forward", "", away(rent.Mul(rent, big.NewRat(days, int64(k.Last()-k.First())+1))))
		}
		if !l.inForce(m) {
			continue
		}
		annual := new(big.Int).Mul(big.NewInt(12), l.passing(m))
		at, open := l.firstBreak(m)
		object := object{"leaseId": id, "status": l.Status, "firstBreak": nil,
			"passingRentAnnual": object{"value": json.Number(annual.String()), "currency": l.Currency}}
		if open {
			object["firstBreak"] = at.String()
		}
		if ends {
			object["effectiveEnd"] = end.String()
		}
		shown = append(shown, object)
		if l.Category == "main" {
			for _, u := range l.UnitIDs {
				let[u] = true
			}
		}
		if !own {
			continue
		}
		sums.add("passing", l.Category, annual)
		if l.Category == "main" && (ends || open) {
			stay, leaves := end, at
			if !ends {
				stay = at
			}
			if !open {
				leaves = stay
			}
			weight := l.contracted(m)
			sums.add("weight", "", weight)
			for term, until := range map[*big.Rat]calendar.Date{expiry: stay, leave: leaves} {
				days := max(0, int64(until-l.due(m))+1)
				term.Add(term, new(big.Rat).SetInt(new(big.Int).Mul(weight, big.NewInt(days))))
			}
		}
	}
	years := func(term *big.Rat) any {
		if sums.get("weight", "").Sign() == 0 {
			return json.Number("0")
		}
		weight := new(big.Rat).SetInt(sums.get("weight", ""))
		return twoDecimals(new(big.Rat).Quo(term, weight.Mul(weight, big.NewRat(1461, 4))))
	}
	total, used := new(big.Rat), new(big.Rat)
	for id, u := range n.units {
		if u.ProjectID == n.project && u.Scope == "scheme" && u.AreaM2.Ok {
			total.Add(total, rat(u.AreaM2.V))
			if let[id] {
				used.Add(used, rat(u.AreaM2.V))
			}
		}
	}
	var vacancy any
	if total.Sign() != 0 {
		vacancy = twoDecimals(new(big.Rat).Mul(big.NewRat(100, 1), new(big.Rat).Quo(new(big.Rat).Sub(total, used), total)))
	}
	amount := func(v *big.Int) any { return object{"value": json.Number(v.String()), "currency": n.currency()} }
	all := plus(plus(sums.get("passing", "main"), sums.get("passing", "other")), sums.get("passing", "mast"))
	return object{"leases": shown, "passingRentAnnual": amount(all),
		"passingRentOtherAnnual": amount(sums.get("passing", "other")), "forwardRent12m": amount(sums.get("forward", "")), "vacancyPct": vacancy, "totalAreaM2": twoDecimals(total),
		"letAreaM2": twoDecimals(used), "waultToExpiryYears": years(expiry), "waultToBreakYears": years(leave)}
}

func twoDecimals(r *big.Rat) any {
	hundredths := away(new(big.Rat).Mul(r, big.NewRat(100, 1)))
	text := new(big.Rat).SetFrac(hundredths, big.NewInt(100)).FloatString(2)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

// rentals makes up a project with units, leases and an index.
func rentals() *rapid.Generator[*ledger] {
	return rapid.Custom(func(t *rapid.T) *ledger {
		d := &drawLedger{t: t}
		l := &ledger{projects: map[string]*events.Project{"P1": {Currency: "EUR"}, "P2": {Currency: "EUR"}}}
		l.units = many(d, "u", 4, func() *events.Unit {
			return &events.Unit{ProjectID: d.project(), Scope: d.pick("scope", "scheme", "scheme", "currentUse"),
				AreaM2: events.Opt[events.Decimal]{V: events.Decimal{Units: rapid.Int64Range(0, 99999).Draw(t, "area"),
					Scale: uint8(rapid.IntRange(0, 4).Draw(t, "decimals"))}, Ok: rapid.IntRange(0, 4).Draw(t, "measured") > 0}}
		})
		l.leases = many(d, "L", 4, d.lease)
		l.indexes = map[string]*events.IndexValue{}
		for m := month("2026-10"); m <= month("2029-01"); m++ {
			if rapid.IntRange(0, 3).Draw(t, "published") > 0 {
				l.indexes["VPI:"+m.String()] = &events.IndexValue{Series: "VPI", Month: m, Value: events.Decimal{
					Units: rapid.Int64Range(900, 1300).Draw(t, "index"),
					Scale: uint8(rapid.IntRange(1, 2).Draw(t, "decimals"))}}
			}
		}
		return l
	})
}

func (d *drawLedger) lease() *events.Lease {
	dates := func(label string) calendar.Date { // often where months begin and end
		at := d.day(label)
		switch d.pick("place", "any", "first", "last") {
		case "first":
			return at.Month().First()
		case "last":
			return at.Month().Last()
		}
		return at
	}
	rent := func() int64 { return rapid.Int64Range(-100, 200_000).Draw(d.t, "rent") }
	l := &events.Lease{ProjectID: d.project(), Category: d.pick("category", "main", "main", "other", "mast"),
		Status: d.pick("status", "active", "active", "signed", "ended", "draft", "else"), Start: dates("start"),
		End: events.Opt[calendar.Date]{V: dates("end"), Ok: rapid.IntRange(0, 3).Draw(d.t, "ends") > 0}, Currency: d.currency(),
		MonthlyRent: rent(), UnitIDs: []string{d.pick("unit", "u0", "u1", "u2", "u3"), d.pick("unit", "u0", "u9")}}
	for range rapid.IntRange(0, 3).Draw(d.t, "steps") {
		l.Steps = append(l.Steps, events.RentStep{From: dates("step"), MonthlyRent: rent()})
	}
	for range rapid.IntRange(0, 2).Draw(d.t, "rent-free") {
		l.RentFree = append(l.RentFree, events.DateRange{From: dates("free from"), To: dates("free to")})
	}
	for range rapid.IntRange(0, 3).Draw(d.t, "breaks") {
		l.Breaks = append(l.Breaks, events.Break{Date: dates("break"), Party: d.pick("party", "tenant", "landlord", "both"),
			State: d.pick("state", "open", "open", "waived", "exercised")})
	}
	points := func(label string, from, to int64) events.Decimal {
		return events.Decimal{Units: rapid.Int64Range(from, to).Draw(d.t, label),
			Scale: uint8(rapid.IntRange(0, 3).Draw(d.t, "decimals"))}
	}
	maybe := func(label string) events.Opt[events.Decimal] {
		return events.Opt[events.Decimal]{V: points(label, -400, 900), Ok: rapid.IntRange(0, 2).Draw(d.t, label+" given") == 0}
	}
	switch d.pick("indexation", "none", "null", "fixed", "cpi", "cpi") {
	case "none":
		l.Indexation = events.Some(events.Indexation{Type: "none"})
	case "fixed":
		l.Indexation = events.Some(events.Indexation{Type: "fixed", RateBp: points("rate", -300, 900), FirstOn: dates("first on"),
			EveryMonths: rapid.IntRange(1, 7).Draw(d.t, "every")})
	case "cpi":
		share := events.Decimal{Units: 10_000}
		if rapid.Bool().Draw(d.t, "part") {
			share = points("share", -2_000, 12_000)
		}
		l.Indexation = events.Some(events.Indexation{Type: "cpi", Series: d.pick("series", "VPI", "VPI", "VPI", "OLD"),
			BaseMonth: d.day("base").Month() - 9, EveryMonths: rapid.IntRange(1, 4).Draw(d.t, "every"),
			ThresholdBp: points("threshold", -1, 900), ShareBp: share, LagMonths: rapid.IntRange(0, 3).Draw(d.t, "lag"),
			CapBp: maybe("cap"), FloorBp: maybe("floor")})
	}
	return l
}

func TestRentRollAgreesWithTheNaiveRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, today := rentals().Draw(t, "ledger"), todays(t)
		m := month("2027-06") + calendar.Month(rapid.Int32Range(0, 30).Draw(t, "month"))
		want := decoded(t, naive{l, "P1"}.rentRoll(m, today))
		got := decoded(t, shownRentRoll(l, "P1", m, today))
		if d := differences(want, got, "$", ""); len(d) > 0 {
			encoded, _ := json.Marshal([]any{l.leases, l.units, l.indexes})
			t.Fatalf("%s on %s: %s\n%s", m, today, strings.Join(d, "\n"), encoded)
		}
	})
}

// A rent roll needs only the segments of its month and the eleven after it.
func TestRentRollsNeedFewSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, today := rentals().Draw(t, "ledger"), todays(t)
		m := month("2027-06") + calendar.Month(rapid.Int32Range(0, 30).Draw(t, "month"))
		in := l.rentRollInput("P1")
		want := decoded(t, shownRoll(analytics.RentRoll(in, m, today), "P1", "EUR", m))
		for i := range in.Leases {
			var few []analytics.RentSegment
			for _, s := range in.Leases[i].Segments {
				if s.From <= m+11 && s.To >= m {
					few = append(few, s)
				}
			}
			in.Leases[i].Segments = few
		}
		got := decoded(t, shownRoll(analytics.RentRoll(in, m, today), "P1", "EUR", m))
		if d := differences(want, got, "$", ""); len(d) > 0 {
			t.Fatal(strings.Join(d, "\n"))
		}
	})
}

// Segments follow one another without gaps, from the month of the start to that of the effective end, and differ from
// their neighbours.
func TestSegmentsTileTheTermOfALease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lease := (&drawLedger{t: t}).lease()
		expanded := analytics.NewLease("L", lease)
		next, last := lease.Start.Month(), analytics.Forever
		if expanded.EffectiveEnd.Ok {
			last = expanded.EffectiveEnd.V.Month()
		}
		for i, s := range expanded.Segments {
			if s.From != next || s.To < s.From {
				t.Fatalf("segment %d goes from %s to %s, want it from %s", i, s.From, s.To, next)
			}
			if i > 0 {
				same := expanded.Segments[i-1]
				if same.From, same.To = s.From, s.To; same == s {
					t.Fatalf("segment %d is as the one before", i)
				}
			}
			next = s.To + 1
		}
		if next != max(last+1, lease.Start.Month()) {
			t.Fatalf("the segments end before %s, the lease with %s", next, last)
		}
	})
}
