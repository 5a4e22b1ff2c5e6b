package store_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

// What the tables must hold, said once more straight from the JSON of the messages, without the decoder and the
// contributions.

// image is a column of a table and the member of the message that it holds.
type image struct {
	column string
	member string // a path; [] goes through a list; "" is the payload itself
	as     func(v any) any
}

func (i image) value(data any) any {
	if i.member == "" {
		return i.as(data)
	}
	return through(data, i.member, i.as)
}

// through follows a path, list by list.
func through(v any, path string, as func(any) any) any {
	list, rest, lists := strings.Cut(path, "[].")
	if !lists {
		v = member(v, path)
		if as != nil {
			v = as(v)
		}
		return v
	}
	values := []any{}
	for _, element := range elements(v, list) {
		values = append(values, through(element, rest, as))
	}
	return values
}

// member is what is at a path of names; null where nothing does.
func member(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

func elements(v any, path string) []any {
	list, _ := member(v, path).([]any)
	return list
}

// orEmpty is the text of columns that have no null.
func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// micros is an instant as the tables keep it.
func micros(v any) any {
	if v == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, v.(string))
	if err != nil {
		return err.Error()
	}
	return at.UTC().Format("2006-01-02 15:04:05.000000")
}

// inJSON is a column's text that is JSON itself.
var inJSON = map[string]bool{"certified_codes": true, "documents": true, "accounting_codes": true, "reading": true}

// codes are accounting codes with all their members.
func codes(v any) any {
	all := []any{}
	list, _ := v.([]any)
	for _, c := range list {
		inherited := member(c, "inherited")
		if inherited == nil {
			inherited = false
		}
		all = append(all, map[string]any{"system": member(c, "system"), "code": member(c, "code"), "name": member(c, "name"), "taxKey": member(c, "taxKey"), "inherited": inherited})
	}
	return all
}

func documents(v any) any {
	all := []any{}
	for _, d := range v.([]any) {
		all = append(all, map[string]any{"name": member(d, "name"), "kind": member(d, "kind")})
	}
	return all
}

func given(v any) any { return v != nil }

func orZero(v any) any {
	if v == nil {
		return json.Number("0")
	}
	return v
}

func listOrEmpty(v any) any {
	if v == nil {
		return []any{}
	}
	return v
}

// codeKeys are what a filter on accounting codes looks for.
func codeKeys(v any) any {
	all := []any{}
	list, _ := v.([]any)
	for _, c := range list {
		all = append(all, member(c, "system").(string)+":"+member(c, "code").(string))
	}
	return all
}

// status is where the step leaves a record; nowhere, for one that nobody knows.
func status(step any) any {
	return map[any]string{"setup": "setup", "approval": "approvalPending", "payment": "paymentPending", "paid": "paid", "rejected": "rejected"}[step]
}

// cashDate is the day of payment: as given, else by the clocks of Vienna.
func cashDate(data any) any {
	given, at := member(data, "cashDate"), member(data, "paidAt")
	switch {
	case member(data, "stepKind") != "paid":
		return nil
	case given != nil || at == nil:
		return given
	}
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		return err.Error()
	}
	paid, err := time.Parse(time.RFC3339Nano, at.(string))
	if err != nil {
		return err.Error()
	}
	return paid.In(vienna).Format(time.DateOnly)
}

