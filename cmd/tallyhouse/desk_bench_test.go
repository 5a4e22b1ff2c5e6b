package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

const (
	inboxMails    = 100_000
	inboxProjects = 30
	inboxParts    = 12
)

// BenchmarkInbox measures how long somebody with 100,000 mails in 30 projects waits for the first byte of a page of the inbox, and what
// the page has: mails under ids that follow nothing, in 12 parts, as merges leave them; all through the desk's server.
func BenchmarkInbox(b *testing.B) {
	s := newBusyInbox(b)
	url, link := s.desk(b, "demo", "ada")
	jar, err := cookiejar.New(nil)
	s.must(err)
	person := &http.Client{Jar: jar}
	open := func(path string) (first time.Duration, page string) {
		began := time.Now()
		ctx := httptrace.WithClientTrace(b.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Since(began) }})
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		s.must(err)
		response, err := person.Do(request)
		s.must(err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		s.must(err)
		if response.StatusCode != http.StatusOK {
			b.Fatalf("%s: %s\n%s", path, response.Status, body)
		}
		return first, string(body)
	}
	open(link)
	_, inbox := open(url + "/inbox")
	_, older, found := strings.Cut(inbox, `after=`)
	if !found {
		b.Fatalf("the inbox has one page alone:\n%s", inbox)
	}
	deep := fmt.Sprintf("%d.", -time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	older, _, _ = strings.Cut(older, `"`)
	for _, question := range []struct{ name, query string }{
		{"newest", ""},
		{"second page", "after=" + older},
		{"in the middle", "after=" + deep},
		{"state", "state=failed"},
		{"project", "project=P07"},
		{"sender", "sender=office17"},
		{"number", "q=R-0012345"},
		{"amount", "q=1%2C234.56"},
		{"nothing found", "q=nobody"},
	} {
		b.Run(question.name, func(b *testing.B) {
			path := url + "/inbox?" + question.query
			open(path)
			var waited []time.Duration
			size := 0
			for b.Loop() {
				first, page := open(path)
				waited, size = append(waited, first), len(page)
			}
			slices.Sort(waited)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(waited[len(waited)/2].Microseconds())/1000, "first-p50-ms")
			b.ReportMetric(float64(waited[len(waited)*99/100].Microseconds())/1000, "first-p99-ms")
			b.ReportMetric(float64(size)/1000, "kB")
		})
	}
}

// newBusyInbox is a desk of a company that was mailed much; ada is its administrator.
func newBusyInbox(b *testing.B) *deskWorld {
	b.Helper()
	s := &deskWorld{process: newProcess(b)}
	event := func(topic, id, data string) string {
		return fmt.Sprintf(`{"topic": "%s", "key": "demo/%[2]s", "value": {"id": "%[2]s", "tenantId": "demo", "version": 1, "op": "upsert", `+
			`"at": "2026-01-05T09:00:00Z", "data": %s}}`, topic, id, data) + "\n"
	}
	lines := event("access.users", "ada", `{"name": "Ada", "active": true}`) +
		event("access.memberships", "ada", `{"userId": "ada", "scope": {"tenant": true}, "role": "admin"}`)
	for i := range inboxProjects {
		lines += event("ledger.projects", fmt.Sprintf("P%02d", i), fmt.Sprintf(`{"name": "Project %d", "currency": "EUR"}`, i))
	}
	s.load(lines)
	db := s.worker.shards[0]
	for part := range inboxParts {
		s.must(db.Exec(b.Context(), database.Statement{SQL: fillInbox, Params: database.Params{"reading": database.Text(string(events.AppendReading(nil, readingOfAPage()))),
			"mails": fmt.Sprint(inboxMails / inboxParts), "from": fmt.Sprint(part * (inboxMails / inboxParts))}}))
	}
	var err error
	s.api, err = s.openAPI(apiFlags{environment: "test"}, s.servers, prometheus.NewRegistry())
	s.must(err)
	b.Cleanup(s.api.close)
	s.background("API", func(ctx context.Context) error { s.api.Follow(ctx); return nil })
	s.must(until(s.within(startsWithin), s.api.Ready))
	return s
}

// fillInbox makes mails of a year, in no order of their ids: their arrivals overlap with those of other parts.
const fillInbox = `INSERT INTO readings (tenant, project, id, row_version, at, state, newest, sender, number, supplier, currency, gross, reading)
SELECT 'demo', 'P' || leftPad(toString(sipHash64(n, 1) % 30), 2, '0'), 'mail-' || lower(hex(sipHash64(n))), 3, now64(6),
  ['read', 'read', 'read', 'doubtful', 'duplicate', 'failed'][1 + sipHash64(n, 2) % 6],
  -toInt64(toUnixTimestamp64Micro(toDateTime64('2026-05-01', 6, 'UTC')) - 31536000000000 / 100000 * (100000 - n) - sipHash64(n, 3) % 86400000000),
  'office' || toString(sipHash64(n, 4) % 500) || '@supplier.example', 'R-' || leftPad(toString(n), 7, '0'),
  'Supplier ' || toString(sipHash64(n, 5) % 500), 'EUR', toInt64(sipHash64(n, 6) % 10000000), {reading:String}
FROM (SELECT number + {from:UInt64} AS n FROM numbers({mails:UInt64}))`

// readingOfAPage is as much as is read of a page.
func readingOfAPage() *events.Reading {
	r := &events.Reading{ProjectID: events.Some("P00"), Status: events.ReadingCompleted, Mail: events.ReadMail{Mailbox: "m"}}
	for _, name := range []string{"supplierName", "supplierTaxId", "invoiceNumber", "invoiceDate", "dueDate", "currency", "net",
		"tax", "gross"} {
		one := events.Stated{Text: events.Some("Value of " + name), Page: 1, Rule: "labelled",
			Printed: events.Some("Some label: value of " + name), Box: events.Some(events.Box{Left: 1000, Top: 1000, Right: 2000, Bottom: 1200})}
		r.Fields = append(r.Fields, events.ReadField{Name: name, Value: events.Some(one)})
	}
	return r
}
