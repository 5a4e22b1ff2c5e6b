package worker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// rollup is a roll as the model computes it: what it is keyed by behind tenant and project, and what it sums.
type rollup struct{ keys, sums []string }

var rollups = map[string]rollup{
	"lines":            {[]string{"contract", "node", "currency", "status"}, []string{"count", "allocations", "net", "gross"}},
	"payments":         {[]string{"node", "currency", "month"}, []string{"net"}},
	"recognized":       {[]string{"node", "month"}, []string{"count"}},
	"references":       {[]string{"contractor"}, []string{"count"}},
	"links":            {[]string{"contract", "node", "currency", "record"}, []string{"count"}},
	"budget":           {[]string{"node", "currency"}, []string{"value"}},
	"budget_transfers": {[]string{"node", "currency"}, []string{"value"}},
	"contracts":        {[]string{"contract", "node", "currency", "status", "line"}, []string{"count", "value", "committed", "pending"}},
	"claims":           {[]string{"node", "currency"}, []string{"pending"}},
	"drawdowns":        {[]string{"status"}, []string{"value"}},
	"capitalised":      {[]string{"status"}, []string{"value"}},
	"repayments":       {[]string{"status"}, []string{"value"}},
	"rent":             {[]string{"lease", "until", "first_break", "status", "month"}, []string{"count", "value"}},
}

// said is what an entity's newest version says that the tables must hold, computed from the decoded message alone.
type said struct {
	project string
	row     row            // its columns
	sums    []naiveSummand // what it adds to rolls
	refused bool           // more than the sums can hold: a dead letter
}

type row map[string]any

type naiveSummand struct {
	roll string
	key  []string // behind tenant and project
	sums []int64
}

func (s *said) add(roll string, key []string, sums ...int64) {
	s.sums = append(s.sums, naiveSummand{roll, key, sums})
}

// kind is one kind of entity: its table and what a version of it says.
type kind struct {
	table   string
	columns []string
	says    func(id string, data any) said
}

func kindOf[P any](table string, says func(id string, p *P) said) kind {
	columns := slices.Sorted(maps.Keys(says("", new(P)).row))
	return kind{table, columns, func(id string, data any) said { return says(id, data.(*P)) }}
}

