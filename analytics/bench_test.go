package analytics_test

import (
	"fmt"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// largeProject has the given number of nodes on 12 levels, budget and records in
// every status on each, and 200 contracts of five lines with linked records.
func largeProject(size int) ([]analytics.Node, analytics.BudgetInput) {
	nodes := make([]analytics.Node, size)
	id := func(i int) string { return fmt.Sprintf("node-%06d", i) }
	for i := range nodes {
		nodes[i] = analytics.Node{ID: analytics.NodeID(id(i)), BudgetNode: events.BudgetNode{
			StructureID: events.Some("S1"), Code: fmt.Sprintf("%02d-%04d", i%97, i), Level: "costItem", Active: i%50 != 49,
		}}
		// Parents halve the position: a tree that gets 12 levels deep and more.
		if i > 3 {
			nodes[i].ParentID = events.Some(id(i/2 - 1))
		}
	}
	in := analytics.BudgetInput{Currency: "EUR"}
	statuses := []analytics.RecordStatus{analytics.Setup, analytics.ApprovalPending, analytics.PaymentPending,
		analytics.Paid}
	var records []analytics.RecordSum
	for i := range nodes {
		in.Budget = append(in.Budget, budgetOn(id(i), int64(1000*i)))
		for _, status := range statuses {
			records = append(records,
				analytics.RecordSum{NodeID: analytics.NodeID(id(i)), Currency: "EUR", Status: status,
					Net: analytics.Int(int64(100 + i)), Gross: analytics.Int(int64(120 + i)), Count: 1})
		}
		if i%10 == 0 {
			in.Entries = append(in.Entries, entered(id(i), int64(i)))
		}
	}
	for c := range 200 {
		contract := analytics.Contract{ID: analytics.ContractID(fmt.Sprint("contract-", c)),
			Contract: events.Contract{Status: "signed", Currency: "EUR"}}
		for l := range 5 {
			at := (c*37 + l*101) % size
			contract.Allocations = append(contract.Allocations, onNode(id(at), int64(50000+l)))
			for _, coded := range []int{at, at / 2, (at * 7) % size} {
				records = append(records,
					analytics.RecordSum{NodeID: analytics.NodeID(id(coded)), ContractID: contract.ID, Currency: "EUR",
						Status: analytics.Paid, Net: analytics.Int(9001), Gross: analytics.Int(9001), Count: 1})
			}
		}
		in.Contracts = append(in.Contracts, contract)
	}
	in.Records = [][]analytics.RecordSum{records}
	return nodes, in
}

func BenchmarkBudget(b *testing.B) {
	for _, size := range []int{2000, 20000} {
		nodes, in := largeProject(size)
		b.Run(fmt.Sprintf("nodes=%d/structure", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				structureOf(nodes)
			}
		})
		b.Run(fmt.Sprintf("nodes=%d/budget", size), func(b *testing.B) {
			in.Structure = structureOf(nodes)
			b.ReportAllocs()
			for b.Loop() {
				analytics.Budget(in)
			}
		})
	}
}

func BenchmarkLargestRemainder(b *testing.B) {
	weights := []int64{600000, 300000, 100000, 200000}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := analytics.LargestRemainder(140001, weights); err != nil {
			b.Fatal(err)
		}
	}
}

