package events

import "tallyhouse/schemas/calendar"

// Unit is the payload of Units.
type Unit struct {
	ProjectID  string
	SiteID     string
	SiteName   string
	BuildingID string
	Label      string
	Type       string
	Floor      Opt[string]
	AreaM2     Opt[Decimal]
	Spaces     Opt[int64]
	Scope      string
	AskingRate Opt[Amount]
}

var unit = table("unit", "A flat, shop or parking space; its `id` is the unitId.",
	need("projectId", id, func(u *Unit) *string { return &u.ProjectID }),
	need("siteId", id, func(u *Unit) *string { return &u.SiteID }),
	need("siteName", text, func(u *Unit) *string { return &u.SiteName }),
	need("buildingId", id, func(u *Unit) *string { return &u.BuildingID }),
	need("label", text, func(u *Unit) *string { return &u.Label }),
	need("type", text, func(u *Unit) *string { return &u.Type }),
	may("floor", text, func(u *Unit) *Opt[string] { return &u.Floor }),
	may("areaM2", unsignedDecimal, func(u *Unit) *Opt[Decimal] { return &u.AreaM2 }).
		doc("square metres"),
	may("spaces", integer(0, MaxAmount), func(u *Unit) *Opt[int64] { return &u.Spaces }).
		doc("number of parking spaces"),
	need("scope", enum("scheme", "currentUse"), func(u *Unit) *string { return &u.Scope }),
	may("askingRate", amount, func(u *Unit) *Opt[Amount] { return &u.AskingRate }).
		doc("per square metre or space and month"),
)

// RentStep is the monthly rent from a date on.
type RentStep struct {
	From        calendar.Date
	MonthlyRent int64
}

var rentStep = table("rentStep", "",
	need("from", date, func(s *RentStep) *calendar.Date { return &s.From }),
	need("monthlyRent", minor, func(s *RentStep) *int64 { return &s.MonthlyRent }),
)

// DateRange is a range of days, both ends included.
type DateRange struct {
	From calendar.Date
	To   calendar.Date
}

var dateRange = table("dateRange", "both days included",
	need("from", date, func(r *DateRange) *calendar.Date { return &r.From }),
	need("to", date, func(r *DateRange) *calendar.Date { return &r.To }),
)

// Break is a right to end a lease.
type Break struct {
	Date  calendar.Date
	Party string
	State string
}

var leaseBreak = table("break", "",
	need("date", date, func(b *Break) *calendar.Date { return &b.Date }),
	need("party", enum("tenant", "landlord", "both"), func(b *Break) *string { return &b.Party }),
	need("state", enum("open", "exercised", "waived"), func(b *Break) *string { return &b.State }),
)

// Indexation is how a lease's rent follows an index. Type says which members count.
type Indexation struct {
	Type        string
	RateBp      Decimal
	FirstOn     calendar.Date
	EveryMonths int
	Series      string
	BaseMonth   calendar.Month
	ThresholdBp Decimal
	LagMonths   int
	ShareBp     Decimal
	CapBp       Opt[Decimal]
	FloorBp     Opt[Decimal]
}

func ofType(values ...string) condition[Indexation] {
	return condition[Indexation]{"type", func(x *Indexation) string { return x.Type }, values}
}