// naive is all that the model knows of the entities.
var naive = map[events.Topic]kind{
	events.Projects: kindOf("projects", func(id string, p *events.Project) said {
		return said{project: id, row: row{
			"name": p.Name, "workspace_id": orNull(p.WorkspaceID), "currency": p.Currency, "budget_structure_id": orNull(p.BudgetStructureID),
			"inbound_email": orNull(p.InboundEmail),
		}}
	}),
	events.BudgetNodes: kindOf("budget_nodes", func(_ string, n *events.BudgetNode) said {
		return said{project: n.ProjectID.V, row: row{
			"structure_id": orNull(n.StructureID), "parent_id": orNull(n.ParentID), "level": n.Level, "code": n.Code, "name": n.Name,
			"description": orNull(n.Description), "active": n.Active, "accounting_codes": codesText(n.AccountingCodes),
		}}
	}),
	events.BudgetRows: kindOf("budget_rows", func(_ string, r *events.BudgetRow) said {
		s := said{project: r.ProjectID, row: row{
			"kind": r.Kind, "node_id": r.NodeID.V, "currency": r.Amount.Currency, "value": r.Amount.Value, "status": r.Status,
		}}
		if r.Status == "approved" {
			s.add("budget", []string{r.NodeID.V, r.Amount.Currency}, r.Amount.Value)
		}
		return s
	}),
	events.BudgetTransfers: kindOf("budget_transfers", func(_ string, t *events.BudgetTransfer) said {
		s := said{project: t.ProjectID, row: row{
			"from_node_id": t.FromNodeID.V, "to_node_id": t.ToNodeID.V, "currency": t.Amount.Currency, "value": t.Amount.Value, "status": t.Status,
		}}
		if t.Status == "approved" {
			s.add("budget_transfers", []string{t.FromNodeID.V, t.Amount.Currency}, -t.Amount.Value)
			s.add("budget_transfers", []string{t.ToNodeID.V, t.Amount.Currency}, t.Amount.Value)
		}
		return s
	}),
	events.UncommittedEntries: kindOf("uncommitted_entries", func(_ string, e *events.UncommittedEntry) said {
		s := said{project: e.ProjectID, row: row{"node_id": e.NodeID, "currency": "", "value": nil}}
		if e.Amount.Ok {
			s.row["currency"], s.row["value"] = e.Amount.V.Currency, e.Amount.V.Value
		}
		return s
	}),
	events.Contractors: kindOf("contractors", func(_ string, c *events.Contractor) said {
		return said{row: row{
			"name": orNull(c.Name), "city": orNull(c.City), "country": orNull(c.Country), "tax_id": orNull(c.TaxID),
			"registration_number": orNull(c.RegistrationNumber),
		}}
	}),
	events.Contracts: kindOf("contracts", func(id string, c *events.Contract) said {
		s := said{project: c.ProjectID, row: row{
			"name": orNull(c.Name), "contractor_id": c.ContractorID.V, "status": c.Status, "start_date": orNull(c.StartDate), "end_date": orNull(c.EndDate),
			"currency":         c.Currency,
			"allocation_node":  each(c.Allocations, func(a events.ContractAllocation) any { return a.NodeID }),
			"allocation_value": each(c.Allocations, func(a events.ContractAllocation) any { return a.Value }),
			"amendment_id":     each(c.Amendments, func(a events.Amendment) any { return a.ID }),
			"amendment_node":   each(c.Amendments, func(a events.Amendment) any { return a.NodeID.V }),
			"amendment_value":  each(c.Amendments, func(a events.Amendment) any { return a.Value }),
			"amendment_status": each(c.Amendments, func(a events.Amendment) any { return a.Status }),
			"amendment_date":   each(c.Amendments, func(a events.Amendment) any { return orNull(a.Date) }),
			"amendment_title":  each(c.Amendments, func(a events.Amendment) any { return orNull(a.Title) }),
		}}
		for i, l := range naiveLines(c) {
			s.add("contracts", []string{id, l.node, c.Currency, c.Status, fmt.Sprintf("%05d", i+1)}, 1, l.base, l.base+l.approved, 0)
		}
		booked := new(big.Int)
		for _, a := range c.Allocations {
			booked.Add(booked, new(big.Int).Abs(big.NewInt(a.Value)))
		}
		for _, a := range c.Amendments {
			booked.Add(booked, new(big.Int).Abs(big.NewInt(a.Value)))
			if a.Status == "pending" && a.Value > 0 {
				s.add("contracts", []string{id, a.NodeID.V, c.Currency, c.Status, ""}, 0, 0, 0, a.Value)
			}
		}
		s.refused = booked.BitLen() > 61
		return s
	}),
	events.Claims: kindOf("claims", func(_ string, c *events.Claim) said {
		s := said{project: c.ProjectID, row: row{
			"contract_id": c.ContractID.V, "node_id": c.NodeID.V, "currency": c.Amount.Currency, "value": c.Amount.Value,
			"probability_bp": c.ProbabilityBp.String(), "status": c.Status,
		}}
		if c.Status == "open" {
			s.add("claims", []string{c.NodeID.V, c.Amount.Currency}, naiveExpectation(c.Amount.Value, c.ProbabilityBp))
		}
		return s
	}),
	events.Records: kindOf("records", func(id string, r *events.Record) said {
		status := map[string]string{"setup": "setup", "approval": "approvalPending", "payment": "paymentPending", "paid": "paid", "rejected": "rejected"}[r.StepKind]
		var cashDate events.Opt[calendar.Date]
		if r.StepKind == "paid" {
			cashDate = r.CashDate
			if !cashDate.Ok {
				cashDate = events.Some(calendar.ViennaDate(r.PaidAt.V))
			}
		}
		s := said{project: r.ProjectID, row: row{
			"source": r.Source, "direction": r.Direction, "status": status, "workflow_step": orNull(r.WorkflowStep), "contractor_id": r.ContractorID.V,
			"counterparty_name": orNull(r.CounterpartyName), "invoice_number": orNull(r.InvoiceNumber), "recognition_date": orNull(r.RecognitionDate),
			"due_date": orNull(r.DueDate), "paid_at": orNull(r.PaidAt), "given_cash_date": orNull(r.CashDate), "cash_date": orNull(cashDate),
			"currency": r.Currency.V, "net": orNull(r.Net), "tax": orNull(r.Tax), "gross": orNull(r.Gross),
			"allocation_node": each(r.Allocations, func(a events.RecordAllocation) any { return a.NodeID.V }),
			"allocation_net":  each(r.Allocations, func(a events.RecordAllocation) any { return a.Net.V }),
			"contract_id":     r.ContractID.V, "certified": r.CertifiedCodes.Ok, "certified_codes": codesText(r.CertifiedCodes.V),
			"certified_keys": each(r.CertifiedCodes.V, func(c events.AccountingCode) any { return c.System + ":" + c.Code }),
			"documents":      documentsText(r.Documents), "channel": r.Intake.Channel, "intake_status": r.Intake.Status.V, "received_at": orNull(r.Intake.ReceivedAt),
		}}
		allocations := r.Allocations
		if len(allocations) == 0 {
			allocations = []events.RecordAllocation{{Net: r.Net}}
		}
		currency, gross := "", make([]int64, len(allocations))
		if r.Net.Ok {
			currency = r.Currency.V
			total := r.Net.V + r.Tax.V
			if r.Gross.Ok {
				total = r.Gross.V
			}
			gross = naiveShares(total, allocations)
		}
		if r.ContractorID.Ok && r.ContractorID.V != "" {
			s.add("references", []string{r.ContractorID.V}, 1)
		}
		for i, a := range allocations {
			if r.RecognitionDate.Ok && a.NodeID.V != "" && status != "rejected" {
				s.add("recognized", []string{a.NodeID.V, naiveMonth(r.RecognitionDate)}, 1)
			}
			if r.Source == "accrual" || status == "rejected" {
				continue
			}
			first := int64(0)
			if i == 0 {
				first = 1
			}
			s.add("lines", []string{r.ContractID.V, a.NodeID.V, currency, status}, first, 1, a.Net.V, gross[i])
			if r.Net.Ok && status == "paid" {
				s.add("payments", []string{a.NodeID.V, currency, naiveMonth(cashDate)}, a.Net.V)
			}
			if r.Net.Ok && r.ContractID.V != "" && a.NodeID.V != "" {
				s.add("links", []string{r.ContractID.V, a.NodeID.V, currency, id}, 1)
			}
		}
		return s
	}),
	events.ForecastSnapshots: kindOf("forecast_snapshots", func(_ string, f *events.ForecastSnapshot) said {
		line := func(of func(l events.SnapshotLine) any) []any { return each(f.Lines, of) }
		return said{project: f.ProjectID, row: row{
			"month": f.Month.String(), "version": f.Version, "status": f.Status, "submitted_at": orNull(f.SubmittedAt), "decided_at": orNull(f.DecidedAt),
			"line_node":                  line(func(l events.SnapshotLine) any { return l.NodeID }),
			"line_parent":                line(func(l events.SnapshotLine) any { return l.ParentID.V }),
			"line_level":                 line(func(l events.SnapshotLine) any { return l.Level }),
			"line_code":                  line(func(l events.SnapshotLine) any { return l.Code }),
			"line_name":                  line(func(l events.SnapshotLine) any { return l.Name }),
			"line_budget":                line(func(l events.SnapshotLine) any { return l.Budget }),
			"line_committed":             line(func(l events.SnapshotLine) any { return l.Committed }),
			"line_pending_changes":       line(func(l events.SnapshotLine) any { return l.PendingChanges }),
			"line_uncommitted":           line(func(l events.SnapshotLine) any { return l.Uncommitted }),
			"line_uncommitted_defaulted": line(func(l events.SnapshotLine) any { return l.UncommittedDefaulted }),
			"line_invoiced":              line(func(l events.SnapshotLine) any { return l.Invoiced }),
			"line_paid":                  line(func(l events.SnapshotLine) any { return l.Paid }),
			"explanation_node":           each(f.Explanations, func(e events.Explanation) any { return e.NodeID }),
			"explanation_reason":         each(f.Explanations, func(e events.Explanation) any { return e.Reason }),
		}}
	}),
	events.LinePlans: kindOf("line_plans", func(_ string, p *events.LinePlan) said {
		s := said{project: p.ProjectID, row: row{
			"node_id": p.NodeID, "start_date": orNull(p.StartDate), "end_date": orNull(p.EndDate), "method": p.Method,
			"custom_month":           each(p.CustomMonths, func(v events.MonthValue) any { return v.Month.String() }),
			"custom_value":           each(p.CustomMonths, func(v events.MonthValue) any { return v.Value }),
			"recurring_every_months": 0, "recurring_from": "", "recurring_to": "",
		}}
		if p.Recurring.Ok {
			s.row["recurring_every_months"], s.row["recurring_from"] = p.Recurring.V.EveryMonths, p.Recurring.V.From.String()
			if p.Recurring.V.To.Ok {
				s.row["recurring_to"] = p.Recurring.V.To.V.String()
			}
		}
		return s
	}),
	events.Units: kindOf("units", func(_ string, u *events.Unit) said {
		s := said{project: u.ProjectID, row: row{
			"site_id": u.SiteID, "site_name": u.SiteName, "building_id": u.BuildingID, "label": u.Label, "type": u.Type, "floor": orNull(u.Floor),
			"area_m2": orNull(u.AreaM2), "spaces": orNull(u.Spaces), "scope": u.Scope, "asking_rate_value": nil, "asking_rate_currency": "",
		}}
		if u.AskingRate.Ok {
			s.row["asking_rate_value"], s.row["asking_rate_currency"] = u.AskingRate.V.Value, u.AskingRate.V.Currency
		}
		return s
	}),
	events.Leases: kindOf("leases", func(id string, l *events.Lease) said {
		x := l.Indexation.V
		s := said{project: l.ProjectID, row: row{
			"category": l.Category, "counterparty_name": orNull(l.CounterpartyName), "status": l.Status,
			"unit_ids": each(l.UnitIDs, func(u string) any { return u }), "start_date": l.Start.String(), "end_date": orNull(l.End),
			"effective_end": orNull(naiveLeaseEnd(l)), "currency": l.Currency, "monthly_rent": l.MonthlyRent,
			"step_from":         each(l.Steps, func(s events.RentStep) any { return s.From.String() }),
			"step_monthly_rent": each(l.Steps, func(s events.RentStep) any { return s.MonthlyRent }),
			"rent_free_from":    each(l.RentFree, func(r events.DateRange) any { return r.From.String() }),
			"rent_free_to":      each(l.RentFree, func(r events.DateRange) any { return r.To.String() }),
			"break_date":        each(l.Breaks, func(b events.Break) any { return b.Date.String() }),
			"break_party":       each(l.Breaks, func(b events.Break) any { return b.Party }),
			"break_state":       each(l.Breaks, func(b events.Break) any { return b.State }),
			"indexation_type":   x.Type, "indexation_rate_bp": "", "indexation_first_on": nil, "indexation_every_months": x.EveryMonths,
			"indexation_series": x.Series, "indexation_base_month": "", "indexation_threshold_bp": "", "indexation_lag_months": x.LagMonths,
			"indexation_share_bp": "", "indexation_cap_bp": orNull(x.CapBp), "indexation_floor_bp": orNull(x.FloorBp),
			"indexation_text": orNull(l.IndexationText),
		}}
		switch x.Type {
		case "fixed":
			s.row["indexation_rate_bp"], s.row["indexation_first_on"] = x.RateBp.String(), x.FirstOn.String()
		case "cpi":
			s.row["indexation_base_month"], s.row["indexation_threshold_bp"] = x.BaseMonth.String(), x.ThresholdBp.String()
			s.row["indexation_share_bp"] = x.ShareBp.String()
		}
		if l.Status != "signed" && l.Status != "active" && l.Status != "ended" {
			return s
		}
		rents := new(big.Int)
		for _, r := range naiveRents(l) {
			s.add("rent", []string{id, r.until.String(), r.leave, r.status, r.from.String()}, 1, r.rent)
			rents.Add(rents, new(big.Int).Abs(big.NewInt(r.rent)))
		}
		s.refused = rents.BitLen() > 61
		return s
	}),
	events.IndexValues: kindOf("index_values", func(_ string, v *events.IndexValue) said {
		return said{row: row{"series": v.Series, "month": v.Month.String(), "value": v.Value.String()}}
	}),
	events.Facilities: kindOf("facilities", func(_ string, f *events.Facility) said {
		return said{row: row{
			"project_ids": each(f.ProjectIDs, func(p string) any { return p }), "lender": f.Lender, "type": f.Type, "currency": f.Currency,
			"commitment": f.Commitment, "revolving": f.Revolving, "availability_from": f.Availability.From.String(),
			"availability_to": f.Availability.To.String(), "maturity": f.Maturity.String(), "day_count": f.DayCount,
			"reference_rate": f.Pricing.ReferenceRate, "margin_bp": f.Pricing.MarginBp.String(), "floor_bp": orNull(f.Pricing.FloorBp),
			"floor_on": f.Pricing.FloorOn.V, "fixed_rate_bp": orNull(f.Pricing.FixedRateBp),
			"margin_step_from":      each(f.Pricing.MarginSteps, func(s events.MarginStep) any { return s.From.String() }),
			"margin_step_margin_bp": each(f.Pricing.MarginSteps, func(s events.MarginStep) any { return s.MarginBp.String() }),
			"commitment_fee_bp":     f.CommitmentFeeBp.String(), "interest_treatment": f.InterestTreatment, "first_ipd": orNull(f.FirstIpd),
			"ipd_every_months": f.IpdEveryMonths.V, "has_ipds": f.Ipds.Ok, "ipds": each(f.Ipds.V, func(d calendar.Date) any { return d.String() }),
		}}
	}),
	events.Fixings: kindOf("fixings", func(_ string, f *events.Fixing) said {
		return said{project: f.FacilityID, row: row{"period_start": f.PeriodStart.String(), "reference_bp": f.ReferenceBp.String()}}
	}),
	events.FacilityEntries: kindOf("facility_entries", func(_ string, e *events.FacilityEntry) said {
		s := said{project: e.FacilityID, row: row{"kind": e.Kind, "status": e.Status, "date": e.Date.String(), "value": e.Value}}
		roll := map[string]string{"drawdown": "drawdowns", "interest": "capitalised", "repayment": "repayments"}[e.Kind]
		if roll != "" && slices.Contains([]string{"funded", "requested"}, e.Status) {
			s.add(roll, []string{e.Status}, e.Value)
		}
		return s
	}),
	events.Requests: kindOf("intake_requests", func(_ string, r *events.Request) said {
		s := said{project: r.ProjectID.V, row: row{
			"action": r.Action, "sender": r.Sender, "requested_by": r.RequestedBy.V, "requested_at": orNull(events.Some(r.RequestedAt)),
			"outcome": r.Answer.V.Outcome, "detail": r.Answer.V.Detail.V, "answered_at": nil,
		}}
		if r.Answer.Ok {
			s.row["answered_at"] = orNull(events.Some(r.Answer.V.At))
		}
		return s
	}),
	events.Readings: kindOf("readings", func(_ string, r *events.Reading) said {
		s := said{project: r.ProjectID.V, row: row{
			"state":  map[string]string{"failed": "failed", "quarantined": "quarantined", "withoutRecord": "withoutRecord"}[r.Status],
			"reason": r.Reason.V, "newest": 0, "sender": r.Mail.From.V, "subject": r.Mail.Subject.V, "message_id": r.Mail.MessageID.V,
			"mail_sha256": r.Mail.SHA256.V, "document_sha256": each(r.Documents, func(d events.ReadDocument) any { return d.SHA256 }),
			"number": "", "supplier": "", "currency": "", "gross": nil, "repeats": []any{}, "confirmed_by": r.ConfirmedBy.V, "tax_id": "", "contractor": "",
			"sender_domain": "", "ibans": []string{},
			"reading": string(events.AppendReading(nil, r)),
		}}
		if r.Mail.ArrivedAt.Ok {
			s.row["newest"] = -r.Mail.ArrivedAt.V.UnixMicro()
		}
		if r.Status == "completed" { // what is drawn of these lacks most fields
			s.row["state"] = "doubtful"
			if r.ConfirmedBy.Ok {
				s.row["state"] = "read"
			}
		}
		for _, f := range r.Fields {
			if f.Name == "gross" && f.Value.Ok {
				s.row["gross"] = f.Value.V.Minor.V
			}
		}
		return s
	}),
	events.Users: kindOf("users", func(_ string, u *events.User) said {
		return said{row: row{"name": u.Name, "email": orNull(u.Email), "active": u.Active}}
	}),
	events.Memberships: kindOf("memberships", func(_ string, m *events.Membership) said {
		return said{row: row{
			"user_id": m.UserID, "scope_project_id": orNull(m.Scope.ProjectID), "scope_workspace_id": orNull(m.Scope.WorkspaceID),
			"scope_tenant": m.Scope.Tenant, "role": m.Role,
		}}
	}),
	events.Keys: kindOf("keys", func(_ string, k *events.Key) said {
		return said{row: row{
			"owner_user_id": k.OwnerUserID, "environment": k.Environment, "prefix": k.Prefix, "secret_sha256": k.SecretSHA256, "financial": k.Financial,
			"has_groups": k.Groups.Ok, "groups": each(k.Groups.V, func(g string) any { return g }),
			"has_project_ids": k.ProjectIDs.Ok, "project_ids": each(k.ProjectIDs.V, func(p string) any { return p }),
			"expires_at": orNull(k.ExpiresAt), "revoked_at": orNull(k.RevokedAt),
		}}
	}),
}

