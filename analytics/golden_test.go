package analytics_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// The golden files are cases with expected answers, computed by others; those of E by a program that was written from
// docs/calculations.md alone and agrees with D. Those of the calls below are answered out of the calculations alone;
// what a check says about figures that are not computed here is left to the tests of the API.

type goldenCase struct {
	Case   string   `json:"case"`
	Now    string   `json:"now"`
	Events []change `json:"events"`
	Checks []struct {
		Call   string            `json:"call"`
		Path   map[string]string `json:"path"`
		Query  map[string]any    `json:"query"`
		Now    string            `json:"now"` // the case's when empty
		Status int               `json:"status"`
		Expect any               `json:"expect"`
		Absent []string          `json:"absent"` // JSON pointers; a step may be member=value
	} `json:"checks"`
}

// question is what a check asks the calculations.
type question struct {
	path, query map[string]string
	today       calendar.Date
}

func (q question) month(t *testing.T, name string) events.Opt[calendar.Month] {
	t.Helper()
	if q.query[name] == "" {
		return events.Opt[calendar.Month]{}
	}
	m, err := calendar.ParseMonth(q.query[name])
	if err != nil {
		t.Fatal(err)
	}
	return events.Some(m)
}

// today is the date in Vienna at an instant.
func today(t *testing.T, now string) calendar.Date {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	return calendar.ViennaDate(at)
}

