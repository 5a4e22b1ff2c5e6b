package api_test

import (
	"math/big"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
)

// stored is an entity as its table holds it: where, and what it puts into the sums.
type stored struct {
	project      string
	contribution analytics.Contribution
	row          map[string]any
}

// state stores the next version of an entity as the ingest does: the sums are taken what the one before put in. An
// entity that goes to another project leaves a deleted row behind. A row nil deletes it.
func (w *world) state(table, project, id string, row map[string]any, after analytics.Contribution) {
	w.Helper()
	if w.stored == nil {
		w.stored = make(map[string]stored)
	}
	key, version := table+"/"+id, uint64(w.version(events.Topic("state of "+table), id))
	before, known := w.stored[key]
	deleted := row == nil
	if deleted {
		row, project = before.row, before.project
	}
	line := func(project string, deleted, moved bool) map[string]any {
		all := map[string]any{"tenant": tenant, "project": project, "id": id, "row_version": version, "deleted": deleted, "moved": moved}
		for name, value := range row {
			all[name] = value
		}
		return all
	}
	if known && before.project != project {
		w.insert(table, line(before.project, true, true))
	}
	w.insert(table, line(project, deleted, false))
	switch table {
	case "uncommitted_entries", "line_plans": // the position moves with every batch
		w.insert(table, map[string]any{"tenant": "", "project": "#0", "row_version": uint64(w.version("position of "+events.Topic(table), ""))})
	}
	w.sums(table, before.project, before.contribution, -1)
	w.sums(table, project, after, 1)
	w.stored[key] = stored{project, after, row}
}

// sums adds the contribution of a row of a table to the sums of a project, sign times.
func (w *world) sums(table, project string, c analytics.Contribution, sign int64) {
	w.Helper()
	rows := make([]map[string]any, 0, len(c))
	for _, s := range c {
		roll := s.Roll.Roll()
		row := map[string]any{"tenant": tenant, "project": project, "keys": string(clickhouse.AppendKeys(nil, roll, s.Keys[:len(roll.Keys)]))}
		for _, a := range clickhouse.SumAmounts() {
			row[a] = new(big.Int)
		}
		for i, a := range roll.Amounts {
			row[clickhouse.AmountColumn(a)] = big.NewInt(sign * s.Amounts[i])
		}
		rows = append(rows, row)
	}
	w.insert("sums", rows...)
	if len(rows) > 0 { // the view's position moves with every batch
		w.insert("sums", map[string]any{"tenant": "", "project": clickhouse.ViewPositionProject(table, 0),
			clickhouse.AmountColumn("position"): big.NewInt(1),
			clickhouse.AmountColumn("squares"):  big.NewInt(w.version("position of sums of "+events.Topic(table), ""))})
	}
}

func day(d events.Opt[calendar.Date]) *time.Time {
	if !d.Ok {
		return nil
	}
	t := d.V.Time()
	return &t
}

func (w *world) budgetRow(id, project, node string, value int64) {
	w.Helper()
	data := events.BudgetRow{ProjectID: project, Kind: "initial", NodeID: events.Opt[string]{V: node, Ok: node != ""},
		Amount: events.Amount{Value: value, Currency: "EUR"}, Status: "approved"}
	row := map[string]any{"kind": data.Kind, "node_id": node, "currency": "EUR", "value": value, "status": data.Status}
	w.state("budget_rows", project, id, row, analytics.BudgetRowContribution(nil, &data))
}

func (w *world) transfer(id, project, from, to string, value int64) {
	w.Helper()
	data := events.BudgetTransfer{ProjectID: project, FromNodeID: some(from), ToNodeID: some(to),
		Amount: events.Amount{Value: value, Currency: "EUR"}, Status: "approved"}
	row := map[string]any{"from_node_id": from, "to_node_id": to, "currency": "EUR", "value": value, "status": data.Status}
	w.state("budget_transfers", project, id, row, analytics.BudgetTransferContribution(nil, &data))
}

func (w *world) entry(id, project, node string, value events.Opt[int64]) {
	w.Helper()
	row := map[string]any{"node_id": node, "currency": "EUR", "value": pointer(value)}
	w.state("uncommitted_entries", project, id, row, nil)
}

func (w *world) claim(id, project, node string, value, bp int64) {
	w.Helper()
	data := events.Claim{ProjectID: project, NodeID: some(node), Amount: events.Amount{Value: value, Currency: "EUR"},
		ProbabilityBp: events.Decimal{Units: bp}, Status: "open"}
	row := map[string]any{"node_id": node, "currency": "EUR", "value": value, "probability_bp": "", "status": "open"}
	w.state("claims", project, id, row, analytics.ClaimContribution(nil, &data))
}

// booked stores a record with what it puts into the sums.
func (w *world) booked(id string, r events.Record) {
	w.Helper()
	if r.Source == "" {
		r.Source = "invoice"
	}
	status := string(analytics.StatusOf(r.StepKind))
	plain := record{id: id, project: r.ProjectID, source: r.Source, status: status, contractor: r.ContractorID.V,
		currency: r.Currency.V, net: r.Net, tax: r.Tax, gross: r.Gross}
	for _, a := range r.Allocations {
		plain.nodes, plain.nets = append(plain.nodes, a.NodeID.V), append(plain.nets, a.Net.V)
	}
	row := plain.row(tenant)
	row["contract_id"] = r.ContractID.V
	for _, head := range []string{"tenant", "project", "id", "row_version", "deleted"} {
		delete(row, head)
	}
	after, err := analytics.RecordContribution(nil, id, &r)
	w.must(err)
	w.state("records", r.ProjectID, id, row, after)
}

