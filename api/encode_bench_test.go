package api

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// typicalRecords are as a page holds them: most paid, some split.
func typicalRecords(n int) []reader.Record {
	node := func(i int) analytics.NodeRef {
		return analytics.NodeRef{NodeID: events.Some(fmt.Sprintf("node-%d", i)), Code: events.Some("01-0001-01"),
			Name: events.Some("Concrete works"), BudgetName: events.Some("Construction")}
	}
	records := make([]reader.Record, n)
	for i := range records {
		net := int64(1_000_00 + i)
		allocations := []reader.RecordAllocation{{Allocation: analytics.Allocation{BudgetNode: node(i),
			Net: events.Some(net)}, Currency: "EUR"}}
		if i%5 == 0 {
			allocations = append(allocations, allocations[0])
		}
		var sole events.Opt[analytics.NodeRef]
		if len(allocations) == 1 {
			sole = events.Some(allocations[0].BudgetNode)
		}
		records[i] = reader.Record{
			ID: fmt.Sprintf("%016x", i*7919), Status: "paid", PaidOn: events.Some(calendar.NewDate(2026, 4, 1)),
			Bookings: allocations, SoleLine: sole,
			Codes: []events.AccountingCode{{System: "datev", Code: "0700-00", Name: events.Some("Assets"), Inherited: true}},
			Record: events.Record{
				ProjectID: "project-1", Direction: "out", Source: "invoice", WorkflowStep: events.Some("Paid"),
				ContractorID:     events.Some(fmt.Sprintf("contractor-%d", i)),
				CounterpartyName: events.Some("Müller Bau GmbH & Co KG"),
				InvoiceNumber:    events.Some(fmt.Sprintf("RE-2026-%d", i)),
				RecognitionDate:  events.Some(calendar.NewDate(2026, 3, 2)), DueDate: events.Some(calendar.NewDate(2026, 4, 1)),
				Currency: events.Some("EUR"), Net: events.Some(net), Tax: events.Some(net / 5), Gross: events.Some(net + net/5),
				Documents: []events.Document{{Name: "invoice.pdf", Kind: "original"}},
				Intake: events.Intake{Channel: "email", Status: events.Some("completed"),
					ReceivedAt: events.Some(time.Date(2026, 3, 1, 10, 15, 0, 0, time.UTC))},
			},
		}
	}
	return records
}

// pageOf writes the records of a page as listRecords does.
func pageOf(records []reader.Record) writer {
	view := newRecordView([]access.Project{{ID: "project-1", Groups: access.All}}, nil)
	c := &call{share: share{maxPage: maxPageBody}}
	return writePage(nil, c, page[reader.Record]{items: records, write: view.write})
}

func BenchmarkEncodeRecords(b *testing.B) {
	write := pageOf(typicalRecords(200))
	e := &resource.Encoder{}
	_ = write(e)
	b.SetBytes(int64(len(e.B)))
	b.ReportAllocs()
	for b.Loop() {
		e.B = e.B[:0]
		_ = write(e)
	}
}

func TestEncodingRecordsAllocatesNothing(t *testing.T) {
	write := pageOf(typicalRecords(200))
	e := &resource.Encoder{}
	if err := write(e); err != nil || !json.Valid(e.B) {
		t.Fatalf("no JSON: %s, %v", e.B, err)
	}
	if allocations := testing.AllocsPerRun(10, func() { e.B = e.B[:0]; _ = write(e) }); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}
