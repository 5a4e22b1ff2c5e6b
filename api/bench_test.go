package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/schemas/events"
)

const (
	benchRecords = 1_000_000
	benchNodes   = 2_000
)

// benchWorld has one project with many records, on a large structure, with many contractors.
func benchWorld(b *testing.B) *world {
	b.Helper()
	w := newWorld(b)
	w.user("U", adminKey, "admin")
	w.project("P1", events.Project{BudgetStructureID: some("S1")})
	w.seen(adminKey, "P1")
	filling, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{clickhousetest.Engine(b).Addr()}, Auth: clickhouse.Auth{Database: w.database},
		ReadTimeout: 5 * time.Minute,
	})
	w.must(err)
	defer filling.Close()
	exec := func(sql string) { b.Helper(); w.must(filling.Exec(context.Background(), sql)) }
	exec(fmt.Sprintf(`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, parent_id, level, code, name, active, accounting_codes)
SELECT '%s', '', 'node-' || number, 1, 'S1', if(number < 20, NULL, 'node-' || if(number < 200, number %% 20, 20 + number %% 180)),
  if(number < 20, 'budget', if(number < 200, 'subBudget', 'costItem')), leftPad(toString(number), 7, '0'), 'Budget line ' || number, true, if(number < 20, '[{"system":"datev","code":"0700-00"}]', '[]')
FROM numbers(%d)`, tenant, benchNodes))
	exec(`INSERT INTO budget_nodes (tenant, project, row_version) VALUES ('', '#0', 1)`)
	exec(fmt.Sprintf(`INSERT INTO contractors (tenant, id, row_version, name) SELECT '%s', 'contractor-' || number, 1, 'Contractor ' || number || ' GmbH' FROM numbers(5000)`, tenant))
	const slice = benchRecords / 20
	for from := 0; from < benchRecords; from += slice {
		exec(fmt.Sprintf(`INSERT INTO records (tenant, project, id, row_version, source, direction, status, workflow_step, contractor_id, invoice_number, recognition_date, due_date, cash_date,
  currency, net, tax, gross, allocation_node, allocation_net, certified_codes, documents, channel, intake_status, received_at)
SELECT '%s', 'P1', lower(hex(sipHash64(number))), 1, 'invoice', 'out', ['setup', 'approvalPending', 'paymentPending', 'paid', 'paid'][number %% 5 + 1], 'Step', 'contractor-' || number %% 5000,
  'RE-' || number, toDate32('2021-01-01') + number %% 1800, toDate32('2021-02-01') + number %% 1800, if(number %% 5 >= 3, toDate32('2021-02-01') + number %% 1800, NULL),
  'EUR', number, intDiv(number, 5), number + intDiv(number, 5), if(number %% 5 = 0, ['node-' || 200 + number %% 1800, 'node-' || 200 + number %% 1700], ['node-' || 200 + number %% 1800]),
  if(number %% 5 = 0, [number - 1, 1], [number]), '[]', '[{"name":"invoice.pdf","kind":"original"}]', 'email', 'completed', toDateTime64('2021-01-01 10:00:00', 6, 'UTC') + number
FROM numbers(%d, %d) SETTINGS optimize_on_insert = 0`, tenant, from, slice))
	}
	exec("OPTIMIZE TABLE records FINAL") // merges going on meanwhile would be measured with it
	return w
}

// BenchmarkPage compares a page of the API with its own main statement, sent by the bare client, at three places of a
// long walk.
func BenchmarkPage(b *testing.B) {
	w := benchWorld(b)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	columns := `id, project, direction, source, status, workflow_step, contractor_id, counterparty_name, invoice_number, toInt32(recognition_date), toInt32(due_date), toInt32(cash_date),
 currency, net, tax, gross, allocation_node, allocation_net, certified, certified_codes, documents, channel, intake_status, received_at`
	for _, place := range []struct{ name, after string }{{"start", ""}, {"middle", "8"}, {"end", "fff"}} {
		for _, limit := range []int{50, 200} {
			cursor, err := w.server.CursorBehind("/v0/records", "projectId=P1", adminKey, place.after)
			w.must(err)
			bare := func() {
				ctx := clickhouse.Context(context.Background(),
					clickhouse.WithSettings(clickhouse.Settings{"max_threads": 1, "max_block_size": 1024}))
				rows, err := w.db.Query(ctx,
					"SELECT "+columns+" FROM records FINAL WHERE tenant = {tenant:String} AND project = 'P1' AND id > "+
						"{after:String} AND NOT deleted ORDER BY tenant, project, id LIMIT {limit:UInt32}",
					clickhouse.Named("tenant", tenant), clickhouse.Named("after", place.after), clickhouse.Named("limit", limit+1))
				w.must(err)
				for rows.Next() {
				}
				w.must(rows.Err())
				w.must(rows.Close())
			}
			page := func() {
				request, err := http.NewRequest(http.MethodGet,
					fmt.Sprintf("%s/v0/records?projectId=P1&limit=%d&cursor=%s", w.url, limit, cursor), nil)
				w.must(err)
				request.Header.Set("Authorization", "Bearer "+adminKey)
				answer, err := client.Do(request)
				w.must(err)
				_, err = io.Copy(io.Discard, answer.Body)
				w.must(err)
				if answer.Body.Close(); answer.StatusCode != 200 {
					b.Fatal(answer.Status)
				}
			}
			b.Run(fmt.Sprintf("%s/%d", place.name, limit), func(b *testing.B) { compare(b, bare, page) })
		}
	}
}

// compare runs both in turns, so that both meet the same machine, and reports medians and 99th percentiles.
func compare(b *testing.B, bare, page func()) {
	b.Helper()
	took := make([][]time.Duration, 2)
	for range 3 {
		bare()
		page()
	}
	for b.Loop() {
		for i, do := range []func(){bare, page} {
			began := time.Now()
			do()
			took[i] = append(took[i], time.Since(began))
		}
	}
	at := func(i int, share float64) float64 {
		slices.Sort(took[i])
		return float64(took[i][int(float64(len(took[i])-1)*share)].Microseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(at(0, .5), "bare-p50-ms")
	b.ReportMetric(at(0, .99), "bare-p99-ms")
	b.ReportMetric(at(1, .5), "page-p50-ms")
	b.ReportMetric(at(1, .99), "page-p99-ms")
	b.ReportMetric(at(1, .5)/at(0, .5), "p50-ratio")
}
