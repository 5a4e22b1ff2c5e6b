package analytics_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

const calculationsPage = "../docs/calculations.md"

// documented are the cells of a table of the page, by the first cell of their row. The table is the one whose first
// heading is this.
func documented(t *testing.T, heading string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(calculationsPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string)
	inside := false
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case cells[0] == heading:
			inside = true
		case inside && !strings.HasPrefix(cells[0], "-"):
			rows[cells[0]] = cells[1:]
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table headed %s", calculationsPage, heading)
	}
	return rows
}

// euros writes minor units as the page does.
func euros(sum analytics.Int128) string {
	cents, err := sum.Amount()
	if err != nil {
		return err.Error()
	}
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	whole := fmt.Sprint(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("%s%s.%02d", sign, whole, cents%100)
}

func compareRows(t *testing.T, page map[string][]string, computed map[string][]analytics.Int128) {
	t.Helper()
	if len(page) != len(computed) {
		t.Errorf("the page has %d rows, the example %d", len(page), len(computed))
	}
	for name, figures := range computed {
		var texts []string
		for _, f := range figures {
			texts = append(texts, euros(f))
		}
		if got, want := strings.Join(page[name], " | "), strings.Join(texts, " | "); got != want {
			t.Errorf("%s: the page says\n%s\nit is\n%s", name, got, want)
		}
	}
}

const euro = 100 // minor units

// house is the example of the page.
func house() (analytics.BudgetInput, map[string]*analytics.Contract) {
	shell := contractOf([]events.ContractAllocation{onNode("Shell", 800_000*euro)},
		amendment("a", "Shell", 60_000*euro, "approved", calendar.NewDate(2026, 3, 2)),
		amendment("b", "Shell", 25_000*euro, "pending", calendar.NewDate(2026, 4, 1)),
		amendment("c", "Shell", -10_000*euro, "pending", calendar.NewDate(2026, 4, 2)))
	roof := contractOf([]events.ContractAllocation{onNode("Roof", 320_000*euro)})
	architect := contractOf([]events.ContractAllocation{onNode("Planning", 120_000*euro)})
	contracts := map[string]*analytics.Contract{"Shell works": shell, "Roof works": roof, "Architect": architect}
	for name, c := range contracts {
		c.ID, c.Status = analytics.ContractID(name), "signed"
	}
	architect.Status = "setup"
	record := func(node, contract string, net int64, status analytics.RecordStatus) analytics.RecordSum {
		return analytics.RecordSum{NodeID: analytics.NodeID(node), ContractID: analytics.ContractID(contract),
			Currency: "EUR", Status: status, Source: "invoice",
			Net: analytics.Int(net * euro), Gross: analytics.Int(net * euro * 6 / 5), Count: 1}
	}
	accrual := record("Shell", "Shell works", 10_000, analytics.ApprovalPending)
	accrual.Source = "accrual"
	return analytics.BudgetInput{
		Currency: "EUR", Structure: structureOf(tree("Construction -", "Shell Construction", "Roof Construction",
			"Planning -")),
		Budget: []analytics.BudgetSum{
			budgetOn("Construction", 200_000*euro), budgetOn("Shell", 900_000*euro), budgetOn("Shell", 100_000*euro),
			budgetOn("Roof", 250_000*euro), budgetOn("Planning", 150_000*euro),
			budgetOn("Shell", -50_000*euro), budgetOn("Roof", 50_000*euro),
		},
		Records: [][]analytics.RecordSum{{
			record("Shell", "Shell works", 300_000, analytics.Paid),
			record("Shell", "Shell works", 200_000, analytics.PaymentPending),
			record("Roof", "Roof works", 350_000, analytics.ApprovalPending),
			record("Planning", "Shell works", 50_000, analytics.Setup),
			record("Shell", "", -20_000, analytics.Paid), record("", "", 5_000, analytics.Setup),
			record("Shell", "Shell works", 99_000, analytics.Rejected), accrual,
		}},
		Claims: []analytics.ClaimSum{{NodeID: "Shell", Currency: "EUR",
			Pending: analytics.Int(analytics.ClaimPending(&events.Claim{Status: "open",
				Amount: events.Amount{Value: 40_000 * euro, Currency: "EUR"}, ProbabilityBp: events.Decimal{Units: 2500}}))}},
		Contracts: []analytics.Contract{*shell, *roof, *architect},
		Entries:   []analytics.UncommittedEntry{entered("Planning", 130_000*euro)},
	}, contracts
}

func TestThePageOfCalculationsCountsRight(t *testing.T) {
	in, contracts := house()
	budget := analytics.Budget(in)
	booked, estimated := make(map[string][]analytics.Int128), make(map[string][]analytics.Int128)
	for _, n := range budget.Nodes {
		id := string(n.Node.ID)
		booked[id] = []analytics.Int128{n.Budget, n.Invoiced, n.Paid, n.InvoicedGross, n.PaidGross, n.Committed,
			n.OpenCommitment, n.OverInvoiced}
		estimated[id] = []analytics.Int128{n.Budget, n.Committed, n.PendingChanges, n.Uncommitted, n.EAC(), n.Variance(),
			n.CostToComplete()}
	}
	compareRows(t, documented(t, "Line: what is booked"), booked)
	compareRows(t, documented(t, "Line: where it leads"), estimated)
	if got := euros(budget.Unallocated); got != "5,000.00" {
		t.Errorf("unallocated %s", got)
	}
	figures := make(map[string][]analytics.Int128)
	for name, c := range contracts {
		var linked []analytics.RecordSum
		for _, r := range slices.Concat(in.Records...) {
			if string(r.ContractID) == name {
				linked = append(linked, r)
			}
		}
		f := c.Figures(linked)
		figures[name] = []analytics.Int128{f.Committed, f.Invoiced, f.Paid, f.OpenCommitment, f.OverInvoiced,
			f.PendingChanges}
		if outside := in.Structure.ToRecode(c, linked); name == "Shell works" &&
			(len(outside) != 1 || outside[0].NodeID != "Planning") {
			t.Errorf("to be re-coded: %v", outside)
		}
	}
	compareRows(t, documented(t, "Contract"), figures)
}

func TestThePagesSharesAddUp(t *testing.T) {
	weights := map[string]int64{"first": 600_000, "second": 300_000, "third": 100_000, "from an amendment": 200_000}
	names := []string{"first", "second", "third", "from an amendment"}
	var in []int64
	for _, name := range names {
		in = append(in, weights[name]*euro)
	}
	shares, err := analytics.LargestRemainder(140_001, in)
	if err != nil {
		t.Fatal(err)
	}
	computed := make(map[string][]analytics.Int128)
	for i, name := range names {
		computed[name] = []analytics.Int128{analytics.Int(in[i]), analytics.Int(shares[i])}
	}
	compareRows(t, documented(t, "Contract line"), computed)
}

func TestThePagesSnapshotsDiffer(t *testing.T) {
	at := func(shell, roof int64) *analytics.Snapshot {
		return snapshot(line("Construction", "", "budget", (shell+roof+30_000)*euro),
			line("Shell", "Construction", "subBudget", shell*euro), line("Roof", "Construction", "subBudget", roof*euro))
	}
	computed := make(map[string][]analytics.Int128)
	for _, c := range at(905_000, 310_000).ChangesSince(at(895_000, 320_000)) {
		computed[string(c.NodeID)] = []analytics.Int128{c.Before, c.After, c.Delta()}
	}
	compareRows(t, documented(t, "Line of the snapshot"), computed)
}

func TestThePagesCashFlowCountsRight(t *testing.T) {
	paid := func(node string, euros int64) analytics.RecordSum {
		return invoicedOn(node, analytics.Paid, euros*euro)
	}
	in := analytics.CashflowInput{
		BudgetInput: analytics.BudgetInput{Currency: "EUR",
			Structure: structureOf(tree("Works -", "Walls Works", "Windows Works", "Doors Works", "Paint Works")),
			Budget: []analytics.BudgetSum{budgetOn("Walls", 132_000*euro), budgetOn("Windows", 18_000*euro),
				budgetOn("Doors", 12_000*euro), budgetOn("Paint", 10_000*euro)},
			Records: [][]analytics.RecordSum{{paid("Walls", 40_000), paid("Paint", 1_000)}}},
		Plans: []analytics.LinePlan{plan("Walls", "linearDays 2026-04-01 2026-07-31"),
			plan("Windows", "linearDays 2026-01-01 2026-03-31"), custom("Paint", "2026-06=500000", "2026-07=200000")},
		Cash: []analytics.CashSum{paidOn("Walls", "2026-04", 40_000*euro), paidOn("Paint", "2026-05", 1_000*euro)},
	}
	c := analytics.Cashflow(in, date("2026-05-12"))
	budget := analytics.Budget(in.BudgetInput)
	funded, byMonth := make(map[string][]analytics.Int128), make(map[string][]analytics.Int128)
	for i := range c.Nodes {
		n, line := &c.Nodes[i], &budget.Nodes[i]
		rest := line.EAC().Sub(line.Paid) // nothing waits for payment here
		funded[string(n.Node.ID)] = []analytics.Int128{line.EAC(), line.Paid, rest, n.Undated, n.Gap}
		for m := month("2026-04"); m <= month("2026-07"); m++ {
			actual, forecast := c.In(n, m)
			byMonth[string(n.Node.ID)] = append(byMonth[string(n.Node.ID)], actual.Add(forecast))
		}
	}
	compareRows(t, documented(t, "Line: to be funded"), funded)
	compareRows(t, documented(t, "Line: by month"), byMonth)
}

func TestThePagesRentRollCountsRight(t *testing.T) {
	in := analytics.RentRollInput{Currency: "EUR", Indexes: published(),
		Units: []analytics.Unit{unit("1", "scheme 600"), unit("2", "scheme 300"), unit("3", "scheme 100"),
			unit("roof", "currentUse -")}}
	leases := map[string]*events.Lease{
		"Baker": let("active 2021-05-01 2031-04-30 600000", step("2026-05-01", 650_000), free("2026-05-01", "2026-06-30"),
			breakOn("2029-04-30", "tenant", "open"), units("1")),
		"Chandler": let("signed 2026-05-16 2028-05-15 300000", units("2")),
		"Mast":     let("active 2020-01-01 - 40000", fixed("250 2025-01-01 12"), category("other"), units("roof")),
	}
	for name, l := range leases {
		in.Leases = append(in.Leases, analytics.NewLease(name, l))
	}
	at, today := month("2026-05"), date("2026-05-12")
	roll := analytics.RentRoll(in, at, today)
	contracted := map[string]int64{"Baker": 650_000, "Chandler": 300_000, "Mast": 42_025}
	rents := make(map[string][]analytics.Int128)
	for _, l := range roll.Leases {
		alone := in
		alone.Leases = []analytics.Lease{*l.Lease}
		rents[l.ID] = []analytics.Int128{analytics.Int(contracted[l.ID]), l.PassingRentAnnual,
			analytics.RentRoll(alone, at, today).ForwardRent12m}
	}
	compareRows(t, documented(t, "Lease: May 2026"), rents)
	compareRows(t, documented(t, "Rent roll"), map[string][]analytics.Int128{
		"2026-05": {roll.PassingRentAnnual, roll.PassingRentOtherAnnual, roll.ForwardRent12m}})
	shown := []string{roll.LetAreaM2.V.String(), roll.TotalAreaM2.V.String(), roll.VacancyPct.V.String(),
		roll.WAULTToExpiryYears.V.String(), roll.WAULTToBreakYears.V.String()}
	if page := documented(t, "Rent roll: areas and terms")["2026-05"]; !slices.Equal(page, shown) {
		t.Errorf("the page says %q, it is %q", page, shown)
	}
	segments := make(map[string][]analytics.Int128)
	for _, s := range analytics.NewLease("Baker", leases["Baker"]).Segments {
		name := fmt.Sprintf("%s to %s", s.From, s.To)
		if s.FirstBreak.Ok {
			name += ", break " + s.FirstBreak.V.String()
		}
		if s.RentFree {
			name += ", rent-free"
		}
		segments[name] = []analytics.Int128{analytics.Int(s.Rent)}
	}
	compareRows(t, documented(t, "Baker's segments"), segments)
}

func TestThePagesFacilityCountsRight(t *testing.T) {
	f := loan(paying("2026-03-31 3"), floor("0", "reference"), marginFrom("2026-08-16", "300"), feeOf("90"))
	f.Commitment, f.Pricing.MarginBp = 5_000_000*euro, points("250")
	entries := entriesFrom("drawdown funded 2026-01-15 200000000", "drawdown funded 2026-04-10 100000000",
		"repayment funded 2026-05-31 50000000", "drawdown requested 2026-08-01 75000000")
	var sums []analytics.EntrySum
	for _, e := range entries {
		sums = append(sums, analytics.EntrySum{Kind: e.Kind, Status: e.Status, Value: analytics.Int(e.Value)})
	}
	p := f.Position(sums)
	compareRows(t, documented(t, "Facility"),
		map[string][]analytics.Int128{"Bank": {analytics.Int(f.Commitment), p.Drawn, p.Requested, p.Available}})
	if bp := f.LTCBp([]analytics.ProjectCost{{Currency: "EUR", EAC: analytics.Int(8_000_000 * euro)}}); bp.V != 6250 {
		t.Errorf("loan to cost %d", bp.V)
	}
	rates, amounts := documented(t, "Period"), make(map[string][]analytics.Int128)
	schedule := f.Schedule(entries, fixingsFrom("2026-01-01 -12.5", "2026-03-31 40"),
		analytics.ScheduleRequest{Today: date("2026-07-12")})
	for _, p := range schedule {
		name := fmt.Sprintf("%s to %s", p.Start, p.End)
		shown := []string{fmt.Sprint(p.Days), p.ReferenceBp.V.String(), p.MarginBp.V.String(), p.RateBp.V.String(),
			fmt.Sprint(p.Projected)}
		if !slices.Equal(rates[name], shown) {
			t.Errorf("%s: the page says %q, it is %q", name, rates[name], shown)
		}
		amounts[name] = []analytics.Int128{p.OpeningBalance, p.Balance, p.Interest.V, p.CommitmentFee}
	}
	compareRows(t, documented(t, "Period: amounts"), amounts)
}