// naiveLine is one line of a contract.
type naiveLine struct {
	node           string
	base, approved int64
}

// naiveLines are the nodes of the base contract in order, then those that approved amendments add: by date, undated
// last, then by id.
func naiveLines(c *events.Contract) (lines []naiveLine) {
	if len(c.Allocations) == 0 {
		return nil
	}
	at := func(node string) *naiveLine {
		for i := range lines {
			if lines[i].node == node {
				return &lines[i]
			}
		}
		lines = append(lines, naiveLine{node: node})
		return &lines[len(lines)-1]
	}
	for _, a := range c.Allocations {
		at(a.NodeID).base += a.Value
	}
	day := func(a events.Amendment) string {
		if !a.Date.Ok {
			return "undated"
		}
		return a.Date.V.String()
	}
	for _, a := range slices.SortedFunc(slices.Values(c.Amendments), func(a, b events.Amendment) int {
		return cmp.Or(strings.Compare(day(a), day(b)), strings.Compare(a.ID, b.ID))
	}) {
		if a.Status == "approved" {
			at(a.NodeID.V).approved += a.Value
		}
	}
	return lines
}

// naiveExpectation is the amount times the probability, to the nearest unit, halves up; nothing of a negative amount.
func naiveExpectation(amount int64, bp events.Decimal) int64 {
	probability, _ := new(big.Rat).SetString(bp.String())
	exact := probability.Mul(probability, big.NewRat(max(0, amount), 10_000))
	exact.Add(exact, big.NewRat(1, 2))
	return new(big.Int).Div(exact.Num(), exact.Denom()).Int64() // nothing is negative: this is the floor
}