// invoice is a record of one amount on one node, linked to a contract or not.
func invoice(project, node, contract, step string, net int64) events.Record {
	r := events.Record{ProjectID: project, StepKind: step, Currency: some("EUR"), Net: some(net),
		ContractID: events.Opt[string]{V: contract, Ok: contract != ""}}
	if node != "" {
		r.Allocations = []events.RecordAllocation{{NodeID: some(node), Net: some(net)}}
	}
	return r
}

func (w *world) contractOf(id string, c events.Contract) {
	w.Helper()
	if c.Status == "" {
		c.Status = "signed"
	}
	if c.Currency == "" {
		c.Currency = "EUR"
	}
	row := map[string]any{
		"name": pointer(c.Name), "contractor_id": c.ContractorID.V, "status": c.Status, "start_date": day(c.StartDate),
		"end_date": day(c.EndDate), "currency": c.Currency,
	}
	nodes, values := []string{}, []int64{}
	for _, a := range c.Allocations {
		nodes, values = append(nodes, a.NodeID), append(values, a.Value)
	}
	row["allocation_node"], row["allocation_value"] = nodes, values
	ids, of, statuses, amounts, dates, titles := []string{}, []string{}, []string{}, []int64{}, []*time.Time{}, []*string{}
	for _, a := range c.Amendments {
		ids, of, statuses = append(ids, a.ID), append(of, a.NodeID.V), append(statuses, a.Status)
		amounts, dates, titles = append(amounts, a.Value), append(dates, day(a.Date)), append(titles, pointer(a.Title))
	}
	row["amendment_id"], row["amendment_node"], row["amendment_status"] = ids, of, statuses
	row["amendment_value"], row["amendment_date"], row["amendment_title"] = amounts, dates, titles
	after, err := analytics.ContractContribution(nil, analytics.ContractID(id), &c)
	w.must(err)
	w.state("contracts", c.ProjectID, id, row, after)
}

// gone deletes a stored entity.
func (w *world) gone(table, id string) {
	w.Helper()
	w.state(table, "", id, nil, nil)
}

func (w *world) snapshot(id string, s events.ForecastSnapshot) {
	w.Helper()
	row := map[string]any{"month": s.Month.String(), "version": s.Version, "status": s.Status,
		"submitted_at": pointer(s.SubmittedAt), "decided_at": pointer(s.DecidedAt)}
	texts := func(get func(l events.SnapshotLine) string) []string {
		all := []string{}
		for _, l := range s.Lines {
			all = append(all, get(l))
		}
		return all
	}
	amounts := func(get func(l events.SnapshotLine) int64) []int64 {
		all := []int64{}
		for _, l := range s.Lines {
			all = append(all, get(l))
		}
		return all
	}
	defaulted := []bool{}
	for _, l := range s.Lines {
		defaulted = append(defaulted, l.UncommittedDefaulted)
	}
	row["line_node"] = texts(func(l events.SnapshotLine) string { return l.NodeID })
	row["line_parent"] = texts(func(l events.SnapshotLine) string { return l.ParentID.V })
	row["line_level"] = texts(func(l events.SnapshotLine) string { return l.Level })
	row["line_code"] = texts(func(l events.SnapshotLine) string { return l.Code })
	row["line_name"] = texts(func(l events.SnapshotLine) string { return l.Name })
	row["line_budget"] = amounts(func(l events.SnapshotLine) int64 { return l.Budget })
	row["line_committed"] = amounts(func(l events.SnapshotLine) int64 { return l.Committed })
	row["line_pending_changes"] = amounts(func(l events.SnapshotLine) int64 { return l.PendingChanges })
	row["line_uncommitted"] = amounts(func(l events.SnapshotLine) int64 { return l.Uncommitted })
	row["line_uncommitted_defaulted"] = defaulted
	row["line_invoiced"] = amounts(func(l events.SnapshotLine) int64 { return l.Invoiced })
	row["line_paid"] = amounts(func(l events.SnapshotLine) int64 { return l.Paid })
	nodes, reasons := []string{}, []string{}
	for _, e := range s.Explanations {
		nodes, reasons = append(nodes, e.NodeID), append(reasons, e.Reason)
	}
	row["explanation_node"], row["explanation_reason"] = nodes, reasons
	w.state("forecast_snapshots", s.ProjectID, id, row, nil)
}

func (w *world) company(id string, c events.Contractor) {
	w.Helper()
	w.insert("contractors", map[string]any{
		"tenant": tenant, "project": "", "id": id, "row_version": uint64(w.version("state of contractors", id)), "name": pointer(c.Name), "city": pointer(c.City),
		"country": pointer(c.Country), "tax_id": pointer(c.TaxID), "registration_number": pointer(c.RegistrationNumber),
	})
}

// budgets adds budgets to the sums of nodes of P1.
func (w *world) budgets(values map[string]int64) {
	w.Helper()
	var c analytics.Contribution
	for node, value := range values {
		c = append(c, analytics.Summand{Roll: clickhouse.RollBudget, Keys: [clickhouse.MaxRollKeys]string{node, "EUR"}, Amounts: [clickhouse.MaxRollAmounts]int64{value}})
	}
	w.sums("budget_rows", "P1", c, 1)
}
