package clickhouse

import (
	"slices"
	"strconv"
	"strings"
)

// Roll is a named kind of sum: the amounts that the entities of one state table add up to, by tenant, project and Keys.
// Its rows lie in the table sums under its name. A roll holds what endpoints ask for and nothing else, and never
// changes its keys or its meaning: that would be another roll.
type Roll struct {
	Name    string
	Table   string   // the state table whose entities contribute to it
	Keys    []string // what tells its sums apart, besides tenant and project, in the order of their columns in sums
	Amounts []string // what it adds up

	keyPlaces [MaxRollKeys]int // see KeyPlaces: it is asked for each sum of a batch
}

// RollID numbers the rolls within this binary: a contribution names its roll by it. What is stored names it by Name.
type RollID uint8

// The rolls.
const (
	// RollLines is what records that count come to under each contract, budget line and status: neither accruals nor
	// rejected ones. count has each record once, on its first allocation; allocations is 1 for each, and for a record
	// without any. A record without a net is counted under the currency '', with amounts of 0.
	RollLines RollID = iota
	// RollPayments is what was paid on a budget line in a month.
	RollPayments
	// RollRecognized is how many allocations of records, rejected ones apart, are recognized on a budget line in a month.
	RollRecognized
	// RollReferences is how many records refer to a contractor.
	RollReferences
	// RollLinks lists the records that count on a contract's money, by the budget line on which they are coded: count is
	// above 0.
	RollLinks
	// RollBudget is the approved budget booked on a line.
	RollBudget
	// RollTransfers is what approved transfers take from a line or give to it.
	RollTransfers
	// RollContracts are the lines of contracts, each under its place 00001 and on: value of the base contract, committed
	// with the approved amendments, count 1. What is pending on a node has the line ''.
	RollContracts
	// RollClaims is what open claims add to the pending changes of a line, rounded claim by claim.
	RollClaims
	// RollDrawdowns is what was drawn of a facility, or is requested; its project is the facility.
	RollDrawdowns
	// RollCapitalised is the interest that was added to the debt of a facility; its project is the facility.
	RollCapitalised
	// RollRepayments is what was repaid of a facility; its project is the facility.
	RollRepayments
	// RollRent lists the months in which a lease is in force, as runs in which its terms stay the same: month is the first
	// and until the last, status rentFree or '', first_break the earliest day at which the tenant may leave, '' for none;
	// count is 1, value a month's rent before indexation, in the lease's currency.
	RollRent
)

var rolls = withKeyPlaces([]Roll{
	RollLines: {Name: "lines", Table: "records",
		Keys: []string{"contract", "node", "currency", "status"}, Amounts: []string{"count", "allocations", "net", "gross"}},
	RollPayments:   {Name: "payments", Table: "records", Keys: []string{"node", "currency", "month"}, Amounts: []string{"net"}},
	RollRecognized: {Name: "recognized", Table: "records", Keys: []string{"node", "month"}, Amounts: []string{"count"}},
	RollReferences: {Name: "references", Table: "records", Keys: []string{"contractor"}, Amounts: []string{"count"}},
	RollLinks: {Name: "links", Table: "records",
		Keys: []string{"contract", "node", "currency", "record"}, Amounts: []string{"count"}},
	RollBudget:    {Name: "budget", Table: "budget_rows", Keys: []string{"node", "currency"}, Amounts: []string{"value"}},
	RollTransfers: {Name: "budget_transfers", Table: "budget_transfers", Keys: []string{"node", "currency"}, Amounts: []string{"value"}},
	RollContracts: {Name: "contracts", Table: "contracts",
		Keys: []string{"contract", "node", "currency", "status", "line"}, Amounts: []string{"count", "value", "committed", "pending"}},
	RollClaims:      {Name: "claims", Table: "claims", Keys: []string{"node", "currency"}, Amounts: []string{"pending"}},
	RollDrawdowns:   {Name: "drawdowns", Table: "facility_entries", Keys: []string{"status"}, Amounts: []string{"value"}},
	RollCapitalised: {Name: "capitalised", Table: "facility_entries", Keys: []string{"status"}, Amounts: []string{"value"}},
	RollRepayments:  {Name: "repayments", Table: "facility_entries", Keys: []string{"status"}, Amounts: []string{"value"}},
	RollRent: {Name: "rent", Table: "leases",
		Keys: []string{"lease", "until", "first_break", "status", "month"}, Amounts: []string{"count", "value"}},
})

