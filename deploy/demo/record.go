package demo

import "tallyhouse/schemas/calendar"

const (
	day          = 86_400 // seconds
	mostSplit    = 4      // lines of a split record
	mostVersions = 5      // of a record
)

// fate is the state in which a record ends.
type fate uint8

const (
	endsPaid fate = iota
	endsInPayment
	endsInApproval
	endsInSetup
	endsRejected
)

// fates are how records end, by age: the weights of those that came in before so many ten thousandths of the years. Old
// ones are nearly all paid, the newest can't be. In total: 70 % paid, 15 % awaiting payment, 8 % in approval, 5 % in
// setup, 2 % rejected.
var fates = []struct {
	before int64
	ends   weights
}{
	{7000, weights{9330, 9630, 9740, 9800, 10_000}},
	{8500, weights{2500, 8100, 9300, 9800, 10_000}},
	{9700, weights{783, 4033, 7558, 9800, 10_000}},
	{10_000, weights{0, 2000, 6000, 9800, 10_000}},
}

// step is what one version of a record shows.
type step uint8

const (
	queued  step = iota // a document has come, nothing is read yet
	failed              // it could not be read
	read                // amounts and counterparty are there
	approve             // an approval step; which one is in the record's plan
	payment
	paid
	rejected
	deleted
)

// split is what a record books on one budget line.
type split struct {
	node int // position among the project's nodes
	net  int64
}

// record is the whole life of a record, drawn from its number alone. It is drawn again for each of its versions, so
// that the stream keeps nothing but numbers.
type record struct {
	number     int64
	project    *project
	fate       fate
	accrual    bool
	deleted    bool
	unread     bool // ends before anything was read
	credit     bool
	uncoded    bool // never coded to a budget line
	codedLate  bool // coded at the first approval
	certified  bool // codes are stored at approval
	named      bool // the contractor is known by its captured name alone
	byDate     bool // the payment is given as a date, not as an instant
	copied     bool // the approved document is kept
	contractor *contractor
	contract   *contract // nil: none
	channel    string
	currency   string
	net        int64
	tax        int64
	splits     [mostSplit]split
	lines      int // how many of splits
	created    int64
	invoiced   calendar.Date
	due        calendar.Date
	steps      [mostVersions]step
	at         [mostVersions]int64 // when the versions came, rising
	versions   int
}

// instant is when a record comes in: spread over the years by its number.
func (w *world) instant(number int64) int64 {
	return inOfficeHours(w.start + (w.end-w.start)*number/w.Records)
}

// inOfficeHours moves an instant to a weekday not after its own, between 6 and 17 o'clock UTC.
func inOfficeHours(at int64) int64 {
	date, within := at/day, at%day
	switch (date + 3) % 7 { // 1970-01-01 was a Thursday; Monday is 0
	case 5:
		date--
	case 6:
		date -= 2
	}
	return date*day + 6*3600 + within*11/24
}

// draw fills r with the life of a record.
func (w *world) draw(number int64, r *record) {
	var d dice
	d.take(w.Seed, ofRecord, number)
	slice := int(number * timeSlices / w.Records)
	p := w.projects[w.choice[slice].draw(&d)]
	*r = record{number: number, project: p, created: w.instant(number), currency: currency}

	age := number * 10_000 / w.Records
	band := 0
	for age >= fates[band].before {
		band++
	}
	r.fate = fate(fates[band].ends.draw(&d))
	r.accrual = r.fate == endsInSetup && d.in10000(4000)
	r.credit = d.in10000(300) && !r.accrual
	if r.deleted = d.in10000(100); r.deleted && r.fate != endsInSetup {
		r.fate = endsInApproval
	}
	r.drawIntake(&d)
	leaf := p.leaves[p.lines[p.phase(slice)].draw(&d)]
	w.drawParties(&d, r, leaf)
	r.drawAmounts(&d, slice, leaf)
	r.drawDates(&d, band)
	r.drawVersions(&d, w.end)
}

