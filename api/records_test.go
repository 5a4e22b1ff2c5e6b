package api_test

import (
	"slices"
	"testing"
	"time"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// record is a row of the table of records; members not given are as of an invoice that has just come in.
type record struct {
	id, project                        string
	version                            int64
	deleted                            bool
	source, direction, status          string
	workflowStep, contractor, captured string
	invoiceNumber                      string
	recognition, due, cash             events.Opt[calendar.Date]
	currency                           string
	net, tax, gross                    events.Opt[int64]
	nodes                              []string
	nets                               []int64
	certified                          bool
	codes                              string // JSON
	keys                               []string
	documents                          string // JSON
	channel, intake                    string
	receivedAt                         events.Opt[time.Time]
}

func (r record) row(tenant string) map[string]any {
	text := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	null := func(s string) *string { return pointer(events.Opt[string]{V: s, Ok: s != ""}) }
	day := func(d events.Opt[calendar.Date]) *time.Time {
		if !d.Ok {
			return nil
		}
		t := d.V.Time()
		return &t
	}
	return map[string]any{
		"tenant": tenant, "project": r.project, "id": r.id, "row_version": uint64(max(r.version, 1)), "deleted": r.deleted,
		"source": text(r.source, "invoice"), "direction": text(r.direction, "out"), "status": text(r.status, "setup"),
		"workflow_step": null(r.workflowStep), "contractor_id": r.contractor, "counterparty_name": null(r.captured), "invoice_number": null(r.invoiceNumber),
		"recognition_date": day(r.recognition), "due_date": day(r.due), "cash_date": day(r.cash),
		"currency": r.currency, "net": pointer(r.net), "tax": pointer(r.tax), "gross": pointer(r.gross),
		"allocation_node": append([]string{}, r.nodes...), "allocation_net": append([]int64{}, r.nets...),
		"certified": r.certified, "certified_codes": text(r.codes, "[]"), "certified_keys": append([]string{}, r.keys...),
		"documents": text(r.documents, "[]"), "channel": text(r.channel, "manual"), "intake_status": r.intake,
		"received_at": pointer(r.receivedAt),
	}
}

func (w *world) records(all ...record) {
	w.Helper()
	rows := make([]map[string]any, len(all))
	for i, r := range all {
		rows[i] = r.row(tenant)
	}
	w.insert("records", rows...)
}

func TestACodeIsOfTheSystemBeforeTheFirstColon(t *testing.T) {
	w := structured(t)
	// Given codes that look alike where they are written in one, the wrong one beside another of the right system
	w.records(
		record{id: "R1", project: "P1", certified: true, keys: []string{"sap:4:7"}, codes: `[{"system":"sap","code":"4:7"}]`},
		record{id: "R2", project: "P1", certified: true, keys: []string{"sap:1", "sap:4:7"},
			codes: `[{"system":"sap","code":"1"},{"system":"sap:4","code":"7"}]`},
	)
	// When one is asked for, then it is found alone
	if got := w.get(adminKey, "/v0/records?projectId=P1&accountingCode=sap:4:7").items("id"); !slices.Equal(got, []string{"R1"}) {
		t.Errorf("found %v", got)
	}
}