// plain is a decimal without zeros behind it.
func plain(v any) any {
	text := fmt.Sprint(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func plainOrNull(v any) any {
	if v == nil {
		return nil
	}
	return plain(v)
}

func plainOrEmpty(v any) any { return orEmpty(plainOrNull(v)) }

func linearByDefault(v any) any {
	if v == nil {
		return "linearDays"
	}
	return v
}

var images = map[events.Topic][]image{
	events.Projects: {
		{"name", "name", nil}, {"workspace_id", "workspaceId", nil}, {"currency", "currency", nil}, {"budget_structure_id", "budgetStructureId", nil},
		{"inbound_email", "inboundEmail", nil},
	},
	events.BudgetNodes: {
		{"structure_id", "structureId", nil}, {"parent_id", "parentId", nil}, {"level", "level", nil}, {"code", "code", nil}, {"name", "name", nil},
		{"description", "description", nil}, {"active", "active", nil}, {"accounting_codes", "accountingCodes", codes},
	},
	events.Contractors: {
		{"name", "name", nil}, {"city", "city", nil}, {"country", "country", nil}, {"tax_id", "taxId", nil}, {"registration_number", "registrationNumber", nil},
	},
	events.Users: {{"name", "name", nil}, {"email", "email", nil}, {"active", "active", nil}},
	events.Memberships: {
		{"user_id", "userId", nil}, {"scope_project_id", "scope.projectId", nil}, {"scope_workspace_id", "scope.workspaceId", nil}, {"scope_tenant", "scope.tenant", given},
		{"role", "role", nil},
	},
	events.Keys: {
		{"owner_user_id", "ownerUserId", nil}, {"environment", "environment", nil}, {"prefix", "prefix", nil},
		{"secret_sha256", "secretSha256", func(v any) any { return strings.ToLower(v.(string)) }}, {"financial", "financial", nil}, {"has_groups", "groups", given},
		{"groups", "groups", listOrEmpty}, {"has_project_ids", "projectIds", given}, {"project_ids", "projectIds", listOrEmpty}, {"expires_at", "expiresAt", micros},
		{"revoked_at", "revokedAt", micros},
	},
	events.Records: {
		{"source", "source", nil}, {"direction", "direction", nil}, {"status", "stepKind", status}, {"workflow_step", "workflowStep", nil},
		{"contractor_id", "contractorId", orEmpty}, {"counterparty_name", "counterpartyName", nil}, {"invoice_number", "invoiceNumber", nil},
		{"recognition_date", "recognitionDate", nil}, {"due_date", "dueDate", nil}, {"paid_at", "paidAt", micros}, {"given_cash_date", "cashDate", nil},
		{"cash_date", "", cashDate}, {"currency", "currency", orEmpty}, {"net", "net", nil}, {"tax", "tax", nil}, {"gross", "gross", nil},
		{"allocation_node", "allocations[].nodeId", orEmpty}, {"allocation_net", "allocations[].net", orZero}, {"contract_id", "contractId", orEmpty},
		{"certified", "certifiedCodes", given}, {"certified_codes", "certifiedCodes", codes}, {"certified_keys", "certifiedCodes", codeKeys},
		{"documents", "documents", documents}, {"channel", "intake.channel", nil}, {"intake_status", "intake.status", orEmpty}, {"received_at", "intake.receivedAt", micros},
	},
	events.BudgetRows: {
		{"kind", "kind", nil}, {"node_id", "nodeId", orEmpty}, {"currency", "amount.currency", nil}, {"value", "amount.value", nil}, {"status", "status", nil},
	},
	events.BudgetTransfers: {
		{"from_node_id", "fromNodeId", orEmpty}, {"to_node_id", "toNodeId", orEmpty}, {"currency", "amount.currency", nil}, {"value", "amount.value", nil},
		{"status", "status", nil},
	},
	events.UncommittedEntries: {
		{"node_id", "nodeId", nil}, {"currency", "amount.currency", orEmpty}, {"value", "amount.value", nil},
	},
	events.Contracts: {
		{"name", "name", nil}, {"contractor_id", "contractorId", orEmpty}, {"status", "status", nil}, {"start_date", "startDate", nil}, {"end_date", "endDate", nil},
		{"currency", "currency", nil}, {"allocation_node", "allocations[].nodeId", nil}, {"allocation_value", "allocations[].value", nil},
		{"amendment_id", "amendments[].id", nil}, {"amendment_node", "amendments[].nodeId", orEmpty}, {"amendment_value", "amendments[].value", nil},
		{"amendment_status", "amendments[].status", nil}, {"amendment_date", "amendments[].date", nil}, {"amendment_title", "amendments[].title", nil},
	},
	events.Claims: {
		{"contract_id", "contractId", orEmpty}, {"node_id", "nodeId", orEmpty}, {"currency", "amount.currency", nil}, {"value", "amount.value", nil},
		{"probability_bp", "probabilityBp", plain}, {"status", "status", nil},
	},
	events.ForecastSnapshots: {
		{"month", "month", nil}, {"version", "version", nil}, {"status", "status", nil}, {"submitted_at", "submittedAt", micros}, {"decided_at", "decidedAt", micros},
		{"line_node", "lines[].nodeId", nil}, {"line_parent", "lines[].parentId", orEmpty}, {"line_level", "lines[].level", nil}, {"line_code", "lines[].code", nil},
		{"line_name", "lines[].name", nil}, {"line_budget", "lines[].budget", nil}, {"line_committed", "lines[].committed", nil},
		{"line_pending_changes", "lines[].pendingChanges", nil}, {"line_uncommitted", "lines[].uncommitted", nil},
		{"line_uncommitted_defaulted", "lines[].uncommittedDefaulted", nil}, {"line_invoiced", "lines[].invoiced", nil}, {"line_paid", "lines[].paid", nil},
		{"explanation_node", "explanations[].nodeId", nil}, {"explanation_reason", "explanations[].reason", nil},
	},
	events.LinePlans: {
		{"node_id", "nodeId", nil}, {"start_date", "startDate", nil}, {"end_date", "endDate", nil}, {"method", "method", linearByDefault},
		{"custom_month", "customMonths[].month", nil}, {"custom_value", "customMonths[].value", nil},
		{"recurring_every_months", "recurring.everyMonths", orZero}, {"recurring_from", "recurring.from", orEmpty},
		{"recurring_to", "recurring.to", orEmpty},
	},
	events.Units: {
		{"site_id", "siteId", nil}, {"site_name", "siteName", nil}, {"building_id", "buildingId", nil}, {"label", "label", nil}, {"type", "type", nil},
		{"floor", "floor", nil}, {"area_m2", "areaM2", plainOrNull}, {"spaces", "spaces", nil}, {"scope", "scope", nil},
		{"asking_rate_value", "askingRate.value", nil}, {"asking_rate_currency", "askingRate.currency", orEmpty},
	},
	events.Leases: {
		{"category", "category", nil}, {"counterparty_name", "counterpartyName", nil}, {"status", "status", nil}, {"unit_ids", "unitIds", nil},
		{"start_date", "start", nil}, {"end_date", "end", nil}, {"effective_end", "", leaseEnd}, {"currency", "currency", nil},
		{"monthly_rent", "monthlyRent", nil}, {"step_from", "steps[].from", nil}, {"step_monthly_rent", "steps[].monthlyRent", nil},
		{"rent_free_from", "rentFree[].from", nil}, {"rent_free_to", "rentFree[].to", nil}, {"break_date", "breaks[].date", nil},
		{"break_party", "breaks[].party", nil}, {"break_state", "breaks[].state", nil}, {"indexation_type", "indexation.type", orEmpty},
		{"indexation_rate_bp", "indexation.rateBp", plainOrEmpty}, {"indexation_first_on", "indexation.firstOn", nil},
		{"indexation_every_months", "indexation.everyMonths", orZero}, {"indexation_series", "indexation.series", orEmpty},
		{"indexation_base_month", "indexation.baseMonth", orEmpty}, {"indexation_threshold_bp", "indexation.thresholdBp", plainOrEmpty},
		{"indexation_lag_months", "indexation.lagMonths", orZero}, {"indexation_share_bp", "indexation.shareBp", plainOrEmpty},
		{"indexation_cap_bp", "indexation.capBp", plainOrNull}, {"indexation_floor_bp", "indexation.floorBp", plainOrNull},
		{"indexation_text", "indexationText", nil},
	},
	events.IndexValues: {{"series", "series", nil}, {"month", "month", nil}, {"value", "value", plain}},
	events.Facilities: {
		{"project_ids", "projectIds", nil}, {"lender", "lender", nil}, {"type", "type", nil}, {"currency", "currency", nil},
		{"commitment", "commitment", nil}, {"revolving", "revolving", nil}, {"availability_from", "availability.from", nil},
		{"availability_to", "availability.to", nil}, {"maturity", "maturity", nil}, {"day_count", "dayCount", nil},
		{"reference_rate", "pricing.referenceRate", nil}, {"margin_bp", "pricing.marginBp", plain}, {"floor_bp", "pricing.floorBp", plainOrNull},
		{"floor_on", "pricing.floorOn", orEmpty}, {"fixed_rate_bp", "pricing.fixedRateBp", plainOrNull},
		{"margin_step_from", "pricing.marginSteps[].from", nil}, {"margin_step_margin_bp", "pricing.marginSteps[].marginBp", plain},
		{"commitment_fee_bp", "commitmentFeeBp", plain}, {"interest_treatment", "interestTreatment", nil}, {"first_ipd", "firstIpd", nil},
		{"ipd_every_months", "ipdEveryMonths", orZero}, {"has_ipds", "ipds", given}, {"ipds", "ipds", listOrEmpty},
	},
	events.Fixings: {{"period_start", "periodStart", nil}, {"reference_bp", "referenceBp", plain}},
	events.FacilityEntries: {
		{"kind", "kind", nil}, {"status", "status", nil}, {"date", "date", nil}, {"value", "value", nil},
	},
	events.Readings: {
		{"state", "", inboxState}, {"reason", "reason", orEmpty}, {"newest", "mail.arrivedAt", newest}, {"sender", "mail.from", orEmpty},
		{"subject", "mail.subject", orEmpty}, {"message_id", "mail.messageId", orEmpty}, {"mail_sha256", "mail.sha256", inSmallLetters},
		{"document_sha256", "documents[].sha256", inSmallLetters}, {"number", "", fieldValue("invoiceNumber", "text", "")},
		{"supplier", "", fieldValue("supplierName", "text", "")}, {"currency", "", fieldValue("currency", "text", "")},
		{"gross", "", fieldValue("gross", "minorUnits", nil)}, {"repeats", "", repeats}, {"confirmed_by", "confirmedBy", orEmpty},
		{"tax_id", "", fieldValue("supplierTaxId", "text", "")}, {"contractor", "", fieldValue("contractorId", "text", "")},
		{"sender_domain", "", vouchedDomain}, {"ibans", "", accounts},
		{"reading", "", asRead},
	},
	events.Requests: {
		{"action", "action", nil}, {"sender", "sender", orEmpty}, {"requested_by", "requestedBy", orEmpty}, {"requested_at", "requestedAt", micros},
		{"outcome", "answer.outcome", orEmpty}, {"detail", "answer.detail", orEmpty}, {"answered_at", "answer.at", micros},
	},
}

// fieldValue is what was read of a field; of several of one name the first counts.
func fieldValue(name, as string, none any) func(any) any {
	return func(data any) any {
		for _, f := range elements(data, "fields") {
			if member(f, "name") == name {
				if v := member(f, "value."+as); v != nil {
					return v
				}
				return none
			}
		}
		return none
	}
}

// vouchedDomain is that of the one sender for whom the mailbox's server vouches.
func vouchedDomain(data any) any {
	from, _ := member(data, "mail.from").(string)
	if parts := strings.Split(from, "@"); member(data, "mail.verdict") == "pass" && len(parts) == 2 && !strings.ContainsAny(parts[1], ", ") {
		return strings.ToLower(parts[1])
	}
	return ""
}

// accounts are the values and alternatives of the supplier's account.
func accounts(data any) any {
	all := []any{}
	for _, f := range elements(data, "fields") {
		if member(f, "name") != "supplierIban" {
			continue
		}
		texts := []any{member(f, "value.text")}
		for _, a := range elements(f, "alternatives") {
			texts = append(texts, member(a, "text"))
		}
		for _, text := range texts {
			if orEmpty(text) != "" {
				all = append(all, text)
			}
		}
	}
	return all
}

// asRead is the whole reading, without members that say nothing.
func asRead(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, of := range v {
			switch {
			case of == nil || name == "ext":
			case name == "sha256":
				kept[name] = inSmallLetters(of)
			case name == "confidenceBp":
				kept[name] = plain(of)
			case name == "arrivedAt":
				at, _ := time.Parse(time.RFC3339Nano, of.(string))
				kept[name] = at.UTC().Format(time.RFC3339Nano)
			default:
				kept[name] = asRead(of)
			}
		}
		return kept
	case []any:
		all := []any{}
		for _, of := range v {
			all = append(all, asRead(of))
		}
		return all
	}
	return v
}

func inSmallLetters(v any) any { return strings.ToLower(orEmpty(v).(string)) }

// newest is an arrival in microseconds before 1970.
func newest(arrived any) any {
	if arrived == nil {
		return json.Number("0")
	}
	at, err := time.Parse(time.RFC3339Nano, arrived.(string))
	if err != nil {
		return err.Error()
	}
	return json.Number(fmt.Sprint(-at.UnixMicro()))
}

func repeats(data any) any {
	all := []any{}
	for _, f := range elements(data, "findings") {
		if strings.HasPrefix(member(f, "rule").(string), "duplicate-") {
			for _, id := range elements(f, "records") {
				if !slices.Contains(all, id) {
					all = append(all, id)
				}
			}
		}
	}
	return all
}

// inboxState: what a person confirmed is read; else a repetition is one, and what lacks a field or is doubted is doubtful.
func inboxState(data any) any {
	switch status := member(data, "status"); {
	case status == "handled":
		return ""
	case status != "completed":
		return status
	case member(data, "confirmedBy") != nil:
		return "read"
	case len(repeats(data).([]any)) > 0:
		return "duplicate"
	}
	for _, name := range []string{"invoiceNumber", "invoiceDate", "supplierName", "currency", "gross"} {
		if !slices.ContainsFunc(elements(data, "fields"), func(f any) bool {
			return member(f, "name") == name && member(f, "value") != nil
		}) {
			return "doubtful"
		}
	}
	for _, f := range elements(data, "findings") {
		switch member(f, "rule") {
		case "page-differs", "amount-implausible", "unseen-figures", "value-left-out", "payment-code-differs":
			return "doubtful"
		}
	}
	return "read"
}

// adder adds amounts to a sum of a roll; keys and amounts by the columns of sums.
type adder func(roll string, keys map[string]string, amounts map[string]any)

// contributes says what one live entity adds to the sums of its project.
var contributes = map[events.Topic]func(m eventstest.Message, add adder){
	events.BudgetRows: func(m eventstest.Message, add adder) {
		if is(m, "status", "approved") {
			add("budget", keys{"node": text(m, "nodeId"), "currency": text(m, "amount.currency")}, amounts{"value": member(m["data"], "amount.value")})
		}
	},
	events.BudgetTransfers: func(m eventstest.Message, add adder) {
		if is(m, "status", "approved") {
			value := integer(member(m["data"], "amount.value"))
			add("budget_transfers", keys{"node": text(m, "fromNodeId"), "currency": text(m, "amount.currency")}, amounts{"value": new(big.Int).Neg(value)})
			add("budget_transfers", keys{"node": text(m, "toNodeId"), "currency": text(m, "amount.currency")}, amounts{"value": value})
		}
	},
	events.Claims: func(m eventstest.Message, add adder) {
		if is(m, "status", "open") {
			add("claims", keys{"node": text(m, "nodeId"), "currency": text(m, "amount.currency")}, amounts{"pending": expectedClaim(m)})
		}
	},
	events.Contracts: contractLines,
	events.Records:   recordSums,
	events.Leases:    leaseMonths,
	events.FacilityEntries: func(m eventstest.Message, add adder) {
		roll := map[string]string{"drawdown": "drawdowns", "interest": "capitalised", "repayment": "repayments"}[text(m, "kind")]
		if roll != "" && (is(m, "status", "funded") || is(m, "status", "requested")) {
			add(roll, keys{"status": text(m, "status")}, amounts{"value": member(m["data"], "value")})
		}
	},
}

type (
	keys    = map[string]string
	amounts = map[string]any
)

// recordSums: contractors count every record, recognized all but rejected ones, the others neither accruals nor
// rejected ones.
func recordSums(m eventstest.Message, add adder) {
	data, step := m["data"], text(m, "stepKind")
	if contractor := text(m, "contractorId"); contractor != "" {
		add("references", keys{"contractor": contractor}, amounts{"count": 1})
	}
	bookings := elements(data, "allocations")
	if len(bookings) == 0 {
		bookings = []any{map[string]any{"net": member(data, "net")}}
	}
	node := func(booking any) string { return orEmpty(member(booking, "nodeId")).(string) }
	for _, b := range bookings {
		if day := text(m, "recognitionDate"); day != "" && node(b) != "" && step != "rejected" {
			add("recognized", keys{"node": node(b), "month": day[:len("2006-01")]}, amounts{"count": 1})
		}
	}
	if is(m, "source", "accrual") || step == "rejected" || status(step) == "" {
		return
	}
	currency, first := text(m, "currency"), 1
	if member(data, "net") == nil {
		currency = ""
	}
	for i, gross := range expectedGross(data, bookings) {
		net := integer(orZero(member(bookings[i], "net")))
		add("lines", keys{"contract": text(m, "contractId"), "node": node(bookings[i]), "currency": currency, "status": status(step).(string)},
			amounts{"count": first, "allocations": 1, "net": net, "gross": gross})
		first = 0
		if currency == "" {
			continue
		}
		if day, _ := cashDate(data).(string); day != "" {
			add("payments", keys{"node": node(bookings[i]), "currency": currency, "month": day[:len("2006-01")]}, amounts{"net": net})
		}
		if contract := text(m, "contractId"); contract != "" && node(bookings[i]) != "" {
			add("links", keys{"contract": contract, "node": node(bookings[i]), "currency": currency, "record": m["id"].(string)}, amounts{"count": 1})
		}
	}
}

// expectedGross spreads the gross by the nets, by fractions: what is lost by cutting goes to the greatest remainders,
// the first of equals. Without a net there is no gross that counts; nets that cancel leave it on the first.
func expectedGross(data any, bookings []any) []*big.Int {
	shares := make([]*big.Int, len(bookings))
	nets, sum := make([]*big.Int, len(bookings)), new(big.Int)
	for i, b := range bookings {
		shares[i], nets[i] = new(big.Int), integer(orZero(member(b, "net")))
		sum.Add(sum, nets[i])
	}
	if member(data, "net") == nil {
		return shares
	}
	gross := integer(member(data, "gross"))
	if gross == nil {
		gross = new(big.Int).Add(integer(member(data, "net")), integer(orZero(member(data, "tax"))))
	}
	if sum.Sign() == 0 {
		shares[0] = gross
		return shares
	}
	size, left := new(big.Int).Abs(gross), new(big.Int).Abs(gross)
	remainders, order := make([]*big.Rat, len(nets)), make([]int, len(nets))
	for i, net := range nets {
		exact := new(big.Rat).SetFrac(new(big.Int).Mul(size, net), sum)
		shares[i] = floor(exact)
		remainders[i], order[i] = exact.Sub(exact, new(big.Rat).SetInt(shares[i])), i
		left.Sub(left, shares[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return remainders[b].Cmp(remainders[a]) })
	for _, i := range order[:left.Int64()] {
		shares[i].Add(shares[i], big.NewInt(1))
	}
	if gross.Sign() < 0 {
		for _, s := range shares {
			s.Neg(s)
		}
	}
	return shares
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// expectedClaim is amount times probability, to the nearest unit, halves up; nothing for a negative amount.
func expectedClaim(m eventstest.Message) *big.Int {
	amount := new(big.Rat).SetInt(integer(member(m["data"], "amount.value")))
	probability, ok := new(big.Rat).SetString(fmt.Sprint(member(m["data"], "probabilityBp")))
	if !ok || amount.Sign() < 0 {
		return new(big.Int)
	}
	twice := amount.Mul(amount, probability).Quo(amount, big.NewRat(5000, 1))
	twice.Add(twice, big.NewRat(1, 1))
	return new(big.Int).Div(twice.Num(), new(big.Int).Lsh(twice.Denom(), 1)) // both positive: this is the floor
}

// contractLines: the nodes of the base contract in order, then those that approved amendments add, by date and id,
// undated last.
func contractLines(m eventstest.Message, add adder) {
	key := func(line, node string) keys {
		return keys{"contract": m["id"].(string), "line": line, "node": node, "currency": text(m, "currency"), "status": text(m, "status")}
	}
	allocations, amendments := elements(m["data"], "allocations"), slices.Clone(elements(m["data"], "amendments"))
	for _, a := range amendments {
		if value := integer(member(a, "value")); member(a, "status") == "pending" && value.Sign() > 0 {
			add("contracts", key("", orEmpty(member(a, "nodeId")).(string)), amounts{"pending": value})
		}
	}
	if len(allocations) == 0 {
		return
	}
	var nodes []string
	base, committed := map[string]*big.Int{}, map[string]*big.Int{}
	book := func(booking any, on ...map[string]*big.Int) {
		node := orEmpty(member(booking, "nodeId")).(string)
		if base[node] == nil {
			nodes = append(nodes, node)
			base[node], committed[node] = new(big.Int), new(big.Int)
		}
		for _, sums := range on {
			sums[node].Add(sums[node], integer(member(booking, "value")))
		}
	}
	for _, a := range allocations {
		book(a, base, committed)
	}
	slices.SortFunc(amendments, func(a, b any) int {
		day := func(v any) string { return cmp.Or(orEmpty(member(v, "date")).(string), "undated") }
		return cmp.Or(cmp.Compare(day(a), day(b)), cmp.Compare(member(a, "id").(string), member(b, "id").(string)))
	})
	for _, a := range amendments {
		if member(a, "status") == "approved" {
			book(a, committed)
		}
	}
	for i, node := range nodes {
		add("contracts", key(fmt.Sprintf("%05d", i+1), node), amounts{"count": 1, "value": base[node], "committed": committed[node]})
	}
}

// leaseEnd is the earliest exercised break before the end of a lease, else that end.
func leaseEnd(data any) any {
	end := member(data, "end")
	for _, b := range elements(data, "breaks") {
		if on := member(b, "date"); member(b, "state") == "exercised" && (end == nil || on.(string) < end.(string)) {
			end = on
		}
	}
	return end
}

// leaseMonths looks at every month of a lease by itself, and puts together those that follow each other and are equal.
func leaseMonths(m eventstest.Message, add adder) {
	if !slices.Contains([]string{"signed", "active", "ended"}, text(m, "status")) {
		return
	}
	start, last := text(m, "start"), "2300-12"
	if end, ok := leaseEnd(m["data"]).(string); ok {
		last = end[:len("2026-01")]
	}
	var from, until, status, leave string
	var rent *big.Int
	put := func() {
		if from != "" {
			add("rent", keys{"lease": m["id"].(string), "status": status, "month": from, "until": until, "first_break": leave}, amounts{"count": 1, "value": rent})
		}
	}
	for month := start[:len("2026-01")]; month <= last; month = nextMonth(month) {
		r, s, b := leaseTerms(m["data"], month+"-01", max(month+"-01", start))
		if from == "" || r.Cmp(rent) != 0 || s != status || b != leave {
			put()
			from, rent, status, leave = month, r, s, b
		}
		until = month
	}
	put()
}

// leaseTerms are those of a month whose rent is due on a day.
func leaseTerms(data any, first, due string) (rent *big.Int, status, leave string) {
	rent = integer(member(data, "monthlyRent"))
	latest := ""
	for _, s := range elements(data, "steps") {
		if from := member(s, "from").(string); from <= due && from >= latest {
			rent, latest = integer(member(s, "monthlyRent")), from
		}
	}
	for _, r := range elements(data, "rentFree") {
		if member(r, "from").(string) <= due && due <= member(r, "to").(string) {
			status = "rentFree"
		}
	}
	end, ends := leaseEnd(data).(string)
	for _, b := range elements(data, "breaks") {
		on := member(b, "date").(string)
		if member(b, "state") != "open" || member(b, "party") == "landlord" || on < first || ends && on >= end {
			continue
		}
		if leave == "" || on < leave {
			leave = on
		}
	}
	return rent, status, leave
}

func nextMonth(month string) string {
	var y, m int
	if _, err := fmt.Sscanf(month, "%d-%d", &y, &m); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%04d-%02d", y+m/12, m%12+1)
}

func is(m eventstest.Message, path, value string) bool { return member(m["data"], path) == value }

func text(m eventstest.Message, path string) string { return orEmpty(member(m["data"], path)).(string) }

func integer(v any) *big.Int {
	n, ok := new(big.Int).SetString(fmt.Sprint(v), 10)
	if !ok {
		return nil
	}
	return n
}

// sums are big numbers by amount, by what tells a sum apart.
type sums map[string]map[string]*big.Int

func (s sums) add(roll, project string, of keys, values amounts) {
	key := sumName(roll, project, of)
	if s[key] == nil {
		s[key] = map[string]*big.Int{}
	}
	for name, v := range values {
		n, isBig := v.(*big.Int)
		if !isBig {
			n = integer(v)
		}
		if s[key][name] == nil {
			s[key][name] = new(big.Int)
		}
		s[key][name].Add(s[key][name], n)
	}
}

// sumName names a sum by what it has of keys.
func sumName(roll, project string, of keys) string {
	name := fmt.Sprintf("%s of %q", roll, project)
	for _, column := range slices.Sorted(maps.Keys(of)) {
		if of[column] != "" {
			name += fmt.Sprintf(", %s %q", column, of[column])
		}
	}
	return name
}

// texts are the sums in digits, without what is 0.
func (s sums) texts() map[string]string {
	all := map[string]string{}
	for key, values := range s {
		var has []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if values[name].Sign() != 0 {
				has = append(has, name+" "+values[name].String())
			}
		}
		if len(has) > 0 {
			all[key] = strings.Join(has, ", ")
		}
	}
	return all
}