func (r *record) drawIntake(d *dice) {
	switch n := d.below(100); {
	case r.accrual || n < 8:
		r.channel = "manual"
	case n < 65:
		r.channel = "email"
	case n < 85:
		r.channel = "app"
	case n < 95:
		r.channel = "api"
	default:
		r.channel = "chat"
	}
	r.codedLate = d.in10000(3000)
	r.uncoded = d.in10000(80)
	r.certified = d.in10000(3000)
	r.byDate = d.in10000(2000)
	r.copied = d.in10000(5500)
	r.named = d.in10000(300)
}

// drawParties links the record to a contract of its line that runs at that time, or to a firm of the line's trade; some
// firms have more of the work.
func (w *world) drawParties(d *dice, r *record, leaf int) {
	p := r.project
	if d.in10000(500) {
		r.currency = p.second
	}
	linked := d.in10000(8200)
	if on := p.contractsOn[leaf]; len(on) > 0 {
		c := &p.contracts[on[d.below(len(on))]]
		if linked && c.takes(r.currency, r.created) {
			r.contract = c
			r.contractor = &w.contractors[c.contractor]
			r.named = false
			return
		}
	}
	r.contractor = &w.contractors[w.firmOf(d, p.nodes[leaf].line.trade)]
}

// firmOf draws a firm of a trade; the first ones have most of the work.
func (w *world) firmOf(d *dice, trade int) int {
	return trade*w.firms + min(d.below(w.firms), d.below(w.firms))
}

// drawAmounts draws net, tax and how the net is spread over budget lines.
func (r *record) drawAmounts(d *dice, slice, leaf int) {
	p := r.project
	t := &trades[p.nodes[leaf].line.trade]
	r.net = drawNet(d, t)
	if r.credit {
		r.net = -max(100, share(r.net, d.between(5, 60)))
	}
	class := t.tax
	switch n := d.below(100); {
	case class == reverseCharge && n < 15: // small works without building character
		class = standardRate
	case class == standardRate && n < 6:
		class = reducedRate
	case class == standardRate && n < 9:
		class = taxFree
	}
	if r.currency != currency {
		class = taxFree
	}
	r.tax = share(r.net, class.percent(p.country))

	r.splits[0] = split{leaf, r.net}
	r.lines = 1
	if d.in10000(2150) {
		r.splitUp(d, slice)
	}
	if r.contract != nil && d.in10000(400) { // coded outside the contract
		r.splits[0].node = p.leaves[p.lines[p.phase(slice)].draw(d)]
	}
}

// splitUp books the record on two to four lines. A contract's lines come first, then others of the project; an invoice
// of a contract with a single line is seldom split.
func (r *record) splitUp(d *dice, slice int) {
	p := r.project
	if r.contract != nil && len(r.contract.lines) == 1 && d.in10000(8500) {
		r.contract = nil
	}
	lines := 2
	if d.in10000(3500) {
		lines += 1 + d.below(mostSplit-2)
	}
	rest := r.net
	for ; r.lines < lines; r.lines++ {
		part := share(rest, d.between(15, 60))
		node := p.leaves[p.lines[p.phase(slice)].draw(d)]
		if node == r.splits[0].node {
			node = p.leaves[p.lines[p.phase(slice)].draw(d)]
		}
		if r.contract != nil && r.lines < len(r.contract.lines) {
			node = r.contract.lines[r.lines].node
		}
		r.splits[r.lines] = split{node, part}
		rest -= part
	}
	r.splits[0].net = rest
}

// drawDates draws the invoice's date and when it is due. Young ones that are paid have short terms.
func (r *record) drawDates(d *dice, band int) {
	terms := []int64{14, 30, 30, 30, 45, 60}
	if band > 1 {
		terms = terms[:4]
	}
	r.invoiced = calendar.Date(r.created/day - d.between(0, 9))
	r.due = r.invoiced + calendar.Date(oneOf(d, terms))
}