func naiveLeaseEnd(l *events.Lease) events.Opt[calendar.Date] {
	end := l.End
	for _, b := range l.Breaks {
		if b.State == "exercised" && (!end.Ok || b.Date < end.V) {
			end = events.Some(b.Date)
		}
	}
	return end
}

// naiveRent is a run of months in which a lease has the same terms.
type naiveRent struct {
	from, until   calendar.Month
	rent          int64
	status, leave string
}

// naiveRents asks for the terms of every month, and puts equal ones together.
func naiveRents(l *events.Lease) (runs []naiveRent) {
	last := calendar.Month(2300*12 + 11)
	end := naiveLeaseEnd(l)
	if end.Ok {
		last = end.V.Month()
	}
	for month := l.Start.Month(); month <= last; month++ {
		due := max(l.Start, month.First())
		run := naiveRent{month, month, l.MonthlyRent, "", ""}
		latest := calendar.MinDate
		for _, s := range l.Steps {
			if s.From <= due && s.From >= latest {
				run.rent, latest = s.MonthlyRent, s.From
			}
		}
		for _, r := range l.RentFree {
			if r.From <= due && due <= r.To {
				run.status = "rentFree"
			}
		}
		for _, b := range l.Breaks {
			on := b.Date.String()
			if b.State == "open" && b.Party != "landlord" && b.Date >= month.First() && (!end.Ok || b.Date < end.V) && (run.leave == "" || on < run.leave) {
				run.leave = on
			}
		}
		if n := len(runs) - 1; n >= 0 && runs[n].rent == run.rent && runs[n].status == run.status && runs[n].leave == run.leave {
			runs[n].until = month
			continue
		}
		runs = append(runs, run)
	}
	return runs
}