// A project of 2,000 lines whose payments lie in each of 60 months, and whose plans reach over the 60 to come.
func BenchmarkCashflow(b *testing.B) {
	nodes, budget := largeProject(2000)
	in := analytics.CashflowInput{BudgetInput: budget}
	in.Structure = structureOf(nodes)
	today := date("2026-05-12")
	methods := []string{"linearDays", "linearMonths", "sCurve"}
	for i, n := range nodes {
		p := plan(string(n.ID), methods[i%len(methods)]+" 2026-01-15 2031-04-20")
		if i%20 == 0 {
			p = recurring(p, 1, "2021-05", "")
		}
		in.Plans = append(in.Plans, p)
		paid := analytics.CashSum{NodeID: n.ID, Currency: "EUR"}
		for m := today.Month() - 60; m < today.Month(); m++ {
			paid.Paid = append(paid.Paid, analytics.MonthNet{Month: m, Net: analytics.Int(int64(i) + 1)})
			in.Recognized = append(in.Recognized, analytics.RecognizedSum{NodeID: n.ID, Month: m, Count: 1})
		}
		in.Cash = append(in.Cash, paid)
	}
	b.Run("budget alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			analytics.Budget(in.BudgetInput)
		}
	})
	b.Run("lines=2000/months=120", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			analytics.Cashflow(in, today)
		}
	})
}

func BenchmarkLargestRemainderOfManyMonths(b *testing.B) {
	weights := make([]int64, 120)
	for i := range weights {
		weights[i] = int64(28 + i%4)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := analytics.LargestRemainder(140001, weights); err != nil {
			b.Fatal(err)
		}
	}
}

// 5,000 leases, a third each without indexation, with a yearly rate and with an index, at a month of any year.
func BenchmarkRentRoll(b *testing.B) {
	var values []string
	for m := month("1996-01"); m <= month("2026-04"); m++ {
		values = append(values, fmt.Sprintf("%s=%d.%d", m, 100+(m-month("1996-01"))/4, m%10))
	}
	in := analytics.RentRollInput{Currency: "EUR", Indexes: published(values...)}
	for i := range 5000 {
		id, start := fmt.Sprintf("unit-%05d", i), month("1996-02")+calendar.Month(i*7%360)
		in.Units = append(in.Units, unit(id, "scheme 81.25"))
		l := let(fmt.Sprintf("active %s-01 - %d", start, 100_000+i), units(id),
			step("2020-01-01", 200_000), step("2026-08-15", 210_000), breakOn("2027-06-30", "tenant", "open"), breakOn("2031-06-30", "both", "open"))
		switch i % 3 {
		case 1:
			fixed(fmt.Sprintf("200 %s-01 12", start+12))(l)
		case 2:
			cpi(fmt.Sprintf("%s 500 1 2 %d", start-1, 10_000-i%2*2_500))(l)
		}
		in.Leases = append(in.Leases, analytics.NewLease(id, l))
	}
	for _, at := range []string{"2006-05", "2026-05", "2150-05"} {
		b.Run("leases=5000/month="+at, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				analytics.RentRoll(in, month(at), date("2026-05-12"))
			}
		})
	}
}

// 30 years of monthly periods with 1,000 movements, a fixing for each period that has begun and a step of the margin in
// each year.
func BenchmarkSchedule(b *testing.B) {
	f := loan(term("2006-01-01 2036-01-01"), paying("2006-02-01 1"), floor("0", "reference"), feeOf("87.5"))
	f.Commitment, f.Availability.To = 9_000_000_000_000, date("2035-06-30")
	var entries, fixings []string
	for i := range 1000 {
		kind := "drawdown"
		if i%3 == 2 {
			kind = "repayment"
		}
		on := date("2006-01-01") + calendar.Date(i*10957/1000)
		entries = append(entries, fmt.Sprintf("%s funded %s %d", kind, on, 1_000_000_000+i))
	}
	for m := month("2006-01"); m <= month("2026-05"); m++ {
		fixings = append(fixings, fmt.Sprintf("%s-01 %d.25", m, int(m)%500-50))
		if m%12 == 5 {
			marginFrom(m.String()+"-16", fmt.Sprint(150+int(m)%100))(&f.Facility)
		}
	}
	movements, fixed := entriesFrom(entries...), fixingsFrom(fixings...)
	b.ReportAllocs()
	for b.Loop() {
		if got := len(f.Schedule(movements, fixed, analytics.ScheduleRequest{Today: date("2026-05-12")})); got != 360 {
			b.Fatalf("%d periods", got)
		}
	}
}