func TestGoldenCases(t *testing.T) {
	ofState := func(answer func(l *ledger, path, query map[string]string) any) func(*testing.T, *ledger, question) any {
		return func(_ *testing.T, l *ledger, q question) any { return answer(l, q.path, q.query) }
	}
	answers := map[string]func(t *testing.T, l *ledger, q question) any{
		"getProjectBudget":      ofState(answerBudget),
		"getContract":           ofState(answerContract),
		"getRecord":             ofState(answerRecord),
		"listForecastSnapshots": ofState(answerSnapshots),
		"getForecastSnapshot":   ofState(answerSnapshot),
		"getCashflow":           answerCashflow,
		"getRentRoll":           answerRentRoll,
		"listFacilities":        answerFacilities,
		"getFacilitySchedule":   answerSchedule,
		"listFacilityDrawdowns": answerDrawdowns,
	}
	files, err := filepath.Glob("testdata/[DE]*.json")
	if err != nil || len(files) != 42 {
		t.Fatalf("%d golden files, %v; want 42", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var golden goldenCase
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.UseNumber()
		if err := decoder.Decode(&golden); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		state, checked := fold(t, golden.Events), 0
		for i, check := range golden.Checks {
			answer, ok := answers[check.Call]
			if !ok || check.Status == 400 { // what is refused never reaches the calculations
				continue
			}
			checked++
			q := question{path: check.Path, query: make(map[string]string), today: today(t, cmp.Or(check.Now, golden.Now))}
			for name, value := range check.Query {
				q.query[name] = fmt.Sprint(value)
			}
			t.Run(fmt.Sprintf("%s/%d %s", golden.Case, i, check.Call), func(t *testing.T) {
				got := answer(t, state, q)
				if check.Status == 404 {
					if got != nil {
						t.Errorf("answered %v, want nothing", got)
					}
					return
				}
				body := plain(t, got)
				for _, d := range differences(check.Expect, body, "$", "") {
					t.Error(d)
				}
				for _, pointer := range check.Absent {
					if present(body, pointer) {
						t.Errorf("%s must be absent", pointer)
					}
				}
			})
		}
		if checked == 0 {
			t.Errorf("%s checks nothing", file)
		}
	}
}

type object = map[string]any

func amountIn(currency string) func(analytics.Int128) any {
	return func(v analytics.Int128) any {
		value, err := v.Amount()
		if err != nil {
			return err.Error()
		}
		return object{"value": value, "currency": currency}
	}
}

func value(v analytics.Int128) any {
	n, err := v.Amount()
	if err != nil {
		return err.Error()
	}
	return n
}

// integer shows what is a plain integer in the API, not an amount with its bounds.
func integer(v analytics.Int128) any { return json.Number(v.String()) }

func optional[T any](o events.Opt[T], show func(T) any) any {
	if !o.Ok {
		return nil
	}
	return show(o.V)
}

func text(o events.Opt[string]) any { return optional(o, func(s string) any { return s }) }

func instant(o events.Opt[time.Time]) any {
	return optional(o, func(at time.Time) any { return at.UTC().Format(time.RFC3339) })
}

func answerBudget(l *ledger, path, query map[string]string) any {
	project := path["projectId"]
	currency := l.projects[project].Currency
	amount := amountIn(currency)
	if query["asOf"] != "" {
		return answerBudgetAsOf(l, project, query)
	}
	budget := analytics.Budget(l.budgetInput(project))
	nodes := []any{}
	for _, n := range budget.ToLevel(query["level"]) {
		nodes = append(nodes, object{
			"nodeId": n.Node.ID, "level": n.Node.Level, "code": n.Node.Code, "name": n.Node.Name,
			"parentId": text(n.Node.ParentID), "projectSpecific": n.Node.ProjectSpecific(),
			"budget": amount(n.Budget), "invoiced": amount(n.Invoiced), "paid": amount(n.Paid),
			"invoicedByStatus": object{
				"setup": amount(n.InvoicedByStatus.Setup), "approvalPending": amount(n.InvoicedByStatus.ApprovalPending),
				"paymentPending": amount(n.InvoicedByStatus.PaymentPending), "paid": amount(n.InvoicedByStatus.Paid),
			},
			"invoicedGross": amount(n.InvoicedGross), "paidGross": amount(n.PaidGross),
			"committed": amount(n.Committed), "openCommitment": amount(n.OpenCommitment), "overInvoiced": amount(n.OverInvoiced),
			"pendingChanges": amount(n.PendingChanges), "uncommitted": amount(n.Uncommitted),
			"uncommittedDefaulted": n.UncommittedDefaulted,
			"eac":                  amount(n.EAC()), "variance": amount(n.Variance()),
			"costToComplete":  amount(n.CostToComplete()),
			"accountingCodes": shownCodes(n.AccountingCodes),
		})
	}
	return object{
		"projectId": project, "currency": currency, "structureId": text(l.projects[project].BudgetStructureID),
		"nodes":       nodes,
		"unallocated": amount(budget.Unallocated), "unallocatedBudget": amount(budget.UnallocatedBudget),
		"excluded": shownExcluded(budget.Excluded), "excludedCommitted": shownExcluded(budget.ExcludedCommitted),
	}
}

func shownExcluded(excluded []analytics.Excluded) any {
	shown := []any{}
	for _, e := range excluded {
		shown = append(shown, object{"currency": e.Currency, "value": value(e.Value), "count": e.Count})
	}
	return shown
}

func shownCodes(codes []events.AccountingCode) any {
	shown := []any{}
	for _, c := range codes {
		shown = append(shown, object{"system": c.System, "code": c.Code, "name": text(c.Name), "taxKey": text(c.TaxKey),
			"inherited": c.Inherited})
	}
	return shown
}

func answerContract(l *ledger, path, _ map[string]string) any {
	id := path["contractId"]
	c := l.contract(id)
	linked := l.linked(id)
	f := c.Figures(linked)
	amount := amountIn(c.Currency)
	whenAllocated := func(v analytics.Int128) any {
		if !f.Allocated {
			return nil
		}
		return amount(v)
	}
	allocations, amendments := []any{}, []any{}
	for _, a := range c.Allocations {
		allocations = append(allocations, object{"budgetNodeId": a.NodeID, "amount": amount(analytics.Int(a.Value))})
	}
	for _, a := range c.ListedAmendments() {
		amendments = append(amendments, object{
			"id": a.ID, "budgetNodeId": text(a.NodeID), "amount": amount(analytics.Int(a.Value)), "status": a.Status,
			"date": optional(a.Date, func(d calendar.Date) any { return d.String() }), "title": text(a.Title),
		})
	}
	return object{
		"id": id, "projectId": c.ProjectID, "status": c.Status,
		"name": text(c.Name), "startDate": optional(c.StartDate, func(d calendar.Date) any { return d.String() }),
		"endDate": optional(c.EndDate, func(d calendar.Date) any { return d.String() }),
		"counterparty": optional(c.ContractorID, func(k string) any {
			return object{"id": k, "name": text(l.contractors[k].Name)}
		}),
		"committed": whenAllocated(f.Committed), "invoiced": amount(f.Invoiced), "paid": amount(f.Paid),
		"openCommitment": whenAllocated(f.OpenCommitment), "overInvoiced": whenAllocated(f.OverInvoiced),
		"pendingChanges": amount(f.PendingChanges), "locked": f.Locked,
		"reclassRecordIds": l.reclass(c, linked), "allocations": allocations, "amendments": amendments,
	}
}

// reclass looks the records up as a reader does: outside nodes first, then the
// records of this contract that are coded to them.
func (l *ledger) reclass(c *analytics.Contract, linked []analytics.RecordSum) any {
	var outside []analytics.NodeID
	for _, sum := range l.structure(c.ProjectID).ToRecode(c, linked) {
		outside = append(outside, sum.NodeID)
	}
	ids := []any{}
	for id, r := range l.records {
		counts := r.ContractID.V == string(c.ID) && r.ProjectID == c.ProjectID && r.Currency.V == c.Currency &&
			r.StepKind != "rejected" && r.Source != "accrual"
		if counts && slices.ContainsFunc(r.Allocations, func(a events.RecordAllocation) bool {
			return a.NodeID.Ok && slices.Contains(outside, analytics.NodeID(a.NodeID.V))
		}) {
			ids = append(ids, id)
		}
	}
	return ids
}

func answerRecord(l *ledger, path, _ map[string]string) any {
	id := path["recordId"]
	r := l.records[id]
	amount := func(v int64) any { return object{"value": v, "currency": r.Currency.V} }
	structure := l.structure(r.ProjectID)
	node := func(n analytics.NodeRef) any {
		return object{"nodeId": text(n.NodeID), "code": text(n.Code), "name": text(n.Name), "budgetName": text(n.BudgetName)}
	}
	allocations := []any{}
	shown := structure.Allocations(r)
	for _, a := range shown {
		allocations = append(allocations, object{"budgetNode": node(a.BudgetNode), "net": optional(a.Net, amount)})
	}
	name := r.CounterpartyName
	if k, ok := l.contractors[r.ContractorID.V]; ok && k.Name.Ok {
		name = k.Name
	}
	return object{
		"id": id, "projectId": r.ProjectID, "systemKind": "cost", "basis": "actual",
		"direction": r.Direction, "source": r.Source, "status": analytics.StatusOf(r.StepKind),
		"workflowStep":  text(r.WorkflowStep),
		"counterparty":  object{"contractorId": text(r.ContractorID), "name": text(name)},
		"invoiceNumber": text(r.InvoiceNumber), "recognitionDate": optional(r.RecognitionDate, day),
		"dueDate":  optional(r.DueDate, day),
		"cashDate": optional(analytics.CashDate(r), day),
		"net":      optional(r.Net, amount), "tax": optional(r.Tax, amount), "gross": optional(analytics.Gross(r), amount),
		"allocations": allocations, "budgetNode": optional(analytics.SoleNode(shown), node),
		"accountingCodes": shownCodes(structure.Codes().OfRecord(r)),
	}
}

func (l *ledger) snapshotsOf(project string) []analytics.Snapshot {
	var snapshots []analytics.Snapshot
	for id, s := range l.snapshots {
		if s.ProjectID == project {
			snapshots = append(snapshots, analytics.Snapshot{ID: id, ForecastSnapshot: *s})
		}
	}
	return snapshots
}

func snapshotHead(l *ledger, s *analytics.Snapshot, official bool) object {
	totals := s.Totals()
	return object{
		"month": s.Month.String(), "version": s.Version, "status": s.Status, "official": official,
		"currency":    l.projects[s.ProjectID].Currency,
		"submittedAt": instant(s.SubmittedAt), "decidedAt": instant(s.DecidedAt),
		"totals": object{
			"budget": value(totals.Budget), "committed": value(totals.Committed), "pendingChanges": value(totals.PendingChanges),
			"uncommitted": value(totals.Uncommitted), "eac": value(totals.EAC()), "variance": value(totals.Variance()),
			"invoiced": value(totals.Invoiced), "paid": value(totals.Paid), "costToComplete": value(totals.CostToComplete()),
		},
	}
}

func answerSnapshots(l *ledger, path, _ map[string]string) any {
	snapshots := l.snapshotsOf(path["projectId"])
	slices.SortFunc(snapshots, func(a, b analytics.Snapshot) int { return analytics.NewestFirst(&a, &b) })
	official := analytics.Official(snapshots)
	data := []any{}
	for i := range snapshots {
		data = append(data, snapshotHead(l, &snapshots[i], official[snapshots[i].Month] == &snapshots[i]))
	}
	return object{"data": data}
}

func answerSnapshot(l *ledger, path, _ map[string]string) any {
	month, err := calendar.ParseMonth(path["month"])
	official := analytics.Official(l.snapshotsOf(path["projectId"]))
	s := official[month]
	if err != nil || s == nil {
		return nil
	}
	changes := []any{}
	for _, c := range s.ChangesSince(analytics.Previous(official, month)) {
		var before any
		if c.HasBefore {
			before = value(c.Before)
		}
		changes = append(changes,
			object{"budgetNodeId": c.NodeID, "eacBefore": before, "eacAfter": value(c.After), "eacDelta": value(c.Delta()),
				"explained": c.Explained})
	}
	answer := snapshotHead(l, s, true)
	answer["changesSincePrevious"] = changes
	return answer
}

func answerBudgetAsOf(l *ledger, project string, query map[string]string) any {
	month, err := calendar.ParseMonth(query["asOf"])
	s := analytics.Official(l.snapshotsOf(project))[month]
	if err != nil || s == nil {
		return nil
	}
	currency := l.projects[project].Currency
	amount := amountIn(currency)
	nodes := []any{}
	for _, n := range s.NodesToLevel(query["level"]) {
		nodes = append(nodes, object{
			"nodeId": n.Line.NodeID, "level": n.Line.Level, "code": n.Line.Code, "name": n.Line.Name,
			"parentId": text(n.Line.ParentID),
			"budget":   amount(n.Budget), "invoiced": amount(n.Invoiced), "paid": amount(n.Paid),
			"committed":      amount(n.Committed),
			"pendingChanges": amount(n.PendingChanges), "uncommitted": amount(n.Uncommitted),
			"uncommittedDefaulted": n.Line.UncommittedDefaulted,
			"eac":                  amount(n.EAC()), "variance": amount(n.Variance()),
			"costToComplete":   amount(n.CostToComplete()),
			"invoicedByStatus": nil, "invoicedGross": nil, "paidGross": nil, "openCommitment": nil, "overInvoiced": nil,
		})
	}
	return object{"projectId": project, "currency": currency, "nodes": nodes}
}

func answerCashflow(t *testing.T, l *ledger, q question) any {
	project := q.path["projectId"]
	in := l.cashflowInput(project)
	in.From, in.To = q.month(t, "from"), q.month(t, "to")
	c := analytics.Cashflow(in, q.today)
	return shownCashflow(&c, project, l.projects[project].Currency, q.query["level"])
}

func shownCashflow(c *analytics.ProjectCashflow, project, currency, level string) any {
	nodes := []any{}
	for _, n := range c.ToLevel(level) {
		months := []any{}
		for m := c.First; m <= c.Last; m++ {
			actual, forecast := c.In(&n, m)
			months = append(months, object{"month": m.String(), "actual": integer(actual), "forecast": integer(forecast)})
		}
		nodes = append(nodes, object{
			"nodeId": n.Node.ID, "level": n.Node.Level, "code": n.Node.Code, "name": n.Node.Name,
			"parentId": text(n.Node.ParentID), "months": months, "undated": integer(n.Undated), "gap": integer(n.Gap),
			"flags": n.Flags.AppendNames([]string{}),
		})
	}
	return object{"projectId": project, "currency": currency, "asOf": c.AsOf.String(), "nodes": nodes}
}

func answerRentRoll(t *testing.T, l *ledger, q question) any {
	return shownRentRoll(l, q.path["projectId"], q.month(t, "asOf").Or(q.today.Month()), q.today)
}

func shownRentRoll(l *ledger, project string, asOf calendar.Month, today calendar.Date) any {
	roll := analytics.RentRoll(l.rentRollInput(project), asOf, today)
	return shownRoll(roll, project, l.projects[project].Currency, asOf)
}

func shownRoll(r analytics.ProjectRentRoll, project, currency string, asOf calendar.Month) any {
	amount := amountIn(currency)
	leases := []any{}
	for _, lease := range r.Leases {
		shown := object{
			"leaseId": lease.ID, "category": lease.Category, "counterparty": text(lease.CounterpartyName),
			"status": lease.Status, "unitIds": lease.UnitIDs, "start": day(lease.Start),
			"firstBreak":        optional(lease.FirstBreak, day),
			"passingRentAnnual": amountIn(lease.Currency)(lease.PassingRentAnnual),
			"indexation":        text(lease.IndexationText),
		}
		if lease.End.Ok {
			shown["end"] = day(lease.End.V)
		}
		if lease.EffectiveEnd.Ok {
			shown["effectiveEnd"] = day(lease.EffectiveEnd.V)
		}
		leases = append(leases, shown)
	}
	return object{
		"projectId": project, "asOf": asOf.String(), "currency": currency,
		"passingRentAnnual": amount(r.PassingRentAnnual), "passingRentOtherAnnual": amount(r.PassingRentOtherAnnual),
		"forwardRent12m": amount(r.ForwardRent12m), "leases": leases,
		"letAreaM2": optional(r.LetAreaM2, decimal), "totalAreaM2": optional(r.TotalAreaM2, decimal),
		"vacancyPct":         optional(r.VacancyPct, decimal),
		"waultToExpiryYears": optional(r.WAULTToExpiryYears, decimal),
		"waultToBreakYears":  optional(r.WAULTToBreakYears, decimal),
	}
}

func answerFacilities(_ *testing.T, l *ledger, q question) any {
	data := []any{}
	for _, id := range slices.Sorted(maps.Keys(l.facilities)) {
		f := l.facility(id)
		if !slices.Contains(f.ProjectIDs, q.path["projectId"]) {
			continue
		}
		var sums []analytics.EntrySum
		for _, e := range l.entriesOf(id) {
			sums = append(sums, analytics.EntrySum{Kind: e.Kind, Status: e.Status, Value: analytics.Int(e.Value)})
		}
		var costs []analytics.ProjectCost
		for _, project := range f.ProjectIDs {
			costs = append(costs, analytics.ProjectCost{Currency: l.projects[project].Currency,
				EAC: analytics.EstimateAtCompletion(l.budgetInput(project))})
		}
		data = append(data, shownFacility(f, f.Position(sums), f.LTCBp(costs), f.NextIPD(q.today)))
	}
	return object{"data": data}
}

func shownFacility(f *analytics.Facility, p analytics.FacilityPosition, ltc events.Opt[int64],
	next events.Opt[calendar.Date]) any {
	amount := amountIn(f.Currency)
	steps := []any{}
	for _, s := range f.MarginSteps() {
		steps = append(steps, object{"from": day(s.From), "marginBp": decimal(s.MarginBp)})
	}
	pricing := object{"referenceRate": f.Pricing.ReferenceRate, "marginBp": decimal(f.Pricing.MarginBp),
		"floorBp": optional(f.Pricing.FloorBp, decimal), "floorOn": f.FloorOn(), "marginSteps": steps}
	if f.Pricing.FixedRateBp.Ok {
		pricing["fixedRateBp"] = decimal(f.Pricing.FixedRateBp.V)
	}
	shown := object{
		"facilityId": f.ID, "projectIds": f.ProjectIDs, "lender": f.Lender, "type": f.Type, "currency": f.Currency,
		"commitment": amount(analytics.Int(f.Commitment)), "drawn": amount(p.Drawn), "requested": amount(p.Requested),
		"available": amount(p.Available), "maturity": day(f.Maturity), "pricing": pricing,
		"availability":      object{"from": day(f.Availability.From), "to": day(f.Availability.To)},
		"interestTreatment": f.InterestTreatment, "nextIpd": optional(next, day),
	}
	if ltc.Ok {
		shown["ltcBp"] = ltc.V
	}
	return shown
}

func answerSchedule(t *testing.T, l *ledger, q question) any {
	id := q.path["facilityId"]
	request := analytics.ScheduleRequest{Today: q.today, IncludePlanned: strings.EqualFold(q.query["includePlanned"], "true")}
	if q.query["to"] != "" {
		request.To = events.Some(date(q.query["to"]))
	}
	f := l.facility(id)
	return shownSchedule(f, f.Schedule(l.entriesOf(id), l.fixingsOf(id), request))
}

func shownSchedule(f *analytics.Facility, schedule []analytics.FacilityPeriod) any {
	amount := amountIn(f.Currency)
	periods := []any{}
	for _, p := range schedule {
		changes := []any{}
		for _, c := range p.RateChanges {
			changes = append(changes, object{"from": day(c.From), "marginBp": optional(c.MarginBp, decimal),
				"rateBp": optional(c.RateBp, decimal)})
		}
		periods = append(periods, object{
			"start": day(p.Start), "end": day(p.End), "days": p.Days, "referenceBp": optional(p.ReferenceBp, decimal),
			"marginBp": optional(p.MarginBp, decimal), "rateBp": optional(p.RateBp, decimal), "rateChanges": changes,
			"projected": p.Projected, "openingBalance": amount(p.OpeningBalance), "balance": amount(p.Balance),
			"interest": optional(p.Interest, amount), "commitmentFee": amount(p.CommitmentFee),
		})
	}
	return object{"facilityId": f.ID, "currency": f.Currency, "dayCount": f.DayCount, "periods": periods}
}

func answerDrawdowns(_ *testing.T, l *ledger, q question) any {
	id := q.path["facilityId"]
	data := []any{}
	for _, e := range l.entriesOf(id) {
		data = append(data, object{"entryId": e.ID, "facilityId": id, "kind": e.Kind, "status": e.Status, "date": day(e.Date),
			"amount": amountIn(l.facilities[id].Currency)(analytics.Int(e.Value))})
	}
	return object{"data": data}
}

func day(d calendar.Date) any { return d.String() }

func decimal(d events.Decimal) any { return json.Number(d.String()) }

// plain brings an answer into the form of decoded JSON.
func plain(t *testing.T, answer any) any {
	t.Helper()
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// keyed arrays compare by this member, whatever the order.
var keyed = map[string]string{
	"nodes": "nodeId", "excluded": "currency", "excludedCommitted": "currency", "amendments": "id",
	"changesSincePrevious": "budgetNodeId", "months": "month", "leases": "leaseId", "periods": "start",
}

// sets are arrays of texts that compare whatever their order.
var sets = []string{"reclassRecordIds", "flags", "unitIds", "projectIds"}

// differences tells what of want is missing or other in got.
func differences(want, got any, at, name string) []string {
	switch want := want.(type) {
	case map[string]any:
		found, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v, want an object", at, got)}
		}
		var all []string
		for member, w := range want {
			g, present := found[member]
			if !present {
				all = append(all, fmt.Sprintf("%s.%s: missing", at, member))
				continue
			}
			all = append(all, differences(w, g, at+"."+member, member)...)
		}
		return all
	case []any:
		found, ok := got.([]any)
		if !ok || len(found) != len(want) {
			return []string{fmt.Sprintf("%s: %v, want %d elements", at, got, len(want))}
		}
		found, want = aligned(name, found), aligned(name, want)
		var all []string
		if name == "nodes" {
			all = parentsFirst(got.([]any), at)
		}
		for i := range want {
			all = append(all, differences(want[i], found[i], fmt.Sprintf("%s[%d]", at, i), "")...)
		}
		return all
	}
	if want != got {
		return []string{fmt.Sprintf("%s: %v, want %v", at, got, want)}
	}
	return nil
}

// aligned sorts an array whose order is not checked.
func aligned(name string, elements []any) []any {
	sorted := slices.Clone(elements)
	key := func(e any) string {
		if member, ok := keyed[name]; ok {
			return fmt.Sprint(e.(map[string]any)[member])
		}
		return ""
	}
	if slices.Contains(sets, name) {
		key = func(e any) string { return fmt.Sprint(e) }
	}
	slices.SortStableFunc(sorted, func(a, b any) int { return strings.Compare(key(a), key(b)) })
	return sorted
}

// present reports whether a JSON pointer leads to something in a body.
func present(body any, pointer string) bool {
	at := body
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := at.(type) {
		case map[string]any:
			next, ok := in[step]
			if !ok {
				return false
			}
			at = next
		case []any:
			i, err := strconv.Atoi(step)
			if member, value, ok := strings.Cut(step, "="); ok {
				i, err = slices.IndexFunc(in, func(e any) bool { return fmt.Sprint(e.(map[string]any)[member]) == value }), nil
			}
			if err != nil || i < 0 || i >= len(in) {
				return false
			}
			at = in[i]
		default:
			return false
		}
	}
	return true
}

func parentsFirst(nodes []any, at string) []string {
	var late []string
	seen := map[any]bool{nil: true}
	for _, n := range nodes {
		node := n.(map[string]any)
		if !seen[node["parentId"]] {
			late = append(late, fmt.Sprintf("%s: %v comes before its parent", at, node["nodeId"]))
		}
		seen[node["nodeId"]] = true
	}
	return late
}
