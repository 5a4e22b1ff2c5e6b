package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

const (
	benchProjects    = 300
	benchNodes       = 200
	benchContractors = 2_000
	benchYears       = 4 * 365 * 24 * time.Hour // that the log tells of
)

// benchTime is when the log begins.
var benchTime = time.Date(2022, 1, 1, 10, 0, 0, 0, time.UTC)

// fill writes the log, as years would or of one project. It returns how many bytes the values have.
func (s *system) fill(records int, oneProject bool) (bytes int) {
	client, err := kgo.NewClient(kgo.SeedBrokers(s.broker.Addr()), kgo.MaxBufferedRecords(200_000),
		kgo.ProducerLinger(5*time.Millisecond), kgo.ProducerBatchMaxBytes(1<<20))
	if err != nil {
		s.b.Fatal(err)
	}
	defer client.Close()
	failed := func(_ *kgo.Record, err error) {
		if err != nil {
			s.b.Error(err)
		}
	}
	send := func(topic events.Topic, id string, version int64, at time.Time, data any) {
		e := events.Event{Data: data, Envelope: events.Envelope{
			ID: id, TenantID: "bench", Version: version, Op: events.Upsert, At: at,
		}}
		value, err := events.Append(nil, topic, e)
		if err != nil {
			s.b.Fatal(err)
		}
		bytes += len(value)
		client.Produce(context.Background(), &kgo.Record{Topic: string(topic), Key: []byte(e.Key()), Value: value}, failed)
	}
	first := func(topic events.Topic, id string, data any) { send(topic, id, 1, benchTime, data) }
	first(events.Users, "U1", &events.User{Name: "Bench", Active: true})
	first(events.Memberships, "M1", &events.Membership{UserID: "U1", Scope: events.Scope{Tenant: true}, Role: "admin"})
	for i := range benchProjects {
		first(events.Projects, benchProject(i), &events.Project{
			Name: fmt.Sprint("Project ", i), Currency: "EUR", BudgetStructureID: events.Some("S"),
		})
	}
	for i := range benchNodes {
		first(events.BudgetNodes, benchNode(i), &events.BudgetNode{
			StructureID: events.Some("S"), Level: "budget", Code: fmt.Sprint(i), Name: fmt.Sprint("Line ", i), Active: true,
		})
	}
	for i := range benchContractors {
		first(events.Contractors, benchContractor(i), &events.Contractor{Name: events.Some(fmt.Sprint("Firm ", i))})
	}
	if oneProject {
		easyLog(records, send)
	} else {
		yearsOfLog(records, send)
	}
	if err := client.Flush(context.Background()); err != nil {
		s.b.Fatal(err)
	}
	return bytes
}

// sender sends a version of an entity.
type sender func(topic events.Topic, id string, version int64, at time.Time, data any)

// yearsOfLog is a log as years write it: records come in one after the other, each is paid a twentieth of all records later.
func yearsOfLog(records int, send sender) {
	at := func(i int) time.Time { return benchTime.Add(time.Duration(i) * (benchYears / time.Duration(records))) }
	paidAfter := records/20 + 1
	for i := range records + paidAfter {
		if i < records {
			send(events.Records, benchID(i), 1, at(i), benchRecord(i, at(i), false))
		}
		if paid := i - paidAfter; paid >= 0 {
			send(events.Records, benchID(paid), 2, at(i), benchRecord(paid, at(paid), true))
		}
	}
}

// easyLog is the easiest that a log can be, which shows what the shape of data costs: all records are of one project, on few lines, come in
// by their ids, and are paid when all have come.
func easyLog(records int, send sender) {
	for version := range int64(2) {
		for i := range records {
			r := benchRecord(i, benchTime.AddDate(0, 0, i%1500), version == 1)
			r.ProjectID, r.ContractorID = benchProject(0), events.Some(benchContractor(i%benchNodes))
			for k := range r.Allocations {
				r.Allocations[k].NodeID = events.Some(benchNode((i + k) % benchNodes))
			}
			if r.ContractID.Ok {
				r.ContractID = events.Some(fmt.Sprintf("contract-%03d", i%150))
			}
			send(events.Records, fmt.Sprintf("record-%08d", i), version+1, benchTime, r)
		}
	}
}

func benchProject(i int) string    { return fmt.Sprintf("project-%03d", i) }
func benchNode(i int) string       { return fmt.Sprintf("node-%04d", i) }
func benchContractor(i int) string { return fmt.Sprintf("contractor-%04d", i) }

// benchID is a record's id: 16 digits that follow nothing, all over the table.
func benchID(record int) string { return fmt.Sprintf("%016x", scatter(uint64(record))) }

// scatter gives each number another one, as if drawn (the finalizer of MurmurHash3).
func scatter(n uint64) uint64 {
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}

// benchRecord is a record as it came in at an instant, or as it is paid later. Its project is one of many, some large and most small;
// project 0 has about a seventh of all records.
func benchRecord(i int, came time.Time, paid bool) *events.Record {
	drawn := func(property, n uint64) int { return int(scatter(uint64(i)<<8|property) % n) }
	u := float64(drawn(1, 1<<20)) / (1 << 20)
	project := int(benchProjects * u * u * u)
	net := int64(10_000 + drawn(2, 1_000_000))
	day := calendar.NewDate(came.Year(), int(came.Month()), came.Day())
	r := &events.Record{
		ProjectID: benchProject(project), Source: "invoice", Direction: "out",
		StepKind: "approval", WorkflowStep: events.Some("Site manager"),
		ContractorID:    events.Some(benchContractor(drawn(3, benchContractors))),
		InvoiceNumber:   events.Some(fmt.Sprint("RE-", i)),
		RecognitionDate: events.Some(day), DueDate: events.Some(day + 30),
		Currency: events.Some("EUR"), Net: events.Some(net), Tax: events.Some(net / 5), Gross: events.Some(net + net/5),
		Allocations: []events.RecordAllocation{{NodeID: events.Some(benchNode(drawn(4, benchNodes))), Net: events.Some(net)}},
		Documents:   []events.Document{{Name: fmt.Sprint("RE-", i, ".pdf"), Kind: "original"}},
		Intake:      events.Intake{Channel: "email", Status: events.Some("completed"), ReceivedAt: events.Some(day.Time())},
	}
	if drawn(5, 5) == 0 {
		r.Allocations[0].Net = events.Some(net / 3)
		second := events.RecordAllocation{NodeID: events.Some(benchNode(drawn(6, benchNodes))), Net: events.Some(net - net/3)}
		r.Allocations = append(r.Allocations, second)
	}
	if drawn(7, 3) == 0 {
		r.ContractID = events.Some(fmt.Sprintf("contract-%03d-%02d", project, drawn(8, 20)))
	}
	if paid {
		r.StepKind, r.WorkflowStep, r.CashDate = "paid", events.Some("Paid"), events.Some(day+25)
	}
	return r
}