func naiveMonth(d events.Opt[calendar.Date]) string {
	if !d.Ok {
		return ""
	}
	return d.V.String()[:len("2026-01")]
}

// naiveShares is the largest remainder with exact fractions.
func naiveShares(total int64, allocations []events.RecordAllocation) []int64 {
	shares := make([]int64, len(allocations))
	sum := new(big.Rat)
	for _, a := range allocations {
		sum.Add(sum, new(big.Rat).SetInt64(a.Net.V))
	}
	if sum.Sign() == 0 || len(allocations) == 1 {
		shares[0] = total
		return shares
	}
	sign := int64(1)
	if total < 0 {
		sign, total = -1, -total
	}
	left := total
	type rest struct {
		i    int
		part *big.Rat
	}
	var rests []rest
	for i, a := range allocations {
		exact := new(big.Rat).SetInt64(total)
		exact.Mul(exact, new(big.Rat).SetInt64(a.Net.V)).Quo(exact, sum)
		floor := new(big.Int).Div(exact.Num(), exact.Denom()) // Euclidean; the denominator is positive
		shares[i] = floor.Int64()
		left -= shares[i]
		rests = append(rests, rest{i, exact.Sub(exact, new(big.Rat).SetInt(floor))})
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return b.part.Cmp(a.part) })
	for i := range left {
		shares[rests[i].i]++
	}
	for i := range shares {
		shares[i] *= sign
	}
	return shares
}