// Bounds of every roll.
const (
	MaxRollKeys    = 5
	MaxRollAmounts = 4
)

// Roll is what the number stands for.
func (id RollID) Roll() *Roll { return &rolls[id] }

// Rolls are the numbers of all rolls.
func Rolls() []RollID {
	all := make([]RollID, len(rolls))
	for i := range rolls {
		all[i] = RollID(i)
	}
	return all
}

// RollsOf are the rolls to which the entities of a state table contribute, none for one without sums.
func RollsOf(table string) []RollID {
	return slices.DeleteFunc(Rolls(), func(id RollID) bool { return id.Roll().Table != table })
}

// RollNamed finds a roll by its name.
func RollNamed(name string) (RollID, bool) {
	i := slices.IndexFunc(rolls, func(r Roll) bool { return r.Name == name })
	return RollID(max(i, 0)), i >= 0
}

// What a key and an amount of sums mean depends on the roll. The column keys has the roll's name and MaxRollKeys keys as one
// text, the amounts have a column each: what it costs to merge rows is their columns. These are the terms of the first
// key, of the second and so on, and of amount1 and so on. In the table each is an alias, so that statements read by the
// names of terms. Position and squares are those of a view's position.
var (
	keyTerms = [MaxRollKeys][]string{
		{"contract", "contractor", "lease"},
		{"node", "until"},
		{"currency", "first_break"},
		{"status"},
		{"month", "line", "record"},
	}
	amountTerms = [MaxRollAmounts][]string{
		{"count", "position"},
		{"net", "value", "squares"},
		{"gross", "committed"},
		{"allocations", "pending"},
	}
)

// keySeparator stands between each two keys in the column keys, and behind the name of the roll. No text that is a key has
// it: events whose ids have are refused.
const keySeparator = '\x00'

// None stands for no term in what KeyPlaces and AmountPlaces return.
const None = -1

// KeyPlaces are, for the first key, the second and so on, which of the roll's Keys it is, None where it is empty.
func (r *Roll) KeyPlaces() [MaxRollKeys]int { return r.keyPlaces }

func withKeyPlaces(all []Roll) []Roll {
	for n := range all {
		for i, terms := range keyTerms {
			all[n].keyPlaces[i] = place(terms, all[n].Keys)
		}
	}
	return all
}

// AmountPlaces are, for amount1, amount2 and so on, which of the roll's Amounts the column holds, None where it is 0.
func (r *Roll) AmountPlaces() (places [MaxRollAmounts]int) {
	for i, terms := range amountTerms {
		places[i] = place(terms, r.Amounts)
	}
	return places
}

func place(terms, has []string) int {
	return slices.IndexFunc(has, func(term string) bool { return slices.Contains(terms, term) })
}

// AppendKeys appends what the column keys has of a sum of the roll, whose keys are in the order of its Keys.
func AppendKeys[T string | []byte](b []byte, r *Roll, keys []T) []byte {
	b = append(b, r.Name...)
	for _, at := range r.keyPlaces {
		b = append(b, keySeparator)
		if at != None {
			b = append(b, keys[at]...)
		}
	}
	return b
}

// CutKeys takes the column keys apart: the name of the roll and its keys, as many as MaxRollKeys. ok is false for a text that
// has more of them or fewer; a position has none.
func CutKeys(text string) (roll string, keys [MaxRollKeys]string, ok bool) {
	roll, rest, more := strings.Cut(text, string(keySeparator))
	for i := range keys {
		if !more {
			return roll, keys, false
		}
		keys[i], rest, more = strings.Cut(rest, string(keySeparator))
	}
	return roll, keys, !more
}

// AmountColumn is the column of sums that holds a term of rolls' amounts, "" for what is none.
func AmountColumn(term string) string {
	i := slices.IndexFunc(amountTerms[:], func(terms []string) bool { return slices.Contains(terms, term) })
	if i < 0 {
		return ""
	}
	return amountColumn(i)
}

func amountColumn(i int) string { return "amount" + strconv.Itoa(i+1) }

// SumKeys are the columns of sums that tell its rows apart, in the order of its sorting key.
func SumKeys() []string { return []string{"tenant", "project", "keys"} }

// SumAmounts are the columns of sums that are added up.
func SumAmounts() (all []string) {
	for i := range amountTerms {
		all = append(all, amountColumn(i))
	}
	return all
}

// SumColumns are all columns of sums: keys and amounts.
func SumColumns() []string { return slices.Concat(SumKeys(), SumAmounts()) }