// indexation has the members of all its types; each but type is there for its own types alone.
var indexation = table("indexation", "how the rent follows an index; each type has its own members",
	need("type", enum("none", "fixed", "cpi"), func(x *Indexation) *string { return &x.Type }),
	when(ofType("fixed"), need("rateBp", basisBp, func(x *Indexation) *Decimal { return &x.RateBp })),
	when(ofType("fixed"), need("firstOn", date, func(x *Indexation) *calendar.Date { return &x.FirstOn })),
	when(ofType("fixed", "cpi"), need("everyMonths", months, func(x *Indexation) *int { return &x.EveryMonths })),
	when(ofType("cpi"), need("series", id, func(x *Indexation) *string { return &x.Series })),
	when(ofType("cpi"), need("baseMonth", month, func(x *Indexation) *calendar.Month { return &x.BaseMonth })),
	when(ofType("cpi"), need("thresholdBp", basisBp, func(x *Indexation) *Decimal { return &x.ThresholdBp })),
	when(ofType("cpi"), need("lagMonths", numberOfMonths(0), func(x *Indexation) *int { return &x.LagMonths })),
	when(ofType("cpi"), need("shareBp", basisBp, func(x *Indexation) *Decimal { return &x.ShareBp })),
	when(ofType("cpi"), may("capBp", basisBp, func(x *Indexation) *Opt[Decimal] { return &x.CapBp })),
	when(ofType("cpi"), may("floorBp", basisBp, func(x *Indexation) *Opt[Decimal] { return &x.FloorBp })),
)

// Lease is the payload of Leases.
type Lease struct {
	ProjectID        string
	Category         string
	CounterpartyName Opt[string]
	Status           string
	UnitIDs          []string
	Start            calendar.Date
	End              Opt[calendar.Date]
	Currency         string
	MonthlyRent      int64
	Steps            []RentStep
	RentFree         []DateRange
	Breaks           []Break
	Indexation       Opt[Indexation]
	IndexationText   Opt[string]
}

var lease = table("lease", "A lease; its `id` is the leaseId. All its money is in its own currency.",
	need("projectId", id, func(l *Lease) *string { return &l.ProjectID }),
	need("category", extensible("main", "other"), func(l *Lease) *string { return &l.Category }),
	may("counterpartyName", text, func(l *Lease) *Opt[string] { return &l.CounterpartyName }).
		doc("who rents"),
	need("status", extensible("draft", "signed", "active", "ended"), func(l *Lease) *string { return &l.Status }),
	need("unitIds", list(id), func(l *Lease) *[]string { return &l.UnitIDs }),
	need("start", date, func(l *Lease) *calendar.Date { return &l.Start }),
	may("end", date, func(l *Lease) *Opt[calendar.Date] { return &l.End }).
		doc("without one it is indefinite"),
	need("currency", currency, func(l *Lease) *string { return &l.Currency }),
	need("monthlyRent", minor, func(l *Lease) *int64 { return &l.MonthlyRent }),
	need("steps", list(rentStep.kind()), func(l *Lease) *[]RentStep { return &l.Steps }).
		doc("the rent from later dates on"),
	need("rentFree", list(dateRange.kind()), func(l *Lease) *[]DateRange { return &l.RentFree }),
	need("breaks", list(leaseBreak.kind()), func(l *Lease) *[]Break { return &l.Breaks }).
		doc("rights to end the lease"),
	may("indexation", indexation.kind(), func(l *Lease) *Opt[Indexation] { return &l.Indexation }),
	may("indexationText", text, func(l *Lease) *Opt[string] { return &l.IndexationText }),
)

// IndexValue is the payload of IndexValues.
type IndexValue struct {
	Series string
	Month  calendar.Month
	Value  Decimal
}

var indexValue = table("indexValue", "One month of an index; the entity's `id` is `series:month`.",
	need("series", id, func(v *IndexValue) *string { return &v.Series }),
	need("month", month, func(v *IndexValue) *calendar.Month { return &v.Month }),
	need("value", positiveDecimal, func(v *IndexValue) *Decimal { return &v.Value }),
)

func checkIndexValue(d *decoder, e *Envelope, v *IndexValue) {
	var written [8]byte
	month := v.Month.Append(written[:0])
	if colon := len(e.ID) - len(month) - 1; colon < 0 || e.ID[:colon] != v.Series || e.ID[colon] != ':' || e.ID[colon+1:] != string(month) {
		d.failAt("id", "must be series:month, here %s, not %s", quoted(v.Series+":"+v.Month.String()), quoted(e.ID))
	}
}