// drawVersions chooses the steps that the record goes through and when.
func (r *record) drawVersions(d *dice, end int64) {
	scanned := r.channel != "manual" && r.channel != "api"
	last := min(r.created+d.between(2, 25)*day+d.between(0, day-1), end-3600)
	switch {
	case r.accrual:
		r.add(read)
		if d.in10000(3000) {
			r.add(read) // corrected
		}
	case r.fate == endsInSetup:
		r.unread = scanned && d.in10000(1200)
		if waited := scanned && (r.unread || d.in10000(3500)); waited {
			r.add(queued)
		}
		if !r.unread {
			r.add(read)
		} else if r.created < end-day {
			r.add(failed)
		}
	case r.fate == endsInApproval:
		r.addRead(d, scanned)
		r.addApprovals(1 + d.below(3))
	case r.fate == endsRejected:
		r.addRead(d, scanned)
		r.addApprovals(d.below(3))
		r.add(rejected)
	default:
		last = r.addSettled(d, scanned, last)
	}
	if r.deleted {
		r.add(deleted)
	}
	r.spreadTimes(d, last)
}

func (r *record) add(s step) {
	r.steps[r.versions] = s
	r.versions++
}

// addRead begins the life of an invoice.
func (r *record) addRead(d *dice, scanned bool) {
	if scanned && d.in10000(3500) {
		r.add(queued)
	}
	r.add(read)
}

// addApprovals adds so many approval steps, as far as there is room for versions.
func (r *record) addApprovals(n int) {
	for range min(n, mostVersions-1-r.versions) {
		r.add(approve)
	}
}

// addSettled adds the steps of an invoice that is approved, and paid if that is its fate. Those from other systems come
// in late in their life.
func (r *record) addSettled(d *dice, scanned bool, last int64) int64 {
	isPaid := r.fate == endsPaid
	switch n := d.below(100); {
	case scanned || n < 50:
		r.addRead(d, scanned)
		approvals := 1 + d.below(2)
		if isPaid {
			approvals = min(approvals, mostVersions-2-r.versions)
		}
		r.addApprovals(approvals)
		r.add(payment)
	case n < 85 || !isPaid:
		r.add(payment)
	}
	if !isPaid {
		return last
	}
	r.add(paid)
	run := int64(r.due) + d.between(0, 7)
	run += (7 - run%7) % 7 // payment runs are on Thursdays
	return run*day + d.between(8, 14)*3600
}

// spreadTimes spreads the versions from the record's arrival to its last change. A scan is read within minutes.
func (r *record) spreadTimes(d *dice, last int64) {
	r.at[0] = r.created
	if r.versions == 1 && r.steps[0] == paid { // imported after payment
		r.at[0] = last
	}
	span := max(last-r.created, int64(r.versions))
	for v := 1; v < r.versions; v++ {
		at := r.created + span*int64(v)/int64(r.versions-1)
		if v < r.versions-1 {
			at -= span / int64(r.versions) * int64(d.below(60)) / 100
		}
		switch {
		case r.steps[v-1] == queued:
			at = min(at, r.created+d.between(60, 900))
		case r.steps[v] != paid:
			at = inOfficeHours(at)
		}
		r.at[v] = max(at, r.at[v-1]+d.between(30, 300))
	}
}

// counts reports whether the record is in its project's sums at the end (docs/calculations.md#what-is-booked).
func (r *record) counts() bool {
	return !r.deleted && !r.accrual && !r.unread && r.fate != endsRejected
}

// paidOn is the day of the payment in Vienna: payments happen in the middle of the day.
func (r *record) paidOn() calendar.Date { return calendar.Date(r.at[r.versions-1] / day) }

// coded reports whether the record is coded to budget lines in the end.
func (r *record) coded() bool {
	return !r.uncoded && !r.unread && (r.fate != endsInSetup || r.accrual || !r.codedLate)
}