// orNull is an optional member as ClickHouse writes its column in JSON.
func orNull[V any](o events.Opt[V]) any {
	if !o.Ok {
		return nil
	}
	switch v := any(o.V).(type) {
	case calendar.Date:
		return v.String()
	case events.Decimal:
		return v.String()
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.000000")
	}
	return o.V
}

func each[E any](list []E, of func(E) any) []any {
	all := []any{}
	for _, e := range list {
		all = append(all, of(e))
	}
	return all
}

// codesText and documentsText are what the columns hold that the API passes on as they are.
func codesText(codes []events.AccountingCode) string {
	return asJSON(each(codes, func(c events.AccountingCode) any {
		return struct {
			System    string `json:"system"`
			Code      string `json:"code"`
			Name      any    `json:"name"`
			TaxKey    any    `json:"taxKey"`
			Inherited bool   `json:"inherited"`
		}{c.System, c.Code, orNull(c.Name), orNull(c.TaxKey), c.Inherited}
	}))
}

func documentsText(documents []events.Document) string {
	return asJSON(each(documents, func(d events.Document) any {
		return struct {
			Name string `json:"name"`
			Kind string `json:"kind"`
		}{d.Name, d.Kind}
	}))
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Whoever adds an entity or a roll tells the model of it, and the stream of the crash test.
func TestTheModelKnowsEveryEntityAndEveryRoll(t *testing.T) {
	for _, e := range store.All() {
		if naive[e.Topic].table != e.Table {
			t.Errorf("of %s the model knows the table %q, not %q", e.Topic, naive[e.Topic].table, e.Table)
		}
		for _, c := range e.Columns {
			if !slices.Contains(naive[e.Topic].columns, c.Name) {
				t.Errorf("of %s the model does not know the column %s", e.Topic, c.Name)
			}
		}
		if !slices.ContainsFunc(drawn, func(d drawnKind) bool { return d.topic == e.Topic }) {
			t.Errorf("nothing on %s is drawn for the crash test", e.Topic)
		}
	}
	for _, id := range clickhouse.Rolls() {
		roll := id.Roll()
		if of := rollups[roll.Name]; !slices.Equal(of.keys, roll.Keys) || !slices.Equal(of.sums, roll.Amounts) {
			t.Errorf("the model knows %s as sums of %q by %q, not of %q by %q", roll.Name, of.sums, of.keys, roll.Amounts, roll.Keys)
		}
	}
}

func TestNaiveSharesMatchTheWorkedExample(t *testing.T) {
	three := []events.RecordAllocation{{Net: events.Some[int64](1)}, {Net: events.Some[int64](1)}, {Net: events.Some[int64](1)}}
	if got := fmt.Sprint(naiveShares(100, three), naiveShares(-100, three)); got != "[34 33 33] [-34 -33 -33]" {
		t.Error(got)
	}
}
