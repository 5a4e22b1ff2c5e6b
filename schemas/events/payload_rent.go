package events

import "tallyhouse/schemas/calendar"

var unit = table(
	need("projectId", id, func(u *Unit) *string { return &u.ProjectID }),
	need("siteId", id, func(u *Unit) *string { return &u.SiteID }),
	need("siteName", text, func(u *Unit) *string { return &u.SiteName }),
	need("buildingId", id, func(u *Unit) *string { return &u.BuildingID }),
	need("label", text, func(u *Unit) *string { return &u.Label }),
	need("type", text, func(u *Unit) *string { return &u.Type }),
	may("floor", text, func(u *Unit) *Opt[string] { return &u.Floor }),
	may("areaM2", from(decimal, false), func(u *Unit) *Opt[Decimal] { return &u.AreaM2 }),
	may("spaces", integer(0, MaxAmount), func(u *Unit) *Opt[int64] { return &u.Spaces }),
	need("scope", enum("scheme", "currentUse"), func(u *Unit) *string { return &u.Scope }),
	may("askingRate", amount, func(u *Unit) *Opt[Amount] { return &u.AskingRate }),
)

var rentStep = table(
	need("from", date, func(s *RentStep) *calendar.Date { return &s.From }),
	need("monthlyRent", minor, func(s *RentStep) *int64 { return &s.MonthlyRent }),
)

var dateRange = table(
	need("from", date, func(r *DateRange) *calendar.Date { return &r.From }),
	need("to", date, func(r *DateRange) *calendar.Date { return &r.To }),
)

var leaseBreak = table(
	need("date", date, func(b *Break) *calendar.Date { return &b.Date }),
	need("party", enum("tenant", "landlord", "both"), func(b *Break) *string { return &b.Party }),
	need("state", enum("open", "exercised", "waived"), func(b *Break) *string { return &b.State }),
)

func isFixed(x *Indexation) bool   { return x.Type == "fixed" }
func isCPI(x *Indexation) bool     { return x.Type == "cpi" }
func isIndexed(x *Indexation) bool { return isFixed(x) || isCPI(x) }

// indexation has the members of all its types; each but type is there for its own type alone (calculations 8.3).
var indexation = table(
	need("type", enum("none", "fixed", "cpi"), func(x *Indexation) *string { return &x.Type }),
	only("type fixed", isFixed, need("rateBp", basisBp, func(x *Indexation) *Decimal { return &x.RateBp })),
	only("type fixed", isFixed, need("firstOn", date, func(x *Indexation) *calendar.Date { return &x.FirstOn })),
	only("types fixed and cpi", isIndexed, need("everyMonths", months(1), func(x *Indexation) *int { return &x.EveryMonths })),
	only("type cpi", isCPI, need("series", id, func(x *Indexation) *string { return &x.Series })),
	only("type cpi", isCPI, need("baseMonth", month, func(x *Indexation) *calendar.Month { return &x.BaseMonth })),
	only("type cpi", isCPI, need("thresholdBp", basisBp, func(x *Indexation) *Decimal { return &x.ThresholdBp })),
	only("type cpi", isCPI, need("lagMonths", months(0), func(x *Indexation) *int { return &x.LagMonths })),
	only("type cpi", isCPI, need("shareBp", basisBp, func(x *Indexation) *Decimal { return &x.ShareBp })),
	only("type cpi", isCPI, may("capBp", basisBp, func(x *Indexation) *Opt[Decimal] { return &x.CapBp })),
	only("type cpi", isCPI, may("floorBp", basisBp, func(x *Indexation) *Opt[Decimal] { return &x.FloorBp })),
)

var lease = table(
	need("projectId", id, func(l *Lease) *string { return &l.ProjectID }),
	need("category", extensible("main", "other"), func(l *Lease) *string { return &l.Category }),
	may("counterpartyName", text, func(l *Lease) *Opt[string] { return &l.CounterpartyName }),
	need("status", extensible("draft", "signed", "active", "ended"), func(l *Lease) *string { return &l.Status }),
	need("unitIds", list(id), func(l *Lease) *[]string { return &l.UnitIDs }),
	need("start", date, func(l *Lease) *calendar.Date { return &l.Start }),
	may("end", date, func(l *Lease) *Opt[calendar.Date] { return &l.End }),
	need("currency", currency, func(l *Lease) *string { return &l.Currency }),
	need("monthlyRent", minor, func(l *Lease) *int64 { return &l.MonthlyRent }),
	need("steps", list(rentStep.kind()), func(l *Lease) *[]RentStep { return &l.Steps }),
	need("rentFree", list(dateRange.kind()), func(l *Lease) *[]DateRange { return &l.RentFree }),
	need("breaks", list(leaseBreak.kind()), func(l *Lease) *[]Break { return &l.Breaks }),
	may("indexation", indexation.kind(), func(l *Lease) *Opt[Indexation] { return &l.Indexation }),
	may("indexationText", text, func(l *Lease) *Opt[string] { return &l.IndexationText }),
)

var indexValue = table(
	need("series", id, func(v *IndexValue) *string { return &v.Series }),
	need("month", month, func(v *IndexValue) *calendar.Month { return &v.Month }),
	need("value", from(decimal, true), func(v *IndexValue) *Decimal { return &v.Value }),
)

func checkIndexValue(d *decoder, e *Envelope, v *IndexValue) {
	if want := v.Series + ":" + v.Month.String(); e.ID != want {
		d.failAt("id", "must be series:month, here %s, not %s", quoted(want), quoted(e.ID))
	}
}
